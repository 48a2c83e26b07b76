/* SPDX-License-Identifier: MIT */
/*
 * What a sighting means: a new run, one that is known, its end, or nothing.
 * This is the only place where records are made and where the tables of open
 * and done runs change with them.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/cluster.h"
#include "common/log.h"

static const char no_threads[] =
	"The run was seen only after its end, when Slurm had forgotten which "
	"hardware threads and devices it had; only their numbers are known.";
static const char no_devices[] =
	"The run was seen only when it had ended: Slurm no longer knew which "
	"devices it had, only their number.";
static const char ambiguous[] =
	"The texts of this job make Slurm's answer ambiguous; which hardware "
	"threads and devices it has is not guessed.";

int
track_quarantined(const struct cluster *c, uint64_t job, int64_t start)
{
	const struct run_key *skip = c->site->quarantined;
	unsigned i;

	for (i = 0; i < c->site->n_quarantined; i++, skip++)
		if (skip->job == job && skip->start == start &&
		    strcmp(skip->cluster, c->slurm.cluster) == 0)
			return 1;
	return 0;
}

static void
message_set(struct job *job, const char *text)
{
	free(job->message);
	job->message = strdup(text);
}

/* The record's identity: Slurm's cluster, and the start as first sent. */
static void
key_set(struct cluster *c, struct job *job, const struct open_run *run)
{
	snprintf(job->key.cluster, sizeof(job->key.cluster), "%s",
	    c->slurm.cluster);
	if (run != NULL)
		job->key.start = run->start;
}

static uint64_t
send_record(struct cluster *c, struct job *job)
{
	uint64_t order;

	inflight_set(c->w->inflight, &job->key);
	order = outbox_record(c->outbox, job);
	inflight_clear(c->w->inflight);
	return order;
}

/* An earlier run of this job has ended, for this is a later one. */
static void
earlier_left(struct cluster *c, const struct job_snapshot *s)
{
	struct open_run *run;
	size_t at = 0;

	while ((run = open_of_job(&c->open, s->job.key.job, &at)) != NULL) {
		if (run->flags & OPEN_LEFT)
			continue;
		if (s->state->phase == PHASE_PENDING ?
		    s->job.restarts <= run->restarts && run->submit != 0 :
		    run->start >= s->job.key.start)
			continue;
		run->flags |= OPEN_LEFT;
		run->tries = 0;
		run->seen = (uint32_t)now_s();
	}
}

/* The end is known: from the open ones to the done ones. */
static void
run_ended(struct cluster *c, struct open_run *run, const struct job *job,
    int64_t start_said)
{
	done_put(&c->done, job->key.job, job->key.start);
	if (start_said != job->key.start)
		done_put(&c->done, job->key.job, start_said);
	if (run != NULL)
		open_remove(&c->open, run);
}

static void
open_note(struct cluster *c, struct open_run *run, const struct job_snapshot *s,
    int64_t start_said)
{
	run->start_now = (uint32_t)start_said;
	run->submit = (uint32_t)s->job.submit;
	run->restarts = (uint16_t)(s->job.restarts < UINT16_MAX ?
	    s->job.restarts : UINT16_MAX);
	run->seen = poll_number(c->poll);
	run->tries = 0;
	run->flags &= (uint8_t)~(OPEN_SPOOLED | OPEN_LEFT | OPEN_UNCONFIRMED |
	    OPEN_RUNS);
	run->flags |= OPEN_DETAILED;
	if (s->state->phase == PHASE_RUNNING)
		run->flags |= OPEN_RUNS;
	if (s->job.flags & JOB_UNCONFIRMED)
		run->flags |= OPEN_UNCONFIRMED;
}

/* Restarted, or submitted while nobody listened: then its id may have been used. */
static int
may_have_earlier(const struct cluster *c, const struct job *job)
{
	int64_t began = slurm_now(c) - (now_s() - c->began);

	if (job->restarts > 0)
		return 1;
	/* Few sites ever use an id twice: not while accounting is away. */
	return !c->dbd.away && job->submit <= began && (job->submit == 0 ||
	    job->submit >= c->resume_point - c->set->lag);
}

/*
 * cc-backend takes no older run of a job after a newer one.  What ended while
 * nobody listened is not known until accounting was read up to now, or was
 * asked about just this job.
 */
