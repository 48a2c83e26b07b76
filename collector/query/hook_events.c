/* SPDX-License-Identifier: MIT */
/*
 * Hook events.  slurmctld is queried at once, for many jobs in one query, and in
 * a burst every one or two seconds; not for the end of a run whose record lacks the end
 * only.  Of an event the job id and the kind are used.
 * Accounting is queried later, when slurmctld shows that a run has ended.  An
 * event is acknowledged when all its records are in the spool, or when there
 * are no records and the poll will find the run.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/base/wake.h"
#include "collector/details/details.h"
#include "collector/query/query_lanes.h"
#include "collector/slurm/query.h"
#include "collector/track/outbox.h"
#include "collector/track/track.h"
#include "common/crash_point.h"
#include "common/log.h"
#include "common/permanent.h"

#define EVENTS_MAX 65536 /* the listener keeps no more */
#define SINGLY_MIN 3	 /* up to this number jobs are always queried singly */
/* One command costs as much as this number of jobs in an answer. */
#define SINGLY_COST 340
/* Largest number of single queries; more would delay the answers */
#define SINGLY_MAX	 30
#define SINGLY_BURST_MAX 100 /* the same of jobs that were gathered */
/*
 * Events of a second.  After more of them the events are gathered for a time,
 * because one query for all costs less than many queries; it is longer if
 * slurmctld remembers many jobs.
 */
#define BURST_EVENTS	12
#define GATHER_MS	1000
#define GATHER_BIG_MS	2000
#define GATHER_BIG_FROM 5000 /* jobs */
#define GATHER_ENDS_MS	2000 /* the same for queries to accounting */
#define WAIT_MAX_S	30
/* for a job that slurmctld and accounting do not have */
#define UNKNOWN_TRIES 2

enum hook_event_state {
	HOOK_EVENT_NEW,	       /* slurmctld is queried next */
	HOOK_EVENT_QUERIED,    /* the query is under way */
	HOOK_EVENT_WAITS,      /* accounting is queried when due */
	HOOK_EVENT_ACCOUNTING, /* the query is under way */
	HOOK_EVENT_SENT	       /* its records were sent to the submitter */
};

struct hook_event {
	struct hook_event *next;
	uint64_t id; /* 0 = its listener has ended */
	uint64_t job;
	/* the event is acknowledged when this number is durable */
	uint64_t order;
	int64_t due; /* monotonic ms */
	enum hook_event_state state;
	unsigned tries;
	int unknown; /* slurmctld does not know the job */
};

struct hook_events {
	struct cluster *c;
	struct hook_event *first;
	struct hook_event **tail;
	unsigned n;
	struct details *details;
	int64_t asked_ms;	/* monotonic: begin of the last query */
	int64_t second;		/* monotonic s of the last event */
	unsigned in_second;	/* events of that second */
	unsigned second_before; /* and of the one before */
	struct log_limit full;
};

static void on_details(struct details *d, int ok, void *arg);

struct hook_events *
hook_events_new(struct cluster *c)
{
	struct hook_events *e = permanent_new(sizeof(*e));

	e->c = c;
	e->tail = &e->first;
	e->details = details_new(c, on_details, e);
	return e;
}

unsigned
hook_events_waiting(const struct hook_events *e)
{
	return e->n;
}

static void
event_ack_send(struct hook_events *e, uint64_t id)
{
	struct channel *listener = e->c->site->w->peers[ROLE_LISTENER];
	struct writer w;

	if (listener == NULL || id == 0)
		return;
	wr_init(&w, sizeof(id));
	wr_u64(&w, id);
	CRASH_POINT("collector.taken");
	channel_send(listener, MSG_EVENT_ACK, 0, &w, -1);
	wr_clear(&w);
}

void
hook_events_durable(struct hook_events *e)
{
	uint64_t durable = outbox_durable(e->c->outbox);
	struct hook_event **p = &e->first, *event;

	while ((event = *p) != NULL) {
		if (event->state != HOOK_EVENT_SENT || event->order > durable) {
			p = &event->next;
			continue;
		}
		event_ack_send(e, event->id);
		*p = event->next;
		free(event);
		e->n--;
	}
	e->tail = p;
}

void
hook_events_forget(struct hook_events *e)
{
	struct hook_event *event;

	for (event = e->first; event != NULL; event = event->next)
		event->id = 0;
}

