/* SPDX-License-Identifier: MIT */
/* What backfill.c, backfill_release.c and backfill_dryrun.c share. */
#ifndef SUBMITTER_RECONCILE_BACKFILL_PRIVATE_H
#define SUBMITTER_RECONCILE_BACKFILL_PRIVATE_H

#include "submitter/backend/job_list.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/reconcile/backfill.h"

#define WINDOW_S	86400	/* of starts in one listing; halved where it fails */
#define RETRY_MS	2000	/* until cc-backend is asked again */
#define RELEASED_MAX	16	/* runs on their way at a time: live work waits for no more */

enum backfill_step {
	BACKFILL_IDLE,
	BACKFILL_NEXT,	/* is there more? */
	BACKFILL_ASKED,	/* the collector reads a chunk */
	BACKFILL_LIST,	/* of what is held, what has cc-backend already? */
	BACKFILL_RELEASE	/* what it has not goes out, a few at a time */
};

struct dryrun_run {
	uint64_t job;
	int64_t	 start;
	unsigned char	 end;		/* enum job_end */
	unsigned char	 there;		/* cc-backend has it */
};

struct backfill {
	struct submitter *s;
	struct event	*timer;
	struct job_list	 job_list;
	enum backfill_step step;
	/* durable, see state_save() */
	int		 active;
	struct run_key	 whose;		/* the cluster */
	int64_t		 from, to;	/* epoch */
	int64_t		 at;		/* all before it is in the spool */
	uint64_t	 seen;		/* records, known ones too */
	uint64_t	 fresh;		/* of them not known here */
	/* */
	int64_t		 chunk_to;
	int64_t		 lo, hi;	/* starts of the window that was listed */
	int64_t		 width;
	uint64_t	 there;		/* found in cc-backend, by this process */
	int64_t		 released[RELEASED_MAX];
	unsigned	 n_released;
	/* a dry run, which nothing of is durable */
	int		 look;
	uint64_t	 request;
	int64_t		 until;		/* spool_now() */
	struct dryrun_run	*dryrun_runs;	/* owned; of this chunk */
	size_t		 n_dryrun_runs, cap_dryrun_runs;
	size_t		 dryrun_at;	/* the window begins there */
	unsigned	 beyond;	/* no room for these */
	unsigned	 told;
};

/* backfill_window.c */
void window_soon(struct backfill *b, int64_t ms);
/* Is cc-backend the one to say what it has? */
int window_lists(const struct backfill *b);
/* Halves the window after a listing that failed: 1 = ask again, 0 = it cannot be told. */
int window_failed(struct backfill *b, const struct result *v);

/* backfill_release.c */
void release_list(struct backfill *b);
void release_some(struct backfill *b);
/* Runs that wait for their turn. */
uint64_t release_waiting(const struct backfill *b);
/* Forgets them: how many. */
unsigned release_forget(struct backfill *b);

/* backfill_dryrun.c */
void dryrun_list(struct backfill *b);
/* The dry run is over; text is for the admin. */
void dryrun_end(struct backfill *b, enum ctl_status status, const char *text);

#endif
