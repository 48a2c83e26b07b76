/* SPDX-License-Identifier: MIT */
/*
 * Decides what a snapshot of a job means: a new run, a known run, its end, or
 * nothing.  Only this box adds and removes open and done runs, and creates
 * records, except that of a job script.  It never starts a command.
 */
#ifndef COLLECTOR_TRACK_TRACK_H
#define COLLECTOR_TRACK_TRACK_H

#include "collector/base/cluster.h"
#include "collector/parse/parse.h"

/* track.c: answers of slurmctld */

/* May take from s.  Returns the order number of the record, 0 = none. */
uint64_t track_snapshot(struct cluster *c, struct job_snapshot *s);
/*
 * slurmctld's record of the job is ambiguous: the counts are from accounting.
 */
uint64_t track_ambiguous(struct cluster *c, struct job_snapshot *s);
/* A row of squeue: confirms the start of its run when it is unconfirmed. */
void track_squeue_row(struct cluster *c, const struct squeue_job *row);
/*
 * slurmctld has called the hook at the end of the job.  1: the records of the
 * job lack nothing but the end of its only run, and accounting gets the end; the
 * run is not regarded as running any more.  0: slurmctld is to be queried.
 */
int track_epilog(struct cluster *c, uint64_t job);
/* Is this run in quarantine? */
int track_quarantined(const struct cluster *c, uint64_t job, int64_t start);

/* track_accounting.c: rows of accounting */

enum row_result {
	ROW_NOTHING,
	ROW_SENT,
	ROW_WANTS_DETAILS,
	ROW_WANTS_PARTS, /* the earlier parts of a resized run */
	ROW_WANTS_STEPS,
	ROW_FAILED
};
/* What can be queried before the row is sent: bits. */
#define ROW_MAY_DETAILS	     1u /* slurmctld may have them; no open run */
#define ROW_MAY_OPEN_DETAILS 4u /* the same of an open run */
/*
 * accounting by id: if the run was resized, its earlier parts may not have been
 * read
 */
#define ROW_MAY_PARTS 2u
/* May take from s.  may: ROW_MAY_ */
enum row_result track_accounting_row(struct cluster *c, struct job_snapshot *s,
    unsigned may);
/*
 * The same for a row of a past range, with ROW_MAY_PARTS at most; dry_run: the
 * tables are not changed.
 */
enum row_result track_backfill_row(struct cluster *c, struct job_snapshot *s,
    unsigned may, int dry_run);
/* Is the row one of an open run, also if its start has moved? */
int track_row_is_open(struct cluster *c, const struct job_snapshot *s);

/* lookup.c: runs that the submitter looks up */

struct lookups *lookup_new(struct cluster *c);
int lookup_add(struct lookups *a, struct reader *r);
/* Is this run looked up, so that its record is sent even if nothing is new? */
int lookup_has(const struct lookups *a, uint64_t job, int64_t start);
/* squeue shows it in this poll. */
void lookup_shown(struct lookups *a, uint64_t job, int64_t start);
/* squeue's answer was complete; trusted: it had a run that was known before. */
void lookup_listed(struct lookups *a, int trusted);
/* The details of running jobs were sent. */
void lookup_detailed(struct lookups *a);
/*
 * A row of accounting; its start becomes that of the lookup when it has moved.
 */
void lookup_row(struct lookups *a, struct job_snapshot *s);
/*
 * A query to accounting about these jobs begins.  It counts only for runs that
 * squeue did not show before: rows may have been read before squeue's answer.
 */
void lookup_asked(struct lookups *a, const struct idmap *jobs);
/* The answer is complete as to job; trusted: it had the sentinel. */
void lookup_accounted(struct lookups *a, uint64_t job, int trusted);
/* The permission was checked, as work.permission requests. */
void lookup_permission(struct lookups *a, int proved);
/* A new submitter looks its runs up again. */
void lookup_forget(struct lookups *a);

/* resume.c: resume points, and open runs of the spool */

/*
 * resume_unsynced(): a new submitter will send its open runs.
 * resume_synced(): it has sent them.
 */
void resume_unsynced(struct site *site);
void resume_synced(struct site *site);
/* The name of the cluster is known, or is a new one: finds its resume point. */
void resume_cluster(struct cluster *c);
/* A run that is open in the spool; bits: OPEN_RUNS_. */
void resume_open(struct site *site, const struct open_key *open, unsigned bits);
/* A watermark became durable: sets the time of the last-run file. */
void resume_advanced(struct cluster *c, int64_t until);

#endif
