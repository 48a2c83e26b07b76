/* SPDX-License-Identifier: MIT */
/*
 * Removes rows from a full spool, the oldest first: the scripts of runs whose
 * start is delivered, because a stop does not need them; then tombstones.
 * Without its tombstone a run would be stored again, so records that ended
 * before the low-water mark are not accepted any more.  Runs that wait for
 * delivery are never removed.  Old tombstones are also removed when the spool
 * is not full.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "submitter/spool/spool_private.h"

#define TOMBS_PAGE 512 /* tombstones read at once */
/* this part of the retention time is removed at once */
#define SHARE  8
#define SPARED 3600 /* s: younger tombstones always stay */

static int
tomb_drop(struct spool *sp, const int64_t tomb[3])
{
	if (spool_change(sp, SQL_TOMB_DROP,
		VALUES(INT(tomb[0]), INT(tomb[1]), INT(tomb[2]))) == -1)
		return -1;
	spool_share_tombs(sp, (int)tomb[0], -sqlite3_changes(sp->db));
	return 0;
}

int
spool_reopen(struct spool *sp, const struct run_key *key)
{
	int64_t tomb[3] = { spool_cluster_id(sp, key->cluster, 0),
		(int64_t)key->job, key->start };

	return tomb_drop(sp, tomb);
}

/* Reads a page of tombstones after the last one: how many, or -1. */
static int
tombs_read(struct spool *sp, int64_t tombs[][4], int max)
{
	sqlite3_stmt *st = spool_query(sp, SQL_TOMB_PAGE,
	    VALUES(INT(sp->now.age_at[0]), INT(sp->now.age_at[1]),
		INT(sp->now.age_at[2]), INT(max)));
	int rc = 0, n = 0, k;

	if (st == NULL)
		return -1;
	while (n < max && (rc = spool_step(sp, st)) == 1) {
		for (k = 0; k < 4; k++)
			tombs[n][k] = sqlite3_column_int64(st, k);
		n++;
	}
	sqlite3_reset(st);
	return rc == -1 ? -1 : n;
}

static int
at_beginning(const struct spool *sp)
{
	const int64_t *at = sp->now.age_at;

	return at[0] == 0 && at[1] == 0 && at[2] == 0;
}

/* Removes the old ones of a page: how many, or -1. */
static int
page_age(struct spool *sp, int64_t until, int max)
{
	int64_t tombs[TOMBS_PAGE][4], end;
	int n = tombs_read(sp, tombs, max), i, gone = 0;

	if (n == -1)
		return -1;
	if (at_beginning(sp)) {
		sp->now.age_oldest = INT64_MAX;
		sp->now.age_newest = 0;
	}
	for (i = 0; i < n; i++) {
		end = tombs[i][2] + spool_lasted(tombs[i][3]);
		if (end >= until) {
			spool_tomb_ended(sp, end);
			continue;
		}
		if (tomb_drop(sp, tombs[i]) == -1)
			return -1;
		gone++;
	}
	memset(sp->now.age_at, 0, sizeof(sp->now.age_at));
	if (n > 0 && n == max) {
		memcpy(sp->now.age_at, tombs[n - 1], sizeof(sp->now.age_at));
		return gone;
	}
	sp->now.tomb_oldest = sp->now.age_oldest;
	sp->now.tomb_newest = sp->now.age_newest;
	sp->now.tombs_walked = 1;
	return gone;
}

int
spool_age(struct spool *sp, int64_t wall, int max)
{
	int64_t until = wall - sp->keep;

	if (sp->now.low_water > until)
		until = sp->now.low_water;
	if (spool_resources_age(sp, wall) == -1)
		return -1;
	if (at_beginning(sp) && sp->now.tombs_walked &&
	    until <= sp->now.tomb_oldest)
		return 0;
	return page_age(sp, until, max < TOMBS_PAGE ? max : TOMBS_PAGE);
}

/*
 * Up to this time accounting of all clusters was read, 0 = never: runs that have
 * ended later may come, however long the full spool, or a slurmdbd that is away,
 * has delayed them.  A watermark older than the retention belongs to a cluster that
 * is not read any more.
 */
