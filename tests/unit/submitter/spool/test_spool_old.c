/* SPDX-License-Identifier: MIT */
/*
 * The spool's file itself: one of each earlier version is brought up to
 * today's, also after a kill in the middle; a page that is not what was
 * written is found at the first read.  tests/data/spool/N.sql is what the
 * program of version N left behind.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "submitter/spool/spool_private.h"
#include "tests/unit/check.h"

#define WEEK	604800
#define PAGE	4096
#define SQL_MAX 65536

static char dir[] = "/tmp/test_spool_old.XXXXXX";
static char path[64];

static void
file_remove(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -f %s/*", dir);
	CHECK_INT(system(cmd), 0);
}

/*
 * A file as version n left it: before the checksums, made by the system's
 * SQLite alone.
 */
static void
old_make(int n)
{
	static char sql[SQL_MAX];
	const char *top = getenv("srcdir");
	char name[256];
	size_t len = 0;
	sqlite3 *db;
	FILE *f;

	snprintf(name, sizeof(name), "%s/tests/data/spool/%d.sql",
	    top != NULL ? top : ".", n);
	f = fopen(name, "r");
	CHECK(f != NULL);
	if (f != NULL) {
		len = fread(sql, 1, sizeof(sql) - 1, f);
		fclose(f);
	}
	CHECK(len > 1000 && len < sizeof(sql) - 1);
	sql[len] = '\0';
	CHECK_INT(sqlite3_open_v2(path, &db,
		      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
		      n >= VERSION_SUMS ? SPOOL_VFS : "unix"),
	    SQLITE_OK);
	if (n >= VERSION_SUMS) {
		spool_sum_reserve(db);
		CHECK_INT(sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE",
			      NULL, NULL, NULL),
		    SQLITE_OK);
	}
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

static struct spool *
begin(void)
{
	char reason[256] = "";
	struct spool *sp = spool_open(path, 64 << 20, WEEK, reason,
	    sizeof(reason));

	CHECK_STR(reason, "");
	if (sp == NULL)
		exit(1);
	spool_policy(sp)->to[DEST_REST] = spool_policy(sp)->to[DEST_NATS] = 1;
	return sp;
}

