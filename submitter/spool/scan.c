/* SPDX-License-Identifier: MIT */
/* Walks over many rows in pages of limited size; see spool.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "submitter/spool/spool_private.h"

#define ALIVE_ROWS 4096 /* between two calls of spool_alive() */

static int
pick_ids(struct spool *sp, sqlite3_stmt *st, int64_t *ids, int max)
{
	int rc, n = 0;

	while (n < max && (rc = spool_step(sp, st)) != 0) {
		if (rc == -1)
			return -1;
		ids[n++] = sqlite3_column_int64(st, 0);
	}
	sqlite3_reset(st);
	return n;
}

int
spool_pick(struct spool *sp, enum dest dest, enum run_state state,
    enum spool_order order, int64_t *ids, int max)
{
	sqlite3_stmt *st;
	int n, later;

	if (spool_count(sp, dest, state) == 0)
		return 0;
	st = spool_query(sp,
	    (order == ORDER_NEWEST ? SQL_PICK_NEWEST : SQL_PICK_OLDEST) +
		(enum sql)dest,
	    VALUES(INT(state), INT(max)));
	if (st == NULL)
		return -1;
	n = pick_ids(sp, st, ids, max);
	if (n == -1 || n == max)
		return n;
	st = spool_query(sp, SQL_PICK_LATER + (enum sql)dest,
	    VALUES(INT(state), INT(max - n), INT(spool_now(sp))));
	if (st == NULL)
		return -1;
	later = pick_ids(sp, st, ids + n, max - n);
	return later == -1 ? -1 : n + later;
}

int64_t
spool_next_due(struct spool *sp, enum dest dest, enum run_state state)
{
	sqlite3_stmt *st;
	int64_t due = -1;

	if (spool_count(sp, dest, state) == 0)
		return -1;
	st = spool_query(sp, SQL_NEXT_DUE + (enum sql)dest, VALUES(INT(state)));
	if (st != NULL && spool_step(sp, st) == 1) {
		if (sqlite3_column_type(st, 0) != SQLITE_NULL)
			due = sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
	}
	return due;
}

int
spool_unlease(struct spool *sp, enum dest dest)
{
	return spool_change(sp, SQL_UNLEASE + (enum sql)dest, NULL, 0);
}

int
spool_retry_now(struct spool *sp, enum dest dest)
{
	return spool_change(sp, SQL_RETRY_NOW + (enum sql)dest, NULL, 0);
}

/* Reads all rows of a page before fn is called: fn may change the table. */
static int
page_read(struct spool *sp, sqlite3_stmt *st, struct spool_run *rows, int max)
{
	int rc = 0, n = 0;

	while (n < max && (rc = spool_step(sp, st)) == 1)
		spool_row(sp, st, &rows[n++]);
	sqlite3_reset(st);
	return rc == -1 ? -1 : n;
}

/* The rows of st, which begin after *after. */
static int
page_each(struct spool *sp, sqlite3_stmt *st, enum dest dest,
    struct spool_after *after, int max, spool_fn *fn, void *arg)
{
	struct spool_run *rows;
	int n, i;

	if (st == NULL || (rows = calloc((size_t)max, sizeof(*rows))) == NULL)
		return -1;
	n = page_read(sp, st, rows, max);
	for (i = 0; i < n; i++) {
		after->due = rows[i].due[dest];
		after->start = rows[i].key.start;
		after->job = rows[i].key.job;
		after->id = rows[i].id;
		if (fn(sp, &rows[i], arg) == -1) {
			n = i + 1;
			break;
		}
	}
	free(rows);
	return n;
}

int
spool_each(struct spool *sp, enum dest dest, enum run_state state,
    struct spool_after *after, int max, spool_fn *fn, void *arg)
{
	sqlite3_stmt *st;

	if (max > SPOOL_PAGE)
		max = SPOOL_PAGE;
	st = state == RUN_STATE__COUNT ?
	    spool_query(sp, SQL_EACH_ANY, VALUES(INT(after->id), INT(max))) :
	    spool_query(sp, SQL_EACH + (enum sql)dest,
		VALUES(INT(state), INT(after->due), INT(after->start),
		    INT(after->id), INT(max)));
	return page_each(sp, st, dest, after, max, fn, arg);
}

int
spool_each_of(struct spool *sp, const char *cluster, enum run_state state,
    struct spool_after *after, int max, spool_fn *fn, void *arg)
{
	sqlite3_stmt *st;

	if (max > SPOOL_PAGE)
		max = SPOOL_PAGE;
	st = spool_query(sp, SQL_EACH_OF,
	    VALUES(INT(spool_cluster_id(sp, cluster, 0)), INT(after->job),
		INT(after->start), INT(state), INT(max)));
	return page_each(sp, st, DEST_REST, after, max, fn, arg);
}

int
spool_each_unsent(struct spool *sp, struct spool_after *after, int max,
    spool_fn *fn, void *arg)
{
	sqlite3_stmt *st;
	int d;

	/* Usually there is none, and no index has these rows. */
	for (d = 0; d < DEST__COUNT; d++)
		if (spool_count(sp, (enum dest)d, RUN_NONE) == 0)
			return 0;
	if (max > SPOOL_PAGE)
		max = SPOOL_PAGE;
	st = spool_query(sp, SQL_EACH_UNSENT, VALUES(INT(after->id), INT(max)));
	return page_each(sp, st, DEST_REST, after, max, fn, arg);
}

