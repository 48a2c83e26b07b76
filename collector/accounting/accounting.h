/* SPDX-License-Identifier: MIT */
/* What ledger.c, ledger_ids.c, ledger_held.c and witness.c share. */
#ifndef COLLECTOR_ACCOUNTING_ACCOUNTING_H
#define COLLECTOR_ACCOUNTING_ACCOUNTING_H

#include "collector/base/cluster.h"
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
	struct cluster *c;
	struct command	*cmd;
	struct sacct_reader reader;
	struct acct_range	 range;
	/* at: what is left of it begins there */
	struct acct_range	 backfill;
	int		 dry_run;	/* of it, nothing is to be stored */
	int64_t		 backfill_next;	/* monotonic s: not before */
	unsigned	 due;
	int		 may_check; /* a command is left for it in this cycle */
	int		 checking;
	/* a row of somebody else was in the answer */
	int		 others_seen;
	/* a run that answers must hold; job 0 = none */
	struct run_key	 sentinel;
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
	struct idmap	 wanted;	/* jobs to be asked for by id */
	struct idmap	 asked;		/* jobs in the question under way: ASKED_ */
	char		*ids;		/* owned: their list */
	struct job_snapshot	*kept[KEPT_ROWS_MAX];	/* owned */
	unsigned	 n_kept;
	struct idmap	 kept_runs;	/* run_number() of each */
	unsigned	 left_out;	/* rows of this answer for want of room */
	/* owned: did they run? */
	struct job_snapshot	*step_rows[STEP_ROWS_MAX];
	unsigned	 n_step_rows;
	unsigned	 n_step_asked;	/* of these, asked about just now */
	struct lines	 lines;		/* of that answer */
};

/* Asks sacct; ids NULL = the range. */
void acct_query(struct accounting *l, int (*row)(struct job_snapshot *s,
    void *arg),
    int (*on_output)(const char *p, size_t n, void *arg),
    void (*on_end)(const struct command_end *end, void *arg), const char *ids);
/* It failed, and may be asked again at once, for less: 1. */
int acct_column_missing(struct accounting *l, const struct command_end *end);
void acct_watermark(struct accounting *l);

/* ledger_ids.c */

/* 1 when a question was asked. */
int acct_ids_query(struct accounting *l);
/* There is no accounting: nobody will tell. */
void acct_ids_none(struct accounting *l);
/* Open runs that left squeue, as far as they are due. */
void acct_want_left(struct accounting *l);

/* witness.c: is an answer of accounting's one that nothing lacks? */

/* A question begins; a row of its answer. */
void sentinel_begin(struct accounting *l);
void sentinel_row(struct accounting *l, const struct job_snapshot *s);
/* Was it in the answer to the question by id that has just ended? */
int sentinel_present(const struct accounting *l);
/* The next one comes from this answer, if it has any. */
void sentinel_adopt(struct accounting *l);
/* 1: the range has ended without it, and does not count. */
int sentinel_missing(struct accounting *l);

/* ledger_steps.c */

/* Takes s, whose run was requeued soon; 0, or -1: it has to come again. */
int steps_keep(struct accounting *l, struct job_snapshot *s);
/* 1 when a question was asked. */
int steps_query(struct accounting *l);

/* ledger_held.c */

/* Takes s; 0, or -1 on memory. */
int acct_row_keep(struct accounting *l, struct job_snapshot *s);
/* Whether a row of this run waits for slurmctld's answer. */
int acct_row_is_kept(struct accounting *l, const struct run_key *key);

#endif
