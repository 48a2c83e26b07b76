/* SPDX-License-Identifier: MIT */
/* Reads, writes and finishes the row of a run; see spool.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"

void
spool_row(struct spool *sp, sqlite3_stmt *st, struct spool_run *run)
{
	const char *reason;
	int d, c;

	memset(run, 0, sizeof(*run));
	run->id = sqlite3_column_int64(st, 0);
	run->cluster = sqlite3_column_int(st, 1);
	snprintf(run->key.cluster, sizeof(run->key.cluster), "%s",
	    spool_cluster_name(sp, run->cluster));
	run->key.job = (uint64_t)sqlite3_column_int64(st, 2);
	run->key.start = sqlite3_column_int64(st, 3);
	run->end = sqlite3_column_int64(st, 4);
	run->submit = sqlite3_column_int64(st, 5);
	run->alias = sqlite3_column_int64(st, 6);
	run->flags = (unsigned)sqlite3_column_int(st, 7);
	for (d = 0, c = 8; d < DEST__COUNT; d++, c += 4) {
		run->state[d] = (enum run_state)sqlite3_column_int(st, c);
		if ((unsigned)run->state[d] >= RUN_STATE__COUNT)
			run->state[d] = RUN_NONE;
		run->was[d] = run->state[d];
		run->due[d] = sqlite3_column_int64(st, c + 1);
		run->tries[d] = (unsigned)sqlite3_column_int(st, c + 2);
		run->since[d] = sqlite3_column_int64(st, c + 3);
	}
	run->not_found_at = sqlite3_column_int64(st, 16);
	run->not_found_count = (unsigned)sqlite3_column_int(st, 17);
	reason = (const char *)sqlite3_column_text(st, 18);
	if (reason != NULL)
		snprintf(run->reason, sizeof(run->reason), "%s", reason);
}

/*
 * Binds the parameters of SQL_RUN_ADD and SQL_RUN_SAVE, which have the same
 * numbers.
 */
static void
run_bind(sqlite3_stmt *st, const struct spool_run *run)
{
	int64_t due;
	int d, c;

	sqlite3_bind_int64(st, 4, run->key.start);
	sqlite3_bind_int64(st, 5, run->end);
	sqlite3_bind_int64(st, 6, run->submit);
	sqlite3_bind_int64(st, 7, run->alias);
	sqlite3_bind_int(st, 8, (int)run->flags);
	for (d = 0, c = 9; d < DEST__COUNT; d++, c += 4) {
		sqlite3_bind_int(st, c, (int)run->state[d]);
		due = run->due[d] == DUE_NOW && (run->flags & RUN_BACKFILL) ?
		    DUE_AFTER_LIVE : run->due[d];
		sqlite3_bind_int64(st, c + 1, due);
		sqlite3_bind_int(st, c + 2, (int)run->tries[d]);
		sqlite3_bind_int64(st, c + 3, run->since[d]);
	}
	sqlite3_bind_int64(st, 17, run->not_found_at);
	sqlite3_bind_int(st, 18, (int)run->not_found_count);
	if (run->reason[0] != '\0')
		sqlite3_bind_text(st, 19, run->reason, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(st, 19);
}

int
spool_add(struct spool *sp, struct spool_run *run)
{
	sqlite3_stmt *st;

	if (spool_begin(sp) == -1 ||
	    (st = spool_stmt(sp, SQL_RUN_ADD)) == NULL)
		return -1;
	sqlite3_bind_int(st, 2, run->cluster);
	sqlite3_bind_int64(st, 3, (sqlite3_int64)run->key.job);
	run_bind(st, run);
	if (spool_exec(sp, st) == -1)
		return -1;
	run->id = sqlite3_last_insert_rowid(sp->db);
	memcpy(run->was, run->state, sizeof(run->was));
	spool_tally(sp, run->state, 1);
	sp->now.runs++;
	return 0;
}

static int
get_row(struct spool *sp, sqlite3_stmt *st, struct spool_run *run)
{
	int rc = spool_step(sp, st);

	if (rc == 1) {
		spool_row(sp, st, run);
		sqlite3_reset(st);
	}
	return rc;
}

int
spool_get(struct spool *sp, int64_t id, struct spool_run *run)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_RUN_GET);

	if (st == NULL)
		return -1;
	sqlite3_bind_int64(st, 1, id);
	return get_row(sp, st, run);
}

int
spool_find(struct spool *sp, const struct run_key *key, struct spool_run *run)
{
	int cluster = spool_cluster_id(sp, key->cluster, 0);
	sqlite3_stmt *st;

	if (cluster == -1)
		return 0;
	st = spool_stmt(sp, SQL_RUN_FIND);
	if (st == NULL)
		return -1;
	sqlite3_bind_int(st, 1, cluster);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)key->job);
	sqlite3_bind_int64(st, 3, key->start);
	return get_row(sp, st, run);
}

int
spool_is_done(struct spool *sp, const struct run_key *key)
{
	int rc, cluster = spool_cluster_id(sp, key->cluster, 0);
	sqlite3_stmt *st;

	if (cluster == -1)
		return 0;
	st = spool_stmt(sp, SQL_TOMB_GET);
	if (st == NULL)
		return 0;
	sqlite3_bind_int(st, 1, cluster);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)key->job);
	sqlite3_bind_int64(st, 3, key->start);
	rc = spool_step(sp, st);
	sqlite3_reset(st);
	return rc == 1;
}

/* Detects flipped bits; no protection against intent. */
uint64_t
spool_sum(const void *p, size_t n)
{
	return hash_bytes(HASH_START, p, n);
}

