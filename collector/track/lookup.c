/* SPDX-License-Identifier: MIT */
/*
 * Runs that the submitter looks up.  The answer to a lookup is a record, or
 * `not-found`: neither squeue nor accounting has the run.  `not-found` is sent
 * only when our permission to see all jobs was proved in the same poll and both
 * answers contained a run that must be in them.  A Slurm whose answer lacks
 * that run has lost more than the run that is looked up.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/base/wake.h"
#include "collector/slurm/slurm.h"
#include "collector/track/outbox.h"
#include "collector/track/track.h"
#include "common/array.h"
#include "common/log.h"
#include "common/permanent.h"

#define KEYS_MAX 100000 /* runs that are looked up at a time */
/* polls in which slurmdbd may lack a run that squeue shows */
#define LATER_POLLS 10

enum lookup_state {
	LOOKUP_NEW,
	LOOKUP_LIVE,
	LOOKUP_ACCOUNTING,
	LOOKUP_UNKNOWN,
	LOOKUP_ANSWERED
};

struct lookup_key {
	uint64_t lookup;
	uint64_t job;
	int64_t start;
	enum lookup_state state;
	/* accounting has this very run, and it may still end there */
	int matched;
	int exact;	/* accounting has a row with this start */
	int asked;	/* by the query by id that is under way */
	int trusted;	/* squeue's answer without it can be trusted */
	int later;	/* accounting has a later run of the job */
	unsigned polls; /* in which accounting lacked the later run */
};

struct lookups {
	struct cluster *c;
	struct lookup_key *keys; /* owned */
	size_t n;
	size_t cap;
	struct idmap numbers; /* run_number() of each: poll that showed it */
	int checking;
	struct log_limit untrusted;
};

struct lookups *
lookup_new(struct cluster *c)
{
	struct lookups *a = permanent_new(sizeof(*a));

	a->c = c;
	return a;
}

int
lookup_has(const struct lookups *a, uint64_t job, int64_t start)
{
	return a->n > 0 &&
	    idmap_get(&a->numbers, run_number(job, start)) != NULL;
}

static void
key_add(struct lookups *a, uint64_t lookup, const struct run_key *key)
{
	struct lookup_key *keys;
	int added;

	if (a->n >= KEYS_MAX ||
	    idmap_put(&a->numbers, run_number(key->job, key->start), &added) ==
		NULL ||
	    !added)
		return;
	keys = array_reserve(a->keys, &a->cap, a->n + 1, sizeof(*keys));
	if (keys == NULL)
		return;
	a->keys = keys;
	a->keys[a->n++] = (struct lookup_key) { .lookup = lookup,
		.job = key->job,
		.start = key->start,
		.state = LOOKUP_NEW };
}

int
lookup_add(struct lookups *a, struct reader *r)
{
	char cluster[CLUSTER_MAX];
	struct run_key key;
	uint64_t lookup;
	uint32_t i, n;

	rd_name(r, cluster, sizeof(cluster));
	lookup = rd_u64(r);
	n = rd_u32(r);
	for (i = 0; i < n && !r->err; i++) {
		rd_run_key(r, &key);
		if (!r->err && strcmp(key.cluster, a->c->slurm.cluster) == 0)
			key_add(a, lookup, &key);
	}
	return rd_end(r);
}

void
lookup_forget(struct lookups *a)
{
	a->n = 0;
	idmap_clear(&a->numbers);
}

/* Removes all keys in this state and may change the order of the others. */
static void
keys_drop(struct lookups *a, enum lookup_state state)
{
	size_t i;

	for (i = 0; i < a->n;) {
		if (a->keys[i].state != state) {
			i++;
			continue;
		}
		idmap_remove(&a->numbers,
		    run_number(a->keys[i].job, a->keys[i].start));
		a->keys[i] = a->keys[--a->n];
	}
}

void
lookup_shown(struct lookups *a, uint64_t job, int64_t start)
{
	uint32_t *poll = a->n > 0 ?
	    idmap_get(&a->numbers, run_number(job, start)) :
	    NULL;

	if (poll != NULL)
		*poll = a->c->listing.number;
}

