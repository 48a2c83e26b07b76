/* SPDX-License-Identifier: MIT */
/* The truth of tests/simulate/truth.h, taken from the simulated Slurm. */
#include "config.h"

#include <stdio.h>

#include "tests/simulate/site/slurm.h"
#include "tests/simulate/truth.h"
#include "tests/simulate/world.h"

#define BUCKETS 4096

struct known {
	struct truth_run t; /* first: the checks have this part */
	const struct slurm_run *of;
	int64_t reported;   /* the start under which it is reported; 0 = none */
	struct known *same; /* of the same bucket, newest first */
};

static struct known **all;
static unsigned n_all;
static const struct slurm_run *last;
static struct known *buckets[BUCKETS];

int64_t
truth_now(void)
{
	return world_true_ms() / 1000;
}

/* The run goes on: what may have changed. */
static struct truth_run *
refreshed(struct known *k)
{
	const struct slurm_run *run = k->of;
	struct truth_run *t = &k->t;

	t->start = k->reported != 0 ? k->reported : run->start;
	t->end = run->end;
	t->state = run->state;
	t->ran = run->ran;
	t->nodes_left = run->nodes_now;
	t->may_lack = run->end == run->start && run->state == END_REQUEUED;
	if (!run->ran && run->end - run->start > SLURM_PROLOG_MAX)
		t->ran = t->may_lack = 1;
	return t;
}

static void
known_add(const struct slurm_run *run)
{
	struct known *k = world_alloc(sizeof(*k)), *o;

	k->of = run;
	k->t.job = run->id;
	k->t.start = run->start;
	k->t.restarts = run->restarts;
	k->t.array = slurm_array_of(run);
	k->t.nodes = run->node_count;
	k->t.opts_out = slurm_opts_out(run);
	k->same = buckets[run->id % BUCKETS];
	buckets[run->id % BUCKETS] = k;
	for (o = k->same; o != NULL && o->t.job != k->t.job; o = o->same)
		continue;
	k->t.older = o != NULL ? &o->t : NULL;
	if (o != NULL)
		o->t.newer = &k->t;
	all = world_realloc(all, (n_all + 1) * sizeof(all[0]));
	all[n_all++] = k;
}

/* Takes the runs that are new in Slurm. */
static void
runs_take(void)
{
	const struct slurm_run *run = last != NULL ? last->next : slurm_runs();

	for (; run != NULL; run = run->next) {
		known_add(run);
		last = run;
	}
}

struct truth_run *
truth_run(unsigned i)
{
	runs_take();
	return i < n_all ? refreshed(all[i]) : NULL;
}

/*
 * A prolog failed and the job began again in the same second: of two runs with
 * one key, the one that ran.  A run whose nodes were powered up is reported with
 * the start that was seen first.
 */
struct truth_run *
truth_find(uint64_t job, int64_t start)
{
	struct truth_run *t = NULL;
	struct known *k;

	runs_take();
	for (k = buckets[job % BUCKETS]; k != NULL; k = k->same)
		if (k->t.job == job &&
		    (k->of->start == start || k->of->first == start) &&
		    (t == NULL || !t->ran)) {
			k->reported = start;
			t = refreshed(k);
		}
	return t;
}

int
truth_has_ended(const struct truth_run *t)
{
	return t->end != 0;
}

void
truth_user(const struct truth_run *t, char *buf, size_t size)
{
	snprintf(buf, size, "%s",
	    slurm_user_of(((const struct known *)(const void *)t)->of));
}
