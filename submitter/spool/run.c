/* SPDX-License-Identifier: MIT */
/* Reads, writes and finishes the row of a run; see spool.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/log.h"
#include "common/model/msg.h"
#include "common/worker/inflight.h"
#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"

static struct log_limit said_long;

/*
 * The column denials: the lower 32 bits are the number of answers that count, and
 * an older version reads only these.  The upper 32 bits are the time of the first
 * answer, unsigned, so until 2106.  Older files have 0 there.
 */
static void
denials_read(struct spool_run *run, int64_t denials)
{
	run->not_found_count = (uint32_t)denials;
	run->not_found_time = (int64_t)((uint64_t)denials >> 32);
}

static int64_t
denials_value(const struct spool_run *run)
{
	uint64_t first = (uint32_t)run->not_found_time;

	return (int64_t)(first << 32 | run->not_found_count);
}

/*
 * The column reason: that of the run, and in a line of its own that of NATS.
 * Older versions stored only the last one of both.
 */
#define REASONS_MAX 800

static void
reasons_read(struct spool_run *run, const char *text)
{
	const char *nats = strncmp(text, NATS_REASON, strlen(NATS_REASON)) ==
		0 ?
	    text :
	    strstr(text, "\n" NATS_REASON);
	size_t n = nats != NULL ? (size_t)(nats - text) : strlen(text);

	snprintf(run->reason, sizeof(run->reason), "%.*s", (int)n, text);
	if (nats != NULL)
		snprintf(run->nats_reason, sizeof(run->nats_reason), "%s",
		    nats + (*nats == '\n'));
}

static const char *
reasons_write(const struct spool_run *run, char *text, size_t size)
{
	int both = run->reason[0] != '\0' && run->nats_reason[0] != '\0';

	snprintf(text, size, "%s%s%s", run->reason, both ? "\n" : "",
	    run->nats_reason);
	return *text != '\0' ? text : NULL;
}

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
	run->flags = run->flags_were = (unsigned)sqlite3_column_int(st, 7);
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
	denials_read(run, sqlite3_column_int64(st, 17));
	reason = (const char *)sqlite3_column_text(st, 18);
	if (reason != NULL)
		reasons_read(run, reason);
}

#define RUN_VALUES 19

/*
 * The values of SQL_RUN_ADD and SQL_RUN_SAVE, which have the same numbers.
 * reasons: for the text of the last one.
 */
static void
run_values(const struct spool_run *run, struct sql_value values[RUN_VALUES],
    char reasons[REASONS_MAX])
{
	const struct sql_value key[] = { INT(run->id), INT(run->cluster),
		INT(run->key.job), INT(run->key.start), INT(run->end),
		INT(run->submit), INT(run->alias), INT(run->flags) };
	const struct sql_value rest[] = { INT(run->not_found_at),
		INT(denials_value(run)),
		TEXT(reasons_write(run, reasons, REASONS_MAX)) };
	int64_t due;
	int d;

	memcpy(values, key, sizeof(key));
	for (d = 0; d < DEST__COUNT; d++) {
		due = run->due[d] == DUE_NOW && (run->flags & RUN_BACKFILL) ?
		    DUE_AFTER_LIVE :
		    run->due[d];
		memcpy(values + 8 + 4 * d,
		    (const struct sql_value[]) { INT(run->state[d]), INT(due),
			INT(run->tries[d]), INT(run->since[d]) },
		    4 * sizeof(*values));
	}
	memcpy(values + 16, rest, sizeof(rest));
}

/* The row is removed, or written with other values. */
static void
run_discount(struct spool *sp, const struct spool_run *run)
{
	spool_tally(sp, run->was, -1);
	spool_share_waiting(sp, run, -1);
}

static void
run_count(struct spool *sp, struct spool_run *run)
{
	spool_tally(sp, run->state, 1);
	spool_share_waiting(sp, run, 1);
	memcpy(run->was, run->state, sizeof(run->was));
	run->flags_were = run->flags;
}

