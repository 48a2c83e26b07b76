/* SPDX-License-Identifier: MIT */
/*
 * The held runs of a backfill.  Tombstones of that time were removed, or
 * cc-backend has lost the runs, so only a list of cc-backend's jobs proves which
 * runs cc-backend lacks.  These runs are sent, a few at a time, and none while
 * live runs are due.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "submitter/backend/breaker.h"
#include "submitter/delivery/delivery.h"
#include "submitter/reconcile/backfill_private.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"

#define TICK_MS 100 /* while runs are being delivered */

int
is_by_nats(const struct backfill *b)
{
	return b->nats && (b->active || b->look);
}

enum dest
dest_of(const struct backfill *b)
{
	return !is_by_nats(b) && spool_policy(b->s->spool)->to[DEST_REST] ?
	    DEST_REST :
	    DEST_NATS;
}

uint64_t
release_waiting(const struct backfill *b)
{
	return spool_count(b->s->spool, dest_of(b), BACKFILL_HELD);
}

/* Runs of one job that are compared with a row. */
#define SIBLINGS_MAX 64

/* The held run of this row, also when the row has its other start: 1, or 0. */
static int
held_find(struct backfill *b, const struct run_key *key, struct spool_run *run)
{
	struct spool_run rows[SIBLINGS_MAX];
	int i, n;

	if (spool_find(b->s->spool, key, run) == 1)
		return run->state[DEST_REST] == BACKFILL_HELD;
	n = spool_job_runs(b->s->spool, key->cluster, key->job, rows,
	    SIBLINGS_MAX);
	for (i = 0; i < n; i++) {
		if (rows[i].state[DEST_REST] != BACKFILL_HELD ||
		    rows[i].alias != key->start)
			continue;
		*run = rows[i];
		run->alias = run->key.start;
		run->key.start = key->start;
		return 1;
	}
	return 0;
}

static void
on_row(const struct backend_job *row, void *arg)
{
	struct backfill *b = arg;
	struct spool_run run;
	int running = strcmp(row->state, "running") == 0;

	if (b->stale || !held_find(b, &row->key, &run))
		return;
	b->there++;
	/* The readers of NATS got the run when cc-backend did. */
	if (run.state[DEST_NATS] == BACKFILL_HELD)
		run_move(b->s->spool, &run, DEST_NATS,
		    running ? RUN_EVENT_LISTED : RUN_EVENT_LISTED_STOPPED,
		    DUE_KEEP, NULL);
	if (running) {
		run_start_listed(b->s, &run);
		return;
	}
	run_move(b->s->spool, &run, DEST_REST, RUN_EVENT_LISTED_STOPPED,
	    DUE_KEEP, NULL);
	spool_save(b->s->spool, &run);
	commit_soon(b->s->commit);
}

static void
on_listed(const struct result *v, void *arg)
{
	struct backfill *b = arg;

	if (b->stale) {
		b->stale = 0;
		return;
	}
	if (v->code == RESULT_DONE)
		window_listed(b);
	else if (window_failed(b, v))
		return;
	/*
	 * A run that cannot be listed is sent: the answer to its start shows
	 * whether cc-backend has it.
	 */
	b->step = BACKFILL_RELEASE;
	window_soon(b, 0);
}

void
release_list(struct backfill *b)
{
	struct run_key name;
	int64_t cursor, from, to;
	unsigned i;

	if (!window_lists(b)) {
		b->lo = 0;
		b->hi = INT64_MAX;
		b->step = BACKFILL_RELEASE;
		window_soon(b, 0);
		return;
	}
	/*
	 * Held runs may be of another cluster, from a backfill that was killed.
	 */
	for (i = 0; spool_cluster(b->s->spool, i, &name, &cursor); i++) {
		if (spool_span(b->s->spool, BACKFILL_HELD, name.cluster, &from,
			&to) <= 0)
			continue;
		b->lo = from;
		b->hi = from + b->width - 1 < to ? from + b->width - 1 : to;
		from = b->lo;
		to = b->hi;
		if (spool_span_alias(b->s->spool, BACKFILL_HELD, name.cluster,
			&from, &to) == -1 ||
		    job_list_start(&b->job_list, b->s, name.cluster, 0, from,
			to, on_row, on_listed, b) == -1)
			window_soon(b, RETRY_MS);
		return;
	}
	b->step = BACKFILL_NEXT;
	window_soon(b, 0);
}

