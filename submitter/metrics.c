/* SPDX-License-Identifier: MIT */
/* The submitter's part of `metrics`. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "submitter/backend/breaker.h"
#include "submitter/backend/token_watch.h"
#include "submitter/base/context.h"
#include "submitter/ctl.h"
#include "submitter/delivery/delivery.h"
#include "submitter/nats/nats.h"
#include "submitter/spool/spool.h"

#define PREFIX "cc_slurm_adapter_"

static const enum run_state start_waits[] = { START_DUE, START_DUE_ENDED,
	START_BLOCKED, START_CONFLICT };
static const enum run_state stop_waits[] = { STOP_DUE, STOP_BLOCKED,
	STOP_CONFLICT };
static const enum run_state rejected[] = { START_REJECTED, STOP_REJECTED };

#define COUNT(s, states) \
	states_count((s), (states), sizeof(states) / sizeof((states)[0]))

static void
counters_send(struct submitter *s, uint64_t request)
{
	const struct counters *n = &s->n;
	const struct {
		const char *name, *help;
		uint64_t value;
	} rows[] = {
		{ PREFIX "starts_total", "Starts that cc-backend accepted.",
		    n->starts },
		{ PREFIX "stops_total", "Stops that cc-backend accepted.",
		    n->stops },
		{ PREFIX "requests_total", "Requests to cc-backend.",
		    n->requests },
		{ PREFIX "retries_total",
		    "Requests that failed and are repeated.", n->retries },
		{ PREFIX "repeated_starts_total",
		    "Starts that cc-backend accepted and did not store in time.",
		    n->repeated },
		{ PREFIX "records_total",
		    "Records received from the collector.", n->records },
		{ PREFIX "commits_total", "Commits of the spool.", n->commits },
		{ PREFIX "victims_total",
		    "Runs found open in cc-backend after their stop.",
		    n->victims },
		{ PREFIX "stop_races_total",
		    "Stops that cc-backend applied to another run.",
		    n->stop_races },
		{ PREFIX "foreign_stops_found_total",
		    "Runs found that another client stopped in cc-backend.",
		    n->closed },
		{ PREFIX "foreign_stops_repaired_total",
		    "Runs that the command repair corrected.", n->repaired },
		{ PREFIX "nats_starts_total", "Starts confirmed by NATS.",
		    n->nats_starts },
		{ PREFIX "nats_stops_total", "Stops confirmed by NATS.",
		    n->nats_stops },
		{ PREFIX "spool_stubs_refused_total",
		    "Runs without space for their resources in a full spool.",
		    n->resources_refused },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		worker_metric(s->w, request, rows[i].name, "counter",
		    rows[i].help, rows[i].value);
}

static void
gauges_send(struct submitter *s, uint64_t request)
{
	const struct {
		const char *name, *help;
		uint64_t value;
	} rows[] = {
		{ PREFIX "spool_runs", "Runs in the spool.",
		    spool_runs(s->spool) },
		{ PREFIX "spool_bytes", "Bytes in use in the spool.",
		    spool_bytes(s->spool) },
		{ PREFIX "spool_max_bytes", "Value of spoolMaxBytes.",
		    (uint64_t)conf_int(&s->w->conf, CONF_SPOOL_MAX_BYTES) },
		{ PREFIX "spool_stubs",
		    "Runs of which the spool has only the resources.",
		    spool_resources_count(s->spool) },
		{ PREFIX "starts_due", "Starts that wait.",
		    COUNT(s, start_waits) },
		{ PREFIX "stops_due", "Stops that wait.",
		    COUNT(s, stop_waits) },
		{ PREFIX "rejected_runs", "Rejected runs that are kept.",
		    COUNT(s, rejected) },
		{ PREFIX "closed_wrongly_runs",
		    "Runs that another client stopped in cc-backend, not as in "
		    "Slurm.",
		    spool_count(s->spool, DEST_REST, STOPPED_BY_OTHERS) },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		worker_metric(s->w, request, rows[i].name, "gauge",
		    rows[i].help, rows[i].value);
}

/* No row without requests: NATS only, or the standby of two centres. */
static void
backend_send(struct submitter *s, uint64_t request)
{
	breaker_metrics(s->breaker, request);
	if (!s->role.standby && conf_sends_rest(&s->w->conf))
		worker_metric(s->w, request, PREFIX "backend_up", "gauge",
		    "1 while cc-backend answers.",
		    (uint64_t)breaker_reaches(s->breaker));
}

