/* SPDX-License-Identifier: MIT */
/*
 * Decides what a row of accounting means.  Accounting has the ends of runs.  A
 * row may wait until slurmctld was queried for the details of the run, or
 * accounting for its steps.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/track/outbox.h"
#include "collector/track/track_private.h"
#include "common/log.h"
#include "common/text/time_text.h"

static const char no_threads[] =
    "The run was found after its end. Slurm then reports the numbers of its "
    "hardware threads and devices, but not which ones.";

/* From this version on the second row of a resized job has a new start. */
#define VERSION_RESIZE_NEW_START 2302

/*
 * Finds the run of a row whose end is before its start, because the clock was
 * set back.
 */
static struct open_run *
open_set_back(struct cluster *c, const struct job *job)
{
	struct open_run *run;
	size_t at = 0;

	while ((run = open_of_job(&c->open, job->key.job, &at)) != NULL)
		if (run->submit != 0 && (int64_t)run->submit == job->submit &&
		    job_is_set_back(job, run->start))
			return run;
	return NULL;
}

/*
 * The open run of a row of accounting.  In some versions the second row of a
 * resized job begins when the first one ended: both are one run.
 */
static struct open_run *
open_of_row(struct cluster *c, const struct job_snapshot *s)
{
	const struct job *job = &s->job;
	struct open_run *run = open_match(&c->open, job->key.job,
			    job->key.start, job->submit, 0),
			*other;
	size_t at = 0;

	if (run == NULL)
		run = open_set_back(c, job);
	if (run != NULL || job->submit != job->key.start ||
	    c->slurm.version < VERSION_RESIZE_NEW_START)
		return run;
	/* Slurm has used the job id again: this run was sent as one of its own. */
	if (done_has(&c->done, job->key.job, job->key.start))
		return NULL;
	while ((other = open_of_job(&c->open, job->key.job, &at)) != NULL)
		if (other->start < job->key.start &&
		    (run == NULL || other->start > run->start))
			run = other;
	return run;
}

/*
 * The prolog of a run that was requeued within this time may have failed.  A
 * run that lasted longer has run; its step may lack a status because the node
 * died.
 */
#define PROLOG_MAX_S 600

/*
 * Slurm 22.05 can write the end of a run without its start, when an array task is
 * requeued some seconds after the start: the row gets the start of the open run of
 * this submission.  A job that was cancelled while it was pending has no hosts.
 */
static void
start_of_open(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;
	struct open_run *run, *found = NULL;
	size_t at = 0;

	if (s->state->phase != PHASE_ENDED || job->key.start != 0 ||
	    job->submit <= 0 || job->n_hosts == 0)
		return;
	while ((run = open_of_job(&c->open, job->key.job, &at)) != NULL) {
		if ((int64_t)run->submit != job->submit ||
		    run->start_now > job->end)
			continue;
		if (found != NULL)
			return;
		found = run;
	}
	if (found == NULL)
		return;
	job->key.start = found->start_now;
	s->never = 0;
}

int
track_row_is_open(struct cluster *c, const struct job_snapshot *s)
{
	return open_of_row(c, s) != NULL;
}

#define RESIZED_MAX 4096 /* parts of runs; a site resizes few jobs */

/* Keeps the begin of a resized run: its next part begins where this one ended. */
static void
part_keep(struct cluster *c, const struct job *job)
{
	uint64_t number = run_number(job->key.job, job->end);
	uint32_t *start, *submit;

	if (run_number(job->key.job, job->key.start) == 0)
		return;
	if (c->resized.n >= RESIZED_MAX) {
		idmap_clear(&c->resized);
		idmap_clear(&c->resized_submit);
	}
	submit = idmap_put(&c->resized_submit, number, NULL);
	start = submit != NULL ? idmap_put(&c->resized, number, NULL) : NULL;
	if (start == NULL)
		return;
	*start = (uint32_t)job->key.start;
	*submit = job->submit > 0 && job->submit <= job->key.start ?
	    (uint32_t)job->submit :
	    0;
}

