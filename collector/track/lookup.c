/* SPDX-License-Identifier: MIT */
/*
 * What the submitter wants to know of single runs.  The answer is a record,
 * or that neither squeue nor accounting knows the run; the latter is said
 * only when our right to see all jobs was proved in the same cycle and both
 * answers had a witness in them: a run that must be there, for an answer that
 * lacks it comes from a Slurm that has forgotten more than the one.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/base/cluster.h"
#include "common/log.h"

#define KEYS_MAX	100000	/* runs asked for at a time */

enum ask_state { ASK_NEW, ASK_LIVE, ASK_ACCOUNTING, ASK_UNKNOWN };

struct ask_key {
	uint64_t	ask;
	uint64_t	job;
	int64_t		start;
	enum ask_state	state;
	int		matched;	/* accounting has this very run */
	int		witnessed;	/* squeue's answer without it can be trusted */
};

struct asks {
	struct collector *c;
	struct ask_key	*keys;		/* owned */
	size_t		 n;
	size_t		 cap;
	struct idmap	 numbers;	/* run_number() of each: cycle that squeue showed it in */
	int		 proving;
	struct log_limit untrusted;
};

struct asks *
asks_new(struct collector *c)
{
	struct asks *a = calloc(1, sizeof(*a));

	if (a == NULL)
		fatal("no memory");
	a->c = c;
	return a;
}

int
asks_has(const struct asks *a, uint64_t job, int64_t start)
{
	return a->n > 0 && idmap_get(&a->numbers, run_number(job, start)) !=
	    NULL;
}

static void
key_add(struct asks *a, uint64_t ask, const struct run_key *key)
{
	size_t cap = a->cap != 0 ? a->cap * 2 : 64;
	struct ask_key *keys;
	int added;

	if (a->n >= KEYS_MAX || idmap_put(&a->numbers, run_number(key->job,
	    key->start), &added) == NULL || !added)
		return;
	if (a->n == a->cap) {
		keys = realloc(a->keys, cap * sizeof(*keys));
		if (keys == NULL)
			return;
		a->keys = keys;
		a->cap = cap;
	}
	a->keys[a->n++] = (struct ask_key){ .ask = ask, .job = key->job,
	    .start = key->start, .state = ASK_NEW };
}

int
asks_note(struct asks *a, struct reader *r)
{
	char cluster[CLUSTER_MAX];
	struct run_key key;
	uint64_t ask;
	uint32_t i, n;

	rd_name(r, cluster, sizeof(cluster));
	ask = rd_u64(r);
	n = rd_u32(r);
	for (i = 0; i < n && !r->err; i++) {
		rd_run_key(r, &key);
		if (!r->err && strcmp(key.cluster, a->c->slurm.cluster) == 0)
			key_add(a, ask, &key);
	}
	return rd_end(r);
}

void
asks_forget(struct asks *a)
{
	a->n = 0;
	idmap_clear(&a->numbers);
}

/* Removes the keys in a state; order does not matter. */
static void
keys_drop(struct asks *a, enum ask_state state)
{
	size_t i;

	for (i = 0; i < a->n;) {
		if (a->keys[i].state != state) {
			i++;
			continue;
		}
		idmap_remove(&a->numbers, run_number(a->keys[i].job,
		    a->keys[i].start));
		a->keys[i] = a->keys[--a->n];
	}
}

void
asks_shown(struct asks *a, uint64_t job, int64_t start)
{
	uint32_t *cycle = a->n > 0 ? idmap_get(&a->numbers, run_number(job,
	    start)) : NULL;

	if (cycle != NULL)
		*cycle = cycle_number(a->c->cycle);
}

/* Did squeue show it in this cycle? */
static int
is_shown(const struct asks *a, const struct ask_key *key)
{
	struct open_run *run = open_find(&a->c->open, key->job, key->start);
	uint32_t *cycle = idmap_get(&a->numbers, run_number(key->job,
	    key->start));

	return (run != NULL && !(run->flags & OPEN_LEFT)) || (cycle != NULL &&
	    *cycle == cycle_number(a->c->cycle));
}

