/* SPDX-License-Identifier: MIT */
/*
 * Opens the spool: checks owner program and schema, migrates an older schema,
 * loads clock and counts, and quarantines a damaged file.  See spool.h.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/model/msg.h"
#include "submitter/spool/spool_private.h"

#define CACHE_KIB "-1024" /* of cached pages; a walk needs no more */
/* bytes; SQLite truncates the log to this size */
#define WAL_MAX "8388608"
/* of SQLite's virtual machine: a few milliseconds */
#define STEPS_PER_CALL 200000
#define BUSY_MS	       2000 /* the previous process may still be ending */
/* The header of an SQLite file: its size, and the positions of two numbers. */
#define HEADER	       100
#define HEADER_VERSION 60
#define HEADER_APP     68

void
spool_prepare(void)
{
	/* One thread, no statistics: both cost time in every call. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_initialize();
	spool_sum_prepare();
}

/*
 * The intake stays well below the limit, because changes of stored runs must be
 * written in a full spool. At the limit SQLite itself refuses writes.
 */
void
spool_set_limits(struct spool *sp, uint64_t max_bytes, int64_t keep)
{
	char text[64];

	sp->page = spool_number(sp, "PRAGMA page_size");
	sp->max_bytes = max_bytes;
	sp->keep = keep;
	if (sp->page > 0) {
		snprintf(text, sizeof(text), "PRAGMA max_page_count = %lld",
		    (long long)(max_bytes / (uint64_t)sp->page));
		sqlite3_exec(sp->db, text, NULL, NULL, NULL);
	}
}

static int
clusters_load(struct spool *sp)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_CLUSTER_ALL);
	struct spool_cluster *c;
	int rc = -1;

	if (st == NULL)
		return -1;
	while ((rc = spool_step(sp, st)) == 1 &&
	    sp->now.n_clusters < CLUSTERS_MAX) {
		c = &sp->now.clusters[sp->now.n_clusters++];
		c->id = sqlite3_column_int(st, 0);
		snprintf(c->name, sizeof(c->name), "%s",
		    (const char *)sqlite3_column_text(st, 1));
		c->cursor = sqlite3_column_int64(st, 2);
	}
	sqlite3_reset(st);
	return rc == -1 ? -1 : 0;
}

/* Counts the rows: another build has stored the numbers in another format. */
static int
state_count(struct spool *sp)
{
	sqlite3_stmt *st;
	int d, state, rc = -1;

	for (d = 0; d < DEST__COUNT; d++) {
		st = spool_stmt(sp, SQL_COUNT + d);
		while (st != NULL && (rc = spool_step(sp, st)) == 1) {
			state = sqlite3_column_int(st, 0);
			if (state < 0 || state >= RUN_STATE__COUNT)
				continue;
			sp->now.counts[d][state] = sqlite3_column_int64(st, 1);
			if (d == 0)
				sp->now.runs += sqlite3_column_int64(st, 1);
		}
		if (rc == -1)
			return -1;
	}
	return spool_resources_recount(sp);
}

static int
late_count(struct spool *sp)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_META_COUNT);

	if (st == NULL || spool_step(sp, st) != 1)
		return -1;
	sp->now.late = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return 0;
}

static int
state_load(struct spool *sp)
{
	struct spool_state state;
	size_t n;
	void *p = spool_value_get(sp, SPOOL_STATE, &n);
	int rc = 0;

	sp->opened = 1; /* 0 is DUE_NOW */
	if (p != NULL && n >= sizeof(int64_t)) {
		memcpy(&sp->opened, p, sizeof(int64_t));
		sp->opened++;
	}
	if (p != NULL && n == sizeof(state)) {
		memcpy(&state, p, sizeof(state));
		sp->now.runs = state.runs;
		sp->now.resources = state.resources;
		sp->now.resource_bytes = state.resource_bytes;
		memcpy(sp->now.counts, state.counts, sizeof(state.counts));
	} else
		rc = sp->broken ? -1 : state_count(sp);
	free(p);
	sp->boot = spool_boottime();
	return rc == 0 ? late_count(sp) : -1;
}

static uint32_t
header_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	    (uint32_t)p[2] << 8 | p[3];
}

/*
 * Detects a file of another program or of a newer version before its checksums
 * are checked.  Such a file is not changed.  Returns 1 with a reason, or 0.
 */
