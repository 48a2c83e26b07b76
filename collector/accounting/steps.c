/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a run that was requeued early ran, or whether its prolog
 * failed.  The steps of the run prove it.  A batch script that was started has
 * a step with an exit status.  When slurmctld's prolog failed, or the node did
 * not boot, there is no step.  When a node's prolog failed, the step has no
 * status.  The rows of such runs wait until the steps were queried.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/accounting/accounting_private.h"
#include "collector/base/wake.h"
#include "collector/track/track.h"

static struct idmap *
sent_map(struct accounting *l, const struct job *job)
{
	return &l->steps_sent[(job->flags & JOB_BACKFILL) != 0];
}

int
steps_keep(struct accounting *l, struct job_snapshot *s)
{
	const struct run_key *key = &s->job.key;
	struct job_snapshot *copy;
	unsigned i;

	if (idmap_get(sent_map(l, &s->job), run_number(key->job, key->start)) !=
	    NULL)
		return 0;
	for (i = 0; i < l->n_step_rows; i++)
		if (run_key_equal(&l->step_rows[i]->job.key, key)) {
			/* A poll reports the row even if the backfill is cancelled. */
			if (!(s->job.flags & JOB_BACKFILL))
				l->step_rows[i]->job.flags &= ~JOB_BACKFILL;
			return 0;
		}
	/* The row is read again when there is room. */
	if (l->n_step_rows == STEP_ROWS_MAX) {
		l->steps_full = 1;
		return -1;
	}
	copy = malloc(sizeof(*copy));
	if (copy == NULL)
		return -1;
	*copy = *s;
	copy->ran = RAN_UNKNOWN;
	snapshot_init(s);
	l->step_rows[l->n_step_rows++] = copy;
	(void)idmap_put(&l->c->work.steps, copy->job.key.job, NULL);
	return 0;
}

int
steps_ended_query(struct accounting *l, const struct command_end *end)
{
	if (!l->steps_full || end->outcome != COMMAND_REFUSED)
		return 0;
	/* Before the next query for steps the same row would end it again. */
	l->full_next[l->query.type->kind == QUESTION_RANGE] = l->steps_next;
	log_limited(&l->steps_log, log_notice,
	    "accounting%s has more than %d runs that were requeued early: "
	    "their steps are read, %d runs at a time, and the query is "
	    "repeated",
	    cluster_suffix(l->c), STEP_ROWS_MAX, STEP_ROWS_MAX);
	return 1;
}

int
steps_block(const struct accounting *l, enum question_kind kind)
{
	return now_s() < l->full_next[kind == QUESTION_RANGE];
}

/*
 * Does the step prove that the run ran?  The step of a run whose prolog failed on
 * a node has no status, and Slurm calls the run requeued.  The step of another run
 * may have neither status nor end, because its node died.
 */
static int
is_step_of(const struct job_step *step, const struct job *job)
{
	if (step->is_run || step->start < job->key.start)
		return 0;
	if (job->state == END_REQUEUED)
		return step->has_status && step->end <= job->end;
	return step->start <= job->end;
}

/*
 * slurmdbd may purge steps sooner than jobs (PurgeStepAfter), the older ones first,
 * and a site may have stored none at that time (AccountingStorageEnforce=nosteps).
 * So a missing step proves nothing about a run that ended longer ago, unless a step
 * of its job is there that is older, or that began within this time after the run.
 * A report of such a run cannot harm a later one: cc-backend compares only the starts
 * of one day.
 */
#define STEPS_SURE_S 86400

static int
is_old_step(const struct job_step *step, const struct job *job)
{
	return !step->is_run && step->start <= job->end + STEPS_SURE_S;
}

/* A later run of the job, or the job that is pending again. */
static int
is_later_run(const struct job_step *step, const struct job *job)
{
	return step->is_run && step->start != job->key.start &&
	    (step->start == 0 || step->start >= job->end);
}

/*
 * The row of a run must be there: without it the answer comes from a slurmdbd
 * that hides the run, or was restored, and a missing step proves nothing.
 */