/* Did squeue show the run in this poll? */
static int
is_shown(const struct lookups *a, const struct lookup_key *key)
{
	struct open_run *run = open_find(&a->c->open, key->job, key->start);
	uint32_t *poll = idmap_get(&a->numbers,
	    run_number(key->job, key->start));

	return (run != NULL && !(run->flags & OPEN_LEFT)) ||
	    (poll != NULL && *poll == a->c->listing.number);
}

/*
 * Does squeue show a later run of the job?  Then this one is over, and
 * accounting has its end or will not get one.
 */
static int
is_reused(const struct lookups *a, const struct lookup_key *key)
{
	struct open_run *run;
	size_t at = 0;

	while ((run = open_of_job(&a->c->open, key->job, &at)) != NULL)
		if ((run->flags & (OPEN_RUNNING | OPEN_LEFT)) == OPEN_RUNNING &&
		    run->start > key->start)
			return 1;
	return 0;
}

void
lookup_detailed(struct lookups *a)
{
	keys_drop(a, LOOKUP_LIVE);
}

/*
 * Is the row that of the run which is looked up, with another start?  The node was
 * powered up first, and the start moved: slurmdbd has the later start, or not yet.
 * The next run of a job that was requeued in the second of its start looks the
 * same, but was submitted later.
 */
static int
is_moved_row(const struct lookups *a, const struct lookup_key *key,
    const struct job_snapshot *s)
{
	const struct job *job = &s->job;
	const struct open_run *run = open_find(&a->c->open, key->job,
	    key->start);

	if (key->exact)
		return 0;
	if (key->start > job->key.start)
		return s->state->phase != PHASE_ENDED && run != NULL &&
		    run->submit != 0 && (int64_t)run->submit == job->submit;
	/* squeue has shown the run with this start. */
	if (run != NULL && (int64_t)run->start_now == job->key.start)
		return 1;
	if (job->submit == 0 || job->submit > key->start)
		return 0;
	return run == NULL || run->submit == 0 ||
	    (int64_t)run->submit == job->submit;
}

void
lookup_row(struct lookups *a, struct job_snapshot *s)
{
	struct job *job = &s->job;
	struct lookup_key *key;
	int ended = s->state->phase == PHASE_ENDED;
	size_t i;

	for (i = 0; i < a->n; i++) {
		key = &a->keys[i];
		if (key->job != job->key.job || key->state != LOOKUP_ACCOUNTING)
			continue;
		if (key->start == job->key.start)
			key->exact = 1;
		else if (!is_moved_row(a, key, s)) {
			key->later |= key->start < job->key.start;
			continue;
		}
		key->matched = ended || !is_reused(a, key);
		if (ended)
			job->key.start = key->start;
	}
}

/* One message for all runs of one lookup. */
static void
unknown_report(struct lookups *a, uint64_t lookup)
{
	struct run_key *keys = calloc(a->n, sizeof(*keys));
	size_t i;
	uint32_t n = 0;

	if (keys == NULL)
		return;
	for (i = 0; i < a->n; i++) {
		if (a->keys[i].state != LOOKUP_UNKNOWN ||
		    a->keys[i].lookup != lookup)
			continue;
		keys[n].job = a->keys[i].job;
		keys[n].start = a->keys[i].start;
		memcpy(keys[n].cluster, a->c->slurm.cluster, CLUSTER_MAX);
		n++;
	}
	outbox_not_found(a->c->outbox, a->c, lookup, keys, n);
	free(keys);
}

void
lookup_permission(struct lookups *a, int proved)
{
	size_t i;
	uint64_t lookup;

	a->checking = 0;
	for (i = 0; proved && i < a->n;) {
		if (a->keys[i].state != LOOKUP_UNKNOWN) {
			i++;
			continue;
		}
		lookup = a->keys[i].lookup;
		unknown_report(a, lookup);
		for (i = 0; i < a->n; i++)
			if (a->keys[i].lookup == lookup &&
			    a->keys[i].state == LOOKUP_UNKNOWN)
				a->keys[i].state = LOOKUP_ANSWERED;
		i = 0;
	}
	/*
	 * Without the proof no answer is sent; the submitter looks the runs up
	 * again.
	 */
	keys_drop(a, LOOKUP_UNKNOWN);
	keys_drop(a, LOOKUP_ANSWERED);
}

