/* SPDX-License-Identifier: MIT */
/*
 * The rows of `metrics`.  Each row repeats type and help of its family: the
 * admin tool and the exporter collect the rows of all processes and print those
 * of one family together.
 */
#include "config.h"

#include <stdio.h>

#include "common/worker/worker.h"

#define LABELS_MAX 512 /* bytes with the NUL */

void
worker_metric_row(struct worker *w, uint64_t request, const char *name,
    const char *type, const char *help, const char *labels, const char *value)
{
	struct writer row;

	wr_init(&row, CTL_REPLY_MAX);
	ctl_row(&row, CTL_T_METRIC, name, type, help, labels, value, NULL);
	worker_ctl_row(w, request, &row);
	wr_clear(&row);
}

void
worker_metric_value(struct worker *w, uint64_t request, const char *name,
    const char *type, const char *help, const char *labels, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	worker_metric_row(w, request, name, type, help, labels, text);
}

void
worker_metric(struct worker *w, uint64_t request, const char *name,
    const char *type, const char *help, unsigned long long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", value);
	worker_metric_row(w, request, name, type, help, "", text);
}

struct family {
	struct worker *w;
	uint64_t request;
	const char *name, *help, *labels;
};

static void
on_sample(const char *suffix, const char *le, const char *value, void *arg)
{
	const struct family *f = arg;
	char name[128], labels[LABELS_MAX];

	snprintf(name, sizeof(name), "%s%s", f->name, suffix);
	if (le == NULL)
		snprintf(labels, sizeof(labels), "%s", f->labels);
	else
		snprintf(labels, sizeof(labels), "%s%sle=\"%s\"", f->labels,
		    f->labels[0] != '\0' ? "," : "", le);
	worker_metric_row(f->w, f->request, name, "histogram", f->help, labels,
	    value);
}

void
worker_histogram(struct worker *w, uint64_t request, const char *name,
    const char *help, const char *labels, const struct histogram *h,
    enum histogram_scale scale)
{
	struct family f = { w, request, name, help, labels };

	histogram_rows(h, scale, on_sample, &f);
}

/* The families that several processes share have one text here. */
static const struct {
	const char *name, *type, *help;
} stage_rows[] = {
	[STAGE_LAST_SUCCESS] = { "cc_slurm_adapter_stage_last_success_timestamp_seconds",
	    "gauge",
	    "Time of the last success of the stage; 0 = none since the start." },
	[STAGE_OLDEST_WAITING] = { "cc_slurm_adapter_stage_oldest_waiting_seconds",
	    "gauge",
	    "Age of the oldest item that waits in the stage; 0 = none waits." },
	[STAGE_ERRORS] = { "cc_slurm_adapter_stage_errors_total", "counter",
	    "Errors of the stage by kind." },
};

void
worker_metric_stage(struct worker *w, uint64_t request, enum stage_metric which,
    const char *stage, const char *label, const char *text, int64_t value)
{
	char labels[LABELS_MAX];

	if (label == NULL)
		snprintf(labels, sizeof(labels), "stage=\"%s\"", stage);
	else
		snprintf(labels, sizeof(labels), "stage=\"%s\",%s=\"%s\"",
		    stage, label, text);
	worker_metric_value(w, request, stage_rows[which].name,
	    stage_rows[which].type, stage_rows[which].help, labels, value);
}
