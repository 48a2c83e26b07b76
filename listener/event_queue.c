/* SPDX-License-Identifier: MIT */
/*
 * What was heard and is not yet taken, in the order in which it was heard.
 * Two tables find an event: by its number, when it is taken, and by its job,
 * so that what was not sent yet is said once however often it is heard.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "listener/listener.h"

#define SLOTS	4096	/* of each table: a dozen in each at EVENTS_MAX */
#define FRAME_MAX	128	/* bytes of one event's payload */

struct event_note {
	uint64_t	   id;
	uint64_t	   job;
	int64_t		   time;	/* epoch: when it was heard */
	uint8_t		   kind;
	int		   sent;
	struct event_note *older, *newer;	/* in the order of hearing */
	struct event_note *next_id, *next_job;	/* in the slots */
	char		   cluster[];
};

struct events {
	struct channel	  *collector;	/* borrowed; NULL = nobody is there */
	struct event_note *first, *last;
	struct event_note *unsent;	/* the oldest, or NULL; all newer are unsent too */
	struct event_note *by_id[SLOTS];
	struct event_note *by_job[SLOTS];
	uint64_t	   next_id;
	struct events_count count;
	struct log_limit   full;
};

struct events *
events_new(void)
{
	struct events *e = calloc(1, sizeof(*e));

	/* Numbers of a listener that died must not mean ours: a collector may
	 * still have some of them in hand. */
	if (e != NULL)
		e->next_id = (uint64_t)time(NULL) << 24;
	return e;
}

void
events_free(struct events *e)
{
	struct event_note *n, *newer;

	if (e == NULL)
		return;
	for (n = e->first; n != NULL; n = newer) {
		newer = n->newer;
		free(n);
	}
	free(e);
}

/* Ids of jobs and events grow by one: their low bits spread well enough. */
static size_t
slot(uint64_t number)
{
	return (size_t)(number % SLOTS);
}

static struct event_note *
find_unsent(const struct events *e, const struct prep *prep)
{
	struct event_note *n;

	for (n = e->by_job[slot(prep->job)]; n != NULL; n = n->next_job)
		if (!n->sent && n->job == prep->job &&
		    strcmp(n->cluster, prep->cluster) == 0)
			return n;
	return NULL;
}

static struct event_note *
append(struct events *e, const struct prep *prep, int64_t now)
{
	size_t size = strlen(prep->cluster) + 1;
	struct event_note *n = calloc(1, sizeof(*n) + size);

	if (n == NULL)
		return NULL;
	n->id = e->next_id++;
	n->job = prep->job;
	n->kind = prep->kind;
	n->time = now;
	memcpy(n->cluster, prep->cluster, size);
	n->older = e->last;
	if (e->last != NULL)
		e->last->newer = n;
	else
		e->first = n;
	e->last = n;
	n->next_id = e->by_id[slot(n->id)];
	e->by_id[slot(n->id)] = n;
	n->next_job = e->by_job[slot(n->job)];
	e->by_job[slot(n->job)] = n;
	if (e->unsent == NULL)
		e->unsent = n;
	e->count.waiting++;
	return n;
}

static void
unlink_slots(struct events *e, const struct event_note *n)
{
	struct event_note **at;

	for (at = &e->by_id[slot(n->id)]; *at != n; at = &(*at)->next_id)
		continue;
	*at = n->next_id;
	for (at = &e->by_job[slot(n->job)]; *at != n; at = &(*at)->next_job)
		continue;
	*at = n->next_job;
}

static void
drop(struct events *e, struct event_note *n)
{
	unlink_slots(e, n);
	if (e->unsent == n)
		e->unsent = n->newer;
	if (n->older != NULL)
		n->older->newer = n->newer;
	else
		e->first = n->newer;
	if (n->newer != NULL)
		n->newer->older = n->older;
	else
		e->last = n->older;
	e->count.waiting--;
	free(n);
}

static int
send_one(struct events *e, const struct event_note *n)
{
	struct writer w;
	int rc;

	wr_init(&w, FRAME_MAX);
	wr_u64(&w, n->id);
	wr_str(&w, n->cluster);
	wr_u64(&w, n->job);
	wr_u8(&w, n->kind);
	wr_i64(&w, n->time);
	rc = channel_send(e->collector, MSG_EVENT, 0, &w, -1);
	wr_clear(&w);
	return rc;
}

void
events_flush(struct events *e)
{
	while (e->collector != NULL && e->unsent != NULL &&
	    !channel_full(e->collector)) {
		if (send_one(e, e->unsent) == -1)
			return;
		CRASH_POINT("listener.sent");
		e->unsent->sent = 1;
		e->unsent = e->unsent->newer;
	}
}

int
events_add(struct events *e, const struct prep *prep, int64_t now)
{
	struct event_note *n = find_unsent(e, prep);
	unsigned held;

	e->count.received++;
	if (n != NULL) {
		n->kind = prep->kind;
		n->time = now;
		e->count.merged++;
		return 0;
	}
	if (e->count.waiting >= EVENTS_MAX || append(e, prep, now) == NULL) {
		e->count.dropped++;
		if (log_allowed(&e->full, &held))
			log_warnx("%zu events wait for the collector, no room "
			    "for more: job %llu is left to the poll, as were "
			    "%u before it", e->count.waiting,
			    (unsigned long long)prep->job, held);
		return -1;
	}
	CRASH_POINT("listener.heard");
	events_flush(e);
	return 0;
}

void
events_peer(struct events *e, struct channel *collector)
{
	struct event_note *n;

	e->collector = collector;
	if (collector == NULL)
		return;
	for (n = e->first; n != NULL; n = n->newer)
		n->sent = 0;
	e->unsent = e->first;
	if (e->count.waiting != 0)
		log_info("repeats %zu events to a new collector",
		    e->count.waiting);
	events_flush(e);
}

void
events_taken(struct events *e, uint64_t id)
{
	struct event_note *n;

	for (n = e->by_id[slot(id)]; n != NULL; n = n->next_id)
		if (n->id == id)
			break;
	if (n == NULL)
		return;
	CRASH_POINT("listener.taken");
	e->count.taken++;
	drop(e, n);
}

void
events_count(const struct events *e, struct events_count *count)
{
	*count = e->count;
}
