/* SPDX-License-Identifier: MIT */
/*
 * The reduction of a seed: fewer jobs, fewer kinds of faults.  A kind that is
 * removed leaves the random numbers of the others as they are.
 */
#ifndef TESTS_SIMULATE_REDUCE_H
#define TESTS_SIMULATE_REDUCE_H

#define REDUCE_KINDS 64
#define REDUCE_NAME  32

struct reduction {
	unsigned jobs; /* most submissions */
	unsigned n;
	char without[REDUCE_KINDS][REDUCE_NAME];
};

/* Before the processes of seeds: what they note is shared with the parent. */
void reduce_prepare(void);
/* Copied; for the processes that begin from now on. */
void reduce_use(const struct reduction *r);
/* The seed has this kind of fault: 1, or 0 when it is removed.  Notes it. */
int reduce_allows(const char *kind);
/* A submission: 1, or 0 when there were enough.  Counts it. */
int reduce_job(void);

/* --- of the parent: what the last process noted --- */

void reduce_forget(void);
/* The name of a kind that the seed has; NULL = there is no more. */
const char *reduce_kind(unsigned i);
unsigned reduce_jobs(void);

#endif
