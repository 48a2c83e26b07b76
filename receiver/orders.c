/* SPDX-License-Identifier: MIT */
/* See orders.h. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "receiver/orders.h"

static void
cluster_set(struct asks_order *order, const struct ctl_request *req)
{
	snprintf(order->cluster, sizeof(order->cluster), "%.*s",
	    CLUSTER_MAX - 1, req->text);
}

void
orders_backfill(struct receiver *v, uint64_t request,
    const struct ctl_request *req)
{
	struct asks_order order = { .kind = ASK_BACKFILL_STATUS,
		.request = request };
	const char *wrong = NULL;

	cluster_set(&order, req);
	if (req->flags & CTL_FLAG_DRY_RUN)
		wrong = "run --dry-run on the host of the cluster";
	else if (req->flags & CTL_FLAG_CANCEL)
		order.kind = ASK_BACKFILL_CANCEL;
	else if (!(req->flags & CTL_FLAG_STATUS)) {
		order.kind = ASK_BACKFILL;
		order.from = req->a;
		order.to = req->b;
		if (order.from <= 0 || order.to <= order.from ||
		    order.to > TIME_S_MAX)
			wrong = "the range is empty";
	}
	if (wrong == NULL)
		wrong = asks_order(v->asks, &order);
	if (wrong != NULL)
		worker_ctl_end(v->w, request, CTL_ERROR, wrong);
}

/* A row of explain about a job that this host does not have. */
static void
explain_row(struct receiver *v, uint64_t request, const char *cluster,
    uint64_t job, const char *text)
{
	char id[24];
	struct writer w;

	snprintf(id, sizeof(id), "%" PRIu64, job);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_EXPLAIN, cluster, id, "", "", "cluster", text, NULL);
	worker_ctl_row(v->w, request, &w);
	wr_clear(&w);
}

void
orders_explain(struct receiver *v, uint64_t request,
    const struct ctl_request *req)
{
	struct asks_order order = { .kind = ASK_EXPLAIN, .request = request };
	char text[CLUSTER_MAX + 128];
	const char *wrong;
	uint32_t i;

	if (req->n_ids == 0) {
		worker_ctl_end(v->w, request, CTL_ERROR,
		    "job ids are required");
		return;
	}
	cluster_set(&order, req);
	order.job = req->ids[0];
	for (i = 1; i < req->n_ids; i++)
		explain_row(v, request, order.cluster, req->ids[i],
		    "a cluster is asked about one job at a time");
	wrong = asks_order(v->asks, &order);
	if (wrong == NULL)
		return;
	explain_row(v, request, order.cluster, order.job, wrong);
	snprintf(text, sizeof(text), "the cluster was not asked: %s%s%s", wrong,
	    order.cluster[0] != '\0' ? ": " : "", order.cluster);
	worker_ctl_end(v->w, request, CTL_ERROR, text);
}

void
orders_answer(struct receiver *v, const struct asks_order *order, int ok,
    const char *text)
{
	if (order->kind == ASK_EXPLAIN) {
		explain_row(v, order->request, order->cluster, order->job,
		    text);
		worker_ctl_end(v->w, order->request, CTL_OK, "");
	} else
		worker_ctl_end(v->w, order->request, ok ? CTL_OK : CTL_ERROR,
		    text);
}
