/* SPDX-License-Identifier: MIT */
/*
 * The events of one run as bytes: for each event its number, the time since
 * the event before it, and its values.  Pure functions over bytes.
 */
#ifndef SUBMITTER_HISTORY_EVENTS_H
#define SUBMITTER_HISTORY_EVENTS_H

#include <stddef.h>
#include <stdint.h>

/* The numbers are stored: add new ones at the end. */
enum history_event {
	HISTORY_NONE,
	HISTORY_HOOK,	     /* a hook's message; a = enum event_kind */
	HISTORY_STORED,	     /* a = enum history_stored, b = nodes */
	HISTORY_RUNNING,     /* Slurm shows the run running */
	HISTORY_ENDED,	     /* a = enum job_end, b = seconds from the start */
	HISTORY_START_SENT,  /* the request was sent to cc-backend */
	HISTORY_START_TAKEN, /* cc-backend accepted the start */
	HISTORY_COMMITTED,   /* a listing of cc-backend shows the start */
	HISTORY_STOP_SENT,   /* the request was sent to cc-backend */
	HISTORY_STOP_TAKEN,  /* cc-backend accepted the stop */
	HISTORY_META_SENT,   /* cc-backend accepted a metadata update */
	HISTORY_REJECTED,    /* a = enum history_rejected */
	HISTORY_RETRY,	     /* a = HTTP status, b = how many in sequence */
	HISTORY_NATS_START,  /* published */
	HISTORY_NATS_STOP,   /* published */
	HISTORY_NATS_REJECTED,	/* the message is too long, or makes no body */
	HISTORY_DUPLICATE,	/* the start is refused as a duplicate */
	HISTORY_REPEATED,	/* no listing showed the start in time */
	HISTORY_LOST,		/* cc-backend does not show the run any more */
	HISTORY_STOP_NO_RUN,	/* the stop found no such run */
	HISTORY_STOP_LATE,	/* the stop found the run stopped */
	HISTORY_STOP_DIFFERS,	/* another client stopped it otherwise */
	HISTORY_UNKNOWN,	/* Slurm does not know the run any more */
	HISTORY_OPTED_OUT,	/* its user has opted out: not sent */
	HISTORY_NEVER_RAN,	/* requeued before it ran: not sent */
	HISTORY_QUARANTINED,	/* a worker died twice on its record */
	HISTORY_BLOCKED,	/* waits for an earlier run of the job */
	HISTORY_UNBLOCKED,	/* the earlier run is settled */
	HISTORY_RETRIED,	/* an admin or a reload retries it */
	HISTORY_REPAIRED,	/* an admin repairs it */
	HISTORY_REPLACED,	/* a later run of the job replaces it */
	HISTORY_DELETED,	/* deleted in cc-backend */
	HISTORY_FOUND,		/* found in cc-backend, no record yet */
	HISTORY_BACKFILL,	/* stored by a backfill; b = nodes */
	HISTORY_LISTED_STOPPED, /* a listing of cc-backend shows the stop */
	HISTORY_MORE,		/* later events of this run were not kept */
	HISTORY__COUNT
};

/* The value a of HISTORY_STORED. */
enum history_stored {
	STORED_RUNNING,
	STORED_UNCONFIRMED, /* Slurm has not shown it running yet */
	STORED_ENDED
};

/* The value a of HISTORY_REJECTED: the request. */
enum history_rejected {
	REJECTED_START,
	REJECTED_STOP,
	REJECTED_DELETION
};

#define HISTORY_BYTES_MAX 512 /* of the events of one run */

struct history_item {
	int64_t ms; /* epoch, milliseconds */
	enum history_event event;
	uint64_t a;
	uint64_t b;
};

/* The events of one run; zero-initialise. */
struct history_events {
	size_t len;
	uint8_t bytes[HISTORY_BYTES_MAX];
};

/*
 * Appends an event.  An event that happens once in a run, and repeated
 * failures, are stored once.  An event whose time is not valid is left out.
 * When the bytes are full, HISTORY_MORE is the last event.  Returns 1 when the
 * bytes have changed.
 */
int history_events_add(struct history_events *e,
    const struct history_item *item);
/*
 * Reads the event at *at (first 0) and moves *at behind it.  Returns 1, 0 at
 * the end, or -1 when the bytes are not valid.
 */
int history_events_next(const struct history_events *e, size_t *at,
    struct history_item *item);

#endif
