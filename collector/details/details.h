/* SPDX-License-Identifier: MIT */
/*
 * Resources of runs, from slurmctld: `scontrol show job` about all jobs in one
 * query, or about a few jobs in one query each.
 */
#ifndef COLLECTOR_DETAILS_DETAILS_H
#define COLLECTOR_DETAILS_DETAILS_H

#include "collector/base/cluster.h"
#include "collector/parse/parse.h"

struct details;

#define NEW_JOBS_MAX 32768

enum detail {
	DETAIL_UNSEEN,
	DETAIL_GOOD,
	DETAIL_AMBIGUOUS,
	DETAIL_LATER,
	DETAIL_UNKNOWN
};

/*
 * done() is called when the answers have gone through track_snapshot(); ok:
 * they were complete, and details_verdict() has the result of each job.
 */
struct details *details_new(struct cluster *c,
    void (*done)(struct details *d, int ok, void *arg), void *arg);
int details_busy(const struct details *d);
/* Adds a job to the next query; 0, or -1 when out of memory. */
int details_want(struct details *d, uint64_t job);
/* The same for the run that squeue shows, which began at start. */
int details_want_run(struct details *d, uint64_t job, uint32_t start);
size_t details_wanted(const struct details *d);
/*
 * 1 when slurmctld has many jobs and d has queried all of them not long ago: a
 * query for all has to wait.  In a burst it waits for a shorter time, because
 * single queries for the jobs of a burst cost more.  begin: monotonic ms, when
 * the caller's present work began.
 */
int details_all_waits(const struct details *d, int burst, int64_t begin);
/*
 * Queries all jobs at once, or each singly.  begin: the same.  The time between
 * two queries for all jobs counts from begin to begin.
 */
void details_start(struct details *d, int all, int64_t begin);
enum detail details_verdict(const struct details *d, uint64_t job);
/* The phase of a job with DETAIL_GOOD. */
enum slurm_phase details_phase(const struct details *d, uint64_t job);
/* Order number of its record; 0 = none. */
uint64_t details_order(const struct details *d, uint64_t job);
/*
 * 1 when a job that may have ended unseen was not read: the answer was too long, or
 * the job waits for the shape of a host.
 */
int details_skipped(const struct details *d);
void details_forget(struct details *d);
/* The submitter has room again. */
void details_resume(struct details *d);

#endif