static int
is_foreign_file(const char *path, char *reason, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint8_t head[HEADER];
	const char *what = NULL;

	if (fd == -1)
		return 0;
	if (pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	    memcmp(head, "SQLite format 3", 16) == 0) {
		if (header_u32(head + HEADER_APP) != SPOOL_APPLICATION_ID &&
		    header_u32(head + HEADER_APP) != 0)
			what = "it is a database of another program";
		else if (header_u32(head + HEADER_VERSION) > SPOOL_SCHEMA)
			what = "it was written by a newer version of this "
			       "program";
	}
	close(fd);
	if (what != NULL)
		snprintf(reason, size, "%s: %s", path, what);
	return what != NULL;
}

/*
 * --- owner and version of the file ---
 *
 * A new file gets the schema, a file of an older version is migrated, all other
 * files are not changed.  Each step is done in full or not at all: after a kill
 * or on a full disk the next start continues with the version that is stored
 * there.
 */

/* Stores the error and returns -1: the next statement clears SQLite's code. */
static int
schema_failed(struct spool *sp)
{
	int code = sqlite3_errcode(sp->db);

	/* A duplicate row: the index does not match the table. */
	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB ||
	    code == SQLITE_CONSTRAINT)
		sp->damaged = 1;
	spool_error_note(sp, 0);
	return -1;
}

static int
schema_exec(struct spool *sp, const char *sql)
{
	return sqlite3_exec(sp->db, sql, NULL, NULL, NULL) == SQLITE_OK ?
	    0 :
	    schema_failed(sp);
}

static int
on_progress(void *arg)
{
	spool_alive();
	return 0;
}

/*
 * Makes space for checksums in the pages: VACUUM writes the file again in one
 * transaction, with temporary files in its directory, because the sandbox has
 * no other directory.  The new file is checkpointed before it is used.
 */
static int
sums_add(struct spool *sp)
{
	int rc;

	sqlite3_free(sqlite3_temp_directory);
	sqlite3_temp_directory = sqlite3_mprintf(".");
	sqlite3_progress_handler(sp->db, STEPS_PER_CALL, on_progress, NULL);
	rc = schema_exec(sp, "PRAGMA temp_store = FILE") == 0 &&
		schema_exec(sp, "VACUUM") == 0 &&
		schema_exec(sp, "PRAGMA wal_checkpoint(TRUNCATE)") == 0 &&
		schema_exec(sp, "PRAGMA temp_store = MEMORY") == 0 ?
	    0 :
	    -1;
	sqlite3_progress_handler(sp->db, 0, NULL, NULL);
	return rc;
}

static int
step_do(struct spool *sp, int64_t version)
{
	char set[64];

	if (version + 1 == VERSION_SUMS && !spool_sum_is_on(sp->db) &&
	    sums_add(sp) == -1)
		return -1;
	snprintf(set, sizeof(set), "PRAGMA user_version = %lld",
	    (long long)version + 1);
	if (schema_exec(sp, "BEGIN IMMEDIATE") == -1)
		return -1;
	if (schema_exec(sp, spool_steps[version - 1]) == -1 ||
	    schema_exec(sp, set) == -1 || schema_exec(sp, "COMMIT") == -1) {
		sqlite3_exec(sp->db, "ROLLBACK", NULL, NULL, NULL);
		return -1;
	}
	return 0;
}

/*
 * Writes the version from the log into the file's header: an older program
 * reads only the header, and refuses the file without opening the log.  A
 * failure is harmless, the next checkpoint writes it.
 */
static void
version_publish(struct spool *sp)
{
	sqlite3_exec(sp->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL,
	    NULL);
}

/*
 * In one transaction: a part of the schema would look like another program's
 * file.
 */
