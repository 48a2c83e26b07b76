/* SPDX-License-Identifier: MIT */
/*
 * Stores a record: as a new run, or as a change of a known run, of a run with
 * another start time, or of a run that is done.  job_order.c decides the order
 * of the runs of one job.  See spool.h.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/text/time_text.h"
#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"

/*
 * The record has changed.  A later revision is higher, also that of another
 * spool of the same cluster: the two controllers have about the same time.
 */
void
spool_revision(const struct spool *sp, struct job *job)
{
	struct timespec now;
	uint64_t ms;

	if (!sp->policy.whole)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	job->revision = job->revision < ms ? ms : job->revision + 1;
}

/* Publishes the changed record again, or notes that for the answer. */
static void
publish_again(struct spool *sp, struct spool_run *run)
{
	if (!sp->policy.whole)
		return;
	if (run->due[DEST_NATS] == DUE_LEASED)
		run->flags |= RUN_CHANGED;
	else if (run_may_move(run, DEST_NATS, RUN_EVENT_CHANGED))
		run_move(sp, run, DEST_NATS, RUN_EVENT_CHANGED, DUE_NOW, NULL);
}

/*
 * A run that never ran, because a prolog failed or its node did not boot, is not
 * reported: the real run would be refused as a duplicate.
 */
int
spool_is_false_start(const struct job *job)
{
	return job->state == END_REQUEUED && job->end != 0 &&
	    (job->flags & JOB_NEVER_RAN);
}

/*
 * The run was requeued within REQUEUED_EARLY seconds; requeuedRuns may replace
 * it by the next one.
 */
int
spool_is_requeued_early(const struct job *job)
{
	return job->state == END_REQUEUED && job->end != 0 &&
	    job->end - job->key.start <= REQUEUED_EARLY;
}

static void
log_false_start(const struct job *job)
{
	log_info(
	    "%s was requeued after %s and never ran (its prolog failed, its "
	    "node did not boot, or it was preempted): the run is not "
	    "reported",
	    run_key_text(&job->key),
	    duration_text((job->end - job->key.start) * 1000));
}

/* The run is done, and nothing is sent of it. */
static int
finish_unsent(struct spool *sp, struct spool_run *run, const struct job *job)
{
	if (!spool_is_false_start(job))
		return spool_finish(sp, run);
	log_false_start(job);
	return spool_finish_false_start(sp, run);
}

/* The time at which the start of this record is due. */
static int64_t
start_due(const struct spool *sp, const struct job *job)
{
	if ((job->flags & JOB_UNCONFIRMED) && job->end == 0)
		return DUE_UNCONFIRMED;
	if ((job->flags & JOB_MORE) && sp->policy.more_wait > 0)
		return spool_now(sp) + sp->policy.more_wait;
	return DUE_NOW;
}

static const char unconfirmed_reason[] = "waits until Slurm shows it running";

/*
 * The only destination of a record; DEST__COUNT = each one.  restored: the run
 * is done here.  NATS had such a run before, so it is published again only when
 * the admin asks for that; then cc-backend does not get it.
 */
static enum dest
only_dest(const struct spool *sp, const struct job *job, int restored)
{
	if (sp->policy.republish.records && (job->flags & JOB_BACKFILL))
		return DEST_NATS;
	return restored ? DEST_REST : DEST__COUNT;
}

/* job: the stored record.  A new collector fetches the script that is due. */
static void
run_script(struct spool_run *run, const struct job *job)
{
	if (job->flags & JOB_MORE)
		run->flags |= RUN_SCRIPT_DUE;
	else
		run->flags &= ~RUN_SCRIPT_DUE;
}

/*
 * The values of a new run from its first record, and its state at each
 * destination.  keep: the run is reported.  A held run waits for its list, and not
 * for a script: no collector reads one for it.
 */
static void
run_begin(struct spool *sp, struct spool_run *run, const struct job *job,
    enum dest only, int keep)
{
	int d, past;

