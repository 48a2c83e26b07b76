/* SPDX-License-Identifier: MIT */
/*
 * Finds the run that a record belongs to: its row, also when the start time has
 * moved, or the tombstone of a run that is done.
 *
 * cc-backend may have lost a run that is done here. A backfill stores such a
 * run again, held until a list of cc-backend's jobs proves that cc-backend lacks
 * it. A run that was not reported on purpose is not stored again.
 */
#include "config.h"

#include <string.h>
#include <time.h>

#include "submitter/spool/spool_private.h"

/*
 * Runs that are compared with a record: of the same submission or with the same
 * end.  A requeue is another submission, so there are few.
 */
#define LIKE_MAX 64
/* Records that are read for the number of restarts: a job has one or two open runs. */
#define READ_MAX 4

/* The submission is the same, and the times can belong to one run. */
static int
is_moved(const struct job *job, int64_t start, int64_t end, int64_t submit)
{
	if (job->submit == 0 || submit != job->submit || start == 0)
		return 0;
	if (job_is_set_back(job, start))
		return 1;
	/*
	 * A run may end in the second in which its nodes are up.  The next run of a
	 * requeued job begins then only if the job was submitted in this second.
	 */
	if (end != 0 && job->key.start >= end)
		return job->key.start == end && submit < end &&
		    (job->end == 0 || job->end == end);
	return job->end == 0 || start < job->end;
}

/* Accounting does not always have the restart count; the record has 0 then. */
static int
restarts_agree(struct spool *sp, const struct spool_run *run,
    const struct job *job)
{
	struct job old;
	int same;

	/* As the same run it would be left out with the quarantined one. */
	if (run->flags & RUN_QUARANTINED)
		return job->restarts == 0;
	job_init(&old);
	same = job->restarts == 0 || spool_record(sp, run->id, &old) == -1 ||
	    old.restarts == job->restarts;
	job_clear(&old);
	return same;
}

/*
 * A row of accounting that begins when its job was resized, or (before Slurm 23.02)
 * has the resize as its submission: the run of the job began earlier and has the
 * same end.
 */
static int
is_resized_part(const struct job *job, int64_t start, int64_t end)
{
	return job->submit >= job->key.start && job->end > job->key.start &&
	    end == job->end && start < job->key.start;
}

#define FOUND_PART 2 /* the row has all that a part of the run can tell */

/* May the record belong to this row of SQL_RUN_LATEST? */
static int
is_like(const struct job *job, sqlite3_stmt *st)
{
	return sqlite3_column_int64(st, 6) == job->key.start || /* alias */
	    (job->submit != 0 && sqlite3_column_int64(st, 5) == job->submit) ||
	    (job->end != 0 && sqlite3_column_int64(st, 4) == job->end);
}

/* Reads such rows of the job, the latest first: how many, or -1. */
static int
like_read(struct spool *sp, const struct job *job,
    struct spool_run rows[LIKE_MAX])
{
	sqlite3_stmt *st = spool_query(sp, SQL_RUN_LATEST,
	    VALUES(INT(spool_cluster_id(sp, job->key.cluster, 0)),
		INT(job->key.job), INT(JOB_RUNS_MAX)));
	int rc, n = 0;

	if (st == NULL)
		return -1;
	while ((rc = spool_step(sp, st)) == 1 && n < LIKE_MAX)
		if (is_like(job, st))
			spool_row(sp, st, &rows[n++]);
	sqlite3_reset(st);
	return rc == -1 ? -1 : n;
}

/*
 * Finds the row of the run under another start time: 1 and *run, FOUND_PART, 0,
 * or -1.
 */
static int
find_moved(struct spool *sp, const struct job *job, struct spool_run *run)
{
	struct spool_run rows[LIKE_MAX];
	int n = like_read(sp, job, rows), i, left = READ_MAX;

	for (i = n - 1; i >= 0; i--) {
		if (job->key.start == rows[i].alias ||
		    (is_moved(job, rows[i].key.start, rows[i].end,
			 rows[i].submit) &&
			left-- > 0 && restarts_agree(sp, &rows[i], job))) {
			*run = rows[i];
			return 1;
		}
		if (is_resized_part(job, rows[i].key.start, rows[i].end))
			return FOUND_PART;
	}
	return n == -1 ? -1 : 0;
}

/* The other start time of a run that is done; 0 = none. */
static int64_t
done_start(struct spool *sp, const struct job *job)
{
	sqlite3_stmt *st = spool_query(sp, SQL_TOMB_OF_JOB,
	    VALUES(INT(spool_cluster_id(sp, job->key.cluster, 0)),
		INT(job->key.job), INT(JOB_RUNS_MAX)));
	int64_t start, end, waited, found = 0;

	if (st == NULL)
		return 0;
	while (found == 0 && spool_step(sp, st) == 1) {
		start = sqlite3_column_int64(st, 0);
		end = start + spool_lasted(sqlite3_column_int64(st, 1));
		waited = sqlite3_column_int64(st, 2);
		if (start == job->key.start)
			continue;
		/* A run of no length ends in the second of its start. */
		if (((end > start || job_is_set_back(job, start)) &&
			is_moved(job, start, end, start - waited)) ||
		    is_resized_part(job, start, end))
			found = start;
	}
	sqlite3_reset(st);
	return found;
}

