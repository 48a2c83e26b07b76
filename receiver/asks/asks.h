/* SPDX-License-Identifier: MIT */
/*
 * Questions to the clusters: does Slurm know these runs?  The submitter's
 * lookups are sent in pages, one to each cluster at a time.  Only a whole and
 * valid answer to the question under way is evidence.  After no answer, an
 * error or an answer that does not fit the question, the submitter asks again
 * later.  An order of an admin begins, ends or describes a backfill, or
 * describes a job.  An order is sent before the lookups that wait, and only
 * once.
 */
#ifndef RECEIVER_ASKS_ASKS_H
#define RECEIVER_ASKS_ASKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/record/ask_json.h"
#include "receiver/link/link.h"

struct asks;
struct event_base;

/*
 * Runs of one cluster that wait for a question; further ones are dropped.  The
 * submitter sends the same first runs after each comparison, and runs that the
 * cluster does not know stay in doubt until an admin ends them: this is more than a
 * cluster has open, so that no run waits behind those.
 */
#define ASKS_RUNS_MAX 65536

/* An order or a question of an admin. */
struct asks_order {
	enum ask_kind kind;	   /* not ASK_LOOKUP */
	int64_t from, to;	   /* of ASK_BACKFILL, epoch */
	uint64_t job;		   /* of ASK_EXPLAIN */
	uint64_t request;	   /* for ordered() */
	char cluster[CLUSTER_MAX]; /* for ordered() */
};

struct asks_ops {
	/*
	 * 1 when all messages of the cluster's stream were sent to the
	 * submitter.
	 */
	int (*is_current)(const char *cluster, void *arg);
	/* Slurm does not know these runs of the cluster. */
	void (*not_found)(const char *cluster, const struct ask_run *runs,
	    unsigned n, void *arg);
	/* The order is over; ok: the cluster has accepted or answered it. */
	void (*ordered)(const struct asks_order *order, int ok,
	    const char *text, void *arg);
};

struct asks_status {
	uint64_t asked;	   /* questions sent */
	uint64_t answered; /* of them, with a valid answer */
	uint64_t refused;  /* answers that do not fit */
	uint64_t unknown;  /* runs reported as unknown to Slurm */
	/* the last question without a valid answer; "" = none */
	char trouble[CLUSTER_MAX + ASK_TEXT_MAX + 8];
};

/* Borrows all; lives as long as the process.  fatalx() when out of memory. */
struct asks *asks_new(struct event_base *base, struct link *link,
    const struct asks_ops *ops, void *arg);
/* Sets the clusters, a list as conf_list_item() reads it. */
void asks_conf(struct asks *a, const char *clusters);
/* For struct link_ops; 1 when the message belongs to this box. */
void asks_link(struct asks *a, int up);
int asks_receive(struct asks *a, const struct link_message *m);
/* The submitter is connected or lost: forgets its lookups. */
void asks_reset(struct asks *a);
/* A lookup message: cluster, number, run keys.  0, or -1 when it is invalid. */
int asks_lookup(struct asks *a, struct reader *r);
/*
 * Sends the order to its cluster; "" = the only one.  NULL: ordered() is called
 * within two minutes; or why it is not sent.
 */
const char *asks_order(struct asks *a, const struct asks_order *order);
void asks_status(const struct asks *a, struct asks_status *to);

#endif