	run->end = job->state != END_NOT ? job->end : 0;
	run->submit = job->submit;
	past = run->end != 0 && (job->flags & JOB_BACKFILL) != 0;
	run->flags = past ? RUN_BACKFILL : 0;
	run_script(run, job);
	if (only == DEST_NATS)
		run->flags |= RUN_REPUBLISHED;
	for (d = 0; d < DEST__COUNT; d++) {
		if (!sp->policy.to[d] || !keep ||
		    (only != DEST__COUNT && d != (int)only))
			continue;
		run_move(sp, run, (enum dest)d,
		    past ? RUN_EVENT_BACKFILL_RECORD : RUN_EVENT_RECORD,
		    past ? DUE_NOW : start_due(sp, job), NULL);
	}
	if ((job->flags & JOB_UNCONFIRMED) && run->end == 0) {
		run->flags |= RUN_UNCONFIRMED;
		snprintf(run->reason, sizeof(run->reason), "%s",
		    unconfirmed_reason);
	}
	if (spool_is_requeued_early(job))
		run->flags |= RUN_REQUEUED_EARLY;
}

/*
 * The record that is stored, after all its changes.  Nothing else of the run is
 * stored before: a record that is too long must not fail the transaction, because
 * the same message would come again without end.  PUT_NEW when it can be stored.
 */
static enum spool_put
record_fit(struct spool *sp, struct job *job)
{
	int rc = spool_record_fit(sp, job);

	return rc == -1 ? PUT_ERROR : rc == 1 ? PUT_REFUSED : PUT_NEW;
}

static int
record_fitted_write(struct spool *sp, int64_t id)
{
	return spool_record_set(sp, id, sp->record.buf, sp->record.len);
}

/*
 * restored: the run is done here, and a list of cc-backend's jobs tells whether
 * cc-backend lacks it.
 */
static enum spool_put
put_new(struct spool *sp, struct job *job, int64_t alias, int restored,
    int64_t *id)
{
	struct spool_run run;
	enum spool_put rc;
	int keep = !(job->flags & JOB_OPTED_OUT) && !spool_is_false_start(job);

	memset(&run, 0, sizeof(run));
	run.key = job->key;
	run.alias = alias;
	run.cluster = spool_cluster_id(sp, job->key.cluster, 1);
	if (run.cluster == -1)
		return sp->broken ? PUT_ERROR : PUT_REFUSED;
	spool_revision(sp, job);
	if ((rc = record_fit(sp, job)) != PUT_NEW)
		return rc;
	run_begin(sp, &run, job, only_dest(sp, job, restored), keep);
	if ((!(run.flags & RUN_BACKFILL) &&
		(spool_supersede(sp, &run) == -1 ||
		    spool_order(sp, &run) == -1)) ||
	    spool_add(sp, &run) == -1)
		return PUT_ERROR;
	*id = run.id;
	if (run.end != 0 && !keep) {
		*id = 0;
		return finish_unsent(sp, &run, job) == -1 ? PUT_ERROR : PUT_NEW;
	}
	if (record_fitted_write(sp, run.id) == -1)
		return PUT_ERROR;
	/* A later run of the job came first and was refused, or waits. */
	if (spool_superseded_by_later(sp, &run) == -1)
		return PUT_ERROR;
	return restored ? PUT_HELD : PUT_NEW;
}

/* Must a list of jobs show the run before its stop is sent? */
static int
stop_waits(const struct spool *sp, const struct spool_run *run, enum dest dest)
{
	if (dest != DEST_REST)
		return 0;
	return run->state[dest] == STARTED ?
	    sp->policy.wait_commit :
	    run->state[dest] == START_COMMITTED && sp->policy.active_only;
}

