/* SPDX-License-Identifier: MIT */
/*
 * Applies an answer of cc-backend to the row of a run: its state changes, the
 * run is rejected, or the request is retried.  See delivery.h.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"

/* ms until a stop that stopped another run is repeated */
#define HIT_WAIT 2000
/*
 * ms; a stop without an answer may wait in cc-backend for a lock.  If it came
 * after the repeated start and before its commit, it would stop another run.
 */
#define STOP_UNDER_WAY 60000
/* after these the field is unknown to every version */
#define REPROBE_TRIES 3
/*
 * With so many tries, cc-backend was probed since the last one, and the breaker
 * permits another request only if the probe was accepted: a proxy refuses only
 * this request.
 */
#define REFUSED_TRIES 4

static struct log_limit said_refused;
static struct log_limit said_tags;

void
run_save(struct submitter *s, struct spool_run *run)
{
	/* A failed write fails the transaction, and the commit handles that. */
	spool_save(s->spool, run);
	commit_soon(s->commit);
}

/* Releases later runs of the job; this run waits for its commit. */
static void
start_settled(struct submitter *s, const struct spool_run *run, enum dest dest)
{
	spool_release(s->spool, run, dest);
	commit_soon(s->commit);
	wake(s, WAKE_COMMIT_CHECK | WAKE_DELIVERY);
}

/* event: the start was accepted or listed. */
static void
start_taken(struct submitter *s, struct spool_run *run, enum run_event event)
{
	struct spool_run copy = *run;

	if (run_move(s->spool, run, DEST_REST, event, DUE_NOW, "") == -1)
		return;
	run->flags &= ~(RUN_REFUSED_ONCE | RUN_COMMIT_SHOWN);
	run->since[DEST_REST] = spool_now(s->spool);
	run_save(s, run);
	start_settled(s, &copy, DEST_REST);
}

void
run_start_listed(struct submitter *s, struct spool_run *run)
{
	/* Its record crashed a worker; the stop would read the record again. */
	if ((run->flags & RUN_QUARANTINED) == 0)
		start_taken(s, run, RUN_EVENT_LISTED);
}

void
run_nats_listed(struct submitter *s, const struct spool_run *before,
    const struct spool_run *run)
{
	if (before->state[DEST_NATS] != run->state[DEST_NATS])
		start_settled(s, before, DEST_NATS);
}

static void
start_accepted(struct submitter *s, struct spool_run *run)
{
	start_taken(s, run,
	    spool_policy(s->spool)->wait_commit ? RUN_EVENT_ACCEPTED :
						  RUN_EVENT_COMMITTED);
}

/*
 * A later run replaces the run, and cc-backend does not have it: nothing is to be
 * deleted, and the later run waits no longer.
 */
static void
superseded_drop(struct submitter *s, struct spool_run *run, const char *reason)
{
	struct spool_run copy;

	if (run_move(s->spool, run, DEST_REST, RUN_EVENT_DROPPED, DUE_KEEP,
		NULL) == -1)
		return;
	log_info("%s is not in cc-backend (%s); a later run replaces it",
	    run_key_text(&run->key), reason);
	run->flags &= ~RUN_SUPERSEDED;
	run->flags |= RUN_FORGET_AFTER_DELETE;
	copy = *run;
	run_save(s, run);
	start_settled(s, &copy, DEST_REST);
}

void
run_reject(struct submitter *s, struct spool_run *run, enum dest dest,
    enum reject_class class, const char *reason)
{
	int is_stop = run->state[dest] == STOP_DUE;
	struct spool_run copy;

	if (dest == DEST_REST && !is_stop && (run->flags & RUN_SUPERSEDED)) {
		superseded_drop(s, run, reason);
		return;
	}
	/*
	 * A later run may replace another run of the job, which is deleted
	 * first.
	 */
	if (dest == DEST_REST && run->state[dest] == START_CONFLICT &&
	    spool_supersede(s->spool, run) == 1) {
		run_save(s, run);
		/* The other run may itself wait, and not for this one any more. */
		start_settled(s, run, DEST_REST);
		return;
	}
	if (run_move(s->spool, run, dest, RUN_EVENT_REJECTED, DUE_NOW,
		dest == DEST_REST ? reason : NULL) == -1)
		return;
	if (dest == DEST_NATS) {
		run_nats_reason_set(run, reason);
		reason = run->nats_reason;
	}
	s->n.rejected++;
	s->n.rejected_by[class]++;
	log_about(LOG_ID_RUN_REJECTED, run->key.cluster, run->key.job);
	log_limited(&said_refused, log_warnx,
	    "%s: the %s is rejected: %s; the "
	    "run is kept, see `cc-slurm-adapterctl queue --rejected`",
	    run_key_text(&run->key), is_stop ? "stop" : "start", reason);
	copy = *run;
	run_save(s, run);
	if (!is_stop)
		start_settled(s, &copy, dest);
}