int
spool_span(struct spool *sp, enum run_state state, const char *cluster,
    int64_t *from, int64_t *to)
{
	sqlite3_stmt *st = spool_query(sp, SQL_SPAN,
	    VALUES(INT(state), INT(spool_cluster_id(sp, cluster, 0))));
	int n = -1;

	*from = *to = 0;
	if (st != NULL && spool_step(sp, st) == 1) {
		*from = sqlite3_column_int64(st, 0);
		*to = sqlite3_column_int64(st, 1);
		n = sqlite3_column_int(st, 2);
		sqlite3_reset(st);
	}
	return n;
}

/* The number of the cluster; -1 when the spool has none with this id. */
static int
cluster_index(const struct spool *sp, int id)
{
	unsigned i;

	for (i = 0; i < sp->now.n_clusters; i++)
		if (sp->now.clusters[i].id == id)
			return (int)i;
	return -1;
}

static int
ranges_widen(struct spool *sp, enum run_state state, int64_t before,
    unsigned without, struct spool_ranges *ranges)
{
	sqlite3_stmt *st = spool_query(sp, SQL_RANGES,
	    VALUES(INT(state), INT(before), INT(without)));
	unsigned rows = 0;
	int64_t start;
	int i, rc = -1;

	while (st != NULL && (rc = spool_step(sp, st)) == 1) {
		if (++rows % ALIVE_ROWS == 0)
			spool_alive();
		i = cluster_index(sp, sqlite3_column_int(st, 0));
		if (i == -1)
			continue;
		start = sqlite3_column_int64(st, 1);
		if (ranges->of[i].to == 0 || start < ranges->of[i].from)
			ranges->of[i].from = start;
		if (start > ranges->of[i].to)
			ranges->of[i].to = start;
	}
	if (st != NULL)
		sqlite3_reset(st);
	return rc;
}

int
spool_ranges(struct spool *sp, const enum run_state *states, size_t n,
    int64_t before, unsigned without, struct spool_ranges *ranges)
{
	size_t i;

	memset(ranges, 0, sizeof(*ranges));
	for (i = 0; i < n; i++)
		if (spool_count(sp, DEST_REST, states[i]) > 0 &&
		    ranges_widen(sp, states[i], before, without, ranges) == -1)
			return -1;
	return 0;
}

int
spool_span_alias(struct spool *sp, enum run_state state, const char *cluster,
    int64_t *from, int64_t *to)
{
	sqlite3_stmt *st = spool_query(sp, SQL_SPAN_ALIAS,
	    VALUES(INT(state), INT(spool_cluster_id(sp, cluster, 0)),
		INT(*from), INT(*to)));

	if (st == NULL || spool_step(sp, st) != 1)
		return -1;
	if (sqlite3_column_int(st, 2) > 0) {
		if (sqlite3_column_int64(st, 0) < *from)
			*from = sqlite3_column_int64(st, 0);
		if (sqlite3_column_int64(st, 1) > *to)
			*to = sqlite3_column_int64(st, 1);
	}
	sqlite3_reset(st);
	return 0;
}

/* --- all runs of one job --- */

/* A statement for the job; NULL when the spool has no run of its cluster. */
static sqlite3_stmt *
job_stmt(struct spool *sp, enum sql id, const char *cluster, uint64_t job,
    int max)
{
	int number = spool_cluster_id(sp, cluster, 0);

	return number == -1 ?
	    NULL :
	    spool_query(sp, id, VALUES(INT(number), INT(job), INT(max)));
}

int
spool_job_runs(struct spool *sp, const char *cluster, uint64_t job,
    struct spool_run *rows, int max)
{
	sqlite3_stmt *st = job_stmt(sp, SQL_RUN_OF_JOB, cluster, job, max);
	int n = 0;

	if (st == NULL)
		return 0;
	while (n < max && spool_step(sp, st) == 1)
		spool_row(sp, st, &rows[n++]);
	sqlite3_reset(st);
	return n;
}

int
spool_job_done(struct spool *sp, const char *cluster, uint64_t job,
    int64_t *starts, int max)
{
	sqlite3_stmt *st = job_stmt(sp, SQL_TOMB_OF_JOB, cluster, job, max);
	int64_t start, lasted, end = 0, submit, before = 0;
	int n = 0;

	if (st == NULL)
		return 0;
	while (n < max && spool_step(sp, st) == 1) {
		start = sqlite3_column_int64(st, 0);
		lasted = spool_lasted(sqlite3_column_int64(st, 1));
		submit = start - sqlite3_column_int64(st, 2);
		/* A run with two starts has two tombstones. */
		if (n == 0 || lasted == 0 || start + lasted != end ||
		    submit != before)
			starts[n++] = start;
		end = start + lasted;
		before = submit;
	}
	sqlite3_reset(st);
	return n;
}