/* Moves one destination of a run whose end has become known. */
static void
state_ended(struct spool *sp, struct spool_run *run, enum dest dest)
{
	int64_t gap = sp->policy.nats_gap, due = DUE_KEEP;
	enum run_event event = stop_waits(sp, run, dest) ?
	    RUN_EVENT_ENDED_WAIT :
	    RUN_EVENT_ENDED;

	/* cc-backend refused the start; its list shows whether the end agrees. */
	if (run->state[dest] == START_CONFLICT)
		run->due[dest] = DUE_NOW;
	if (!run_may_move(run, dest, event))
		return;
	if (run->state[dest] == STARTED || run->state[dest] == START_COMMITTED)
		due = dest == DEST_NATS && gap > 0 ? run->since[dest] + gap :
						     DUE_NOW;
	if (run->state[dest] == START_COMMITTED &&
	    event == RUN_EVENT_ENDED_WAIT) {
		/* A list from now on shows the run, or cc-backend lacks it. */
		run->since[dest] = spool_now(sp);
		run->flags |= RUN_COMMIT_SHOWN;
	}
	run_move(sp, run, dest, event, due, NULL);
}

/*
 * The start of the run was published before this spool knew the run: its stop is
 * published alone.
 */
static void
nats_started(struct spool *sp, struct spool_run *run)
{
	if ((run->flags & RUN_FROM_BACKEND) &&
	    (run->flags & RUN_FIRST_LISTED) && sp->policy.to[DEST_NATS] &&
	    run_may_move(run, DEST_NATS, RUN_EVENT_FOUND))
		run_move(sp, run, DEST_NATS, RUN_EVENT_FOUND, DUE_KEEP, NULL);
}

int
spool_end(struct spool *sp, struct spool_run *run, const struct job *job,
    const void *p, size_t n)
{
	int d;

	nats_started(sp, run);
	run->end = job->end;
	run->flags &= ~(RUN_FROM_BACKEND | RUN_MISSING_IN_BACKEND);
	for (d = 0; d < DEST__COUNT; d++)
		state_ended(sp, run, (enum dest)d);
	publish_again(sp, run);
	if (spool_record_set(sp, run->id, p, n) == -1)
		return -1;
	return spool_save(sp, run);
}

/*
 * The start time is updated from Slurm until a start request may have been
 * sent.  After that it does not change.
 */
static void
key_moves(struct spool *sp, struct spool_run *run, struct job *job)
{
	int64_t start = job->key.start;

	if (run->flags & RUN_KEY_FIXED) {
		run->alias = start;
		job->key.start = run->key.start;
		return;
	}
	if (sp->observer != NULL)
		sp->observer->moved(&run->key, start, sp->observer_arg);
	run->alias = run->key.start;
	run->key.start = start;
}

/* Slurm knows the run again: its start is unconfirmed as before. */
static void
unknown_ends(struct spool *sp, struct spool_run *run)
{
	int d;

	for (d = 0; d < DEST__COUNT; d++) {
		if (run->state[d] != START_REJECTED)
			continue;
		run_move(sp, run, (enum dest)d, RUN_EVENT_KNOWN_AGAIN,
		    DUE_UNCONFIRMED, unconfirmed_reason);
	}
}

/* The run is confirmed, or it has ended. */
static void
unconfirmed_ends(struct spool *sp, struct spool_run *run, const struct job *job)
{
	int d;

	run->flags &= ~RUN_UNCONFIRMED;
	run->reason[0] = '\0';
	if (run->end == 0 && sp->observer != NULL)
		sp->observer->confirmed(&run->key, sp->observer_arg);
	for (d = 0; d < DEST__COUNT; d++)
		if (run->due[d] == DUE_UNCONFIRMED)
			run->due[d] = start_due(sp, job);
}

