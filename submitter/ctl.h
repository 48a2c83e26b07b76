/* SPDX-License-Identifier: MIT */
/* Commands of the admin tool. */
#ifndef SUBMITTER_CTL_H
#define SUBMITTER_CTL_H

#include <stdint.h>

#include "common/model/ctl.h"
#include "submitter/spool/spool.h"

struct submitter;
struct summary;
struct worker;

/* Handles one request. The worker returns its rows and its end. */
void ctl_on_request(struct worker *w, uint64_t request,
    const struct ctl_request *req);
/*
 * Retries the rejected runs, except quarantined ones and those that Slurm never
 * showed as running.  Commits, and logs their number; a run that both
 * destinations rejected counts twice.
 */
void ctl_retry_all(struct submitter *s);
/* The rows of `metrics`, and the end of the reply. */
void metrics_send(struct submitter *s, uint64_t request);
/* The rows of `gpus`; ends the request. */
void ctl_gpus(struct submitter *s, uint64_t request);
/* One step of `spool check`, `spool export` or `spool import`. */
void ctl_spool_step(struct submitter *s, uint64_t request,
    const struct ctl_request *req);

/*
 * summary.c: the runs in one of n states.  A run may wait for both
 * destinations: returns the larger number of the two, because the sum counts
 * such a run twice.
 */
uint64_t states_count(const struct submitter *s, const enum run_state *states,
    size_t n);
/* A callback of struct worker_ops. */
void submitter_summary(struct worker *w, struct summary *to);

#endif
