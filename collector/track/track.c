/* SPDX-License-Identifier: MIT */
/*
 * Decides what a snapshot means: a new run, a known run, its end, or nothing.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/wake.h"
#include "collector/slurm/slurm.h"
#include "collector/track/outbox.h"
#include "collector/track/track_private.h"
#include "common/log.h"

static const char no_devices[] =
    "The run was found after its end. Slurm then reports the number of its "
    "devices, but not which devices.";
static const char cut_threads[] =
    "Slurm shortens long lists of hardware threads. The hardware threads of this "
    "job are not listed.";
static const char ambiguous[] =
    "Slurm's output for this job is ambiguous because of a text of the job. "
    "Its hardware threads and devices are not listed.";

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

void
track_message_set(struct job *job, const char *text)
{
	free(job->message);
	job->message = strdup(text);
}

void
track_key_set(struct cluster *c, struct job *job, const struct open_run *run)
{
	snprintf(job->key.cluster, sizeof(job->key.cluster), "%s",
	    c->slurm.cluster);
	if (run != NULL)
		job->key.start = run->start;
}

void
track_end_key_set(struct cluster *c, struct job *job,
    const struct open_run *run)
{
	int64_t start = job->key.start;

	track_key_set(c, job, run);
	/*
	 * A start that waits was not sent: Slurm may have moved it.  The start of an
	 * incomplete row, without a partition, may still change.
	 */
	if (run != NULL && (run->flags & OPEN_UNCONFIRMED) &&
	    job->partition != NULL && start > run->start && run->submit != 0 &&
	    (int64_t)run->submit == job->submit)
		job->key.start = start;
}

int
track_ignores(const struct cluster *c, const struct open_run *run,
    const struct job *job)
{
	/* The submitter looks up runs whose start cc-backend or it has. */
	if (lookup_has(c->lookups, job->key.job, job->key.start))
		return 0;
	if (run != NULL && (run->flags & OPEN_IGNORED))
		return 1;
	if (run != NULL && (run->flags & (OPEN_RESOURCES_SENT | OPEN_SPOOLED)))
		return 0;
	return settings_ignores(c->set, job);
}

uint64_t
track_send(struct cluster *c, struct job *job)
{
	uint64_t order;

	inflight_set(c->site->w->inflight, &job->key);
	order = outbox_record(c->outbox, job);
	inflight_clear(c->site->w->inflight);
	return order;
}

/*
 * This run is a later one of the job: marks its earlier open runs as ended.  same:
 * its own row, whose start may have moved; NULL = none.
 */
static void
earlier_left(struct cluster *c, const struct job_snapshot *s,
    const struct open_run *same)
{
	struct open_run *run;
	size_t at = 0;

	while ((run = open_of_job(&c->open, s->job.key.job, &at)) != NULL) {
		if (run == same)
			continue;
		if (s->state->phase == PHASE_PENDING ?
			s->job.restarts <= run->restarts && run->submit != 0 &&
			    !(run->flags & OPEN_SPOOLED) :
			run->start >= s->job.key.start)
			continue;
		if (run->flags & OPEN_UNCONFIRMED)
			(void)idmap_put(&c->requeued,
			    run_number(run->job, run->start), NULL);
		if (run->flags & OPEN_LEFT)
			continue;
		run->flags |= OPEN_LEFT;
		run->tries = 0;
		run->seen = (uint32_t)now_s();
	}
}

void
track_ended(struct cluster *c, struct open_run *run, const struct job *job,
    int64_t start_shown)
{
	void (*put)(struct done_runs *, uint64_t,
	    int64_t) = job->flags & JOB_NEVER_RAN ? done_put_false_start :
						    done_put;

	/* The admin may cancel a backfill: its rows are sent again without it. */
	if (run == NULL && (job->flags & JOB_BACKFILL))
		return;
	put(&c->done, job->key.job, job->key.start);
	if (start_shown != job->key.start)
		put(&c->done, job->key.job, start_shown);
	if (run == NULL)
		return;
	idmap_remove(&c->requeued, run_number(run->job, run->start));
	open_remove(&c->open, run);
}