static void
states_merged(struct spool *sp, struct spool_run *run, const struct job *job,
    int had_end, int live)
{
	int d;

	if (run->flags & RUN_UNCONFIRMED)
		unknown_ends(sp, run);
	if ((run->flags & RUN_UNCONFIRMED) && !(job->flags & JOB_UNCONFIRMED))
		unconfirmed_ends(sp, run, job);
	for (d = 0; d < DEST__COUNT; d++) {
		if (!had_end && run->end != 0)
			state_ended(sp, run, (enum dest)d);
		/*
		 * The script has arrived: the start does not wait any longer.
		 * One that was sent before waits for something else.
		 */
		if (!(job->flags & JOB_MORE) && spool_is_start(run->state[d]) &&
		    run->tries[d] == 0 && run->due[d] < DUE_LEASED &&
		    (d != DEST_REST || !(run->flags & RUN_REST_STARTED)))
			run->due[d] = DUE_NOW;
		/* Each destination is checked alone: one may have the start. */
		if ((job->flags & JOB_OPTED_OUT) &&
		    !(run->flags &
			(d == DEST_REST ? RUN_REST_STARTED : RUN_KEY_FIXED)) &&
		    (spool_is_start(run->state[d]) ||
			run->state[d] == BACKFILL_HELD))
			run_move(sp, run, (enum dest)d, RUN_EVENT_OPTED_OUT,
			    DUE_KEEP, NULL);
	}
	/*
	 * cc-backend does not show the run any more, and Slurm shows it
	 * running.
	 */
	if ((run->flags & RUN_MISSING_IN_BACKEND) && live && run->end == 0 &&
	    run->state[DEST_REST] == START_COMMITTED) {
		run->flags &= ~RUN_MISSING_IN_BACKEND;
		run_move(sp, run, DEST_REST, RUN_EVENT_LOST, DUE_NOW, NULL);
	}
}

/*
 * The script came after the start was sent: cc-backend gets it as an update. A
 * full table of updates is no error.
 */
static int
script_update(struct spool *sp, const struct run_key *key, const char *script)
{
	return spool_meta_add(sp, key, sp->policy.script_key, script,
		   spool_now(sp)) == -1 ?
	    -1 :
	    0;
}

/* May cc-backend have a start of the run without its script? */
static int
is_script_due(const struct spool *sp, const struct spool_run *run)
{
	/* With 1.5, stops wait for commits; older ones know no updates. */
	return sp->policy.script_key != NULL && sp->policy.wait_commit &&
	    (run->flags & RUN_REST_STARTED) &&
	    run->state[DEST_REST] != START_REJECTED &&
	    run->state[DEST_REST] != RUN_NONE;
}

/* A run that is not reported is done; later runs of the job are released. */
static enum spool_put
put_false_start(struct spool *sp, struct spool_run *run, const struct job *job)
{
	int d;

	if (finish_unsent(sp, run, job) == -1)
		return PUT_ERROR;
	for (d = 0; d < DEST__COUNT; d++)
		if (spool_release(sp, run, (enum dest)d) == -1)
			return PUT_ERROR;
	return PUT_MERGED;
}

/*
 * The start was not sent, and Slurm shows threads of the run again.  When it
 * showed the stored ones, a cloud node may have been hidden: the new ones are
 * right.  Devices that the new record lacks are kept, with the hosts.
 */
static void
threads_replace(const struct spool_run *run, struct job *old,
    const struct job *job)
{
	const unsigned devices = old->flags & JOB_HAS_ACCELS;

	if ((run->flags &
		(RUN_UNCONFIRMED | RUN_KEY_FIXED | RUN_REST_STARTED)) ==
		RUN_UNCONFIRMED &&
	    job->n_hosts > 0 && (job->flags & JOB_HAS_THREADS) &&
	    (job->flags & devices) == devices)
		old->flags &= ~JOB_HAS_THREADS;
}

/*
 * 1 when old gets the stored record, 0 when there is none, or -1: the
 * transaction fails, because without the stored record the merged one would lack
 * its threads and its script.
 */
static int
stored_read(struct spool *sp, const struct spool_run *run, struct job *old)
{
	if (run->flags & RUN_FROM_BACKEND)
		return 0;
	if (spool_record(sp, run->id, old) == 0)
		return 1;
	if (errno == EINVAL)
		return 0;
	if (errno == ENOMEM)
		snprintf(sp->error, sizeof(sp->error), "out of memory");
	sp->broken = 1;
	return -1;
}

/*
 * Merges job into the stored record, which old gets.  1 when the record has
 * changed, 0 when not; -1 when the transaction fails, or when there is no stored
 * record and job has only a part of one.
 */
