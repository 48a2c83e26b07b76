/* SPDX-License-Identifier: MIT */
/*
 * The transaction of the spool, its clock, counts, watermarks and named values;
 * see spool.h. An error in a transaction makes the whole transaction fail, so
 * that a caller has to check only the result of spool_commit().
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "submitter/spool/spool_private.h"

/* between two calls of spool_on_long()'s function */
#define ALIVE_MS 1000

/* For the lines of an export, which another version may read. */
static const char *const state_names[RUN_STATE__COUNT] = {
	[RUN_NONE] = "none",
	[START_DUE] = "start",
	[START_DUE_ENDED] = "start-ended",
	[START_BLOCKED] = "behind",
	[START_CONFLICT] = "ask",
	[STARTED] = "open",
	[START_COMMITTED] = "seen",
	[STOP_BLOCKED] = "wait",
	[STOP_DUE] = "stop",
	[RUN_DONE] = "done",
	[START_REJECTED] = "start-refused",
	[STOP_REJECTED] = "stop-refused",
	[DELETE_DUE] = "delete",
	[STOP_CONFLICT] = "compare",
	[STOPPED_BY_OTHERS] = "closed",
	[BACKFILL_HELD] = "backfill",
	[KEPT_REPLACEABLE] = "kept",
};

const char *
run_state_name(enum run_state state)
{
	return (unsigned)state < RUN_STATE__COUNT ? state_names[state] : "?";
}

/* cc-slurm-adapterctl(8) explains each text. */
static const char *const state_texts[RUN_STATE__COUNT] = {
	[RUN_NONE] = "not reported",
	[START_DUE] = "start due",
	[START_DUE_ENDED] = "start due (has ended)",
	[START_BLOCKED] = "waits for an earlier run",
	[START_CONFLICT] = "refused as duplicate, checking",
	[STARTED] = "started",
	[START_COMMITTED] = "started, committed",
	[STOP_BLOCKED] = "ended, waits for commit",
	[STOP_DUE] = "stop due",
	[RUN_DONE] = "delivered",
	[START_REJECTED] = "start rejected",
	[STOP_REJECTED] = "stop rejected",
	[DELETE_DUE] = "delete due",
	[STOP_CONFLICT] = "stopped by others, checking",
	[STOPPED_BY_OTHERS] = "stopped by others, kept",
	[BACKFILL_HELD] = "backfill",
	[KEPT_REPLACEABLE] = "delivered, may be replaced",
};

const char *
run_state_label(enum run_state state)
{
	return (unsigned)state < RUN_STATE__COUNT ? state_texts[state] : "?";
}

const char *
run_state_text(const struct spool_run *run, enum dest dest)
{
	enum run_state state = run->state[dest];

	if (run->due[dest] == DUE_LEASED)
		return "sending";
	if (run->due[dest] == DUE_UNCONFIRMED)
		return "unconfirmed";
	if (state == START_REJECTED && (run->flags & RUN_UNCONFIRMED))
		return "unknown to Slurm";
	return run_state_label(state);
}

int64_t
spool_now(const struct spool *sp)
{
	return sp->opened + (spool_boottime() - sp->boot);
}

int64_t
spool_opened(const struct spool *sp)
{
	return sp->opened;
}

static void (*alive_fn)(void *arg);
static void *alive_arg;

void
spool_on_long(void (*fn)(void *arg), void *arg)
{
	alive_fn = fn;
	alive_arg = arg;
}

void
spool_alive(void)
{
	static int64_t last;
	int64_t now = spool_boottime();

	if (alive_fn == NULL || now - last < ALIVE_MS)
		return;
	last = now;
	alive_fn(alive_arg);
}

int
spool_keep_damaged(const char *path)
{
	static const char *const tails[] = { "", "-wal" };
	char from[SPOOL_PATH_MAX], to[SPOOL_PATH_MAX];
	int n = 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s%s%s", path, SPOOL_DAMAGED,
		    tails[i]);
		snprintf(to, sizeof(to), "%s.damaged-%lld%s", path,
		    (long long)time(NULL), tails[i]);
		if (rename(from, to) == 0)
			n++;
		else if (errno != ENOENT)
			log_warn("cannot rename %s", from);
	}
	return n;
}