static void
open_note(struct cluster *c, struct open_run *run, const struct job_snapshot *s,
    int64_t start_shown)
{
	run->start_now = (uint32_t)start_shown;
	run->submit = (uint32_t)s->job.submit;
	run->restarts = (uint16_t)(s->job.restarts < UINT16_MAX ?
		s->job.restarts :
		UINT16_MAX);
	run->seen = c->listing.number;
	run->tries = 0;
	run->flags &= (uint8_t) ~(
	    OPEN_SPOOLED | OPEN_LEFT | OPEN_UNCONFIRMED | OPEN_RUNNING);
	run->flags |= OPEN_RESOURCES_SENT;
	if (s->state->phase == PHASE_RUNNING)
		run->flags |= OPEN_RUNNING;
	if (s->job.flags & JOB_UNCONFIRMED)
		run->flags |= OPEN_UNCONFIRMED;
}

/*
 * Was the job restarted, or submitted before the collector started, so that
 * its id may have an earlier run?
 */
static int
may_have_earlier(const struct cluster *c, const struct job *job)
{
	int64_t began = slurm_now(c) - (now_s() - c->began);

	if (job->restarts > 0)
		return 1;
	/*
	 * Few sites use an id twice: no delay while slurmdbd does not answer.
	 */
	return !c->dbd.away && job->submit <= began &&
	    (job->submit == 0 || job->submit >= c->resume.point - c->set->lag);
}

/*
 * cc-backend refuses an older run of a job after a newer one.  A run that
 * ended before the collector started is not known until accounting was read up
 * to the present, or was queried about this job.
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
	(void)idmap_put(&c->work.accounting, job->key.job, NULL);
	return 1;
}

/*
 * squeue has not shown this run as running.  If its prolog fails, Slurm
 * requeues the job (the state is COMPLETING then), and a start that was sent
 * would block the next run.
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

/* The start time of a record of an open run. */
static void
live_key(struct cluster *c, struct job_snapshot *s, struct open_run *run,
    int sure)
{
	/* An unconfirmed start was not sent: its time may still change. */
	if (sure)
		run->start = s->job.key.start;
	track_key_set(c, &s->job, run);
}

/* Returns 1 when a script follows.  The start waits some seconds for it. */
static int
wants_script(const struct cluster *c, const struct job_snapshot *s)
{
	return s->batch && c->set->script_max > 0 &&
	    c->work.n_scripts < SCRIPTS_MAX;
}

static uint64_t
send_start(struct cluster *c, struct job_snapshot *s)
{
	struct script_request *script = NULL;
	struct job *job = &s->job;
	uint64_t order;

	if (wants_script(c, s))
		script = calloc(1, sizeof(*script));
	if (script != NULL)
		job->flags |= JOB_MORE;
	order = track_send(c, job);
	if (order == 0 || script == NULL) {
		free(script);
		return order;
	}
	script->key = job->key;
	/*
	 * slurmctld keeps a script for each component of a heterogeneous job,
	 * but only the script of the leader runs.
	 */
	script->job = job->het_job != 0 ? job->het_job : job->key.job;
	script->group = job->het_job != 0 ? job->het_job : job->array_job;
	script->submit = job->submit;
	worklist_script(&c->work, script);
	wake(c);
	return order;
}

/*
 * Each record names what it lacks, also that of an end: its threads can replace the
 * stored ones, and the stored message with them.
 */
static void
unknown_named(struct job_snapshot *s)
{
	struct job *job = &s->job;

	if (s->groups > 0 && !(job->flags & JOB_HAS_THREADS))
		track_message_set(job, cut_threads);
	if (job->accels > 0 && !(job->flags & JOB_HAS_ACCELS) &&
	    job->message == NULL)
		track_message_set(job, no_devices);
}

