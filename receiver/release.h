/* SPDX-License-Identifier: MIT */
/*
 * The end of the active one of two centres: the submitter ends its requests, then
 * the lease is released, so that the other centre need not wait for its end.
 */
#ifndef RECEIVER_RELEASE_H
#define RECEIVER_RELEASE_H

#include "receiver/receiver.h"

/* The daemon ends.  Does nothing unless this centre is active. */
void release_begin(struct receiver *v);
/* MSG_DRAINED, the submitter's answer. */
void release_drained(struct receiver *v, struct channel *c, struct reader *r);
/*
 * There is no submitter any more: cc-backend may work on its last request.  After
 * its answer the release goes on without it.
 */
void release_submitter_lost(struct receiver *v);
/* MSG_STOP: ends the process, after the release if one is under way. */
void release_stop(struct receiver *v, uint32_t grace_ms);

#endif