static int
schema_make(struct spool *sp)
{
	if (schema_exec(sp, "BEGIN IMMEDIATE") == 0 &&
	    schema_exec(sp, spool_schema) == 0 &&
	    schema_exec(sp, "COMMIT") == 0) {
		version_publish(sp);
		return 0;
	}
	sqlite3_exec(sp->db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
}

static const char *
bring_up(struct spool *sp, int64_t version)
{
	char why[sizeof(sp->error)];

	log_notice("%s is of version %lld: it is migrated to version %d",
	    sp->path, (long long)version, SPOOL_SCHEMA);
	for (; version < SPOOL_SCHEMA; version++) {
		if (step_do(sp, version) == 0)
			continue;
		memcpy(why, sp->error, sizeof(why));
		snprintf(sp->error, sizeof(sp->error),
		    "it cannot be migrated from version %lld (this needs as "
		    "much space as the file): %.120s",
		    (long long)version, why);
		return sp->error;
	}
	version_publish(sp);
	return NULL;
}

static const char *
schema_settle(struct spool *sp)
{
	int64_t app, version, tables;

	if (spool_ask(sp, "PRAGMA application_id", &app) == -1 ||
	    spool_ask(sp, "PRAGMA user_version", &version) == -1 ||
	    spool_ask(sp, "SELECT count(*) FROM sqlite_master", &tables) ==
		-1) {
		schema_failed(sp);
		return sp->error;
	}
	if (app == 0 && version == 0 && tables == 0)
		return schema_make(sp) == 0 ? NULL : sp->error;
	if (app != SPOOL_APPLICATION_ID)
		return "it is a database of another program";
	if (version > SPOOL_SCHEMA)
		return "it was written by a newer version of this program";
	if (version < 1)
		return "it was written by a version that was never released";
	if (version >= VERSION_SUMS && !spool_sum_is_on(sp->db)) {
		sp->damaged = 1;
		return "its header says that the pages have no checksums";
	}
	return version < SPOOL_SCHEMA ? bring_up(sp, version) : NULL;
}

static const char *
file_setup(struct spool *sp)
{
	static const char *const pragmas[] = {
		"PRAGMA locking_mode = EXCLUSIVE",
		/*
		 * As FULL, and the first journal is deleted durably: it would
		 * undo everything if it came back after a power failure.
		 */
		"PRAGMA synchronous = EXTRA",
		"PRAGMA journal_mode = WAL",
		"PRAGMA temp_store = MEMORY",
		"PRAGMA cache_size = " CACHE_KIB,
		"PRAGMA journal_size_limit = " WAL_MAX,
	};
	size_t i;

	sqlite3_busy_timeout(sp->db, BUSY_MS);
	spool_sum_reserve(sp->db);
	for (i = 0; i < sizeof(pragmas) / sizeof(pragmas[0]); i++)
		if (sqlite3_exec(sp->db, pragmas[i], NULL, NULL, NULL) !=
		    SQLITE_OK)
			return sqlite3_errmsg(sp->db);
	return schema_settle(sp);
}

/*
 * SQLite's CANTOPEN has many reasons, and the errno of its last attempt, which
 * creates no file.  1 when no file can be created for want of an inode.
 */
static int
lacks_inode(const char *path)
{
	char name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "%s-probe", path);
	fd = open(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return errno == ENOSPC || errno == EDQUOT;
	close(fd);
	unlink(name);
	return 0;
}

static struct spool *
try_open(const char *path, int *damaged, char *reason, size_t size)
{
	struct spool *sp = calloc(1, sizeof(*sp));
	const char *wrong = "out of memory";
	int d, is_full = 0;

	*damaged = 0;
	if (sp == NULL || (sp->path = strdup(path)) == NULL)
		goto fail;
	wr_init(&sp->record, MSG_PAYLOAD_MAX);
	wrong = "cannot be opened";
	if (sqlite3_open_v2(path, &sp->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
		SPOOL_VFS) != SQLITE_OK) {
		if (sp->db != NULL)
			wrong = sqlite3_errmsg(sp->db);
		goto fail;
	}
	wrong = file_setup(sp);
	if (wrong != NULL)
		goto fail;
	wrong = sp->error;
	if (clusters_load(sp) == -1 || state_load(sp) == -1 ||
	    spool_low_water_load(sp) == -1)
		goto fail;
	for (d = 0; d < DEST__COUNT; d++)
		if (spool_unlease(sp, (enum dest)d) == -1)
			goto fail;
	if (spool_commit(sp) == -1)
		goto fail;
	sp->durable = sp->now;
	return sp;
fail:
	snprintf(reason, size, "%s: %s", path, wrong);
	if (sp != NULL && sp->db != NULL) {
		d = sqlite3_errcode(sp->db);
		*damaged = sp->damaged || d == SQLITE_CORRUPT ||
		    d == SQLITE_NOTADB;
		is_full = sp->no_space || d == SQLITE_FULL;
		if (d == SQLITE_CANTOPEN && lacks_inode(path)) {
			is_full = 1;
			snprintf(reason, size,
			    "%s: its file system has no free inode", path);
		}
	}
	spool_close(sp);
	errno = is_full ? ENOSPC : 0;
	return NULL;
}

/*
 * An earlier version made files that all could read; the directory denies it.
 * The filter of the submitter has no chmod(2), which Landlock would not deny for
 * other files.  Before SQLite opens them: close(2) drops the locks of a file.
 */
static void
modes_restrict(const char *path)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	char name[PATH_MAX];
	size_t i;
	int fd;

	for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, tails[i]);
		fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd == -1 && errno == ENOENT)
			continue;
		if (fd == -1 || fchmod(fd, 0600) == -1)
			log_warn("cannot set the mode of %s", name);
		if (fd != -1)
			close(fd);
	}
}

