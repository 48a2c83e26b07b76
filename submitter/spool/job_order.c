/* SPDX-License-Identifier: MIT */
/*
 * The order of the runs of one job.  cc-backend refuses an older run after a
 * newer one, and a newer run within a day after an older one.  So starts are
 * sent oldest first.  With requeuedRuns=last, a later run replaces a run that
 * was requeued early.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/crash_point.h"
#include "common/log.h"
#include "common/text/time_text.h"
#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"

/* a start with this many failures does not block later runs of its job */
#define RELEASE_TRIES 20

static const char waits[] = "waits until an earlier run, requeued early, is "
			    "deleted in cc-backend";

int
spool_is_start(enum run_state state)
{
	return state == START_DUE || state == START_DUE_ENDED ||
	    state == START_BLOCKED || state == START_CONFLICT;
}

/* Is the run to be deleted in cc-backend because a later run replaces it? */
static int
is_superseded(const struct spool_run *run)
{
	return (run->flags & RUN_SUPERSEDED) ||
	    ((run->flags & RUN_FORGET_AFTER_DELETE) &&
		run->state[DEST_REST] == DELETE_DUE);
}

int
spool_start_fails(const struct spool_run *run)
{
	enum run_state state = run->state[DEST_REST];

	/* A try is several requests.  cc-backend has refused the start. */
	if (state == START_CONFLICT)
		return run->tries[DEST_REST] > 0;
	return (state == START_DUE || state == START_DUE_ENDED) &&
	    run->tries[DEST_REST] >= RELEASE_TRIES;
}

/* Must a later run of the job wait for this one? */
static int
blocks(const struct spool_run *run, enum dest dest)
{
	if (dest == DEST_REST && is_superseded(run))
		return 1;
	return spool_is_start(run->state[dest]) &&
	    (dest != DEST_REST || !spool_start_fails(run));
}

/*
 * A caller may ignore the result: without the other runs of the job the
 * transaction fails, because a later run would stay blocked.
 */
static int
no_memory(struct spool *sp)
{
	snprintf(sp->error, sizeof(sp->error), "out of memory");
	sp->broken = 1;
	return -1;
}

/*
 * Reads the other runs of the job, oldest first: how many, or -1.  A job that is
 * requeued again and again has hundreds of rejected runs in front of one that
 * waits.  The caller frees *rows.
 */
static int
siblings(struct spool *sp, const struct spool_run *run, struct spool_run **rows)
{
	sqlite3_stmt *st = spool_query(sp, SQL_RUN_OF_JOB,
	    VALUES(INT(run->cluster), INT(run->key.job), INT(JOB_RUNS_MAX)));
	struct spool_run row, *p;
	size_t n = 0, cap = 0;
	int rc;

	*rows = NULL;
	if (st == NULL)
		return -1;
	while ((rc = spool_step(sp, st)) == 1) {
		spool_row(sp, st, &row);
		if (row.id == run->id)
			continue;
		p = array_reserve(*rows, &cap, n + 1, sizeof(*p));
		if (p == NULL) {
			rc = no_memory(sp);
			break;
		}
		*rows = p;
		p[n++] = row;
	}
	sqlite3_reset(st);
	if (n + 1 >= JOB_RUNS_MAX)
		log_limited(&sp->many_runs, log_warnx,
		    "job %llu (%s) has %d runs or more in the spool: the starts "
		    "of later runs may wait",
		    (unsigned long long)run->key.job, run->key.cluster,
		    JOB_RUNS_MAX);
	return rc == -1 ? -1 : (int)n;
}

/*
 * Blocks the run behind an older one that still has to start, and blocks newer
 * runs that were not sent behind this one.
 */
int
spool_order(struct spool *sp, struct spool_run *run)
{
	struct spool_run *rows;
	int d, n = siblings(sp, run, &rows), i, moved;
	int rc = n == -1 ? -1 : 0;

	for (i = 0; i < n && rc != -1; i++) {
		for (d = 0, moved = 0; d < DEST__COUNT; d++) {
			if (!blocks(&rows[i], (enum dest)d))
				continue;
			if (rows[i].key.start < run->key.start) {
				if (spool_is_start(run->state[d]))
					run_move(sp, run, (enum dest)d,
					    RUN_EVENT_BLOCKED, DUE_KEEP, NULL);
			} else if (blocks(run, (enum dest)d) &&
			    spool_is_start(rows[i].state[d]) &&
			    rows[i].due[d] != DUE_LEASED &&
			    rows[i].state[d] != START_CONFLICT) {
				moved |= run_move(sp, &rows[i], (enum dest)d,
					     RUN_EVENT_BLOCKED, DUE_NOW,
					     NULL) == 0;
			}
		}
		if (moved && spool_save(sp, &rows[i]) == -1)
			rc = -1;
	}
	free(rows);
	return rc;
}

