/* SPDX-License-Identifier: MIT */
/*
 * The admin tool's door: one request of a fixed size, then rows until the
 * end.  The supervisor answers some verbs itself and passes others to the
 * worker that knows; a row is a table's name and its fields in the order of
 * ctl_columns(), so that text and JSON are made in one place, the tool.
 */
#ifndef COMMON_CTL_H
#define COMMON_CTL_H

#include <stdint.h>

#include "common/codec.h"
#include "common/msg.h"

#define CTL_MAGIC	0x4343534cu
#define CTL_VERSION	1u
#define CTL_TEXT_MAX	512	/* bytes with the NUL */
#define CTL_IDS_MAX	64	/* job ids in one request */

enum ctl_verb {
	CTL_STATUS,	/* all: who runs, how long, what is waiting */
	CTL_QUEUE,	/* submitter: deliveries that wait; flag REJECTED */
	CTL_RETRY,	/* submitter: rejected runs are due again */
	CTL_DROP,	/* submitter: rejected runs are given up; root only */
	CTL_SYNC,	/* collector, submitter: a round now; limit = runs mended at most */
	CTL_LOG,	/* all: a = log level */
	CTL_RELOAD,	/* supervisor: as SIGHUP, but tells the outcome */
	CTL_METRICS,	/* all: OpenMetrics values */
	CTL_BACKFILL,	/* submitter: a = from, b = to, or how far it is */
	CTL_SPOOL,	/* submitter: one step; a = what, b = from where; import: limit = lines before, root only */
	CTL_REPAIR,	/* submitter: mends runs closed by mistake; root only */
	CTL__COUNT
};

#define CTL_FLAG_REJECTED	1u
#define CTL_FLAG_DRY_RUN	2u
#define CTL_FLAG_FORCE		4u
#define CTL_FLAG_ALL		32u
#define CTL_FLAG_START		64u	/* starts alone; neither of the two: both */
#define CTL_FLAG_STOP		128u
#define CTL_FLAG_STATUS		256u	/* how far is it? */
#define CTL_FLAG_CANCEL		512u

/* What CTL_SPOOL does: its a. */
enum ctl_spool {
	CTL_SPOOL_CHECK,
	CTL_SPOOL_EXPORT,	/* flag ALL: with scripts, root only */
	CTL_SPOOL_IMPORT
};

struct ctl_request {
	uint32_t magic;
	uint16_t version;
	uint16_t verb;		/* enum ctl_verb */
	uint32_t flags;
	uint32_t limit;		/* rows; 0 = a sensible number */
	int64_t	 a;		/* by verb: level, from */
	int64_t	 b;		/* by verb: to */
	uint32_t n_ids;
	uint32_t pad;
	uint64_t ids[CTL_IDS_MAX];	/* job ids */
	char	 text[CTL_TEXT_MAX];	/* NUL-terminated: cluster name; may be empty */
};

enum ctl_status {
	CTL_OK,
	CTL_ERROR,	/* text says what */
	CTL_DENIED
};

/* Tables of rows; the numbers travel. */
enum ctl_table {
	CTL_T_STATUS,	/* process, key, value */
	CTL_T_QUEUE,	/* cluster, job, start, what, to, tries, due (in s), state, reason */
	CTL_T_DIFF,	/* cluster, job, start, difference, action */
	CTL_T_METRIC,	/* name, type, help, labels, value */
	CTL_T_NOTE,	/* text */
	CTL_T_SPOOL,	/* next (where the next step goes on), more (of this line in the next row), text */
	CTL_T__COUNT
};

#define CTL_COLUMNS_MAX	12

struct ctl_column {
	const char	*name;
	int		 numeric;	/* printed bare in JSON */
};

/* NULL-terminated names of a table's columns; NULL when there is no such table. */
const struct ctl_column *ctl_columns(unsigned table);
const char *ctl_table_name(unsigned table);

/*
 * Seconds that the daemon gives itself for the whole answer to a verb; the
 * tool waits a little longer.
 */
unsigned ctl_seconds(unsigned verb);

/*
 * Checks magic, version, verb, NUL, and that nothing is asked which the verb
 * does not heed: NULL, or what is wrong.
 */
const char *ctl_request_check(const struct ctl_request *req);
/* One row: u8 table, u8 fields, each a str.  Ends with a NULL. */
void ctl_row(struct writer *w, unsigned table, ...) __attribute__((sentinel));

/*
 * What goes over the socket to the tool: u32 length, u8 kind (0 = row, 1 =
 * end), then the payload of MSG_CTL_ROW or MSG_CTL_END.  length is the
 * payload's alone, at most CTL_REPLY_MAX.  The daemon hangs up after the end.
 */
#define CTL_KIND_ROW	0
#define CTL_KIND_END	1
#define CTL_REPLY_MAX	(64u * 1024)

#endif
