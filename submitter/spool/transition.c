/* SPDX-License-Identifier: MIT */
/*
 * The table of the states of a run.  A row of the spool holds one state for
 * each destination.  The work that is due in a state is durable with the row;
 * the next commit stores the row.  An answer of cc-backend that is lost before
 * that commit leaves the row in its old state: the request is repeated, and a
 * repeated request is harmless.
 */
#include "config.h"

#include <stdio.h>

#include "common/log.h"
#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"

#define S(state) (1u << (state))
#define REST	 (1u << DEST_REST)
#define NATS	 (1u << DEST_NATS)
#define BOTH	 (REST | NATS)
#define NEVER	 RUN_STATE__COUNT /* not allowed */

/* The start was not sent yet, or not accepted. */
#define DUE   (S(START_DUE) | S(START_DUE_ENDED))
#define WAITS (DUE | S(START_BLOCKED))
#define ALL   ((1u << RUN_STATE__COUNT) - 1)

static const char *const events[RUN_EVENT__COUNT] = {
	[RUN_EVENT_RECORD] = "first record stored",
	[RUN_EVENT_BACKFILL_RECORD] = "first record of a backfill stored",
	[RUN_EVENT_FOUND] = "found in cc-backend",
	[RUN_EVENT_OPTED_OUT] = "user opts out",
	[RUN_EVENT_QUARANTINED] = "record quarantined",
	[RUN_EVENT_RECOVERED] = "row recovered from a damaged file",
	[RUN_EVENT_BLOCKED] = "waits for an earlier run",
	[RUN_EVENT_UNBLOCKED] = "earlier run settled",
	[RUN_EVENT_RELEASED] = "cc-backend lacks the run",
	[RUN_EVENT_DROPPED] = "replaced before its start",
	[RUN_EVENT_UNKNOWN] = "unknown to Slurm, never sent",
	[RUN_EVENT_KNOWN_AGAIN] = "known to Slurm again",
	[RUN_EVENT_RETRY] = "retried by an admin or a reload",
	[RUN_EVENT_REJECTED] = "rejected for good",
	[RUN_EVENT_ACCEPTED] = "start accepted",
	[RUN_EVENT_COMMITTED] = "start accepted, commit not awaited",
	[RUN_EVENT_LISTED] = "listed as running",
	[RUN_EVENT_LISTED_STOPPED] = "listed as stopped",
	[RUN_EVENT_OVERDUE] = "not listed",
	[RUN_EVENT_DUPLICATE] = "refused as duplicate",
	[RUN_EVENT_LOST] = "runs in Slurm, not listed",
	[RUN_EVENT_ENDED] = "end known",
	[RUN_EVENT_ENDED_WAIT] = "end known, commit awaited",
	[RUN_EVENT_STOPPED] = "stop accepted",
	[RUN_EVENT_STOP_NO_RUN] = "stop finds no run",
	[RUN_EVENT_STOP_LATE] = "stop finds the run stopped",
	[RUN_EVENT_STOP_DIFFERS] = "stopped by others, differs",
	[RUN_EVENT_STOP_SETTLED] = "stopped by others, settled",
	[RUN_EVENT_REPAIR] = "repaired by an admin",
	[RUN_EVENT_SUPERSEDED] = "replaced by a later run",
	[RUN_EVENT_KEPT] = "may be replaced by a later run",
	[RUN_EVENT_KEPT_LONG] = "kept for a day",
	[RUN_EVENT_DELETED] = "deleted, started again",
	[RUN_EVENT_DELETED_FINALLY] = "deleted for good",
	[RUN_EVENT_REPUBLISHED] = "published again by an admin",
	[RUN_EVENT_CHANGED] = "record changed (stream)",
	[RUN_EVENT_TO_STREAM] = "published to a stream instead",
	[RUN_EVENT_REMOVED] = "destination removed",
	[RUN_EVENT_PUBLISHED_AGAIN] = "published again after a change",
	[RUN_EVENT_DISCARDED] = "dropped by an admin",
};