int
spool_add(struct spool *sp, struct spool_run *run)
{
	struct sql_value values[RUN_VALUES];
	char reasons[REASONS_MAX];

	run_values(run, values, reasons);
	if (spool_change(sp, SQL_RUN_ADD, values, RUN_VALUES) == -1)
		return -1;
	run->id = sqlite3_last_insert_rowid(sp->db);
	run_count(sp, run);
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
	sqlite3_stmt *st = spool_query(sp, SQL_RUN_GET, VALUES(INT(id)));

	return st != NULL ? get_row(sp, st, run) : -1;
}

int
spool_find(struct spool *sp, const struct run_key *key, struct spool_run *run)
{
	int cluster = spool_cluster_id(sp, key->cluster, 0);
	sqlite3_stmt *st;

	if (cluster == -1)
		return 0;
	st = spool_query(sp, SQL_RUN_FIND,
	    VALUES(INT(cluster), INT(key->job), INT(key->start)));
	return st != NULL ? get_row(sp, st, run) : -1;
}

static int
is_rejected(enum run_state state)
{
	return state == START_REJECTED || state == STOP_REJECTED;
}

/*
 * Without a reason of its own, NATS has that of the run, unless cc-backend still
 * gets the run: then the reason is cc-backend's.
 */
const char *
run_reason(const struct spool_run *run, enum dest dest)
{
	enum run_state rest = run->state[DEST_REST];

	if (dest == DEST_REST)
		return run->reason;
	if (run->nats_reason[0] != '\0')
		return run->nats_reason;
	return rest == RUN_NONE || rest == RUN_DONE ||
		(run->flags & RUN_UNCONFIRMED) ||
		(is_rejected(run->state[DEST_NATS]) && !is_rejected(rest)) ?
	    run->reason :
	    "";
}

void
run_nats_reason_set(struct spool_run *run, const char *why)
{
	snprintf(run->nats_reason, sizeof(run->nats_reason),
	    NATS_REASON "%.240s", why);
}

#define NO_TOMB INT64_MIN

/* The duration in the tombstone of the run; NO_TOMB without a tombstone. */
static int64_t
tomb_lasted(struct spool *sp, const struct run_key *key)
{
	int cluster = spool_cluster_id(sp, key->cluster, 0);
	int64_t lasted = NO_TOMB;
	sqlite3_stmt *st;

	if (cluster == -1)
		return NO_TOMB;
	st = spool_query(sp, SQL_TOMB_GET,
	    VALUES(INT(cluster), INT(key->job), INT(key->start)));
	if (st == NULL)
		return NO_TOMB;
	if (spool_step(sp, st) == 1)
		lasted = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return lasted;
}

int
spool_is_done(struct spool *sp, const struct run_key *key)
{
	return tomb_lasted(sp, key) != NO_TOMB;
}

int64_t
spool_false_start_end(struct spool *sp, const struct run_key *key)
{
	int64_t lasted = tomb_lasted(sp, key);

	return lasted != NO_TOMB && lasted < 0 ?
	    key->start + spool_lasted(lasted) :
	    0;
}

/* Detects damaged bytes; does not protect against forgery. */
uint64_t
spool_sum(const void *p, size_t n)
{
	return hash_bytes(HASH_START, p, n);
}

void
spool_inflight(struct spool *sp, struct inflight *const *page)
{
	sp->inflight = page;
}

/*
 * The caller may handle another record: its run is in the page again then.
 * Returns 0, or -1 with errno EINVAL or ENOMEM: the reader tells only that it
 * failed, and a failed allocation has set errno.
 */
static int
record_read(struct spool *sp, sqlite3_stmt *st, struct reader *r,
    struct job *job)
{
	struct inflight *page = sp->inflight != NULL ? *sp->inflight : NULL;
	struct run_key key, outer;
	int error, has_outer = inflight_read(page, &outer);

	memset(&key, 0, sizeof(key));
	snprintf(key.cluster, sizeof(key.cluster), "%s",
	    spool_cluster_name(sp, sqlite3_column_int(st, 2)));
	key.job = (uint64_t)sqlite3_column_int64(st, 3);
	key.start = sqlite3_column_int64(st, 4);
	inflight_set(page, &key);
	errno = 0;
	job_read(r, job);
	error = errno == ENOMEM ? ENOMEM : EINVAL;
	if (has_outer)
		inflight_set(page, &outer);
	else
		inflight_clear(page);
	if (rd_end(r) == 0)
		return 0;
	errno = error;
	return -1;
}