/*
 * Before Slurm 23.02 all parts of a resized run have its start, and the later ones
 * the resize as their submission: these get the submission of the first part.
 */
static void
part_submission(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;
	uint64_t number = run_number(job->key.job, job->key.start);
	uint32_t *submit;

	if (number == 0 || job->submit <= 0)
		return;
	if (job->submit > job->key.start) {
		submit = idmap_get(&c->resized_submit, number);
		if (submit != NULL)
			job->submit = *submit;
	} else if (s->state->phase == PHASE_RESIZED) {
		if (c->resized_submit.n >= RESIZED_MAX)
			idmap_clear(&c->resized_submit);
		submit = idmap_put(&c->resized_submit, number, NULL);
		if (submit != NULL)
			*submit = (uint32_t)job->submit;
	}
}

/*
 * The later parts of a resized run get the submission and the start of the run.
 * Slurm shows them from the resize on, with the resize as their submission.
 */
static void
part_begin(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;
	uint64_t number = run_number(job->key.job, job->key.start);
	uint32_t *start = NULL, *submit;

	if (c->slurm.version < VERSION_RESIZE_NEW_START) {
		part_submission(c, s);
		return;
	}
	if (job->submit == job->key.start)
		start = idmap_get(&c->resized, number);
	if (start != NULL) {
		submit = idmap_get(&c->resized_submit, number);
		job->key.start = *start;
		job->submit = submit != NULL ? *submit : 0;
	}
	if (s->state->phase == PHASE_RESIZED)
		part_keep(c, job);
}

/*
 * Can the row be a later part of a resized run whose earlier part is not known?
 * Accounting does not mark such a row.
 */
static int
lacks_part(struct cluster *c, const struct job *job)
{
	uint64_t number = run_number(job->key.job, job->key.start);

	if (c->slurm.version < VERSION_RESIZE_NEW_START)
		return job->submit > job->key.start &&
		    idmap_get(&c->resized_submit, number) == NULL;
	return job->submit == job->key.start &&
	    idmap_get(&c->resized, number) == NULL;
}

static int
wants_parts(struct cluster *c, const struct job_snapshot *s, unsigned may)
{
	return (may & ROW_MAY_PARTS) != 0 && lacks_part(c, &s->job) &&
	    !track_row_is_open(c, s) && !settings_ignores(c->set, &s->job);
}

/*
 * squeue never showed the run running, and accounting calls it NODE_FAIL because
 * its node did not boot, or PREEMPTED while it was CONFIGURING.  A job that was
 * not requeued has the same states; so has a run that ended between two polls.
 * Slurm moves the start when the nodes are up: then the run ran.  A run of the
 * spool may have run for long while no collector was there.
 */
static int
is_unproved(const struct job *job, const struct open_run *run)
{
	if ((job->state != END_NODE_FAIL && job->state != END_PREEMPTED) ||
	    run == NULL || !(run->flags & OPEN_UNCONFIRMED) ||
	    (run->flags & OPEN_RUNNING) || job->end < job->key.start)
		return 0;
	if (job->key.start != run->start && job->key.start != run->start_now)
		return 0;
	return !(run->flags & OPEN_SPOOLED) ||
	    job->end - job->key.start <= PROLOG_MAX_S;
}

/*
 * Such a run has no step.  Slurm has requeued its job if accounting has a later
 * run, or if slurmctld has shown the job pending, or a later run.
 */
static int
is_false_start(const struct cluster *c, const struct job_snapshot *s,
    const struct open_run *run)
{
	return is_unproved(&s->job, run) && s->ran == RAN_NEVER &&
	    (s->followed ||
		idmap_get(&c->requeued, run_number(run->job, run->start)) !=
		    NULL);
}

/* Only slurmctld can tell whether it has requeued the job of such a run. */
static int
wants_slurmctld(const struct cluster *c, const struct job_snapshot *s,
    const struct open_run *run)
{
	return is_unproved(&s->job, run) && s->ran == RAN_NEVER &&
	    !is_false_start(c, s, run);
}