/* One row for each event and the states that it leads from. */
static const struct {
	unsigned dests;
	enum run_event event;
	unsigned from;	      /* states */
	enum run_state open;  /* the next one while the run runs */
	enum run_state ended; /* the next state when the end is known */
	int reset_tries;      /* tries are counted anew */
} table[] = {
	/* records */
	{ BOTH, RUN_EVENT_RECORD, S(RUN_NONE), START_DUE, START_DUE_ENDED, 1 },
	{ BOTH, RUN_EVENT_BACKFILL_RECORD, S(RUN_NONE), NEVER, BACKFILL_HELD,
	    1 },
	{ REST, RUN_EVENT_FOUND, S(RUN_NONE), START_COMMITTED, NEVER, 1 },
	{ NATS, RUN_EVENT_FOUND, S(RUN_NONE), STARTED, NEVER, 1 },
	{ BOTH, RUN_EVENT_OPTED_OUT, WAITS | S(BACKFILL_HELD), RUN_NONE,
	    RUN_NONE, 0 },
	{ REST, RUN_EVENT_QUARANTINED, ALL, START_REJECTED, START_REJECTED, 0 },
	{ NATS, RUN_EVENT_QUARANTINED, ALL, RUN_NONE, RUN_NONE, 0 },
	{ REST, RUN_EVENT_RECOVERED,
	    ALL & ~(S(RUN_NONE) | S(START_REJECTED) | S(STOP_REJECTED)),
	    START_DUE, START_DUE_ENDED, 0 },
	{ BOTH, RUN_EVENT_ENDED, S(START_DUE), NEVER, START_DUE_ENDED, 0 },
	{ BOTH, RUN_EVENT_ENDED, S(STARTED), NEVER, STOP_DUE, 1 },
	{ REST, RUN_EVENT_ENDED, S(START_COMMITTED), NEVER, STOP_DUE, 1 },
	{ REST, RUN_EVENT_ENDED, S(STOPPED_BY_OTHERS), NEVER, STOP_CONFLICT,
	    0 },
	{ REST, RUN_EVENT_ENDED_WAIT, S(STARTED) | S(START_COMMITTED), NEVER,
	    STOP_BLOCKED, 1 },
	/* the order of the runs of one job */
	{ BOTH, RUN_EVENT_BLOCKED, WAITS, START_BLOCKED, START_BLOCKED, 0 },
	{ REST, RUN_EVENT_BLOCKED, S(START_CONFLICT) | S(START_REJECTED),
	    START_BLOCKED, START_BLOCKED, 0 },
	{ BOTH, RUN_EVENT_UNBLOCKED, S(START_BLOCKED), START_DUE,
	    START_DUE_ENDED, 0 },
	{ BOTH, RUN_EVENT_RELEASED, S(BACKFILL_HELD), NEVER, START_DUE_ENDED,
	    0 },
	{ REST, RUN_EVENT_DROPPED, WAITS | S(START_CONFLICT), RUN_DONE,
	    RUN_DONE, 0 },
	{ REST, RUN_EVENT_SUPERSEDED,
	    S(RUN_DONE) | S(KEPT_REPLACEABLE) | S(STOP_REJECTED) |
		S(STOPPED_BY_OTHERS) | S(STOP_DUE),
	    DELETE_DUE, DELETE_DUE, 1 },
	{ REST, RUN_EVENT_KEPT, S(RUN_DONE), KEPT_REPLACEABLE, KEPT_REPLACEABLE,
	    0 },
	{ REST, RUN_EVENT_KEPT_LONG, S(KEPT_REPLACEABLE), RUN_DONE, RUN_DONE,
	    0 },
	/* answers of Slurm, and commands of admins */
	{ BOTH, RUN_EVENT_UNKNOWN, WAITS, START_REJECTED, START_REJECTED, 0 },
	{ BOTH, RUN_EVENT_KNOWN_AGAIN, S(START_REJECTED), START_DUE, START_DUE,
	    0 },
	{ BOTH, RUN_EVENT_RETRY, S(START_REJECTED), START_DUE, START_DUE_ENDED,
	    1 },
	{ BOTH, RUN_EVENT_RETRY, S(STOP_REJECTED), STOP_DUE, STOP_DUE, 1 },
	{ REST, RUN_EVENT_REPAIR, S(STOPPED_BY_OTHERS), DELETE_DUE, DELETE_DUE,
	    1 },
	{ BOTH, RUN_EVENT_DISCARDED, S(START_REJECTED) | S(STOP_REJECTED),
	    RUN_NONE, RUN_NONE, 1 },
	{ REST, RUN_EVENT_DISCARDED, S(STOPPED_BY_OTHERS), RUN_NONE, RUN_NONE,
	    1 },
	/* answers to a start */
	{ REST, RUN_EVENT_ACCEPTED, DUE, STARTED, STOP_BLOCKED, 1 },
	{ REST, RUN_EVENT_COMMITTED, DUE, START_COMMITTED, STOP_DUE, 1 },
	{ NATS, RUN_EVENT_ACCEPTED, DUE, STARTED, STOP_DUE, 1 },
	{ REST, RUN_EVENT_DUPLICATE, DUE, START_CONFLICT, START_CONFLICT, 1 },
	{ BOTH, RUN_EVENT_REJECTED, WAITS, START_REJECTED, START_REJECTED, 0 },
	{ REST, RUN_EVENT_REJECTED, S(START_CONFLICT) | S(BACKFILL_HELD),
	    START_REJECTED, START_REJECTED, 0 },
	/* listings */
	{ REST, RUN_EVENT_LISTED,
	    WAITS | S(START_CONFLICT) | S(START_REJECTED) | S(STARTED) |
		S(STOP_BLOCKED) | S(STOP_CONFLICT) | S(STOPPED_BY_OTHERS) |
		S(BACKFILL_HELD),
	    START_COMMITTED, STOP_DUE, 1 },
	{ NATS, RUN_EVENT_LISTED, WAITS | S(BACKFILL_HELD), STARTED, STOP_DUE,
	    0 },
	{ REST, RUN_EVENT_LISTED_STOPPED,
	    S(START_DUE_ENDED) | S(START_BLOCKED) | S(START_CONFLICT) |
		S(STOP_BLOCKED) | S(STOP_DUE) | S(BACKFILL_HELD),
	    NEVER, RUN_DONE, 0 },
	{ NATS, RUN_EVENT_LISTED_STOPPED,
	    S(START_DUE_ENDED) | S(START_BLOCKED) | S(STOP_DUE) |
		S(START_REJECTED) | S(STOP_REJECTED) | S(BACKFILL_HELD),
	    NEVER, RUN_DONE, 0 },
	{ REST, RUN_EVENT_OVERDUE,
	    S(STARTED) | S(STOP_BLOCKED) | S(START_CONFLICT), START_DUE,
	    START_DUE_ENDED, 0 },
	{ REST, RUN_EVENT_LOST, S(START_COMMITTED), START_DUE, NEVER, 1 },
	/* answers to a stop */
	{ BOTH, RUN_EVENT_STOPPED, S(STOP_DUE), RUN_DONE, RUN_DONE, 1 },
	{ BOTH, RUN_EVENT_REJECTED, S(STOP_DUE), STOP_REJECTED, STOP_REJECTED,
	    0 },
	{ REST, RUN_EVENT_STOP_NO_RUN, S(STOP_DUE), START_DUE_ENDED,
	    START_DUE_ENDED, 0 },
	{ REST, RUN_EVENT_STOP_LATE, S(STOP_DUE) | S(STOP_BLOCKED),
	    STOP_CONFLICT, STOP_CONFLICT, 0 },
	{ REST, RUN_EVENT_STOP_DIFFERS, S(START_CONFLICT) | S(STOP_CONFLICT),
	    STOPPED_BY_OTHERS, STOPPED_BY_OTHERS, 1 },
	{ REST, RUN_EVENT_STOP_SETTLED, S(START_CONFLICT) | S(STOP_CONFLICT),
	    RUN_DONE, RUN_DONE, 0 },
	/* answers to a deletion; a run that stays there needs its stop */
	{ REST, RUN_EVENT_REJECTED, S(DELETE_DUE), STOPPED_BY_OTHERS, STOP_DUE,
	    1 },
	{ REST, RUN_EVENT_DELETED, S(DELETE_DUE), START_DUE, START_DUE_ENDED,
	    1 },
	{ REST, RUN_EVENT_DELETED_FINALLY, S(DELETE_DUE), RUN_DONE, RUN_DONE,
	    1 },
	/* backfill --nats */
	{ NATS, RUN_EVENT_REPUBLISHED, S(STARTED), START_DUE, NEVER, 1 },
	{ NATS, RUN_EVENT_REPUBLISHED, S(STOP_DUE) | S(RUN_DONE), NEVER,
	    BACKFILL_HELD, 1 },
	/* deliver "stream" */
	{ NATS, RUN_EVENT_CHANGED, S(STARTED), START_DUE, NEVER, 1 },
	{ REST, RUN_EVENT_TO_STREAM, ALL & ~S(RUN_NONE), RUN_NONE, RUN_NONE,
	    1 },
	{ NATS, RUN_EVENT_TO_STREAM, S(STARTED) | S(RUN_DONE), START_DUE,
	    START_DUE_ENDED, 1 },
	/* another destination */
	{ BOTH, RUN_EVENT_REMOVED, ALL & ~S(RUN_NONE), RUN_NONE, RUN_NONE, 1 },
	{ NATS, RUN_EVENT_PUBLISHED_AGAIN,
	    S(STARTED) | S(STOP_DUE) | S(RUN_DONE), START_DUE, START_DUE_ENDED,
	    1 },
};