/* Sends the answers about unknown runs, when our permission is proved. */
static void
unknown_prove(struct lookups *a)
{
	if (a->checking)
		return;
	if (permission_known(a->c)) {
		lookup_permission(a, 1);
		return;
	}
	a->checking = 1;
	a->c->work.permission = 1;
	wake(a->c);
}

/* squeue does not show the run.  Returns 1 when Slurm does not know it. */
static int
key_unlisted(struct lookups *a, struct lookup_key *key, int trusted)
{
	if (a->c->slurm.accounting) {
		key->state = LOOKUP_ACCOUNTING;
		key->matched = key->exact = key->later = key->asked = 0;
		key->trusted = trusted;
		(void)idmap_put(&a->c->work.accounting, key->job, NULL);
		return 0;
	}
	/* Without accounting only slurmctld may know the end. */
	if (trusted && is_reused(a, key)) {
		key->state = LOOKUP_UNKNOWN;
		return 1;
	}
	key->state = LOOKUP_LIVE;
	(void)idmap_put(&a->c->work.details, key->job, NULL);
	return 0;
}

void
lookup_listed(struct lookups *a, int trusted)
{
	struct lookup_key *key;
	size_t i;
	int unknown = 0;

	/* The details of the runs of the previous poll were sent. */
	keys_drop(a, LOOKUP_LIVE);
	for (i = 0; i < a->n; i++) {
		key = &a->keys[i];
		/* No answer comes from a slurmdbd that Slurm does not use now. */
		if (key->state == LOOKUP_ACCOUNTING && a->c->slurm.accounting)
			continue;
		if (is_shown(a, key))
			key->state = LOOKUP_LIVE;
		else
			unknown |= key_unlisted(a, key, trusted);
	}
	if (unknown)
		unknown_prove(a);
}

/*
 * Neither squeue nor accounting has the run.  Decides whether the answers can
 * be trusted.  slurmdbd gets the runs of a job in their order: it may still get
 * this one while it lacks a later one.
 */
static enum lookup_state
key_unmatched(struct lookups *a, struct lookup_key *key, int trusted)
{
	if (key->trusted && trusted && is_reused(a, key) && !key->later)
		return ++key->polls < LATER_POLLS ? LOOKUP_NEW : LOOKUP_LIVE;
	if (key->trusted && trusted)
		return LOOKUP_UNKNOWN;
	log_limited(&a->untrusted, log_notice,
	    "%s is unknown to Slurm, but the answer of %s lacks the sentinel "
	    "run: the answer is ignored",
	    cluster_run_text(a->c, key->job, key->start),
	    key->trusted ? "accounting" : "squeue");
	return LOOKUP_LIVE;
}

void
lookup_asked(struct lookups *a, const struct idmap *jobs)
{
	struct lookup_key *key;
	size_t i;

	for (i = 0; i < a->n; i++) {
		key = &a->keys[i];
		key->asked = key->state == LOOKUP_ACCOUNTING &&
		    idmap_get(jobs, key->job) != NULL;
	}
}

void
lookup_accounted(struct lookups *a, uint64_t job, int trusted)
{
	struct lookup_key *key;
	size_t i;
	int unknown = 0, more = 0;

	for (i = 0; i < a->n; i++) {
		key = &a->keys[i];
		if (key->state == LOOKUP_ACCOUNTING && key->asked &&
		    key->job == job)
			key->state = key->matched ?
			    LOOKUP_LIVE :
			    key_unmatched(a, key, trusted);
		unknown |= key->state == LOOKUP_UNKNOWN;
		more |= key->state == LOOKUP_ACCOUNTING;
	}
	if (unknown && !more)
		unknown_prove(a);
}