void
spool_quarantine_file(const char *path, const char *why)
{
	static const char *const tails[] = { "", "-wal" };
	char from[SPOOL_PATH_MAX], to[SPOOL_PATH_MAX];
	size_t i;

	log_about(LOG_ID_SPOOL_DAMAGED, NULL, 0);
	log_errorx("%s is damaged: %s; the file is renamed, its valid rows are "
		   "recovered, missing runs are read from Slurm again",
	    path, why);
	if (spool_keep_damaged(path) > 0)
		log_warnx("an earlier damaged spool is not recovered in full: "
			  "it is kept as %s.damaged-TIME",
		    path);
	for (i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s%s", path, tails[i]);
		snprintf(to, sizeof(to), "%s%s%s", path, SPOOL_DAMAGED,
		    tails[i]);
		if (rename(from, to) == -1 && errno != ENOENT)
			log_warn("cannot rename %s", from);
	}
}

/*
 * The damaged page may be one of a file that is recovered: an error of the disk
 * is not due to that page.
 */
void
spool_error_note(struct spool *sp, int code)
{
	int64_t page = spool_sum_bad();
	int kind = sqlite3_errcode(sp->db) & 0xff;
	char number[24] = "";

	if (kind == SQLITE_FULL || kind == SQLITE_IOERR)
		page = 0;
	if (code != 0)
		snprintf(number, sizeof(number), " (%d)", code);
	if (page != 0)
		snprintf(sp->error, sizeof(sp->error),
		    "the checksum of page %lld is wrong", (long long)page);
	else
		snprintf(sp->error, sizeof(sp->error), "%s%s",
		    sqlite3_errmsg(sp->db), number);
}

static int
spool_fail(struct spool *sp)
{
	int limit, code = sqlite3_extended_errcode(sp->db);

	/*
	 * The error is stored here: the next successful statement clears
	 * SQLite's code.
	 */
	if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB)
		sp->damaged = 1;
	/* Now: SQLite takes the pages of the transaction back by itself. */
	limit = (code & 0xff) == SQLITE_FULL && !spool_write_refused();
	sp->no_space = !limit &&
	    ((code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE);
	spool_error_note(sp, code);
	if (limit)
		snprintf(sp->error, sizeof(sp->error),
		    "spoolMaxBytes is reached");
	sp->broken = 1;
	return -1;
}

sqlite3_stmt *
spool_stmt(struct spool *sp, enum sql id)
{
	sqlite3_stmt **st = &sp->stmts[id];

	if (*st == NULL &&
	    sqlite3_prepare_v3(sp->db, spool_sql(id), -1,
		SQLITE_PREPARE_PERSISTENT, st, NULL) != SQLITE_OK) {
		spool_fail(sp);
		return NULL;
	}
	sqlite3_reset(*st);
	return *st;
}

int
spool_step(struct spool *sp, sqlite3_stmt *st)
{
	int rc = sqlite3_step(st);

	if (!sqlite3_stmt_readonly(st))
		sp->page_count = 0;
	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		spool_fail(sp);
	sqlite3_reset(st);
	return rc == SQLITE_DONE ? 0 : -1;
}

void
spool_bind(sqlite3_stmt *st, const struct sql_value *values, size_t n)
{
	const struct sql_value *v;
	int i;

	for (i = 1, v = values; (size_t)i <= n; i++, v++)
		if (v->type == VALUE_INT)
			sqlite3_bind_int64(st, i, v->n);
		else if (v->type == VALUE_TEXT)
			sqlite3_bind_text(st, i, v->p, -1, SQLITE_STATIC);
		else
			sqlite3_bind_blob64(st, i, v->p, v->len, SQLITE_STATIC);
}

sqlite3_stmt *
spool_query(struct spool *sp, enum sql id, const struct sql_value *values,
    size_t n)
{
	sqlite3_stmt *st = spool_stmt(sp, id);

	if (st != NULL)
		spool_bind(st, values, n);
	return st;
}

int
spool_has_row(struct spool *sp, enum sql id, const struct sql_value *values,
    size_t n)
{
	sqlite3_stmt *st = spool_query(sp, id, values, n);
	int rc;

	if (st == NULL)
		return 0;
	rc = spool_step(sp, st);
	sqlite3_reset(st);
	return rc == 1;
}

/* Executes a statement that returns no rows; 0 or -1. */
static int
stmt_exec(struct spool *sp, sqlite3_stmt *st)
{
	return spool_step(sp, st) == 0 ? 0 : -1;
}

static int
exec_id(struct spool *sp, enum sql id)
{
	sqlite3_stmt *st = spool_stmt(sp, id);

	return st != NULL ? stmt_exec(sp, st) : -1;
}

