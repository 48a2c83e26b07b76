/* SPDX-License-Identifier: MIT */
/*
 * What goes to the submitter.  One queue for all clusters: its window is what
 * the submitter can take.  A message is kept until the submitter has stored it.
 */
#ifndef COLLECTOR_TRACK_OUTBOX_H
#define COLLECTOR_TRACK_OUTBOX_H

#include "collector/base/cluster.h"

/* Called by the outbox; arg is that of outbox_new(). */
struct outbox_ops {
	/* Records became durable, and there may be room again. */
	void	(*stored)(void *arg);
	/* The submitter has said whether ended runs have to wait. */
	void	(*flow)(void *arg);
	/* This cluster's accounting is in the spool up to that time. */
	void	(*advanced)(struct cluster *c, int64_t until);
};

struct outbox *outbox_new(const struct outbox_ops *ops, void *arg);
/*
 * Each returns the order number of what was queued, 0 on error.  What is
 * queued is kept until the submitter has stored it.
 */
uint64_t outbox_record(struct outbox *o, const struct job *job);
uint64_t outbox_watermark(struct outbox *o, struct cluster *c, int64_t until);
/* The past range that was asked for is answered up to its end. */
uint64_t outbox_backfilled(struct outbox *o, const struct cluster *c,
    int64_t until);
/* Slurm does not know these runs; lookup is the number of the question. */
uint64_t outbox_not_found(struct outbox *o, const struct cluster *c,
    uint64_t lookup, const struct run_key *keys, uint32_t n);
/* States of nodes, which are not kept: 0, or -1 when it cannot take them now. */
int outbox_nodes(struct outbox *o, const struct writer *w);
/* A new submitter, or none: everything goes again once it is released. */
void outbox_peer(struct outbox *o, struct channel *peer);
void outbox_release(struct outbox *o);
void outbox_acked(struct outbox *o, uint64_t seq);
void outbox_drained(struct outbox *o);
/* The submitter is behind; no more ended runs, for it may hold those back as well. */
int outbox_behind(const struct outbox *o);
int outbox_full(const struct outbox *o);
void outbox_flow(struct outbox *o, int pause);
/* Everything up to this order number is durable. */
uint64_t outbox_durable(const struct outbox *o);
/* Of what was queued last. */
uint64_t outbox_order(const struct outbox *o);
unsigned outbox_waiting(const struct outbox *o);
/* Records since the beginning. */
uint64_t outbox_records(const struct outbox *o);

#endif
