/* SPDX-License-Identifier: MIT */
/*
 * The lanes that query slurmctld.  The scheduler runs each; requests of other
 * parts are in the work list of the cluster.
 */
#ifndef COLLECTOR_QUERY_QUERY_LANES_H
#define COLLECTOR_QUERY_QUERY_LANES_H

#include "collector/accounting/accounting.h"
#include "collector/base/cluster.h"
#include "collector/slurm/command_times.h"
#include "common/model/hook_credential.h"
#include "common/model/msg.h"

/* poll.c: the periodic question */

struct poll;

struct poll *poll_new(struct cluster *c, struct accounting *accounting);
void poll_start(struct poll *y);
/* Reads slurmctld's clock, at the start. */
void poll_clock(struct poll *y);
/* Queries the details of rows that wait for them, in this poll or the next. */
void poll_kick(struct poll *y);
/* The submitter has room again. */
void poll_resume(struct poll *y);

/* hook_events.c: events of hooks */

struct hook_events;

struct hook_events *hook_events_new(struct cluster *c);
void hook_event_add(struct hook_events *e, uint64_t id, uint64_t job,
    enum event_kind kind);
void hook_events_kick(struct hook_events *e);
void hook_events_resume(struct hook_events *e);
/* Accounting was queried about this job; see struct accounting_ops. */
void hook_events_answered(struct hook_events *e, uint64_t job, int ended,
    int known);
/* Records became durable. */
void hook_events_durable(struct hook_events *e);
/* A new listener, or none: the events are repeated. */
void hook_events_forget(struct hook_events *e);
unsigned hook_events_waiting(const struct hook_events *e);

/* hook_auth.c: munge credentials of hook messages on TCP */

struct hook_auth;

/* An event whose credential is to be checked. */
struct hook_claim {
	struct cluster *c; /* borrowed */
	uint64_t event;	   /* of the listener; 0 = the listener has ended */
	uint64_t job;
	int64_t time; /* epoch: arrival */
	uint8_t kind; /* enum event_kind */
	char cluster[CLUSTER_MAX];
	char credential[HOOK_CREDENTIAL_MAX];
};

struct hook_auth_counts {
	uint64_t accepted;
	uint64_t refused;
	uint64_t dropped; /* not checked in time: the poll finds their jobs */
	unsigned waiting;
	int64_t
	    away; /* epoch: munged does not answer since then; 0 = it does */
};

struct hook_auth_ops {
	void (*accepted)(const struct hook_claim *claim, void *arg);
	/* Also called for a dropped event. */
	void (*refused)(const struct hook_claim *claim, void *arg);
};

struct hook_auth *hook_auth_new(struct site *site,
    const struct hook_auth_ops *ops, void *arg);
/* Is prepAuth "munge"? */
int hook_auth_is_on(const struct hook_auth *a);
/* Copies claim; one of the callbacks is called later, or at once. */
void hook_auth_add(struct hook_auth *a, const struct hook_claim *claim);
/* Asks about the next claim, or sets the timer for it. */
void hook_auth_kick(struct hook_auth *a);
/* Another listener, or none: nothing is acknowledged. */
void hook_auth_forget(struct hook_auth *a);
void hook_auth_counts(const struct hook_auth *a, struct hook_auth_counts *n);
/* Has munged read the credential, valid or not?  For unmunge's end. */
int unmunge_answered(const struct command_end *end);

/* confirm_start.c: runs that were not seen running */

struct confirm;

struct confirm *confirm_new(struct cluster *c);
void confirm_kick(struct confirm *h);
/* 1 while a job is to be queried later. */
int confirm_waits(const struct confirm *h);

/* job_script.c: job scripts */

struct scripts;

struct scripts *scripts_new(struct cluster *c);
void scripts_kick(struct scripts *s);
unsigned scripts_waiting(const struct scripts *s);

/* node_states.c: states of nodes */

struct node_states;

struct node_states *node_states_new(struct cluster *c,
    const struct accounting *accounting);
void node_states_kick(struct node_states *n);
/* Monotonic ms of the next query; INT64_MAX = none. */
int64_t node_states_next(const struct node_states *n);
/* A new submitter has no states. */
void node_states_peer(struct node_states *n);
size_t node_states_count(const struct node_states *n);
/* Number of states sent. */
uint64_t node_states_sent(const struct node_states *n);

/* controller_role.c: is the local controller active? (activeOnly) */

struct controller_role;

struct controller_role *controller_role_new(struct site *site);
void controller_role_kick(struct controller_role *a);
/* Monotonic ms of the next query; INT64_MAX = none. */
int64_t controller_role_next(const struct controller_role *a);
/* A new submitter gets the role. */
void controller_role_peer(struct controller_role *a);
void controller_role_status(struct controller_role *a, uint64_t request);

/* slurm_times.c: response times and outages of Slurm, for the history */

struct slurm_times;

struct slurm_times *slurm_times_new(struct site *site);
/* Measures the outages; once a minute takes the spans and sends the message. */
void slurm_times_kick(struct slurm_times *t, struct command_times *times);
/* Monotonic ms of the next message. */
int64_t slurm_times_next(const struct slurm_times *t);

#endif