int
spool_begin(struct spool *sp)
{
	if (sp->broken)
		return -1;
	if (sp->in_tx)
		return 0;
	/* A write that an earlier checkpoint could not do is none of this one. */
	(void)spool_write_refused();
	if (exec_id(sp, SQL_BEGIN) == -1)
		return -1;
	sp->in_tx = 1;
	return 0;
}

int
spool_change(struct spool *sp, enum sql id, const struct sql_value *values,
    size_t n)
{
	sqlite3_stmt *st;

	if (spool_begin(sp) == -1 ||
	    (st = spool_query(sp, id, values, n)) == NULL)
		return -1;
	return stmt_exec(sp, st);
}

int
spool_dirty(const struct spool *sp)
{
	return sp->in_tx || sp->broken;
}

int
spool_failed(const struct spool *sp)
{
	return sp->failed;
}

const char *
spool_error(const struct spool *sp)
{
	return sp->error;
}

static int
state_write(struct spool *sp)
{
	struct spool_state state;

	memset(&state, 0, sizeof(state));
	state.clock = spool_now(sp);
	state.runs = sp->now.runs;
	state.resources = sp->now.resources;
	state.resource_bytes = sp->now.resource_bytes;
	memcpy(state.counts, sp->now.counts, sizeof(state.counts));
	if (spool_value_set(sp, SPOOL_STATE, &state, sizeof(state)) == -1)
		return -1;
	return spool_shares_write(sp, state.clock);
}

/*
 * The file is damaged. The process ends; the next start renames the file and
 * recovers its rows into a new one.
 */
static void
condemn_if_damaged(struct spool *sp)
{
	if (sp->damaged && !sp->read_only) {
		sqlite3_exec(sp->db, "ROLLBACK", NULL, NULL, NULL);
		spool_quarantine_file(sp->path, sp->error);
		fatalx(
		    "the spool was damaged: the submitter starts again with a "
		    "new one");
	}
}

void
spool_rollback(struct spool *sp)
{
	condemn_if_damaged(sp);
	if (!sqlite3_get_autocommit(sp->db))
		exec_id(sp, SQL_ROLLBACK);
	sp->page_count = 0;
	sp->in_tx = 0;
	sp->broken = 0;
	sp->now = sp->durable;
}

int
spool_commit(struct spool *sp)
{
	if (!spool_dirty(sp))
		return 0;
	if (!sp->broken && state_write(sp) == 0 &&
	    exec_id(sp, SQL_COMMIT) == 0) {
		sp->in_tx = 0;
		sp->failed = sp->no_space = 0;
		sp->durable = sp->now;
		return 0;
	}
	condemn_if_damaged(sp);
	sp->failed = 1;
	return -1;
}

uint64_t
spool_count(const struct spool *sp, enum dest dest, enum run_state state)
{
	int64_t n = sp->now.counts[dest][state];

	return n > 0 ? (uint64_t)n : 0;
}

uint64_t
spool_runs(const struct spool *sp)
{
	return sp->now.runs > 0 ? (uint64_t)sp->now.runs : 0;
}

void
spool_tally(struct spool *sp, const enum run_state state[DEST__COUNT], int n)
{
	int d;

	for (d = 0; d < DEST__COUNT; d++)
		sp->now.counts[d][state[d]] += n;
}

