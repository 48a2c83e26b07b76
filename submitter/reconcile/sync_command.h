/* SPDX-License-Identifier: MIT */
/*
 * `cc-slurm-adapterctl sync`: a round on request, confined to some jobs, one
 * direction and a number of runs, with a row for each run that it touches.
 */
#ifndef SUBMITTER_RECONCILE_SYNC_COMMAND_H
#define SUBMITTER_RECONCILE_SYNC_COMMAND_H

#include "common/ctl.h"
#include "common/job.h"

struct submitter;
struct sync;

enum sync_way {
	SYNC_START,
	SYNC_STOP
};

struct sync *sync_new(struct submitter *s);
void sync_free(struct sync *y);
/* Begins a round, or ends the request with the reason why not. */
void sync_begin(struct sync *y, uint64_t request,
    const struct ctl_request *req);

/* What the comparison asks while it goes on; see resync.c. */

/* Is this run, in this direction, among what was asked for? */
int sync_wants(const struct sync *y, const struct run_key *key,
    enum sync_way way);
/* The same, and within --limit: 1 = touch it.  Beyond it the run is told as left alone. */
int sync_takes(struct sync *y, const struct run_key *key, enum sync_way way,
    const char *difference);
/* One row of the report. */
void sync_tell(struct sync *y, const struct run_key *key,
    const char *difference, const char *action);
/* Slurm is asked for this run: told when the answer is there.  difference is constant. */
void sync_asks(struct sync *y, const struct run_key *key, enum sync_way way,
    const char *difference);
/* The comparison is over; text is for the admin. */
void sync_compared(struct sync *y, int failed, const char *text);

#endif
