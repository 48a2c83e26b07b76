/* SPDX-License-Identifier: MIT */
/*
 * A change of the destinations, by a reload or a restart, while runs are in the
 * spool.  The destinations that the rows were made for are stored in the spool.
 * A destination that was added gets the runs that are not done.  For one that was
 * removed nothing is due any more, so that the row of a run can end.
 *
 * cc-backend reads its jobs from one of both, and may have changed with the
 * suite.  When REST is removed, cc-backend may have missed what NATS got before,
 * so NATS gets the start and the stop of these runs again.  cc-backend refuses a
 * start that it has.  The same holds when deliver was "stream": a record in a
 * stream is for the centre alone.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"

/*
 * The value in the spool: one byte for each destination, 1 = in use, and one
 * for policy.whole.
 */
#define DESTINATIONS "destinations"
#define WHOLE	     DEST__COUNT
#define VALUE_BYTES  (DEST__COUNT + 1)

/* A walk over the rows. */
struct walk {
	struct spool_dest_change *c;
	int failed;
};

static int
is_delivered(enum run_state state)
{
	return state == RUN_DONE || state == KEPT_REPLACEABLE;
}

static int
has_rows(const struct spool *sp, enum dest dest)
{
	uint64_t n = 0;
	int s;

	for (s = 0; s < RUN_STATE__COUNT; s++)
		if (s != RUN_NONE)
			n += spool_count(sp, dest, (enum run_state)s);
	return n > 0;
}

/*
 * Older versions did not store the value.  Rows of a destination that is not in
 * use now show that the destinations have changed, and which they were.  A
 * destination without rows shows nothing: NATS got no run that the first list of
 * cc-backend had shown.
 */
static void
before_guess(struct spool *sp, uint8_t before[VALUE_BYTES])
{
	int d, removed = 0;

	before[WHOLE] = sp->policy.whole != 0;
	for (d = 0; d < DEST__COUNT; d++) {
		before[d] = (uint8_t)has_rows(sp, (enum dest)d);
		removed |= before[d] && !sp->policy.to[d];
	}
	for (d = 0; d < DEST__COUNT && !removed; d++)
		before[d] = sp->policy.to[d] != 0;
}

static void
before_read(struct spool *sp, uint8_t before[VALUE_BYTES])
{
	size_t n;
	void *p = spool_value_get(sp, DESTINATIONS, &n);

	if (p != NULL && n == VALUE_BYTES)
		memcpy(before, p, VALUE_BYTES);
	else
		before_guess(sp, before);
	free(p);
}

/* May the destination get the run?  The rules are those of a new record. */
static int
is_reported(struct spool *sp, const struct spool_run *run, enum dest dest)
{
	const unsigned sent = dest == DEST_REST ? RUN_REST_STARTED :
						  RUN_KEY_FIXED;
	struct job job;
	int rc;

	job_init(&job);
	rc = spool_record(sp, run->id, &job) == 0 &&
	    ((run->flags & sent) || !(job.flags & JOB_OPTED_OUT)) &&
	    !spool_is_false_start(&job);
	job_clear(&job);
	return rc;
}

/* was: the states before the change. */
static int
is_wanted(struct spool *sp, const struct spool_run *run,
    const enum run_state *was, enum dest dest)
{
	const unsigned nats_only = RUN_BACKFILL | RUN_REPUBLISHED;

	if (was[dest] != RUN_NONE || is_delivered(was[!dest]) ||
	    (run->flags & RUN_DROPPED))
		return 0;
	/* A record of `backfill --nats` is published, and not sent by REST. */
	if (dest == DEST_REST && (run->flags & nats_only) == nats_only)
		return 0;
	return is_reported(sp, run, dest);
}

static void
dest_add(struct spool *sp, struct spool_run *run, const enum run_state *was,
    enum dest dest)
{
	int unconfirmed = (run->flags & RUN_UNCONFIRMED) && run->end == 0;

	/* The backfill releases the run for both. */
	run_move(sp, run, dest,
	    was[!dest] == BACKFILL_HELD ? RUN_EVENT_BACKFILL_RECORD :
					  RUN_EVENT_RECORD,
	    unconfirmed ? DUE_UNCONFIRMED : DUE_NOW, NULL);
	/* Slurm does not know the run: it blocks no other run of its job. */
	if (unconfirmed && was[!dest] == START_REJECTED)
		run_move(sp, run, dest, RUN_EVENT_UNKNOWN, DUE_NOW, NULL);
}

