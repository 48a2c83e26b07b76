/* SPDX-License-Identifier: MIT */
/*
 * The context of the receiver's main file: the worker, its boxes, and the
 * configuration of NATS that is checked and not in force yet.
 */
#ifndef RECEIVER_RECEIVER_H
#define RECEIVER_RECEIVER_H

#include "common/worker/worker.h"
#include "receiver/asks/asks.h"
#include "receiver/intake/intake.h"
#include "receiver/lease/bucket.h"
#include "receiver/link/link.h"
#include "receiver/streams/streams.h"

struct nats_conf;
struct resolver;

/* See release.h. */
enum release {
	RELEASE_NONE,
	RELEASE_DRAINS, /* the submitter has requests under way */
	RELEASE_WRITES, /* the bucket has not answered */
	RELEASE_OVER
};

struct receiver {
	struct worker *w;
	struct resolver *resolver;
	struct nats_conf *checked; /* not in force yet; NULL = none */
	char *checked_clusters;	   /* the key clusters of the same; owned */
	int checked_active_only;
	struct link *link;
	struct streams *streams;
	struct asks *asks;
	struct streams *states;	   /* of nodes */
	struct channel *submitter; /* borrowed; NULL = none */
	struct bucket *lease;	   /* with activeOnly */
	int active_only;
	int active; /* the lease is held; for the log */
	enum release release;
	int reads; /* streams_link() is 1 */
	struct {   /* the submitter's lease, told before open-runs */
		uint64_t id;
		int64_t until;
	} told;
	struct intake *intake;
};

#endif
