/* SPDX-License-Identifier: MIT */
/*
 * `backfill --nats` publishes runs again that a stream has lost: the runs that
 * ended since --from and began up to --to, from accounting, then those of the
 * spool whose start was published before the command.  A run that ends
 * meanwhile is published by the delivery of its stop; see spool_republish().
 */
#include "config.h"

#include <string.h>

#include "common/log.h"
#include "common/text/time_text.h"
#include "submitter/reconcile/backfill_private.h"
#include "submitter/spool/commit.h"

#define TICK_MS 100 /* between two turns of the walk */
/* runs of one turn, so that live runs do not wait long */
#define TURN_MAX 16
/*
 * ms of the longest wait until accounting was read up to the end of the range;
 * slurmdbd gets the end of a run later than the run ends.
 */
#define ACCOUNTING_WAIT_MS 900000

/* Accounting of the cluster was read up to this time; 0 = unknown. */
static int64_t
read_up_to(const struct backfill *b)
{
	struct run_key name;
	int64_t cursor;
	unsigned i;

	for (i = 0; spool_cluster(b->s->spool, i, &name, &cursor); i++)
		if (strcmp(name.cluster, b->whose.cluster) == 0)
			return cursor > 0 ? cursor : 0;
	return 0;
}

int
nats_chunk_waits(struct backfill *b)
{
	int64_t now = spool_now(b->s->spool), at = read_up_to(b);

	if (at >= b->to || b->waited) {
		b->waits_until = 0;
		return 0;
	}
	if (b->waits_until == 0)
		b->waits_until = now + ACCOUNTING_WAIT_MS;
	if (now < b->waits_until)
		return 1;
	log_notice("backfill of %s: accounting was read only up to %s; runs "
		   "that ended later may be missing",
	    b->whose.cluster, time_text(at));
	b->waits_until = 0;
	b->waited = 1;
	return 0;
}

/* States of runs whose start was published. */
static const enum run_state published[] = { STARTED, STOP_DUE, RUN_DONE };

#define N_PUBLISHED (sizeof(published) / sizeof(published[0]))

struct turn {
	unsigned n; /* published again */
	int leased; /* a stop is under way: its answer publishes the run */
	int failed; /* the spool refused a write */
};

static int
publish_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct turn *t = arg;

	if (!spool_republish_due(sp, run))
		return 0;
	if (spool_stop_leased(run)) {
		t->leased = 1;
		return 0;
	}
	if (spool_republish(sp, run) != 1) {
		t->failed = 1;
		return -1;
	}
	return ++t->n < TURN_MAX ? 0 : -1;
}

/*
 * A rollback takes back what the walk has done: it begins again.  The runs that
 * were published meanwhile are left out, see spool_republish_due().
 */
static void
walk_check(struct backfill *b)
{
	if (b->walk_rollbacks == b->s->n.commits_failed)
		return;
	b->walk_rollbacks = b->s->n.commits_failed;
	b->walk_state = 0;
	memset(&b->walk, 0, sizeof(b->walk));
}

/* The walk of this state is over. */
static void
state_next(struct backfill *b, const struct turn *t)
{
	memset(&b->walk, 0, sizeof(b->walk));
	if (t->leased)
		return; /* again */
	if (++b->walk_state == N_PUBLISHED)
		b->step = BACKFILL_NEXT; /* held runs, then the end */
}

void
nats_walk_begin(struct backfill *b)
{
	walk_check(b);
	if (b->walk_state == N_PUBLISHED) {
		backfill_finish(b);
		return;
	}
	b->step = BACKFILL_OPEN;
	nats_walk(b);
}

void
nats_walk(struct backfill *b)
{
	struct submitter *s = b->s;
	enum run_state state;
	struct turn t = { 0 };
	int n;

	window_soon(b, TICK_MS);
	if (live_waits(b) || commit_is_stuck(s->commit))
		return;
	walk_check(b);
	state = published[b->walk_state];
	n = spool_each(s->spool, DEST_NATS, state, &b->walk, SPOOL_PAGE,
	    publish_one, &t);
	if (n >= 0 && n < SPOOL_PAGE && t.n < TURN_MAX && !t.failed)
		state_next(b, &t);
	if (t.n == 0)
		return;
	/* The others are held now; release_some() counts them. */
	if (state == STARTED)
		b->restored += t.n;
	state_save(b);
	wake(s, WAKE_NATS);
}
