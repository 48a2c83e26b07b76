/* SPDX-License-Identifier: MIT */
/*
 * Before this side sends anything, at its start, when it takes over and when
 * it comes back, cc-backend is listed: what the other side has delivered is
 * done here.  A standby does the same now and then, or its spool would grow
 * for ever.  Two active at once do no harm: a start twice is one start, and
 * stops are preceded by a listing of their own (seen.c).  See standby.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/submitter.h"
#include "submitter/reconcile/failover.h"

#define RETRY_MS	2000	/* after a listing that failed */
#define TRIES_MAX	5	/* of those that cannot be read: starts are harmless */
#define LATER_MS	5000	/* by which the sides' stops are kept apart */

struct standby {
	struct submitter *s;
	struct event	*timer;
	struct paging	 paging;
	int		 on;		/* activeOnly */
	int		 active;	/* the collector says so */
	int		 reviewed;	/* since then */
	unsigned	 rank;
	unsigned	 cluster;	/* the n-th, in a review */
	unsigned	 tries;
	unsigned	 done;		/* runs found delivered, in a review */
};

int
standby_holds(const struct standby *b)
{
	return b != NULL && b->on && !(b->active && b->reviewed);
}

int64_t
standby_later(const struct standby *b)
{
	return b != NULL && b->on ? (int64_t)b->rank * LATER_MS : 0;
}

/* What was sent there was published as well. */
static void
nats_follow(struct spool_run *run, int running)
{
	if (run->phase[DEST_NATS] == PHASE_START)
		run->phase[DEST_NATS] = PHASE_OPEN;
	else if (run->phase[DEST_NATS] == PHASE_START_ENDED ||
	    run->phase[DEST_NATS] == PHASE_BEHIND)
		run->phase[DEST_NATS] = run->end == 0 ? PHASE_OPEN :
		    PHASE_STOP;
	if (!running && run->end != 0 && run->phase[DEST_NATS] != PHASE_NONE)
		run->phase[DEST_NATS] = PHASE_DONE;
}

static void
run_done(struct standby *b, struct spool_run *run)
{
	struct spool_run copy = *run;

	b->done++;
	nats_follow(run, 0);
	run->phase[DEST_REST] = PHASE_DONE;
	spool_save(b->s->spool, run);
	spool_release(b->s->spool, &copy, DEST_REST);
	backlog_touch(b->s->backlog);
}

static void
on_row(const struct listed *row, void *arg)
{
	struct standby *b = arg;
	struct spool_run run;
	int running = strcmp(row->state, "running") == 0;

	if (spool_find(b->s->spool, &row->key, &run) != 1)
		return;
	switch (run.phase[DEST_REST]) {
	case PHASE_START:
	case PHASE_START_ENDED:
	case PHASE_BEHIND:
	case PHASE_ASK:
		if (!running && run.end != 0) {
			run_done(b, &run);
			return;
		}
		run.flags |= RUN_SENT;
		nats_follow(&run, running);
		relay_taken(b->s->relay, &run, 1);
		break;
	case PHASE_OPEN:
	case PHASE_SEEN:
	case PHASE_WAIT:
	case PHASE_STOP:
		if (!running && run.end != 0)
			run_done(b, &run);
		else if (running)
			seen_row(b->s->seen, &run, b->paging.asked);
		break;
	default:
		break;
	}
}

/* The starts of what may have been delivered: 0 = there is nothing. */
static int
span_of(struct standby *b, const char *cluster, int64_t *from, int64_t *to)
{
	static const enum phase phases[] = { PHASE_START, PHASE_START_ENDED,
		PHASE_BEHIND, PHASE_ASK, PHASE_OPEN, PHASE_SEEN, PHASE_WAIT,
		PHASE_STOP };
	int64_t x, y;
	int any = 0;
	size_t i;

	for (i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		if (spool_span(b->s->spool, phases[i], cluster, &x, &y) <= 0)
			continue;
		*from = !any || x < *from ? x : *from;
		*to = !any || y > *to ? y : *to;
		any = 1;
	}
	return any;
}

static void
review_end(struct standby *b)
{
	struct submitter *s = b->s;

	b->tries = 0;
	if (!b->active) {
		submitter_after(b->timer, 1000 *
		    conf_int(&s->w->conf, CONF_CC_POLL_INTERVAL));
		return;
	}
	b->reviewed = 1;
	log_notice("this side sends now: the controller beside it works (%u "
	    "runs had been delivered by the other side)", b->done);
	relay_kick(s->relay);
	seen_kick(s->seen);
	ask_kick(s->ask);
	resync_open(s->resync);
}

static void review_next(struct standby *b);

static void
on_listed(const struct verdict *v, void *arg)
{
	struct standby *b = arg;

	if (v->outcome == OUT_DONE) {
		review_next(b);
		return;
	}
	relay_told(b->s->relay, v);
	log_debug("the listing of what the other side has sent failed: %s",
	    v->text);
	if (v->outcome == OUT_RETRY && ++b->tries >= TRIES_MAX)
		review_next(b);
	else {
		b->cluster = 0;
		submitter_after(b->timer, RETRY_MS);
	}
}

static void
review_next(struct standby *b)
{
	struct run_key name;
	int64_t cursor, from = 0, to = 0;

	while (spool_cluster(b->s->spool, b->cluster, &name, &cursor)) {
		b->cluster++;
		if (!span_of(b, name.cluster, &from, &to))
			continue;
		if (paging_start(&b->paging, b->s, name.cluster, 0, from, to,
		    on_row, on_listed, b) == -1) {
			b->cluster = 0;
			submitter_after(b->timer, RETRY_MS);
		}
		return;
	}
	review_end(b);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct standby *b = arg;

	(void)fd;
	(void)what;
	if (!b->on || b->reviewed || b->paging.busy)
		return;
	b->cluster = 0;
	b->done = 0;
	review_next(b);
}

int
standby_frame(struct standby *b, struct reader *r)
{
	int active = rd_u8(r);
	unsigned rank = rd_u8(r);

	if (rd_end(r) == -1 || active > 1)
		return -1;
	b->rank = rank;
	if (active == b->active)
		return 0;
	b->active = active;
	b->reviewed = 0;
	b->tries = 0;
	if (!active)
		log_notice("standby: another controller of Slurm's works, so "
		    "runs are stored here and sent by the other side");
	submitter_after(b->timer, active ? 0 : 1000 *
	    conf_int(&b->s->w->conf, CONF_CC_POLL_INTERVAL));
	return 0;
}

void
standby_conf(struct standby *b)
{
	int on = conf_bool(&b->s->w->conf, CONF_ACTIVE_ONLY);

	if (on == b->on)
		return;
	b->on = on;
	b->active = b->reviewed = 0;	/* the collector will tell */
	if (!on) {
		relay_kick(b->s->relay);
		seen_kick(b->s->seen);
	}
}

void
standby_status(struct standby *b, uint64_t request)
{
	if (b->on)
		worker_status(b->s->w, request, "side", "%s", !b->active ?
		    "standby: stores, sends nothing" : !b->reviewed ?
		    "taking over: cc-backend is listed" : "active");
}

struct standby *
standby_new(struct submitter *s)
{
	struct standby *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->s = s;
	b->timer = submitter_timer(s, on_timer, b);
	if (b->timer == NULL) {
		free(b);
		return NULL;
	}
	return b;
}

void
standby_free(struct standby *b)
{
	if (b == NULL)
		return;
	event_free(b->timer);
	free(b);
}