static int
record_merge(struct spool *sp, struct spool_run *run, struct job *job,
    struct job *old, int *had_script)
{
	int stored = stored_read(sp, run, old);

	if (stored != 1) {
		if (stored == -1 || (job->flags & JOB_PARTIAL))
			return -1;
		job_clear(old);
		*old = *job;
		job_init(job);
		nats_started(sp, run);
		run->flags &= ~RUN_FROM_BACKEND;
		*had_script = 1; /* the start was not sent from this spool */
		return 1;
	}
	old->key = run->key;
	*had_script = old->script != NULL;
	threads_replace(run, old, job);
	return job_merge(old, job);
}

/* Slurm knows the run, so it is not missing. */
static void
run_found(struct spool_run *run, const struct job *job)
{
	if (run->end == 0 && job->state != END_NOT)
		run->end = job->end;
	if (run->submit == 0)
		run->submit = job->submit;
	run->not_found_at = 0;
	run->not_found_time = 0;
	run->not_found_count = 0;
}

/* Stores the merged record, and the script that the start lacked.  0 or -1. */
static int
merged_write(struct spool *sp, struct spool_run *run, const struct job *job,
    int had_script)
{
	if (!had_script && job->script != NULL && is_script_due(sp, run) &&
	    script_update(sp, &run->key, job->script) == -1)
		return -1;
	return record_fitted_write(sp, run->id);
}

/*
 * Slurm shows the run running at last, or it has ended: it gets its place among
 * the runs of its job.  before: the row as it was.  0 or -1.
 */
static int
merged_order(struct spool *sp, struct spool_run *run,
    const struct spool_run *before)
{
	int d, again = 0, rc;

	if (!(before->flags & RUN_UNCONFIRMED) ||
	    (run->flags & RUN_UNCONFIRMED))
		return 0;
	for (d = 0; d < DEST__COUNT; d++)
		again |= before->state[d] == START_REJECTED &&
		    spool_is_start(run->state[d]);
	if (again && spool_order(sp, run) == -1)
		return -1;
	rc = spool_supersede(sp, run);
	/* The run that it waited for may be replaced, and was not sent. */
	if (rc == 0 && sp->policy.last_requeued &&
	    run->state[DEST_REST] == START_BLOCKED) {
		run_move(sp, run, DEST_REST, RUN_EVENT_UNBLOCKED, DUE_KEEP,
		    NULL);
		rc = spool_order(sp, run);
	}
	return rc == -1 ? -1 : 0;
}

/* The user has opted out: later runs of the job wait no longer.  0 or -1. */
static int
merged_release(struct spool *sp, const struct spool_run *run,
    const struct spool_run *before)
{
	int d;

	for (d = 0; d < DEST__COUNT; d++)
		if (spool_is_start(before->state[d]) &&
		    run->state[d] == RUN_NONE &&
		    spool_release(sp, run, (enum dest)d) == -1)
			return -1;
	return 0;
}

/* before: the row as it was; job: the merged record. */
static enum spool_put
merged_store(struct spool *sp, struct spool_run *run,
    const struct spool_run *before, const struct job *job, int had_script)
{
	if (merged_write(sp, run, job, had_script) == -1)
		return PUT_ERROR;
	if (spool_is_requeued_early(job))
		run->flags |= RUN_REQUEUED_EARLY;
	if (!(run->flags & RUN_KEY_FIXED) && spool_is_false_start(job))
		return put_false_start(sp, run, job);
	return merged_order(sp, run, before) == 0 && spool_save(sp, run) == 0 &&
		merged_release(sp, run, before) == 0 &&
		spool_superseded_by_later(sp, run) == 0 ?
	    PUT_MERGED :
	    PUT_ERROR;
}