static void
dest_remove(struct spool *sp, struct spool_run *run, enum dest dest)
{
	int is_its = dest == DEST_REST && !(run->flags & RUN_UNCONFIRMED);

	run_move(sp, run, dest, RUN_EVENT_REMOVED, DUE_NOW, is_its ? "" : NULL);
	if (dest == DEST_NATS)
		run->nats_reason[0] = '\0';
	else
		run->flags &= ~(RUN_MISSING_IN_BACKEND | RUN_SUPERSEDED |
		    RUN_FORGET_AFTER_DELETE);
}

/*
 * Changes the states of a row: 1 when something is due that was not.  A run that
 * a comparison found in cc-backend is not reported to NATS, so that the removal of
 * REST adds NATS for this run, and the reverse.
 */
static int
states_change(struct spool *sp, struct spool_run *run,
    const struct spool_dest_change *c)
{
	enum run_state was[DEST__COUNT];
	int d, added = 0;

	memcpy(was, run->state, sizeof(was));
	for (d = 0; d < DEST__COUNT; d++)
		if (c->removed[d] && was[d] != RUN_NONE)
			dest_remove(sp, run, (enum dest)d);
	for (d = 0; d < DEST__COUNT; d++)
		if (sp->policy.to[d] && (c->added[d] || c->removed[!d]) &&
		    is_wanted(sp, run, was, (enum dest)d)) {
			dest_add(sp, run, was, (enum dest)d);
			added = 1;
		}
	if ((c->from_stream ||
		(c->removed[DEST_REST] && was[DEST_REST] != RUN_NONE &&
		    !is_delivered(was[DEST_REST]))) &&
	    run_may_move(run, DEST_NATS, RUN_EVENT_PUBLISHED_AGAIN)) {
		run_move(sp, run, DEST_NATS, RUN_EVENT_PUBLISHED_AGAIN, DUE_NOW,
		    NULL);
		added = 1;
	}
	return added;
}

static int
row_change(struct spool *sp, struct spool_run *run, struct spool_dest_change *c)
{
	enum run_state was[DEST__COUNT];
	int added;

	/* Found in cc-backend only: the collector reports it, or nobody. */
	if (c->removed[DEST_REST] && (run->flags & RUN_FROM_BACKEND))
		return spool_forget(sp, run);
	memcpy(was, run->state, sizeof(was));
	added = states_change(sp, run, c);
	if (memcmp(was, run->state, sizeof(was)) == 0)
		return 0;
	c->runs++;
	if (added && c->added[DEST_REST] && spool_supersede(sp, run) == -1)
		return -1;
	if ((added && spool_order(sp, run) == -1) || spool_save(sp, run) == -1)
		return -1;
	return added && c->added[DEST_REST] ?
	    spool_superseded_by_later(sp, run) :
	    0;
}

static int
run_change(struct spool *sp, struct spool_run *row, void *arg)
{
	struct walk *w = arg;
	struct spool_run run;

	spool_alive();
	/* Another run of the job may have changed the row since it was read. */
	if (spool_get(sp, row->id, &run) != 1 || (run.flags & RUN_QUARANTINED))
		return 0;
	w->failed = row_change(sp, &run, w->c) == -1;
	return w->failed ? -1 : 0;
}

static int
rows_change(struct spool *sp, struct spool_dest_change *c)
{
	struct spool_after after = { 0 };
	struct walk w = { .c = c };
	int rc;

	do
		rc = spool_each(sp, DEST_REST, RUN_STATE__COUNT, &after,
		    SPOOL_PAGE, run_change, &w);
	while (rc == SPOOL_PAGE && !w.failed);
	return rc == -1 || w.failed ? -1 : 0;
}

int
spool_destinations_change(struct spool *sp, struct spool_dest_change *c)
{
	uint8_t before[VALUE_BYTES], now[VALUE_BYTES];
	int d, changed;
	size_t n;
	void *p;

	memset(c, 0, sizeof(*c));
	before_read(sp, before);
	for (d = 0; d < DEST__COUNT; d++) {
		now[d] = sp->policy.to[d] != 0;
		c->added[d] = now[d] && !before[d];
		c->removed[d] = !now[d] && before[d];
	}
	now[WHOLE] = sp->policy.whole != 0;
	c->from_stream = !now[WHOLE] && before[WHOLE];
	changed = memcmp(now, before, sizeof(now)) != 0;
	/* spool_to_stream() changes the rows. */
	if (changed && !sp->policy.whole && rows_change(sp, c) == -1)
		return -1;
	p = spool_value_get(sp, DESTINATIONS, &n);
	if ((p == NULL || changed) &&
	    spool_value_set(sp, DESTINATIONS, now, sizeof(now)) == -1)
		changed = -1;
	free(p);
	return changed;
}
