/* SPDX-License-Identifier: MIT */
/*
 * The context of the receiver's boxes: the worker, the names of hosts, and the
 * configuration of NATS in force.
 */
#ifndef RECEIVER_RECEIVER_H
#define RECEIVER_RECEIVER_H

#include "common/model/job.h"
#include "common/worker/worker.h"

struct nats_conf;
struct resolver;

#define QUARANTINE_MAX 64 /* runs; a worker died twice on each */

struct receiver {
	struct worker *w;
	struct resolver *resolver;
	struct nats_conf *checked; /* not in force yet; NULL = none */
	struct nats_conf *nats;	   /* in force */
	struct run_key quarantined[QUARANTINE_MAX];
	unsigned n_quarantined;
};

#endif
