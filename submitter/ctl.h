/* SPDX-License-Identifier: MIT */
/* What the admin tool asks of the submitter. */
#ifndef SUBMITTER_CTL_H
#define SUBMITTER_CTL_H

#include <stdint.h>

#include "common/ctl.h"

struct submitter;
struct worker;

/* One request; its rows and its end go back by the worker. */
void ctl_on_request(struct worker *w, uint64_t request,
    const struct ctl_request *req);
/* All refused runs are due again: how many. */
unsigned ctl_retry_all(struct submitter *s);
/* One step of spool check, export or import. */
void ctl_spool_step(struct submitter *s, uint64_t request,
    const struct ctl_request *req);

#endif
