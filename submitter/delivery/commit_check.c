/* SPDX-License-Identifier: MIT */
/*
 * Which starts does cc-backend show as committed?  A stop sent before that
 * now and then hits another run and says 200 all the same, so stops wait
 * until one listing, asked after the start was taken, shows their run.  A
 * start that stays unseen for long is repeated, and its answer tells.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/submitter.h"
#include "submitter/reconcile/failover.h"

#define WAIT_FIRST	2000	/* ms from a waiting stop to the first listing */
#define WAIT_MAX	30000
#define IDLE_MIN	30000	/* ms between listings while no stop waits */
#define OVERDUE		3	/* times the longest commit before a start is repeated */
#define LONGEST_MAX	600000	/* ms; slower than this is no commit interval */

struct seen {
	struct submitter *s;
	struct event	*timer;
	int		 armed;
	int64_t		 due;		/* spool_now() the timer is set to */
	int64_t		 wait;		/* ms, growing */
	struct paging	 paging;
	unsigned	 cluster;	/* the n-th, in a round */
	unsigned	 promoted;	/* in this round */
	int		 failed;	/* a listing of this round did */
	int		 running;	/* this listing is of running jobs alone */
	int		 only_running;	/* the next one is */
	int64_t		 longest;	/* ms from a start's taking to its being seen */
};

static int64_t
commit_ms(const struct seen *n)
{
	return conf_int(&n->s->w->conf, CONF_CC_COMMIT_INTERVAL) * 1000;
}

static uint64_t
waiting(const struct seen *n, enum phase phase)
{
	return spool_count(n->s->spool, DEST_REST, phase);
}

static void
arm(struct seen *n, int64_t ms)
{
	int64_t due = spool_now(n->s->spool) + ms;

	if (n->armed && n->due <= due)
		return;
	n->armed = 1;
	n->due = due;
	submitter_after(n->timer, ms);
}

void
seen_kick(struct seen *n)
{
	int64_t idle = commit_ms(n) + commit_ms(n) / 4;

	if (n->paging.busy)
		return;
	if (waiting(n, PHASE_ASK) + waiting(n, PHASE_COMPARE) > 0)
		ask_kick(n->s->ask);
	if (waiting(n, PHASE_WAIT) > 0)
		arm(n, n->wait + standby_later(n->s->standby));
	else if (waiting(n, PHASE_OPEN) > 0)
		arm(n, idle > IDLE_MIN ? idle : idle > 0 ? idle : IDLE_MIN);
}

void
seen_row(struct seen *n, struct spool_run *run, int64_t asked)
{
	struct spool *sp = n->s->spool;
	int64_t late = spool_now(sp) - run->since[DEST_REST];

	if ((run->phase[DEST_REST] != PHASE_WAIT &&
	    run->phase[DEST_REST] != PHASE_OPEN) ||
	    run->since[DEST_REST] >= asked)
		return;
	if (run->since[DEST_REST] > spool_opened(sp) && late > n->longest &&
	    late < LONGEST_MAX)
		n->longest = late;
	run->phase[DEST_REST] = run->phase[DEST_REST] == PHASE_WAIT ?
	    PHASE_STOP : PHASE_SEEN;
	run->due[DEST_REST] = DUE_NOW;
	n->promoted++;
	spool_save(sp, run);
	backlog_touch(n->s->backlog);
}

static void
on_row(const struct listed *row, void *arg)
{
	struct seen *n = arg;
	struct spool_run run;

	if (spool_find(n->s->spool, &row->key, &run) != 1)
		return;
	if (n->running || strcmp(row->state, "running") == 0)
		seen_row(n, &run, n->paging.asked);
	else if (run.phase[DEST_REST] == PHASE_WAIT) {
		/* The other side was first. */
		run.phase[DEST_REST] = PHASE_DONE;
		spool_save(n->s->spool, &run);
		backlog_touch(n->s->backlog);
	}
}

