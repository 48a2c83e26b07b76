/* SPDX-License-Identifier: MIT */
/* Private declarations of collector/accounting. */
#ifndef COLLECTOR_ACCOUNTING_ACCOUNTING_PRIVATE_H
#define COLLECTOR_ACCOUNTING_ACCOUNTING_PRIVATE_H

#include "collector/accounting/accounting.h"
#include "collector/slurm/query.h"
#include "common/log.h"

/*
 * Rows that are kept until slurmctld was queried for their details: about 8
 * MiB.  If there are more rows, accounting is queried for them again.
 */
#define KEPT_ROWS_MAX 8192
/*
 * Rows that are kept until their steps were queried.  If an answer has more
 * rows, its query is ended, and repeated after the query for the steps.
 */
#define STEP_ROWS_MAX 256

/*
 * After this time a run that no answer contains any more counts as removed from
 * slurmdbd (a purge, a restored database).  Then another sentinel is chosen,
 * because otherwise no answer would count again.  Not shorter than the time
 * between two not-found answers that count.
 */
#define LOST_AFTER_S 3600

enum range_kind {
	RANGE_NONE,
	RANGE_POLL,
	RANGE_DAY,
	RANGE_BACKFILL
};

struct acct_range {
	enum range_kind kind;
	int64_t from;
	int64_t to;	 /* 0 = open */
	int64_t at;	 /* start of the next slice */
	unsigned tries;	 /* queries of this slice */
	unsigned number; /* of the backfill; 0 = another kind */
};

#define DUE_POLL     1u
#define DUE_DAY	     2u
#define DUE_BACKFILL 4u

/* Bits of a job that is queried by id. */
#define ASKED_ROW   1u /* accounting has a row */
#define ASKED_ENDED 2u /* accounting has an end */

struct accounting {
	struct cluster *c;
	const struct accounting_ops *ops;
	void *ops_arg;
	struct query query; /* one at a time */
	struct sacct_reader reader;
	struct acct_range range;
	int64_t gapless; /* the polls read all from this time on; 0 = none */
	struct acct_range backfill; /* at: start of the rest */
	unsigned backfills;	    /* requests */
	int dry_run;	       /* of the backfill: its records are not stored */
	int64_t backfill_next; /* monotonic s: no query before */
	/*
	 * monotonic s: a range became due, or the last query for a range began
	 */
	int64_t range_at;
	int ids_failed; /* since then a query by id failed */
	unsigned due;
	int may_check;	    /* the poll may use a command for it */
	int checking;	    /* the permission is being checked */
	int had_permission; /* when that check began */
	int doubt; /* an answer lacked a run; the permission was not proved since */
	int others_seen;	 /* the answer has a row of another user */
	struct run_key sentinel; /* job 0 = none */
	int64_t sentinel_end;
	int sentinel_seen;	  /* in this answer */
	int64_t missed_at;	  /* monotonic s; 0 = not missing */
	struct run_key candidate; /* of this answer */
	int64_t candidate_end;	  /* 0 = no candidate */
	struct log_limit sentinel_log;
	int64_t slice;	    /* seconds of one query */
	int64_t slice_most; /* maximum of slice */
	int64_t slice_ms;   /* duration of the last query */
	int64_t slice_to;   /* 0 = open */
	int64_t asked_to;   /* the end of the slice */
	int64_t clock;	    /* slurmctld's, when the query began */
	int64_t latest;	    /* the latest end in the answer */
	int64_t mark;	    /* watermark that was not sent yet */
	int64_t backfilled; /* watermark of the backfill, not sent; 0 = none */
	unsigned ended;	    /* cancellations of backfills without an answer */
	int64_t mark_from;  /* begin of the range that earned it */
	uint64_t backfill_rows;
	struct log_limit skipping;
	struct idmap asked; /* jobs of the query under way: ASKED_ */
	size_t ids_most;    /* jobs in the next query; 0 = the limit */
	/* jobs that alone could not be read: monotonic s of the first time */
	struct idmap ids_unread;
	struct idmap ids_later; /* the same: monotonic s of the next query */
	struct job_snapshot *kept[KEPT_ROWS_MAX]; /* owned */
	unsigned n_kept;
	struct idmap kept_runs; /* run_number() of each */
	/*
	 * Jobs that may have earlier parts of a resized run: number of complete
	 * answers about them
	 */
	struct idmap parts;
	int parts_of_poll; /* a job of the current range waits */
	unsigned left_out; /* rows of this answer that are to be read again */
	struct job_snapshot *step_rows[STEP_ROWS_MAX]; /* owned */
	unsigned n_step_rows;
	unsigned n_step_asked; /* rows in the query under way */
	unsigned steps_most;   /* rows in the next query; 0 = all */
	/*
	 * jobs whose steps alone could not be read: monotonic s of the first time
	 */
	struct idmap steps_unread;
	int unread_turn; /* the next query is for one of them */
	int64_t
	    outage_at; /* monotonic s: slurmdbd was away for long; 0 = never */
	/*
	 * monotonic s: an answer lacked runs that wait for their steps (0 = the
	 * last answer had all); no query for steps before the other time
	 */
	int64_t steps_missed_at;
	int64_t steps_next;
	int steps_full; /* there was no room for a row */
	/*
	 * monotonic s: no query before, because there was no room for one of its
	 * rows.  [1] for ranges, [0] for queries by id.
	 */
	int64_t full_next[2];
	/*
	 * run_number() of each run that was sent since then: the repeated query
	 * returns its row again.  [1] for a backfill, [0] for other queries.
	 */
	struct idmap steps_sent[2];
	struct log_limit steps_log;
	struct log_limit unshown_log;
	uint64_t rows_read;
};

