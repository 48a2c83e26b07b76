/* SPDX-License-Identifier: MIT */
/*
 * Two suites, one beside each of Slurm's controllers (activeOnly): the one
 * beside the working controller sends, the other one stores.
 */
#ifndef SUBMITTER_RECONCILE_FAILOVER_H
#define SUBMITTER_RECONCILE_FAILOVER_H

#include "common/codec.h"

struct submitter;
struct standby;

struct standby *standby_new(struct submitter *s);
void standby_free(struct standby *b);
/* May nothing be sent?  b may be NULL: then all may. */
int standby_holds(const struct standby *b);
/* ms that this side waits longer than the other one before it looks for stops. */
int64_t standby_later(const struct standby *b);
void standby_conf(struct standby *b);
/* The collector says which controller works.  0, or -1 when it makes no sense. */
int standby_frame(struct standby *b, struct reader *r);
void standby_status(struct standby *b, uint64_t request);

#endif
