/* SPDX-License-Identifier: MIT */
/*
 * The lanes that ask slurmctld.  The scheduler runs each; what other parts
 * want asked is in the cluster's work list.
 */
#ifndef COLLECTOR_QUERY_QUERY_LANES_H
#define COLLECTOR_QUERY_QUERY_LANES_H

#include "collector/accounting/accounting.h"
#include "collector/base/cluster.h"

/* poll.c: the periodic question */

struct poll;

struct poll *poll_new(struct cluster *c, struct accounting *accounting);
void poll_start(struct poll *y);
/* Asks for slurmctld's clock, at start. */
void poll_clock(struct poll *y);
/* Asks for details of rows that wait for them, in this poll or the next. */
void poll_kick(struct poll *y);
/* The submitter has room again. */
void poll_resume(struct poll *y);

/* hook_events.c: what hooks said */

struct hook_events;

struct hook_events *hook_events_new(struct cluster *c);
void hook_event_add(struct hook_events *e, uint64_t event, uint64_t job);
void hook_events_kick(struct hook_events *e);
void hook_events_resume(struct hook_events *e);
/* Accounting was asked about this job: what came of it. */
void hook_events_answered(struct hook_events *e, uint64_t job, int ended,
    int known);
/* Records became durable. */
void hook_events_durable(struct hook_events *e);
/* A new listener, or none: it will repeat what it has. */
void hook_events_forget(struct hook_events *e);
unsigned hook_events_waiting(const struct hook_events *e);

/* confirm_start.c: runs that nobody has seen running */

struct confirm;

struct confirm *confirm_new(struct cluster *c);
void confirm_kick(struct confirm *h);

/* job_script.c: job scripts */

struct scripts;

struct scripts *scripts_new(struct cluster *c);
void scripts_kick(struct scripts *s);
unsigned scripts_waiting(const struct scripts *s);

/* node_states.c: what the nodes do */

struct node_states;

struct node_states *node_states_new(struct cluster *c,
    const struct accounting *accounting);
void node_states_kick(struct node_states *n);
/* A new submitter knows nothing of them. */
void node_states_peer(struct node_states *n);
size_t node_states_count(const struct node_states *n);
/* States handed over. */
uint64_t node_states_sent(const struct node_states *n);

/* controller_role.c: does the controller beside us work? (activeOnly) */

struct controller_role;

struct controller_role *controller_role_new(struct site *site);
void controller_role_kick(struct controller_role *a);
/* A new submitter has to be told. */
void controller_role_peer(struct controller_role *a);
void controller_role_status(struct controller_role *a, uint64_t request);

#endif