static void
event_count(struct hook_events *e)
{
	int64_t second = now_s();

	if (second != e->second) {
		e->second_before = second == e->second + 1 ? e->in_second : 0;
		e->second = second;
		e->in_second = 0;
	}
	e->in_second++;
}

static int
is_burst(const struct hook_events *e)
{
	int64_t ago = now_s() - e->second;

	return (ago <= 1 && e->in_second > BURST_EVENTS) ||
	    (ago == 0 && e->second_before > BURST_EVENTS);
}

/* Jobs in an answer about all of them, as far as is known. */
static size_t
remembered(const struct hook_events *e)
{
	const struct squeue_listing *listing = &e->c->listing;

	return listing->records > listing->jobs ? listing->records :
						  listing->jobs;
}

/* The first wait is slurmQueryDelay; each further wait is longer. */
static void
event_wait(struct hook_events *e, struct hook_event *event)
{
	int64_t wait = e->c->set->query_delay, now = now_ms();
	unsigned i;

	if (event->tries > 0 && wait < 1)
		wait = 1;
	for (i = 1; i < event->tries && wait < WAIT_MAX_S; i++)
		wait *= 2;
	if (wait > WAIT_MAX_S && wait > e->c->set->query_delay)
		wait = WAIT_MAX_S;
	event->state = HOOK_EVENT_WAITS;
	event->due = now + wait * 1000;
	/* One query for the ends of some seconds. */
	if (is_burst(e))
		event->due += GATHER_ENDS_MS - event->due % GATHER_ENDS_MS;
	wake_in(e->c->site, event->due - now);
}

static void slurmctld_kick(struct hook_events *e);

void
hook_event_add(struct hook_events *e, uint64_t id, uint64_t job,
    enum event_kind kind)
{
	struct hook_event *event;
	unsigned suppressed;

	if (job == 0 || job > UINT32_MAX) {
		event_ack_send(e, id);
		return;
	}
	event = e->n < EVENTS_MAX ? calloc(1, sizeof(*event)) : NULL;
	if (event == NULL) {
		if (log_allowed(&e->full, &suppressed))
			log_warnx("more than %d hook events wait: %u were "
				  "discarded; the poll finds their jobs",
			    EVENTS_MAX, suppressed + 1);
		event_ack_send(e, id);
		return;
	}
	event->id = id;
	event->job = job;
	*e->tail = event;
	e->tail = &event->next;
	e->n++;
	event_count(e);
	if (kind == EVENT_END && track_epilog(e->c, job))
		event_wait(e, event);
	else
		slurmctld_kick(e);
}

static void
event_sent(struct hook_events *e, struct hook_event *event, uint64_t order)
{
	event->state = HOOK_EVENT_SENT;
	event->order = order;
}

static void
event_answered(struct hook_events *e, struct hook_event *event)
{
	struct details *d = e->details;
	enum slurm_phase phase;

	switch (details_verdict(d, event->job)) {
	case DETAIL_GOOD:
		phase = details_phase(d, event->job);
		/*
		 * If slurmdbd is away, the poll reads the end of the run, which is
		 * open now.  Events that wait for slurmdbd would fill the list.
		 */
		if (phase == PHASE_CONFIGURING || phase == PHASE_RUNNING ||
		    phase == PHASE_ENDED ||
		    (phase == PHASE_COMPLETING && e->c->dbd.away)) {
			if (phase != PHASE_ENDED && phase != PHASE_COMPLETING)
				worklist_confirm(e->c, event->job);
			event_sent(e, event, details_order(d, event->job));
			return;
		}
		break;
	case DETAIL_AMBIGUOUS:
		(void)idmap_put(&e->c->ambiguous, event->job, NULL);
		break;
	case DETAIL_UNKNOWN:
		event->unknown = 1;
		break;
	default:
		event->state = HOOK_EVENT_NEW;
		return;
	}
	event_wait(e, event);
}

static void
on_details(struct details *d, int ok, void *arg)
{
	struct hook_events *e = arg;
	struct hook_event *event;

	for (event = e->first; event != NULL; event = event->next) {
		if (event->state != HOOK_EVENT_QUERIED)
			continue;
		if (ok)
			event_answered(e, event);
		else
			event->state = HOOK_EVENT_NEW;
	}
	details_forget(d);
	hook_events_durable(e);
}

/*
 * The number of jobs up to which single queries cost less than one query for
 * all jobs.
 */
