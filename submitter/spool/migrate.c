/* SPDX-License-Identifier: MIT */
/*
 * Whose file is it, and of which version?  A new one gets the schema, one of
 * an older version of this program is brought up to date, and all others are
 * left alone.  Each step is whole or not done: after a kill or a full disk
 * in the middle the next start goes on from the version that is written there.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "submitter/spool/spool_private.h"

#define STEPS_PER_CALL	200000	/* of SQLite's machine: a few milliseconds */

/* 0, or -1: what was wrong is kept, for the next statement makes it forget. */
static int
failed(struct spool *sp)
{
	int code = sqlite3_errcode(sp->db);
	int64_t page = spool_sum_bad();

	/* A row twice: its index does not tell what the table holds. */
	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB ||
	    code == SQLITE_CONSTRAINT)
		sp->damaged = 1;
	if (page != 0)
		snprintf(sp->error, sizeof(sp->error), "page %lld is not what "
		    "was written (its checksum differs)", (long long)page);
	else
		snprintf(sp->error, sizeof(sp->error), "%s",
		    sqlite3_errmsg(sp->db));
	return -1;
}

static int
exec(struct spool *sp, const char *sql)
{
	return sqlite3_exec(sp->db, sql, NULL, NULL, NULL) == SQLITE_OK ?
	    0 : failed(sp);
}

static int
on_progress(void *arg)
{
	(void)arg;
	spool_alive();
	return 0;
}

/*
 * Pages get room for checksums: the file is written anew, in one transaction,
 * through files beside it, for there may be no other place for them here.  It
 * is in place, not in the log, before anything may rely on it.
 */
static int
sums_add(struct spool *sp)
{
	int rc;

	sqlite3_free(sqlite3_temp_directory);
	sqlite3_temp_directory = sqlite3_mprintf(".");
	sqlite3_progress_handler(sp->db, STEPS_PER_CALL, on_progress, NULL);
	rc = exec(sp, "PRAGMA temp_store = FILE") == 0 &&
	    exec(sp, "VACUUM") == 0 &&
	    exec(sp, "PRAGMA wal_checkpoint(TRUNCATE)") == 0 &&
	    exec(sp, "PRAGMA temp_store = MEMORY") == 0 ? 0 : -1;
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
	if (exec(sp, "BEGIN IMMEDIATE") == -1)
		return -1;
	if (exec(sp, spool_steps[version - 1]) == -1 ||
	    exec(sp, set) == -1 || exec(sp, "COMMIT") == -1) {
		sqlite3_exec(sp->db, "ROLLBACK", NULL, NULL, NULL);
		return -1;
	}
	return 0;
}

/* All of it or nothing: half of it would be a stranger's file. */
static int
schema_make(struct spool *sp)
{
	if (exec(sp, "BEGIN IMMEDIATE") == 0 && exec(sp, spool_schema) == 0 &&
	    exec(sp, "COMMIT") == 0)
		return 0;
	sqlite3_exec(sp->db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
}

static const char *
bring_up(struct spool *sp, int64_t version)
{
	char why[sizeof(sp->error)];

	log_notice("%s is of version %lld: it is brought up to version %d",
	    sp->path, (long long)version, SPOOL_SCHEMA);
	for (; version < SPOOL_SCHEMA; version++) {
		if (step_do(sp, version) == 0)
			continue;
		memcpy(why, sp->error, sizeof(why));
		snprintf(sp->error, sizeof(sp->error), "it cannot be brought up "
		    "from version %lld (which takes as much room again as the "
		    "file has): %.120s", (long long)version, why);
		return sp->error;
	}
	return NULL;
}

const char *
spool_settle(struct spool *sp)
{
	int64_t app, version, tables;

	if (spool_ask(sp, "PRAGMA application_id", &app) == -1 ||
	    spool_ask(sp, "PRAGMA user_version", &version) == -1 ||
	    spool_ask(sp, "SELECT count(*) FROM sqlite_master", &tables) ==
	    -1) {
		failed(sp);
		return sp->error;
	}
	if (app == 0 && version == 0 && tables == 0)
		return schema_make(sp) == 0 ? NULL : sp->error;
	if (app != SPOOL_APPLICATION_ID)
		return "it is a database of another program";
	if (version > SPOOL_SCHEMA)
		return "it was written by a newer version of this program";
	if (version < 1)
		return "it was written by a version that never was released";
	if (version >= VERSION_SUMS && !spool_sum_is_on(sp->db)) {
		sp->damaged = 1;
		return "its first page says that there are no checksums";
	}
	return version < SPOOL_SCHEMA ? bring_up(sp, version) : NULL;
}
