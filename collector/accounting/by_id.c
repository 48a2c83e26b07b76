/* SPDX-License-Identifier: MIT */
/*
 * Queries to accounting by job id: for hook events, for runs that left squeue
 * without an end, and for lookups of the submitter.  One query asks for many
 * ids.  The list of ids fits one argument.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/accounting/accounting_private.h"
#include "collector/base/wake.h"
#include "collector/track/track.h"
#include "common/log.h"
#include "common/text/time_text.h"

#define IDS_MAX	     4000 /* jobs in one query */
#define WAIT_FIRST_S 10	  /* until the next query for an end */
#define WAIT_MAX_S   3600
#define WAIT_AWAY_S  60 /* the same while slurmdbd may be away */
/* then slurmctld is not queried any more: it keeps an end for minutes */
#define SLURMCTLD_TRIES 4
/* reached about an hour after the run left squeue */
#define RUNAWAY_TRIES 9

void
acct_want_left(struct accounting *l)
{
	struct open_run *run;
	size_t at = 0;
	uint32_t now = (uint32_t)now_s();

	while (l->c->work.accounting.n < IDS_MAX &&
	    (run = open_next(&l->c->open, &at)) != NULL)
		if ((run->flags & OPEN_LEFT) && run->seen <= now)
			(void)idmap_put(&l->c->work.accounting, run->job, NULL);
}

/* Slurm reuses job ids: this row is an old run of another job. */
static int
is_history(struct cluster *c, const struct job_snapshot *s)
{
	const struct job *job = &s->job;

	return s->state->phase == PHASE_ENDED && job->end != 0 &&
	    job->end < slurm_now(c) - c->set->max_span &&
	    !lookup_has(c->lookups, job->key.job, job->key.start) &&
	    !track_row_is_open(c, s);
}

static int
on_row(struct job_snapshot *s, void *arg)
{
	struct accounting *l = arg;
	struct cluster *c = l->c;
	uint32_t *asked = idmap_get(&l->asked, s->job.key.job);

	l->rows_read++;
	/* A query for the base id of an array returns all its tasks. */
	if (asked != NULL)
		*asked |= ASKED_ROW;
	sentinel_row(l, s);
	lookup_row(c->lookups, s);
	if (s->state->phase == PHASE_RUNNING) {
		if (idmap_get(&c->ambiguous, s->job.key.job) != NULL)
			track_ambiguous(c, s);
		return 0;
	}
	if (s->state->phase == PHASE_ENDED && asked != NULL)
		*asked |= ASKED_ENDED;
	/* A row that waits for details is sent with the details. */
	if (is_history(c, s) || acct_row_is_kept(l, &s->job.key))
		return 0;
	if (acct_row_overtakes(l, s))
		return acct_row_keep(l, s);
	switch (track_accounting_row(c, s, ROW_MAY_OPEN_DETAILS)) {
	case ROW_WANTS_DETAILS:
		c->work.rows_wait = 1;
		return acct_row_keep(l, s);
	case ROW_WANTS_STEPS:
		return steps_keep(l, s);
	default:
		return 0;
	}
}

/*
 * The answer has no end of the run: accounting is queried again, each time
 * after a longer wait.
 */
