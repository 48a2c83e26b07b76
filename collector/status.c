/* SPDX-License-Identifier: MIT */
/* The collector's part of `status`. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>

#include "collector/collector.h"
#include "common/text/time_text.h"

/* With several clusters each row has the name of its cluster: "beta.cursor". */
static void __attribute__((format(printf, 4, 5)))
row(struct cluster *c, uint64_t request, const char *key, const char *fmt, ...)
{
	char name[CLUSTER_MAX + 64], text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(name, sizeof(name), "%s%s%s", c->site->n > 1 ? c->name : "",
	    c->site->n > 1 ? "." : "", key);
	worker_status(c->site->w, request, name, "%s", text);
}

static void
health_row(struct cluster *c, uint64_t request, const struct health *h)
{
	if (h->away)
		row(c, request, h->daemon, "away since %s: %s",
		    time_text(h->since), h->why);
	else
		row(c, request, h->daemon, "last answer %s",
		    time_text(h->answered));
}

#define RUNAWAYS_NAMED 5 /* job ids in the status row */
#define RUNAWAY_FROM   2 /* queries for an end that found none */

/* An answer proves nothing of a job that Slurm hides from us. */
static int
is_runaway(const struct cluster *c, const struct open_run *run)
{
	return c->permission != PERMISSION_NONE && (run->flags & OPEN_LEFT) &&
	    run->tries >= RUNAWAY_FROM;
}

size_t
runaways_count(struct cluster *c)
{
	struct open_run *run;
	size_t at = 0, n = 0;

	while ((run = open_next(&c->open, &at)) != NULL)
		n += is_runaway(c, run) != 0;
	return n;
}

int
runaways_of_slurmdbd(const struct cluster *c)
{
	return !c->slurm.known || c->slurm.accounting;
}

static void
runaways_row(struct cluster *c, uint64_t request)
{
	struct open_run *run;
	size_t at = 0, n = 0, len = 0;
	char ids[RUNAWAYS_NAMED * 24] = "";

	while ((run = open_next(&c->open, &at)) != NULL) {
		if (!is_runaway(c, run))
			continue;
		if (n++ < RUNAWAYS_NAMED)
			len += (size_t)snprintf(ids + len, sizeof(ids) - len,
			    " %llu", (unsigned long long)run->job);
	}
	if (n == 0)
		row(c, request, "runaways", "none");
	else if (!runaways_of_slurmdbd(c))
		row(c, request, "runaways",
		    "%zu, jobs%s%s: unknown to slurmctld, and without slurmdbd "
		    "no end is known; stop them in cc-backend",
		    n, ids, n > RUNAWAYS_NAMED ? " ..." : "");
	else
		row(c, request, "runaways",
		    "%zu, jobs%s%s: unknown to slurmctld, without an end in "
		    "slurmdbd; run `sacctmgr show runawayjobs` to correct "
		    "slurmdbd",
		    n, ids, n > RUNAWAYS_NAMED ? " ..." : "");
}

static void
cluster_rows(struct lanes *l, uint64_t request)
{
	struct cluster *c = l->c;
	row(c, request, "slurm_version", "%s",
	    c->slurm.version_text[0] != '\0' ? c->slurm.version_text :
					       "not known yet");
	row(c, request, "cluster", "%s",
	    c->slurm.cluster[0] != '\0' ? c->slurm.cluster : "not known yet");
	row(c, request, "right", "%s", permission_name(c->permission));
	row(c, request, "cursor", "%s", time_text(c->resume.point));
	row(c, request, "last_poll", "%s", time_text(l->polled));
	health_row(c, request, &c->ctld);
	if (c->slurm.known && !c->slurm.accounting)
		row(c, request, c->dbd.daemon,
		    "none: ends are read from slurmctld only, which keeps them "
		    "%s",
		    duration_text(c->slurm.min_job_age * 1000));
	else
		health_row(c, request, &c->dbd);
	if (rate_limit_on(c))
		row(c, request, "rate_limit",
		    "bucket %u, refill %u in %u s; refused %llu times",
		    c->slurm.limit_bucket, c->slurm.limit_rate,
		    c->slurm.limit_period, (unsigned long long)c->ctld.refused);
	row(c, request, "polls", "%u", c->listing.number - 1);
	row(c, request, "open_runs", "%zu", c->open.n);
	runaways_row(c, request);
	row(c, request, "events", "%u", hook_events_waiting(l->hook_events));
	row(c, request, "scripts_waiting", "%u", scripts_waiting(l->scripts));
	row(c, request, "skipped_seconds", "%llu",
	    (unsigned long long)c->resume.skipped_seconds);
	row(c, request, "nodes", "%zu", hosts_count(c->hosts));
	row(c, request, "node_states", "%zu nodes, %llu sent",
	    node_states_count(l->node_states),
	    (unsigned long long)node_states_sent(l->node_states));
	row(c, request, "last_error", "%s",
	    c->last_error[0] != '\0' ? c->last_error : "none");
}

static void
credentials_row(struct collector *col, uint64_t request)
{
	struct hook_auth_counts n;

	hook_auth_counts(col->hook_auth, &n);
	worker_status(col->site.w, request, "hook_credentials",
	    "%llu accepted, %llu refused, %llu dropped, %u waiting; munged %s%s",
	    (unsigned long long)n.accepted, (unsigned long long)n.refused,
	    (unsigned long long)n.dropped, n.waiting,
	    n.away != 0 ? "does not answer since " : "answers",
	    n.away != 0 ? time_text(n.away) : "");
}

void
status_rows(struct collector *col, uint64_t request)
{
	struct site *site = &col->site;
	struct worker *w = site->w;
	const char *biggest;
	uint64_t peak;
	unsigned i;

	for (i = 0; i < site->n; i++)
		cluster_rows(&col->lanes[i], request);
	if (hook_auth_is_on(col->hook_auth))
		credentials_row(col, request);
	controller_role_status(col->controller_role, request);
	worker_status(w, request, "commands_total", "%llu",
	    (unsigned long long)runner_total(site->runner));
	worker_status(w, request, "commands_running", "%u",
	    runner_running(site->runner));
	peak = runner_peak(site->runner, &biggest);
	worker_status(w, request, "commands_memory", "%llu KiB at most (%s)",
	    (unsigned long long)peak / 1024, biggest);
	worker_status(w, request, "queue_unacked", "%u",
	    outbox_waiting(col->outbox));
	worker_status(w, request, "records_sent", "%llu",
	    (unsigned long long)outbox_records(col->outbox));
}
