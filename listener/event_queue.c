/* SPDX-License-Identifier: MIT */
/*
 * Events that the collector has not acknowledged, in the order of arrival.
 * Two hash tables find an event: by its id, when the collector acknowledges
 * it, and by its job, so that a second message of the same job changes the
 * event that was not sent yet.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/crash_point.h"
#include "common/log.h"
#include "listener/listener.h"

#define SLOTS 4096 /* of each table: 12 events per slot at EVENTS_MAX */
/* bytes of one event's payload */
#define FRAME_MAX (128 + HOOK_CREDENTIAL_MAX)

struct queued_event {
	uint64_t id;
	uint64_t job;
	int64_t time;	      /* epoch: arrival of the message */
	long long arrived_ms; /* the same, clock_ms() */
	uint8_t kind;
	int sent;
	struct queued_event *older, *newer;	 /* in the order of arrival */
	struct queued_event *next_id, *next_job; /* in the same slot */
	const char *credential;			 /* behind cluster; "" = none */
	char cluster[];
};

struct event_queue {
	struct channel *collector; /* borrowed; NULL = none */
	struct queued_event *first, *last;
	struct queued_event *unsent; /* the oldest; newer ones are unsent */
	struct queued_event *by_id[SLOTS];
	struct queued_event *by_job[SLOTS];
	uint64_t next_id;
	struct event_counts count;
	struct log_limit limit_dropped, limit_unchecked;
};

struct event_queue *
event_queue_new(void)
{
	struct event_queue *e = calloc(1, sizeof(*e));

	/*
	 * The collector may acknowledge events of a listener that died: their
	 * ids must not occur again.
	 */
	if (e != NULL)
		e->next_id = (uint64_t)time(NULL) << 24;
	return e;
}

void
event_queue_free(struct event_queue *e)
{
	struct queued_event *n, *newer;

	if (e == NULL)
		return;
	for (n = e->first; n != NULL; n = newer) {
		newer = n->newer;
		free(n);
	}
	free(e);
}

/* Ids of jobs and events are consecutive: their low bits are spread evenly. */
static size_t
slot(uint64_t number)
{
	return (size_t)(number % SLOTS);
}

/* A message that must be checked neither changes nor hides another one. */
static struct queued_event *
event_find_unsent(const struct event_queue *e, const struct hook_message *msg)
{
	struct queued_event *n;

	if (msg->credential[0] != '\0')
		return NULL;
	for (n = e->by_job[slot(msg->job)]; n != NULL; n = n->next_job)
		if (!n->sent && n->job == msg->job &&
		    n->credential[0] == '\0' &&
		    strcmp(n->cluster, msg->cluster) == 0)
			return n;
	return NULL;
}

static struct queued_event *
event_append(struct event_queue *e, const struct hook_message *msg, int64_t now)
{
	size_t size = strlen(msg->cluster) + 1;
	size_t more = strlen(msg->credential) + 1;
	struct queued_event *n = calloc(1, sizeof(*n) + size + more);

	if (n == NULL)
		return NULL;
	n->id = e->next_id++;
	n->job = msg->job;
	n->kind = msg->kind;
	n->time = now;
	n->arrived_ms = clock_ms();
	memcpy(n->cluster, msg->cluster, size);
	memcpy(n->cluster + size, msg->credential, more);
	n->credential = n->cluster + size;
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
	e->count.unchecked += n->credential[0] != '\0';
	return n;
}

static void
event_unlink(struct event_queue *e, const struct queued_event *n)
{
	struct queued_event **at;

	for (at = &e->by_id[slot(n->id)]; *at != n; at = &(*at)->next_id)
		continue;
	*at = n->next_id;
	for (at = &e->by_job[slot(n->job)]; *at != n; at = &(*at)->next_job)
		continue;
	*at = n->next_job;
}

static void
event_remove(struct event_queue *e, struct queued_event *n)
{
	event_unlink(e, n);
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
	e->count.unchecked -= n->credential[0] != '\0';
	free(n);
}

static int
event_send(struct event_queue *e, const struct queued_event *n)
{
	struct writer w;
	int rc;

	wr_init(&w, FRAME_MAX);
	wr_u64(&w, n->id);
	wr_str(&w, n->cluster);
	wr_u64(&w, n->job);
	wr_u8(&w, n->kind);
	wr_i64(&w, n->time);
	wr_str(&w, n->credential);
	rc = channel_send(e->collector, MSG_EVENT, 0, &w, -1);
	wr_clear(&w);
	return rc;
}

void
event_queue_flush(struct event_queue *e)
{
	while (e->collector != NULL && e->unsent != NULL &&
	    !channel_full(e->collector)) {
		if (event_send(e, e->unsent) == -1)
			return;
		CRASH_POINT("listener.sent");
		e->unsent->sent = 1;
		e->unsent = e->unsent->newer;
	}
}

int
event_queue_add(struct event_queue *e, const struct hook_message *msg,
    int64_t now)
{
	struct queued_event *n = event_find_unsent(e, msg);

	e->count.received++;
	if (n != NULL) {
		n->kind = msg->kind;
		n->time = now;
		e->count.merged++;
		return 0;
	}
	if (msg->credential[0] != '\0' && e->count.unchecked >= UNCHECKED_MAX) {
		e->count.dropped++;
		log_limited(&e->limit_unchecked, log_warnx,
		    "%zu events with a munge credential wait for the "
		    "collector, which is the limit; the event of job %llu (%s) "
		    "is dropped, the next poll finds the job",
		    e->count.unchecked, (unsigned long long)msg->job,
		    msg->cluster);
		return -1;
	}
	if (e->count.waiting >= EVENTS_MAX ||
	    event_append(e, msg, now) == NULL) {
		e->count.dropped++;
		log_limited(&e->limit_dropped, log_warnx,
		    "%zu events wait for the collector, which is the limit; "
		    "the event of job %llu (%s) is dropped, the next poll "
		    "finds the job",
		    e->count.waiting, (unsigned long long)msg->job,
		    msg->cluster);
		return -1;
	}
	CRASH_POINT("listener.received");
	event_queue_flush(e);
	return 0;
}

void
event_queue_set_collector(struct event_queue *e, struct channel *collector)
{
	struct queued_event *n;

	e->collector = collector;
	if (collector == NULL)
		return;
	for (n = e->first; n != NULL; n = n->newer)
		n->sent = 0;
	e->unsent = e->first;
	if (e->count.waiting != 0)
		log_info("%zu events are sent again to a new collector",
		    e->count.waiting);
	event_queue_flush(e);
}

void
event_queue_ack(struct event_queue *e, uint64_t id)
{
	struct queued_event *n;

	for (n = e->by_id[slot(id)]; n != NULL; n = n->next_id)
		if (n->id == id)
			break;
	if (n == NULL)
		return;
	CRASH_POINT("listener.acked");
	e->count.acked++;
	e->count.acked_at = (int64_t)time(NULL);
	histogram_add(&e->count.stored, HISTOGRAM_COMMAND,
	    clock_ms() - n->arrived_ms);
	event_remove(e, n);
}

void
event_queue_counts(const struct event_queue *e, struct event_counts *count)
{
	*count = e->count;
	if (e->first != NULL)
		count->oldest_ms = clock_ms() - e->first->arrived_ms;
}
