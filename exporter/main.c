/* SPDX-License-Identifier: MIT */
/*
 * The exporter: passes scrapes of Prometheus to the supervisor as `scrape` and
 * answers with the rows that come back.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/worker/worker.h"
#include "exporter/exporter.h"

struct exporter {
	struct worker *w;
	struct metrics_server *server;
	uint64_t scrapes;
};

static int
scrape(void *arg)
{
	struct exporter *e = arg;

	return channel_send(e->w->supervisor, MSG_SCRAPE, ++e->scrapes, NULL,
	    -1);
}

static void
on_init(struct worker *w)
{
	struct exporter *e = w->arg;

	e->w = w;
	e->server = metrics_server_new(w->base, CONNECTION_MS, scrape, e);
	if (e->server == NULL)
		fatalx("out of memory");
}

static void
on_supervisor(struct worker *w, const struct msg_header *h, struct reader *r,
    int fd)
{
	struct exporter *e = w->arg;

	if (h->type == MSG_LISTEN) {
		if (metrics_server_listen(e->server, fd) == -1)
			fatalx("the socket of the metrics cannot be used");
		return;
	}
	if (fd != -1)
		close(fd);
	if (h->id != e->scrapes)
		return;
	if (h->type == MSG_METRIC)
		metrics_server_row(e->server, r);
	else if (h->type == MSG_METRIC_END)
		metrics_server_end(e->server);
}

static void
on_ctl(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	struct exporter *e = w->arg;
	struct metrics_counts n;

	metrics_server_counts(e->server, &n);
	if (req->verb == CTL_STATUS) {
		worker_status(w, request, "connections", "%llu",
		    (unsigned long long)n.connections);
		worker_status(w, request, "connections_open", "%u", n.open);
		worker_status(w, request, "pages", "%llu",
		    (unsigned long long)n.pages);
		worker_status(w, request, "requests_refused", "%llu",
		    (unsigned long long)n.refused);
		worker_status(w, request, "rows_dropped", "%llu",
		    (unsigned long long)n.dropped);
	}
	worker_ctl_end(w, request, CTL_OK, "");
}

static void
on_stop(struct worker *w, uint32_t grace_ms)
{
	worker_exit(w);
}

/* The exporter has no key of the configuration and no neighbour. */
static const struct worker_ops ops = {
	.role = ROLE_EXPORTER,
	.init = on_init,
	.on_supervisor = on_supervisor,
	.on_ctl = on_ctl,
	.on_stop = on_stop,
};

int
main(int argc, char **argv)
{
	static struct exporter exporter; /* as long as the process */

	worker_main(&ops, &exporter, argc, argv);
}
