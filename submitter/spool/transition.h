/* SPDX-License-Identifier: MIT */
/*
 * The states of a run: only run_move() changes a state, and one table contains
 * the allowed changes.
 */
#ifndef SUBMITTER_SPOOL_TRANSITION_H
#define SUBMITTER_SPOOL_TRANSITION_H

#include <stdint.h>

#include "submitter/spool/spool.h"

/* Events of a run. */
enum run_event {
	RUN_EVENT_RECORD,	   /* its first record is stored */
	RUN_EVENT_BACKFILL_RECORD, /* the same, of a past range */
	/* cc-backend shows the run, the spool has no record */
	RUN_EVENT_FOUND,
	RUN_EVENT_OPTED_OUT,   /* its user has opted out */
	RUN_EVENT_QUARANTINED, /* a worker died twice on its record */
	RUN_EVENT_RECOVERED,   /* its row was recovered from a damaged file */
	/* it waits for an earlier run of the job */
	RUN_EVENT_BLOCKED,
	RUN_EVENT_UNBLOCKED, /* the earlier run is settled */
	/* cc-backend lacks this run of a past range */
	RUN_EVENT_RELEASED,
	/* a later run replaces it before its start */
	RUN_EVENT_DROPPED,
	/* Slurm does not know the run, and no request of it was sent */
	RUN_EVENT_UNKNOWN,
	RUN_EVENT_KNOWN_AGAIN, /* Slurm knows the run again */
	RUN_EVENT_RETRY,       /* an admin or a reload retries it */
	/* the destination will never accept it */
	RUN_EVENT_REJECTED,
	/* the start is accepted, its commit is awaited */
	RUN_EVENT_ACCEPTED,
	/* the start is accepted, no commit is awaited */
	RUN_EVENT_COMMITTED,
	/* a listing shows the start as committed */
	RUN_EVENT_LISTED,
	RUN_EVENT_LISTED_STOPPED, /* a listing shows the stop as well */
	RUN_EVENT_OVERDUE,	  /* no listing shows the start */
	RUN_EVENT_DUPLICATE,	  /* the start is refused as a duplicate */
	RUN_EVENT_LOST,		  /* it runs in Slurm, no listing shows it */
	RUN_EVENT_ENDED,	  /* its end is known, the stop is due */
	/* its end is known, the stop waits for a listing */
	RUN_EVENT_ENDED_WAIT,
	RUN_EVENT_STOPPED,     /* the stop is accepted */
	RUN_EVENT_STOP_NO_RUN, /* the stop found no such run */
	RUN_EVENT_STOP_LATE,   /* the stop found the run stopped */
	/* another client stopped it with other values */
	RUN_EVENT_STOP_DIFFERS,
	/* another client stopped it, nothing has to be done */
	RUN_EVENT_STOP_SETTLED,
	RUN_EVENT_REPAIR,     /* an admin repairs it */
	RUN_EVENT_SUPERSEDED, /* a later run of the job replaces it */
	RUN_EVENT_KEPT,	      /* delivered; a later run may replace it */
	RUN_EVENT_KEPT_LONG,  /* cc-backend refuses no other run any more */
	/* deleted in cc-backend; it is started again */
	RUN_EVENT_DELETED,
	RUN_EVENT_DELETED_FINALLY, /* deleted in cc-backend for good */
	RUN_EVENT_REPUBLISHED,	   /* an admin publishes it by NATS again */
	/* its record has changed since it was published to the stream */
	RUN_EVENT_CHANGED,
	RUN_EVENT_TO_STREAM, /* deliver is "stream" now */
	RUN_EVENT_REMOVED,   /* the destination is not in use any more */
	/* other clients than before read it by NATS: published again */
	RUN_EVENT_PUBLISHED_AGAIN,
	/* an admin drops it for this destination, another one still waits */
	RUN_EVENT_DISCARDED,
	RUN_EVENT__COUNT
};

const char *run_event_text(enum run_event event);

/*
 * The state that the event leads to; ended: the run's end is known.
 * RUN_STATE__COUNT when the event is not allowed in this state.
 */
enum run_state run_next(enum dest dest, enum run_state state,
    enum run_event event, int ended);
/* 1 when the event is allowed in the run's state. */
int run_may_move(const struct spool_run *run, enum dest dest,
    enum run_event event);

#define DUE_KEEP (-1) /* run_move() leaves the due time as it is */
/*
 * Moves the row in memory; spool_save() stores it.  due: of the new state.
 * reason: NULL leaves the text as it is, "" clears it.  Returns 0, or -1 with
 * the row unchanged when the event is not allowed: that is logged and counted.
 */
int run_move(struct spool *sp, struct spool_run *run, enum dest dest,
    enum run_event event, int64_t due, const char *reason);
/* Events that were not allowed, since the process started. */
uint64_t spool_forbidden(const struct spool *sp);

#endif
