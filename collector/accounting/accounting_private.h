/* SPDX-License-Identifier: MIT */
/* What the files of collector/accounting share. */
#ifndef COLLECTOR_ACCOUNTING_ACCOUNTING_PRIVATE_H
#define COLLECTOR_ACCOUNTING_ACCOUNTING_PRIVATE_H

#include "collector/accounting/accounting.h"
#include "collector/slurm/query.h"
#include "common/log.h"

/* Rows kept until slurmctld was asked for their resources: some 8 MiB; what is
 * more is asked for again. */
#define KEPT_ROWS_MAX	8192
/* Rows kept until their steps were asked for; more of them come again. */
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

/* Of a job asked for by id. */
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
	int		 dry_run;	/* of it, nothing is to be stored */
	int64_t		 backfill_next;	/* monotonic s: not before */
	unsigned	 due;
	int		 may_check;	/* this poll has a command left for it */
	int		 checking;	/* the permission is being checked */
	int		 others_seen;	/* the answer has a row of another user */
	struct run_key	 sentinel;	/* every answer must hold it; job 0 = none */
	int64_t		 sentinel_end;
	int		 sentinel_seen;	/* in this answer */
	int64_t		 missed_at;	/* monotonic s: first answer without it; 0 = none */
	struct run_key	 candidate;	/* for the next one: of this answer */
	int64_t		 candidate_end;	/* 0 = there is none */
	struct log_limit sentinel_log;
	int64_t		 slice;		/* seconds of one question */
	int64_t		 slice_most;	/* what it may grow to */
	int64_t		 slice_ms;	/* what the last one took */
	int64_t		 slice_to;	/* 0 = open */
	int64_t		 asked_to;	/* the end that was asked for */
	int64_t		 clock;		/* slurmctld's, when the question began */
	int64_t		 latest;	/* end in the answer */
	int64_t		 mark;		/* earned, not yet said */
	uint64_t	 backfill_rows;
	struct log_limit skipping;
	char		 from_text[32];
	char		 to_text[32];
	char		 delimiter[SACCT_DELIMITER_MAX];
	char		 columns[SACCT_COLUMNS_MAX];
	struct idmap	 asked;		/* jobs in the question under way: ASKED_ */
	struct job_snapshot *kept[KEPT_ROWS_MAX];	/* owned */
	unsigned	 n_kept;
	struct idmap	 kept_runs;	/* run_number() of each */
	unsigned	 left_out;	/* rows of this answer for want of room */
	struct job_snapshot *step_rows[STEP_ROWS_MAX];	/* owned: did they run? */
	unsigned	 n_step_rows;
	unsigned	 n_step_asked;	/* of these, asked about just now */
	uint64_t	 rows_read;
};

/* question.c */

/*
 * Begins a question to sacct: row() is called for every row that
 * acct_question_feed() reads.  The caller adds what limits it and starts it.
 */
void acct_question(struct accounting *l, const struct query_type *type,
    int (*row)(struct job_snapshot *s, void *arg));
int acct_question_feed(const char *p, size_t n, void *arg);
/* It failed, and may be asked again at once, for less: 1. */
int acct_column_missing(struct accounting *l, const struct command_end *end);
/* Sends the watermark that was earned, unless a row waits. */
void acct_watermark(struct accounting *l);

/* by_id.c */

/* 1 when a question was asked. */
int acct_ids_query(struct accounting *l);
/* There is no accounting: nobody will tell. */
void acct_ids_none(struct accounting *l);
/* Open runs that left squeue, as far as they are due. */
void acct_want_left(struct accounting *l);

/* sentinel.c: is an answer of accounting's one that nothing lacks? */

/* A question begins; a row of its answer. */
void sentinel_begin(struct accounting *l);
void sentinel_row(struct accounting *l, const struct job_snapshot *s);
/* Was it in the answer to the question by id that has just ended? */
int sentinel_present(const struct accounting *l);
/* The next one comes from this answer, if it has any. */
void sentinel_adopt(struct accounting *l);
/* 1: the range has ended without it, and does not count. */
int sentinel_missing(struct accounting *l);

/* steps.c */

/* Takes s, whose run was requeued soon; 0, or -1: it has to come again. */
int steps_keep(struct accounting *l, struct job_snapshot *s);
/* 1 when a question was asked. */
int steps_query(struct accounting *l);

/* pending.c */

/* Takes s; 0, or -1 on memory. */
int acct_row_keep(struct accounting *l, struct job_snapshot *s);
/* Whether a row of this run waits for slurmctld's answer. */
int acct_row_is_kept(struct accounting *l, const struct run_key *key);

#endif
