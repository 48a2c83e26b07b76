/* SPDX-License-Identifier: MIT */
/* The collector: its lanes and the scheduler that runs the lanes. */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include "collector/accounting/accounting.h"
#include "collector/base/cluster.h"
#include "collector/base/wake.h"
#include "collector/query/query_lanes.h"
#include "collector/slurm/query.h"
#include "collector/slurm/runner_link.h"
#include "collector/slurm/slurm.h"
#include "collector/track/outbox.h"
#include "collector/track/track.h"

struct check;
struct explain_slurm;
struct job_part;
struct startup;
struct sync_report;

/* The lanes of one cluster, and their times. */
struct lanes {
	struct collector *collector;
	struct cluster *c; /* owned */
	struct startup *startup;
	struct poll *poll;
	struct accounting *accounting;
	struct hook_events *hook_events;
	struct confirm *confirm;
	struct scripts *scripts;
	struct node_states *node_states;
	int64_t poll_at; /* monotonic ms: the next poll */
	int64_t polled;	 /* wall clock of the last poll */
	int64_t day_at;	 /* monotonic s: last day read again */
	size_t runaways; /* counted at runaways_at, monotonic s */
	int64_t runaways_at;
};

struct collector {
	struct site site;
	struct lanes lanes[SITE_CLUSTERS]; /* of site.clusters, same order */
	struct outbox *outbox;
	struct settings *set;	   /* in force; NULL = none yet */
	struct settings *next_set; /* checked, not yet in force */
	struct settings *retired;  /* queries under way may still use them */
	struct sync_report *sync_report;
	struct explain_slurm *explain_slurm;
	struct job_part *job_part;
	struct controller_role *controller_role;
	struct slurm_times *slurm_times;
	struct check *check;
	struct hook_auth *hook_auth;
	int64_t trimmed_ms;	  /* now_ms() when free memory was given back */
	uint64_t trimmed_records; /* outbox_records() then */
};

/* clusters.c */

/* Creates the first cluster; the configuration may add more. */
void clusters_init(struct collector *col, struct worker *w);
/* Creates the clusters that the first configuration names. */
void clusters_configure(struct collector *col);
/* The lanes of a cluster. */
struct lanes *lanes_of(struct collector *col, const struct cluster *c);

/* startup.c: Slurm's configuration, the shapes of its nodes, our permission */

struct startup *startup_new(struct cluster *c, struct poll *poll);
/*
 * Takes the next step: configuration, permission, nodes; then sets c->ready and
 * reads the clock.
 */
void startup_kick(struct startup *s);
/* Slurm may have been upgraded: reads its version and settings again. */
void startup_again(struct startup *s);
/*
 * A hook has named a cluster that is not read.  If it may be the new name of the
 * local cluster, reads the configuration again.
 */
void startup_unknown(struct startup *s, const char *cluster);

/* scheduler.c: runs the lanes */

void sched_start(struct collector *col);
void sched_conf(struct lanes *l);
/*
 * A message was handled, or a command has ended: the lanes run within half a
 * second.
 */
void sched_event(struct collector *col);
/* Polls now and reads the last day of accounting again. */
void sched_poll_now(struct lanes *l);

/*
 * ctl_sync.c: the part of `cc-slurm-adapterctl sync` that compares with Slurm
 */

struct sync_report *sync_report_new(struct collector *col);
/*
 * Prints the differences, cluster by cluster.  Unless the request is a dry
 * run, the lanes then query Slurm.
 */
void sync_report_begin(struct sync_report *v, uint64_t request,
    const struct ctl_request *req);

/*
 * ctl_cluster.c.  Returns 1 when no cluster that was read from Slurm has this
 * name: buf gets the reason for the admin, cut to size.  0 for "", all clusters.
 */
int ctl_cluster_missing(struct site *site, const char *name, char *buf,
    size_t size);

/*
 * ctl_explain.c: the part of `cc-slurm-adapterctl explain` that asks Slurm
 */

struct explain_slurm *explain_slurm_new(struct collector *col);
/* Tells why the suite has no run of these jobs. */
void explain_slurm_begin(struct explain_slurm *v, uint64_t request,
    const struct ctl_request *req);
/* Slurm may be asked about one more job now: 0, or -1. */
int explain_token_take(struct explain_slurm *v);
/* Sends a row of CTL_T_EXPLAIN; c NULL = no cluster. */
void explain_row(struct collector *col, uint64_t request,
    const struct cluster *c, uint64_t job, const char *event, const char *text);
/*
 * Moves *at, the number of a cluster, to the next cluster that the request
 * selects: 1, or 0 when there is none.
 */
int explain_cluster_next(const struct collector *col,
    const struct ctl_request *req, unsigned *at);

/* ctl_job_part.c: the job id of a task of an array, or of a component */

struct job_part *job_part_new(struct collector *col);
/* Answers CTL_JOB_PART with rows of CTL_T_EXPLAIN. */
void job_part_begin(struct job_part *v, uint64_t request,
    const struct ctl_request *req);

/* status.c */
void status_rows(struct collector *col, uint64_t request);
/* metrics.c */
void status_metrics(struct collector *col, uint64_t request);
/* Runs without an end that slurmctld does not have any more. */
size_t runaways_count(struct cluster *c);
/* 1 when slurmdbd shows these runs as running, 0 when Slurm has no slurmdbd. */
int runaways_of_slurmdbd(const struct cluster *c);

/* summary.c: a callback of struct worker_ops */

void status_summary(struct worker *w, struct summary *to);

/* check.c: the checklist of -test */

struct check *check_new(struct collector *col);
/* Answers the request in 20 s, with rows of CTL_T_CHECK. */
void check_begin(struct check *k, uint64_t request);
/* Reports each cluster whose start is over or has failed. */
void check_kick(struct check *k);
int check_is_active(const struct check *k);

/* gpu_rows.c: the rows of `gpus`; ends the request. */
void gpu_rows(struct collector *col, uint64_t request);

#endif