static int
waits_for_earlier(struct cluster *c, const struct job_snapshot *s,
    const struct open_run *run)
{
	const struct job *job = &s->job;

	if (idmap_get(&c->earlier, job->key.job) != NULL)
		return 1;
	if (c->caught_up || run != NULL || !c->slurm.accounting ||
	    !may_have_earlier(c, job))
		return 0;
	if (idmap_put(&c->earlier, job->key.job, NULL) == NULL)
		return 0;
	acct_want(c->accounting, job->key.job);
	return 1;
}

/*
 * Nobody saw this run running: a prolog may take it back, or has just done so
 * (that is COMPLETING too), and a start once sent would bar the real run.
 */
static int
is_unsure(struct cluster *c, const struct job_snapshot *s,
    const struct open_run *run)
{
	if (run != NULL && !(run->flags & OPEN_UNCONFIRMED))
		return 0;
	if (waits_for_earlier(c, s, run))
		return 1;
	return s->state->phase != PHASE_RUNNING;
}

/* The start that a record of an open run goes by. */
static void
live_key(struct cluster *c, struct job_snapshot *s, struct open_run *run,
    int sure)
{
	/* A start that was held has not been said to anybody: it still moves. */
	if (sure)
		run->start = s->job.key.start;
	key_set(c, &s->job, run);
}

/* Does a script follow?  Then the start waits for it, a little. */
static int
wants_script(const struct cluster *c, const struct job_snapshot *s)
{
	return s->batch && c->set->script_max > 0;
}

static uint64_t
send_start(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;
	uint64_t order;

	if (job->accels > 0 && !(job->flags & JOB_HAS_ACCELS) &&
	    job->message == NULL)
		message_set(job, no_devices);
	if (wants_script(c, s))
		job->flags |= JOB_MORE;
	order = send_record(c, job);
	if (order != 0 && wants_script(c, s))
		scripts_want(c->scripts, &job->key, job->array_job);
	return order;
}

/* It has its nodes: it runs, is about to, or has just ended. */
static uint64_t
snapshot_live(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;
	int64_t start_said = job->key.start;
	struct open_run *run = open_match(&c->open, job->key.job, start_said,
	    job->submit, job->restarts);
	int asked = lookup_has(c->lookups, job->key.job, start_said), unsure,
	    sure;
	uint64_t order = 0;

	if (run == NULL && done_has(&c->done, job->key.job, start_said) &&
	    !asked)
		return 0;
	earlier_left(c, s);
	unsure = is_unsure(c, s, run);
	sure = run != NULL && (run->flags & OPEN_UNCONFIRMED) && !unsure;
	if (run == NULL)
		run = open_put(&c->open, job->key.job, start_said);
	if (run == NULL || (run->flags & OPEN_IGNORED))
		return 0;
	if (unsure)
		job->flags |= JOB_UNCONFIRMED;
	live_key(c, s, run, sure);
	if (settings_ignores(c->set, job))
		run->flags |= OPEN_IGNORED;
	else if (asked || sure || !(run->flags & OPEN_DETAILED) ||
	    (run->flags & OPEN_SPOOLED)) {
		/* A run that was detailed by an earlier process: once more does no harm. */
		order = send_start(c, s);
		if (order == 0)
			return 0;
		run = open_find(&c->open, job->key.job, job->key.start);
		if (run == NULL)
			return order;
	}
	open_note(c, run, s, start_said);
	return order;
}

int
track_running(struct cluster *c, struct open_run *run)
{
	struct job job;
	uint64_t order;

	job_init(&job);
	job.exit_code = -1;
	job.key.job = run->job;
	/* Its script may still be on the way. */
	job.flags = JOB_PARTIAL | JOB_LIVE | JOB_MORE;
	key_set(c, &job, run);
	order = send_record(c, &job);
	job_clear(&job);
	if (order == 0)
		return -1;
	run->flags &= (uint8_t)~OPEN_UNCONFIRMED;
	run->flags |= OPEN_RUNS;
	return 0;
}

