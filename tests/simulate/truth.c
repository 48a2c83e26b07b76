/* SPDX-License-Identifier: MIT */
/* See truth.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/reduce.h"
#include "tests/simulate/truth.h"
#include "tests/simulate/world.h"

#define JOB_FIRST 1000 /* the first job id */
#define ARRAY_MAX 8
#define NODES	  16

static struct {
	struct prng random;
	struct prng opting;
	unsigned opt_out; /* of a million runs */
	struct prng failing;
	unsigned fail_at_once; /* of a million arrays */
	struct truth_run **runs;
	unsigned n;
	struct truth_run **newest; /* by job id - JOB_FIRST */
	unsigned n_jobs;
	unsigned per_hour;
	int ended;
} truth;

int64_t
truth_now(void)
{
	return world_true_ms() / 1000;
}

int
truth_has_ended(const struct truth_run *t)
{
	return t->end <= truth_now();
}

struct truth_run *
truth_run(unsigned i)
{
	return i < truth.n ? truth.runs[i] : NULL;
}

struct truth_run *
truth_find(uint64_t job, int64_t start)
{
	struct truth_run *t;

	if (job < JOB_FIRST || job - JOB_FIRST >= truth.n_jobs)
		return NULL;
	t = truth.newest[job - JOB_FIRST];
	while (t != NULL && t->start != start)
		t = t->older;
	return t;
}

void
truth_user(const struct truth_run *t, char *buf, size_t size)
{
	snprintf(buf, size, "u%u", t->user);
}

/* Seconds: most runs are short, few take hours. */
static int64_t
duration(void)
{
	switch (prng_below(&truth.random, 8)) {
	case 0:
		return prng_between(&truth.random, 0, 3);
	case 1:
	case 2:
		return prng_between(&truth.random, 1, 120);
	case 3:
	case 4:
		return prng_between(&truth.random, 60, 1800);
	case 5:
	case 6:
		return prng_between(&truth.random, 600, 4 * 3600);
	default:
		return prng_between(&truth.random, 3600, 12 * 3600);
	}
}

static enum job_end
end_state(void)
{
	static const enum job_end states[] = { END_COMPLETED, END_COMPLETED,
		END_COMPLETED, END_FAILED, END_CANCELLED, END_TIMEOUT,
		END_OUT_OF_MEMORY, END_PREEMPTED, END_NODE_FAIL, END_BOOT_FAIL,
		END_DEADLINE };

	return states[prng_below(&truth.random,
	    sizeof(states) / sizeof(states[0]))];
}

/* From the beginning, or while the run waits, runs or has ended. */
static int64_t
opts_out_at(const struct truth_run *t)
{
	if (!prng_chance(&truth.opting, truth.opt_out))
		return 0;
	return t->start +
	    (prng_chance(&truth.opting, 500000) ?
		    0 :
		    prng_between(&truth.opting, 1, 7200));
}

static struct truth_run *
run_new(uint64_t job)
{
	struct truth_run *t = world_alloc(sizeof(*t));

	t->job = job;
	t->start = truth_now();
	t->submit = t->start - prng_between(&truth.random, 0, 600);
	t->end = t->start + duration();
	t->state = end_state();
	t->nodes = (unsigned)prng_between(&truth.random, 1, 4);
	t->nodes_left = t->nodes;
	t->ran = 1;
	t->first_node = (unsigned)prng_between(&truth.random, 1, NODES - 3);
	t->user = (unsigned)prng_below(&truth.random, 20);
	t->has_script = prng_chance(&truth.random, 300000);
	t->opts_out = opts_out_at(t);
	truth.runs = world_realloc(truth.runs,
	    (truth.n + 1) * sizeof(truth.runs[0]));
	truth.runs[truth.n++] = t;
	return t;
}

/* The newest run of its job. */
static void
run_link(struct truth_run *t)
{
	struct truth_run **newest = &truth.newest[t->job - JOB_FIRST];

	t->older = *newest;
	if (t->older != NULL)
		t->older->newer = t;
	*newest = t;
}

static void on_requeue(void *arg);

/* Some runs are requeued when they end. */
static void
requeue_plan(struct truth_run *t)
{
	int64_t wait;

	if (!prng_chance(&truth.random, 100000))
		return;
	t->state = END_REQUEUED;
	wait = prng_chance(&truth.random, 200000) ?
	    prng_between(&truth.random, 20 * HOUR_MS, 30 * HOUR_MS) :
	    prng_between(&truth.random, 1000, 40 * MINUTE_MS);
	world_after(PROCESS_NONE, (t->end - t->start) * 1000 + wait, on_requeue,
	    t);
}

