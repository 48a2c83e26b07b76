/* SPDX-License-Identifier: MIT */
/*
 * Two suites, one on the host of each slurmctld (activeOnly): the suite of the
 * active slurmctld sends, the other one stores.
 */
#ifndef SUBMITTER_RECONCILE_FAILOVER_H
#define SUBMITTER_RECONCILE_FAILOVER_H

#include "common/codec.h"

struct submitter;
struct failover;

struct failover *failover_new(struct submitter *s);
void failover_conf(struct failover *b);
/*
 * The collector reports which slurmctld is active. 0, or -1 for an invalid
 * message.
 */
int failover_frame(struct failover *b, struct reader *r);
void failover_status(struct failover *b, uint64_t request);

#endif
