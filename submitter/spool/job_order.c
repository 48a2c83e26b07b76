/* SPDX-License-Identifier: MIT */
/*
 * Whose turn is it among the runs of one job?  cc-backend refuses an older run
 * after a newer one, and a newer one for a day after an older one.  So starts
 * go oldest first, and where the site wants it (requeuedRuns) a run that was
 * requeued soon makes way for the one that came of it.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "submitter/spool/spool_private.h"

/* Runs of one job that are looked at. */
#define SIBLINGS_MAX	64

static const char waits[] = "waits until an earlier run, requeued soon, is "
	"deleted there";

int
spool_is_start(enum phase phase)
{
	return phase == PHASE_START || phase == PHASE_START_ENDED ||
	    phase == PHASE_BEHIND || phase == PHASE_ASK;
}

/* Is it to be deleted there for the sake of a later run? */
static int
makes_way(const struct spool_run *run)
{
	return (run->flags & RUN_WAY) || ((run->flags & RUN_GONE) &&
	    run->phase[DEST_REST] == PHASE_DELETE);
}

/* Has a later run of the job to wait for this one? */
static int
bars(const struct spool_run *run, enum dest dest)
{
	return spool_is_start(run->phase[dest]) ||
	    (dest == DEST_REST && makes_way(run));
}

/* The other runs of its job, oldest first: how many, or -1. */
static int
siblings(struct spool *sp, const struct spool_run *run,
    struct spool_run rows[SIBLINGS_MAX])
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_RUN_OF_JOB);
	int rc = 0, n = 0;

	if (st == NULL)
		return -1;
	sqlite3_bind_int(st, 1, run->cluster);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)run->key.job);
	sqlite3_bind_int(st, 3, SIBLINGS_MAX);
	while (n < SIBLINGS_MAX && (rc = spool_step(sp, st)) == 1) {
		spool_row(sp, st, &rows[n]);
		n += rows[n].id != run->id;
	}
	sqlite3_reset(st);
	return rc == -1 ? -1 : n;
}

/*
 * Its place among the runs of its job: behind an older one that still has to
 * start; a newer one that was not begun goes behind it.
 */
int
spool_order(struct spool *sp, struct spool_run *run)
{
	struct spool_run rows[SIBLINGS_MAX];
	int rc = 0, d, n = siblings(sp, run, rows), i, moved;

	if (n == -1)
		return -1;
	for (i = 0; i < n && rc != -1; i++) {
		for (d = 0, moved = 0; d < DEST__COUNT; d++) {
			if (!bars(&rows[i], (enum dest)d))
				continue;
			if (rows[i].key.start < run->key.start) {
				if (spool_is_start(run->phase[d]))
					run->phase[d] = PHASE_BEHIND;
			} else if (bars(run, (enum dest)d) &&
			    spool_is_start(rows[i].phase[d]) &&
			    rows[i].due[d] != DUE_LEASED &&
			    rows[i].phase[d] != PHASE_ASK) {
				rows[i].phase[d] = PHASE_BEHIND;
				rows[i].due[d] = DUE_NOW;
				moved = 1;
			}
		}
		if (moved && spool_save(sp, &rows[i]) == -1)
			rc = -1;
	}
	return rc;
}

int
spool_unhold(struct spool *sp, struct spool_run *run)
{
	int d;

	for (d = 0; d < DEST__COUNT; d++)
		if (run->phase[d] == PHASE_PAST)
			run->phase[d] = PHASE_START_ENDED;
	if (spool_order(sp, run) == -1)
		return -1;
	return spool_save(sp, run);
}

int
spool_release(struct spool *sp, const struct spool_run *run, enum dest dest)
{
	struct spool_run rows[SIBLINGS_MAX], *next = NULL;
	int n = siblings(sp, run, rows), i;

	if (n == -1)
		return -1;
	for (i = 0; i < n; i++) {
		if (rows[i].phase[dest] == PHASE_BEHIND) {
			if (next == NULL)
				next = &rows[i];
		} else if (bars(&rows[i], dest))
			return 0;
	}
	if (next == NULL || (dest == DEST_REST && run->id != 0 &&
	    makes_way(run)))
		return 0;
	next->phase[dest] = next->end != 0 ? PHASE_START_ENDED : PHASE_START;
	next->due[dest] = next->flags & RUN_HELD ? DUE_HELD : DUE_NOW;
	if (strcmp(next->reason, waits) == 0)
		next->reason[0] = '\0';
	return spool_save(sp, next);
}

int
spool_set_forgotten(struct spool *sp, struct spool_run *run,
    const char *reason)
{
	int d;

	for (d = 0; d < DEST__COUNT; d++) {
		if (run->due[d] != DUE_HELD || !spool_is_start(run->phase[d]))
			continue;
		run->phase[d] = PHASE_NO_START;
		run->due[d] = DUE_NOW;
	}
	snprintf(run->reason, sizeof(run->reason), "%s", reason);
	if (spool_save(sp, run) == -1)
		return -1;
	for (d = 0; d < DEST__COUNT; d++)
		if (run->phase[d] == PHASE_NO_START &&
		    spool_release(sp, run, (enum dest)d) == -1)
			return -1;
	return 0;
}