/*
 * Does the spool know a later run of the job that was neither rejected nor a false
 * start?
 */
static int
has_later(struct spool *sp, const struct job *job)
{
	return spool_has_row(sp, SQL_BLOCKED,
	    VALUES(INT(spool_cluster_id(sp, job->key.cluster, 0)),
		INT(job->key.job), INT(job->key.start), INT(job->key.start)));
}

/*
 * May `backfill --nats` store this run?  A reload may have removed natsServer
 * while the range was read: nothing would end the row.
 */
static int
may_republish(const struct spool *sp, const struct job *job)
{
	return sp->policy.to[DEST_NATS] &&
	    job->key.start <= sp->policy.republish.until;
}

/*
 * May a backfill store this run, which is done, again?  Without REST there is
 * no list that tells whether cc-backend has it; `backfill --nats` needs none.
 */
static int
may_restore(struct spool *sp, const struct job *job)
{
	if (!(job->flags & JOB_BACKFILL) || job->end == 0 ||
	    (job->flags & JOB_OPTED_OUT) || spool_is_false_start(job))
		return 0;
	if (sp->policy.republish.records)
		return may_republish(sp, job);
	if (!sp->policy.to[DEST_REST])
		return 0;
	/* A later run has replaced it in cc-backend. */
	return !(sp->policy.last_requeued && spool_is_requeued_early(job) &&
	    has_later(sp, job));
}

/*
 * The run is done. If the spool knows it under another start only, this start
 * was sent to cc-backend and the record gets it.
 */
static enum run_found
done_found(struct spool *sp, struct job *job, int exact, int64_t other,
    struct spool_run *run, int64_t *alias)
{
	int found;

	if (!may_restore(sp, job))
		return FOUND_DONE;
	*alias = other;
	if (exact)
		return FOUND_RESTORABLE;
	*alias = job->key.start;
	job->key.start = other;
	found = spool_find(sp, &job->key, run);
	if (found == -1)
		return FOUND_ERROR;
	return found == 1 ? FOUND_ROW : FOUND_RESTORABLE;
}

/*
 * `backfill --nats` does not publish a run that the spool may still have to
 * deliver to cc-backend: the run has no tombstone, and is so recent that its
 * tombstone would not be removed yet.
 */
static int
is_undelivered(const struct spool *sp, const struct job *job)
{
	return sp->policy.to[DEST_REST] && job->end >= sp->now.low_water &&
	    job->end >= (int64_t)time(NULL) - sp->keep;
}

/* The spool does not know the run. */
static enum run_found
none_found(const struct spool *sp, const struct job *job)
{
	if (!sp->policy.republish.records || !(job->flags & JOB_BACKFILL))
		return FOUND_NONE;
	return !may_republish(sp, job) || is_undelivered(sp, job) ? FOUND_DONE :
								    FOUND_NONE;
}

/*
 * A slurmctld that ended during PrologSlurmctld reported the run as requeued; the
 * next slurmctld runs it with the same start.
 */
static int
has_run_nevertheless(struct spool *sp, const struct job *job)
{
	return (job->flags & JOB_HAS_START) && !(job->flags & JOB_PARTIAL) &&
	    (job->end == 0 || job->state != END_REQUEUED) &&
	    spool_false_start_end(sp, &job->key) != 0;
}

/*
 * The row of a false start that a new collector, or a backfill, reads again.
 * Accounting calls such a run NODE_FAIL or PREEMPTED if its node did not boot, or if
 * it was preempted in its prolog; only the first collector saw that it never ran.
 */
static int
is_false_start_again(struct spool *sp, const struct job *job)
{
	return (job->state == END_NODE_FAIL || job->state == END_PREEMPTED) &&
	    job->end != 0 && job->end == spool_false_start_end(sp, &job->key);
}

enum run_found
spool_search(struct spool *sp, struct job *job, struct spool_run *run,
    int64_t *alias)
{
	int found = spool_find(sp, &job->key, run), exact = 0;
	int64_t other;

	*alias = 0;
	if (found == 0) {
		exact = spool_is_done(sp, &job->key);
		if (exact && is_false_start_again(sp, job))
			return FOUND_DONE;
		if (exact && has_run_nevertheless(sp, job)) {
			if (spool_reopen(sp, &job->key) == -1)
				return FOUND_ERROR;
			return FOUND_NONE;
		}
		if (exact && !(job->flags & JOB_BACKFILL))
			return FOUND_DONE;
		found = find_moved(sp, job, run);
	}
	if (found == FOUND_PART)
		return FOUND_DONE;
	if (found != 0)
		return found == 1 ? FOUND_ROW : FOUND_ERROR;
	other = done_start(sp, job);
	if (exact || other != 0)
		return done_found(sp, job, exact, other, run, alias);
	return none_found(sp, job);
}

int
spool_may_lack(struct spool *sp, struct job *job, int64_t *alias)
{
	struct spool_run run;
	enum run_found found = spool_search(sp, job, &run, alias);

	return found == FOUND_NONE || found == FOUND_RESTORABLE;
}
