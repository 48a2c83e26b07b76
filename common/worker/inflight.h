/* SPDX-License-Identifier: MIT */
/*
 * A page that a worker and the supervisor share.  The worker writes the key of
 * a run into the page before it handles a record of the run, and clears the
 * page afterwards.  When the worker crashes, the supervisor reads the key;
 * after two crashes the run is put in quarantine.
 */
#ifndef COMMON_WORKER_INFLIGHT_H
#define COMMON_WORKER_INFLIGHT_H

#include "common/model/job.h"

struct inflight;

/*
 * Supervisor: makes the page; *fd, owned by the caller, is for the worker.
 * NULL with errno.
 */
struct inflight *inflight_new(int *fd);
/* Worker: maps the page; closes fd.  NULL with errno. */
struct inflight *inflight_map(int fd);
void inflight_free(struct inflight *inflight);
/* Both do nothing when inflight is NULL. */
void inflight_set(struct inflight *inflight, const struct run_key *key);
void inflight_clear(struct inflight *inflight);
/*
 * 1 and the key when the page has one, else 0.  The worker may have
 * written any bytes.
 */
int inflight_read(const struct inflight *inflight, struct run_key *key);

#endif