int
spool_record(struct spool *sp, int64_t id, struct job *job)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_RECORD_GET);
	struct reader r;
	size_t n;
	int rc = -1;

	if (st == NULL)
		return -1;
	sqlite3_bind_int64(st, 1, id);
	if (spool_step(sp, st) != 1)
		return -1;
	n = (size_t)sqlite3_column_bytes(st, 0);
	rd_init(&r, sqlite3_column_blob(st, 0), n);
	if ((uint64_t)sqlite3_column_int64(st, 1) == spool_sum(r.p, n)) {
		job_read(&r, job);
		rc = rd_end(&r);
		sqlite3_reset(st);
		return rc;
	}
	sqlite3_reset(st);
	snprintf(sp->error, sizeof(sp->error), "the checksum of a record is wrong");
	sp->damaged = 1;
	spool_rollback(sp);	/* does not return */
	return -1;
}

int
spool_record_set(struct spool *sp, int64_t id, const void *p, size_t n)
{
	sqlite3_stmt *st;

	if (spool_begin(sp) == -1 ||
	    (st = spool_stmt(sp, SQL_RECORD_SET)) == NULL)
		return -1;
	sqlite3_bind_int64(st, 1, id);
	sqlite3_bind_blob64(st, 2, p, n, SQLITE_STATIC);
	sqlite3_bind_int64(st, 3, (sqlite3_int64)spool_sum(p, n));
	return spool_exec(sp, st);
}

int
spool_record_write(struct spool *sp, int64_t id, const struct job *job)
{
	wr_reset(&sp->record);
	job_write(&sp->record, job);
	if (wr_end(&sp->record) == -1)
		return -1;
	return spool_record_set(sp, id, sp->record.buf, sp->record.len);
}

static int
drop_id(struct spool *sp, enum sql id, int64_t row)
{
	sqlite3_stmt *st = spool_stmt(sp, id);

	if (st == NULL)
		return -1;
	sqlite3_bind_int64(st, 1, row);
	return spool_exec(sp, st);
}

static int
tomb_add(struct spool *sp, const struct spool_run *run, int64_t start)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_TOMB_ADD);

	if (st == NULL)
		return -1;
	sqlite3_bind_int(st, 1, run->cluster);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)run->key.job);
	sqlite3_bind_int64(st, 3, start);
	sqlite3_bind_int64(st, 4, run->end > start ? run->end - start : 0);
	sqlite3_bind_int64(st, 5, run->submit != 0 ? start - run->submit : 0);
	return spool_exec(sp, st);
}

int
spool_forget(struct spool *sp, struct spool_run *run)
{
	if (spool_begin(sp) == -1 ||
	    drop_id(sp, SQL_RECORD_DROP, run->id) == -1 ||
	    drop_id(sp, SQL_RUN_DROP, run->id) == -1)
		return -1;
	spool_tally(sp, run->was, -1);
	sp->now.runs--;
	run->id = 0;
	return 0;
}

int
spool_finish(struct spool *sp, struct spool_run *run)
{
	if (spool_begin(sp) == -1 ||
	    tomb_add(sp, run, run->key.start) == -1 ||
	    (run->alias != 0 && tomb_add(sp, run, run->alias) == -1))
		return -1;
	return spool_forget(sp, run);
}

static int
is_finished(const struct spool_run *run)
{
	int d;

	for (d = 0; d < DEST__COUNT; d++)
		if (run->state[d] != RUN_NONE && run->state[d] != RUN_DONE)
			return 0;
	return run->end != 0 || run->state[DEST_REST] == RUN_DONE;
}

/*
 * A superseded run is deleted in cc-backend when its start is committed and
 * nothing of it is under way, before or after its stop. A run that a later one
 * may replace is kept as long as cc-backend would refuse the later one because
 * of it.
 */
static void
supersede_state(struct spool *sp, struct spool_run *run)
{
	enum run_state state = run->state[DEST_REST];

	if ((run->flags & RUN_SUPERSEDED) && (state == RUN_DONE ||
	    state == KEPT_REPLACEABLE || state == STOP_REJECTED ||
	    state == CLOSED_BY_OTHERS || (state == STOP_DUE &&
	    run->due[DEST_REST] != DUE_LEASED))) {
		run_move(sp, run, DEST_REST, EVENT_SUPERSEDED, DUE_NOW, NULL);
		run->flags = (run->flags & ~RUN_SUPERSEDED) |
		    RUN_FORGET_AFTER_DELETE;
	} else if (state == RUN_DONE && (run->flags & RUN_REQUEUED_EARLY) &&
	    !(run->flags & RUN_FORGET_AFTER_DELETE) && sp->policy.last_requeued) {
		run_move(sp, run, DEST_REST, EVENT_KEPT, spool_now(sp) +
		    BARRED_SECONDS * 1000, NULL);
	}
}

int
spool_save(struct spool *sp, struct spool_run *run)
{
	sqlite3_stmt *st;

	supersede_state(sp, run);
	if (is_finished(run))
		return spool_finish(sp, run);
	if (spool_begin(sp) == -1 ||
	    (st = spool_stmt(sp, SQL_RUN_SAVE)) == NULL)
		return -1;
	sqlite3_bind_int64(st, 1, run->id);
	run_bind(st, run);
	if (spool_exec(sp, st) == -1)
		return -1;
	spool_tally(sp, run->was, -1);
	spool_tally(sp, run->state, 1);
	memcpy(run->was, run->state, sizeof(run->was));
	return 0;
}

int
spool_has_starts(struct spool *sp, const struct spool_run *run, enum dest dest)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_STARTS + (enum sql)dest);
	int rc;

	if (st == NULL)
		return 0;
	sqlite3_bind_int(st, 1, run->cluster);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)run->key.job);
	sqlite3_bind_int64(st, 3, run->id);
	rc = spool_step(sp, st);
	sqlite3_reset(st);
	return rc == 1;
}
