/* SPDX-License-Identifier: MIT */
/*
 * SQLite without synchronous writes: a power cut may damage the file, which is
 * then begun anew.  Rows of runs are numbered in the order of their first
 * event, so that the oldest rows have the lowest numbers.
 */
#include "config.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "submitter/history/file.h"

#define APPLICATION_ID 0x43434849 /* "CCHI" */
#define FILE_VERSION   1
#define PAGE	       4096 /* bytes */
#define AGE_ROWS       64   /* rows that one call checks for their age */
#define EVICT_ROWS     512  /* rows that one call removes from a full file */
/* Rows are removed from here on, in percent of the limit. */
#define FULL_PERCENT 90

/*
 * run_job gives the runs of a job in their order.  run_start finds one run of very
 * many, which forged records can give a job; files of earlier builds do without it.
 */
static const char schema[] =
    "CREATE TABLE cluster (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE run (id INTEGER PRIMARY KEY, cluster INT, job INT, start INT,"
    " events BLOB);"
    "CREATE INDEX run_job ON run (job);"
    "CREATE INDEX run_start ON run (job, start);"
    "CREATE TABLE count (span INT, t INT, data BLOB, PRIMARY KEY (span, t))"
    " WITHOUT ROWID;"
    "PRAGMA application_id = 1128482889;"
    "PRAGMA user_version = 1";

static const char setup[] =
    "PRAGMA page_size = 4096; PRAGMA auto_vacuum = NONE;"
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = OFF;"
    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -128;"
    "PRAGMA wal_autocheckpoint = 64; PRAGMA journal_size_limit = 262144";

enum sql {
	SQL_BEGIN,
	SQL_COMMIT,
	SQL_CLUSTER_ADD,
	SQL_CLUSTER_GET,
	SQL_GET,
	SQL_ADD,
	SQL_SET,
	SQL_MOVE,
	SQL_OLDEST,
	SQL_DROP,
	SQL_EVICT,
	SQL_NEXT,
	SQL_RUNS,
	SQL_COUNT_GET,
	SQL_COUNT_SET,
	SQL_COUNT_DROP,
	SQL_COUNT_NEXT,
	SQL__COUNT
};

static const char *const texts[SQL__COUNT] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_CLUSTER_ADD] = "INSERT OR IGNORE INTO cluster (name) VALUES (?1)",
	[SQL_CLUSTER_GET] = "SELECT id FROM cluster WHERE name = ?1",
	[SQL_GET] = "SELECT id, events FROM run WHERE job = ?1 AND"
		    " start = ?2 AND cluster = ?3",
	[SQL_ADD] = "INSERT INTO run (cluster, job, start, events)"
		    " VALUES (?3, ?1, ?2, ?4)",
	[SQL_SET] = "UPDATE run SET events = ?2 WHERE id = ?1",
	[SQL_MOVE] = "UPDATE run SET start = ?4 WHERE job = ?1 AND start = ?2"
		     " AND cluster = ?3",
	[SQL_OLDEST] = "SELECT id, events FROM run ORDER BY id LIMIT 1",
	[SQL_DROP] = "DELETE FROM run WHERE id = ?1",
	[SQL_EVICT] = "DELETE FROM run WHERE id IN"
		      " (SELECT id FROM run ORDER BY id LIMIT ?1)",
	[SQL_NEXT] = "SELECT r.start, c.name, r.events, r.id FROM run AS r JOIN"
		     " cluster AS c ON c.id = r.cluster WHERE r.job = ?1 AND"
		     " r.id > ?2 AND (?3 = '' OR c.name = ?3)"
		     " ORDER BY r.id LIMIT 1",
	/* Rows are removed at the lower end: no walk over all rows. */
	[SQL_RUNS] = "SELECT ifnull((SELECT max(id) FROM run) -"
		     " (SELECT min(id) FROM run) + 1, 0)",
	[SQL_COUNT_GET] = "SELECT data FROM count WHERE span = ?1 AND t = ?2",
	[SQL_COUNT_SET] = "INSERT OR REPLACE INTO count VALUES (?1, ?2, ?3)",
	[SQL_COUNT_DROP] = "DELETE FROM count WHERE span = ?1 AND t < ?2",
	[SQL_COUNT_NEXT] = "SELECT t, data FROM count WHERE span = ?1 AND"
			   " t > ?2 ORDER BY t LIMIT 1",
};

