/* SPDX-License-Identifier: MIT */
/* Private declarations of the backfill. */
#ifndef SUBMITTER_RECONCILE_BACKFILL_PRIVATE_H
#define SUBMITTER_RECONCILE_BACKFILL_PRIVATE_H

#include "submitter/backend/job_list.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/reconcile/backfill.h"

/* s of starts in one list; halved when the list fails */
#define WINDOW_S 86400
#define RETRY_MS 2000 /* ms until the next attempt to list jobs of cc-backend */
/* runs that are delivered at a time, so that live runs do not wait long */
#define RELEASED_MAX 16

enum backfill_step {
	BACKFILL_IDLE,
	BACKFILL_NEXT,	  /* checks whether there is another chunk */
	BACKFILL_ASKED,	  /* the collector reads a chunk */
	BACKFILL_LIST,	  /* lists which of the held runs cc-backend has */
	BACKFILL_RELEASE, /* sends the other runs, a few at a time */
	BACKFILL_OPEN	  /* --nats: publishes the runs of the spool */
};

struct dryrun_run {
	uint64_t job;
	int64_t start;
	int64_t alias;	     /* another start that it may have; 0 = none */
	unsigned char end;   /* enum job_end */
	unsigned char there; /* cc-backend has it */
};

struct backfill {
	struct submitter *s;
	struct event *timer;
	struct job_list job_list;
	int stale; /* the list under way is of a cancelled command */
	/* cancellations that the collector has not answered */
	unsigned ends;
	enum backfill_step step;
	/* durable, see state_save() */
	int active;
	int nats; /* publishes again by NATS, and sends nothing by REST */
	struct run_key whose; /* the cluster */
	int64_t from, to;     /* epoch */
	/*
	 * all runs that ended before are in the spool; of a dry run: are checked
	 */
	int64_t at;
	uint64_t seen;	/* records, known ones included */
	uint64_t added; /* of them not in the spool before */
	/* done here: missing in cc-backend and sent again, or published again */
	uint64_t restored;
	/* end of the chunk */
	int64_t chunk_to;
	/* limits of the starts that were listed */
	int64_t lo, hi;
	int64_t width;
	/* no window is longer: longer ones had no answer */
	int64_t width_max;
	unsigned unanswered; /* lists of this window, in a row */
	unsigned n_listed;   /* windows since width_max changed */
	/* of a window of one second */
	struct job_list_failures failures;
	uint64_t there; /* found in cc-backend by this process */
	int tell_held;	/* the log tells how many runs were held at the start */
	/* spool_now() and `at` when this process began to read */
	int64_t began, began_at;
	int cancelled; /* this process ended the last one before its end */
	/* --nats, durable: spool_now() and epoch of the command */
	int64_t asked, id;
	/* --nats, durable: runs that began later are left out */
	int64_t nats_until;
	int64_t waits_until;	 /* spool_now(), for accounting; 0 = no wait */
	int waited;		 /* that time has passed once */
	struct spool_after walk; /* over runs of the spool */
	unsigned walk_state;	 /* index of the state of this walk */
	uint64_t walk_rollbacks; /* s->n.commits_failed when it began */
	int64_t released[RELEASED_MAX];
	unsigned n_released;
	/* a dry run; nothing of it is durable */
	int look;
	uint64_t request;
	int64_t until;			/* spool_now() */
	struct dryrun_run *dryrun_runs; /* owned; runs of this chunk */
	size_t n_dryrun_runs, cap_dryrun_runs;
	size_t n_aliases; /* of dryrun_runs, with another start */
	size_t dryrun_at; /* index: the window begins there */
	unsigned beyond;  /* runs without space in dryrun_runs */
	unsigned told;
};

/* backfill_state.c */

/* Stores the durable part in the open transaction; and reads it. */
void state_save(struct backfill *b);
void state_load(struct backfill *b);
/* Tells the spool what is published again: nothing without the command. */
void nats_policy(struct backfill *b);

/* backfill.c */

/* The range was read and its runs were sent. */
void backfill_finish(struct backfill *b);

/* backfill_window.c */
void window_soon(struct backfill *b, int64_t ms);
/* 1 when cc-backend's jobs can be listed. */
int window_lists(const struct backfill *b);
/* A command begins: its windows have the whole length. */
void window_first(struct backfill *b);
/* The next window, as long as windows are listed now. */
void window_begin(struct backfill *b);
/* The list of the window is complete. */
void window_listed(struct backfill *b);
/*
 * Halves the window after a list that failed, or after several without an answer.
 * Returns 1 = list again, 0 = the jobs of this second cannot be listed.
 */
int window_failed(struct backfill *b, const struct result *v);

/* backfill_nats.c: backfill --nats */

/* 1: accounting may still lack runs that ended in the range. */
int nats_chunk_waits(struct backfill *b);
/* Begins the walk over the runs of the spool. */
void nats_walk_begin(struct backfill *b);
/* Publishes some runs of the spool again; ends the backfill after all. */
void nats_walk(struct backfill *b);

/* backfill_release.c */

/* 1: what is under way publishes by NATS.  Without one, late records are for REST. */
int is_by_nats(const struct backfill *b);
/* The destination for which runs are held. */
enum dest dest_of(const struct backfill *b);
/* 1 when a run is due that is not of the backfill. */
int live_waits(const struct backfill *b);
void release_list(struct backfill *b);
void release_some(struct backfill *b);
/* Runs that are held. */
uint64_t release_waiting(const struct backfill *b);
/* Deletes the held runs: how many. */
unsigned release_forget(struct backfill *b);

/* backfill_dryrun.c */
void dryrun_list(struct backfill *b);
/*
 * Ends the dry run with an error when its time limit is reached: 1, or 0.  why: the
 * end of the text, "; ..." or "".
 */
int dryrun_expired(struct backfill *b, const char *why);
/* Sets the timer to the time limit. */
void dryrun_limit_wait(struct backfill *b);
/* The dry run is over; text is for the admin. */
void dryrun_end(struct backfill *b, enum ctl_status status, const char *text);

#endif