/*
 * What the row of a run becomes that makes way: deleted there as soon as its
 * start is known to be committed and nothing of it is under way, whether its
 * stop was sent by then or not.  And a run that might make way is kept for as
 * long as it would bar another one.
 */
void
spool_way_phase(struct spool *sp, struct spool_run *run)
{
	enum phase phase = run->phase[DEST_REST];

	if ((run->flags & RUN_WAY) && (phase == PHASE_DONE ||
	    phase == PHASE_KEPT || phase == PHASE_NO_STOP ||
	    phase == PHASE_CLOSED || (phase == PHASE_STOP &&
	    run->due[DEST_REST] != DUE_LEASED))) {
		run->phase[DEST_REST] = PHASE_DELETE;
		run->flags = (run->flags & ~RUN_WAY) | RUN_GONE;
		run->due[DEST_REST] = DUE_NOW;
		run->tries[DEST_REST] = 0;
	} else if (phase == PHASE_DONE && (run->flags & RUN_SOON) &&
	    !(run->flags & RUN_GONE) && sp->policy.last_requeued) {
		run->phase[DEST_REST] = PHASE_KEPT;
		run->due[DEST_REST] = spool_now(sp) + BARRED_SECONDS * 1000;
	}
}

static int
may_make_way(const struct spool_run *early, const struct spool_run *run)
{
	return (early->flags & RUN_SOON) &&
	    !(early->flags & (RUN_GONE | RUN_WAY | RUN_SKIPPED)) &&
	    early->key.start < run->key.start &&
	    run->key.start - early->key.start < BARRED_SECONDS &&
	    early->phase[DEST_REST] != PHASE_NONE &&
	    early->phase[DEST_REST] != PHASE_PAST &&
	    early->phase[DEST_REST] != PHASE_NO_START;
}

static int
way_give(struct spool *sp, struct spool_run *early,
    const struct spool_run *run)
{
	log_notice("job %llu (%s, start %lld) was requeued after %lld s: it is "
	    "%s for the sake of the run that began at %lld (requeuedRuns)",
	    (unsigned long long)early->key.job, early->key.cluster,
	    (long long)early->key.start,
	    (long long)(early->end - early->key.start),
	    early->flags & RUN_SENT ? "deleted in cc-backend" : "not reported",
	    (long long)run->key.start);
	if (early->flags & RUN_SENT)
		early->flags |= RUN_WAY;
	else {
		early->phase[DEST_REST] = PHASE_DONE;
		early->flags |= RUN_GONE;
	}
	if (spool_save(sp, early) == -1)
		return -1;
	CRASH_POINT("way-given");
	return 0;
}

int
spool_ways_clear(struct spool *sp, struct spool_run *run)
{
	struct spool_run rows[SIBLINGS_MAX];
	int n, i, any = 0;

	if (!sp->policy.last_requeued || !sp->policy.to[DEST_REST])
		return 0;
	n = siblings(sp, run, rows);
	for (i = 0; i < n; i++) {
		if (may_make_way(&rows[i], run) &&
		    way_give(sp, &rows[i], run) == -1)
			return -1;
		any |= rows[i].key.start < run->key.start &&
		    rows[i].id != 0 && makes_way(&rows[i]);
	}
	if (any && (spool_is_start(run->phase[DEST_REST]) ||
	    run->phase[DEST_REST] == PHASE_NO_START)) {
		run->phase[DEST_REST] = PHASE_BEHIND;
		run->due[DEST_REST] = DUE_NOW;
		snprintf(run->reason, sizeof(run->reason), "%s", waits);
	}
	return n == -1 ? -1 : any;
}

/* Not on its way there, and not taken either. */
static int
can_wait(const struct spool_run *run)
{
	enum phase phase = run->phase[DEST_REST];

	return !(run->flags & RUN_SKIPPED) && (phase == PHASE_NO_START ||
	    (spool_is_start(phase) && phase != PHASE_ASK &&
	    run->due[DEST_REST] != DUE_LEASED));
}

int
spool_way_make(struct spool *sp, const struct spool_run *early)
{
	struct spool_run rows[SIBLINGS_MAX];
	int n, i, rc;

	if (!sp->policy.last_requeued || !(early->flags & RUN_SOON) ||
	    early->id == 0)
		return 0;
	n = siblings(sp, early, rows);
	for (i = 0; i < n; i++) {
		if (!can_wait(&rows[i]) || !may_make_way(early, &rows[i]))
			continue;
		rc = spool_ways_clear(sp, &rows[i]);
		if (rc == 1)
			return spool_save(sp, &rows[i]);
		return rc == -1 ? -1 : spool_release(sp, early, DEST_REST);
	}
	return n == -1 ? -1 : 0;
}
