/* SPDX-License-Identifier: MIT */
/*
 * Makes one table from cc-backend's lists of sockets and cores.  The lists are
 * not trusted: sizes are bounded and ids are checked.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "submitter/payload/thread_table.h"
#include "submitter/payload/topology.h"

/* A thread, for sorting. */
struct thread {
	uint32_t id;
	uint32_t core;	/* lowest id of its core */
	uint32_t group; /* lowest id of its socket */
};

#define NONE UINT32_MAX

/* Item i of the list if it is an id below THREADS_MAX, else NONE. */
static uint32_t
id_at(const json_t *list, size_t i)
{
	const json_t *v = json_array_get(list, i);
	json_int_t n = json_is_integer(v) ? json_integer_value(v) : -1;

	return n >= 0 && n < THREADS_MAX ? (uint32_t)n : NONE;
}

/* The lowest id of a list; NONE when the list is empty or not valid. */
static uint32_t
lowest(const json_t *list)
{
	uint32_t low = NONE, id;
	size_t i, n = json_array_size(list);

	for (i = 0; i < n; i++) {
		id = id_at(list, i);
		if (id == NONE)
			return NONE;
		if (id < low)
			low = id;
	}
	return low;
}

/* Sets owner[id] to the lowest id of the list with this id.  0, or -1. */
static int
owners(const json_t *lists, uint32_t *owner, uint32_t *count)
{
	size_t i, k, n = json_array_size(lists);
	uint32_t low, id;

	for (i = 0; i < THREADS_MAX; i++)
		owner[i] = NONE;
	*count = 0;
	for (i = 0; i < n; i++) {
		const json_t *list = json_array_get(lists, i);

		low = lowest(list);
		if (low == NONE)
			return -1;
		for (k = 0; k < json_array_size(list); k++) {
			id = id_at(list, k);
			if (owner[id] != NONE)
				return -1;
			owner[id] = low;
			++*count;
		}
	}
	return n != 0 ? 0 : -1;
}

static int
thread_order(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* 1 when all sockets and all cores have equal sizes. */
static int
is_regular(const struct thread_shape *s, const struct thread *t)
{
	uint32_t i;

	for (i = 1; i < s->n; i++) {
		int new_core = i % s->threads == 0;
		int new_group = i % (s->cores * s->threads) == 0;

		if ((t[i].core != t[i - 1].core) != new_core ||
		    (t[i].group != t[i - 1].group) != new_group)
			return 0;
	}
	return 1;
}

/* The shape of sorted threads, with ids when all sizes are equal. */
static void
shape_make(struct thread_shape *s, const struct thread *t, uint32_t n,
    uint32_t groups, uint32_t cores)
{
	uint32_t i;

	if (groups == 0 || cores % groups != 0 || n % cores != 0)
		return;
	s->sockets = groups;
	s->cores = cores / groups;
	s->threads = n / cores;
	s->n = n;
	if (!is_regular(s, t))
		return;
	s->ids = calloc(n, sizeof(*s->ids));
	for (i = 0; s->ids != NULL && i < n; i++)
		s->ids[i] = t[i].id;
}

void
shape_read(struct thread_shape *s, const json_t *groups, const json_t *cores)
{
	uint32_t *group = calloc(THREADS_MAX, sizeof(*group));
	uint32_t *core = calloc(THREADS_MAX, sizeof(*core));
	uint32_t id, n = 0, in_groups, in_cores;
	struct thread *t = NULL;

	memset(s, 0, sizeof(*s));
	if (group == NULL || core == NULL ||
	    owners(groups, group, &in_groups) == -1 ||
	    owners(cores, core, &in_cores) == -1 || in_groups != in_cores)
		goto done;
	t = calloc(in_cores, sizeof(*t));
	if (t == NULL)
		goto done;
	for (id = 0; id < THREADS_MAX; id++) {
		if (core[id] == NONE)
			continue;
		if (group[id] == NONE || group[core[id]] != group[id])
			goto done;
		t[n].id = id;
		t[n].core = core[id];
		t[n++].group = group[id];
	}
	qsort(t, n, sizeof(*t), thread_order);
	shape_make(s, t, n, (uint32_t)json_array_size(groups),
	    (uint32_t)json_array_size(cores));
done:
	free(group);
	free(core);
	free(t);
}

void
shape_clear(struct thread_shape *s)
{
	free(s->ids);
	memset(s, 0, sizeof(*s));
}

int
shape_fits(const struct thread_shape *s, const struct job_host *host)
{
	return s->ids != NULL && host->sockets == s->sockets &&
	    host->cores == s->cores && host->threads == s->threads;
}
