/* SPDX-License-Identifier: MIT */
/*
 * Runs without an end; see tables.h.  Open addressing by job id.  A job that
 * has two runs at once (requeued, the end of the first one is not known) has
 * two slots.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/base/tables.h"

#define FIRST_CAP	64

static size_t
slot_of(const struct open_runs *o, uint64_t job)
{
	return (size_t)((job * 0x9e3779b97f4a7c15ULL) >> 20) & (o->cap - 1);
}

void
open_clear(struct open_runs *o)
{
	free(o->slots);
	memset(o, 0, sizeof(*o));
}

static struct open_run *
free_slot(struct open_runs *o, uint64_t job)
{
	size_t k;

	for (k = slot_of(o, job); o->slots[k].job != 0;
	    k = (k + 1) & (o->cap - 1))
		continue;
	return &o->slots[k];
}

static int
grow(struct open_runs *o)
{
	struct open_runs next = { .cap = o->cap != 0 ? o->cap * 2 : FIRST_CAP };
	size_t i;

	next.slots = calloc(next.cap, sizeof(*next.slots));
	if (next.slots == NULL)
		return -1;
	for (i = 0; i < o->cap; i++)
		if (o->slots[i].job != 0)
			*free_slot(&next, o->slots[i].job) = o->slots[i];
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
	if (o->n * 4 >= o->cap * 3 && grow(o) == -1)
		return NULL;
	run = free_slot(o, job);
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
		run = &o->slots[(slot_of(o, job) + k) & (o->cap - 1)];
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
		 * The start is before the submission: the clock was set back.
		 */
		if (run->start >= start && start >= submit)
			continue;
		if (run->submit != 0 ? (int64_t)run->submit == submit :
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
		home = slot_of(o, o->slots[k].job);
		if (((k - home) & (o->cap - 1)) < ((k - hole) & (o->cap - 1)))
			continue;
		o->slots[hole] = o->slots[k];
		hole = k;
	}
	memset(&o->slots[hole], 0, sizeof(o->slots[hole]));
}