static enum row_result
row_send(struct cluster *c, struct job_snapshot *s, struct open_run *run)
{
	struct job *job = &s->job;
	int64_t start_shown = job->key.start;

	/* The last run of a job is reported, also if it never ran. */
	if (is_false_start(c, s, run))
		job->state = END_REQUEUED;
	track_end_key_set(c, job, run);
	if (job->state == END_REQUEUED &&
	    (s->ran == RAN_NEVER || job->end <= start_shown))
		job->flags |= JOB_NEVER_RAN;
	if (!track_ignores(c, run, job)) {
		if (run == NULL ||
		    !(run->flags & (OPEN_RESOURCES_SENT | OPEN_SPOOLED)))
			track_message_set(job, no_threads);
		if (track_send(c, job) == 0)
			return ROW_FAILED;
		run = open_of_row(c, s);
	}
	track_ended(c, run, job, start_shown);
	return ROW_SENT;
}

/* Largest error of our estimate of slurmctld's clock, seconds */
#define CLOCKS_DIFFER 30
/* After so many queries to slurmctld the end of accounting is used */
#define DISPUTE_TRIES 2

static void
dispute(struct cluster *c, struct open_run *run, const struct job *job)
{
	run->flags |= OPEN_DISPUTED;
	log_limited(&c->contradicted, log_warnx,
	    "%s ended at %s according to accounting, but squeue shows it "
	    "running after that: the end is ignored",
	    cluster_run_text(c, run->job, run->start), time_text(job->end));
}

/*
 * Accounting has an end of a run that slurmctld showed running in its last
 * answer.  In most cases the run has ended since then and the next poll shows
 * it.  But another slurmctld of the same cluster name may have reported to
 * slurmdbd that no job runs; then only slurmctld will have the end.
 */
static int
is_contradicted(struct cluster *c, struct open_run *run, const struct job *job)
{
	if (run == NULL || c->ctld.away)
		return 0;
	if ((run->flags & (OPEN_RUNNING | OPEN_LEFT)) == OPEN_RUNNING) {
		if (job->end + CLOCKS_DIFFER < c->listing.asked_at)
			dispute(c, run, job);
		return 1;
	}
	if (!(run->flags & OPEN_DISPUTED) || run->tries >= DISPUTE_TRIES)
		return 0;
	(void)idmap_put(&c->work.left, run->job, NULL);
	return 1;
}

/*
 * A prolog failed and the job began again in the same second: both runs have
 * the same id and start.  The run that squeue has shown running is not the one
 * that lasted 0 s; the row of the other run follows.
 */
static int
is_namesake(const struct open_run *run, const struct job *job)
{
	return run != NULL && (run->flags & OPEN_RUNNING) != 0 &&
	    job->state == END_REQUEUED && job->end <= job->key.start &&
	    run->tries < DISPUTE_TRIES;
}

static int
wants_steps(const struct cluster *c, const struct job_snapshot *s,
    const struct open_run *run)
{
	const struct job *job = &s->job;

	/* Without steps in accounting nothing proves that a run did not run. */
	if (s->ran != RAN_UNKNOWN || c->slurm.no_steps)
		return 0;
	/* The run is not reported, so whether it ran changes nothing. */
	if (job->flags & JOB_OPTED_OUT)
		return 0;
	if (is_unproved(job, run))
		return 1;
	return job->state == END_REQUEUED && job->end > job->key.start &&
	    job->end - job->key.start <= PROLOG_MAX_S;
}

/*
 * Was the row sent?  A run whose prolog failed may be followed by a run with
 * the same start, which has another row.
 */
static int
is_known_row(const struct cluster *c, const struct job *job,
    const struct open_run *run)
{
	const struct run_key *key = &job->key;
	int ran = done_ran(&c->done, key->job, key->start);

	if (job->state == END_REQUEUED && !ran)
		return done_has(&c->done, key->job, key->start);
	/*
	 * See is_false_start(): the row was sent as one that was requeued.  One of
	 * no time can be another run of this second, and the submitter decides.
	 */
	if ((job->state == END_NODE_FAIL || job->state == END_PREEMPTED) &&
	    run == NULL && job->end > key->start)
		return done_has(&c->done, key->job, key->start);
	return run == NULL && ran;
}

