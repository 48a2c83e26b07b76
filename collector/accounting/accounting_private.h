/* SPDX-License-Identifier: MIT */
/* What the files of collector/accounting share. */
#ifndef COLLECTOR_ACCOUNTING_ACCOUNTING_PRIVATE_H
#define COLLECTOR_ACCOUNTING_ACCOUNTING_PRIVATE_H

#include "collector/accounting/accounting.h"
#include "collector/slurm/query.h"
#include "common/log.h"

/*
 * Rows kept until slurmctld was queried for their details: about 8 MiB.
 * Further rows are queried again.
 */
#define KEPT_ROWS_MAX	8192
/* Rows kept until their steps were queried; further rows are queried again. */
#define STEP_ROWS_MAX	256

enum range_kind { RANGE_NONE, RANGE_POLL, RANGE_DAY, RANGE_BACKFILL };

struct acct_range {
	enum range_kind	kind;
	int64_t		from;
	int64_t		to;		/* 0 = open */
	int64_t		at;		/* the next slice begins there */
	unsigned	tries;		/* of this slice, with rows that cannot be read */
};

#define DUE_POLL	1u
#define DUE_DAY		2u
#define DUE_BACKFILL	4u

/* Of a job that is queried by id. */
#define ASKED_ROW	1u	/* accounting has it */
#define ASKED_ENDED	2u	/* and an end of it */

struct accounting {
	struct cluster	*c;
	const struct accounting_ops *ops;
	void		*ops_arg;
	struct query	 query;		/* one at a time */
	struct sacct_reader reader;
	struct acct_range range;
	struct acct_range backfill;	/* at: the rest of it begins there */
	int		 dry_run;	/* of the backfill: its records are not stored */
	int64_t		 backfill_next;	/* monotonic s: not before */
	unsigned	 due;
	int		 may_check;	/* this poll has a command left to check the permission */
	int		 checking;	/* the permission is being checked */
	int		 others_seen;	/* the answer has a row of another user */
	struct run_key	 sentinel;	/* every answer must have it; job 0 = none */
	int64_t		 sentinel_end;
	int		 sentinel_seen;	/* in this answer */
	int64_t		 missed_at;	/* monotonic s: first answer without it; 0 = none */
	struct run_key	 candidate;	/* the next sentinel, of this answer */
	int64_t		 candidate_end;	/* 0 = there is none */
	struct log_limit sentinel_log;
	int64_t		 slice;		/* seconds of one query */
	int64_t		 slice_most;	/* what it may grow to */
	int64_t		 slice_ms;	/* what the last one took */
	int64_t		 slice_to;	/* 0 = open */
	int64_t		 asked_to;	/* the end of the range */
	int64_t		 clock;		/* slurmctld's, when the query began */
	int64_t		 latest;	/* the latest end in the answer */
	int64_t		 mark;		/* watermark that was not sent yet */
	uint64_t	 backfill_rows;
	struct log_limit skipping;
	char		 from_text[32];
	char		 to_text[32];
	char		 delimiter[SACCT_DELIMITER_MAX];
	char		 columns[SACCT_COLUMNS_MAX];
	struct idmap	 asked;		/* jobs of the query under way: ASKED_ */
	struct job_snapshot *kept[KEPT_ROWS_MAX];	/* owned */
	unsigned	 n_kept;
	struct idmap	 kept_runs;	/* run_number() of each */
	unsigned	 left_out;	/* rows of this answer for which there was no room */
	struct job_snapshot *step_rows[STEP_ROWS_MAX];	/* owned: did they run? */
	unsigned	 n_step_rows;
	unsigned	 n_step_asked;	/* of these, of the query under way */
	uint64_t	 rows_read;
};

/* question.c */

/*
 * Begins a query to sacct: row() is called for every row that
 * acct_question_feed() reads.  The caller adds the arguments that limit the
 * rows, and starts it.
 */
void acct_question(struct accounting *l, const struct query_type *type,
    int (*row)(struct job_snapshot *s, void *arg));
int acct_question_feed(const char *p, size_t n, void *arg);
/* 1: sacct lacks a column, and the query may be repeated at once without it. */
int acct_column_missing(struct accounting *l, const struct command_end *end);
/* Sends the watermark that was earned, unless a row waits. */
void acct_watermark(struct accounting *l);

/* by_id.c */

/* 1 when a query was started. */
int acct_ids_query(struct accounting *l);
/* Slurm has no accounting: ends the requests of the work list. */
void acct_ids_none(struct accounting *l);
/* Adds open runs that left squeue and are due to the work list. */
void acct_want_left(struct accounting *l);

/* sentinel.c: is an answer of accounting complete? */

/* A query begins; a row of its answer. */
void sentinel_begin(struct accounting *l);
void sentinel_row(struct accounting *l, const struct job_snapshot *s);
/* Was the sentinel in the answer to the query by id that has just ended? */
int sentinel_present(const struct accounting *l);
/* Takes the next sentinel from this answer, if it has a candidate. */
void sentinel_adopt(struct accounting *l);
/* 1: the answer lacks the sentinel and is ignored. */
int sentinel_missing(struct accounting *l);

/* steps.c */

/* Takes s, a run that was requeued early; 0, or -1: it must be read again. */
int steps_keep(struct accounting *l, struct job_snapshot *s);
/* 1 when a query was started. */
int steps_query(struct accounting *l);

/* pending.c */

/* Takes s; 0, or -1 on memory. */
int acct_row_keep(struct accounting *l, struct job_snapshot *s);
/* Does a row of this run wait for slurmctld's answer? */
int acct_row_is_kept(struct accounting *l, const struct run_key *key);

#endif