static int
on_line(struct span line, void *arg)
{
	struct accounting *l = arg;
	struct job_snapshot *s;
	struct job_step step;
	unsigned i;

	if (step_row(line, &step) == -1)
		return 0;
	for (i = 0; i < l->n_step_asked; i++) {
		s = l->step_rows[i];
		if (s->job.key.job != step.job)
			continue;
		s->steps_stored |= is_old_step(&step, &s->job);
		if (is_step_of(&step, &s->job))
			s->ran = RAN_YES;
		else if (step.is_run && step.end == s->job.end) {
			if (step.has_status && s->ran == RAN_UNKNOWN)
				s->ran = RAN_NEVER;
		} else if (is_later_run(&step, &s->job))
			s->followed = 1;
	}
	return 0;
}

/* The answer is complete: an old run of a job without steps counts as one that ran. */
static void
steps_purged(struct accounting *l)
{
	int64_t sure = slurm_now(l->c) - STEPS_SURE_S;
	struct job_snapshot *s;
	unsigned i;

	for (i = 0; i < l->n_step_asked; i++) {
		s = l->step_rows[i];
		if (s->ran == RAN_NEVER && s->job.end < sure &&
		    !s->steps_stored)
			s->ran = RAN_YES;
	}
}

/* Seconds until the next query after a failure, or an answer that lacks a run */
#define UNSHOWN_WAIT_S 60

/*
 * Notes whether the answer lacks runs.  After a long time they count as runs that
 * ran: nothing proves that they did not.
 */
static void
steps_unshown(struct accounting *l)
{
	const struct job_snapshot *lacks = NULL;
	unsigned i;

	for (i = 0; i < l->n_step_asked && lacks == NULL; i++)
		if (l->step_rows[i]->ran == RAN_UNKNOWN)
			lacks = l->step_rows[i];
	if (lacks == NULL) {
		l->steps_missed_at = 0;
		return;
	}
	if (l->steps_missed_at == 0)
		l->steps_missed_at = now_s();
	l->steps_next = now_s() + UNSHOWN_WAIT_S;
	if (now_s() - l->steps_missed_at < LOST_AFTER_S) {
		log_limited(&l->unshown_log, log_notice,
		    "accounting's answer lacks %s, which an earlier answer had: "
		    "its steps are read later",
		    cluster_run_text(l->c, lacks->job.key.job,
			lacks->job.key.start));
		return;
	}
	for (i = 0; i < l->n_step_asked; i++)
		if (l->step_rows[i]->ran == RAN_UNKNOWN)
			l->step_rows[i]->ran = RAN_YES;
	l->steps_missed_at = 0;
}

/*
 * Sends a row, or keeps it until slurmctld was queried for the details of its run
 * or of an earlier one.  A repeated query skips the row only if a record was sent.
 * Returns -1, with the row as it was, when the row must be sent later.
 */
static int
step_row_send(struct accounting *l, struct job_snapshot *s)
{
	/* The record may get another start. */
	struct run_key key = s->job.key;
	uint32_t flags = s->job.flags;
	enum row_result result = ROW_WANTS_DETAILS;

	if (flags & JOB_BACKFILL)
		result = track_accounting_row(l->c, s, 0);
	else if (!acct_job_is_kept(l, key.job))
		result = track_accounting_row(l->c, s, ROW_MAY_OPEN_DETAILS);
	if (result == ROW_WANTS_DETAILS && l->n_kept < KEPT_ROWS_MAX &&
	    acct_row_keep(l, s) == 0) {
		l->c->work.rows_wait = 1;
		/* For rows_done(). */
		s->job.key = key;
		return 0;
	}
	if (result == ROW_SENT && l->steps_full)
		(void)idmap_put(sent_map(l, &s->job),
		    run_number(key.job, key.start), NULL);
	if (result != ROW_FAILED && result != ROW_WANTS_DETAILS)
		return 0;
	s->job.key.start = key.start;
	s->job.flags = flags;
	return -1;
}

