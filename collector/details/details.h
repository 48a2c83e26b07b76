/* SPDX-License-Identifier: MIT */
/*
 * Resources of runs, from slurmctld: `scontrol show job` about all jobs in one
 * question or about a few singly.
 */
#ifndef COLLECTOR_DETAILS_DETAILS_H
#define COLLECTOR_DETAILS_DETAILS_H

#include "collector/base/cluster.h"
#include "collector/parse/parse.h"

struct details;

#define NEW_JOBS_MAX	32768

enum detail { DETAIL_UNSEEN, DETAIL_GOOD, DETAIL_AMBIGUOUS, DETAIL_LATER,
	DETAIL_UNKNOWN };

/*
 * done: what slurmctld showed has gone through track_snapshot(); when ok, the
 * question was answered, and details_verdict() tells by job.
 */
struct details *details_new(struct cluster *c,
    void (*done)(struct details *d, int ok, void *arg), void *arg);
int details_busy(const struct details *d);
/* The jobs of the next question; 0, or -1 on memory. */
int details_want(struct details *d, uint64_t job);
size_t details_wanted(const struct details *d);
/* Asks: all jobs in one question, or each singly. */
void details_start(struct details *d, int all);
enum detail details_verdict(const struct details *d, uint64_t job);
/* The phase that a job with DETAIL_GOOD was seen in. */
enum slurm_phase details_phase(const struct details *d, uint64_t job);
/* Order number of the record that was made of it; 0 = none. */
uint64_t details_order(const struct details *d, uint64_t job);
void details_forget(struct details *d);
/* The submitter has room again. */
void details_resume(struct details *d);

#endif
