/* SPDX-License-Identifier: MIT */
/* The table of hooks; see hooks.h. */
#include "config.h"

#include <stddef.h>

#include "common/model/msg.h"
#include "submitter/history/hooks.h"

static struct hook_entry *
hook_set(struct hook_table *t, uint64_t job)
{
	return t->sets[(job * 0x9e3779b97f4a7c15u >> 40) & (HOOK_SETS - 1)];
}

void
hook_put(struct hook_table *t, uint64_t cluster, uint64_t job, unsigned kind,
    int64_t ms)
{
	struct hook_entry *set = hook_set(t, job), *oldest = set;
	unsigned i;

	for (i = 0; i < HOOK_WAYS; i++) {
		/* The listener repeats an event to a new collector. */
		if (set[i].job == job && set[i].cluster == cluster &&
		    set[i].kind == kind && set[i].ms / 1000 == ms / 1000)
			return;
		if (oldest->job != 0 &&
		    (set[i].job == 0 || set[i].ms < oldest->ms))
			oldest = &set[i];
	}
	*oldest = (struct hook_entry) { .cluster = cluster,
		.job = job,
		.ms = ms,
		.kind = (uint8_t)kind };
}

static int
kind_fits(unsigned kind, int at_start)
{
	return at_start ? kind != EVENT_END : kind != EVENT_START;
}

struct hook_entry *
hook_find(struct hook_table *t, uint64_t cluster, uint64_t job, int at_start)
{
	struct hook_entry *set = hook_set(t, job), *found = NULL;
	unsigned i;

	for (i = 0; i < HOOK_WAYS; i++)
		if (set[i].job == job && set[i].cluster == cluster &&
		    set[i].start == 0 && kind_fits(set[i].kind, at_start) &&
		    (found == NULL || set[i].ms < found->ms))
			found = &set[i];
	return found;
}

struct hook_entry *
hook_of_run(struct hook_table *t, uint64_t cluster, uint64_t job, int64_t start)
{
	struct hook_entry *set = hook_set(t, job);
	unsigned i;

	for (i = 0; i < HOOK_WAYS; i++)
		if (set[i].job == job && set[i].cluster == cluster &&
		    set[i].kind == EVENT_START && set[i].start == start)
			return &set[i];
	return NULL;
}

struct hook_entry *
hook_next(struct hook_table *t, uint64_t cluster, uint64_t job, unsigned *at)
{
	struct hook_entry *set = hook_set(t, job);

	for (; *at < HOOK_WAYS; ++*at)
		if (set[*at].job == job && set[*at].start == 0 &&
		    (cluster == 0 || set[*at].cluster == cluster))
			return &set[(*at)++];
	return NULL;
}