/*
 * Forgets runs that are delivered or wait for their commit.  By NATS a stop may
 * wait long for its time.
 */
static void
released_sweep(struct backfill *b)
{
	enum dest d = dest_of(b);
	struct spool_run run;
	unsigned i, n = 0;

	for (i = 0; i < b->n_released; i++)
		if (spool_get(b->s->spool, b->released[i], &run) == 1 &&
		    (run.state[d] == START_DUE_ENDED ||
			(d == DEST_REST && run.state[d] == STOP_DUE)) &&
		    run.tries[d] == 0)
			b->released[n++] = b->released[i];
	b->n_released = n;
}

int
live_waits(const struct backfill *b)
{
	static const enum run_state states[] = { START_DUE, STOP_DUE,
		DELETE_DUE, START_DUE_ENDED };
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (spool_next_due(b->s->spool, dest_of(b), states[i]) ==
		    DUE_NOW)
			return 1;
	return 0;
}

struct turn {
	struct backfill *b;
	char cluster[CLUSTER_MAX];
	unsigned n;
	int beyond; /* the next rows with this due time are behind the window */
};

static int
release_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct turn *t = arg;
	struct backfill *b = t->b;
	int done;

	if (b->n_released == RELEASED_MAX)
		return -1;
	if (run->key.start > b->hi) {
		t->beyond = 1;
		return -1;
	}
	if (run->key.start < b->lo ||
	    (window_lists(b) &&
		strcmp(run->key.cluster, b->job_list.cluster) != 0))
		return 0;
	done = spool_is_done(sp, &run->key);
	if (spool_release_backfill(sp, run) == -1)
		return -1;
	if (done || is_by_nats(b)) {
		b->restored++;
		state_save(b);
	}
	if (done && !is_by_nats(b))
		log_info("%s is delivered, but cc-backend lacks it: it is sent "
			 "again",
		    run_key_text(&run->key));
	b->released[b->n_released++] = run->id;
	t->n++;
	return 0;
}

/*
 * Releases runs of the window.  The first pages may have runs of another cluster
 * only.  Rows are in the order of their due times: held runs of earlier versions
 * may have several.
 */
static void
window_release(struct backfill *b, struct turn *t)
{
	struct spool_after after = { 0 };
	int n;

	do {
		t->beyond = 0;
		n = spool_each(b->s->spool, dest_of(b), BACKFILL_HELD, &after,
		    SPOOL_PAGE, release_one, t);
		if (t->beyond)
			after.start = after.id = INT64_MAX;
	} while (t->n == 0 && (n == SPOOL_PAGE || t->beyond));
}

void
release_some(struct backfill *b)
{
	struct turn t = { .b = b };

	released_sweep(b);
	if (live_waits(b) || b->n_released == RELEASED_MAX ||
	    (window_lists(b) && !breaker_allows(b->s->breaker))) {
		window_soon(b, TICK_MS);
		return;
	}
	window_release(b, &t);
	if (t.n == 0 && b->n_released < RELEASED_MAX) {
		b->step = BACKFILL_NEXT; /* the window is empty */
		window_soon(b, 0);
		return;
	}
	commit_soon(b->s->commit);
	wake(b->s, WAKE_DELIVERY);
	window_soon(b, TICK_MS);
}

static int
forget_one(struct spool *sp, struct spool_run *run, void *arg)
{
	unsigned *n = arg;

	/* The run was sent before: other work of the run may be due. */
	if (!(run->flags & RUN_BACKFILL) || (run->flags & RUN_KEY_FIXED))
		return spool_release_backfill(sp, run);
	++*n;
	return spool_forget(sp, run);
}

unsigned
release_forget(struct backfill *b)
{
	struct spool_after after = { 0 };
	unsigned n = 0;

	while (spool_each(b->s->spool, dest_of(b), BACKFILL_HELD, &after,
		   SPOOL_PAGE, forget_one, &n) == SPOOL_PAGE)
		continue;
	b->n_released = 0;
	return n;
}
