/* SPDX-License-Identifier: MIT */
/*
 * A damaged spool: bytes of a good file are replaced (offset and bytes, over
 * and over), or the input is the file.  What comes out of it keeps its
 * bounds, and there is a spool that works, damaged or anew.  Where the header
 * still says that the pages have checksums, no row reads as one that never
 * was written.
 *
 * Damage found in use ends the process, which starts again: the linker puts
 * a jump in the place of that end, and what it leaves open is closed here.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <unistd.h>

#include <sanitizer/lsan_interface.h>
#include <sqlite3.h>

#include "submitter/spool/spool.h"
#include "tests/fuzz/fuzz.h"

#define MAX_BYTES (64u * 1024 * 1024)
#define KEEP	  (8 * 86400)
#define GOOD_MAX  (256u * 1024)
#define RUNS	  12
#define HEADER	  100  /* bytes of an SQLite file's first page */
#define LATE	  1000 /* the run that comes after the damage */
#define RESOURCES 2000 /* a run of which the spool has the resources alone */

static char dir[] = "/dev/shm/csa-fuzz-spool.XXXXXX";
static char path[sizeof(dir) + 16];
static uint8_t good[GOOD_MAX];
static size_t good_len;
static int checked; /* by its checksums: the header is as it was */

static jmp_buf restart;
static int may_restart;
static sqlite3 *handle;

/* The linker's names for what it puts in between (--wrap). */
void __wrap_fatalx(const char *fmt, ...) __attribute__((noreturn));
int __real_sqlite3_open_v2(const char *name, sqlite3 **db, int flags,
    const char *vfs);
int __wrap_sqlite3_open_v2(const char *name, sqlite3 **db, int flags,
    const char *vfs);

void
__wrap_fatalx(const char *fmt, ...)
{
	HOLDS(may_restart);
	longjmp(restart, 1);
}

int
__wrap_sqlite3_open_v2(const char *name, sqlite3 **db, int flags,
    const char *vfs)
{
	int rc = __real_sqlite3_open_v2(name, db, flags, vfs);

	/* A wreck is opened and closed while the new file is being made. */
	if (strstr(name, ".wreck") == NULL)
		handle = *db;
	return rc;
}

/* As the end of the process would. */
static void
handle_close(void)
{
	sqlite3_stmt *st;

	while ((st = sqlite3_next_stmt(handle, NULL)) != NULL)
		sqlite3_finalize(st);
	HOLDS(sqlite3_close(handle) == SQLITE_OK);
}

static void
dir_empty(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL)
		if (*e->d_name != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d != NULL)
		closedir(d);
}

static void
dir_remove(void)
{
	dir_empty();
	rmdir(dir);
}

static struct spool *
file_open(char *reason, size_t size)
{
	struct spool *sp = spool_open(path, MAX_BYTES, KEEP, reason, size);

	if (sp != NULL) {
		spool_policy(sp)->to[DEST_REST] = 1;
		spool_policy(sp)->to[DEST_NATS] = 1;
	}
	return sp;
}

static void
job_make(struct job *job, uint64_t id, int ended)
{
	struct job_host *host;

	job_init(job);
	strcpy(job->key.cluster, "alpha");
	job->key.job = id;
	job->key.start = 1700000000 + (int64_t)id;
	job->flags = JOB_HAS_START | JOB_HAS_THREADS | JOB_LIVE;
	job->user = exact_string("alice", 5);
	job->name = exact_string("train", 5);
	host = job_add_host(job, "n1");
	HOLDS(host != NULL && job_host_add_cpus(host, 0, 3) == 0 &&
	    job_host_add_accel(host, "00000000:0A:00.0") == 0);
	if (ended) {
		job->end = job->key.start + 60;
		job->state = END_COMPLETED;
		job->flags &= ~JOB_LIVE;
	}
}

