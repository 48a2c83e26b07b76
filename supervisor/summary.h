/* SPDX-License-Identifier: MIT */
/*
 * The state of the whole suite in one sentence: computed from the summaries of
 * the workers and from what the supervisor knows; shown by `status` and by
 * systemd.
 */
#ifndef SUPERVISOR_SUMMARY_H
#define SUPERVISOR_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/msg.h"
#include "common/model/summary.h"

/* Problems of the supervisor itself: processes, files, runs, configuration. */
#define OWN_PROBLEMS_MAX 8
#define ATTENTION_MAX	 (ROLE__COUNT * SUMMARY_PROBLEMS_MAX + OWN_PROBLEMS_MAX)
#define SENTENCE_MAX	 768 /* bytes with the NUL */

/* A problem and the process that reported it. */
struct attention_item {
	enum role role;
	struct problem problem;
};

/* All that the sentence is made of. */
struct attention {
	int64_t since;	    /* epoch: DEGRADED without a break; 0 = OK */
	unsigned processes; /* that serve, with the supervisor */
	unsigned clusters;  /* at the centre of a fan-in; else 0 */
	uint64_t running;
	uint64_t waiting;
	uint64_t lost;
	int64_t last_job; /* epoch; 0 = none since the start */
	int standby;
	uint32_t more; /* problems that are not listed */
	unsigned n;
	struct attention_item items[ATTENTION_MAX]; /* most important first */
};

/* sentence.c: without state, for a given time */

/*
 * "OK: 5 processes, 1,204 jobs running, nothing waits, last job 3 s ago", at the
 * centre of a fan-in "OK: 3 processes, 200 clusters, ...", or
 * "DEGRADED since 14:02: ...; 812 runs wait, none lost".  now: epoch.
 */
void sentence_write(const struct attention *a, int64_t now, char *buf,
    size_t size);
/* Sorts the problems by importance, then by time. */
void attention_sort(struct attention *a);
/*
 * Sets each time of a problem, and that of the whole state, from the state
 * before: a problem that continues keeps its time.
 */
void attention_continue(struct attention *a, const struct attention *before,
    int64_t now);

#endif
