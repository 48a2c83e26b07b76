/* SPDX-License-Identifier: MIT */
/*
 * What an answer does to a run's row: the only place where a run moves on,
 * is set aside or waits for another try.  See relay.c.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "submitter/delivery/delivery.h"

#define HIT_WAIT	2000	/* ms until a stop that hit another run is repeated */
#define REPROBE_TRIES	3	/* then the field is unknown to every version */
#define RELEASE_TRIES	20	/* a start this hopeless does not hold up its sisters */

void
relay_row_save(struct relay *r, struct spool_run *run)
{
	/* Errors spoil the transaction, and the backlog sees them. */
	spool_save(r->s->spool, run);
	backlog_touch(r->s->backlog);
}

/* Starts behind this one may go; and it may be seen, or asked for. */
static void
start_settled(struct relay *r, const struct spool_run *run, enum dest dest)
{
	spool_release(r->s->spool, run, dest);
	backlog_touch(r->s->backlog);
	seen_kick(r->s->seen);
	relay_kick(r);
}

void
relay_taken(struct relay *r, struct spool_run *run, int seen)
{
	struct spool_run copy = *run;

	if (!spool_policy(r->s->spool)->commit_seen)
		seen = 1;
	if (run->end != 0)
		run->phase[DEST_REST] = seen ? PHASE_STOP : PHASE_WAIT;
	else
		run->phase[DEST_REST] = seen ? PHASE_SEEN : PHASE_OPEN;
	run->due[DEST_REST] = DUE_NOW;
	run->tries[DEST_REST] = 0;
	run->since[DEST_REST] = spool_now(r->s->spool);
	run->reason[0] = '\0';
	relay_row_save(r, run);
	start_settled(r, &copy, DEST_REST);
}

void
relay_refuse(struct relay *r, struct spool_run *run, enum dest dest,
    const char *reason)
{
	struct spool_run copy = *run;
	int is_stop = run->phase[dest] == PHASE_STOP ||
	    run->phase[dest] == PHASE_DELETE;
	unsigned held;

	/* Another run of the job may be one that makes way for it. */
	if (dest == DEST_REST && run->phase[dest] == PHASE_ASK &&
	    spool_ways_clear(r->s->spool, run) == 1) {
		relay_row_save(r, run);
		relay_kick(r);
		return;
	}
	r->s->n.rejected++;
	if (log_allowed(&r->said_refused, &held))
		log_warnx("%s of job %llu (%s, start %lld) is refused: %s; kept, "
		    "see `cc-slurm-adapterctl queue --rejected` (%u more since "
		    "the last such line)", is_stop ? "stop" : "start",
		    (unsigned long long)run->key.job, run->key.cluster,
		    (long long)run->key.start, reason, held);
	run->phase[dest] = is_stop ? PHASE_NO_STOP : PHASE_NO_START;
	run->due[dest] = DUE_NOW;
	snprintf(run->reason, sizeof(run->reason), "%s", reason);
	relay_row_save(r, run);
	if (!is_stop || copy.phase[dest] == PHASE_DELETE)
		start_settled(r, &copy, dest);
}

static void
row_retry(struct relay *r, struct spool_run *run, const char *why)
{
	struct spool_run copy = *run;

	r->s->n.retries++;
	run->due[DEST_REST] = spool_now(r->s->spool) +
	    retry_wait(run->tries[DEST_REST]);
	run->tries[DEST_REST]++;
	snprintf(run->reason, sizeof(run->reason), "%s", why);
	relay_row_save(r, run);
	if (run->tries[DEST_REST] == RELEASE_TRIES)
		start_settled(r, &copy, DEST_REST);
}

void
relay_row_return(struct relay *r, struct spool_run *run)
{
	run->due[DEST_REST] = DUE_NOW;
	relay_row_save(r, run);
}

/* What every question may be answered with. */
static void
not_taken(struct relay *r, struct spool_run *run, const struct verdict *v)
{
	switch (v->outcome) {
	case OUT_REJECTED:
		relay_refuse(r, run, DEST_REST, v->text);
		break;
	case OUT_STOP_LINE:
	case OUT_CONFIG:
		relay_row_return(r, run);
		break;
	default:
		row_retry(r, run, v->text);
		break;
	}
}

/* 500 for the tags alone: the run is stored. */
static void
say_without_tags(struct relay *r, const struct spool_run *run,
    const struct verdict *v)
{
	unsigned held;

	if (strstr(v->text, "adding tag") == NULL ||
	    !log_allowed(&r->said_tags, &held))
		return;
	log_warnx("job %llu (%s, start %lld) is in cc-backend without some of "
	    "its tags: %s (%u more since the last such line)",
	    (unsigned long long)run->key.job, run->key.cluster,
	    (long long)run->key.start, v->text, held);
}