int
spool_record(struct spool *sp, int64_t id, struct job *job)
{
	sqlite3_stmt *st = spool_query(sp, SQL_RECORD_READ,
	    VALUES(INT(id), INT(RUN_QUARANTINED)));
	struct reader r;
	size_t n;
	int error, rc = st != NULL ? spool_step(sp, st) : -1;

	if (rc != 1) {
		errno = rc == 0 ? EINVAL : EIO;
		return -1;
	}
	n = (size_t)sqlite3_column_bytes(st, 0);
	rd_init(&r, sqlite3_column_blob(st, 0), n);
	if ((uint64_t)sqlite3_column_int64(st, 1) == spool_sum(r.p, n)) {
		rc = record_read(sp, st, &r, job);
		error = errno;
		sqlite3_reset(st);
		errno = error;
		return rc;
	}
	sqlite3_reset(st);
	snprintf(sp->error, sizeof(sp->error),
	    "the checksum of a record is wrong");
	sp->damaged = 1;
	spool_rollback(sp); /* does not return */
	return -1;
}

int
spool_record_set(struct spool *sp, int64_t id, const void *p, size_t n)
{
	spool_share_set(sp, id, n);
	return spool_change(sp, SQL_RECORD_SET,
	    VALUES(INT(id), BLOB(p, n), INT(spool_sum(p, n))));
}

static int
record_encode(struct spool *sp, const struct job *job)
{
	wr_reset(&sp->record);
	job_write(&sp->record, job);
	return wr_end(&sp->record);
}

int
spool_record_fit(struct spool *sp, struct job *job)
{
	int rc = record_encode(sp, job);

	if (rc == 0)
		return 0;
	if (!wr_no_memory(&sp->record) && job->script != NULL) {
		free(job->script);
		job->script = NULL;
		rc = record_encode(sp, job);
	}
	if (wr_no_memory(&sp->record))
		return -1;
	log_limited(&said_long, log_warnx,
	    "%s: a record is longer than %u bytes with what the spool has of "
	    "the run: %s",
	    run_key_text(&job->key), MSG_PAYLOAD_MAX,
	    rc == 0 ? "its script is left out" : "the record is dropped");
	return rc == 0 ? 0 : 1;
}

int
spool_record_write(struct spool *sp, int64_t id, const struct job *job)
{
	if (record_encode(sp, job) == -1)
		return -1;
	return spool_record_set(sp, id, sp->record.buf, sp->record.len);
}

static int
tomb_add(struct spool *sp, const struct spool_run *run, int64_t start,
    int is_false_start)
{
	int64_t lasted = run->end > start ? run->end - start : 0;

	/* Also under its other start the run is one that was requeued early. */
	if ((run->flags & RUN_REQUEUED_EARLY) && lasted > REQUEUED_EARLY)
		lasted = REQUEUED_EARLY;
	spool_tomb_ended(sp, start + lasted);
	if (spool_change(sp, SQL_TOMB_ADD,
		VALUES(INT(run->cluster), INT(run->key.job), INT(start),
		    INT(is_false_start ? -1 - lasted : lasted),
		    INT(run->submit != 0 ? start - run->submit : 0))) == -1)
		return -1;
	spool_share_tombs(sp, run->cluster, sqlite3_changes(sp->db));
	return 0;
}

int
spool_forget(struct spool *sp, struct spool_run *run)
{
	spool_share_drop(sp, run->id);
	if (spool_change(sp, SQL_RECORD_DROP, VALUES(INT(run->id))) == -1 ||
	    spool_change(sp, SQL_RUN_DROP, VALUES(INT(run->id))) == -1)
		return -1;
	run_discount(sp, run);
	sp->now.runs--;
	run->id = 0;
	return 0;
}

static int
finish(struct spool *sp, struct spool_run *run, int is_false_start)
{
	if (tomb_add(sp, run, run->key.start, is_false_start) == -1 ||
	    (run->alias != 0 &&
		tomb_add(sp, run, run->alias, is_false_start) == -1))
		return -1;
	return spool_forget(sp, run);
}

