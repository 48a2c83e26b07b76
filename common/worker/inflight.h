/* SPDX-License-Identifier: MIT */
/*
 * A page that a worker and the supervisor share: the worker chalks up the run
 * it is about to handle and wipes it afterwards.  When it dies, the
 * supervisor reads which run it died on; what died twice is set aside.
 */
#ifndef COMMON_WORKER_INFLIGHT_H
#define COMMON_WORKER_INFLIGHT_H

#include "common/job.h"

struct slate;

/* Supervisor: makes the page; *fd (owned by the caller) goes to the worker. NULL with errno. */
struct slate *slate_new(int *fd);
/* Worker: maps what it was given; closes fd.  NULL with errno. */
struct slate *slate_map(int fd);
void slate_free(struct slate *slate);
/* NULL slate is fine in both: nothing happens. */
void slate_write(struct slate *slate, const struct run_key *key);
void slate_wipe(struct slate *slate);
/* Supervisor: 1 and the key when a run was chalked up, else 0.  The bytes are not trusted. */
int slate_read(const struct slate *slate, struct run_key *key);

#endif