/* Seconds for slurmctld to purge jobs, and for a difference of the clocks */
#define MEMORY_MARGIN 30

/* Details or a job script that slurmctld may still have */
static int
wants_details(struct cluster *c, const struct job *job,
    const struct open_run *run, unsigned may)
{
	unsigned open = run != NULL ? ROW_MAY_OPEN_DETAILS : ROW_MAY_DETAILS;

	return (may & open) != 0 &&
	    (run == NULL || !(run->flags & OPEN_RESOURCES_SENT)) &&
	    job->end + c->slurm.min_job_age + MEMORY_MARGIN > slurm_now(c) &&
	    !settings_ignores(c->set, job);
}

enum row_result
track_accounting_row(struct cluster *c, struct job_snapshot *s, unsigned may)
{
	struct job *job = &s->job;
	struct open_run *run;
	int parts;

	start_of_open(c, s);
	parts = wants_parts(c, s, may);
	if (parts && s->state->phase == PHASE_RESIZED)
		return ROW_WANTS_PARTS;
	part_begin(c, s);
	if (s->state->phase != PHASE_ENDED || s->never || job->end == 0 ||
	    run_number(job->key.job, job->key.start) == 0 ||
	    track_quarantined(c, job->key.job, job->key.start))
		return ROW_NOTHING;
	run = open_of_row(c, s);
	/* Of a backfill, the submitter asks cc-backend for runs that are done. */
	if (!(job->flags & JOB_BACKFILL) && is_known_row(c, job, run) &&
	    !lookup_has(c->lookups, job->key.job, job->key.start))
		return ROW_NOTHING;
	if (is_contradicted(c, run, job) || is_namesake(run, job))
		return ROW_NOTHING;
	/*
	 * slurmdbd got the end before the start: the row will be complete
	 * soon.
	 */
	if (job->partition == NULL &&
	    (run == NULL || !(run->flags & OPEN_RESOURCES_SENT)))
		return ROW_NOTHING;
	if (parts)
		return ROW_WANTS_PARTS;
	/*
	 * A later run of the job must not be sent before a run that waits for
	 * its steps.
	 */
	if (wants_steps(c, s, run) ||
	    (s->ran == RAN_UNKNOWN &&
		idmap_get(&c->work.steps, job->key.job) != NULL))
		return ROW_WANTS_STEPS;
	if (wants_slurmctld(c, s, run)) {
		if (may & ROW_MAY_OPEN_DETAILS)
			return ROW_WANTS_DETAILS;
		/* A query of the poll, or by id, reads the row, too. */
		if (job->flags & JOB_BACKFILL)
			return ROW_NOTHING;
	}
	if (wants_details(c, job, run, may))
		return ROW_WANTS_DETAILS;
	return row_send(c, s, run);
}

/* Sends the row of a run that is not open, unchanged. */
static enum row_result
backfill_dry_run(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;

	if (open_of_row(c, s) != NULL || settings_ignores(c->set, job))
		return ROW_NOTHING;
	track_key_set(c, job, NULL);
	return track_send(c, job) != 0 ? ROW_SENT : ROW_FAILED;
}

enum row_result
track_backfill_row(struct cluster *c, struct job_snapshot *s, unsigned may,
    int dry_run)
{
	struct job *job = &s->job;

	job->flags |= JOB_BACKFILL;
	if (!dry_run)
		return track_accounting_row(c, s, may);
	if (wants_parts(c, s, may))
		return ROW_WANTS_PARTS;
	part_begin(c, s);
	if (s->state->phase != PHASE_ENDED || s->never || job->end == 0 ||
	    job->partition == NULL ||
	    run_number(job->key.job, job->key.start) == 0 ||
	    track_quarantined(c, job->key.job, job->key.start))
		return ROW_NOTHING;
	job->flags |= JOB_DRY_RUN;
	return backfill_dry_run(c, s);
}
