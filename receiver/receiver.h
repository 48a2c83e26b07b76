/* SPDX-License-Identifier: MIT */
/*
 * The context of the receiver's main file: the worker, its boxes, and the
 * configuration of NATS that is checked and not in force yet.
 */
#ifndef RECEIVER_RECEIVER_H
#define RECEIVER_RECEIVER_H

#include "common/worker/worker.h"
#include "receiver/intake/intake.h"
#include "receiver/link/link.h"
#include "receiver/streams/streams.h"

struct nats_conf;
struct resolver;

struct receiver {
	struct worker *w;
	struct resolver *resolver;
	struct nats_conf *checked; /* not in force yet; NULL = none */
	char *checked_clusters;	   /* the key clusters of the same; owned */
	struct link *link;
	struct streams *streams;
	struct streams *states;	   /* of nodes */
	struct channel *submitter; /* borrowed; NULL = none */
	struct intake *intake;
};

#endif