static void
left_again(struct cluster *c, uint64_t job)
{
	struct open_run *run;
	size_t at = 0;
	uint32_t wait = WAIT_FIRST_S;
	unsigned i;

	while ((run = open_of_job(&c->open, job, &at)) != NULL) {
		if (!(run->flags & OPEN_LEFT))
			continue;
		for (i = 0; i < run->tries && wait < WAIT_MAX_S; i++)
			wait *= 2;
		if (wait > WAIT_MAX_S)
			wait = WAIT_MAX_S;
		/* slurmdbd may never have the end; slurmctld may have it. */
		if (run->tries < SLURMCTLD_TRIES)
			(void)idmap_put(&c->work.left, job, NULL);
		/* Not while Slurm hides the job from us, which the log says once. */
		if (run->tries < UINT8_MAX &&
		    (c->permission != PERMISSION_NONE ||
			run->tries + 1 < RUNAWAY_TRIES))
			run->tries++;
		run->seen = (uint32_t)now_s() + wait;
		if (c->permission == PERMISSION_NONE)
			continue;
		if (run->tries == RUNAWAY_TRIES && !c->slurm.accounting)
			log_warnx("%s: slurmctld does not have the job "
				  "any more and Slurm has no slurmdbd: the run "
				  "has no end and stays running in cc-backend",
			    cluster_run_text(c, run->job, run->start));
		else if (run->tries == RUNAWAY_TRIES)
			log_warnx(
			    "%s: slurmctld does not have the job "
			    "any more and slurmdbd has no end of the run; "
			    "run `sacctmgr show runawayjobs` to correct slurmdbd",
			    cluster_run_text(c, run->job, run->start));
	}
}

void
acct_earlier_read(struct accounting *l, uint64_t job)
{
	struct cluster *c = l->c;

	if (idmap_get(&c->earlier, job) == NULL ||
	    idmap_get(&c->work.steps, job) != NULL || acct_job_is_kept(l, job))
		return;
	idmap_remove(&c->earlier, job);
	worklist_confirm(c, job);
}

static void
asked_done(struct accounting *l, int trusted)
{
	struct cluster *c = l->c;
	struct idmap asked = l->asked;
	uint64_t job;
	uint32_t bits;
	size_t at = 0;

	l->asked = (struct idmap) { 0 };
	while ((job = idmap_next(&asked, &at, &bits)) != 0) {
		left_again(c, job);
		idmap_remove(&c->ambiguous, job);
		acct_earlier_read(l, job);
		lookup_accounted(c->lookups, job, trusted);
		parts_answered(l, job, (bits & ASKED_ROW) != 0);
		l->ops->answered(l->ops_arg, job, (bits & ASKED_ENDED) != 0,
		    (bits & ASKED_ROW) != 0);
	}
	idmap_clear(&asked);
}

/* The jobs return to the work list. */
static void
asked_failed(struct accounting *l)
{
	uint64_t job;
	size_t at = 0;

	while ((job = idmap_next(&l->asked, &at, NULL)) != 0)
		(void)idmap_put(&l->c->work.accounting, job, NULL);
	idmap_clear(&l->asked);
}

/* The answer is complete. */
static void
asked_answered(struct accounting *l)
{
	uint64_t job;
	size_t at = 0;

	l->ids_most = l->ids_most * 2 < IDS_MAX ? l->ids_most * 2 : 0;
	while ((job = idmap_next(&l->asked, &at, NULL)) != 0) {
		idmap_remove(&l->ids_unread, job);
		idmap_remove(&l->ids_later, job);
	}
	idmap_clear(&l->steps_sent[0]);
	asked_done(l, sentinel_present(l));
}

/*
 * The query for one job failed: the other jobs do not wait for it.  The job is queried
 * after longer and longer waits.  After an hour each failure is an answer that proves
 * nothing, so that a hook event or a later run does not wait for ever.
 */
static void
job_failed(struct accounting *l)
{
	size_t at = 0;
	uint64_t job = idmap_next(&l->asked, &at, NULL);
	uint32_t age, wait, most, *later;

	if (l->ids_later.n >= IDS_MAX) {
		idmap_clear(&l->ids_later);
		idmap_clear(&l->ids_unread);
	}
	age = wait = acct_unread_age(l, &l->ids_unread, job);
	if (wait < WAIT_FIRST_S && l->c->work.accounting.n > 0)
		wait = WAIT_FIRST_S;
	most = l->c->dbd.fails > 1 ? WAIT_AWAY_S : WAIT_MAX_S;
	if (wait > most)
		wait = most;
	later = idmap_put(&l->ids_later, job, NULL);
	if (later != NULL)
		*later = (uint32_t)now_s() + wait;
	if (!acct_is_lost(l, age))
		return;
	log_notice(
	    "job %llu%s: sacct cannot read the records of the job; the next "
	    "query is in %s",
	    (unsigned long long)job, cluster_suffix(l->c),
	    duration_text((int64_t)wait * 1000));
	asked_done(l, 0);
}