int
spool_release_backfill(struct spool *sp, struct spool_run *run)
{
	int d;

	for (d = 0; d < DEST__COUNT; d++)
		if (run->state[d] == BACKFILL_HELD)
			run_move(sp, run, (enum dest)d, RUN_EVENT_RELEASED,
			    DUE_KEEP, NULL);
	if (spool_supersede(sp, run) == -1 || spool_order(sp, run) == -1 ||
	    spool_save(sp, run) == -1)
		return -1;
	return spool_superseded_by_later(sp, run) == -1 ? -1 : 0;
}

int
spool_retry(struct spool *sp, struct spool_run *run)
{
	int d;

	for (d = 0; d < DEST__COUNT; d++)
		if (run_may_move(run, (enum dest)d, RUN_EVENT_RETRY))
			run_move(sp, run, (enum dest)d, RUN_EVENT_RETRY,
			    DUE_NOW, NULL);
	/* Several runs of the job may be retried. */
	if (spool_order(sp, run) == -1)
		return -1;
	return spool_save(sp, run);
}

int
spool_republish_due(const struct spool *sp, const struct spool_run *run)
{
	const struct spool_republish *r = &sp->policy.republish;

	return r->before != 0 && run->since[DEST_NATS] < r->before &&
	    run->key.start <= r->until &&
	    (run->end == 0 || run->end >= r->from) &&
	    strcmp(run->key.cluster, r->cluster) == 0 &&
	    run_may_move(run, DEST_NATS, RUN_EVENT_REPUBLISHED);
}

int
spool_stop_leased(const struct spool_run *run)
{
	return run->state[DEST_NATS] == STOP_DUE &&
	    run->due[DEST_NATS] == DUE_LEASED;
}

int
spool_republish(struct spool *sp, struct spool_run *run)
{
	if (!spool_republish_due(sp, run))
		return 0;
	run_move(sp, run, DEST_NATS, RUN_EVENT_REPUBLISHED, DUE_NOW, NULL);
	run->flags |= RUN_REPUBLISHED;
	if (spool_order(sp, run) == -1 || spool_save(sp, run) == -1)
		return -1;
	return 1;
}

/* The oldest run that is blocked; NULL = none, or another run blocks it. */
static struct spool_run *
next_blocked(struct spool_run *rows, int n, enum dest dest)
{
	struct spool_run *next = NULL;
	int i;

	for (i = 0; i < n; i++) {
		if (rows[i].state[dest] == START_BLOCKED) {
			if (next == NULL)
				next = &rows[i];
		} else if (blocks(&rows[i], dest))
			return NULL;
	}
	return next;
}

int
spool_release(struct spool *sp, const struct spool_run *run, enum dest dest)
{
	struct spool_run *rows, *next;
	int n = siblings(sp, run, &rows), rc = n == -1 ? -1 : 0;

	next = next_blocked(rows, n, dest);
	if (next != NULL &&
	    !(dest == DEST_REST && run->id != 0 && is_superseded(run))) {
		run_move(sp, next, dest, RUN_EVENT_UNBLOCKED,
		    next->flags & RUN_UNCONFIRMED ? DUE_UNCONFIRMED : DUE_NOW,
		    strcmp(next->reason, waits) == 0 ? "" : NULL);
		rc = spool_save(sp, next);
	}
	free(rows);
	return rc;
}

/* Is this the oldest blocked run of its job?  0, 1, or -1. */
static int
is_first_blocked(struct spool *sp, const struct spool_run *run, enum dest dest)
{
	sqlite3_stmt *st = spool_query(sp, SQL_RUN_OF_JOB,
	    VALUES(INT(run->cluster), INT(run->key.job), INT(JOB_RUNS_MAX)));
	struct spool_run row = { .id = 0 };
	int rc = -1;

	while (st != NULL && (rc = spool_step(sp, st)) == 1) {
		spool_row(sp, st, &row);
		if (row.state[dest] == START_BLOCKED)
			break;
	}
	if (st != NULL)
		sqlite3_reset(st);
	return rc == -1 ? -1 : row.id == run->id;
}