static struct log_limit said_forbidden;

#define ROWS (sizeof(table) / sizeof(table[0]))

const char *
run_event_text(enum run_event event)
{
	return (unsigned)event < RUN_EVENT__COUNT ? events[event] : "?";
}

/* The row of the table, or ROWS. */
static size_t
row_find(enum dest dest, enum run_state state, enum run_event event)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (table[i].event == event && (table[i].dests & S(dest)) &&
		    (table[i].from & S(state)))
			break;
	return i;
}

enum run_state
run_next(enum dest dest, enum run_state state, enum run_event event, int ended)
{
	size_t i = row_find(dest, state, event);

	if (i == ROWS)
		return NEVER;
	return ended ? table[i].ended : table[i].open;
}

int
run_may_move(const struct spool_run *run, enum dest dest, enum run_event event)
{
	return run_next(dest, run->state[dest], event, run->end != 0) != NEVER;
}

int
run_move(struct spool *sp, struct spool_run *run, enum dest dest,
    enum run_event event, int64_t due, const char *reason)
{
	size_t i = row_find(dest, run->state[dest], event);
	enum run_state next = i == ROWS ? NEVER :
	    run->end != 0		? table[i].ended :
					  table[i].open;

	if (next == NEVER) {
		sp->forbidden++;
		log_limited(&said_forbidden, log_errorx,
		    "%s: the event \"%s\" is not allowed in the state \"%s\"; "
		    "the run keeps its state",
		    run_key_text(&run->key), run_event_text(event),
		    run_state_label(run->state[dest]));
		return -1;
	}
	run->state[dest] = next;
	if (table[i].reset_tries)
		run->tries[dest] = 0;
	if (due != DUE_KEEP)
		run->due[dest] = due;
	if (reason != NULL && reason != run->reason)
		snprintf(run->reason, sizeof(run->reason), "%s", reason);
	if (sp->observer != NULL)
		sp->observer->event(run, dest, (int)event, sp->observer_arg);
	return 0;
}

void
spool_observe(struct spool *sp, const struct spool_observer *ops, void *arg)
{
	sp->observer = ops;
	sp->observer_arg = arg;
}

uint64_t
spool_forbidden(const struct spool *sp)
{
	return sp->forbidden;
}
