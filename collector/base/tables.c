/* SPDX-License-Identifier: MIT */
/*
 * Tables of runs; see tables.h.  All tables use open addressing.  Open runs
 * are hashed by job id.  A job that has two runs at once has two slots: the
 * job was requeued, and the end of the first run is not known.
 */
#include "config.h"

#include <sys/random.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/base/tables.h"

/* --- maps of numbers --- */

#define FIRST_CAP 64

/* Job ids are consecutive; this spreads them over the table. */
static size_t
idmap_slot(const struct idmap *m, uint64_t key)
{
	uint64_t factor = m->factor != 0 ? m->factor : 0x9e3779b97f4a7c15ULL;

	return (size_t)((key * factor) >> 20) & (m->cap - 1);
}

void
idmap_random(struct idmap *m)
{
	struct timespec ts;

	/* getrandom() fails only before the kernel's generator is ready. */
	if (getrandom(&m->factor, sizeof(m->factor), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(m->factor)) {
		clock_gettime(CLOCK_REALTIME, &ts);
		m->factor = 0x9e3779b97f4a7c15ULL * (uint64_t)ts.tv_nsec;
	}
	m->factor |= 1;
}

void
idmap_clear(struct idmap *m)
{
	free(m->keys);
	free(m->values);
	memset(m, 0, sizeof(*m));
}

static int
idmap_grow(struct idmap *m)
{
	struct idmap next = { .cap = m->cap != 0 ? m->cap * 2 : FIRST_CAP,
		.factor = m->factor };
	size_t i, k;

	next.keys = calloc(next.cap, sizeof(*next.keys));
	next.values = calloc(next.cap, sizeof(*next.values));
	if (next.keys == NULL || next.values == NULL) {
		idmap_clear(&next);
		return -1;
	}
	for (i = 0; i < m->cap; i++) {
		if (m->keys[i] == 0)
			continue;
		for (k = idmap_slot(&next, m->keys[i]); next.keys[k] != 0;
		     k = (k + 1) & (next.cap - 1))
			continue;
		next.keys[k] = m->keys[i];
		next.values[k] = m->values[i];
	}
	next.n = m->n;
	idmap_clear(m);
	*m = next;
	return 0;
}

uint32_t *
idmap_put(struct idmap *m, uint64_t key, int *added)
{
	size_t k;

	if (added != NULL)
		*added = 0;
	if (key == 0)
		return NULL;
	/* The table grows when it is three quarters full. */
	if (m->n * 4 >= m->cap * 3 && idmap_grow(m) == -1)
		return NULL;
	for (k = idmap_slot(m, key); m->keys[k] != 0;
	     k = (k + 1) & (m->cap - 1))
		if (m->keys[k] == key)
			return &m->values[k];
	m->keys[k] = key;
	m->values[k] = 0;
	m->n++;
	if (added != NULL)
		*added = 1;
	return &m->values[k];
}

uint32_t *
idmap_get(const struct idmap *m, uint64_t key)
{
	size_t k;

	if (m->cap == 0 || key == 0)
		return NULL;
	for (k = idmap_slot(m, key); m->keys[k] != 0;
	     k = (k + 1) & (m->cap - 1))
		if (m->keys[k] == key)
			return &m->values[k];
	return NULL;
}

void
idmap_remove(struct idmap *m, uint64_t key)
{
	uint32_t *value = idmap_get(m, key);
	size_t hole, k, home;

	if (value == NULL)
		return;
	hole = (size_t)(value - m->values);
	m->n--;
	/*
	 * Later entries of the same sequence of used slots move up, but never
	 * before their home slot.
	 */
	for (k = (hole + 1) & (m->cap - 1); m->keys[k] != 0;
	     k = (k + 1) & (m->cap - 1)) {
		home = idmap_slot(m, m->keys[k]);
		if (((k - home) & (m->cap - 1)) < ((k - hole) & (m->cap - 1)))
			continue;
		m->keys[hole] = m->keys[k];
		m->values[hole] = m->values[k];
		hole = k;
	}
	m->keys[hole] = 0;
}

uint64_t
idmap_next(const struct idmap *m, size_t *at, uint32_t *value)
{
	uint64_t key;

	for (; *at < m->cap; (*at)++) {
		key = m->keys[*at];
		if (key == 0)
			continue;
		if (value != NULL)
			*value = m->values[*at];
		(*at)++;
		return key;
	}
	return 0;
}

uint64_t
run_number(uint64_t job, int64_t start)
{
	if (job == 0 || job > UINT32_MAX || start <= 0 || start > UINT32_MAX)
		return 0;
	return job << 32 | (uint64_t)start;
}

/* --- open runs --- */

static size_t
open_slot(const struct open_runs *o, uint64_t job)
{
	return (size_t)((job * 0x9e3779b97f4a7c15ULL) >> 20) & (o->cap - 1);
}

static struct open_run *
open_free_slot(struct open_runs *o, uint64_t job)
{
	size_t k;

	for (k = open_slot(o, job); o->slots[k].job != 0;
	     k = (k + 1) & (o->cap - 1))
		continue;
	return &o->slots[k];
}

static int
open_grow(struct open_runs *o)
{
	struct open_runs next = { .cap = o->cap != 0 ? o->cap * 2 : FIRST_CAP };
	size_t i;

	next.slots = calloc(next.cap, sizeof(*next.slots));
	if (next.slots == NULL)
		return -1;
	for (i = 0; i < o->cap; i++)
		if (o->slots[i].job != 0)
			*open_free_slot(&next, o->slots[i].job) = o->slots[i];
	next.n = o->n;
	free(o->slots);
	*o = next;
	return 0;
}

struct open_run *
open_put(struct open_runs *o, uint64_t job, int64_t start)
{
	struct open_run *run = open_find(o, job, start);

	if (run != NULL)
		return run;
	if (o->n * 4 >= o->cap * 3 && open_grow(o) == -1)
		return NULL;
	run = open_free_slot(o, job);
	memset(run, 0, sizeof(*run));
	run->job = job;
	run->start = start;
	run->start_now = (uint32_t)start;
	o->n++;
	return run;
}

struct open_run *
open_of_job(struct open_runs *o, uint64_t job, size_t *at)
{
	struct open_run *run;
	size_t k;

	/* *at is the distance from the home slot, plus one. */
	if (o->cap == 0)
		return NULL;
	for (k = *at; k < o->cap; k++) {
		run = &o->slots[(open_slot(o, job) + k) & (o->cap - 1)];
		if (run->job == 0)
			return NULL;
		if (run->job == job) {
			*at = k + 1;
			return run;
		}
	}
	return NULL;
}

struct open_run *
open_find(struct open_runs *o, uint64_t job, int64_t start)
{
	struct open_run *run;
	size_t at = 0;

	while ((run = open_of_job(o, job, &at)) != NULL)
		if (run->start == start || (int64_t)run->start_now == start)
			return run;
	return NULL;
}

struct open_run *
open_match(struct open_runs *o, uint64_t job, int64_t start, int64_t submit,
    uint32_t restarts)
{
	struct open_run *run = open_find(o, job, start);
	size_t at = 0;

	if (run != NULL)
		return run;
	while ((run = open_of_job(o, job, &at)) != NULL) {
		/*
		 * The start is before the submission when the clock was set
		 * back.
		 */
		if (run->start >= start && start >= submit)
			continue;
		if (run->submit != 0 ?
			(int64_t)run->submit == submit :
			restarts == 0 && submit != 0 && submit <= run->start)
			return run;
	}
	return NULL;
}

struct open_run *
open_next(struct open_runs *o, size_t *at)
{
	while (*at < o->cap)
		if (o->slots[(*at)++].job != 0)
			return &o->slots[*at - 1];
	return NULL;
}

void
open_remove(struct open_runs *o, struct open_run *run)
{
	size_t hole = (size_t)(run - o->slots), k, home;

	o->n--;
	for (k = (hole + 1) & (o->cap - 1); o->slots[k].job != 0;
	     k = (k + 1) & (o->cap - 1)) {
		home = open_slot(o, o->slots[k].job);
		if (((k - home) & (o->cap - 1)) < ((k - hole) & (o->cap - 1)))
			continue;
		o->slots[hole] = o->slots[k];
		hole = k;
	}
	memset(&o->slots[hole], 0, sizeof(o->slots[hole]));
}

/* --- runs whose end was sent --- */

void
done_clear(struct done_runs *d)
{
	idmap_clear(&d->now);
	idmap_clear(&d->before);
}

#define DONE_RAN	 0
#define DONE_FALSE_START 1

static void
done_add(struct done_runs *d, uint64_t job, int64_t start, uint32_t how)
{
	uint32_t *value;

	if (d->now.n >= DONE_GENERATION) {
		idmap_clear(&d->before);
		d->before = d->now;
		d->now = (struct idmap) { 0 };
	}
	/* When out of memory the run is not added, and may be sent twice. */
	value = idmap_put(&d->now, run_number(job, start), NULL);
	if (value != NULL)
		*value = how;
}

void
done_put(struct done_runs *d, uint64_t job, int64_t start)
{
	done_add(d, job, start, DONE_RAN);
}

void
done_put_false_start(struct done_runs *d, uint64_t job, int64_t start)
{
	done_add(d, job, start, DONE_FALSE_START);
}

/* The newer of two entries; NULL when the run is not done. */
static const uint32_t *
done_get(const struct done_runs *d, uint64_t job, int64_t start)
{
	uint64_t number = run_number(job, start);
	const uint32_t *value = idmap_get(&d->now, number);

	return value != NULL ? value : idmap_get(&d->before, number);
}

int
done_has(const struct done_runs *d, uint64_t job, int64_t start)
{
	return done_get(d, job, start) != NULL;
}

int
done_ran(const struct done_runs *d, uint64_t job, int64_t start)
{
	const uint32_t *value = done_get(d, job, start);

	return value != NULL && *value == DONE_RAN;
}
