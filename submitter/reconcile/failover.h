/* SPDX-License-Identifier: MIT */
/*
 * Two suites, one on the host of each slurmctld (activeOnly): the suite of the
 * active slurmctld sends, the other one stores.  Or two centres: the one with the
 * lease reads the streams and sends.
 */
#ifndef SUBMITTER_RECONCILE_FAILOVER_H
#define SUBMITTER_RECONCILE_FAILOVER_H

#include "common/codec.h"

struct channel;
struct submitter;
struct failover;

struct failover *failover_new(struct submitter *s);
void failover_conf(struct failover *b);
/*
 * The changes since the last commit are rolled back: repeats a review whose
 * results were among them.
 */
void failover_rolled_back(struct failover *b);
/*
 * The collector reports which slurmctld is active. 0, or -1 for an invalid
 * message.
 */
int failover_frame(struct failover *b, struct reader *r);
/*
 * The receiver tells until when this centre is active. 0, or -1 for an invalid
 * message, such as a time that is later than any lease.
 */
int failover_active_until(struct failover *b, struct reader *r);
/*
 * The daemon ends: starts no request that changes cc-backend any more, and sends
 * MSG_DRAINED when none is under way.  0, or -1 for an invalid message.
 */
int failover_drain(struct failover *b, struct reader *r);
/* A new receiver: tells it the lease of the one before. */
void failover_peer(struct failover *b, struct channel *c);
void failover_status(struct failover *b, uint64_t request);

#endif
