/* SPDX-License-Identifier: MIT */
/*
 * Reconciliation: cc-backend's running jobs are compared with the spool; runs
 * in doubt are looked up in Slurm.
 */
#ifndef SUBMITTER_RECONCILE_RECONCILE_H
#define SUBMITTER_RECONCILE_RECONCILE_H

#include <stdint.h>

#include "common/model/job.h"

struct diff_rows;
struct missing_runs;
struct reconcile;
struct slurm_lookup;
struct submitter;
struct summary;

enum sync_way {
	SYNC_START,
	SYNC_STOP
};

/* A comparison that is limited to some runs, for the command `sync`. */
struct reconcile_filter {
	/* 1 when this run, in this direction, is wanted. */
	int (*wants)(void *arg, const struct run_key *key, enum sync_way way);
	/* The same, within the limit of runs; a run beyond it is reported. */
	int (*takes)(void *arg, const struct run_key *key, enum sync_way way,
	    const char *difference);
	/* One row of the report. */
	void (*tell)(void *arg, const struct run_key *key,
	    const char *difference, const char *action);
	/* This run is looked up in Slurm.  difference is constant. */
	void (*asks)(void *arg, const struct run_key *key, enum sync_way way,
	    const char *difference);
	/* The comparison is over; text is for the admin. */
	void (*done)(void *arg, int failed, const char *text);
};

/* reconcile.c */

/* Lives as long as the process; fatalx() when out of memory. */
struct reconcile *reconcile_new(struct submitter *s);
void reconcile_conf(struct reconcile *r);
/*
 * The lane WAKE_RECONCILE: cc-backend answers again, a comparison may be due.
 */
void reconcile_backend_up(struct reconcile *r);
/*
 * Compares now.  rows: the answer to the admin, which may have rows already;
 * NULL = none.  cluster: "" = all; another value must be the name of one.  dry:
 * nothing is changed.  repair: runs found open in cc-backend after their stop
 * are stopped again.
 */
void reconcile_begin(struct reconcile *r, const struct diff_rows *rows,
    const char *cluster, int dry, int repair);
/* Why no comparison is possible now; NULL = it is possible. */
const char *reconcile_error(const struct reconcile *r);
/*
 * Compares only the runs that the filter accepts.  Borrows the filter until
 * done() is called.  Returns NULL, or the reason why no comparison is possible
 * now: then no function is called.
 */
const char *reconcile_filtered(struct reconcile *r,
    const struct reconcile_filter *filter, void *arg, int dry);
/* A collector is connected: sends the lookups that could not be sent before. */
void reconcile_peer(struct reconcile *r);
void reconcile_status(struct reconcile *r, uint64_t request);

/* renamed.c */

/*
 * 1 when clusterNames gives the name of this cluster to another cluster of the
 * spool, and the key clusters does not name this one, or the accounting of the
 * other one is read further: cc-backend's runs of this name are those of the
 * other one.
 */
int cluster_is_renamed(const struct submitter *s, const char *cluster);

/* slurm_lookup.c: runs that the collector looks up in Slurm */

struct slurm_lookup *slurm_lookup_new(struct submitter *s);
/* All runs in doubt are looked up; at a centre also those that are open for long. */
void slurm_lookup_in_doubt(struct slurm_lookup *k);
/*
 * A record of the run with this row was stored.  If the run waits for an
 * unconfirmed one with an earlier submission, that one is looked up, again
 * every 30 s until Slurm has answered.
 */
void slurm_lookup_record(struct slurm_lookup *k, int64_t id);

/* missing_runs.c: runs that Slurm does not know */

struct missing_runs *missing_runs_new(struct submitter *s);
/* Slurm does not know this run. */
void missing_report(struct missing_runs *k, const struct run_key *key);
/* Bits of spool_run.flags: such a run is looked up after each comparison. */
#define RUN_IN_DOUBT \
	(RUN_FROM_BACKEND | RUN_MISSING_IN_BACKEND | RUN_UNCONFIRMED)
/* A lookup of such runs was sent. */
void missing_asked(struct missing_runs *k);
/*
 * An admin has confirmed the end of the runs of this cluster ("" = all) that
 * Slurm has reported as unknown twice: ends them, whatever their number.  dry:
 * only counts them.  Returns their number; their ends are durable.  -1 when the
 * spool fails: no run is ended.
 */
int missing_runs_force(struct missing_runs *k, const char *cluster, int dry);
void missing_runs_status(struct missing_runs *k, uint64_t request);
void missing_runs_summary(const struct missing_runs *k, struct summary *to);

#endif