/* Does a row of this job stay among the first n rows? */
static int
has_row(const struct accounting *l, unsigned n, uint64_t job)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (l->step_rows[i]->job.key.job == job)
			return 1;
	return 0;
}

/*
 * The jobs of these rows wait no longer, unless they have another row, or were not
 * queried by id yet: accounting may have more runs of them.
 */
static void
rows_done(struct accounting *l, struct job_snapshot *const *rows, unsigned n)
{
	unsigned i;
	uint64_t job;

	idmap_clear(&l->c->work.steps);
	for (i = 0; i < l->n_step_rows; i++)
		(void)idmap_put(&l->c->work.steps, l->step_rows[i]->job.key.job,
		    NULL);
	for (i = 0; i < n; i++) {
		job = rows[i]->job.key.job;
		if (idmap_get(&l->c->work.steps, job) == NULL &&
		    idmap_get(&l->c->work.accounting, job) == NULL &&
		    !acct_job_is_kept(l, job)) {
			idmap_remove(&l->c->earlier, job);
			worklist_confirm(l->c, job);
		}
		snapshot_clear(rows[i]);
		free(rows[i]);
	}
}

/*
 * Sends the decided rows.  A row that the answer lacks waits for the next query, and
 * so do the later rows of its job: the runs of a job are sent in their order.  All
 * rows wait from the first one on that the queue to the submitter did not take.
 */
static void
rows_send(struct accounting *l)
{
	struct job_snapshot *done[STEP_ROWS_MAX], *s;
	unsigned i, n = 0, kept = 0;
	int full = 0;

	for (i = 0; i < l->n_step_rows; i++) {
		s = l->step_rows[i];
		if (s->ran != RAN_UNKNOWN && !full &&
		    !has_row(l, kept, s->job.key.job)) {
			full = step_row_send(l, s) == -1;
			if (!full) {
				done[n++] = s;
				continue;
			}
		}
		s->ran = RAN_UNKNOWN;
		l->step_rows[kept++] = s;
	}
	l->n_step_asked = 0;
	l->n_step_rows = kept;
	rows_done(l, done, n);
	acct_watermark(l);
}

/*
 * The rows of these jobs become the first ones, or else the last ones.  Returns the
 * number of rows of the first group.
 */
static unsigned
rows_order(struct accounting *l, const struct idmap *jobs, int first)
{
	struct job_snapshot *rest[STEP_ROWS_MAX], *s;
	unsigned i, n = 0, n_rest = 0;

	for (i = 0; i < l->n_step_rows; i++) {
		s = l->step_rows[i];
		if ((idmap_get(jobs, s->job.key.job) != NULL) == first)
			l->step_rows[n++] = s;
		else
			rest[n_rest++] = s;
	}
	for (i = 0; i < n_rest; i++)
		l->step_rows[n + i] = rest[i];
	return n;
}

/* Are all rows of the query of one job? */
static int
is_one_job(const struct accounting *l)
{
	unsigned i;

	for (i = 1; i < l->n_step_asked; i++)
		if (l->step_rows[i]->job.key.job !=
		    l->step_rows[0]->job.key.job)
			return 0;
	return 1;
}

/* Jobs whose steps cannot be read.  After more of them each has a new hour. */
#define UNREAD_MAX 256

/* Can the steps of the job not be read for a long time? */
static int
is_unreadable(struct accounting *l, uint64_t job)
{
	if (l->steps_unread.n == UNREAD_MAX &&
	    idmap_get(&l->steps_unread, job) == NULL)
		idmap_clear(&l->steps_unread);
	return acct_is_lost(l, acct_unread_age(l, &l->steps_unread, job));
}

/*
 * The query for the steps of one job failed.  After an hour all its runs count as runs
 * that ran, also those that follow while no query for the job is answered.
 */