/* After the recovery: a run of a damaged file may block another one. */
static void
blocked_release(struct spool *sp)
{
	if (spool_unblock(sp) == 0 && spool_commit(sp) == 0)
		return;
	log_warnx("runs that wait for no other run are not released: %s; the "
		  "next start of the daemon releases them",
	    sp->error);
	spool_rollback(sp);
}

struct spool *
spool_open(const char *path, uint64_t max_bytes, int64_t keep, char *reason,
    size_t size)
{
	struct spool *sp;
	mode_t old_mask;
	int damaged;

	if (is_foreign_file(path, reason, size)) {
		errno = 0;
		return NULL;
	}
	modes_restrict(path);
	old_mask = umask(077);
	sp = try_open(path, &damaged, reason, size);
	if (sp == NULL && damaged) {
		spool_quarantine_file(path, reason);
		sp = try_open(path, &damaged, reason, size);
	}
	umask(old_mask);
	if (sp != NULL) {
		spool_set_limits(sp, max_bytes, keep);
		reason[0] = '\0';
		if (spool_recover(sp) == 0) {
			blocked_release(sp);
			errno = 0;
		} else
			errno = spool_no_space(sp) ? ENOSPC : 0;
	}
	return sp;
}

/* NULL, or why the rows cannot be read. */
static const char *
read_setup(struct spool *sp, int64_t *version)
{
	int64_t app;

	sqlite3_db_config(sp->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (sqlite3_exec(sp->db,
		"PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; "
		"PRAGMA cache_size = " CACHE_KIB,
		NULL, NULL, NULL) != SQLITE_OK ||
	    spool_ask(sp, "PRAGMA application_id", &app) == -1 ||
	    spool_ask(sp, "PRAGMA user_version", version) == -1)
		return sqlite3_errmsg(sp->db);
	if (app != SPOOL_APPLICATION_ID || *version < 1)
		return "it is no spool";
	if (*version >= VERSION_SUMS && !spool_sum_is_on(sp->db))
		return "its header says that the pages have no checksums";
	sp->page = spool_number(sp, "PRAGMA page_size");
	sp->boot = spool_boottime();
	return *version == SPOOL_SCHEMA && clusters_load(sp) == -1 ? sp->error :
								     NULL;
}

struct spool *
spool_open_read(const char *path, int64_t *version, char *reason, size_t size)
{
	struct spool *sp;
	const char *wrong = "out of memory";

	if (is_foreign_file(path, reason, size))
		return NULL;
	sp = calloc(1, sizeof(*sp));
	if (sp == NULL || (sp->path = strdup(path)) == NULL)
		goto fail;
	sp->read_only = 1;
	wr_init(&sp->record, MSG_PAYLOAD_MAX);
	wrong = "cannot be opened";
	if (sqlite3_open_v2(path, &sp->db, SQLITE_OPEN_READONLY, SPOOL_VFS) !=
	    SQLITE_OK) {
		if (sp->db != NULL)
			wrong = sqlite3_errmsg(sp->db);
		goto fail;
	}
	wrong = read_setup(sp, version);
	if (wrong == NULL)
		return sp;
fail:
	snprintf(reason, size, "%s: %s", path, wrong);
	spool_close(sp);
	return NULL;
}

void
spool_close(struct spool *sp)
{
	size_t i;

	if (sp == NULL)
		return;
	if (sp->db != NULL && spool_dirty(sp) && spool_commit(sp) == -1)
		spool_rollback(sp);
	for (i = 0; i < SQL__COUNT; i++)
		sqlite3_finalize(sp->stmts[i]);
	sqlite3_close_v2(sp->db);
	wr_clear(&sp->record);
	free(sp->path);
	free(sp);
}
