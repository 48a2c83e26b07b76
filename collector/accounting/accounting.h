/* SPDX-License-Identifier: MIT */
/* What ledger.c, ledger_ids.c, ledger_held.c and witness.c share. */
#ifndef COLLECTOR_ACCOUNTING_ACCOUNTING_H
#define COLLECTOR_ACCOUNTING_ACCOUNTING_H

#include "collector/base/cluster.h"
#include "common/log.h"

/* Rows kept until slurmctld was asked for their resources: some 8 MiB; what is
 * more is asked for again. */
#define HELD_ROWS_MAX	8192
/* Rows kept until their steps were asked for; more of them come again. */
#define DOUBTS_MAX	256

enum range_kind { RANGE_NONE, RANGE_POLL, RANGE_DAY, RANGE_BACKFILL };

struct json_split;

struct range {
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

struct ledger {
	struct collector *c;
	struct command	*cmd;
	struct sacct_reader reader;
	struct json_split *split;	/* owned; NULL = the answer is text */
	struct range	 range;
	struct range	 backfill;	/* at: what is left of it begins there */
	int		 look;		/* of it, nothing is to be stored */
	int64_t		 backfill_next;	/* monotonic s: not before */
	unsigned	 due;
	int		 may_prove;	/* a command is left for it in this cycle */
	int		 proving;
	int		 witnessed;	/* a row of somebody else was in the answer */
	struct run_key	 witness;	/* a run that answers must hold; job 0 = none */
	int64_t		 witness_end;
	int		 witness_seen;	/* in this answer */
	int64_t		 missed_at;	/* monotonic s: first answer without it; 0 = none */
	struct run_key	 candidate;	/* for the next one: of this answer */
	int64_t		 candidate_end;	/* 0 = there is none */
	struct log_limit forgetful;
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
	struct sighting	*held[HELD_ROWS_MAX];	/* owned */
	unsigned	 n_held;
	struct idmap	 held_runs;	/* run_number() of each */
	unsigned	 left_out;	/* rows of this answer for want of room */
	struct sighting	*doubts[DOUBTS_MAX];	/* owned: did they run? */
	unsigned	 n_doubts;
	unsigned	 n_doubting;	/* of these, asked about just now */
	struct lines	 lines;		/* of that answer */
};

/* Asks sacct; ids NULL = the range. */
void ledger_ask(struct ledger *l, int (*row)(struct sighting *s, void *arg),
    int (*on_output)(const char *p, size_t n, void *arg),
    void (*on_end)(const struct command_end *end, void *arg), const char *ids);
/* It failed, and may be asked again at once, for less: 1. */
int ledger_lacks(struct ledger *l, const struct command_end *end);
void ledger_mark(struct ledger *l);

/* ledger_json.c */

/* The next answer is JSON, or not. */
void ledger_json_begin(struct ledger *l, int json);
/* The answer to a range, text or JSON: 0, or -1 when it is none. */
int ledger_feed(struct ledger *l, const char *p, size_t n);
int ledger_end(struct ledger *l);

/* ledger_ids.c */

/* 1 when a question was asked. */
int ledger_ids_ask(struct ledger *l);
/* There is no accounting: nobody will tell. */
void ledger_ids_none(struct ledger *l);
/* Open runs that left squeue, as far as they are due. */
void ledger_wanted_left(struct ledger *l);

/* witness.c: is an answer of accounting's one that nothing lacks? */

/* A question begins; a row of its answer. */
void witness_begin(struct ledger *l);
void witness_row(struct ledger *l, const struct sighting *s);
/* Was it in the answer to the question by id that has just ended? */
int witness_spoke(const struct ledger *l);
/* The next one comes from this answer, if it has any. */
void witness_adopt(struct ledger *l);
/* 1: the range has ended without it, and does not count. */
int witness_missing(struct ledger *l);

/* ledger_steps.c */

/* Takes s, whose run was requeued soon; 0, or -1: it has to come again. */
int steps_keep(struct ledger *l, struct sighting *s);
/* 1 when a question was asked. */
int steps_ask(struct ledger *l);

/* ledger_held.c */

/* Takes s; 0, or -1 on memory. */
int ledger_keep(struct ledger *l, struct sighting *s);
/* Whether a row of this run waits for slurmctld's answer. */
int ledger_holds(struct ledger *l, const struct run_key *key);

#endif
