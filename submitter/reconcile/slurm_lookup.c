/* SPDX-License-Identifier: MIT */
/*
 * The runs that the collector has to look up in Slurm.  Its answer is a record,
 * or `not-found`; see missing_runs.c.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

#include "common/array.h"
#include "common/codec.h"
#include "common/permanent.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/spool.h"

#define OPEN_S	       300 /* a centre looks up runs that are open for longer */
#define REUSED_REPEATS 30000 /* ms between two lookups of a reused id */

/* The message under construction for one cluster. */
struct batch {
	int cluster; /* spool_run.cluster */
	char name[CLUSTER_MAX];
	struct writer keys;
	uint32_t n;
};

struct slurm_lookup {
	struct submitter *s;
	struct event *timer; /* the next lookup of reused ids */
	uint64_t number;     /* of the last lookup */
	/* of the walk under way */
	struct batch *batches; /* owned */
	size_t n_batches, cap_batches;
	unsigned sent; /* keys, in all messages */
};

static void
batch_send(struct slurm_lookup *k, struct batch *b)
{
	struct channel *c = submitter_feeder(k->s);
	struct writer w;

	if (b->n > 0 && c != NULL) {
		wr_init(&w, b->keys.len + CLUSTER_MAX + 32);
		wr_str(&w, b->name);
		wr_u64(&w, ++k->number);
		wr_u32(&w, b->n);
		wr_mem(&w, b->keys.buf, b->keys.len);
		channel_send(c, MSG_LOOKUP, 0, &w, -1);
		wr_clear(&w);
		missing_asked(k->s->missing);
	}
	k->sent += b->n;
	wr_reset(&b->keys);
	b->n = 0;
}

/* The message for the cluster of the run; NULL when out of memory. */
static struct batch *
batch_of(struct slurm_lookup *k, const struct spool_run *run)
{
	struct batch *b;
	size_t i;

	for (i = 0; i < k->n_batches; i++)
		if (k->batches[i].cluster == run->cluster)
			return &k->batches[i];
	b = array_reserve(k->batches, &k->cap_batches, k->n_batches + 1,
	    sizeof(*b));
	if (b == NULL)
		return NULL;
	k->batches = b;
	b += k->n_batches++;
	memset(b, 0, sizeof(*b));
	b->cluster = run->cluster;
	memcpy(b->name, run->key.cluster, sizeof(b->name));
	wr_init(&b->keys, LOOKUP_KEYS_MAX * (CLUSTER_MAX + 32));
	return b;
}

/*
 * Without memory the run waits for the next comparison.  Earlier versions stored
 * runs of cc-backend with any start.  The collector refuses a message with a start
 * after the year 9999, and the next comparison removes such a run.
 */
static void
batch_add(struct slurm_lookup *k, const struct spool_run *run)
{
	struct batch *b = run->key.start <= TIME_S_MAX ? batch_of(k, run) :
							 NULL;

	if (b == NULL)
		return;
	wr_run_key(&b->keys, &run->key);
	if (++b->n == LOOKUP_KEYS_MAX)
		batch_send(k, b);
}

/* Sends the rest of each message. */
static void
batches_end(struct slurm_lookup *k)
{
	size_t i;

	for (i = 0; i < k->n_batches; i++) {
		batch_send(k, &k->batches[i]);
		wr_clear(&k->batches[i].keys);
	}
	free(k->batches);
	k->batches = NULL;
	k->n_batches = k->cap_batches = 0;
}

/*
 * The message with the end of a run may be lost at a broker that had acknowledged
 * it.  The cluster publishes a run again that it is asked about.
 */
static int
is_open_long(struct spool *sp, const struct spool_run *run)
{
	return spool_policy(sp)->from_stream &&
	    (run->state[DEST_REST] == START_COMMITTED ||
		spool_is_unsent(run)) &&
	    (int64_t)time(NULL) - run->key.start > OPEN_S;
}

static int
add_in_doubt(struct spool *sp, struct spool_run *run, void *arg)
{
	if ((run->flags & RUN_IN_DOUBT) || is_open_long(sp, run))
		batch_add(arg, run);
	return 0;
}

static int
add_reused(struct spool *sp, struct spool_run *run, void *arg)
{
	if (spool_is_reused(sp, run))
		batch_add(arg, run);
	return 0;
}

static void
walk_unconfirmed(struct slurm_lookup *k, spool_fn *add)
{
	/* Unconfirmed runs are due after all others. */
	struct spool_after after = { .due = DUE_UNCONFIRMED };
	struct spool *sp = k->s->spool;

	while (spool_each(sp, spool_first_dest(sp), START_DUE, &after,
		   SPOOL_PAGE, add, k) == SPOOL_PAGE)
		continue;
}

static void
walk_committed(struct slurm_lookup *k, spool_fn *add)
{
	struct spool_after after = { 0 };

	while (spool_each(k->s->spool, DEST_REST, START_COMMITTED, &after,
		   SPOOL_PAGE, add, k) == SPOOL_PAGE)
		continue;
}

/* A collector reads the end from accounting; a receiver must ask the cluster. */
static void
walk_unsent(struct slurm_lookup *k, spool_fn *add)
{
	struct spool_after after = { 0 };
	struct spool *sp = k->s->spool;

	while (spool_policy(sp)->from_stream &&
	    spool_each_unsent(sp, &after, SPOOL_PAGE, add, k) == SPOOL_PAGE)
		continue;
}

/*
 * Looks up runs of all clusters in one walk: a walk for each cluster of a centre
 * would take longer than a worker may be silent.  Returns how many runs were
 * looked up.  committed: also those, in doubt.
 */
static unsigned
each_run(struct slurm_lookup *k, spool_fn *add, int committed)
{
	k->sent = 0;
	if (committed) {
		walk_committed(k, add);
		walk_unsent(k, add);
	}
	walk_unconfirmed(k, add);
	batches_end(k);
	return k->sent;
}

void
slurm_lookup_in_doubt(struct slurm_lookup *k)
{
	(void)each_run(k, add_in_doubt, 1);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct slurm_lookup *k = arg;

	if (each_run(k, add_reused, 0) > 0)
		timer_after(k->timer, REUSED_REPEATS);
}

void
slurm_lookup_record(struct slurm_lookup *k, int64_t id)
{
	if (!evtimer_pending(k->timer, NULL) &&
	    spool_waits_for_reused(k->s->spool, id))
		timer_after(k->timer, 0);
}

struct slurm_lookup *
slurm_lookup_new(struct submitter *s)
{
	struct slurm_lookup *k = permanent_new(sizeof(*k));

	k->s = s;
	k->timer = timer_new(s, on_timer, k);
	return k;
}
