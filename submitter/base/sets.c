/* SPDX-License-Identifier: MIT */
/*
 * A set needs 8 bytes per id: there may be hundreds of thousands of ids. A
 * value that is added twice counts once. See sets.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "submitter/base/sets.h"

void
idset_clear(struct idset *set)
{
	free(set->ids);
	memset(set, 0, sizeof(*set));
}

void
idset_add(struct idset *set, int64_t id)
{
	int64_t *p = array_reserve(set->ids, &set->cap, set->n + 1, sizeof(*p));

	if (p == NULL) {
		set->lacking = 1;
		return;
	}
	set->ids = p;
	set->ids[set->n++] = id;
	set->sorted = 0;
}

static int
id_cmp(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int
idset_has(struct idset *set, int64_t id)
{
	if (set->n == 0)
		return 0;
	if (!set->sorted)
		qsort(set->ids, set->n, sizeof(*set->ids), id_cmp);
	set->sorted = 1;
	return bsearch(&id, set->ids, set->n, sizeof(*set->ids), id_cmp) !=
	    NULL;
}

void
keyset_clear(struct keyset *set)
{
	free(set->keys);
	memset(set, 0, sizeof(*set));
}

void
keyset_add(struct keyset *set, const struct run_key *key, size_t max)
{
	struct run_key *p;

	if (set->n >= max)
		return;
	p = array_reserve(set->keys, &set->cap, set->n + 1, sizeof(*p));
	if (p == NULL)
		return;
	set->keys = p;
	set->keys[set->n++] = *key;
	set->sorted = 0;
}

static int
key_cmp(const void *a, const void *b)
{
	const struct run_key *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

int
keyset_has(struct keyset *set, const struct run_key *key)
{
	if (set->n == 0)
		return 0;
	if (!set->sorted)
		qsort(set->keys, set->n, sizeof(*set->keys), key_cmp);
	set->sorted = 1;
	return bsearch(key, set->keys, set->n, sizeof(*set->keys), key_cmp) !=
	    NULL;
}
