/* SPDX-License-Identifier: MIT */
/* What `status` and `metrics` show of the collector. */
#include "config.h"

#include <stdio.h>
#include <time.h>

#include "collector/collector.h"

static const char *
when(int64_t t, char *buf, size_t size)
{
	time_t tt = (time_t)t;
	struct tm tm;

	if (t == 0 || gmtime_r(&tt, &tm) == NULL ||
	    strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		snprintf(buf, size, "never");
	return buf;
}

static void
health_row(struct collector *c, uint64_t request, const struct health *h)
{
	char buf[32];

	if (h->away)
		worker_status(c->w, request, h->name, "away since %s: %s",
		    when(h->since, buf, sizeof(buf)), h->why);
	else
		worker_status(c->w, request, h->name, "last answer %s",
		    when(h->answered, buf, sizeof(buf)));
}

void
status_rows(struct collector *c, uint64_t request)
{
	struct worker *w = c->w;
	char buf[32];

	worker_status(w, request, "slurm_version", "%s",
	    c->slurm.version_text[0] != '\0' ? c->slurm.version_text :
	    "not known yet");
	worker_status(w, request, "cluster", "%s", c->slurm.cluster[0] != '\0' ?
	    c->slurm.cluster : "not known yet");
	worker_status(w, request, "right", "%s", right_name(c->right));
	worker_status(w, request, "cursor", "%s", when(c->cursor, buf,
	    sizeof(buf)));
	worker_status(w, request, "last_poll", "%s", when(c->polled, buf,
	    sizeof(buf)));
	health_row(c, request, &c->ctld);
	health_row(c, request, &c->dbd);
	worker_status(w, request, "commands_total", "%llu",
	    (unsigned long long)runner_total(c->runner));
	worker_status(w, request, "commands_running", "%u",
	    runner_running(c->runner));
	worker_status(w, request, "polls", "%u", cycle_number(c->cycle) - 1);
	worker_status(w, request, "open_runs", "%zu", c->open.n);
	worker_status(w, request, "events", "%u", events_waiting(c->events));
	worker_status(w, request, "scripts_waiting", "%u",
	    scripts_waiting(c->scripts));
	worker_status(w, request, "queue_unacked", "%u", out_waiting(c->out));
	worker_status(w, request, "records_sent", "%llu",
	    (unsigned long long)c->records_sent);
	worker_status(w, request, "skipped_seconds", "%llu",
	    (unsigned long long)c->skipped_seconds);
	worker_status(w, request, "nodes", "%zu", hosts_count(c->hosts));
	worker_status(w, request, "node_states", "%zu nodes, %llu sent",
	    nodes_count(c->nodes), (unsigned long long)nodes_sent(c->nodes));
	worker_status(w, request, "last_error", "%s", c->last_error[0] != '\0' ?
	    c->last_error : "none");
}

static void
metric(struct collector *c, uint64_t request, const char *name,
    const char *type, const char *help, uint64_t value)
{
	struct writer row;
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	wr_init(&row, 1024);
	ctl_row(&row, CTL_T_METRIC, name, type, help, "", text,
	    (char *)NULL);
	worker_ctl_row(c->w, request, &row);
	wr_clear(&row);
}

void
status_metrics(struct collector *c, uint64_t request)
{
	metric(c, request, "cc_slurm_adapter_commands", "counter",
	    "Slurm commands started", runner_total(c->runner));
	metric(c, request, "cc_slurm_adapter_polls", "counter", "polls",
	    cycle_number(c->cycle) - 1);
	metric(c, request, "cc_slurm_adapter_open_runs", "gauge",
	    "runs without an end", c->open.n);
	metric(c, request, "cc_slurm_adapter_records", "counter",
	    "records handed to the submitter", c->records_sent);
	metric(c, request, "cc_slurm_adapter_rows", "counter",
	    "rows of accounting read", c->rows_read);
	metric(c, request, "cc_slurm_adapter_slurmctld_up", "gauge",
	    "slurmctld answers", !c->ctld.away);
	metric(c, request, "cc_slurm_adapter_slurmdbd_up", "gauge",
	    "slurmdbd answers", !c->dbd.away);
	metric(c, request, "cc_slurm_adapter_cursor_seconds", "gauge",
	    "all that ended before is in the spool", (uint64_t)c->cursor);
	metric(c, request, "cc_slurm_adapter_skipped_seconds", "counter",
	    "beyond slurmQueryMaxSpan", c->skipped_seconds);
}