void
asks_listed(struct asks *a, int witnessed)
{
	struct ask_key *key;
	size_t i;

	/* Those of the cycle before have had their details by now. */
	keys_drop(a, ASK_LIVE);
	for (i = 0; i < a->n; i++) {
		key = &a->keys[i];
		if (key->state == ASK_ACCOUNTING)
			continue;
		if (is_shown(a, key)) {
			key->state = ASK_LIVE;
			continue;
		}
		/* Without accounting slurmctld may know its end. */
		if (!a->c->slurm.accounting) {
			key->state = ASK_LIVE;
			cycle_want_job(a->c->cycle, key->job);
			continue;
		}
		key->state = ASK_ACCOUNTING;
		key->matched = 0;
		key->witnessed = witnessed;
		ledger_want(a->c->ledger, key->job);
	}
}

void
asks_detailed(struct asks *a)
{
	keys_drop(a, ASK_LIVE);
}

void
asks_row(struct asks *a, struct sighting *s)
{
	struct job *job = &s->job;
	struct ask_key *key;
	size_t i;

	for (i = 0; i < a->n; i++) {
		key = &a->keys[i];
		if (key->job != job->key.job || key->state != ASK_ACCOUNTING)
			continue;
		if (key->start == job->key.start)
			key->matched = 1;
		else if (job->submit != 0 && job->submit <= key->start &&
		    key->start < job->key.start && s->state->phase ==
		    PHASE_ENDED) {
			/* The node had to be powered up first: its start moved. */
			key->matched = 1;
			job->key.start = key->start;
		}
	}
}

/* One message for all runs of one question. */
static void
deny(struct asks *a, uint64_t ask)
{
	struct run_key *keys = calloc(a->n, sizeof(*keys));
	size_t i;
	uint32_t n = 0;

	if (keys == NULL)
		return;
	for (i = 0; i < a->n; i++) {
		if (a->keys[i].state != ASK_UNKNOWN || a->keys[i].ask != ask)
			continue;
		keys[n].job = a->keys[i].job;
		keys[n].start = a->keys[i].start;
		memcpy(keys[n].cluster, a->c->slurm.cluster, CLUSTER_MAX);
		n++;
	}
	out_denied(a->c->out, a->c, ask, keys, n);
	free(keys);
}

static void
on_right(struct collector *c, int proved)
{
	struct asks *a = c->asks;
	size_t i;
	uint64_t ask;

	a->proving = 0;
	for (i = 0; proved && i < a->n;) {
		if (a->keys[i].state != ASK_UNKNOWN) {
			i++;
			continue;
		}
		ask = a->keys[i].ask;
		deny(a, ask);
		for (i = 0; i < a->n; i++)
			if (a->keys[i].ask == ask &&
			    a->keys[i].state == ASK_UNKNOWN)
				a->keys[i].state = ASK_LIVE;
		i = 0;
	}
	/* Without the proof nothing is said; they will ask again. */
	keys_drop(a, ASK_UNKNOWN);
	keys_drop(a, ASK_LIVE);
}

/* Neither knows it; does that mean anything? */
static enum ask_state
key_unmatched(struct asks *a, const struct ask_key *key, int witnessed)
{
	unsigned held;

	if (key->witnessed && witnessed)
		return ASK_UNKNOWN;
	if (log_allowed(&a->untrusted, &held))
		log_notice("job %llu (start %lld) is unknown to Slurm, but the "
		    "answer of %s lacks its witness: it does not count (%u "
		    "more such since the last line)",
		    (unsigned long long)key->job, (long long)key->start,
		    key->witnessed ? "accounting" : "squeue", held);
	return ASK_LIVE;
}

void
asks_accounted(struct asks *a, uint64_t job, int witnessed)
{
	struct ask_key *key;
	size_t i;
	int unknown = 0, more = 0;

	for (i = 0; i < a->n; i++) {
		key = &a->keys[i];
		if (key->state == ASK_ACCOUNTING && key->job == job)
			key->state = key->matched ? ASK_LIVE :
			    key_unmatched(a, key, witnessed);
		unknown |= key->state == ASK_UNKNOWN;
		more |= key->state == ASK_ACCOUNTING;
	}
	if (!unknown || more || a->proving)
		return;
	if (right_sure(a->c)) {
		on_right(a->c, 1);
		return;
	}
	a->proving = 1;
	right_prove(a->c, on_right);
}