/* All tables and indices, as one text. */
static void
schema_of(struct spool *sp, char *text, size_t size)
{
	sqlite3_stmt *st = NULL;

	CHECK_INT(sqlite3_prepare_v2(sp->db,
		      "SELECT group_concat(sql, ';')"
		      " FROM (SELECT sql FROM sqlite_master WHERE sql NOT NULL"
		      " ORDER BY name)",
		      -1, &st, NULL),
	    SQLITE_OK);
	CHECK_INT(sqlite3_step(st), SQLITE_ROW);
	snprintf(text, size, "%s", (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
}

static void
row_is(struct spool *sp, uint64_t job, int64_t start, enum run_state rest,
    enum run_state nats, unsigned flags)
{
	struct run_key key = { "alpha", job, start };
	struct spool_run run;

	if (job == 7)
		memcpy(key.cluster, "beta", 5);
	CHECK_INT(spool_find(sp, &key, &run), 1);
	CHECK_INT(run.state[DEST_REST], rest);
	CHECK_INT(run.state[DEST_NATS], nats);
	/* A start that was sent had no tags: its run gets none. */
	CHECK_INT(run.flags,
	    flags & RUN_KEY_FIXED ? flags | RUN_REST_STARTED : flags);
}

static void
rows_are(struct spool *sp)
{
	struct run_key key = { "alpha", 6, 1700000006 };
	struct job job;
	int64_t cursor;

	CHECK_INT(spool_runs(sp), 9);
	row_is(sp, 1, 1700000001, START_DUE, START_DUE, 0);
	row_is(sp, 2, 1700000002, START_COMMITTED, STARTED, RUN_KEY_FIXED);
	row_is(sp, 3, 1700000003, STOP_BLOCKED, STOP_DUE, RUN_KEY_FIXED);
	row_is(sp, 4, 1700000004, START_REJECTED, RUN_DONE, RUN_KEY_FIXED);
	row_is(sp, 5, 1700000005, START_DUE_ENDED, START_DUE_ENDED, 0);
	row_is(sp, 5, 1700000105, START_BLOCKED, START_BLOCKED, 0);
	row_is(sp, 7, 1700000007, START_DUE, START_DUE, 0);
	row_is(sp, 90, 1700000900, START_COMMITTED, RUN_NONE,
	    RUN_KEY_FIXED | RUN_FROM_BACKEND);
	row_is(sp, 91, 1700000900, START_REJECTED, RUN_NONE, RUN_QUARANTINED);
	CHECK(spool_is_done(sp, &key));
	CHECK_INT(spool_cluster(sp, 1, &key, &cursor), 1);
	CHECK_STR(key.cluster, "beta");
	CHECK_INT(cursor, 1700000888);
	job_init(&job);
	CHECK_INT(spool_record(sp, 3, &job), 0);
	CHECK_INT(job.end, 1700000063);
	CHECK_INT(job.n_hosts, 2);
	CHECK_STR(job.n_hosts == 2 ? job.hosts[0].accels[0] : NULL,
	    "00000000:C1:00.0");
	job_clear(&job);
}

/* The version in the header of the file, without the log beside it. */
static unsigned
header_version(void)
{
	uint8_t b[4] = { 0 };
	int fd = open(path, O_RDONLY);

	CHECK_INT(pread(fd, b, sizeof(b), 60), sizeof(b));
	close(fd);
	return (unsigned)b[0] << 24 | (unsigned)b[1] << 16 |
	    (unsigned)b[2] << 8 | b[3];
}

/* The resource record of version 3 goes into the record of its run. */
static void
resources_are(struct spool *sp)
{
	struct job job;
	int64_t row;

	CHECK_INT(spool_resources_count(sp), 1);
	job_init(&job);
	memcpy(job.key.cluster, "alpha", 6);
	job.key.job = 10;
	job.key.start = 1700000010;
	job.flags = JOB_HAS_START;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	CHECK_INT(spool_record(sp, row, &job), 0);
	CHECK_INT(job.n_hosts, 1);
	CHECK_STR(job.n_hosts == 1 ? job.hosts[0].accels[0] : NULL,
	    "00000000:C1:00.0");
	CHECK_INT(job.n_hosts == 1 ? job.hosts[0].cpus[0].last : 0, 5);
	job_clear(&job);
}

static void
test_migration(int n)
{
	static char fresh[8192], text[8192];
	struct spool *sp = begin();
	struct job job;
	int64_t row;

	CHECK_INT(header_version(), SPOOL_SCHEMA);
	schema_of(sp, fresh, sizeof(fresh));
	spool_close(sp);
	file_remove();
	old_make(n);
	sp = begin();
	CHECK_INT(spool_number(sp, "PRAGMA user_version"), SPOOL_SCHEMA);
	/* An older program refuses the file by its header. */
	CHECK_INT(header_version(), SPOOL_SCHEMA);
	CHECK(spool_sum_is_on(sp->db));
	schema_of(sp, text, sizeof(text));
	CHECK_STR(text, fresh);
	rows_are(sp);
	CHECK_INT(spool_meta_count(sp), n >= 2 ? 2 : 0);
	job_init(&job);
	memcpy(job.key.cluster, "alpha", 6);
	job.key.job = 8;
	job.key.start = 1700000008;
	job.flags = JOB_HAS_START;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	sp = begin();
	CHECK_INT(spool_runs(sp), 10);
	if (n >= VERSION_SUMS)
		resources_are(sp);
	spool_close(sp);
	file_remove();
}

/* Killed when the file was written anew, but is not yet said to be. */
static void
test_halfway(int n)
{
	struct spool *sp;
	sqlite3 *db;

	old_make(n);
	CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, SPOOL_VFS),
	    SQLITE_OK);
	spool_sum_reserve(db);
	CHECK_INT(sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; VACUUM",
		      NULL, NULL, NULL),
	    SQLITE_OK);
	CHECK_INT(sqlite3_close(db), SQLITE_OK);
	sp = begin();
	CHECK(spool_sum_is_on(sp->db));
	rows_are(sp);
	spool_close(sp);
	file_remove();
}