static void
start_answered(struct relay *r, struct spool_run *run, struct verdict *v)
{
	switch (v->outcome) {
	case OUT_DONE:
		r->s->n.starts++;
		say_without_tags(r, run, v);
		CRASH_POINT("start-answered");
		relay_taken(r, run, 0);
		break;
	case OUT_CACHED:
		relay_taken(r, run, 0);
		break;
	case OUT_ASK_BACK:
		run->phase[DEST_REST] = PHASE_ASK;
		run->due[DEST_REST] = DUE_NOW;
		snprintf(run->reason, sizeof(run->reason), "%s", v->text);
		relay_row_save(r, run);
		seen_kick(r->s->seen);
		break;
	case OUT_REPROBE:
		if (run->tries[DEST_REST] < REPROBE_TRIES)
			row_retry(r, run, v->text);
		else
			relay_refuse(r, run, DEST_REST, v->text);
		break;
	default:
		not_taken(r, run, v);
		break;
	}
}

static void
stop_done(struct relay *r, struct spool_run *run)
{
	late_end(r->s->late, run);
	run->phase[DEST_REST] = PHASE_DONE;
	run->tries[DEST_REST] = 0;
	run->reason[0] = '\0';
	CRASH_POINT("stop-answered");
	relay_row_save(r, run);
}

/* cc-backend's race: it stopped another run, and this one still runs there. */
static void
stop_hit_other(struct relay *r, struct spool_run *run)
{
	log_errorx("cc-backend stopped another run in place of job %llu (%s, "
	    "start %lld); the next comparison tells which",
	    (unsigned long long)run->key.job, run->key.cluster,
	    (long long)run->key.start);
	run->due[DEST_REST] = spool_now(r->s->spool) + HIT_WAIT;
	relay_row_save(r, run);
}

static void
stop_no_run(struct relay *r, struct spool_run *run, const char *why)
{
	if (run->flags & RUN_AGAIN) {
		relay_refuse(r, run, DEST_REST, why);
		return;
	}
	run->flags |= RUN_AGAIN;
	run->phase[DEST_REST] = PHASE_START_ENDED;
	run->due[DEST_REST] = DUE_NOW;
	relay_row_save(r, run);
}

/* No stop of ours had been tried: another hand was first, a listing tells how. */
static void
stop_late(struct relay *r, struct spool_run *run, const char *why)
{
	run->phase[DEST_REST] = PHASE_COMPARE;
	run->due[DEST_REST] = DUE_NOW;
	snprintf(run->reason, sizeof(run->reason), "%s", why);
	relay_row_save(r, run);
	seen_kick(r->s->seen);
}

static void
stop_answered(struct relay *r, struct spool_run *run, struct verdict *v,
    const struct answer *a, int first)
{
	switch (v->outcome) {
	case OUT_DONE:
		if (outcome_hit_other(a->body, a->len, run->key.job,
		    run->key.start)) {
			stop_hit_other(r, run);
			break;
		}
		r->s->n.stops++;
		stop_done(r, run);
		break;
	case OUT_CLOSED:
		if (first)
			stop_late(r, run, v->text);
		else
			stop_done(r, run);
		break;
	case OUT_NO_RUN:
		stop_no_run(r, run, v->text);
		break;
	case OUT_OLDER:
		if (!r->s->backend_pinned)
			r->s->backend = v->backend;
		row_retry(r, run, v->text);
		break;
	default:
		not_taken(r, run, v);
		break;
	}
}

/*
 * cc-backend has forgotten the run, or never knew it: it is done with, or its
 * start goes out as if it were the first.  Repeated after a crash, the answer
 * is the same.
 */
static void
deleted(struct relay *r, struct spool_run *run)
{
	struct spool_run copy;

	CRASH_POINT("delete-answered");
	run->tries[DEST_REST] = 0;
	run->due[DEST_REST] = DUE_NOW;
	run->reason[0] = '\0';
	if (run->flags & RUN_GONE)
		run->phase[DEST_REST] = PHASE_DONE;
	else
		run->phase[DEST_REST] = run->end != 0 ? PHASE_START_ENDED :
		    PHASE_START;
	run->flags &= ~(RUN_STOP_SENT | RUN_AGAIN | RUN_CLOSED);
	copy = *run;
	relay_row_save(r, run);
	start_settled(r, &copy, DEST_REST);
	CRASH_POINT("delete-settled");
}

static void
delete_answered(struct relay *r, struct spool_run *run, struct verdict *v)
{
	switch (v->outcome) {
	case OUT_DONE:
		log_notice("job %llu (%s, start %lld) is deleted in cc-backend%s",
		    (unsigned long long)run->key.job, run->key.cluster,
		    (long long)run->key.start, run->flags & RUN_GONE ? "" :
		    ", and begun anew");
		deleted(r, run);
		break;
	case OUT_NO_RUN:
		deleted(r, run);
		break;
	default:
		not_taken(r, run, v);
		break;
	}
}

void
relay_answered(struct relay *r, struct spool_run *run, struct verdict *v,
    const struct answer *a, int first)
{
	if (a->what == WHAT_START)
		start_answered(r, run, v);
	else if (a->what == WHAT_DELETE)
		delete_answered(r, run, v);
	else
		stop_answered(r, run, v, a, first && a->sends <= 1);
}
