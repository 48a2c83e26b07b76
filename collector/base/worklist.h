/* SPDX-License-Identifier: MIT */
/*
 * The queries to make for one cluster.  Every part of the collector adds to
 * the work list.  The lane that owns a list takes from the list when the
 * scheduler runs the lane.
 */
#ifndef COLLECTOR_BASE_WORKLIST_H
#define COLLECTOR_BASE_WORKLIST_H

#include <stddef.h>
#include <stdint.h>

#include "collector/base/tables.h"
#include "common/model/job.h"

struct cluster;

#define CONFIRM_JOBS_MAX 500  /* the poll confirms further jobs */
#define SCRIPTS_MAX	 4096 /* further runs are sent without a script */

struct script_request {
	struct script_request *next;
	struct run_key key;
	uint64_t job;	/* whose script runs */
	uint64_t group; /* array or heterogeneous job; 0 = none */
	int64_t submit; /* epoch; 0 = unknown */
	unsigned tries; /* commands that failed */
	int64_t due;	/* monotonic ms of the next try */
};

struct worklist {
	struct idmap details;	 /* poll: jobs with a new run; its start or 0 */
	struct idmap left;	 /* poll: accounting has no end of them */
	struct idmap accounting; /* jobs to query sacct for, by id */
	struct idmap steps;	 /* jobs with a row that waits for its steps */
	struct idmap confirm;	 /* jobs whose start is not confirmed */
	int64_t confirm_at;	 /* monotonic ms: last addition */
	int64_t confirmed_at;	 /* monotonic ms: last confirmed start */
	struct script_request *scripts; /* owned, oldest first */
	struct script_request **scripts_tail;
	unsigned n_scripts;
	int more_runs;	/* not all new runs had room: poll again at once */
	int permission; /* a lookup waits for a check */
	int rows_wait;	/* rows of accounting wait for details */
	int restarted;	/* slurmctld was restarted: its nodes may be others */
	int read_day;	/* read the last day: the spool is new */
};

void worklist_init(struct worklist *work);
/* Adds the job when it has a run whose start is not confirmed. */
void worklist_confirm(struct cluster *c, uint64_t job);
/* Takes ownership of req. */
void worklist_script(struct worklist *work, struct script_request *req);

#endif