static size_t
singly(const struct hook_events *e)
{
	size_t n = remembered(e) / SINGLY_COST;
	size_t most = is_burst(e) ? SINGLY_BURST_MAX : SINGLY_MAX;

	/*
	 * If slurmctld limits requests, one query for all jobs costs less than
	 * two queries.
	 */
	if (rate_limit_on(e->c))
		return 1;
	if (n < SINGLY_MIN)
		n = SINGLY_MIN;
	return n < most ? n : most;
}

static void
slurmctld_query_start(struct hook_events *e)
{
	struct hook_event *event;
	struct idmap jobs = { 0 };
	size_t most = singly(e), n = 0;
	int all;

	for (event = e->first; event != NULL; event = event->next)
		if (event->state == HOOK_EVENT_NEW)
			(void)idmap_put(&jobs, event->job, NULL);
	n = jobs.n;
	idmap_clear(&jobs);
	if (n == 0)
		return;
	e->asked_ms = now_ms();
	all = n > most &&
	    !details_all_waits(e->details, is_burst(e), e->asked_ms);
	details_forget(e->details);
	for (event = e->first; event != NULL; event = event->next) {
		if (event->state != HOOK_EVENT_NEW)
			continue;
		if (!all && details_wanted(e->details) >= most)
			break;
		if (details_want(e->details, event->job) == -1)
			break;
		event->state = HOOK_EVENT_QUERIED;
	}
	details_start(e->details, all, e->asked_ms);
}

/* Events that come in ms at the rate of the last second. */
static size_t
expected(const struct hook_events *e, int64_t ms)
{
	unsigned rate = e->in_second > e->second_before ? e->in_second :
							  e->second_before;

	return (size_t)(rate * ms / 1000);
}

/*
 * ms until slurmctld is queried, 0 = now; until then more events are gathered.
 * To gather so few that they are queried singly saves no command.  slurmctld
 * must not purge a short job before.
 */
static int64_t
gather_left(const struct hook_events *e)
{
	int64_t gap = remembered(e) < GATHER_BIG_FROM ? GATHER_MS :
							GATHER_BIG_MS;
	int64_t age = e->c->slurm.min_job_age * 1000, left;

	if (!is_burst(e) || expected(e, gap) <= singly(e))
		return 0;
	if (age > 0 && gap > age / 4)
		gap = age / 4;
	left = e->asked_ms + gap - now_ms();
	return left > 0 ? left : 0;
}

static void
slurmctld_kick(struct hook_events *e)
{
	const struct cluster *c = e->c;
	int64_t left;

	if (!c->ready || !c->synced || details_busy(e->details) ||
	    health_wait(&c->ctld) > 0)
		return;
	left = gather_left(e);
	if (left > 0)
		wake_in(c->site, left);
	else
		slurmctld_query_start(e);
}

void
hook_events_kick(struct hook_events *e)
{
	struct cluster *c = e->c;
	struct hook_event *event;
	int64_t now = now_ms();
	int asked = 0;

	if (!c->ready || !c->synced)
		return;
	slurmctld_kick(e);
	for (event = e->first; event != NULL; event = event->next) {
		if (event->state != HOOK_EVENT_WAITS || event->due > now)
			continue;
		event->state = HOOK_EVENT_ACCOUNTING;
		(void)idmap_put(&c->work.accounting, event->job, NULL);
		asked = 1;
	}
	if (asked)
		wake(c);
}

void
hook_events_resume(struct hook_events *e)
{
	details_resume(e->details);
}

void
hook_events_answered(struct hook_events *e, uint64_t job, int ended, int known)
{
	struct hook_event *event;
	size_t at = 0;
	int over;

	/* An end counts when the job has no open run. */
	over = ended && open_of_job(&e->c->open, job, &at) == NULL;
	for (event = e->first; event != NULL; event = event->next) {
		if (event->state != HOOK_EVENT_ACCOUNTING || event->job != job)
			continue;
		event->tries++;
		if (over || event->tries > e->c->set->retries ||
		    (event->unknown && !known && event->tries >= UNKNOWN_TRIES))
			event_sent(e, event, outbox_order(e->c->outbox));
		else if (!e->c->slurm.accounting)
			/* slurmctld may have the job now */
			event->state = HOOK_EVENT_NEW;
		else
			event_wait(e, event);
	}
	hook_events_durable(e);
}
