/* SPDX-License-Identifier: MIT */
/*
 * Sets of row ids and of runs. First all members are added, then the set is
 * searched.
 */
#ifndef SUBMITTER_BASE_SETS_H
#define SUBMITTER_BASE_SETS_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/job.h"

/* Zero-initialise. */
struct idset {
	int64_t *ids; /* owned */
	size_t n;
	size_t cap;
	int sorted;
	/* an id could not be added: its absence from the set proves nothing */
	int lacking;
};

void idset_clear(struct idset *set);
void idset_add(struct idset *set, int64_t id);
/* 1 or 0. The first call after an addition sorts the set. */
int idset_has(struct idset *set, int64_t id);

/* Runs of one cluster, by job and start.  Zero-initialise. */
struct keyset {
	struct run_key *keys; /* owned */
	size_t n;
	size_t cap;
	int sorted;
};

void keyset_clear(struct keyset *set);
/* A key is ignored when the set has max members or without memory. */
void keyset_add(struct keyset *set, const struct run_key *key, size_t max);
int keyset_has(struct keyset *set, const struct run_key *key);

#endif