/*
 * The end of the run was sent.  A slurmctld that ends during PrologSlurmctld kills
 * it and reports the run as requeued; the next slurmctld runs it with the same
 * start.  Before the job is pending again, slurmctld shows the killed run as
 * completing.
 */
static int
is_over(const struct cluster *c, const struct job_snapshot *s)
{
	uint64_t job = s->job.key.job;
	int64_t start = s->job.key.start;

	return s->state->phase == PHASE_CONFIGURING ||
		s->state->phase == PHASE_COMPLETING ?
	    done_has(&c->done, job, start) :
	    done_ran(&c->done, job, start);
}

/* Handles a job that has nodes: it is configuring, running or completing. */
static uint64_t
snapshot_live(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;
	int64_t start_shown = job->key.start;
	struct open_run *run = open_match(&c->open, job->key.job, start_shown,
	    job->submit, job->restarts);
	int asked = lookup_has(c->lookups, job->key.job, start_shown), unsure,
	    sure;
	uint64_t order = 0;

	if (run == NULL && is_over(c, s) && !asked)
		return 0;
	earlier_left(c, s, run);
	unsure = is_unsure(c, s, run);
	sure = run != NULL && (run->flags & OPEN_UNCONFIRMED) && !unsure;
	if (run == NULL)
		run = open_put(&c->open, job->key.job, start_shown);
	if (run == NULL)
		return 0;
	if (unsure)
		job->flags |= JOB_UNCONFIRMED;
	live_key(c, s, run, sure);
	if (track_ignores(c, run, job))
		run->flags |= OPEN_IGNORED;
	else if (asked || sure || !(run->flags & OPEN_RESOURCES_SENT) ||
	    (run->flags & OPEN_SPOOLED)) {
		/*
		 * An earlier process may have sent the details.  Sending them
		 * again is harmless.
		 */
		order = send_start(c, s);
		if (order == 0)
			return 0;
		run = open_find(&c->open, job->key.job, job->key.start);
		if (run == NULL)
			return order;
		/* The end is sent, too. */
		run->flags &= (uint8_t)~OPEN_IGNORED;
	}
	open_note(c, run, s, start_shown);
	return order;
}

/*
 * squeue shows an unconfirmed run running: confirms its start.  0, or -1 =
 * later.
 */
static int
track_running(struct cluster *c, struct open_run *run)
{
	int64_t start = run->start;
	struct job job;
	uint64_t order;

	job_init(&job);
	job.exit_code = -1;
	job.key.job = run->job;
	/* The script may not have been fetched yet. */
	job.flags = JOB_PARTIAL | JOB_LIVE | JOB_MORE;
	track_key_set(c, &job, run);
	/* The submitter finds a run whose start has moved by its submission. */
	if (run->submit != 0 && (int64_t)run->start_now != run->start) {
		job.key.start = start = run->start_now;
		job.submit = run->submit;
	}
	order = track_send(c, &job);
	job_clear(&job);
	if (order == 0)
		return -1;
	run->start = start;
	run->flags &= (uint8_t)~OPEN_UNCONFIRMED;
	run->flags |= OPEN_RUNNING;
	return 0;
}

void
track_squeue_row(struct cluster *c, const struct squeue_job *row)
{
	struct open_run *run;

	if (row->state->phase != PHASE_RUNNING)
		return;
	run = open_find(&c->open, row->job, row->start);
	/*
	 * While slurmdbd does not answer, only a restarted job is known to have
	 * an earlier run.
	 */
	if (run != NULL && idmap_get(&c->earlier, row->job) != NULL) {
		if (!c->dbd.away || run->restarts > 0)
			return;
		idmap_remove(&c->earlier, row->job);
	}
	if (run != NULL && (run->flags & OPEN_UNCONFIRMED) &&
	    !(run->flags & OPEN_IGNORED) && track_running(c, run) == 0)
		c->work.confirmed_at = now_ms();
}

