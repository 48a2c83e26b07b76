/* SPDX-License-Identifier: MIT */
/*
 * `cc-slurm-adapterctl sync`: a comparison on request, limited to some jobs,
 * one direction and a number of runs, with a row for each run that it touches.
 */
#ifndef SUBMITTER_RECONCILE_SYNC_COMMAND_H
#define SUBMITTER_RECONCILE_SYNC_COMMAND_H

#include "common/model/ctl.h"

struct submitter;
struct sync;

struct sync *sync_new(struct submitter *s);
/* Begins a comparison, or ends the request with the reason why not. */
void sync_begin(struct sync *y, uint64_t request,
    const struct ctl_request *req);

#endif
