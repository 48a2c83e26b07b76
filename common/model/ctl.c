/* SPDX-License-Identifier: MIT */
/* The protocol of the admin tool; see ctl.h. */
#include "config.h"

#include <stdarg.h>
#include <string.h>

#include "common/model/ctl.h"

#define ANSWER_SECONDS 25
#define SLOW_SECONDS   600 /* with questions to Slurm and cc-backend */

static const struct {
	const char *name;
	struct ctl_column columns[CTL_COLUMNS_MAX + 1];
} tables[CTL_T__COUNT] = {
	[CTL_T_STATUS] = { "status",
	    { { "process", 0 }, { "key", 0 }, { "value", 0 } } },
	[CTL_T_QUEUE] = { "queue",
	    { { "cluster", 0 }, { "job", 1 }, { "start", 1 }, { "what", 0 },
		{ "to", 0 }, { "tries", 1 }, { "due", 1 }, { "state", 0 },
		{ "reason", 0 }, { "age", 1 } } },
	[CTL_T_DIFF] = { "differences",
	    { { "cluster", 0 }, { "job", 1 }, { "start", 1 },
		{ "difference", 0 }, { "action", 0 } } },
	[CTL_T_METRIC] = { "metrics",
	    { { "name", 0 }, { "type", 0 }, { "help", 0 }, { "labels", 0 },
		{ "value", 1 } } },
	[CTL_T_SPOOL] = { "spool",
	    { { "next", 0 }, { "more", 0 }, { "text", 0 } } },
	[CTL_T_ROWS] = { "rows", { { "shown", 1 }, { "not_shown", 1 } } },
	[CTL_T_CHECK] = { "check", { { "kind", 0 }, { "text", 0 } } },
	[CTL_T_GPUS] = { "gpus",
	    { { "cluster", 0 }, { "host", 0 }, { "count", 1 }, { "gres", 0 },
		{ "map", 0 }, { "topology", 0 } } },
	[CTL_T_SUMMARY] = { "summary",
	    { { "state", 0 }, { "since", 1 }, { "not_listed", 1 },
		{ "sentence", 0 } } },
	[CTL_T_PROBLEM] = { "problems",
	    { { "stage", 0 }, { "since", 1 }, { "process", 0 },
		{ "problem", 0 } } },
	[CTL_T_NOTE] = { "notes", { { "text", 0 } } },
	[CTL_T_EXPLAIN] = { "explain",
	    { { "cluster", 0 }, { "job", 1 }, { "start", 1 }, { "time", 1 },
		{ "event", 0 }, { "text", 0 } } },
	[CTL_T_HISTORY] = { "history",
	    { { "span", 0 }, { "time", 1 }, { "counter", 0 },
		{ "value", 1 } } },
	[CTL_T_WARNING] = { "warnings",
	    { { "time", 1 }, { "first", 1 }, { "count", 1 }, { "process", 0 },
		{ "level", 0 }, { "text", 0 } } },
	[CTL_T_STREAM] = { "streams",
	    { { "cluster", 0 }, { "state", 0 }, { "last", 1 }, { "lag", 1 },
		{ "waiting", 1 }, { "held", 1 }, { "expired", 1 } } },
};

/* Flags that a verb allows, and whether it allows job ids and a cluster. */
static const struct {
	uint32_t flags;
	int jobs;
} allowed[CTL__COUNT] = {
	[CTL_QUEUE] = { CTL_FLAG_REJECTED, 1 },
	[CTL_RETRY] = { CTL_FLAG_ALL, 1 },
	[CTL_DROP] = { 0, 1 },
	[CTL_SPOOL] = { CTL_FLAG_ALL, 0 },
	[CTL_SYNC] = { CTL_FLAG_DRY_RUN | CTL_FLAG_FORCE | CTL_FLAG_START |
		CTL_FLAG_STOP,
	    1 },
	[CTL_BACKFILL] = { CTL_FLAG_DRY_RUN | CTL_FLAG_STATUS |
		CTL_FLAG_CANCEL | CTL_FLAG_NATS,
	    1 },
	[CTL_REPAIR] = { CTL_FLAG_DRY_RUN, 1 },
	[CTL_CHECK] = { 0, 1 },
	[CTL_EXPLAIN] = { CTL_FLAG_ANONYMIZE, 1 },
	[CTL_EXPLAIN_SLURM] = { CTL_FLAG_ANONYMIZE, 1 },
	[CTL_JOB_PART] = { 0, 1 },
};

const struct ctl_column *
ctl_columns(unsigned table)
{
	return table < CTL_T__COUNT ? tables[table].columns : NULL;
}

const char *
ctl_table_name(unsigned table)
{
	return table < CTL_T__COUNT ? tables[table].name : "?";
}

unsigned
ctl_seconds(unsigned verb)
{
	switch (verb) {
	case CTL_SYNC:
	case CTL_BACKFILL:
	case CTL_REPAIR:
	case CTL_EXPLAIN_SLURM:
	case CTL_JOB_PART:
		return SLOW_SECONDS;
	default:
		return ANSWER_SECONDS;
	}
}

const char *
ctl_request_check(const struct ctl_request *req)
{
	if (req->magic != CTL_MAGIC)
		return "not a request of cc-slurm-adapterctl";
	if (req->version != CTL_VERSION)
		return "the tool and the daemon have different versions";
	if (req->verb >= CTL__COUNT)
		return "unknown verb";
	if (req->n_ids > CTL_IDS_MAX)
		return "too many job ids";
	if (memchr(req->text, '\0', sizeof(req->text)) == NULL)
		return "the text has no end";
	/* A sync of one job must never become a sync of all jobs. */
	if ((req->flags & ~allowed[req->verb].flags) != 0 ||
	    (!allowed[req->verb].jobs &&
		(req->n_ids != 0 || *req->text != '\0')))
		return "the daemon does not know an option of this verb";
	return NULL;
}

void
ctl_row(struct writer *w, unsigned table, ...)
{
	const char *fields[CTL_COLUMNS_MAX];
	va_list ap;
	uint8_t i, n = 0;

	va_start(ap, table);
	while (n < CTL_COLUMNS_MAX &&
	    (fields[n] = va_arg(ap, const char *)) != NULL)
		n++;
	va_end(ap);
	wr_u8(w, (uint8_t)table);
	wr_u8(w, n);
	for (i = 0; i < n; i++)
		wr_str(w, fields[i]);
}