/* Taken long ago and never shown: the start is due again, as it was. */
static int
overdue_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct seen *n = arg;
	int64_t from = run->since[DEST_REST], limit = commit_ms(n);

	if (from < spool_opened(sp))
		from = spool_opened(sp);
	if (limit < n->longest)
		limit = n->longest;
	if (spool_now(sp) - from < OVERDUE * limit)
		return 0;
	log_info("job %llu (%s, start %lld) was taken by cc-backend and is not "
	    "shown: its start is repeated", (unsigned long long)run->key.job,
	    run->key.cluster, (long long)run->key.start);
	n->s->n.repeated++;
	run->phase[DEST_REST] = run->end != 0 ? PHASE_START_ENDED :
	    PHASE_START;
	run->due[DEST_REST] = DUE_NOW;
	return spool_save(sp, run);
}

static void
overdue(struct seen *n)
{
	static const enum phase phases[] = { PHASE_WAIT, PHASE_OPEN };
	struct spool_after after;
	size_t i;

	for (i = 0; i < 2; i++) {
		memset(&after, 0, sizeof(after));
		while (spool_each(n->s->spool, DEST_REST, phases[i], &after,
		    SPOOL_PAGE, overdue_one, n) == SPOOL_PAGE)
			continue;
	}
	backlog_touch(n->s->backlog);
}

static void
round_end(struct seen *n)
{
	if (!n->failed)
		overdue(n);
	if (n->promoted > 0)
		n->wait = WAIT_FIRST;
	else if (n->wait < WAIT_MAX)
		n->wait = n->wait * 2 < WAIT_MAX ? n->wait * 2 : WAIT_MAX;
	if (commit_ms(n) < n->wait)
		n->wait = commit_ms(n);
	if (n->promoted > 0)
		relay_kick(n->s->relay);
	seen_kick(n);
}

/* The starts of a cluster's runs that wait to be seen: 0 = there are none. */
static int
span_of(struct seen *n, const char *cluster, int64_t *from, int64_t *to)
{
	static const enum phase phases[] = { PHASE_WAIT, PHASE_OPEN };
	int64_t a, b;
	int any = 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (spool_span(n->s->spool, phases[i], cluster, &a, &b) <= 0)
			continue;
		*from = !any || a < *from ? a : *from;
		*to = !any || b > *to ? b : *to;
		any = 1;
	}
	return any;
}

static void on_listed(const struct verdict *v, void *arg);

/* Asks for the next cluster that has such runs, or ends the round. */
static void
round_next(struct seen *n)
{
	struct run_key name;
	int64_t cursor, from = 0, to = 0;

	while (spool_cluster(n->s->spool, n->cluster, &name, &cursor)) {
		n->cluster++;
		if (!span_of(n, name.cluster, &from, &to))
			continue;
		CRASH_POINT("seen-ask");
		/* Where others send as well, what is stopped counts too. */
		n->running = !spool_policy(n->s->spool)->fresh ||
		    n->only_running;
		if (paging_start(&n->paging, n->s, name.cluster, n->running,
		    from, to, on_row, on_listed, n) == 0)
			return;
		n->failed = 1;
	}
	round_end(n);
}

static void
on_listed(const struct verdict *v, void *arg)
{
	struct seen *n = arg;

	/* A damaged row spoils a page of stopped jobs, but of no running ones. */
	n->only_running = v->outcome == OUT_RETRY && !n->only_running;
	if (v->outcome != OUT_DONE) {
		n->failed = 1;
		relay_told(n->s->relay, v);
		log_debug("the listing of running jobs failed: %s", v->text);
	}
	round_next(n);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct seen *n = arg;

	(void)fd;
	(void)what;
	n->armed = 0;
	if (n->paging.busy)
		return;
	if (!relay_open(n->s->relay)) {
		/* gate_good() kicks again. */
		return;
	}
	n->cluster = 0;
	n->promoted = 0;
	n->failed = 0;
	round_next(n);
}

struct seen *
seen_new(struct submitter *s)
{
	struct seen *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->s = s;
	n->wait = WAIT_FIRST;
	n->timer = submitter_timer(s, on_timer, n);
	if (n->timer == NULL) {
		free(n);
		return NULL;
	}
	return n;
}

void
seen_free(struct seen *n)
{
	if (n == NULL)
		return;
	event_free(n->timer);
	free(n);
}
