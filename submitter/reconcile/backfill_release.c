/* SPDX-License-Identifier: MIT */
/*
 * Runs of a past range that are held.  Tombstones of so long ago are gone, so
 * cc-backend's own listing of their starts proves which of them it lacks; only
 * those are released, a few at a time, and none while live work is due.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "submitter/reconcile/backfill_private.h"

#define TICK_MS		100	/* while runs are on their way */

static enum dest
dest_of(const struct backfill *b)
{
	return spool_policy(b->s->spool)->to[DEST_REST] ? DEST_REST : DEST_NATS;
}

uint64_t
hold_count(const struct backfill *b)
{
	return spool_count(b->s->spool, dest_of(b), PHASE_PAST);
}

static void
on_row(const struct listed *row, void *arg)
{
	struct backfill *b = arg;
	struct spool_run run;
	int running = strcmp(row->state, "running") == 0;

	if (spool_find(b->s->spool, &row->key, &run) != 1 ||
	    run.phase[DEST_REST] != PHASE_PAST)
		return;
	b->there++;
	/* Who reads NATS has heard of it when cc-backend did. */
	if (run.phase[DEST_NATS] == PHASE_PAST)
		run.phase[DEST_NATS] = running ? PHASE_STOP : PHASE_DONE;
	if (running) {
		relay_taken(b->s->relay, &run, 1);
		return;
	}
	run.phase[DEST_REST] = PHASE_DONE;
	spool_save(b->s->spool, &run);
	backlog_touch(b->s->backlog);
}

static void
on_listed(const struct verdict *v, void *arg)
{
	struct backfill *b = arg;

	if (b->step != STEP_LIST)
		return;		/* cancelled */
	if (v->outcome != OUT_DONE && backfill_failed(b, v))
		return;
	/* What cannot be listed at all goes: its start's answer tells. */
	b->step = STEP_RELEASE;
	backfill_soon(b, 0);
}

void
hold_list(struct backfill *b)
{
	struct run_key name;
	int64_t cursor, from, to;
	unsigned i;

	if (!backfill_lists(b)) {
		b->lo = 0;
		b->hi = INT64_MAX;
		b->step = STEP_RELEASE;
		backfill_soon(b, 0);
		return;
	}
	/* Held runs may be of another cluster, left by a backfill that was killed. */
	for (i = 0; spool_cluster(b->s->spool, i, &name, &cursor); i++) {
		if (spool_span(b->s->spool, PHASE_PAST, name.cluster, &from,
		    &to) <= 0)
			continue;
		b->lo = from;
		b->hi = from + b->width - 1 < to ? from + b->width - 1 : to;
		if (paging_start(&b->paging, b->s, name.cluster, 0, b->lo,
		    b->hi, on_row, on_listed, b) == -1)
			backfill_soon(b, RETRY_MS);
		return;
	}
	b->step = STEP_NEXT;
	backfill_soon(b, 0);
}

/* Those on their way that are through, or wait for cc-backend's commit, make room. */
static void
released_sweep(struct backfill *b)
{
	struct spool_run run;
	unsigned i, n = 0;

	for (i = 0; i < b->n_released; i++)
		if (spool_get(b->s->spool, b->released[i], &run) == 1 &&
		    (run.phase[DEST_REST] == PHASE_START_ENDED ||
		    run.phase[DEST_REST] == PHASE_STOP) &&
		    run.tries[DEST_REST] == 0)
			b->released[n++] = b->released[i];
	b->n_released = n;
}

/* Is there something due that is not ours? */
static int
live_waits(const struct backfill *b)
{
	static const enum phase phases[] = { PHASE_START, PHASE_STOP,
		PHASE_DELETE, PHASE_START_ENDED };
	size_t i;

	for (i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		if (spool_next_due(b->s->spool, DEST_REST, phases[i]) ==
		    DUE_NOW)
			return 1;
	return 0;
}

struct turn {
	struct backfill	*b;
	char		 cluster[CLUSTER_MAX];
	unsigned	 n;
};

static int
release_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct turn *t = arg;
	struct backfill *b = t->b;

	if (run->key.start > b->hi || b->n_released == RELEASED_MAX)
		return -1;
	if (run->key.start < b->lo || (backfill_lists(b) &&
	    strcmp(run->key.cluster, b->paging.cluster) != 0))
		return 0;
	if (spool_unhold(sp, run) == -1)
		return -1;
	b->released[b->n_released++] = run->id;
	t->n++;
	return 0;
}

void
hold_release(struct backfill *b)
{
	struct spool_after after = { 0 };
	struct turn t = { .b = b };

	released_sweep(b);
	if (live_waits(b) || b->n_released == RELEASED_MAX ||
	    (backfill_lists(b) && !relay_open(b->s->relay))) {
		backfill_soon(b, TICK_MS);
		return;
	}
	spool_each(b->s->spool, dest_of(b), PHASE_PAST, &after, SPOOL_PAGE,
	    release_one, &t);
	if (t.n == 0 && b->n_released < RELEASED_MAX) {
		b->step = STEP_NEXT;	/* the window is empty */
		backfill_soon(b, 0);
		return;
	}
	backlog_touch(b->s->backlog);
	relay_kick(b->s->relay);
	backfill_soon(b, TICK_MS);
}

static int
forget_one(struct spool *sp, struct spool_run *run, void *arg)
{
	unsigned *n = arg;

	++*n;
	return spool_forget(sp, run);
}

unsigned
hold_forget(struct backfill *b)
{
	struct spool_after after = { 0 };
	unsigned n = 0;

	while (spool_each(b->s->spool, dest_of(b), PHASE_PAST, &after,
	    SPOOL_PAGE, forget_one, &n) == SPOOL_PAGE)
		continue;
	b->n_released = 0;
	return n;
}