/* Releases the oldest blocked run of a job, unless another run blocks it. */
static int
unblock_one(struct spool *sp, struct spool_run *run, void *arg)
{
	const enum dest *dest = arg;
	struct spool_run none = *run;
	int rc = is_first_blocked(sp, run, *dest);

	spool_alive();
	none.id = 0; /* spool_release() reads all runs of the job */
	return rc == 1 ? spool_release(sp, &none, *dest) : rc;
}

int
spool_unblock(struct spool *sp)
{
	struct spool_after after;
	enum dest dest;
	int d, n;

	for (d = 0; d < DEST__COUNT; d++) {
		memset(&after, 0, sizeof(after));
		dest = (enum dest)d;
		do {
			n = spool_each(sp, dest, START_BLOCKED, &after,
			    SPOOL_PAGE, unblock_one, &dest);
		} while (n == SPOOL_PAGE && !sp->broken);
		if (n == -1 || sp->broken)
			return -1;
	}
	return 0;
}

/* Does the later run wait for an unconfirmed one, and is itself confirmed? */
static int
is_reuse(const struct spool_run *early, const struct spool_run *later)
{
	int d, waits_for = 0;

	for (d = 0; d < DEST__COUNT; d++)
		waits_for |= early->due[d] == DUE_UNCONFIRMED &&
		    spool_is_start(early->state[d]) &&
		    later->state[d] == START_BLOCKED;
	return waits_for && !(later->flags & RUN_UNCONFIRMED) &&
	    early->key.start < later->key.start && early->submit != 0 &&
	    early->submit < later->submit;
}

int
spool_is_reused(struct spool *sp, const struct spool_run *run)
{
	struct spool_run *rows;
	int n, i, found = 0;

	if (!(run->flags & RUN_UNCONFIRMED))
		return 0;
	n = siblings(sp, run, &rows);
	for (i = 0; i < n && !found; i++)
		found = is_reuse(run, &rows[i]);
	free(rows);
	return found;
}

int
spool_waits_for_reused(struct spool *sp, int64_t id)
{
	struct spool_run *rows, run;
	int d, n, i, found = 0;
	uint64_t blocked = 0;

	for (d = 0; d < DEST__COUNT; d++)
		blocked += spool_count(sp, (enum dest)d, START_BLOCKED);
	if (blocked == 0 || spool_get(sp, id, &run) != 1)
		return 0;
	n = siblings(sp, &run, &rows);
	for (i = 0; i < n && !found; i++)
		found = is_reuse(&rows[i], &run);
	free(rows);
	return found;
}

int
spool_set_unknown(struct spool *sp, struct spool_run *run, const char *reason)
{
	int d;

	for (d = 0; d < DEST__COUNT; d++) {
		if (run->due[d] != DUE_UNCONFIRMED ||
		    !spool_is_start(run->state[d]))
			continue;
		run_move(sp, run, (enum dest)d, RUN_EVENT_UNKNOWN, DUE_NOW,
		    NULL);
	}
	snprintf(run->reason, sizeof(run->reason), "%s", reason);
	if (spool_save(sp, run) == -1)
		return -1;
	for (d = 0; d < DEST__COUNT; d++)
		if (run->state[d] == START_REJECTED &&
		    spool_release(sp, run, (enum dest)d) == -1)
			return -1;
	return 0;
}

static int
may_be_superseded(const struct spool_run *early, const struct spool_run *run)
{
	/* A run that is not reported, or may never run, replaces no run. */
	return run->state[DEST_REST] != RUN_NONE &&
	    !(run->flags & RUN_UNCONFIRMED) &&
	    (early->flags & RUN_REQUEUED_EARLY) &&
	    !(early->flags &
		(RUN_FORGET_AFTER_DELETE | RUN_SUPERSEDED | RUN_QUARANTINED)) &&
	    early->key.start < run->key.start &&
	    run->key.start - early->key.start < DUPLICATE_SECONDS &&
	    early->state[DEST_REST] != RUN_NONE &&
	    early->state[DEST_REST] != BACKFILL_HELD &&
	    early->state[DEST_REST] != START_REJECTED;
}

static int
is_within_a_day(int64_t start, const struct spool_run *run)
{
	return start < run->key.start &&
	    run->key.start - start < DUPLICATE_SECONDS;
}