void
run_retry(struct submitter *s, struct spool_run *run, const char *why)
{
	s->n.retries++;
	run->due[DEST_REST] = spool_now(s->spool) +
	    timer_backoff(run->tries[DEST_REST], RETRY_FIRST, RETRY_MAX);
	run->tries[DEST_REST]++;
	snprintf(run->reason, sizeof(run->reason), "%s", why);
	run_save(s, run);
	if (spool_start_fails(run))
		start_settled(s, run, DEST_REST);
}

void
run_requeue(struct submitter *s, struct spool_run *run)
{
	run->due[DEST_REST] = DUE_NOW;
	run_save(s, run);
}

/* Results that every request can have. */
static void
not_taken(struct submitter *s, struct spool_run *run, const struct result *v)
{
	switch (v->code) {
	case RESULT_REJECTED:
		run_reject(s, run, DEST_REST, reject_class_of(v->text),
		    v->text);
		break;
	default:
		run_retry(s, run, v->text);
		break;
	}
}

/* 500 because of the tags only: the run is stored. */
static void
log_without_tags(struct submitter *s, const struct spool_run *run,
    const struct result *v)
{
	if (strstr(v->text, "adding tag") != NULL)
		log_limited(&said_tags, log_warnx,
		    "%s: cc-backend has stored the run without some of its "
		    "tags: %s",
		    run_key_text(&run->key), v->text);
}

static void
start_answered(struct submitter *s, struct spool_run *run, struct result *v)
{
	switch (v->code) {
	case RESULT_DONE:
		s->n.starts++;
		delivery_start_note(s, run, DEST_REST);
		log_without_tags(s, run, v);
		CRASH_POINT("start-answered");
		commit_repeat_answered(s->commit_check, run, 0);
		start_accepted(s, run);
		break;
	case RESULT_ACCEPTED_BEFORE:
		commit_repeat_answered(s->commit_check, run, 1);
		start_accepted(s, run);
		break;
	case RESULT_CHECK:
		commit_repeat_answered(s->commit_check, run, 0);
		run_move(s->spool, run, DEST_REST, RUN_EVENT_DUPLICATE, DUE_NOW,
		    v->text);
		run_save(s, run);
		wake(s, WAKE_COMMIT_CHECK);
		break;
	case RESULT_REPROBE:
		/* The first such answer is followed by a probe. */
		if (run->tries[DEST_REST] < REPROBE_TRIES ||
		    strncmp(run->reason, v->text, sizeof(run->reason) - 1) != 0)
			run_retry(s, run, v->text);
		else
			run_reject(s, run, DEST_REST, REJECT_INVALID, v->text);
		break;
	default:
		not_taken(s, run, v);
		break;
	}
}

static void
stop_done(struct submitter *s, struct spool_run *run)
{
	meta_after_stop(s->meta, run);
	run_move(s->spool, run, DEST_REST, RUN_EVENT_STOPPED, DUE_KEEP, "");
	CRASH_POINT("stop-answered");
	run_save(s, run);
}

/*
 * The race in cc-backend: it stopped another run, and this run is still open.
 */
static void
stop_hit_other(struct submitter *s, struct spool_run *run)
{
	log_errorx("%s: cc-backend stopped another run instead; the stop is "
		   "repeated, and the next comparison reports the other run",
	    run_key_text(&run->key));
	s->n.stop_races++;
	run->due[DEST_REST] = spool_now(s->spool) + HIT_WAIT;
	run_save(s, run);
}

static void
stop_no_run(struct submitter *s, struct spool_run *run, const char *why,
    int first)
{
	int64_t due = first ? DUE_NOW : spool_now(s->spool) + STOP_UNDER_WAY;

	if (run->flags & RUN_RESTARTED) {
		run_reject(s, run, DEST_REST, REJECT_NO_RUN, why);
		return;
	}
	run->flags |= RUN_RESTARTED;
	/* spool_retry_now() makes rows with a try due; this one has to wait. */
	run->tries[DEST_REST] = 0;
	run_move(s->spool, run, DEST_REST, RUN_EVENT_STOP_NO_RUN, due, NULL);
	run_save(s, run);
}

