/* SPDX-License-Identifier: MIT */
/*
 * The protocol of the admin tool: one request of a fixed size, then rows until
 * the end.  The supervisor answers some verbs itself and passes others to a
 * worker.  A row is the number of its table and the fields in the order of
 * ctl_columns(); the tool makes text or JSON of them.
 */
#ifndef COMMON_CTL_H
#define COMMON_CTL_H

#include <stdint.h>

#include "common/codec.h"
#include "common/model/msg.h"

#define CTL_MAGIC    0x4343534cu
#define CTL_VERSION  1u
#define CTL_TEXT_MAX 512 /* bytes with the NUL */
#define CTL_IDS_MAX  64	 /* job ids in one request */

enum ctl_verb {
	CTL_STATUS,   /* all: the state of each process */
	CTL_QUEUE,    /* submitter: deliveries that wait; flag REJECTED */
	CTL_RETRY,    /* submitter: rejected runs are due again */
	CTL_DROP,     /* submitter: discards rejected runs; root only */
	CTL_SYNC,     /* collector, submitter: limit = most runs to repair */
	CTL_LOG,      /* supervisor: a = log level, which it tells all */
	CTL_RELOAD,   /* supervisor: as SIGHUP, with the result */
	CTL_METRICS,  /* all but runner, exporter: OpenMetrics values */
	CTL_BACKFILL, /* submitter, receiver: a = from, b = to; or progress */
	/*
	 * submitter: one step; a = enum ctl_spool, b = where the step begins.
	 * Import: limit = lines of earlier steps; root only.
	 */
	CTL_SPOOL,
	CTL_REPAIR, /* submitter: runs stopped by others; root only */
	/*
	 * collector, submitter, receiver: the checklist of -test; the submitter of a
	 * cluster, if text names one.  Only the supervisor of -test sends it.
	 */
	CTL_CHECK,
	CTL_GPUS,    /* collector, submitter: nodes with GPUs */
	CTL_EXPLAIN, /* submitter: the runs of the jobs in ids */
	/* collector, receiver: why these jobs have no run here */
	CTL_EXPLAIN_SLURM,
	CTL_HISTORY,  /* submitter: counters of each minute and hour */
	CTL_WARNINGS, /* supervisor: the last warnings and errors */
	/*
	 * collector: the job ids of a task or a component of the job ids[0];
	 * a = its number, b = enum ctl_part
	 */
	CTL_JOB_PART,
	CTL__COUNT
};

#define CTL_FLAG_REJECTED  1u
#define CTL_FLAG_DRY_RUN   2u
#define CTL_FLAG_FORCE	   4u
#define CTL_FLAG_ALL	   32u
#define CTL_FLAG_START	   64u /* START alone: no stops; neither: both */
#define CTL_FLAG_STOP	   128u
#define CTL_FLAG_STATUS	   256u /* the progress */
#define CTL_FLAG_CANCEL	   512u
#define CTL_FLAG_ANONYMIZE 1024u /* names of users and jobs are replaced */
#define CTL_FLAG_NATS	   2048u /* backfill: publish again, nothing by REST */

/* The field a of CTL_SPOOL. */
enum ctl_spool {
	CTL_SPOOL_CHECK,
	CTL_SPOOL_EXPORT, /* flag ALL: with job scripts, root only */
	CTL_SPOOL_IMPORT
};

/* The field b of CTL_JOB_PART. */
enum ctl_part {
	CTL_PART_TASK,	   /* of an array: 4711_3 */
	CTL_PART_COMPONENT /* of a heterogeneous job: 4711+1 */
};

/* The event of a row of CTL_T_EXPLAIN whose job is the answer. */
#define CTL_EVENT_JOB_ID "job-id"
/* The event of a row that says what the answer lacks. */
#define CTL_EVENT_NOT_SHOWN "not-shown"

struct ctl_request {
	uint32_t magic;
	uint16_t version;
	uint16_t verb; /* enum ctl_verb */
	uint32_t flags;
	uint32_t limit; /* rows; 0 = the daemon's default */
	int64_t a;	/* see enum ctl_verb */
	int64_t b;	/* see enum ctl_verb */
	uint32_t n_ids;
	uint32_t pad;
	uint64_t ids[CTL_IDS_MAX]; /* job ids */
	char text[CTL_TEXT_MAX];   /* cluster name with its NUL, or "" */
};

enum ctl_status {
	CTL_OK,
	CTL_ERROR, /* with a text */
	CTL_DENIED
};

/* Tables of rows; the numbers are part of the protocol. */
enum ctl_table {
	CTL_T_STATUS, /* process, key, value */
	/*
	 * cluster, job, start, what, to, tries, due (in s), state, reason, age
	 * (s since the start or end that is to be delivered)
	 */
	CTL_T_QUEUE,
	CTL_T_DIFF,   /* cluster, job, start, difference, action */
	CTL_T_METRIC, /* name, type, help, labels, value */
	CTL_T_NOTE,   /* text */
	/*
	 * next (where the next step begins), more (1: the line continues in the
	 * next row), text
	 */
	CTL_T_SPOOL,
	CTL_T_ROWS,  /* of the queue: shown, not_shown */
	CTL_T_CHECK, /* kind (ok, warn, cluster, hook), text */
	/*
	 * cluster, host, count, gres, map, topology: empty where the sender
	 * does not know the value
	 */
	CTL_T_GPUS,
	/* state, since, problems that are not listed, sentence */
	CTL_T_SUMMARY,
	CTL_T_PROBLEM, /* stage, since, process, problem */
	/*
	 * cluster, job, start (of the run; empty = none), time (epoch, s, with
	 * milliseconds; empty = now), event, text
	 */
	CTL_T_EXPLAIN,
	CTL_T_HISTORY, /* span (minute or hour), time (epoch), counter, value */
	/*
	 * time and first (epoch, of the last and the first equal line), count,
	 * process, level (fatal, error or warn), text; newest first
	 */
	CTL_T_WARNING,
	/*
	 * At the centre of a fan-in: cluster, state, last (epoch of the newest
	 * message that was stored, 0 = none), lag (s that messages wait, 0 = none
	 * waits), waiting (messages), held (messages of a newer version), expired
	 * (messages that the stream deleted before they were read)
	 */
	CTL_T_STREAM,
	CTL_T__COUNT
};

#define CTL_COLUMNS_MAX 12

struct ctl_column {
	const char *name;
	int numeric; /* a number in JSON */
};

/* Columns of a table, NULL-terminated; NULL when there is no such table. */
const struct ctl_column *ctl_columns(unsigned table);
const char *ctl_table_name(unsigned table);

/*
 * The daemon's time limit for the whole reply to a verb, in seconds; the tool
 * waits a little longer.
 */
unsigned ctl_seconds(unsigned verb);

/*
 * Checks magic, version, verb and text, and that the verb allows the flags, job
 * ids and cluster name of the request.  NULL, or what is wrong.
 */
const char *ctl_request_check(const struct ctl_request *req);
/* Writes a row: u8 table, u8 number of fields, strings.  NULL ends them. */
void ctl_row(struct writer *w, unsigned table, ...) __attribute__((sentinel));

/*
 * A frame of the reply on the socket: u32 length, u8 kind (0 = row, 1 = end),
 * then the payload of MSG_CTL_ROW or MSG_CTL_END.  length is that of the
 * payload, at most CTL_REPLY_MAX.  The daemon closes the connection after the
 * end.
 */
#define CTL_KIND_ROW  0
#define CTL_KIND_END  1
#define CTL_REPLY_MAX (64u * 1024)

#endif