/*
 * sacct may be unable to read so many jobs, or one of them: slurmdbd needs too long or
 * limits the size of an answer, or sacct lacks memory.  The next query has half of the
 * jobs, and after an answer twice as many.
 */
static void
ids_reduce(struct accounting *l, enum command_outcome outcome)
{
	if (!acct_may_be_size(outcome))
		return;
	if (l->asked.n > 1)
		l->ids_most = l->asked.n / 2;
	else if (l->asked.n == 1)
		job_failed(l);
}

static void
on_end(const struct command_end *end, int complete, void *arg)
{
	struct accounting *l = arg;
	int ok = complete && sacct_end(&l->reader) == 0;

	sacct_clear(&l->reader);
	if (ok) {
		health_good(&l->c->dbd);
		asked_answered(l);
	} else {
		if (!steps_ended_query(l, end) &&
		    !acct_column_missing(l, end)) {
			query_failed(l->c, &l->c->dbd, "sacct", end);
			ids_reduce(l, end->outcome);
			l->ids_failed = 1;
		}
		asked_failed(l);
	}
	wake(l->c);
}

static const struct query_type by_id_query = {
	.kind = QUESTION_RUNS,
	.on_output = acct_question_feed,
	.on_end = on_end,
};

/* Is the job one that could not be read, and is to be queried later? */
static int
is_later(const struct accounting *l, uint64_t job)
{
	const uint32_t *later = idmap_get(&l->ids_later, job);

	return later != NULL && (uint32_t)now_s() < *later;
}

int
acct_ids_query(struct accounting *l)
{
	struct idmap *wanted = &l->c->work.accounting, rest = { 0 };
	struct id_list *ids = &l->query.question.ids;
	size_t most = l->ids_most != 0 ? l->ids_most : IDS_MAX;
	uint64_t job;
	size_t at = 0;

	if (wanted->n == 0)
		return 0;
	acct_question(l, &by_id_query, on_row);
	idmap_clear(&l->asked);
	while ((job = idmap_next(wanted, &at, NULL)) != 0) {
		/* Slurm has no such id; a hook can send any number. */
		if (job > UINT32_MAX)
			continue;
		if (ids->n >= most || is_later(l, job) ||
		    id_list_add(ids, job) == -1)
			(void)idmap_put(&rest, job, NULL);
		else
			(void)idmap_put(&l->asked, job, NULL);
	}
	idmap_clear(wanted);
	*wanted = rest;
	if (l->asked.n == 0)
		return 0;
	/* A job counts as unknown only in an answer with the sentinel. */
	if (l->sentinel.job != 0 &&
	    idmap_get(&l->asked, l->sentinel.job) == NULL)
		(void)id_list_add(ids, l->sentinel.job);
	sentinel_begin(l);
	lookup_asked(l->c->lookups, &l->asked);
	if (query_start(&l->query) == -1)
		asked_failed(l);
	return 1;
}

/*
 * Slurm has no accounting.  Each hook event is answered here: slurmctld is
 * queried again, or the event is acknowledged after its last try.  A run that
 * slurmctld does not have any more stays open, and this is logged.  A start
 * that waits for an earlier run, which only accounting had, waits no longer.
 */
void
acct_ids_none(struct accounting *l)
{
	struct cluster *c = l->c;
	struct idmap wanted = c->work.accounting;
	uint64_t job;
	size_t at = 0;

	c->work.accounting = (struct idmap) { 0 };
	while ((job = idmap_next(&wanted, &at, NULL)) != 0) {
		left_again(c, job);
		idmap_remove(&c->ambiguous, job);
		acct_earlier_read(l, job);
		l->ops->answered(l->ops_arg, job, 0, 0);
	}
	idmap_clear(&wanted);
}
