/* SPDX-License-Identifier: MIT */
/*
 * The context of all boxes of the submitter: the worker, the counters and a
 * pointer to the state of each box.  A box uses only its own state, and passes
 * the pointers of the boxes below it to their functions.
 */
#ifndef SUBMITTER_BASE_CONTEXT_H
#define SUBMITTER_BASE_CONTEXT_H

#include <stdint.h>

#include "common/worker/worker.h"
#include "submitter/base/cluster_names.h"
#include "submitter/base/reject.h"
#include "submitter/base/role.h"
#include "submitter/base/wake.h"

struct backfill;
struct breaker;
struct centre_asks;
struct commit;
struct commit_check;
struct conflict;
struct failover;
struct first_list;
struct history;
struct http_client;
struct intake;
struct meta_delivery;
struct missing_runs;
struct nats;
struct nats_delivery;
struct node_states;
struct payload;
struct reconcile;
struct resolver;
struct rest_delivery;
struct slurm_lookup;
struct spool;
struct sync;
struct topology;

/* Counted since the process started; for status and metrics. */
struct counters {
	uint64_t records; /* received from the collector */
	uint64_t records_new;
	uint64_t records_refused; /* records without a valid run */
	int64_t last_job; /* epoch of the last record that was news; 0 = none */
	/* messages of the collector about other clusters */
	uint64_t clusters_refused;
	uint64_t watermarks_refused; /* later than any clock can be */
	uint64_t starts;	     /* delivered by REST */
	uint64_t stops;
	uint64_t requests; /* by REST */
	uint64_t retries;
	uint64_t rejected;
	uint64_t repeated; /* starts not committed in time */
	uint64_t closed;   /* runs stopped by another client */
	/* runs open in cc-backend after their stop */
	uint64_t victims;
	uint64_t nats_starts;
	uint64_t nats_stops;
	uint64_t nats_unsure;
	uint64_t commits;
	uint64_t meta;	       /* metadata updates delivered */
	uint64_t meta_dropped; /* metadata updates given up */
	/* resource records without room */
	uint64_t resources_refused;
	uint64_t rejected_by[REJECT__COUNT]; /* of rejected, by reason */
	/* stops that cc-backend applied to another run */
	uint64_t stop_races;
	uint64_t repaired;	 /* runs that an admin let correct */
	uint64_t commits_failed; /* of the spool */
	int64_t committed_at;	 /* epoch of the last commit; 0 = none */
	int64_t nats_at;	 /* epoch of the last message confirmed */
	/* from Slurm's start and end until delivered, by enum dest */
	struct histogram start_delivered[2];
	struct histogram end_delivered[2];
};

struct submitter {
	struct worker *w;
	struct wake wake;
	struct failover_role role;
	struct cluster_names clusters;
	struct counters n;
	struct history *history; /* NULL = none */
	/* spool */
	struct spool *spool;
	struct commit *commit;
	/* payload */
	struct payload *payload; /* of the configuration in force */
	struct topology *topology;
	/* net, nats */
	struct resolver *resolver;
	struct http_client *http;
	struct nats *nats; /* NULL = not in use */
	/* backend */
	struct breaker *breaker;
	/* intake */
	struct intake *intake;
	/* delivery */
	struct rest_delivery *rest;
	struct nats_delivery *nats_delivery;
	struct commit_check *commit_check;
	struct conflict *conflict;
	struct meta_delivery *meta;
	struct node_states *nodes;
	/* reconcile */
	struct missing_runs *missing;
	struct slurm_lookup *lookup;
	struct reconcile *reconcile;
	struct sync *sync;
	struct backfill *backfill;
	struct failover *failover;
	struct first_list *first_list;
	struct centre_asks *centre_asks;
};

/*
 * The channel to the process that sends records: the collector, at the centre
 * of a fan-in the receiver; NULL = none.
 */
struct channel *submitter_feeder(const struct submitter *s);

#endif