/* An old file has no checksums: what SQLite itself finds out must do. */
static void
test_old_and_damaged(void)
{
	char junk[PAGE];
	struct spool *sp;
	int fd;

	old_make(1);
	memset(junk, 0x5a, sizeof(junk));
	fd = open(path, O_WRONLY);
	CHECK_INT(pwrite(fd, junk, sizeof(junk), 3 * PAGE), PAGE);
	close(fd);
	sp = begin();
	CHECK_INT(spool_number(sp, "PRAGMA user_version"), SPOOL_SCHEMA);
	CHECK(spool_sum_is_on(sp->db));
	spool_close(sp);
	file_remove();
}

/* Every row of every table, through the layer: 0 when all could be read. */
static int
all_read(void)
{
	static const char *const sqls[] = {
		"PRAGMA user_version",
		"SELECT sum(length(bytes)) FROM record",
		"SELECT max(reason) FROM run NOT INDEXED",
		"SELECT sum(job) FROM run INDEXED BY run_key",
		"SELECT sum(rdue) FROM run INDEXED BY run_rest"
		" WHERE rphase > 0",
		"SELECT sum(ndue) FROM run INDEXED BY run_nats"
		" WHERE nphase > 0",
		"SELECT sum(lasted) FROM tomb",
		"SELECT max(value) FROM meta",
		"SELECT max(cursor) FROM cluster NOT INDEXED",
		"SELECT max(name) FROM cluster",
		"SELECT max(value) FROM late NOT INDEXED",
		"SELECT max(field) FROM late INDEXED BY late_key",
		"SELECT max(due) FROM late INDEXED BY late_due",
		"SELECT max(job) FROM stub",
	};
	int bad = 0;
	sqlite3 *db;
	size_t i;

	CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, SPOOL_VFS),
	    SQLITE_OK);
	if (sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL,
		NULL) != SQLITE_OK)
		bad = 1;
	for (i = 0; i < sizeof(sqls) / sizeof(sqls[0]); i++)
		if (sqlite3_exec(db, sqls[i], NULL, NULL, NULL) != SQLITE_OK)
			bad = 1;
	sqlite3_close(db);
	return bad;
}

/* One bit of each page in use, and two pages that changed places. */
static void
test_bits(void)
{
	uint8_t page[PAGE], other[PAGE];
	struct spool *sp;
	long at, pages;
	int fd;

	old_make(1);
	spool_close(begin());
	CHECK_INT(all_read(), 0);
	fd = open(path, O_RDWR);
	pages = lseek(fd, 0, SEEK_END) / PAGE;
	CHECK(pages > 10);
	for (at = 0; at < pages; at++) {
		CHECK_INT(pread(fd, page, PAGE, at * PAGE), PAGE);
		page[200 + 300 * at % 3000] ^= 0x10;
		CHECK_INT(pwrite(fd, page, PAGE, at * PAGE), PAGE);
		CHECK_INT(all_read(), 1);
		CHECK(spool_sum_bad() == at + 1);
		page[200 + 300 * at % 3000] ^= 0x10;
		CHECK_INT(pwrite(fd, page, PAGE, at * PAGE), PAGE);
	}
	CHECK_INT(all_read(), 0);
	CHECK_INT(pread(fd, page, PAGE, 3 * PAGE), PAGE);
	CHECK_INT(pread(fd, other, PAGE, 4 * PAGE), PAGE);
	CHECK_INT(pwrite(fd, page, PAGE, 4 * PAGE), PAGE);
	CHECK_INT(pwrite(fd, other, PAGE, 3 * PAGE), PAGE);
	CHECK_INT(all_read(), 1);
	CHECK_INT(pwrite(fd, page, PAGE, 3 * PAGE), PAGE);
	CHECK_INT(pwrite(fd, other, PAGE, 4 * PAGE), PAGE);
	CHECK_INT(all_read(), 0);
	close(fd);
	/* And it is whole for the next one, with all that was in it. */
	sp = begin();
	rows_are(sp);
	spool_close(sp);
	file_remove();
}

int
main(void)
{
	int n;

	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	spool_prepare();
	for (n = 1; n < SPOOL_SCHEMA; n++) {
		test_migration(n);
		test_halfway(n);
	}
	test_old_and_damaged();
	test_bits();
	rmdir(dir);
	return check_done();
}