static enum spool_put
run_put(struct spool *sp, uint64_t id, int ended, int64_t *row)
{
	enum spool_put put;
	struct job job;

	job_make(&job, id, ended);
	put = spool_put(sp, &job, row);
	job_clear(&job);
	return put;
}

/* What the other tables have. */
static void
others_put(struct spool *sp)
{
	const struct spool_stream at = { 7, 5 };
	struct job job;

	job_make(&job, RESOURCES, 0);
	HOLDS(spool_resources_put(sp, &job) == PUT_NEW);
	HOLDS(spool_meta_add(sp, &job.key, "reason", "None", 0) == 1);
	job_clear(&job);
	HOLDS(spool_stream_set(sp, "alpha", &at) == 0);
}

/* A spool in every phase that it can have by records alone. */
static void
setup(void)
{
	struct spool_run run;
	struct spool *sp;
	char reason[256];
	int64_t row;
	uint64_t i;
	ssize_t n;
	int fd;

	spool_prepare();
	HOLDS(mkdtemp(dir) != NULL);
	atexit(dir_remove);
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	sp = file_open(reason, sizeof(reason));
	HOLDS(sp != NULL);
	for (i = 1; i <= RUNS; i++) {
		HOLDS(run_put(sp, i, i % 3 == 0, &row) == PUT_NEW);
		HOLDS(spool_get(sp, row, &run) == 1);
		if (i % 4 == 0)
			HOLDS(spool_finish(sp, &run) == 0);
	}
	HOLDS(spool_watermark(sp, "alpha", 1700000100) == 0);
	others_put(sp);
	HOLDS(spool_commit(sp) == 0);
	spool_close(sp);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, good, sizeof(good));
	HOLDS(n > 0 && (size_t)n < sizeof(good));
	good_len = (size_t)n;
	close(fd);
}

/* 24 bits of offset, a length, the bytes; over and over. */
static void
damage(uint8_t *file, const uint8_t *p, size_t n)
{
	size_t at, len;

	while (n > 4) {
		at = ((size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2]) % good_len;
		len = 1 + p[3] % 16;
		p += 4;
		n -= 4;
		checked = checked && at >= HEADER;
		for (; len > 0 && n > 0 && at < good_len; len--, n--)
			file[at++] = *p++;
	}
}

static void
file_write(const uint8_t *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	HOLDS(fd != -1 && write(fd, p, n) == (ssize_t)n);
	close(fd);
}

static int
on_run(struct spool *sp, struct spool_run *run, void *arg)
{
	unsigned *seen = arg;
	struct job job;
	int d;

	HOLDS(memchr(run->key.cluster, '\0', CLUSTER_MAX) != NULL);
	HOLDS(memchr(run->reason, '\0', sizeof(run->reason)) != NULL);
	for (d = 0; d < DEST__COUNT; d++)
		HOLDS((unsigned)run->state[d] < RUN_STATE__COUNT);
	if (checked)
		HOLDS(((run->key.job >= 1 && run->key.job <= RUNS) ||
			  run->key.job == LATE) &&
		    run->key.start == 1700000000 + (int64_t)run->key.job &&
		    run->end ==
			(run->key.job % 3 == 0 ? run->key.start + 60 : 0) &&
		    strcmp(run->key.cluster, "alpha") == 0);
	job_init(&job);
	spool_record(sp, run->id, &job);
	job_clear(&job);
	/* As the relay would: it is under way. */
	run->due[DEST_REST] = DUE_LEASED;
	snprintf(run->reason, sizeof(run->reason), "seen");
	spool_save(sp, run);
	return ++*seen > 1000 ? -1 : 0;
}

static int
on_seen(struct spool *sp, struct spool_run *run, void *arg)
{
	unsigned *seen = arg;

	return ++*seen > 1000 ? -1 : 0;
}