static void
on_requeue(void *arg)
{
	struct truth_run *old = arg, *t;

	if (truth.ended)
		return;
	t = run_new(old->job);
	t->restarts = old->restarts + 1;
	t->submit = old->end;
	t->array = old->array;
	t->task = old->task;
	t->user = old->user;
	run_link(t);
	trace("truth: job %llu runs again from %lld to %lld",
	    (unsigned long long)t->job, (long long)t->start, (long long)t->end);
	requeue_plan(t);
}

static void
job_new(uint64_t array, uint32_t task, int at_once)
{
	struct truth_run *t;

	truth.newest = world_realloc(truth.newest,
	    (truth.n_jobs + 1) * sizeof(truth.newest[0]));
	truth.newest[truth.n_jobs++] = NULL;
	t = run_new(JOB_FIRST + truth.n_jobs - 1);
	t->array = array;
	t->task = task;
	if (at_once) {
		t->end = t->start;
		t->state = END_FAILED;
	}
	run_link(t);
	trace("truth: job %llu runs from %lld to %lld",
	    (unsigned long long)t->job, (long long)t->start, (long long)t->end);
	requeue_plan(t);
}

static void
on_submit(void *arg)
{
	unsigned i, n = 1;
	uint64_t array = 0;
	int at_once = 0;

	(void)arg;
	if (truth.ended || !reduce_job())
		return;
	if (prng_chance(&truth.random, 100000)) {
		n = (unsigned)prng_between(&truth.random, 2, ARRAY_MAX);
		array = JOB_FIRST + truth.n_jobs;
		/* The program of all tasks is missing. */
		at_once = prng_chance(&truth.failing, truth.fail_at_once);
	}
	for (i = 0; i < n; i++)
		job_new(array, i, at_once);
	world_after(PROCESS_NONE,
	    prng_between(&truth.random, 0, 2 * HOUR_MS / truth.per_hour),
	    on_submit, NULL);
}

void
truth_begin(unsigned per_hour)
{
	prng_init(&truth.random, world_seed(), "truth");
	prng_init(&truth.opting, world_seed(), "opt-out");
	if (prng_chance(&truth.opting, 200000) && reduce_allows("opt-out"))
		truth.opt_out = 200000;
	prng_init(&truth.failing, world_seed(), "array-fails");
	if (prng_chance(&truth.failing, 400000) && reduce_allows("array-fails"))
		truth.fail_at_once = 500000;
	truth.per_hour = per_hour;
	world_after(PROCESS_NONE, 1, on_submit, NULL);
}

void
truth_end(void)
{
	truth.ended = 1;
}

static char *
text_copy(const char *text)
{
	char *copy = strdup(text);

	if (copy == NULL)
		abort();
	return copy;
}

void
truth_job(const struct truth_run *t, struct job *job, int with_script)
{
	char text[64];
	unsigned i;

	snprintf(job->key.cluster, sizeof(job->key.cluster), TRUTH_CLUSTER);
	job->key.job = t->job;
	job->key.start = t->start;
	job->flags = JOB_HAS_START | JOB_HAS_THREADS | JOB_HAS_ACCELS;
	job->submit = t->submit;
	job->shared = SHARED_MULTI_USER;
	job->restarts = t->restarts;
	job->array_job = t->array;
	job->array_task = t->task;
	job->nodes = t->nodes;
	job->cpus = t->nodes * 4;
	job->walltime = 86400;
	truth_user(t, text, sizeof(text));
	job->user = text_copy(text);
	job->account = text_copy("p1");
	job->partition = text_copy("main");
	job->name = text_copy("job");
	if (with_script)
		job->script = text_copy("#!/bin/sh\n");
	for (i = 0; i < t->nodes; i++) {
		snprintf(text, sizeof(text), "n%02u", t->first_node + i);
		if (job_host_add_cpus(job_add_host(job, text), 0, 3) == -1)
			abort();
	}
	if (truth_has_ended(t)) {
		job->end = t->end;
		job->state = t->state;
		job->exit_code = 0;
	} else
		job->flags |= JOB_LIVE;
	if (t->opts_out != 0 && t->opts_out <= truth_now())
		job->flags |= JOB_OPTED_OUT;
}