static int64_t
read_up_to(const struct spool *sp, int64_t wall)
{
	int64_t now = wall < sp->now.tomb_newest ? wall : sp->now.tomb_newest;
	int64_t oldest = wall, cursor;
	unsigned i;

	for (i = 0; i < sp->now.n_clusters; i++) {
		cursor = sp->now.clusters[i].cursor;
		if (cursor <= 0)
			return 0;
		if (cursor > now - sp->keep && cursor < oldest)
			oldest = cursor;
	}
	return oldest;
}

/*
 * 1, 0 when the mark must not rise further, or -1.  A wall clock that is ahead does
 * not raise it above the tombstones: all runs that end meanwhile would be refused.
 */
static int
low_water_raise(struct spool *sp, int64_t wall)
{
	int64_t low_water = sp->now.low_water > wall - sp->keep ?
	    sp->now.low_water :
	    wall - sp->keep;

	low_water += (wall - low_water) / SHARE;
	if (low_water > sp->now.tomb_newest + 1)
		low_water = sp->now.tomb_newest + 1;
	if (low_water <= sp->now.low_water || sp->now.tomb_newest == 0)
		return 0;
	if (sp->policy.from_stream || low_water > read_up_to(sp, wall) - SPARED)
		return 0;
	if (spool_value_set(sp, SPOOL_LOW_WATER, &low_water,
		sizeof(low_water)) == -1)
		return -1;
	sp->now.low_water = low_water;
	return 1;
}

int
spool_evict(struct spool *sp, int64_t wall, int max)
{
	int rc;

	/* One walk over all tombstones for each low-water mark. */
	if (at_beginning(sp) && sp->now.tombs_walked &&
	    (rc = low_water_raise(sp, wall)) != 1)
		return rc;
	return spool_age(sp, wall, max) == -1 ? -1 : 1;
}

int64_t
spool_low_water(const struct spool *sp)
{
	return sp->now.low_water;
}

int
spool_low_water_load(struct spool *sp)
{
	size_t n;
	void *p = spool_value_get(sp, SPOOL_LOW_WATER, &n);
	int64_t tomb[1][4];
	int any;

	if (p != NULL && n == sizeof(sp->now.low_water))
		memcpy(&sp->now.low_water, p, n);
	free(p);
	any = tombs_read(sp, tomb, 1);
	sp->now.tombs_walked = any == 0;
	return any == -1 || sp->broken ? -1 : 0;
}

/* States of a destination that has the start. */
static const struct {
	enum dest dest;
	enum run_state state;
} started[] = {
	{ DEST_REST, STARTED },
	{ DEST_REST, START_COMMITTED },
	{ DEST_NATS, STARTED },
};

#define N_STARTED (sizeof(started) / sizeof(started[0]))

uint64_t
spool_started(const struct spool *sp)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < N_STARTED; i++)
		sum += spool_count(sp, started[i].dest, started[i].state);
	return sum;
}

static int
start_is_due(const struct spool_run *run)
{
	int d;

	for (d = 0; d < DEST__COUNT; d++)
		if (run->state[d] >= START_DUE &&
		    run->state[d] <= START_CONFLICT)
			return 1;
	return 0;
}

static int
script_drop(struct spool *sp, struct spool_run *run, void *arg)
{
	struct job job;
	int rc = 0;

	if (start_is_due(run) ||
	    (run->flags & (RUN_FROM_BACKEND | RUN_QUARANTINED)))
		return 0;
	job_init(&job);
	if (spool_record(sp, run->id, &job) == 0 && job.script != NULL) {
		free(job.script);
		job.script = NULL;
		rc = spool_record_write(sp, run->id, &job);
	}
	job_clear(&job);
	return rc;
}

void
spool_evict_begin(struct spool *sp)
{
	sp->shed_in = 0;
	memset(&sp->shed_at, 0, sizeof(sp->shed_at));
}

int
spool_drop_scripts(struct spool *sp, int max)
{
	int n;

	if (max > SPOOL_PAGE)
		max = SPOOL_PAGE;
	for (; sp->shed_in < N_STARTED; sp->shed_in++) {
		n = spool_each(sp, started[sp->shed_in].dest,
		    started[sp->shed_in].state, &sp->shed_at, max, script_drop,
		    NULL);
		if (n != 0)
			return n;
		memset(&sp->shed_at, 0, sizeof(sp->shed_at));
	}
	return 0;
}