int
spool_finish(struct spool *sp, struct spool_run *run)
{
	return finish(sp, run, 0);
}

int
spool_finish_false_start(struct spool *sp, struct spool_run *run)
{
	return finish(sp, run, 1);
}

/* Has the destination something to get, now or when the run ends? */
static int
is_waiting(enum run_state state)
{
	return state != RUN_NONE && state != RUN_DONE &&
	    state != START_REJECTED && state != STOP_REJECTED &&
	    state != STOPPED_BY_OTHERS;
}

/* May the end of the run still come, in a record that is read? */
static int
end_comes(const struct spool_run *run)
{
	const unsigned never = RUN_UNCONFIRMED | RUN_QUARANTINED |
	    RUN_FROM_BACKEND;

	return run->end == 0 && !(run->flags & never);
}

static void
discard(struct spool *sp, struct spool_run *run, enum dest dest)
{
	run_move(sp, run, dest, RUN_EVENT_DISCARDED, DUE_NOW,
	    dest == DEST_REST ? "" : NULL);
	if (dest == DEST_NATS)
		run->nats_reason[0] = '\0';
}

int
spool_drop(struct spool *sp, struct spool_run *run, enum dest dest)
{
	enum dest other = dest == DEST_REST ? DEST_NATS : DEST_REST;
	int waits = is_waiting(run->state[other]);

	if (!waits && !end_comes(run))
		return spool_finish(sp, run);
	discard(sp, run, dest);
	if (!waits && run_may_move(run, other, RUN_EVENT_DISCARDED))
		discard(sp, run, other);
	run->flags |= RUN_DROPPED;
	return spool_save(sp, run);
}

int
spool_is_unsent(const struct spool_run *run)
{
	return run->state[DEST_REST] == RUN_NONE &&
	    run->state[DEST_NATS] == RUN_NONE;
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
 * A superseded run is deleted in cc-backend when its start is committed and no
 * request of it is under way, before or after its stop.  A run that a later one
 * may replace is kept as long as cc-backend would refuse the later one because
 * of it.
 */
static void
supersede_state(struct spool *sp, struct spool_run *run)
{
	enum run_state state = run->state[DEST_REST];

	if ((run->flags & RUN_SUPERSEDED) &&
	    (state == RUN_DONE || state == KEPT_REPLACEABLE ||
		state == STOP_REJECTED || state == STOPPED_BY_OTHERS ||
		(state == STOP_DUE && run->due[DEST_REST] != DUE_LEASED))) {
		run_move(sp, run, DEST_REST, RUN_EVENT_SUPERSEDED, DUE_NOW,
		    NULL);
		run->flags = (run->flags & ~RUN_SUPERSEDED) |
		    RUN_FORGET_AFTER_DELETE;
	} else if (state == RUN_DONE && (run->flags & RUN_REQUEUED_EARLY) &&
	    !(run->flags & RUN_FORGET_AFTER_DELETE) &&
	    sp->policy.last_requeued) {
		run_move(sp, run, DEST_REST, RUN_EVENT_KEPT,
		    spool_now(sp) + DUPLICATE_SECONDS * 1000, NULL);
	}
}

int
spool_save(struct spool *sp, struct spool_run *run)
{
	struct sql_value values[RUN_VALUES];
	char reasons[REASONS_MAX];

	supersede_state(sp, run);
	if (is_finished(run))
		return spool_finish(sp, run);
	run_values(run, values, reasons);
	if (spool_change(sp, SQL_RUN_SAVE, values, RUN_VALUES) == -1)
		return -1;
	run_discount(sp, run);
	run_count(sp, run);
	return 0;
}

int
spool_kept_done(struct spool *sp, struct spool_run *run)
{
	run->flags &= ~RUN_REQUEUED_EARLY;
	run_move(sp, run, DEST_REST, RUN_EVENT_KEPT_LONG, DUE_KEEP, NULL);
	return spool_save(sp, run);
}

int
spool_has_starts(struct spool *sp, const struct spool_run *run, enum dest dest)
{
	return spool_has_row(sp, SQL_STARTS + (enum sql)dest,
	    VALUES(INT(run->cluster), INT(run->key.job), INT(run->id)));
}