/* slurmctld still knows it: start, resources and end in one record. */
static uint64_t
snapshot_ended(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;
	int64_t start_said = job->key.start;
	struct open_run *run = open_match(&c->open, job->key.job, start_said,
	    job->submit, job->restarts);
	uint64_t order = 0;

	if (s->never || job->end == 0 || (run == NULL &&
	    done_has(&c->done, job->key.job, start_said) &&
	    !lookup_has(c->lookups, job->key.job, start_said)))
		return 0;
	key_set(c, job, run);
	if ((run == NULL || !(run->flags & OPEN_IGNORED)) &&
	    !settings_ignores(c->set, job)) {
		order = run != NULL && (run->flags & OPEN_DETAILED) ?
		    send_record(c, job) : send_start(c, s);
		if (order == 0)
			return 0;
	}
	run_ended(c, run, job, start_said);
	return order;
}

uint64_t
track_snapshot(struct cluster *c, struct job_snapshot *s)
{
	if (s->state->phase == PHASE_PENDING) {
		earlier_left(c, s);
		return 0;
	}
	if (s->job.key.start <= 0 || run_number(s->job.key.job,
	    s->job.key.start) == 0 ||
	    track_quarantined(c, s->job.key.job, s->job.key.start))
		return 0;
	switch (s->state->phase) {
	case PHASE_CONFIGURING:
	case PHASE_RUNNING:
	case PHASE_COMPLETING:
		return snapshot_live(c, s);
	case PHASE_ENDED:
		return snapshot_ended(c, s);
	default:
		return 0;
	}
}

/* From this version on a resize starts the second record anew. */
#define RESIZE_ANEW	2302

/*
 * The open run of an accounting record.  A resized job's second record starts
 * anew in some versions, when the first one ended: it is the same run.
 */
static struct open_run *
open_of_row(struct cluster *c, const struct job_snapshot *s)
{
	const struct job *job = &s->job;
	struct open_run *run = open_match(&c->open, job->key.job,
	    job->key.start, job->submit, 0), *other;
	size_t at = 0;

	if (run != NULL || job->submit != job->key.start ||
	    c->slurm.version < RESIZE_ANEW)
		return run;
	while ((other = open_of_job(&c->open, job->key.job, &at)) != NULL)
		if (other->start < job->key.start &&
		    (run == NULL || other->start > run->start))
			run = other;
	return run;
}

static enum row_result
row_send(struct cluster *c, struct job_snapshot *s, struct open_run *run)
{
	struct job *job = &s->job;
	int64_t start_said = job->key.start;

	key_set(c, job, run);
	if (job->state == END_REQUEUED && (s->ran == RAN_NEVER ||
	    job->end <= start_said))
		job->flags |= JOB_NEVER_RAN;
	if ((run == NULL || !(run->flags & OPEN_IGNORED)) &&
	    !settings_ignores(c->set, job)) {
		if (run == NULL ||
		    !(run->flags & (OPEN_DETAILED | OPEN_SPOOLED)))
			message_set(job, no_threads);
		if (send_record(c, job) == 0)
			return ROW_FAILED;
		run = open_of_row(c, s);
	}
	run_ended(c, run, job, start_said);
	return ROW_SENT;
}

#define CLOCKS_DIFFER	30	/* seconds that our idea of slurmctld's clock may err by */
#define DISPUTE_TRIES	2	/* questions to slurmctld, then accounting is believed */

static void
dispute(struct cluster *c, struct open_run *run, const struct job *job)
{
	unsigned suppressed;

	run->flags |= OPEN_DISPUTED;
	if (log_allowed(&c->contradicted, &suppressed))
		log_warnx("job %llu has ended at %lld, says accounting, but "
		    "squeue shows it running after that: it is not ended (%u "
		    "more such since the last line)",
		    (unsigned long long)job->key.job, (long long)job->end,
		    suppressed);
}

/*
 * Accounting says that it has ended, and when slurmctld was asked last it ran.
 * Mostly it has ended since, and the next poll will show it; but another
 * slurmctld of this name may have told slurmdbd that nothing runs.  Then it is
 * slurmctld that knows the end, when it comes.
 */
static int
is_contradicted(struct cluster *c, struct open_run *run,
    const struct job *job)
{
	if (run == NULL || c->ctld.away)
		return 0;
	if ((run->flags & (OPEN_RUNS | OPEN_LEFT)) == OPEN_RUNS) {
		if (job->end + CLOCKS_DIFFER < poll_listed_at(c->poll))
			dispute(c, run, job);
		return 1;
	}
	if (!(run->flags & OPEN_DISPUTED) || run->tries >= DISPUTE_TRIES)
		return 0;
	poll_want_left(c->poll, run->job);
	return 1;
}

