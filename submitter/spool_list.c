/* SPDX-License-Identifier: MIT */
/* Walks over many rows, always a bounded page at a time; see spool.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "submitter/spool_int.h"

#define TOMBS_PAGE	512	/* tombstones looked at in one go */

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
spool_pick(struct spool *sp, enum dest dest, enum phase phase,
    enum spool_order order, int64_t *ids, int max)
{
	sqlite3_stmt *st;
	int n, later;

	st = spool_stmt(sp, (order == ORDER_NEWEST ? SQL_PICK_NEWEST :
	    SQL_PICK_OLDEST) + (enum sql)dest);
	if (st == NULL)
		return -1;
	sqlite3_bind_int(st, 1, (int)phase);
	sqlite3_bind_int(st, 2, max);
	n = pick_ids(sp, st, ids, max);
	if (n == -1 || n == max)
		return n;
	st = spool_stmt(sp, SQL_PICK_LATER + (enum sql)dest);
	if (st == NULL)
		return -1;
	sqlite3_bind_int(st, 1, (int)phase);
	sqlite3_bind_int(st, 2, max - n);
	sqlite3_bind_int64(st, 3, spool_now(sp));
	later = pick_ids(sp, st, ids + n, max - n);
	return later == -1 ? -1 : n + later;
}

int64_t
spool_next_due(struct spool *sp, enum dest dest, enum phase phase)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_NEXT_DUE + (enum sql)dest);
	int64_t due = -1;

	if (st == NULL)
		return -1;
	sqlite3_bind_int(st, 1, (int)phase);
	if (spool_step(sp, st) == 1) {
		if (sqlite3_column_type(st, 0) != SQLITE_NULL)
			due = sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
	}
	return due;
}

static int
change_all(struct spool *sp, enum sql id)
{
	sqlite3_stmt *st;

	if (spool_begin(sp) == -1 || (st = spool_stmt(sp, id)) == NULL)
		return -1;
	return spool_exec(sp, st);
}

int
spool_unlease(struct spool *sp, enum dest dest)
{
	return change_all(sp, SQL_UNLEASE + (enum sql)dest);
}

int
spool_hurry(struct spool *sp, enum dest dest)
{
	return change_all(sp, SQL_HURRY + (enum sql)dest);
}

/* The rows first, then fn: a statement must not see its own table change. */
static int
page_read(struct spool *sp, sqlite3_stmt *st, struct spool_run *rows, int max)
{
	int rc = 0, n = 0;

	while (n < max && (rc = spool_step(sp, st)) == 1)
		spool_row(sp, st, &rows[n++]);
	sqlite3_reset(st);
	return rc == -1 ? -1 : n;
}

int
spool_each(struct spool *sp, enum dest dest, enum phase phase,
    struct spool_after *after, int max, spool_fn *fn, void *arg)
{
	int any = phase == PHASE__COUNT, n, i;
	sqlite3_stmt *st = spool_stmt(sp, any ? SQL_EACH_ANY :
	    SQL_EACH + (enum sql)dest);
	struct spool_run *rows;

	if (max > SPOOL_PAGE)
		max = SPOOL_PAGE;
	if (st == NULL || (rows = calloc((size_t)max, sizeof(*rows))) == NULL)
		return -1;
	if (any) {
		sqlite3_bind_int64(st, 1, after->id);
		sqlite3_bind_int(st, 2, max);
	} else {
		sqlite3_bind_int(st, 1, (int)phase);
		sqlite3_bind_int64(st, 2, after->due);
		sqlite3_bind_int64(st, 3, after->start);
		sqlite3_bind_int64(st, 4, after->id);
		sqlite3_bind_int(st, 5, max);
	}
	n = page_read(sp, st, rows, max);
	for (i = 0; i < n; i++) {
		after->due = rows[i].due[dest];
		after->start = rows[i].key.start;
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
spool_span(struct spool *sp, enum phase phase, const char *cluster,
    int64_t *from, int64_t *to)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_SPAN);
	int n = -1;

	*from = *to = 0;
	if (st == NULL)
		return -1;
	sqlite3_bind_int(st, 1, (int)phase);
	sqlite3_bind_int(st, 2, spool_cluster_id(sp, cluster, 0));
	if (spool_step(sp, st) == 1) {
		*from = sqlite3_column_int64(st, 0);
		*to = sqlite3_column_int64(st, 1);
		n = sqlite3_column_int(st, 2);
		sqlite3_reset(st);
	}
	return n;
}

static int
tomb_drop(struct spool *sp, const int64_t tomb[4])
{
	sqlite3_stmt *st;
	int i;

	if (spool_begin(sp) == -1 ||
	    (st = spool_stmt(sp, SQL_TOMB_DROP)) == NULL)
		return -1;
	for (i = 0; i < 3; i++)
		sqlite3_bind_int64(st, i + 1, tomb[i]);
	return spool_exec(sp, st);
}

int
spool_exhume(struct spool *sp, const struct run_key *key)
{
	int64_t tomb[4] = { spool_cluster_id(sp, key->cluster, 0),
		(int64_t)key->job, key->start, 0 };

	return tomb_drop(sp, tomb);
}

int
spool_age(struct spool *sp, int64_t wall, int max)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_TOMB_PAGE);
	int64_t tombs[TOMBS_PAGE][4];
	int rc = 0, n = 0, i, k, gone = 0;

	if (max > TOMBS_PAGE)
		max = TOMBS_PAGE;
	if (st == NULL)
		return -1;
	sqlite3_bind_int64(st, 1, sp->age_cluster);
	sqlite3_bind_int64(st, 2, sp->age_job);
	sqlite3_bind_int64(st, 3, sp->age_start);
	sqlite3_bind_int(st, 4, max);
	while (n < max && (rc = spool_step(sp, st)) == 1) {
		for (k = 0; k < 4; k++)
			tombs[n][k] = sqlite3_column_int64(st, k);
		n++;
	}
	sqlite3_reset(st);
	if (n > 0 && n == max) {
		sp->age_cluster = tombs[n - 1][0];
		sp->age_job = tombs[n - 1][1];
		sp->age_start = tombs[n - 1][2];
	} else
		sp->age_cluster = sp->age_job = sp->age_start = 0;
	for (i = 0; i < n && rc != -1; i++) {
		if (tombs[i][2] + tombs[i][3] + sp->keep >= wall)
			continue;
		rc = tomb_drop(sp, tombs[i]);
		gone++;
	}
	return rc == -1 ? -1 : gone;
}