static enum spool_put
put_merge(struct spool *sp, struct spool_run *run, struct job *job)
{
	struct spool_run before = *run;
	struct job old;
	int had_end = run->end != 0, live = (job->flags & JOB_LIVE) != 0;
	int changed, had_script = 0;
	int moved = run->key.start != job->key.start &&
	    run->alias != job->key.start;
	int lost = (run->flags & RUN_MISSING_IN_BACKEND) != 0;
	enum spool_put rc = PUT_ERROR;

	if (run->flags & RUN_QUARANTINED)
		return PUT_KNOWN;
	job_init(&old);
	if (moved)
		key_moves(sp, run, job);
	job->key = run->key;
	changed = record_merge(sp, run, job, &old, &had_script);
	if (sp->broken)
		goto done;
	if (changed == 0 && moved)
		changed = 1;
	if (changed == -1 ||
	    (!changed && !(lost && live) && run->not_found_count == 0)) {
		rc = PUT_KNOWN;
		goto done;
	}
	if (changed)
		spool_revision(sp, &old);
	if ((rc = record_fit(sp, &old)) != PUT_NEW)
		goto done;
	run_found(run, &old);
	run_script(run, &old);
	states_merged(sp, run, &old, had_end, live);
	if (changed)
		publish_again(sp, run);
	rc = merged_store(sp, run, &before, &old, had_script);
done:
	job_clear(&old);
	return rc;
}

/*
 * A run that was found without the backfill does not wait for its list, unless it
 * is delivered, or may be: see is_below_low_water().
 */
static enum spool_put
held_found(struct spool *sp, struct spool_run *run, enum spool_put rc)
{
	if ((rc != PUT_MERGED && rc != PUT_KNOWN) || run->id == 0 ||
	    (run->state[DEST_REST] != BACKFILL_HELD &&
		run->state[DEST_NATS] != BACKFILL_HELD) ||
	    spool_is_done(sp, &run->key) ||
	    (run->end != 0 && run->end < sp->now.low_water))
		return rc;
	return spool_release_backfill(sp, run) == -1 ? PUT_ERROR : PUT_MERGED;
}

/* `backfill --nats` publishes a run again that waits for REST, too. */
static enum spool_put
put_row(struct spool *sp, struct spool_run *run, struct job *job)
{
	int again = sp->policy.republish.records &&
	    (job->flags & JOB_BACKFILL) != 0;
	enum spool_put rc = put_merge(sp, run, job);
	int moved = 0;

	if (!(job->flags & JOB_BACKFILL))
		return held_found(sp, run, rc);
	if ((rc == PUT_MERGED || rc == PUT_KNOWN) && again && run->id != 0 &&
	    run->end != 0 && !spool_stop_leased(run))
		moved = spool_republish(sp, run);
	if (moved == -1)
		return PUT_ERROR;
	return moved == 1 ? PUT_HELD : rc;
}

/* A done run: nothing is news, except the script that it still lacks. */
static enum spool_put
put_done(struct spool *sp, const struct job *job)
{
	const char *key = sp->policy.script_key;

	if (job->script != NULL && key != NULL &&
	    spool_meta_expected(sp, &job->key, key) &&
	    script_update(sp, &job->key, job->script) == -1)
		return PUT_ERROR;
	return PUT_KNOWN;
}

/*
 * The tombstone of the run may have been removed, see spool_evict(). A backfill
 * stores the run nevertheless: a repeated start is harmless.
 */
static int
is_below_low_water(struct spool *sp, const struct job *job)
{
	if (job->end == 0 || job->end >= sp->now.low_water ||
	    (job->flags & JOB_BACKFILL))
		return 0;
	sp->beyond++;
	return 1;
}

uint64_t
spool_below_low_water(const struct spool *sp)
{
	return sp->beyond;
}

