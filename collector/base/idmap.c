/* SPDX-License-Identifier: MIT */
/* An open-addressed table of numbers; see tables.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/base/tables.h"

#define FIRST_CAP	64

/* Job ids are consecutive: spread them. */
static size_t
slot_of(const struct idmap *m, uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 20) & (m->cap - 1);
}

void
idmap_clear(struct idmap *m)
{
	free(m->keys);
	free(m->values);
	memset(m, 0, sizeof(*m));
}

static int
grow(struct idmap *m)
{
	struct idmap next = { .cap = m->cap != 0 ? m->cap * 2 : FIRST_CAP };
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
		for (k = slot_of(&next, m->keys[i]); next.keys[k] != 0;
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
	if (m->n * 4 >= m->cap * 3 && grow(m) == -1)
		return NULL;
	for (k = slot_of(m, key); m->keys[k] != 0; k = (k + 1) & (m->cap - 1))
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
	for (k = slot_of(m, key); m->keys[k] != 0; k = (k + 1) & (m->cap - 1))
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
	 * Later entries of the cluster of slots move up, but not before their
	 * home.
	 */
	for (k = (hole + 1) & (m->cap - 1); m->keys[k] != 0;
	    k = (k + 1) & (m->cap - 1)) {
		home = slot_of(m, m->keys[k]);
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