/*
 * A prolog failed and the job began again in the same second: both runs have
 * one id and one start, and the one that squeue has shown running is not the one
 * that lasted no time.  The other's row is there, or will be.
 */
static int
is_namesake(const struct open_run *run, const struct job *job)
{
	return run != NULL && (run->flags & OPEN_RUNS) != 0 &&
	    job->state == END_REQUEUED && job->end <= job->key.start &&
	    run->tries < DISPUTE_TRIES;
}

/*
 * A run that was requeued before this may have been none: a prolog failed.
 * What lasted longer ran; its step may lack a status because its node died.
 */
#define PROLOG_MAX_S	600

static int
wants_steps(const struct job_snapshot *s)
{
	const struct job *job = &s->job;

	return job->state == END_REQUEUED && s->ran == RAN_UNKNOWN &&
	    job->end > job->key.start &&
	    job->end - job->key.start <= PROLOG_MAX_S;
}

/* A moment for slurmctld to forget, and for clocks to differ. */
#define MEMORY_MARGIN	30

enum row_result
track_accounting_row(struct cluster *c, struct job_snapshot *s, int may_ask)
{
	struct job *job = &s->job;
	struct open_run *run;

	if (s->state->phase != PHASE_ENDED || s->never || job->end == 0 ||
	    run_number(job->key.job, job->key.start) == 0 ||
	    track_quarantined(c, job->key.job, job->key.start))
		return ROW_NOTHING;
	run = open_of_row(c, s);
	if (run == NULL && done_has(&c->done, job->key.job, job->key.start) &&
	    !lookup_has(c->lookups, job->key.job, job->key.start))
		return ROW_NOTHING;
	if (is_contradicted(c, run, job) || is_namesake(run, job))
		return ROW_NOTHING;
	/* slurmdbd heard of the end before the start: it will know more soon. */
	if (job->partition == NULL && (run == NULL ||
	    !(run->flags & OPEN_DETAILED)))
		return ROW_NOTHING;
	/* Nor may a later run of the job overtake one that is in doubt. */
	if (wants_steps(s) || (s->ran == RAN_UNKNOWN &&
	    steps_waiting(c->accounting, job->key.job)))
		return ROW_WANTS_STEPS;
	if (may_ask && (run == NULL || !(run->flags & OPEN_DETAILED)) &&
	    job->end + c->slurm.min_job_age + MEMORY_MARGIN > slurm_now(c) &&
	    !settings_ignores(c->set, job))
		return ROW_WANTS_DETAILS;
	return row_send(c, s, run);
}

/* Told as it is, of a run that is neither open here nor was lately done. */
static enum row_result
backfill_dry_run(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;

	if (open_of_row(c, s) != NULL ||
	    done_has(&c->done, job->key.job, job->key.start) ||
	    settings_ignores(c->set, job))
		return ROW_NOTHING;
	key_set(c, job, NULL);
	return send_record(c, job) != 0 ? ROW_SENT : ROW_FAILED;
}

enum row_result
track_backfill_row(struct cluster *c, struct job_snapshot *s, int dry_run)
{
	struct job *job = &s->job;

	job->flags |= JOB_BACKFILL;
	if (!dry_run)
		return track_accounting_row(c, s, 0);
	if (s->state->phase != PHASE_ENDED || s->never || job->end == 0 ||
	    job->partition == NULL ||
	    run_number(job->key.job, job->key.start) == 0 ||
	    track_quarantined(c, job->key.job, job->key.start))
		return ROW_NOTHING;
	job->flags |= JOB_DRY_RUN;
	return backfill_dry_run(c, s);
}

uint64_t
track_ambiguous(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;

	if (job->key.start <= 0 || run_number(job->key.job,
	    job->key.start) == 0 || s->state->phase != PHASE_RUNNING)
		return 0;
	message_set(job, ambiguous);
	/* Accounting says so of CONFIGURING as well: squeue will tell. */
	s->state = state_word((struct span){ "CONFIGURING", 11 });
	return snapshot_live(c, s);
}
