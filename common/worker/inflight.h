/* SPDX-License-Identifier: MIT */
/*
 * A page that a worker and the supervisor share: the worker chalks up the run
 * it is about to handle and wipes it afterwards.  When it dies, the
 * supervisor reads which run it died on; what died twice is set aside.
 */
#ifndef COMMON_WORKER_INFLIGHT_H
#define COMMON_WORKER_INFLIGHT_H

#include "common/job.h"

struct inflight;

/* Supervisor: makes the page; *fd (owned by the caller) goes to the worker. NULL with errno. */
struct inflight *inflight_new(int *fd);
/* Worker: maps what it was given; closes fd.  NULL with errno. */
struct inflight *inflight_map(int fd);
void inflight_free(struct inflight *inflight);
/* NULL slate is fine in both: nothing happens. */
void inflight_set(struct inflight *inflight, const struct run_key *key);
void inflight_clear(struct inflight *inflight);
/* Supervisor: 1 and the key when a run was chalked up, else 0.  The bytes are not trusted. */
int inflight_read(const struct inflight *inflight, struct run_key *key);

#endif
