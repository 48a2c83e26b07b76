/* SPDX-License-Identifier: MIT */
/* The collector's part of `metrics`. */
#include "config.h"

#include <stdio.h>

#include "collector/collector.h"
#include "collector/slurm/command_times.h"

#define PREFIX "cc_slurm_adapter_"

static void
metric(struct site *site, const struct cluster *c, uint64_t request,
    const char *name, const char *type, const char *help, uint64_t value)
{
	char labels[CLUSTER_MAX + 16] = "";

	if (c != NULL && site->n > 1)
		snprintf(labels, sizeof(labels), "cluster=\"%s\"", c->name);
	worker_metric_value(site->w, request, name, type, help, labels,
	    (int64_t)value);
}

static void
cluster_stages(const struct cluster *c, uint64_t request)
{
	const char *label = c->site->n > 1 ? "cluster" : NULL;

	worker_metric_stage(c->site->w, request, STAGE_LAST_SUCCESS,
	    slurm_daemon_name(DAEMON_SLURMCTLD), label, c->name,
	    c->ctld.answered);
	worker_metric_stage(c->site->w, request, STAGE_LAST_SUCCESS,
	    slurm_daemon_name(DAEMON_SLURMDBD), label, c->name,
	    c->dbd.answered);
}

static void
cluster_metrics(struct lanes *l, uint64_t request)
{
	struct cluster *c = l->c;
	const struct {
		const char *name, *type, *help;
		uint64_t value;
	} all[] = {
		{ PREFIX "polls_total", "counter", "Polls of squeue.",
		    c->listing.number - 1 },
		{ PREFIX "open_runs", "gauge", "Runs without an end.",
		    c->open.n },
		{ PREFIX "rows_total", "counter", "Rows of accounting read.",
		    acct_rows_read(l->accounting) },
		{ PREFIX "slurmctld_up", "gauge", "1 while slurmctld answers.",
		    !c->ctld.away },
		{ PREFIX "slurmdbd_up", "gauge", "1 while slurmdbd answers.",
		    !c->dbd.away },
		{ PREFIX "accounting_read_timestamp_seconds", "gauge",
		    "Accounting was read up to this time; 0 without "
		    "slurmdbd.",
		    c->slurm.accounting ? (uint64_t)c->resume.point : 0 },
		{ PREFIX "skipped_seconds_total", "counter",
		    "Time of accounting that slurmQueryMaxSpan excluded.",
		    c->resume.skipped_seconds },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		metric(c->site, c, request, all[i].name, all[i].type,
		    all[i].help, all[i].value);
	cluster_stages(c, request);
}

/* Only questions that were asked: the others would be hundreds of zeros. */
static void
command_histograms(struct worker *w, uint64_t request,
    const struct command_times *t)
{
	char labels[128];
	int kind;

	for (kind = 0; kind < QUESTION__COUNT; kind++) {
		if (t->times[kind].total == 0)
			continue;
		snprintf(labels, sizeof(labels),
		    "command=\"%s\",question=\"%s\"",
		    slurm_command_name(
			question_type((enum question_kind)kind)->command),
		    question_name((enum question_kind)kind));
		worker_histogram(w, request, PREFIX "slurm_command_seconds",
		    "Time that Slurm's commands took.", labels, &t->times[kind],
		    HISTOGRAM_COMMAND);
	}
}

static void
command_errors(struct worker *w, uint64_t request,
    const struct command_times *t)
{
	int daemon, outcome;

	for (daemon = 0; daemon < DAEMON__COUNT; daemon++)
		for (outcome = 0; outcome < COMMAND_OUTCOMES; outcome++)
			if (outcome != COMMAND_OK)
				worker_metric_stage(w, request, STAGE_ERRORS,
				    slurm_daemon_name(
					(enum slurm_daemon)daemon),
				    "kind",
				    command_error_name(
					(enum command_outcome)outcome),
				    (int64_t)t->errors[daemon][outcome]);
}

static void
command_metrics(const struct site *site, uint64_t request)
{
	const struct command_times *t = runner_times(site->runner);
	int daemon;

	command_histograms(site->w, request, t);
	command_errors(site->w, request, t);
	for (daemon = 0; daemon < DAEMON__COUNT; daemon++)
		worker_metric_stage(site->w, request, STAGE_OLDEST_WAITING,
		    slurm_daemon_name((enum slurm_daemon)daemon), NULL, NULL,
		    runner_oldest_ms(site->runner, (enum slurm_daemon)daemon) /
			1000);
}

static void
credential_metric(const struct site *site, uint64_t request, const char *labels,
    uint64_t value)
{
	worker_metric_value(site->w, request, PREFIX "hook_credentials_total",
	    "counter", "Munge credentials of hook messages.", labels,
	    (int64_t)value);
}

static void
credential_metrics(const struct collector *col, uint64_t request)
{
	struct hook_auth_counts n;

	hook_auth_counts(col->hook_auth, &n);
	credential_metric(&col->site, request, "result=\"accepted\"",
	    n.accepted);
	credential_metric(&col->site, request, "result=\"refused\"", n.refused);
	credential_metric(&col->site, request, "result=\"dropped\"", n.dropped);
}

void
status_metrics(struct collector *col, uint64_t request)
{
	struct site *site = &col->site;
	unsigned i;
	const char *biggest;

	if (hook_auth_is_on(col->hook_auth))
		credential_metrics(col, request);
	metric(site, NULL, request, PREFIX "commands_total", "counter",
	    "Slurm commands started.", runner_total(site->runner));
	metric(site, NULL, request, PREFIX "command_memory_bytes", "gauge",
	    "The most memory that one Slurm command has taken.",
	    runner_peak(site->runner, &biggest));
	metric(site, NULL, request, PREFIX "records_sent_total", "counter",
	    "Records sent to the submitter.", outbox_records(col->outbox));
	worker_metric_stage(site->w, request, STAGE_OLDEST_WAITING, "spool",
	    NULL, NULL, outbox_oldest_ms(col->outbox) / 1000);
	for (i = 0; i < site->n; i++)
		cluster_metrics(&col->lanes[i], request);
	command_metrics(site, request);
}
