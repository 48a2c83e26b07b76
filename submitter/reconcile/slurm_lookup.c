/* SPDX-License-Identifier: MIT */
/*
 * The runs that the collector has to look up in Slurm.  Its answer is a record,
 * or `not-found`; see missing_runs.c.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "common/permanent.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/spool.h"

#define LOOKUP_BATCH   256   /* keys of one lookup */
#define REUSED_REPEATS 30000 /* ms between two lookups of a reused id */

struct slurm_lookup {
	struct submitter *s;
	struct event *timer; /* the next lookup of reused ids */
	uint64_t number;     /* of the last lookup */
	/* the message under construction: keys of one cluster */
	char cluster[CLUSTER_MAX];
	struct writer keys;
	uint32_t n;
	unsigned sent; /* keys, in all messages of this walk */
};

static void
batch_send(struct slurm_lookup *k)
{
	struct channel *c = submitter_feeder(k->s);
	struct writer w;

	if (k->n > 0 && c != NULL) {
		wr_init(&w, k->keys.len + CLUSTER_MAX + 32);
		wr_str(&w, k->cluster);
		wr_u64(&w, ++k->number);
		wr_u32(&w, k->n);
		wr_mem(&w, k->keys.buf, k->keys.len);
		channel_send(c, MSG_LOOKUP, 0, &w, -1);
		wr_clear(&w);
		missing_asked(k->s->missing);
	}
	k->sent += k->n;
	wr_reset(&k->keys);
	k->n = 0;
}

static void
batch_add(struct slurm_lookup *k, const struct spool_run *run)
{
	if (strcmp(run->key.cluster, k->cluster) != 0)
		return;
	wr_run_key(&k->keys, &run->key);
	if (++k->n == LOOKUP_BATCH)
		batch_send(k);
}

static int
add_in_doubt(struct spool *sp, struct spool_run *run, void *arg)
{
	if (run->flags & RUN_IN_DOUBT)
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

/* Returns how many runs were looked up.  committed: also those, in doubt. */
static unsigned
each_cluster(struct slurm_lookup *k, spool_fn *add, int committed)
{
	struct run_key name;
	int64_t cursor;
	unsigned i;

	k->sent = 0;
	wr_init(&k->keys, LOOKUP_BATCH * (CLUSTER_MAX + 32));
	for (i = 0; spool_cluster(k->s->spool, i, &name, &cursor); i++) {
		snprintf(k->cluster, sizeof(k->cluster), "%s", name.cluster);
		if (committed)
			walk_committed(k, add);
		walk_unconfirmed(k, add);
		batch_send(k);
	}
	wr_clear(&k->keys);
	return k->sent;
}

void
slurm_lookup_in_doubt(struct slurm_lookup *k)
{
	(void)each_cluster(k, add_in_doubt, 1);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct slurm_lookup *k = arg;

	if (each_cluster(k, add_reused, 0) > 0)
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