int
spool_ask(struct spool *sp, const char *sql, int64_t *n)
{
	sqlite3_stmt *st = NULL;
	int rc = -1;

	*n = 0;
	if (sqlite3_prepare_v2(sp->db, sql, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW) {
		*n = sqlite3_column_int64(st, 0);
		rc = 0;
	}
	sqlite3_finalize(st);
	return rc;
}

int64_t
spool_number(struct spool *sp, const char *sql)
{
	int64_t n;

	spool_ask(sp, sql, &n);
	return n;
}

void
spool_shrink(struct spool *sp)
{
	sqlite3_db_release_memory(sp->db);
}

static int64_t
pages(struct spool *sp, enum sql id)
{
	sqlite3_stmt *st = spool_stmt(sp, id);
	int64_t n = 0;

	if (st != NULL && spool_step(sp, st) == 1) {
		n = sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
	}
	return n;
}

/*
 * SQLite compiles this pragma again each time: it is executed only after a
 * change.  Another process can change a file that is open for reading.
 */
static int64_t
all_pages(struct spool *sp)
{
	if (sp->page_count == 0 || sp->read_only)
		sp->page_count = pages(sp, SQL_PAGES);
	return sp->page_count;
}

uint64_t
spool_bytes(struct spool *sp)
{
	return (
	    uint64_t)((all_pages(sp) - pages(sp, SQL_PAGES_FREE)) * sp->page);
}

uint64_t
spool_bytes_free(struct spool *sp)
{
	return (uint64_t)(pages(sp, SQL_PAGES_FREE) * sp->page);
}

int
spool_no_space(const struct spool *sp)
{
	return sp->no_space;
}

uint64_t
spool_bytes_max(const struct spool *sp)
{
	return sp->max_bytes;
}

void *
spool_value_get(struct spool *sp, const char *name, size_t *n)
{
	sqlite3_stmt *st = spool_query(sp, SQL_VALUE_GET, VALUES(TEXT(name)));
	void *copy = NULL;

	*n = 0;
	if (st == NULL)
		return NULL;
	if (spool_step(sp, st) == 1) {
		*n = (size_t)sqlite3_column_bytes(st, 0);
		copy = malloc(*n + 1);
		if (copy != NULL && *n > 0)
			memcpy(copy, sqlite3_column_blob(st, 0), *n);
		if (copy != NULL)
			((char *)copy)[*n] = '\0';
		sqlite3_reset(st);
	}
	return copy;
}

int
spool_value_set(struct spool *sp, const char *name, const void *p, size_t n)
{
	return spool_change(sp, SQL_VALUE_SET, VALUES(TEXT(name), BLOB(p, n)));
}

int
spool_cluster_id(struct spool *sp, const char *name, int add)
{
	struct spool_cluster *c;
	unsigned i;

	for (i = 0; i < sp->now.n_clusters; i++)
		if (strcmp(sp->now.clusters[i].name, name) == 0)
			return sp->now.clusters[i].id;
	if (!add || name[0] == '\0' || sp->now.n_clusters == CLUSTERS_MAX)
		return -1;
	if (spool_change(sp, SQL_CLUSTER_ADD, VALUES(TEXT(name))) == -1)
		return -1;
	c = &sp->now.clusters[sp->now.n_clusters++];
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->id = (int)sqlite3_last_insert_rowid(sp->db);
	c->cursor = 0;
	return c->id;
}

int
spool_cluster_fits(struct spool *sp, const char *cluster)
{
	return sp->now.n_clusters < CLUSTERS_MAX ||
	    spool_cluster_id(sp, cluster, 0) != -1;
}

const char *
spool_cluster_name(const struct spool *sp, int id)
{
	unsigned i;

	for (i = 0; i < sp->now.n_clusters; i++)
		if (sp->now.clusters[i].id == id)
			return sp->now.clusters[i].name;
	return "";
}

int
spool_cluster(struct spool *sp, unsigned n, struct run_key *name,
    int64_t *cursor)
{
	if (n >= sp->now.n_clusters)
		return 0;
	memset(name, 0, sizeof(*name));
	snprintf(name->cluster, sizeof(name->cluster), "%s",
	    sp->now.clusters[n].name);
	*cursor = sp->now.clusters[n].cursor;
	return 1;
}

int
spool_watermark(struct spool *sp, const char *cluster, int64_t until)
{
	int id = spool_cluster_id(sp, cluster, 1);
	unsigned i;

	if (id == -1)
		return -1;
	for (i = 0; sp->now.clusters[i].id != id; i++)
		continue;
	if (until <= sp->now.clusters[i].cursor)
		return 0;
	if (spool_change(sp, SQL_CLUSTER_WATERMARK,
		VALUES(INT(id), INT(until))) == -1)
		return -1;
	sp->now.clusters[i].cursor = until;
	return 0;
}

int
spool_check(struct spool *sp, char *text, size_t size)
{
	sqlite3_stmt *st = NULL;
	const char *result = NULL;
	int whole;

	if (sqlite3_prepare_v2(sp->db, "PRAGMA quick_check(1)", -1, &st,
		NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		result = (const char *)sqlite3_column_text(st, 0);
	whole = result != NULL && strcmp(result, "ok") == 0;
	snprintf(text, size, "%s",
	    result != NULL ? result : sqlite3_errmsg(sp->db));
	sqlite3_finalize(st);
	return whole ? 0 : 1;
}

struct spool_policy *
spool_policy(struct spool *sp)
{
	return &sp->policy;
}

enum dest
spool_first_dest(struct spool *sp)
{
	return sp->policy.to[DEST_REST] ? DEST_REST : DEST_NATS;
}
