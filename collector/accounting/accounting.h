/* SPDX-License-Identifier: MIT */
/*
 * Accounting (sacct): runs that ended, by range of time and by job id, and the
 * steps of runs that were requeued soon.
 */
#ifndef COLLECTOR_ACCOUNTING_ACCOUNTING_H
#define COLLECTOR_ACCOUNTING_ACCOUNTING_H

#include "collector/base/cluster.h"
#include "collector/details/details.h"

struct accounting;

struct accounting_ops {
	/*
	 * sacct has answered a query for job by id.  ended: the answer has an
	 * end of the job; known: the answer has a row of the job.
	 */
	void (*answered)(void *arg, uint64_t job, int ended, int known);
};

struct accounting *acct_new(struct cluster *c, const struct accounting_ops *ops,
    void *arg);
/* Starts the queries that are due, one at a time. */
void acct_kick(struct accounting *l);
/*
 * Reads the range since the resume point.  may_check: this poll may use one
 * more command to check our permission if the answer does not prove the
 * permission.
 */
void acct_poll(struct accounting *l, int may_check);
/* Reads the runs that ended in the last day again. */
void acct_day(struct accounting *l);
/*
 * Reads a past range, after all more urgent queries.  The last record is
 * followed by a watermark of the source backfill.  dry_run: the records are
 * not stored.  Replaces an earlier range; from and to 0: only ends it, which
 * a watermark of 0 answers.  Returns 0, or -1 when the range is invalid.
 */
int acct_backfill(struct accounting *l, int64_t from, int64_t to, int dry_run);
/*
 * slurmctld's clock shows this time.  If the clock was set back, new runs end
 * before the resume point: accounting is read again from the clock's time on,
 * and the last day is read again.
 */
void acct_clock(struct accounting *l, int64_t clock);
/* 1 when a query is due that no event starts. */
int acct_waits(const struct accounting *l);
/* Is an urgent query due or under way?  0 while slurmdbd is away. */
int acct_busy(const struct accounting *l);
/* Returns 1 while more than one query is needed to reach the present. */
int acct_catching_up(const struct accounting *l);
/* Adds the jobs whose rows wait for details to the next query of d. */
void acct_details_wanted(struct accounting *l, struct details *d);
/* The query of d was answered. */
void acct_details_done(struct accounting *l, const struct details *d);
/* Stops and resumes reading of the answer. */
void acct_pause(struct accounting *l, int pause);
/* Rows read since the beginning. */
uint64_t acct_rows_read(const struct accounting *l);

#endif
