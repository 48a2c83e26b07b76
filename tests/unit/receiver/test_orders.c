/* SPDX-License-Identifier: MIT */
/* `explain` at a centre: a cluster that cannot be asked is an error. */
#include "config.h"

#include <string.h>

#include "receiver/orders.h"
#include "tests/unit/check.h"

static struct receiver receiver;
static const char *refusal; /* of asks_order() */
static unsigned rows;
static char told[512];

const char *
asks_order(struct asks *a, const struct asks_order *order)
{
	return refusal;
}

void
worker_ctl_row(struct worker *w, uint64_t request, const struct writer *row)
{
	rows++;
}

void
worker_ctl_end(struct worker *w, uint64_t request, enum ctl_status status,
    const char *text)
{
	snprintf(told, sizeof(told), "%s%s",
	    status == CTL_OK ? "ok: " : "error: ", text);
}

static const char *
explain(const char *cluster, const char *wrong)
{
	struct ctl_request req = { .verb = CTL_EXPLAIN_SLURM,
		.n_ids = 1,
		.ids = { 4711 } };

	snprintf(req.text, sizeof(req.text), "%s", cluster);
	refusal = wrong;
	rows = 0;
	told[0] = '\0';
	orders_explain(&receiver, 1, &req);
	return told;
}

int
main(void)
{
	CHECK_STR(explain("alpah", "unknown cluster"),
	    "error: the cluster was not asked: unknown cluster: alpah");
	CHECK_INT(rows, 1);
	CHECK_STR(explain("", "there are several clusters: use --cluster"),
	    "error: the cluster was not asked: there are several clusters: use "
	    "--cluster");
	/* The answer of the cluster ends the request. */
	CHECK_STR(explain("alpha", NULL), "");
	CHECK_INT(rows, 0);
	return check_done();
}
