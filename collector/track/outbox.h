/* SPDX-License-Identifier: MIT */
/*
 * Messages to the submitter.  There is one queue for all clusters; its window
 * limits unacknowledged messages.  A message is kept until the submitter has
 * stored it.
 */
#ifndef COLLECTOR_TRACK_OUTBOX_H
#define COLLECTOR_TRACK_OUTBOX_H

#include "collector/base/cluster.h"

/* Called by the outbox; arg is that of outbox_new(). */
struct outbox_ops {
	/* Records became durable, and the queue may have room again. */
	void (*stored)(void *arg);
	/* The submitter has sent `flow`. */
	void (*flow)(void *arg);
	/* The accounting of this cluster is in the spool up to that time. */
	void (*advanced)(struct cluster *c, int64_t until);
};

struct outbox *outbox_new(const struct outbox_ops *ops, void *arg);
/* Each returns the order number of the message, 0 on error. */
uint64_t outbox_record(struct outbox *o, const struct job *job);
uint64_t outbox_watermark(struct outbox *o, struct cluster *c, int64_t until);
/*
 * The records of a backfill range were sent up to its end.  0: the backfill is
 * ended, as the submitter has requested; also of a cluster that is not known.
 */
uint64_t outbox_backfilled(struct outbox *o, const char *cluster,
    int64_t until);
/* Slurm does not know these runs; lookup is the number of the lookup. */
uint64_t outbox_not_found(struct outbox *o, const struct cluster *c,
    uint64_t lookup, const struct run_key *keys, uint32_t n);
/*
 * States of nodes; they are not kept.  0, or -1 when the channel has no room.
 */
int outbox_nodes(struct outbox *o, const struct writer *w);
/*
 * Sets the channel to a new submitter, or NULL.  All kept messages are sent
 * again after outbox_release().
 */
void outbox_peer(struct outbox *o, struct channel *peer);
void outbox_release(struct outbox *o);
/*
 * The watermarks of the cluster that wait become ones that move nothing.  Called
 * before outbox_release().
 */
void outbox_watermarks_void(struct outbox *o, const struct cluster *c);
void outbox_acked(struct outbox *o, uint64_t seq);
void outbox_drained(struct outbox *o);
/* Is the window full, or has the submitter sent `flow`?  Ended runs wait. */
int outbox_full(const struct outbox *o);
/*
 * Do new runs wait, because the submitter will soon have stored others?  After
 * `flow` they do not wait: the spool is full, perhaps for days, and the submitter
 * stores the resources of new runs, which Slurm has for minutes.
 */
int outbox_behind(const struct outbox *o);
/* Is half of the memory of the queue used?  The rest is for new runs. */
int outbox_scarce(const struct outbox *o);
void outbox_flow(struct outbox *o, int pause);
/* All messages up to this order number are durable. */
uint64_t outbox_durable(const struct outbox *o);
/* Order number of the last message. */
uint64_t outbox_order(const struct outbox *o);
unsigned outbox_waiting(const struct outbox *o);
/* ms that the oldest one has waited; 0 = none waits. */
int64_t outbox_oldest_ms(const struct outbox *o);
/* Records since the start. */
uint64_t outbox_records(const struct outbox *o);

#endif