/* Is a run of the job done that ran for longer than one that is requeued early? */
static int
has_long_tomb(struct spool *sp, const struct spool_run *run)
{
	sqlite3_stmt *st = spool_query(sp, SQL_TOMB_OF_JOB,
	    VALUES(INT(run->cluster), INT(run->key.job), INT(JOB_RUNS_MAX)));
	int found = 0;

	while (st != NULL && !found && spool_step(sp, st) == 1)
		found = sqlite3_column_int64(st, 1) > REQUEUED_EARLY &&
		    is_within_a_day(sqlite3_column_int64(st, 0), run);
	if (st != NULL)
		sqlite3_reset(st);
	return found;
}

/*
 * cc-backend refuses the run because of an earlier one that stays there.  Then
 * it replaces no run: both would be missing.
 */
static int
is_refused_anyway(struct spool *sp, const struct spool_run *run,
    const struct spool_run *rows, int n)
{
	enum run_state state;
	int i;

	for (i = 0; i < n; i++) {
		state = rows[i].state[DEST_REST];
		if (is_within_a_day(rows[i].key.start, run) &&
		    !(rows[i].flags & RUN_REQUEUED_EARLY) &&
		    !is_superseded(&rows[i]) && state != RUN_NONE &&
		    state != START_REJECTED && state != BACKFILL_HELD)
			return 1;
	}
	return has_long_tomb(sp, run);
}

static int
supersede_one(struct spool *sp, struct spool_run *early,
    const struct spool_run *run)
{
	/* With activeOnly, the other suite may have delivered it. */
	int there = (early->flags & RUN_KEY_FIXED) || sp->policy.active_only ||
	    !spool_is_start(early->state[DEST_REST]);

	log_notice(
	    "%s was requeued after %s and is %s: the run that started at "
	    "%s replaces it (requeuedRuns)",
	    run_key_text(&early->key),
	    duration_text((early->end - early->key.start) * 1000),
	    there ? "deleted in cc-backend" : "not reported",
	    time_text(run->key.start));
	if (there)
		early->flags |= RUN_SUPERSEDED;
	else {
		run_move(sp, early, DEST_REST, RUN_EVENT_DROPPED, DUE_KEEP,
		    NULL);
		early->flags |= RUN_FORGET_AFTER_DELETE;
	}
	if (spool_save(sp, early) == -1)
		return -1;
	CRASH_POINT("way-given");
	return 0;
}

int
spool_supersede(struct spool *sp, struct spool_run *run)
{
	struct spool_run *rows;
	int n, i, is_useless, any = 0, rc = 0;

	if (!sp->policy.last_requeued || !sp->policy.to[DEST_REST])
		return 0;
	n = siblings(sp, run, &rows);
	is_useless = n > 0 && is_refused_anyway(sp, run, rows, n);
	for (i = 0; i < n && rc == 0; i++) {
		if (!is_useless && may_be_superseded(&rows[i], run))
			rc = supersede_one(sp, &rows[i], run);
		any |= rows[i].key.start < run->key.start && rows[i].id != 0 &&
		    is_superseded(&rows[i]);
	}
	free(rows);
	if (n == -1 || rc == -1)
		return -1;
	if (any &&
	    (spool_is_start(run->state[DEST_REST]) ||
		run->state[DEST_REST] == START_REJECTED)) {
		run_move(sp, run, DEST_REST, RUN_EVENT_BLOCKED, DUE_NOW, waits);
	}
	return any;
}

/* The run is neither being sent nor accepted. */
static int
can_wait(const struct spool_run *run)
{
	enum run_state state = run->state[DEST_REST];

	return !(run->flags & RUN_QUARANTINED) &&
	    (state == START_REJECTED ||
		(spool_is_start(state) && state != START_CONFLICT &&
		    run->due[DEST_REST] != DUE_LEASED));
}

int
spool_superseded_by_later(struct spool *sp, const struct spool_run *early)
{
	struct spool_run *rows;
	int n, i, rc;

	if (!sp->policy.last_requeued || !(early->flags & RUN_REQUEUED_EARLY) ||
	    early->id == 0)
		return 0;
	n = siblings(sp, early, &rows);
	rc = n == -1 ? -1 : 0;
	for (i = 0; i < n; i++) {
		if (!can_wait(&rows[i]) || !may_be_superseded(early, &rows[i]))
			continue;
		rc = spool_supersede(sp, &rows[i]);
		if (rc == 1)
			rc = spool_save(sp, &rows[i]);
		else if (rc == 0)
			rc = spool_release(sp, early, DEST_REST);
		break;
	}
	free(rows);
	return rc;
}