static void
rejections_send(struct submitter *s, uint64_t request)
{
	char labels[64];
	int class;

	for (class = 0; class < REJECT__COUNT; class ++) {
		snprintf(labels, sizeof(labels), "reason=\"%s\"",
		    reject_class_name((enum reject_class) class));
		worker_metric_value(s->w, request, PREFIX "rejections_total",
		    "counter", "Runs rejected for good, by reason.", labels,
		    (int64_t)s->n.rejected_by[class]);
	}
}

/* A destination that is not configured has no rows. */
static void
deliveries_send(struct submitter *s, uint64_t request, enum dest dest)
{
	const char *labels = dest == DEST_REST ? "to=\"cc-backend\"" :
						 "to=\"nats\"";

	if (!spool_policy(s->spool)->to[dest])
		return;
	worker_metric_stage(s->w, request, STAGE_OLDEST_WAITING,
	    dest == DEST_REST ? "cc-backend" : "nats", NULL, NULL,
	    delivery_oldest(s, dest));
	worker_histogram(s->w, request, PREFIX "start_delivered_seconds",
	    "Time from the start of a run in Slurm until its delivery.", labels,
	    &s->n.start_delivered[dest], HISTOGRAM_DELIVERY);
	worker_histogram(s->w, request, PREFIX "end_delivered_seconds",
	    "Time from the end of a run in Slurm until its delivery.", labels,
	    &s->n.end_delivered[dest], HISTOGRAM_DELIVERY);
}

static void
nats_errors_send(struct submitter *s, uint64_t request)
{
	struct nats_status ns;

	nats_status(s->nats, &ns);
	worker_metric_stage(s->w, request, STAGE_LAST_SUCCESS, "nats", NULL,
	    NULL, s->n.nats_at);
	worker_metric_stage(s->w, request, STAGE_ERRORS, "nats", "kind",
	    "unconfirmed", (int64_t)ns.unsure);
	worker_metric_stage(s->w, request, STAGE_ERRORS, "nats", "kind",
	    "disconnected", (int64_t)ns.away);
	worker_metric_stage(s->w, request, STAGE_ERRORS, "nats", "kind",
	    "refused", (int64_t)ns.refused);
	worker_metric(s->w, request, PREFIX "nats_up", "gauge",
	    "1 while the broker is connected.", (unsigned)nats_is_up(s->nats));
}

static int
stream_is_held(const struct submitter *s, const char *cluster)
{
	const struct stream_hold *hold;
	unsigned i;

	for (i = 0; (hold = nats_delivery_hold(s->nats_delivery, i)) != NULL;
	     i++)
		if (hold->until != 0 && strcmp(hold->cluster, cluster) == 0)
			return 1;
	return 0;
}

/* deliver "stream": a cluster that has published nothing yet has no problem. */
static void
streams_send(struct submitter *s, uint64_t request)
{
	char labels[CLUSTER_MAX + 16];
	unsigned i;

	for (i = 0; i < s->clusters.n; i++) {
		snprintf(labels, sizeof(labels), "cluster=\"%s\"",
		    s->clusters.names[i]);
		worker_metric_value(s->w, request, PREFIX "stream_accepts",
		    "gauge", "1 while the stream accepts records.", labels,
		    !stream_is_held(s, s->clusters.names[i]));
	}
}

static void
stages_send(struct submitter *s, uint64_t request)
{
	worker_metric_stage(s->w, request, STAGE_LAST_SUCCESS, "spool", NULL,
	    NULL, s->n.committed_at);
	worker_metric_stage(s->w, request, STAGE_ERRORS, "spool", "kind",
	    "commit", (int64_t)s->n.commits_failed);
	backend_send(s, request);
	deliveries_send(s, request, DEST_REST);
	deliveries_send(s, request, DEST_NATS);
	if (s->nats != NULL && spool_policy(s->spool)->to[DEST_NATS])
		nats_errors_send(s, request);
	if (spool_policy(s->spool)->whole)
		streams_send(s, request);
}

void
metrics_send(struct submitter *s, uint64_t request)
{
	worker_metric_row(s->w, request, PREFIX "build_info", "gauge",
	    "Version of the programs; always 1.",
#ifdef HAVE_NATS
	    "version=\"" PACKAGE_VERSION "\",nats=\"yes\"",
#else
	    "version=\"" PACKAGE_VERSION "\",nats=\"no\"",
#endif
	    "1");
	counters_send(s, request);
	gauges_send(s, request);
	rejections_send(s, request);
	stages_send(s, request);
	token_watch_metrics(s, request, time(NULL));
	worker_ctl_end(s->w, request, CTL_OK, "");
}
