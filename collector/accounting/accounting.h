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
	 * sacct was asked by id about job, in full.  ended: it has an end;
	 * known: it has a row.
	 */
	void	(*answered)(void *arg, uint64_t job, int ended, int known);
};

struct accounting *acct_new(struct cluster *c,
    const struct accounting_ops *ops, void *arg);
/* Asks what is due, one question at a time. */
void acct_kick(struct accounting *l);
/*
 * The range since the resume point.  may_check: in this poll a command is
 * left to check our permission with, should the answer not prove it.
 */
void acct_poll(struct accounting *l, int may_check);
/* The last day once more. */
void acct_day(struct accounting *l);
/*
 * What ended in a past range, after all that is more urgent; a watermark of
 * its own says that all of it has gone out.  dry_run: it is not to be stored.
 * Replaces what was asked before.  0, or -1 when the range is none.
 */
int acct_backfill(struct accounting *l, int64_t from, int64_t to,
    int dry_run);
/*
 * slurmctld's clock shows this now.  Where it was set back, ends lie before
 * what was read: that is read anew from there on, and the last day at once.
 */
void acct_clock(struct accounting *l, int64_t clock);
/* Something urgent is being asked, or is to be; not while slurmdbd is away. */
int acct_busy(const struct accounting *l);
/* 1 while more than one question is needed to reach the present. */
int acct_catching_up(const struct accounting *l);
/* Adds the jobs of rows that wait for their resources to d's question. */
void acct_details_wanted(struct accounting *l, struct details *d);
/* d's question was answered. */
void acct_details_done(struct accounting *l, const struct details *d);
/* Stops and resumes reading of the answer. */
void acct_pause(struct accounting *l, int pause);
/* Rows read since the beginning. */
uint64_t acct_rows_read(const struct accounting *l);

#endif