/* A walk by the index of a state ends, too. */
static void
state_walk(struct spool *sp, enum run_state state)
{
	struct spool_after after;
	unsigned i = 0, seen = 0;

	memset(&after, 0, sizeof(after));
	while (spool_each(sp, DEST_NATS, state, &after, SPOOL_PAGE, on_seen,
		   &seen) > 0)
		HOLDS(++i < 16);
	memset(&after, 0, sizeof(after));
	while (spool_each_of(sp, "alpha", state, &after, SPOOL_PAGE, on_seen,
		   &seen) > 0)
		HOLDS(++i < 16);
}

static void
spool_walk(struct spool *sp)
{
	struct spool_after after;
	struct run_key name;
	int64_t ids[16], cursor;
	unsigned i, seen = 0;
	int n, state;

	memset(&after, 0, sizeof(after));
	for (i = 0;; i++) {
		HOLDS(i < 16); /* the walk ends */
		n = spool_each(sp, DEST_REST, RUN_STATE__COUNT, &after,
		    SPOOL_PAGE, on_run, &seen);
		HOLDS(n >= -1 && n <= SPOOL_PAGE);
		if (n <= 0)
			break;
	}
	for (state = 0; state < RUN_STATE__COUNT; state++) {
		state_walk(sp, (enum run_state)state);
		n = spool_pick(sp, DEST_REST, (enum run_state)state, ORDER_DUE,
		    ids, 16);
		HOLDS(n >= -1 && n <= 16);
		spool_next_due(sp, DEST_NATS, (enum run_state)state);
	}
	for (i = 0; spool_cluster(sp, i, &name, &cursor) == 1; i++)
		HOLDS(i < 100000 &&
		    memchr(name.cluster, '\0', CLUSTER_MAX) != NULL);
}

/* Each run ends: its damaged row, resources and updates are used. */
static void
runs_end(struct spool *sp)
{
	struct spool_stream at;
	struct spool_meta late;
	int64_t row;
	uint64_t i;

	for (i = 1; i <= RUNS; i++)
		(void)run_put(sp, i, 1, &row);
	(void)run_put(sp, RESOURCES, 1, &row);
	if (spool_meta_next(sp, &late) == 1) {
		(void)spool_meta_drop(sp, late.id);
		spool_meta_clear(&late);
	}
	(void)spool_stream(sp, "alpha", &at);
	if (spool_commit(sp) == -1)
		spool_rollback(sp);
}

static void
spool_holds(void)
{
	char reason[512] = "", text[256];
	struct spool *sp = file_open(reason, sizeof(reason));
	struct spool_run run;
	enum spool_put put;
	int64_t row = 0;

	if (sp == NULL) {
		/* Another program's or a newer version's: said, not touched. */
		HOLDS(*reason != '\0');
		return;
	}
	spool_walk(sp);
	put = run_put(sp, LATE, 0, &row);
	if (put == PUT_NEW && spool_commit(sp) == 0 &&
	    spool_get(sp, row, &run) == 1)
		HOLDS(
		    run.key.job == LATE && run.key.start == 1700000000 + LATE);
	else
		spool_rollback(sp);
	runs_end(sp);
	spool_check(sp, text, sizeof(text));
	spool_close(sp);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static uint8_t file[GOOD_MAX];

	volatile int starts = 0;

	fuzz_quiet();
	if (good_len == 0)
		setup();
	dir_empty();
	checked = 0;
	if (n > 16 && memcmp(bytes, "SQLite format 3", 15) == 0)
		file_write(bytes, n);
	else {
		checked = 1;
		memcpy(file, good, good_len);
		damage(file, bytes, n);
		file_write(file, good_len);
	}
	/* LeakSanitizer ignores the memory that such an end leaves. */
	__lsan_disable();
	may_restart = 1;
	if (setjmp(restart) != 0) {
		handle_close();
		/* The damaged file is set aside: the next one is good. */
		HOLDS(++starts == 1);
	}
	spool_holds();
	may_restart = 0;
	__lsan_enable();
	return 0;
}