/*
 * No stop of this run was sent before: another client stopped the run.  A list
 * of jobs shows how.
 */
static void
stop_late(struct submitter *s, struct spool_run *run, const char *why)
{
	run_move(s->spool, run, DEST_REST, RUN_EVENT_STOP_LATE, DUE_NOW, why);
	run_save(s, run);
	wake(s, WAKE_COMMIT_CHECK);
}

static void
stop_answered(struct submitter *s, struct spool_run *run, struct result *v,
    const struct http_answer *a, int first)
{
	switch (v->code) {
	case RESULT_DONE:
		if (response_names_other(a->body, a->len, run->key.job,
			run->key.start)) {
			stop_hit_other(s, run);
			break;
		}
		s->n.stops++;
		delivery_end_note(s, run, DEST_REST);
		stop_done(s, run);
		break;
	case RESULT_ALREADY_STOPPED:
		if (first)
			stop_late(s, run, v->text);
		else
			stop_done(s, run);
		break;
	case RESULT_NO_RUN:
		stop_no_run(s, run, v->text, first);
		break;
	case RESULT_OLD_VERSION:
		/* A probe may have found another version meanwhile. */
		if (breaker_version(s->breaker) == BACKEND_1_4_3)
			breaker_set_version(s->breaker, v->backend);
		run_retry(s, run, v->text);
		break;
	default:
		not_taken(s, run, v);
		break;
	}
}

/*
 * cc-backend has deleted the run, or never had it: the run is done, or its
 * start is sent as the first one. After a crash, a repeated deletion has the
 * same answer.
 */
static void
deleted(struct submitter *s, struct spool_run *run)
{
	struct spool_run copy;

	CRASH_POINT("delete-answered");
	run_move(s->spool, run, DEST_REST,
	    run->flags & RUN_FORGET_AFTER_DELETE ? RUN_EVENT_DELETED_FINALLY :
						   RUN_EVENT_DELETED,
	    DUE_NOW, "");
	run->flags &= ~(RUN_STOP_ATTEMPTED | RUN_RESTARTED |
	    RUN_STOPPED_BY_OTHERS | RUN_REFUSED_ONCE);
	run->since[DEST_REST] = 0; /* no start of it is accepted */
	copy = *run;
	run_save(s, run);
	start_settled(s, &copy, DEST_REST);
	CRASH_POINT("delete-settled");
}

/*
 * The run stays in cc-backend, which shows it as running if its stop was not
 * sent.  Later runs of the job wait no longer.
 */
static void
delete_refused(struct submitter *s, struct spool_run *run, const char *why)
{
	struct spool_run copy;

	log_warnx("%s: cc-backend rejects the deletion, so the run stays "
		  "there: %s",
	    run_key_text(&run->key), why);
	run_move(s->spool, run, DEST_REST, RUN_EVENT_REJECTED, DUE_NOW, why);
	copy = *run;
	run_save(s, run);
	start_settled(s, &copy, DEST_REST);
}

/* The last request had the same HTTP code. */
static int
is_refused_alone(const struct spool_run *run, const struct result *v)
{
	return run->tries[DEST_REST] >= REFUSED_TRIES &&
	    strncmp(run->reason, v->text, 3) == 0;
}

static void
delete_answered(struct submitter *s, struct spool_run *run, struct result *v)
{
	switch (v->code) {
	case RESULT_DONE:
		log_notice("%s is deleted in cc-backend%s",
		    run_key_text(&run->key),
		    run->flags & RUN_FORGET_AFTER_DELETE ?
			"" :
			" and started again");
		deleted(s, run);
		break;
	case RESULT_NO_RUN:
		deleted(s, run);
		break;
	case RESULT_REJECTED:
		delete_refused(s, run, v->text);
		break;
	case RESULT_UNAUTHORIZED:
	case RESULT_WRONG_ADDRESS:
		/* Later runs of the job wait for the deletion. */
		if (is_refused_alone(run, v))
			delete_refused(s, run, v->text);
		else
			run_retry(s, run, v->text);
		break;
	default:
		not_taken(s, run, v);
		break;
	}
}

void
run_answered(struct submitter *s, struct spool_run *run, struct result *v,
    const struct http_answer *a, int first)
{
	if (a->what == REQUEST_START)
		start_answered(s, run, v);
	else if (a->what == REQUEST_DELETE)
		delete_answered(s, run, v);
	else
		stop_answered(s, run, v, a, first && a->sends <= 1);
}