enum spool_put
spool_put(struct spool *sp, struct job *job, int64_t *id)
{
	struct spool_run run;
	enum run_found found;
	int64_t alias;

	*id = 0;
	if (job->key.start <= 0 || job->key.job == 0 ||
	    job->key.job > INT64_MAX || job->key.cluster[0] == '\0')
		return PUT_REFUSED;
	if (sp->broken)
		return PUT_ERROR;
	found = spool_search(sp, job, &run, &alias);
	if (found == FOUND_ERROR || sp->broken)
		return PUT_ERROR;
	if (found == FOUND_DONE)
		return put_done(sp, job);
	if (found != FOUND_ROW &&
	    ((job->flags & JOB_PARTIAL) || !(job->flags & JOB_HAS_START)))
		return PUT_REFUSED;
	if (found == FOUND_NONE && is_below_low_water(sp, job))
		return PUT_KNOWN;
	if (spool_resources_take(sp, job) == -1)
		return PUT_ERROR;
	if (found != FOUND_ROW)
		return put_new(sp, job, alias, found == FOUND_RESTORABLE, id);
	*id = run.id;
	return put_row(sp, &run, job);
}

enum spool_put
spool_put_exported(struct spool *sp, struct job *job, int64_t *id)
{
	int records = sp->policy.republish.records;
	uint64_t beyond = sp->beyond;
	enum spool_put rc;

	/* cc-backend gets the run also during `backfill --nats`. */
	sp->policy.republish.records = 0;
	rc = spool_put(sp, job, id);
	if (rc == PUT_KNOWN && sp->beyond != beyond) {
		sp->beyond = beyond;
		job->flags |= JOB_BACKFILL;
		rc = sp->policy.to[DEST_REST] ? spool_put(sp, job, id) :
						PUT_REFUSED;
	}
	sp->policy.republish.records = records;
	return rc;
}

enum spool_put
spool_put_quarantined(struct spool *sp, const struct run_key *key,
    const uint8_t *p, size_t n)
{
	struct spool_run run;
	int found = spool_find(sp, key, &run), d;

	if (found == -1)
		return PUT_ERROR;
	if (found == 0) {
		memset(&run, 0, sizeof(run));
		run.key = *key;
		run.cluster = spool_cluster_id(sp, key->cluster, 1);
		if (run.cluster == -1)
			return sp->broken ? PUT_ERROR : PUT_REFUSED;
		if (spool_add(sp, &run) == -1 ||
		    spool_record_set(sp, run.id, p, n) == -1)
			return PUT_ERROR;
	}
	if (run.flags & RUN_QUARANTINED)
		return PUT_KNOWN;
	/*
	 * No request deletes this run in cc-backend, and the answer to a request
	 * under way is not used.
	 */
	run.flags &= ~(RUN_SUPERSEDED | RUN_FORGET_AFTER_DELETE);
	run.flags |= RUN_QUARANTINED;
	run_move(sp, &run, DEST_REST, RUN_EVENT_QUARANTINED, DUE_NOW,
	    "quarantined: a worker died twice on its record");
	run_move(sp, &run, DEST_NATS, RUN_EVENT_QUARANTINED, DUE_NOW, NULL);
	if (spool_save(sp, &run) == -1)
		return PUT_ERROR;
	/* Later runs of the job do not wait for it. */
	for (d = 0; d < DEST__COUNT; d++)
		if (spool_release(sp, &run, (enum dest)d) == -1)
			return PUT_ERROR;
	return PUT_MERGED;
}

int
spool_put_from_backend(struct spool *sp, const struct run_key *key)
{
	struct spool_run run;
	int found = spool_find(sp, key, &run);

	if (found != 0)
		return found == -1 ? -1 : 0;
	/*
	 * A reload may remove REST while a list is under way.  The row would
	 * keep the run from NATS.
	 */
	if (!sp->policy.to[DEST_REST] || spool_is_done(sp, key))
		return 0;
	memset(&run, 0, sizeof(run));
	run.key = *key;
	run.flags = RUN_KEY_FIXED | RUN_REST_STARTED | RUN_FROM_BACKEND;
	run.cluster = spool_cluster_id(sp, key->cluster, 1);
	run_move(sp, &run, DEST_REST, RUN_EVENT_FOUND, DUE_KEEP, NULL);
	if (run.cluster == -1 || spool_add(sp, &run) == -1)
		return -1;
	return 1;
}
