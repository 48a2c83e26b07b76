/* SPDX-License-Identifier: MIT */
/*
 * Hooks that were called for jobs whose run is not known yet, and the time of
 * the last hook at the start of each job.  The table has a fixed size: an old
 * entry is replaced.
 */
#ifndef SUBMITTER_HISTORY_HOOKS_H
#define SUBMITTER_HISTORY_HOOKS_H

#include <stdint.h>

#define HOOK_SETS 1024 /* a power of two */
#define HOOK_WAYS 4

struct hook_entry {
	uint64_t cluster; /* hash of its name */
	uint64_t job;	  /* 0 = free */
	int64_t ms;	  /* epoch */
	int64_t start;	  /* of the run that has got it; 0 = none yet */
	uint8_t kind;	  /* enum event_kind */
	uint8_t counted;  /* the latency of its run is counted */
};

struct hook_table {
	struct hook_entry sets[HOOK_SETS][HOOK_WAYS];
};

void hook_put(struct hook_table *t, uint64_t cluster, uint64_t job,
    unsigned kind, int64_t ms);
/*
 * The oldest hook of the job that no run has got and that fits: at_start: hooks
 * at the start or of unknown kind, else all but those at the start.  NULL =
 * none.
 */
struct hook_entry *hook_find(struct hook_table *t, uint64_t cluster,
    uint64_t job, int at_start);
/* The hook at the start of this run; NULL = none. */
struct hook_entry *hook_of_run(struct hook_table *t, uint64_t cluster,
    uint64_t job, int64_t start);
/*
 * Each hook of the job that no run has got; cluster 0 = all; *at is 0 at first.
 */
struct hook_entry *hook_next(struct hook_table *t, uint64_t cluster,
    uint64_t job, unsigned *at);

#endif