int
track_epilog(struct cluster *c, uint64_t job)
{
	struct open_run *run;
	size_t at = 0;

	if (!c->slurm.accounting || c->dbd.away ||
	    idmap_get(&c->earlier, job) != NULL ||
	    idmap_get(&c->ambiguous, job) != NULL)
		return 0;
	run = open_of_job(&c->open, job, &at);
	/* The message may be late and about an earlier run of a requeued job. */
	if (run == NULL || run->restarts > 0 ||
	    open_of_job(&c->open, job, &at) != NULL)
		return 0;
	if (!(run->flags & OPEN_RESOURCES_SENT) ||
	    (run->flags & (OPEN_SPOOLED | OPEN_UNCONFIRMED | OPEN_LEFT)) != 0)
		return 0;
	run->flags &= (uint8_t)~OPEN_RUNNING;
	return 1;
}

/*
 * Must the end wait until accounting has the earlier runs of the job?  While
 * slurmdbd does not answer, only a restarted job is known to have an earlier run.
 */
static int
end_waits(struct cluster *c, const struct job_snapshot *s,
    const struct open_run *run)
{
	if (!waits_for_earlier(c, s, run))
		return 0;
	if (!c->dbd.away || s->job.restarts > 0)
		return 1;
	idmap_remove(&c->earlier, s->job.key.job);
	return 0;
}

/*
 * Accounting has the end of this run, too, and shows it after the earlier runs.
 * Only slurmctld has the details: they are sent with a start that waits.
 */
static uint64_t
ended_hold(struct cluster *c, struct job_snapshot *s, struct open_run *run)
{
	struct job *job = &s->job;

	if (run != NULL)
		run->flags &= (uint8_t)~OPEN_RUNNING;
	if (run != NULL && (run->flags & OPEN_RESOURCES_SENT))
		return 0;
	job->end = 0;
	job->state = END_NOT;
	job->exit_code = -1;
	s->state = state_word((struct span) { "COMPLETING", 10 });
	return snapshot_live(c, s);
}

/* slurmctld still has the job: start, details and end in one record. */
static uint64_t
snapshot_ended(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;
	int64_t start_shown = job->key.start;
	struct open_run *run = open_match(&c->open, job->key.job, start_shown,
	    job->submit, job->restarts);
	uint64_t order = 0;

	if (s->never || job->end == 0 ||
	    (run == NULL && is_over(c, s) &&
		!lookup_has(c->lookups, job->key.job, start_shown)))
		return 0;
	if (end_waits(c, s, run))
		return ended_hold(c, s, run);
	track_end_key_set(c, job, run);
	if (!track_ignores(c, run, job)) {
		order = run != NULL && (run->flags & OPEN_RESOURCES_SENT) ?
		    track_send(c, job) :
		    send_start(c, s);
		if (order == 0)
			return 0;
	}
	track_ended(c, run, job, start_shown);
	return order;
}

uint64_t
track_snapshot(struct cluster *c, struct job_snapshot *s)
{
	if (s->state->phase == PHASE_PENDING) {
		earlier_left(c, s, NULL);
		return 0;
	}
	if (s->job.key.start <= 0 ||
	    run_number(s->job.key.job, s->job.key.start) == 0 ||
	    track_quarantined(c, s->job.key.job, s->job.key.start))
		return 0;
	unknown_named(s);
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

uint64_t
track_ambiguous(struct cluster *c, struct job_snapshot *s)
{
	struct job *job = &s->job;

	if (job->key.start <= 0 ||
	    run_number(job->key.job, job->key.start) == 0 ||
	    s->state->phase != PHASE_RUNNING)
		return 0;
	track_message_set(job, ambiguous);
	/*
	 * Accounting shows a CONFIGURING job as RUNNING too: squeue confirms
	 * the start.
	 */
	s->state = state_word((struct span) { "CONFIGURING", 11 });
	return snapshot_live(c, s);
}