struct history_file {
	sqlite3 *db;
	sqlite3_stmt *stmts[SQL__COUNT];
	char error[160];
	int64_t max_pages;
};

const char *
history_file_error(const struct history_file *f)
{
	return f->error;
}

static int
failed(struct history_file *f)
{
	snprintf(f->error, sizeof(f->error), "%s", sqlite3_errmsg(f->db));
	return -1;
}

/*
 * SQLite does not check the type and the order of stored values: a walk over the rows
 * of a damaged page would never end.  0, or -1: next is not after before.
 */
static int
order_check(struct history_file *f, int64_t before, int64_t next)
{
	if (next > before)
		return 0;
	snprintf(f->error, sizeof(f->error),
	    "the file is damaged: its rows are not in order");
	return -1;
}

static int64_t
pragma(struct history_file *f, const char *name)
{
	sqlite3_stmt *st = NULL;
	char text[64];
	int64_t v = -1;

	snprintf(text, sizeof(text), "PRAGMA %s", name);
	if (sqlite3_prepare_v2(f->db, text, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

static int
execute(struct history_file *f, const char *text)
{
	return sqlite3_exec(f->db, text, NULL, NULL, NULL) == SQLITE_OK ?
	    0 :
	    failed(f);
}

/* NULL, or why the file is not used. */
static const char *
schema_settle(struct history_file *f)
{
	int64_t app = pragma(f, "application_id"),
		version = pragma(f, "user_version");

	if (app == -1 || version == -1 || execute(f, setup) == -1)
		return failed(f) == -1 ? f->error : NULL;
	if (app == 0 && version == 0 && pragma(f, "page_count") <= 1)
		return execute(f, schema) == -1 ? f->error : NULL;
	if (app != APPLICATION_ID || version != FILE_VERSION ||
	    pragma(f, "page_size") != PAGE)
		return "it is of another version or program";
	return NULL;
}

void
history_file_limit(struct history_file *f, int64_t max_bytes)
{
	char text[64];

	f->max_pages = max_bytes / PAGE;
	snprintf(text, sizeof(text), "PRAGMA max_page_count = %lld",
	    (long long)f->max_pages);
	(void)execute(f, text);
}

struct history_file *
history_file_open(const char *path, int64_t max_bytes, char *reason,
    size_t size)
{
	struct history_file *f = calloc(1, sizeof(*f));
	const char *wrong = "out of memory";

	if (f == NULL)
		goto fail;
	if (sqlite3_open_v2(path, &f->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
		"unix") != SQLITE_OK) {
		wrong = f->db != NULL ? sqlite3_errmsg(f->db) : wrong;
		goto fail;
	}
	sqlite3_busy_timeout(f->db, 0);
	/* Its memory for small allocations saves no time here. */
	sqlite3_db_config(f->db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0);
	if ((wrong = schema_settle(f)) != NULL)
		goto fail;
	history_file_limit(f, max_bytes);
	return f;
fail:
	snprintf(reason, size, "%s", wrong);
	history_file_close(f);
	return NULL;
}

void
history_file_close(struct history_file *f)
{
	size_t i;

	if (f == NULL)
		return;
	for (i = 0; i < SQL__COUNT; i++)
		sqlite3_finalize(f->stmts[i]);
	sqlite3_close_v2(f->db);
	free(f);
}

void
history_file_remove(const char *path)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	char name[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, tails[i]);
		(void)unlink(name);
	}
}

/* A statement, ready for its values; NULL on an error. */
static sqlite3_stmt *
statement(struct history_file *f, enum sql which)
{
	if (f->stmts[which] == NULL &&
	    sqlite3_prepare_v3(f->db, texts[which], -1,
		SQLITE_PREPARE_PERSISTENT, &f->stmts[which],
		NULL) != SQLITE_OK) {
		failed(f);
		return NULL;
	}
	sqlite3_reset(f->stmts[which]);
	return f->stmts[which];
}

/* A statement with up to three numbers. */
static sqlite3_stmt *
query(struct history_file *f, enum sql which, int64_t a, int64_t b, int64_t c)
{
	sqlite3_stmt *st = statement(f, which);
	const int64_t values[] = { a, b, c };
	int i, n;

	if (st == NULL)
		return NULL;
	n = sqlite3_bind_parameter_count(st);
	for (i = 0; i < n && i < 3; i++)
		sqlite3_bind_int64(st, i + 1, values[i]);
	return st;
}

/* 1 = a row, 0 = done, -1. */
static int
step(struct history_file *f, sqlite3_stmt *st)
{
	int rc = st != NULL ? sqlite3_step(st) : SQLITE_ERROR;

	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		failed(f);
	if (st != NULL)
		sqlite3_reset(st);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int
run(struct history_file *f, sqlite3_stmt *st)
{
	int rc = step(f, st);

	if (rc == 1)
		sqlite3_reset(st);
	return rc == -1 ? -1 : 0;
}

int
history_file_begin(struct history_file *f)
{
	return run(f, statement(f, SQL_BEGIN));
}

int
history_file_commit(struct history_file *f)
{
	int rc = run(f, statement(f, SQL_COMMIT));

	/* The next transaction is seconds away and needs few pages. */
	sqlite3_db_release_memory(f->db);
	return rc;
}

/* The number of a cluster, added when it is new; -1 on an error. */
static int64_t
cluster_number(struct history_file *f, const char *name)
{
	sqlite3_stmt *st;
	int64_t id = -1;
	int tries, rc;

	for (tries = 0; tries < 2; tries++) {
		st = statement(f, SQL_CLUSTER_GET);
		if (st == NULL)
			return -1;
		sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
		if ((rc = step(f, st)) == 1)
			id = sqlite3_column_int64(st, 0);
		if (rc != 0) {
			sqlite3_reset(st);
			return id;
		}
		st = statement(f, SQL_CLUSTER_ADD);
		if (st == NULL)
			return -1;
		sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
		if (run(f, st) == -1)
			return -1;
	}
	return -1;
}

static void
events_read(sqlite3_stmt *st, int column, struct history_events *events)
{
	const void *p = sqlite3_column_blob(st, column);
	int n = sqlite3_column_bytes(st, column);

	events->len = 0;
	if (p == NULL || n < 0 || n > HISTORY_BYTES_MAX)
		return;
	memcpy(events->bytes, p, (size_t)n);
	events->len = (size_t)n;
}

int
history_file_add(struct history_file *f, const struct run_key *key,
    const struct history_item *items, size_t n)
{
	int64_t id = 0, cluster = cluster_number(f, key->cluster);
	struct history_events events = { .len = 0 };
	sqlite3_stmt *st;
	int rc, changed = 0;
	size_t i;

	st = query(f, SQL_GET, (int64_t)key->job, key->start, cluster);
	if (cluster == -1 || (rc = step(f, st)) == -1)
		return -1;
	if (rc == 1) {
		id = sqlite3_column_int64(st, 0);
		events_read(st, 1, &events);
		sqlite3_reset(st);
	}
	for (i = 0; i < n; i++)
		changed |= history_events_add(&events, &items[i]);
	if (!changed)
		return 0;
	if (id != 0) {
		st = query(f, SQL_SET, id, 0, 0);
		if (st != NULL)
			sqlite3_bind_blob(st, 2, events.bytes, (int)events.len,
			    SQLITE_STATIC);
	} else {
		st = query(f, SQL_ADD, (int64_t)key->job, key->start, cluster);
		if (st != NULL)
			sqlite3_bind_blob(st, 4, events.bytes, (int)events.len,
			    SQLITE_STATIC);
	}
	return run(f, st);
}

int
history_file_move(struct history_file *f, const struct run_key *key,
    int64_t start)
{
	int64_t cluster = cluster_number(f, key->cluster);
	sqlite3_stmt *st = query(f, SQL_MOVE, (int64_t)key->job, key->start,
	    cluster);

	if (cluster == -1 || st == NULL)
		return -1;
	sqlite3_bind_int64(st, 4, start);
	return run(f, st);
}

/* The number and the first event of the oldest run: 1, 0 = none, -1. */
static int
oldest(struct history_file *f, int64_t *id, int64_t *ms)
{
	sqlite3_stmt *st = statement(f, SQL_OLDEST);
	struct history_item item = { .ms = 0 };
	struct history_events events;
	size_t at = 0;
	int rc = step(f, st);

	if (rc != 1)
		return rc;
	*id = sqlite3_column_int64(st, 0);
	events_read(st, 1, &events);
	sqlite3_reset(st);
	*ms = history_events_next(&events, &at, &item) == 1 ? item.ms : 0;
	return 1;
}

int
history_file_age(struct history_file *f, int64_t oldest_ms)
{
	int64_t id, ms;
	int i, rc = 0;

	for (i = 0;
	     i < AGE_ROWS && (rc = oldest(f, &id, &ms)) == 1 && ms < oldest_ms;
	     i++)
		if (run(f, query(f, SQL_DROP, id, 0, 0)) == -1)
			return -1;
	if (rc == -1)
		return -1;
	if (history_file_bytes(f) / PAGE * 100 <
	    (uint64_t)f->max_pages * FULL_PERCENT)
		return 0;
	return run(f, query(f, SQL_EVICT, EVICT_ROWS, 0, 0));
}

int
history_file_next(struct history_file *f, const char *cluster, uint64_t job,
    int64_t *after, struct run_key *key, struct history_events *events)
{
	sqlite3_stmt *st = query(f, SQL_NEXT, (int64_t)job, *after, 0);
	const char *name;
	int64_t id;
	int rc;

	if (st == NULL)
		return -1;
	sqlite3_bind_text(st, 3, cluster, -1, SQLITE_STATIC);
	if ((rc = step(f, st)) != 1)
		return rc;
	memset(key, 0, sizeof(*key));
	name = (const char *)sqlite3_column_text(st, 1);
	snprintf(key->cluster, sizeof(key->cluster), "%s",
	    name != NULL ? name : "");
	key->job = job;
	key->start = sqlite3_column_int64(st, 0);
	events_read(st, 2, events);
	id = sqlite3_column_int64(st, 3);
	sqlite3_reset(st);
	rc = order_check(f, *after, id) == -1 ? -1 : 1;
	*after = id;
	return rc;
}

static int
counts_get(struct history_file *f, sqlite3_stmt *st, int column,
    struct history_counts *counts)
{
	const void *p = sqlite3_column_blob(st, column);
	int n = sqlite3_column_bytes(st, column);

	if (counts_read(counts, p, p != NULL ? (size_t)n : 0) == 0)
		return 0;
	snprintf(f->error, sizeof(f->error), "its counters are not valid");
	return -1;
}

int
history_file_count(struct history_file *f, enum history_span span, int64_t t,
    const struct history_counts *counts)
{
	struct history_counts all = { .n = { 0 } };
	uint8_t buf[COUNTS_BYTES_MAX];
	sqlite3_stmt *st = query(f, SQL_COUNT_GET, (int64_t)span, t, 0);
	int rc = step(f, st), bad = 0;

	if (rc == 1) {
		bad = counts_get(f, st, 0, &all) == -1;
		sqlite3_reset(st);
	}
	if (rc == -1 || bad)
		return -1;
	counts_merge(&all, counts);
	st = query(f, SQL_COUNT_SET, (int64_t)span, t, 0);
	if (st == NULL)
		return -1;
	sqlite3_bind_blob(st, 3, buf, (int)counts_write(&all, buf),
	    SQLITE_STATIC);
	return run(f, st);
}

int
history_file_count_age(struct history_file *f, enum history_span span,
    int64_t t)
{
	return run(f, query(f, SQL_COUNT_DROP, (int64_t)span, t, 0));
}

int
history_file_count_next(struct history_file *f, enum history_span span,
    int64_t *t, struct history_counts *counts)
{
	sqlite3_stmt *st = query(f, SQL_COUNT_NEXT, (int64_t)span, *t, 0);
	int rc = step(f, st);
	int64_t next;

	if (rc != 1)
		return rc;
	next = sqlite3_column_int64(st, 0);
	rc = order_check(f, *t, next) == -1 ||
		counts_get(f, st, 1, counts) == -1 ?
	    -1 :
	    1;
	*t = next;
	sqlite3_reset(st);
	return rc;
}

uint64_t
history_file_bytes(struct history_file *f)
{
	int64_t pages = pragma(f, "page_count"),
		unused = pragma(f, "freelist_count");

	return pages > 0 && unused >= 0 ? (uint64_t)(pages - unused) * PAGE : 0;
}

uint64_t
history_file_runs(struct history_file *f)
{
	sqlite3_stmt *st = statement(f, SQL_RUNS);
	uint64_t n = 0;

	if (step(f, st) == 1) {
		n = (uint64_t)sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
	}
	return n;
}