static void
job_failed(struct accounting *l)
{
	uint64_t job = l->step_rows[0]->job.key.job;
	struct idmap jobs = { 0 };
	unsigned i;

	if (is_unreadable(l, job)) {
		log_notice(
		    "%s: sacct cannot read the steps of the job: the run "
		    "counts as a run that was executed",
		    cluster_run_text(l->c, job,
			l->step_rows[0]->job.key.start));
		for (i = 0; i < l->n_step_rows; i++)
			if (l->step_rows[i]->job.key.job == job)
				l->step_rows[i]->ran = RAN_YES;
		rows_send(l);
		return;
	}
	(void)idmap_put(&jobs, job, NULL);
	(void)rows_order(l, &jobs, 0);
	idmap_clear(&jobs);
}

/*
 * sacct may be unable to read the steps of so many runs, or of one job that has very
 * many steps: slurmdbd needs too long or limits the size of an answer, or sacct lacks
 * memory.  Other queries come before the next one, which has half of the rows, and
 * after an answer twice as many.
 */
static void
steps_failed(struct accounting *l, enum command_outcome outcome)
{
	unsigned i, n = l->n_step_asked;
	int one = is_one_job(l);

	for (i = 0; i < n; i++)
		l->step_rows[i]->ran = RAN_UNKNOWN;
	/* Without room for more rows, a query for a range makes no progress. */
	if (l->n_step_rows < STEP_ROWS_MAX || one)
		l->steps_next = now_s() + UNSHOWN_WAIT_S;
	if (acct_may_be_size(outcome)) {
		if (one)
			job_failed(l);
		else
			l->steps_most = n / 2;
	}
	l->n_step_asked = 0;
}

/* The answer is complete. */
static void
steps_answered(struct accounting *l)
{
	unsigned i;

	l->steps_most *= 2;
	if (l->steps_most >= STEP_ROWS_MAX)
		l->steps_most = 0;
	for (i = 0; i < l->n_step_asked; i++)
		idmap_remove(&l->steps_unread, l->step_rows[i]->job.key.job);
	steps_purged(l);
	steps_unshown(l);
	rows_send(l);
}

static void
on_end(const struct command_end *end, int complete, void *arg)
{
	struct accounting *l = arg;

	if (complete) {
		health_good(&l->c->dbd);
		steps_answered(l);
	} else {
		query_failed(l->c, &l->c->dbd, "sacct", end);
		steps_failed(l, end->outcome);
	}
	l->steps_full = 0;
	wake(l->c);
}

static const struct query_type step_query = {
	.kind = QUESTION_STEPS,
	.on_line = on_line,
	.on_end = on_end,
};

/*
 * Returns the number of rows of the next query; these become the first ones.  A job
 * whose steps could not be read is queried alone, and every second time at most, so
 * that other jobs do not wait for it.
 */
static unsigned
rows_choose(struct accounting *l)
{
	unsigned n = rows_order(l, &l->steps_unread, 0), most = l->steps_most;
	uint64_t job;

	if (n < l->n_step_rows && (n == 0 || l->unread_turn)) {
		l->unread_turn = 0;
		most = rows_order(l, &l->steps_unread, 1);
		job = l->step_rows[0]->job.key.job;
		for (n = 1; n < most; n++)
			if (l->step_rows[n]->job.key.job != job)
				break;
		return n;
	}
	l->unread_turn = 1;
	return most != 0 && n > most ? most : n;
}

int
steps_query(struct accounting *l)
{
	unsigned i, n;

	if (l->n_step_rows == 0 || now_s() < l->steps_next)
		return 0;
	n = rows_choose(l);
	query_begin(&l->query, l->c, &step_query, l);
	for (i = 0; i < n; i++)
		(void)id_list_add(&l->query.question.ids,
		    l->step_rows[i]->job.key.job);
	l->n_step_asked = n;
	if (query_start(&l->query) == -1)
		l->n_step_asked = 0;
	return 1;
}

/* Nothing will prove that a run did not run: the runs count as runs that ran. */
void
steps_none(struct accounting *l)
{
	unsigned i;

	if (l->n_step_rows == 0)
		return;
	for (i = 0; i < l->n_step_rows; i++)
		l->step_rows[i]->ran = RAN_YES;
	rows_send(l);
}