/* accounting.c */

/*
 * Begins a query to sacct: row() is called for every row that
 * acct_question_feed() reads, which pauses the query while the queue to the
 * submitter is full.  The caller sets the values that limit the rows, and starts
 * the query.
 */
void acct_question(struct accounting *l, const struct query_type *type,
    int (*row)(struct job_snapshot *s, void *arg));
int acct_question_feed(const char *p, size_t n, void *arg);
/*
 * Returns 1 when sacct lacks a column and the query may be repeated at once
 * without this column.
 */
int acct_column_missing(struct accounting *l, const struct command_end *end);
/*
 * May a query that failed be answered when it asks for less?  Not when the reason is
 * on this machine: the command did not start, or its files were replaced.
 */
int acct_may_be_size(enum command_outcome outcome);
/* Notes whether slurmdbd is away for long; called often. */
void acct_outage_note(struct accounting *l);
/*
 * Notes in unread that the query for one job has failed.  Returns the seconds since the
 * first time, or since the last long outage of slurmdbd.
 */
uint32_t acct_unread_age(struct accounting *l, struct idmap *unread,
    uint64_t job);
/*
 * 1 when a job of this age is given up.  Not while the query before was not answered
 * either: slurmdbd may be away.
 */
int acct_is_lost(const struct accounting *l, uint32_t age);
/* Sends the watermark that was earned, unless a row waits. */
void acct_watermark(struct accounting *l);
/* Sends the watermarks of backfills that are due. */
void acct_backfill_answer(struct accounting *l);

/* by_id.c */

/* Returns 1 when a query was started. */
int acct_ids_query(struct accounting *l);
/* Slurm has no accounting: ends the requests of the work list. */
void acct_ids_none(struct accounting *l);
/* Adds open runs that left squeue and are due to the work list. */
void acct_want_left(struct accounting *l);
/*
 * The start of a later run need not wait for the earlier runs of the job, unless a
 * row of the job waits for its steps or for details.
 */
void acct_earlier_read(struct accounting *l, uint64_t job);

/* The sentinel: is an answer of accounting complete? */

/* sentinel_begin(): a query begins.  sentinel_row(): a row of its answer. */
void sentinel_begin(struct accounting *l);
void sentinel_row(struct accounting *l, const struct job_snapshot *s);
/* Was the sentinel in the answer to the query by id that has just ended? */
int sentinel_present(const struct accounting *l);
/* Makes the candidate of this answer the sentinel, if there is a candidate. */
void sentinel_adopt(struct accounting *l);
/* Returns 1 when the answer lacks the sentinel and is ignored. */
int sentinel_missing(struct accounting *l);

/* steps.c */

/*
 * Takes s, a run that was requeued early.  Returns 0, or -1 when accounting
 * must be read again.
 */
int steps_keep(struct accounting *l, struct job_snapshot *s);
/* Returns 1 when a query was started. */
int steps_query(struct accounting *l);
/* Slurm has no accounting: sends the rows that wait for their steps. */
void steps_none(struct accounting *l);
/*
 * Was the query ended because there was no room for a row?  Then Slurm answers,
 * and the query is to be repeated after steps_query().
 */
int steps_ended_query(struct accounting *l, const struct command_end *end);
/* Does a query of this kind wait for room for its rows? */
int steps_block(const struct accounting *l, enum question_kind kind);

/* parts.c */

/* ROW_MAY_PARTS if an earlier part of the row's run may not have been read. */
unsigned parts_may(const struct accounting *l, const struct job_snapshot *s);
/* Queries the job by id.  Returns 0, or -1 when out of memory. */
int parts_want(struct accounting *l, uint64_t job);
/* The answer is complete; shown: it has a row of the job. */
void parts_answered(struct accounting *l, uint64_t job, int shown);
/* The slice was read: no row of it waits for an answer. */
void parts_read(struct accounting *l);

/* pending.c */

/* Takes s.  Returns 0, or -1 when out of memory. */
int acct_row_keep(struct accounting *l, struct job_snapshot *s);
/* Does a row of this run wait for slurmctld's answer? */
int acct_row_is_kept(struct accounting *l, const struct run_key *key);
/* The same of any run of the job. */
int acct_job_is_kept(const struct accounting *l, uint64_t job);
/*
 * Does an earlier run of the same job have a kept row?  Then this row is kept, too:
 * cc-backend refuses an earlier run after a later one.
 */
int acct_row_overtakes(const struct accounting *l,
    const struct job_snapshot *s);

#endif
