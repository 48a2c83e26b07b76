/* SPDX-License-Identifier: MIT */
/*
 * Translates the events of the table of states into events of the history, and
 * samples the numbers of runs.
 */
#include "config.h"

#include "common/clock.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/history/history.h"
#include "submitter/nats/nats.h"
#include "submitter/net/http.h"
#include "submitter/run_history.h"
#include "submitter/spool/transition.h"

#define TICK_MAX_S 60 /* a longer time: the process was stopped */

static const enum history_event of_rest[RUN_EVENT__COUNT] = {
	[RUN_EVENT_FOUND] = HISTORY_FOUND,
	[RUN_EVENT_QUARANTINED] = HISTORY_QUARANTINED,
	[RUN_EVENT_BLOCKED] = HISTORY_BLOCKED,
	[RUN_EVENT_UNBLOCKED] = HISTORY_UNBLOCKED,
	[RUN_EVENT_DROPPED] = HISTORY_REPLACED,
	[RUN_EVENT_UNKNOWN] = HISTORY_UNKNOWN,
	[RUN_EVENT_RETRY] = HISTORY_RETRIED,
	[RUN_EVENT_REJECTED] = HISTORY_REJECTED,
	[RUN_EVENT_ACCEPTED] = HISTORY_START_TAKEN,
	[RUN_EVENT_COMMITTED] = HISTORY_START_TAKEN,
	[RUN_EVENT_LISTED] = HISTORY_COMMITTED,
	[RUN_EVENT_LISTED_STOPPED] = HISTORY_LISTED_STOPPED,
	[RUN_EVENT_OVERDUE] = HISTORY_REPEATED,
	[RUN_EVENT_DUPLICATE] = HISTORY_DUPLICATE,
	[RUN_EVENT_LOST] = HISTORY_LOST,
	[RUN_EVENT_STOPPED] = HISTORY_STOP_TAKEN,
	[RUN_EVENT_STOP_NO_RUN] = HISTORY_STOP_NO_RUN,
	[RUN_EVENT_STOP_LATE] = HISTORY_STOP_LATE,
	[RUN_EVENT_STOP_DIFFERS] = HISTORY_STOP_DIFFERS,
	[RUN_EVENT_STOP_SETTLED] = HISTORY_LISTED_STOPPED,
	[RUN_EVENT_REPAIR] = HISTORY_REPAIRED,
	[RUN_EVENT_SUPERSEDED] = HISTORY_REPLACED,
	[RUN_EVENT_DELETED] = HISTORY_DELETED,
	[RUN_EVENT_DELETED_FINALLY] = HISTORY_DELETED,
};

static const enum history_event of_nats[RUN_EVENT__COUNT] = {
	[RUN_EVENT_ACCEPTED] = HISTORY_NATS_START,
	[RUN_EVENT_STOPPED] = HISTORY_NATS_STOP,
	[RUN_EVENT_REJECTED] = HISTORY_NATS_REJECTED,
};

/*
 * The run has its new state already.  After a deletion that is STOP_DUE or
 * STOPPED_BY_OTHERS: the run is still in cc-backend.
 */
static enum history_rejected
rejected_request(const struct spool_run *run)
{
	switch (run->state[DEST_REST]) {
	case START_REJECTED:
		return REJECTED_START;
	case STOP_REJECTED:
		return REJECTED_STOP;
	default:
		return REJECTED_DELETION;
	}
}

/* Without REST, a message that is published counts as one of cc-backend's. */
static uint64_t
value_of(const struct spool_run *run, enum dest dest, enum run_event event)
{
	int counts = dest == DEST_REST || run->state[DEST_REST] == RUN_NONE;

	if (event == RUN_EVENT_STOPPED)
		return counts && run->end > 0 ? (uint64_t)run->end : 0;
	if (dest == DEST_NATS)
		return (uint64_t)counts;
	return event == RUN_EVENT_REJECTED ? rejected_request(run) : 0;
}

static void
on_event(const struct spool_run *run, enum dest dest, int event, void *arg)
{
	struct submitter *s = arg;
	enum history_event to;

	if (event < 0 || event >= RUN_EVENT__COUNT)
		return;
	to = dest == DEST_REST ? of_rest[event] : of_nats[event];
	/* Without REST, NATS is the only destination that waits. */
	if (dest == DEST_NATS && to == HISTORY_NONE &&
	    run->state[DEST_REST] == RUN_NONE &&
	    (event == RUN_EVENT_BLOCKED || event == RUN_EVENT_UNBLOCKED ||
		event == RUN_EVENT_UNKNOWN))
		to = of_rest[event];
	if (to != HISTORY_NONE)
		history_note(s->history, &run->key, to,
		    value_of(run, dest, (enum run_event)event), 0);
}

static void
on_moved(const struct run_key *key, int64_t start, void *arg)
{
	struct submitter *s = arg;

	history_moved(s->history, key, start);
}

static void
on_confirmed(const struct run_key *key, void *arg)
{
	struct submitter *s = arg;

	history_note(s->history, key, HISTORY_RUNNING, 0, 0);
}

static const struct spool_observer observer = {
	.event = on_event,
	.moved = on_moved,
	.confirmed = on_confirmed,
};

void
run_history_begin(struct submitter *s)
{
	spool_observe(s->spool, &observer, s);
}

static uint64_t
waiting(const struct submitter *s, enum dest dest)
{
	return spool_count(s->spool, dest, START_DUE) +
	    spool_count(s->spool, dest, START_DUE_ENDED) +
	    spool_count(s->spool, dest, START_BLOCKED) +
	    spool_count(s->spool, dest, START_CONFLICT) +
	    spool_count(s->spool, dest, STOP_DUE) +
	    spool_count(s->spool, dest, STOP_CONFLICT);
}

void
run_history_tick(struct submitter *s)
{
	static long long before;
	long long now = clock_ms();
	uint64_t passed = before != 0 ? (uint64_t)(now - before) / 1000 : 0;
	enum dest dest = spool_policy(s->spool)->to[DEST_REST] ? DEST_REST :
								 DEST_NATS;

	before = now;
	history_count(s->history, COUNT_WAITING_MAX, waiting(s, dest));
	history_count(s->history, COUNT_RUNNING_MAX,
	    spool_count(s->spool, dest, STARTED) +
		spool_count(s->spool, dest, START_COMMITTED));
	if (passed > TICK_MAX_S)
		return;
	if (dest == DEST_REST && http_usable(s->http) &&
	    !breaker_reaches(s->breaker))
		history_count(s->history, COUNT_BACKEND_AWAY, passed);
	/* The client stays when a reload removes natsServer. */
	if (spool_policy(s->spool)->to[DEST_NATS] && s->nats != NULL &&
	    !nats_is_up(s->nats))
		history_count(s->history, COUNT_NATS_AWAY, passed);
}
