/* SPDX-License-Identifier: MIT */
/* The spool: rows through their phases, merging, order, restarts, damage. */
#include "config.h"

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/model/msg.h"
#include "common/worker/inflight.h"
#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"

#define WEEK 604800

static char dir[] = "/tmp/test_spool.XXXXXX";
static char path[64];

static struct spool *
spool_begin_test(int rest, int nats)
{
	char reason[256] = "";
	struct spool *sp = spool_open(path, 64 << 20, WEEK, reason,
	    sizeof(reason));

	CHECK_STR(reason, "");
	CHECK(sp != NULL);
	if (sp == NULL)
		exit(1);
	spool_policy(sp)->to[DEST_REST] = rest;
	spool_policy(sp)->to[DEST_NATS] = nats;
	spool_policy(sp)->wait_commit = 1;
	spool_policy(sp)->more_wait = 5000;
	return sp;
}

static void
file_remove(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -f %s/*", dir);
	CHECK_INT(system(cmd), 0);
}

static unsigned
mode_of(const char *tail)
{
	char name[80];
	struct stat st;

	snprintf(name, sizeof(name), "%s%s", path, tail);
	return stat(name, &st) == 0 ? (unsigned)st.st_mode & 07777 : 0;
}

/* Only the submitter reads the file, also one of an earlier version. */
static void
test_modes(void)
{
	struct spool *sp = spool_begin_test(1, 0);

	CHECK_INT(mode_of(""), 0600);
	spool_close(sp);
	CHECK_INT(chmod(path, 0644), 0);
	sp = spool_begin_test(1, 0);
	CHECK_INT(mode_of(""), 0600);
	spool_watermark(sp, "alpha", 1);
	CHECK_INT(spool_commit(sp), 0);
	CHECK_INT(mode_of("-wal"), 0600);
	spool_close(sp);
	file_remove();
}

static void
job_make(struct job *job, uint64_t id, int64_t start, int64_t end)
{
	job_init(job);
	snprintf(job->key.cluster, sizeof(job->key.cluster), "alpha");
	job->key.job = id;
	job->key.start = start;
	job->flags = JOB_HAS_START;
	job->end = end;
	job->state = end != 0 ? END_COMPLETED : END_NOT;
	job->user = strdup("u1");
	job->nodes = 1;
	job_add_host(job, "n1");
}

static enum spool_put
put(struct spool *sp, uint64_t id, int64_t start, int64_t end, int64_t *row)
{
	struct job job;
	enum spool_put rc;

	job_make(&job, id, start, end);
	rc = spool_put(sp, &job, row);
	job_clear(&job);
	return rc;
}

static enum run_state
state_of(struct spool *sp, int64_t row, enum dest dest)
{
	struct spool_run run;

	return spool_get(sp, row, &run) == 1 ? run.state[dest] :
					       RUN_STATE__COUNT;
}

static void
state_set(struct spool *sp, int64_t row, enum dest dest, enum run_state state)
{
	struct spool_run run;

	CHECK_INT(spool_get(sp, row, &run), 1);
	run.state[dest] = state;
	run.due[dest] = DUE_NOW;
	CHECK_INT(spool_save(sp, &run), 0);
}

static void
test_life(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct run_key key = { "alpha", 7, 1000 };
	struct job job;
	int64_t row, ids[4];

	CHECK_INT(put(sp, 7, 1000, 0, &row), PUT_NEW);
	CHECK_INT(put(sp, 7, 1000, 0, &row), PUT_KNOWN);
	CHECK_INT(spool_pick(sp, DEST_REST, START_DUE, ORDER_NEWEST, ids, 4),
	    1);
	CHECK_INT(ids[0], row);
	state_set(sp, row, DEST_REST, STARTED);
	CHECK_INT(put(sp, 7, 1000, 2000, &row), PUT_MERGED);
	CHECK_INT(state_of(sp, row, DEST_REST), STOP_BLOCKED);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);

	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_count(sp, DEST_REST, STOP_BLOCKED), 1);
	job_init(&job);
	CHECK_INT(spool_record(sp, row, &job), 0);
	CHECK_INT(job.end, 2000);
	CHECK_STR(job.user, "u1");
	job_clear(&job);
	state_set(sp, row, DEST_REST, STOP_DUE);
	state_set(sp, row, DEST_REST, RUN_DONE);
	CHECK_INT(state_of(sp, row, DEST_REST), RUN_STATE__COUNT);
	CHECK_INT(spool_runs(sp), 0);
	CHECK(spool_is_done(sp, &key));
	CHECK_INT(put(sp, 7, 1000, 2000, &row), PUT_KNOWN);
	CHECK_INT(spool_age(sp, 2000 + WEEK, 100), 0);
	CHECK_INT(spool_age(sp, 2001 + WEEK, 100), 1);
	CHECK(!spool_is_done(sp, &key));
	spool_close(sp);
	file_remove();
}

/* A run seen before is started while Slurm's end comes: SEEN goes to STOP. */
static void
test_seen(void)
{
	struct spool *sp = spool_begin_test(1, 1);
	struct spool_run run;
	int64_t row;

	spool_policy(sp)->nats_gap = 1000;
	CHECK_INT(put(sp, 8, 1000, 0, &row), PUT_NEW);
	state_set(sp, row, DEST_REST, START_COMMITTED);
	state_set(sp, row, DEST_NATS, STARTED);
	CHECK_INT(put(sp, 8, 1000, 1500, &row), PUT_MERGED);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(run.state[DEST_REST], STOP_DUE);
	CHECK_INT(run.due[DEST_REST], DUE_NOW);
	CHECK_INT(run.state[DEST_NATS], STOP_DUE);
	CHECK_INT(run.due[DEST_NATS], run.since[DEST_NATS] + 1000);
	state_set(sp, row, DEST_REST, RUN_DONE);
	CHECK_INT(spool_runs(sp), 1);
	state_set(sp, row, DEST_NATS, RUN_DONE);
	CHECK_INT(spool_runs(sp), 0);
	spool_close(sp);
	file_remove();
}

/* Runs of one job: oldest first, whatever order they come in. */
static void
test_order(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	int64_t old, mid, new, ids[8];

	CHECK_INT(put(sp, 9, 2000, 2500, &mid), PUT_NEW);
	CHECK_INT(put(sp, 9, 3000, 0, &new), PUT_NEW);
	CHECK_INT(put(sp, 9, 1000, 1500, &old), PUT_NEW);
	CHECK_INT(put(sp, 10, 1, 0, ids), PUT_NEW);
	CHECK_INT(state_of(sp, old, DEST_REST), START_DUE_ENDED);
	CHECK_INT(state_of(sp, mid, DEST_REST), START_BLOCKED);
	CHECK_INT(state_of(sp, new, DEST_REST), START_BLOCKED);
	CHECK_INT(spool_get(sp, old, &run), 1);
	CHECK(spool_has_starts(sp, &run, DEST_REST));
	run.state[DEST_REST] = STOP_BLOCKED;
	CHECK_INT(spool_save(sp, &run), 0);
	CHECK_INT(spool_release(sp, &run, DEST_REST), 0);
	CHECK_INT(state_of(sp, mid, DEST_REST), START_DUE_ENDED);
	CHECK_INT(state_of(sp, new, DEST_REST), START_BLOCKED);
	CHECK_INT(spool_get(sp, mid, &run), 1);
	run.state[DEST_REST] = START_REJECTED;
	CHECK_INT(spool_save(sp, &run), 0);
	CHECK_INT(spool_release(sp, &run, DEST_REST), 0);
	CHECK_INT(state_of(sp, new, DEST_REST), START_DUE);
	state_set(sp, new, DEST_REST, STARTED);
	CHECK_INT(spool_get(sp, old, &run), 1);
	CHECK(!spool_has_starts(sp, &run, DEST_REST));
	/* A start that is under way counts. */
	CHECK_INT(put(sp, 11, 1000, 1500, &old), PUT_NEW);
	CHECK_INT(put(sp, 11, 2000, 2500, &new), PUT_NEW);
	CHECK_INT(spool_get(sp, old, &run), 1);
	run.due[DEST_REST] = DUE_LEASED;
	CHECK_INT(spool_save(sp, &run), 0);
	CHECK_INT(spool_get(sp, new, &run), 1);
	CHECK(spool_has_starts(sp, &run, DEST_REST));
	spool_close(sp);
	file_remove();
}

/* A power-up moves the start: one run, and one key once it was sent. */
static void
test_moved(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	struct job job;
	int64_t row, again;

	job_make(&job, 11, 1000, 0);
	job.submit = 900;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	job_make(&job, 11, 1060, 0);
	job.submit = 900;
	CHECK_INT(spool_put(sp, &job, &again), PUT_MERGED);
	job_clear(&job);
	CHECK_INT(again, row);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(run.key.start, 1060);
	run.flags |= RUN_KEY_FIXED;
	run.state[DEST_REST] = START_COMMITTED;
	CHECK_INT(spool_save(sp, &run), 0);
	job_make(&job, 11, 1070, 2000);
	job.submit = 900;
	CHECK_INT(spool_put(sp, &job, &again), PUT_MERGED);
	job_clear(&job);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(run.key.start, 1060);
	CHECK_INT(run.alias, 1070);
	CHECK_INT(run.end, 2000);
	state_set(sp, row, DEST_REST, RUN_DONE);
	job_make(&job, 11, 1070, 2000);
	job.submit = 900;
	CHECK_INT(spool_put(sp, &job, &again), PUT_KNOWN);
	job_clear(&job);
	/* Requeued: another submission, another run. */
	job_make(&job, 11, 2100, 0);
	job.submit = 2010;
	CHECK_INT(spool_put(sp, &job, &again), PUT_NEW);
	job_clear(&job);
	spool_close(sp);
	file_remove();
}

/* The clock was set back while it ran:
    accounting has it begin before it was submitted. */
static void
test_set_back(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct job job;
	int64_t row, again;

	job_make(&job, 15, 5000, 0);
	job.submit = 5000;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	state_set(sp, row, DEST_REST, START_COMMITTED);
	job_make(&job, 15, 1500, 1500);
	job.submit = 5000;
	CHECK_INT(spool_put(sp, &job, &again), PUT_MERGED);
	job_clear(&job);
	CHECK_INT(again, row);
	CHECK_INT(state_of(sp, row, DEST_REST), STOP_DUE);
	state_set(sp, row, DEST_REST, RUN_DONE);
	CHECK_INT(spool_runs(sp), 0);
	/* slurmctld said the end, under the run's own start:
	    then it is told once more. */
	job_make(&job, 16, 5000, 1510);
	job.submit = 5000;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	state_set(sp, row, DEST_REST, RUN_DONE);
	CHECK_INT(spool_runs(sp), 0);
	job_make(&job, 16, 1510, 1510);
	job.submit = 5000;
	CHECK_INT(spool_put(sp, &job, &row), PUT_KNOWN);
	/* Another submission is another run. */
	job.submit = 5100;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	/* The clock was set back to after the submission. */
	job_make(&job, 17, 5000, 4900);
	job.submit = 4800;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	job_make(&job, 17, 4900, 4900);
	job.submit = 4800;
	CHECK_INT(spool_put(sp, &job, &again), PUT_MERGED);
	CHECK_INT(again, row);
	state_set(sp, row, DEST_REST, RUN_DONE);
	CHECK_INT(spool_put(sp, &job, &again), PUT_KNOWN);
	/* After this end the job may have run again. */
	job.key.start = job.end = 4890;
	job.state = END_NODE_FAIL;
	CHECK_INT(spool_put(sp, &job, &again), PUT_NEW);
	job_clear(&job);
	spool_close(sp);
	file_remove();
}

static void
test_kept_away(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct job job;
	int64_t row;

	job_make(&job, 12, 1000, 0);
	job.flags |= JOB_OPTED_OUT;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	CHECK_INT(state_of(sp, row, DEST_REST), RUN_NONE);
	CHECK_INT(put(sp, 12, 1000, 2000, &row), PUT_MERGED);
	CHECK_INT(spool_runs(sp), 0);
	/* A failing prolog's run would bar the real one for a day. */
	job_make(&job, 13, 1000, 1001);
	job.state = END_REQUEUED;
	job.flags |= JOB_NEVER_RAN;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	CHECK_INT(spool_runs(sp), 0);
	job_make(&job, 14, 1000, 0);
	job.flags |= JOB_MORE;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	CHECK_INT(spool_pick(sp, DEST_REST, START_DUE, ORDER_DUE, &row, 1), 0);
	CHECK(spool_next_due(sp, DEST_REST, START_DUE) > spool_now(sp));
	CHECK_INT(put(sp, 14, 1000, 0, &row), PUT_MERGED);
	CHECK_INT(spool_pick(sp, DEST_REST, START_DUE, ORDER_DUE, &row, 1), 1);
	CHECK_INT(put(sp, 0, 1000, 0, &row), PUT_REFUSED);
	CHECK_INT(put(sp, 15, 0, 0, &row), PUT_REFUSED);
	spool_close(sp);
	file_remove();
}

/* A false start that is known only after the real one:
    that waits for nothing. */
static void
test_false_start_late(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct job job;
	int64_t row, false_row;

	CHECK_INT(put(sp, 16, 1002, 0, &row), PUT_NEW);
	job_make(&job, 16, 1000, 1001);
	job.state = END_REQUEUED;
	job.flags |= JOB_NEVER_RAN;
	CHECK_INT(spool_put(sp, &job, &false_row), PUT_NEW);
	job_clear(&job);
	CHECK_INT(spool_runs(sp), 1);
	CHECK_INT(state_of(sp, row, DEST_REST), START_DUE);
	spool_close(sp);
	file_remove();
}

static int
count_one(struct spool *sp, struct spool_run *run, void *arg)
{
	(void)sp;
	(void)run;
	(*(int *)arg)++;
	return 0;
}

/* Many rows with one start: pages neither skip nor repeat. */
static void
test_pages(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_after after = { 0 };
	static const enum run_state states[] = { START_DUE, START_DUE_ENDED };
	struct spool_ranges ranges;
	struct spool_run run;
	int64_t row, from, to;
	int i, n, seen = 0;

	for (i = 1; i <= 1000; i++)
		CHECK_INT(put(sp, (uint64_t)i, 5000 + i / 400, 0, &row),
		    PUT_NEW);
	while ((n = spool_each(sp, DEST_REST, START_DUE, &after, 100, count_one,
		    &seen)) > 0)
		continue;
	CHECK_INT(n, 0);
	CHECK_INT(seen, 1000);
	seen = 0;
	memset(&after, 0, sizeof(after));
	while ((n = spool_each_of(sp, "alpha", START_DUE, &after, 100,
		    count_one, &seen)) > 0)
		continue;
	CHECK_INT(n, 0);
	CHECK_INT(seen, 1000);
	memset(&after, 0, sizeof(after));
	CHECK_INT(spool_each_of(sp, "alpha", STARTED, &after, 100, count_one,
		      &seen),
	    0);
	CHECK_INT(spool_each_of(sp, "other", START_DUE, &after, 100, count_one,
		      &seen),
	    0);
	CHECK_INT(spool_span(sp, START_DUE, "alpha", &from, &to), 1000);
	CHECK_INT(from, 5000);
	CHECK_INT(to, 5002);
	CHECK_INT(put(sp, 1001, 4000, 4100, &row), PUT_NEW);
	CHECK_INT(spool_watermark(sp, "beta", 1), 0);
	CHECK_INT(spool_ranges(sp, states, 2, INT64_MAX, 0, &ranges), 0);
	CHECK_INT(ranges.of[0].from, 4000);
	CHECK_INT(ranges.of[0].to, 5002);
	CHECK_INT(ranges.of[1].to, 0);
	CHECK_INT(spool_ranges(sp, states, 1, INT64_MAX, 0, &ranges), 0);
	CHECK_INT(ranges.of[0].from, 5000);
	CHECK_INT(spool_get(sp, row, &run), 1);
	run.flags |= RUN_BACKFILL;
	CHECK_INT(spool_save(sp, &run), 0);
	CHECK_INT(spool_ranges(sp, states, 2, INT64_MAX, RUN_BACKFILL, &ranges),
	    0);
	CHECK_INT(ranges.of[0].from, 5000);
	spool_rollback(sp);
	CHECK_INT(spool_runs(sp), 0);
	CHECK_INT(spool_count(sp, DEST_REST, START_DUE), 0);
	spool_close(sp);
	file_remove();
}

static void
test_cursor_and_meta(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct run_key name;
	int64_t cursor, clock;
	size_t n;
	char *p;

	CHECK_INT(spool_watermark(sp, "alpha", 500), 0);
	CHECK_INT(spool_watermark(sp, "alpha", 400), 0);
	CHECK_INT(spool_watermark(sp, "beta", 1), 0);
	CHECK_INT(spool_value_set(sp, "x", "abc", 3), 0);
	/* The commit stores this time or a later one. */
	clock = spool_now(sp);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_cluster(sp, 0, &name, &cursor), 1);
	CHECK_STR(name.cluster, "alpha");
	CHECK_INT(cursor, 500);
	CHECK_INT(spool_cluster(sp, 2, &name, &cursor), 0);
	CHECK(spool_now(sp) >= clock);
	p = spool_value_get(sp, "x", &n);
	CHECK_STR(p, "abc");
	free(p);
	CHECK(spool_value_get(sp, "y", &n) == NULL);
	spool_close(sp);
	file_remove();
}

static void
test_full(void)
{
	char reason[256];
	struct spool *sp = spool_open(path, 1 << 20, WEEK, reason,
	    sizeof(reason));
	struct job job;
	int64_t row;
	enum spool_put rc = PUT_NEW;
	uint64_t i;

	CHECK(sp != NULL);
	spool_policy(sp)->to[DEST_REST] = 1;
	for (i = 1; i < 10000 && rc == PUT_NEW; i++) {
		job_make(&job, i, 1000, 0);
		job.slurm_info = malloc(4001);
		memset(job.slurm_info, 'x', 4000);
		job.slurm_info[4000] = '\0';
		rc = spool_put(sp, &job, &row);
		job_clear(&job);
		if (rc == PUT_NEW && spool_commit(sp) == -1)
			rc = PUT_ERROR;
	}
	CHECK_INT(rc, PUT_ERROR);
	CHECK_INT(spool_commit(sp), -1);
	CHECK(spool_failed(sp));
	spool_rollback(sp);
	CHECK(spool_runs(sp) > 100);
	spool_set_limits(sp, 8 << 20, WEEK);
	CHECK_INT(put(sp, 99999, 1000, 0, &row), PUT_NEW);
	CHECK_INT(spool_commit(sp), 0);
	CHECK(!spool_failed(sp));
	spool_close(sp);
	file_remove();
}

/* Runs of 4 KiB in one transaction; 0 when the spool refuses one. */
static int
runs_add(struct spool *sp, uint64_t first, unsigned n)
{
	enum spool_put rc = PUT_NEW;
	struct job job;
	int64_t row;

	for (; n > 0 && rc == PUT_NEW; n--) {
		job_make(&job, first++, 1000, 0);
		job.slurm_info = malloc(4001);
		memset(job.slurm_info, 'x', 4000);
		job.slurm_info[4000] = '\0';
		rc = spool_put(sp, &job, &row);
		job_clear(&job);
	}
	return rc == PUT_NEW;
}

/* The limit is no full disk, also when a large transaction reaches it. */
static void
test_limit(void)
{
	char reason[256];
	struct spool *sp = spool_open(path, 1 << 20, WEEK, reason,
	    sizeof(reason));

	CHECK(sp != NULL);
	spool_policy(sp)->to[DEST_REST] = 1;
	CHECK(runs_add(sp, 1, 50));
	CHECK_INT(spool_commit(sp), 0);
	CHECK(!runs_add(sp, 100, 1000));
	CHECK_INT(spool_commit(sp), -1);
	CHECK_STR(spool_error(sp), "spoolMaxBytes is reached");
	spool_rollback(sp);
	CHECK_INT(spool_no_space(sp), 0);
	CHECK_INT(spool_runs(sp), 50);
	spool_close(sp);
	file_remove();
}

static void
file_write(const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd != -1 && write(fd, text, strlen(text)) > 0);
	close(fd);
}

static void
test_damage(void)
{
	char reason[256] = "";
	struct spool *sp;
	int64_t row;

	file_write(
	    "this is no database, however long one looks at it ......"
	    ".............................................................");
	sp = spool_begin_test(1, 0);
	CHECK_INT(put(sp, 1, 1, 0, &row), PUT_NEW);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	file_remove();
	CHECK_INT(system("true"), 0);
	snprintf(reason, sizeof(reason), "%s/none/spool.db", dir);
	CHECK(
	    spool_open(reason, 1 << 20, WEEK, reason, sizeof(reason)) == NULL);
}

/* A spool of 3000 runs is damaged in four pages and waits for its recovery. */
static void
damaged_make(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	char junk[4096];
	int64_t row, i;
	int fd;

	memset(junk, 0xa5, sizeof(junk));
	for (i = 1; i <= 3000; i++)
		CHECK_INT(put(sp, (uint64_t)i, 1000 + i, 0, &row), PUT_NEW);
	CHECK_INT(put(sp, 9999, 1000, 1100, &row), PUT_NEW);
	state_set(sp, row, DEST_REST, RUN_DONE);
	CHECK_INT(spool_watermark(sp, "alpha", 777), 0);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	fd = open(path, O_WRONLY);
	for (i = 40; i < 44; i++)
		CHECK_INT(pwrite(fd, junk, sizeof(junk), i * 4096), 4096);
	close(fd);
	spool_quarantine_file(path, "holes were made");
}

/* Bytes that a file may have, 0 = any number: stands for a full disk. */
static void
disk_limit(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes != 0 ? bytes : limit.rlim_max;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int
files_like(const char *tail)
{
	char pattern[80];
	glob_t found;
	int n;

	snprintf(pattern, sizeof(pattern), "%s%s", path, tail);
	n = glob(pattern, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
	if (n > 0)
		globfree(&found);
	return n;
}

/* Hosts whose record has about n bytes. */
static void
hosts_add(struct job *job, size_t n)
{
	char name[HOST_MAX];
	unsigned i;

	memset(name, 'h', sizeof(name));
	for (i = 0; i < n / (4 + 255 + 14); i++) {
		snprintf(name + 249, 7, "%06u", i);
		CHECK(job_add_host(job, name) != NULL);
	}
	job->flags |= JOB_HAS_THREADS;
}

static char *
text_of(size_t n)
{
	char *text = malloc(n + 1);

	CHECK(text != NULL);
	memset(text, 't', n);
	text[n] = '\0';
	return text;
}

/*
 * Two valid records that are too long as one: the script is left out.  Without the
 * script, too, the second one is refused and the stored one stays.  The transaction
 * does not fail: the message would come again without end.
 */
static void
test_too_long(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	size_t most = MSG_PAYLOAD_MAX;
	struct spool_run run;
	struct job job;
	int64_t row, id;
	int too_long;

	for (too_long = 0; too_long < 2; too_long++) {
		job_make(&job, 1 + (uint64_t)too_long, 1000, 0);
		hosts_add(&job, most - (too_long ? 1 << 16 : 1 << 20));
		CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
		job_clear(&job);

		job_make(&job, 1 + (uint64_t)too_long, 1000, 4000);
		job.script = text_of(SCRIPT_MAX - 1);
		job.name = text_of(TEXT_MAX - 1);
		job.account = text_of(TEXT_MAX - 1);
		CHECK_INT(spool_put(sp, &job, &id),
		    too_long ? PUT_REFUSED : PUT_MERGED);
		CHECK_INT(id, row);
		job_clear(&job);
		CHECK(!sp->broken);
		CHECK_INT(spool_get(sp, row, &run), 1);
		CHECK_INT(run.end, too_long ? 0 : 4000);
		CHECK_INT(run.state[DEST_REST],
		    too_long ? START_DUE : START_DUE_ENDED);
		job_init(&job);
		CHECK_INT(spool_record(sp, row, &job), 0);
		CHECK_INT(job.end, too_long ? 0 : 4000);
		CHECK_INT(job.name != NULL, !too_long);
		CHECK(job.script == NULL);
		job_clear(&job);
	}
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	file_remove();
}

/* Without space for all runs the damaged file stays, and is read again. */
static void
test_recovery_in_parts(void)
{
	char reason[256];
	struct spool *sp;
	struct run_key key = { "alpha", 1, 1001 };
	int64_t row;

	damaged_make();
	disk_limit(500 << 10);
	sp = spool_open(path, 64 << 20, WEEK, reason, sizeof(reason));
	CHECK_INT(errno, ENOSPC);
	CHECK(sp != NULL);
	CHECK_INT(spool_runs(sp), 1000); /* one commit */
	CHECK_INT(spool_shares_begin(sp), 0);
	CHECK(strstr(spool_error(sp), "checksum") == NULL);
	CHECK_INT(files_like(SPOOL_DAMAGED), 1);
	CHECK_INT(files_like(".damaged-*"), 0);
	/* A run is delivered before the rest is recovered. */
	disk_limit(0);
	spool_policy(sp)->to[DEST_REST] = 1;
	CHECK_INT(put(sp, 1, 1001, 1100, &row), PUT_MERGED);
	state_set(sp, row, DEST_REST, RUN_DONE);
	CHECK_INT(spool_commit(sp), 0);
	CHECK(spool_is_done(sp, &key));
	spool_close(sp);
	sp = spool_begin_test(1, 0);
	CHECK_INT(errno, 0);
	CHECK(spool_runs(sp) > 2000);
	/* The sums of the first part do not count. */
	CHECK_INT(spool_shares_begin(sp), 0);
	CHECK(spool_share(sp, "alpha") > (int64_t)spool_runs(sp) * 400);
	CHECK_INT(spool_commit(sp), 0);
	CHECK(put(sp, 1, 1001, 0, &row) == PUT_KNOWN && row == 0);
	CHECK_INT(files_like(SPOOL_DAMAGED), 0);
	CHECK_INT(files_like(".damaged-*"), 1);
	spool_close(sp);
	file_remove();
}

static enum spool_put
put_held(struct spool *sp, uint64_t id, int64_t *row)
{
	struct job job;
	enum spool_put rc;

	job_make(&job, id, 1000, 4000);
	job.flags |= JOB_BACKFILL;
	rc = spool_put(sp, &job, row);
	job_clear(&job);
	return rc;
}

/* A spool with an end, threads and an opt-out waits for its recovery. */
static void
wreck_make(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct job job;
	int64_t row;

	CHECK_INT(put(sp, 1, 1000, 0, &row), PUT_NEW);
	state_set(sp, row, DEST_REST, START_COMMITTED);
	CHECK_INT(put(sp, 1, 1000, 4000, &row), PUT_MERGED);
	job_make(&job, 2, 1000, 4000);
	job.flags |= JOB_HAS_THREADS;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	job_make(&job, 3, 1000, 0);
	job.flags |= JOB_OPTED_OUT;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	/* A backfill holds two runs, of which one was delivered before. */
	CHECK_INT(put(sp, 6, 1000, 4000, &row), PUT_NEW);
	state_set(sp, row, DEST_REST, RUN_DONE);
	CHECK_INT(put_held(sp, 5, &row), PUT_NEW);
	CHECK_INT(put_held(sp, 6, &row), PUT_HELD);
	/* Two runs were for NATS only. */
	spool_policy(sp)->to[DEST_REST] = 0;
	spool_policy(sp)->to[DEST_NATS] = 1;
	CHECK_INT(put(sp, 7, 1000, 4000, &row), PUT_NEW);
	CHECK_INT(put(sp, 8, 1000, 0, &row), PUT_NEW);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	spool_quarantine_file(path, "a test says so");
}

/* Before the rest is recovered, Slurm and cc-backend show some of its runs. */
static void
test_recovery_of_seen_runs(void)
{
	static const struct {
		uint64_t job;
		int64_t end;
		enum run_state rest, nats;
	} listed[] = {
		{ 1, 4000, STOP_DUE, RUN_NONE },
		{ 7, 4000, STOP_DUE, START_DUE_ENDED },
		{ 8, 0, START_COMMITTED, START_DUE },
	};
	struct spool_run run;
	struct run_key key = { "alpha", 1, 1000 };
	char wreck[80], aside[80];
	struct spool *sp;
	struct job job;
	uint64_t id;
	int64_t row;
	int i;

	wreck_make();
	snprintf(wreck, sizeof(wreck), "%s%s", path, SPOOL_DAMAGED);
	snprintf(aside, sizeof(aside), "%s.aside", path);
	CHECK_INT(rename(wreck, aside), 0);
	sp = spool_begin_test(1, 0);
	for (i = 0; i < 3; i++) {
		key.job = listed[i].job;
		CHECK_INT(spool_put_from_backend(sp, &key), 1);
	}
	CHECK_INT(put(sp, 2, 1000, 4000, &row), PUT_NEW);
	CHECK_INT(put(sp, 3, 1000, 0, &row), PUT_NEW);
	/* The damaged file does not have this one. */
	CHECK_INT(put(sp, 4, 1000, 0, &row), PUT_NEW);
	for (id = 5; id <= 6; id++) {
		CHECK_INT(put(sp, id, 1000, 4000, &row), PUT_NEW);
		state_set(sp, row, DEST_REST, RUN_DONE);
	}
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	CHECK_INT(rename(aside, wreck), 0);

	sp = spool_begin_test(1, 0);
	for (i = 0; i < 3; i++) {
		key.job = listed[i].job;
		CHECK_INT(spool_find(sp, &key, &run), 1);
		CHECK_INT(run.end, listed[i].end);
		CHECK_INT(run.state[DEST_REST], listed[i].rest);
		CHECK_INT(run.state[DEST_NATS], listed[i].nats);
		CHECK_INT(run.flags, RUN_KEY_FIXED | RUN_REST_STARTED);
		job_init(&job);
		CHECK_INT(spool_record(sp, run.id, &job), 0);
		CHECK_INT(job.end, listed[i].end);
		job_clear(&job);
	}
	key.job = 2;
	CHECK_INT(spool_find(sp, &key, &run), 1);
	CHECK_INT(run.state[DEST_REST], START_DUE_ENDED);
	job_init(&job);
	CHECK_INT(spool_record(sp, run.id, &job), 0);
	CHECK(job.flags & JOB_HAS_THREADS);
	job_clear(&job);
	key.job = 3;
	CHECK_INT(spool_find(sp, &key, &run), 1);
	CHECK_INT(run.state[DEST_REST], RUN_NONE);
	key.job = 5;
	CHECK_INT(spool_find(sp, &key, &run), 0);
	key.job = 6;
	CHECK_INT(spool_find(sp, &key, &run), 1);
	CHECK_INT(run.state[DEST_REST], BACKFILL_HELD);
	CHECK_INT(spool_runs(sp), 7);
	CHECK_INT(spool_forbidden(sp), 0);
	spool_close(sp);
	file_remove();
}

/*
 * The stop by NATS does not come sooner after its start, and a run that a later one
 * may replace is not finished.
 */
static void
test_recovery_of_times(void)
{
	static const struct {
		enum dest dest;
		enum run_state state;
		unsigned tries;
		int64_t wait;	   /* ms from since to due */
		int64_t recovered; /* from the recovery to due */
	} rows[] = {
		{ DEST_NATS, STOP_DUE, 0, 150000, 150000 },
		{ DEST_NATS, STOP_DUE, 0, INT64_MAX / 16, 3600000 },
		{ DEST_NATS, STOP_DUE, 1, 150000, DUE_NOW },
		{ DEST_NATS, STOP_DUE, 0, -150000, DUE_NOW },
		{ DEST_NATS, START_DUE_ENDED, 0, 150000, DUE_NOW },
		{ DEST_REST, STOP_DUE, 0, 150000, DUE_NOW },
		{ DEST_REST, KEPT_REPLACEABLE, 0, 1000,
		    DUPLICATE_SECONDS * 1000 },
	};
	const size_t n = sizeof(rows) / sizeof(rows[0]);
	struct run_key key = { "alpha", 0, 1000 };
	struct spool *sp = spool_begin_test(1, 1);
	struct spool_run run;
	int64_t row;
	size_t i;

	for (i = 0; i < n; i++) {
		CHECK_INT(put(sp, i + 1, 1000, 4000, &row), PUT_NEW);
		CHECK_INT(spool_get(sp, row, &run), 1);
		run.state[rows[i].dest] = rows[i].state;
		run.tries[rows[i].dest] = rows[i].tries;
		run.since[rows[i].dest] = 200000000;
		run.due[rows[i].dest] = 200000000 + rows[i].wait;
		CHECK_INT(spool_save(sp, &run), 0);
	}
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	spool_quarantine_file(path, "a test says so");

	sp = spool_begin_test(1, 1);
	for (i = 0; i < n; i++) {
		key.job = i + 1;
		CHECK_INT(spool_find(sp, &key, &run), 1);
		CHECK_INT(run.state[rows[i].dest], rows[i].state);
		row = run.due[rows[i].dest];
		if (rows[i].recovered != DUE_NOW)
			row -= spool_now(sp);
		/* The recovery took some time. */
		CHECK(row <= rows[i].recovered &&
		    row >= rows[i].recovered - 60000 && row >= 0);
		CHECK(run.since[rows[i].dest] <= spool_now(sp));
	}
	spool_close(sp);
	file_remove();
}

/* A page without damage also has a resource record and an update. */
static void
test_recovery_of_updates(void)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_meta update;
	struct spool_run run;
	struct job job;
	int64_t row;

	job_make(&job, 1, 1000, 0);
	job.flags |= JOB_LIVE | JOB_UNCONFIRMED;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	job_make(&job, 2, 1000, 0);
	job.flags |= JOB_HAS_THREADS;
	CHECK_INT(spool_resources_put(sp, &job), PUT_NEW);
	job_clear(&job);
	key.job = 3;
	CHECK_INT(spool_meta_add(sp, &key, "jobScript", "#!/bin/sh\n", DUE_NOW),
	    1);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	spool_quarantine_file(path, "a test says so");

	sp = spool_begin_test(1, 0);
	key.job = 1;
	CHECK_INT(spool_find(sp, &key, &run), 1);
	CHECK_INT(run.due[DEST_REST], DUE_UNCONFIRMED);
	CHECK(run.flags & RUN_UNCONFIRMED);
	job_make(&job, 2, 1000, 2000);
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	job_init(&job);
	CHECK_INT(spool_record(sp, row, &job), 0);
	CHECK(job.flags & JOB_HAS_THREADS);
	job_clear(&job);
	CHECK_INT(spool_meta_next(sp, &update), 1);
	CHECK_INT(update.key.job, 3);
	CHECK_STR(update.field, "jobScript");
	CHECK_STR(update.value, "#!/bin/sh\n");
	spool_meta_clear(&update);
	spool_close(sp);
	file_remove();
}

/* Changes the watermark in the file, which is the only such value. */
static void
watermark_damage(int64_t page)
{
	char bytes[4096], *at;
	int fd = open(path, O_RDWR);

	CHECK_INT(pread(fd, bytes, sizeof(bytes), page * 4096), 4096);
	at = memmem(bytes, sizeof(bytes), "\x11\x22\x33\x44", 4);
	CHECK(at != NULL);
	if (at != NULL)
		at[0] = 0x55;
	CHECK_INT(pwrite(fd, bytes, sizeof(bytes), page * 4096), 4096);
	close(fd);
}

/* A watermark that is too late would leave out runs: they are read again. */
static void
test_recovery_of_watermark(void)
{
	struct run_key key = { "alpha", 1, 1000 }, name;
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	int64_t row, page, until = -1;

	CHECK_INT(put(sp, 1, 1000, 0, &row), PUT_NEW);
	CHECK_INT(spool_watermark(sp, "alpha", 0x11223344), 0);
	CHECK_INT(spool_commit(sp), 0);
	page = spool_number(sp,
	    "SELECT rootpage FROM sqlite_master WHERE name = 'cluster'");
	CHECK(page > 1);
	spool_close(sp);
	watermark_damage(page - 1);
	spool_quarantine_file(path, "a test says so");

	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_cluster(sp, 0, &name, &until), 1);
	CHECK_STR(name.cluster, "alpha");
	CHECK_INT(until, RESUME_LOST);
	CHECK_INT(spool_find(sp, &key, &run), 1);
	spool_close(sp);
	file_remove();
}

/*
 * Runs that are lost with their pages are read again, also when the page with the
 * watermark is whole.  A cluster that is not read any more keeps its own, and one
 * that never had one has none.
 */
static void
test_recovery_of_good_watermark(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	int64_t row, until = -1;
	struct run_key name;

	CHECK_INT(put(sp, 1, 1000, 0, &row), PUT_NEW);
	CHECK_INT(spool_watermark(sp, "alpha", (int64_t)time(NULL)), 0);
	CHECK_INT(spool_watermark(sp, "gone", 5000), 0);
	CHECK_INT(spool_watermark(sp, "never", 0), 0);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	spool_quarantine_file(path, "a test says so");

	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_cluster(sp, 0, &name, &until), 1);
	CHECK_STR(name.cluster, "alpha");
	CHECK_INT(until, RESUME_LOST);
	CHECK_INT(spool_cluster(sp, 1, &name, &until), 1);
	CHECK_STR(name.cluster, "gone");
	CHECK_INT(until, 5000);
	CHECK_INT(spool_cluster(sp, 2, &name, &until), 1);
	CHECK_STR(name.cluster, "never");
	CHECK_INT(until, 0);
	spool_close(sp);
	file_remove();
}

/* As root only: the directory is a small file system of its own. */
static int
disk_begin(const char *options)
{
	return unshare(CLONE_NEWNS) == 0 &&
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("test", dir, "tmpfs", 0, options) == 0;
}

static void
test_full_disk(void)
{
	struct spool *sp;

	if (!disk_begin("size=1m"))
		return;
	sp = spool_begin_test(1, 0);
	CHECK(runs_add(sp, 1, 50));
	CHECK_INT(spool_commit(sp), 0);
	CHECK(!runs_add(sp, 100, 1000));
	CHECK_INT(spool_commit(sp), -1);
	CHECK_STR(spool_error(sp), "database or disk is full (13)");
	spool_rollback(sp);
	CHECK_INT(spool_no_space(sp), 1);
	spool_close(sp);
	CHECK_INT(umount(dir), 0);
}

/* Files until no inode is left. */
static void
inodes_use(void)
{
	char name[80];
	int i, fd = 0;

	for (i = 0; fd != -1 && i < 16; i++) {
		snprintf(name, sizeof(name), "%s/fill%d", dir, i);
		if ((fd = open(name, O_WRONLY | O_CREAT, 0600)) != -1)
			close(fd);
	}
	CHECK_INT(errno, ENOSPC);
}

static void
inode_free(int i)
{
	char name[80];

	snprintf(name, sizeof(name), "%s/fill%d", dir, i);
	CHECK_INT(unlink(name), 0);
}

/* The log of the damaged file is not created: the file stays. */
static void
recovery_without_inode(void)
{
	char reason[256];
	struct spool *sp;

	damaged_make();
	inodes_use();
	inode_free(0);
	inode_free(1);
	sp = spool_open(path, 64 << 20, WEEK, reason, sizeof(reason));
	CHECK_INT(errno, ENOSPC);
	CHECK(sp != NULL);
	CHECK_INT(files_like(SPOOL_DAMAGED), 1);
	spool_close(sp);
	inode_free(2);
	sp = spool_begin_test(1, 0);
	CHECK(spool_runs(sp) > 2000);
	spool_close(sp);
}

/* Without an inode for its log the file cannot be opened: the disk is full. */
static void
test_no_inode(void)
{
	char reason[256], name[80];
	struct spool *sp;
	int64_t row;

	if (!disk_begin("size=16m,nr_inodes=8"))
		return;
	sp = spool_begin_test(1, 0);
	CHECK_INT(put(sp, 1, 1000, 0, &row), PUT_NEW);
	spool_close(sp);
	inodes_use();
	sp = spool_open(path, 64 << 20, WEEK, reason, sizeof(reason));
	CHECK_INT(errno, ENOSPC);
	CHECK(sp == NULL);
	CHECK(strstr(reason, "no free inode") != NULL);
	/* One inode is enough, as that of the reserve. */
	inode_free(0);
	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_runs(sp), 1);
	spool_close(sp);
	file_remove();
	recovery_without_inode();
	CHECK_INT(umount(dir), 0);
	/* Another reason is none of space. */
	snprintf(name, sizeof(name), "%s/none/spool.db", dir);
	CHECK(spool_open(name, 1 << 20, WEEK, reason, sizeof(reason)) == NULL);
	CHECK_INT(errno, 0);
}

/* A second damage does not overwrite a file that was recovered in part. */
static void
test_two_damaged(void)
{
	damaged_make();
	file_write("damaged, too");
	spool_quarantine_file(path, "it has a wrong header");
	CHECK_INT(files_like(SPOOL_DAMAGED), 1);
	CHECK_INT(files_like(".damaged-*"), 1);
	file_remove();
}

/* A file with holes gives up what is whole; the rest is asked of Slurm. */
static void
test_salvage(void)
{
	struct run_key key = { "alpha", 9999, 1000 };
	struct spool *sp;
	int64_t row, i;

	damaged_make();
	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_shares_begin(sp), 0);
	CHECK(spool_share(sp, "alpha") > (int64_t)spool_runs(sp) * 400);
	CHECK(spool_runs(sp) > 2000);
	CHECK(spool_runs(sp) < 3000);
	CHECK(spool_is_done(sp, &key));
	CHECK_INT(spool_cluster(sp, 0, &key, &i), 1);
	CHECK_INT(i, 777);
	for (i = 1; i <= 3000; i++)
		CHECK(put(sp, (uint64_t)i, 1000 + i, 0, &row) != PUT_ERROR);
	CHECK_INT(spool_runs(sp), 3000);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	file_remove();
}

static void
test_set_aside(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct run_key key = { "alpha", 66, 1000 };
	int64_t row;

	CHECK_INT(spool_put_quarantined(sp, &key, (const uint8_t *)"junk", 4),
	    PUT_MERGED);
	CHECK_INT(put(sp, 66, 1000, 2000, &row), PUT_KNOWN);
	CHECK_INT(state_of(sp, row, DEST_REST), START_REJECTED);
	CHECK_INT(spool_put_from_backend(sp, &key), 0);
	key.job = 67;
	CHECK_INT(spool_put_from_backend(sp, &key), 1);
	CHECK_INT(put(sp, 67, 1000, 2000, &row), PUT_MERGED);
	CHECK_INT(state_of(sp, row, DEST_REST), STOP_DUE);
	spool_close(sp);
	file_remove();
}

/* An open run that was submitted at 900. */
static enum spool_put
requeued(struct spool *sp, uint64_t id, int64_t start, unsigned restarts,
    int64_t *row)
{
	struct job job;
	enum spool_put rc;

	job_make(&job, id, start, 0);
	job.submit = 900;
	job.restarts = restarts;
	rc = spool_put(sp, &job, row);
	job_clear(&job);
	return rc;
}

/*
 * A row in quarantine: its record is not read, an answer to its request is not
 * awaited, and later runs of the job neither wait for it nor are taken for it.
 */
static void
test_set_aside_row(void)
{
	struct spool *sp = spool_begin_test(1, 1);
	struct run_key key = { "alpha", 68, 1000 };
	struct spool_run run;
	int64_t row, later;
	struct job job;

	CHECK_INT(put(sp, 68, 1000, 1100, &row), PUT_NEW);
	CHECK_INT(put(sp, 68, 1200, 1300, &later), PUT_NEW);
	CHECK_INT(state_of(sp, later, DEST_REST), START_BLOCKED);
	CHECK_INT(state_of(sp, later, DEST_NATS), START_BLOCKED);
	CHECK_INT(spool_get(sp, row, &run), 1);
	run.due[DEST_REST] = DUE_LEASED;
	CHECK_INT(spool_save(sp, &run), 0);
	CHECK_INT(spool_put_quarantined(sp, &key, NULL, 0), PUT_MERGED);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(run.due[DEST_REST], DUE_NOW);
	CHECK_INT(state_of(sp, later, DEST_REST), START_DUE_ENDED);
	CHECK_INT(state_of(sp, later, DEST_NATS), START_DUE_ENDED);
	job_init(&job);
	CHECK_INT(spool_record(sp, row, &job), -1);
	CHECK_INT(spool_record(sp, later, &job), 0);
	job_clear(&job);
	/* The next run has the same submission, and the first one no end. */
	key.job = 69;
	CHECK_INT(requeued(sp, 69, 1000, 0, &row), PUT_NEW);
	CHECK_INT(spool_put_quarantined(sp, &key, NULL, 0), PUT_MERGED);
	CHECK_INT(requeued(sp, 69, 1200, 1, &row), PUT_NEW);
	spool_close(sp);
	file_remove();
}

/* --- the run whose record is read, for the quarantine --- */

static struct inflight *page;
static struct run_key read_run; /* job 0 = none was in the page */
static int no_memory;		/* no record can be read */
static unsigned n_reads;

void __real_job_read(struct reader *r, struct job *job);
void __wrap_job_read(struct reader *r, struct job *job);

void
__wrap_job_read(struct reader *r, struct job *job)
{
	if (inflight_read(page, &read_run) == 0)
		memset(&read_run, 0, sizeof(read_run));
	n_reads++;
	__real_job_read(r, job);
	if (no_memory) {
		errno = ENOMEM;
		rd_fail(r);
	}
}

/*
 * A record that cannot be read because memory is short is no invalid record: the
 * run keeps what it has, and the transaction fails.
 */
static void
test_no_memory(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	int64_t row, same;
	struct job job;

	CHECK_INT(put(sp, 7, 1000, 0, &row), PUT_NEW);
	CHECK_INT(spool_commit(sp), 0);
	no_memory = 1;
	job_init(&job);
	CHECK_INT(spool_record(sp, row, &job), -1);
	CHECK_INT(errno, ENOMEM);
	job_clear(&job);
	CHECK_INT(put(sp, 7, 1000, 2000, &same), PUT_ERROR);
	no_memory = 0;
	CHECK_INT(spool_commit(sp), -1);
	CHECK_STR(spool_error(sp), "out of memory");
	spool_rollback(sp);
	CHECK_INT(put(sp, 7, 1000, 2000, &same), PUT_MERGED);
	CHECK_INT(same, row);
	/* No such row. */
	CHECK_INT(spool_record(sp, row + 1, &job), -1);
	CHECK_INT(errno, EINVAL);
	spool_close(sp);
	file_remove();
}

/*
 * Somebody who may send records can forge many open runs of one submission: a
 * further record does not read the stored records of all.
 */
static void
test_forged_like(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	int64_t row;
	unsigned i;

	for (i = 1; i <= 32; i++) {
		n_reads = 0;
		CHECK_INT(requeued(sp, 70, 1000 + i, i, &row), PUT_NEW);
		CHECK_INT(n_reads, i <= 4 ? i - 1 : 4);
	}
	spool_close(sp);
	file_remove();
}

/*
 * A crash while a record is read concerns the run of this record, also when the
 * worker handles another record, whose run is in the page before and after.
 */
static void
test_inflight(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct run_key key = { "alpha", 71, 1200 }, got;
	struct inflight *worker;
	int64_t row, later;
	struct job job;
	int fd = -1;

	page = inflight_new(&fd);
	worker = inflight_map(fd);
	CHECK(worker != NULL);
	spool_inflight(sp, &worker);
	CHECK_INT(requeued(sp, 71, 1000, 1, &row), PUT_NEW);
	job_init(&job);
	CHECK_INT(spool_record(sp, row, &job), 0);
	job_clear(&job);
	CHECK_INT(read_run.job, 71);
	CHECK_INT(read_run.start, 1000);
	CHECK_STR(read_run.cluster, "alpha");
	CHECK_INT(inflight_read(page, &got), 0);
	/* The stored record of another run of the job is compared. */
	memset(&read_run, 0, sizeof(read_run));
	inflight_set(worker, &key);
	CHECK_INT(requeued(sp, 71, 1200, 2, &later), PUT_NEW);
	CHECK_INT(read_run.start, 1000);
	CHECK_INT(inflight_read(page, &got), 1);
	CHECK_INT(got.start, 1200);
	inflight_free(worker);
	inflight_free(page);
	page = NULL;
	spool_close(sp);
	file_remove();
}

/* Late knowledge: one value a field, in the order of its time,
    across restarts. */
static void
test_late(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct run_key key = { "alpha", 5, 1000 };
	struct spool_meta late;
	int64_t row;

	CHECK_INT(put(sp, 5, 1000, 0, &row), PUT_NEW);
	CHECK_INT(spool_meta_next(sp, &late), 0);
	CHECK_INT(spool_meta_add(sp, &key, "exitCode", "1:0", 20), 1);
	CHECK_INT(spool_meta_add(sp, &key, "message", "first", 30), 1);
	CHECK_INT(spool_meta_add(sp, &key, "message", "second", 10), 1);
	CHECK_INT(spool_meta_count(sp), 2);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_meta_count(sp), 2);
	CHECK_INT(spool_meta_next(sp, &late), 1);
	CHECK_STR(late.field, "message");
	CHECK_STR(late.value, "second");
	CHECK(run_key_equal(&late.key, &key));
	CHECK_INT(spool_meta_wait(sp, late.id, 99, 1), 0);
	spool_meta_clear(&late);
	CHECK_INT(spool_meta_next(sp, &late), 1);
	CHECK_STR(late.field, "exitCode");
	CHECK_INT(spool_meta_drop(sp, late.id), 0);
	spool_meta_clear(&late);
	spool_rollback(sp);
	CHECK_INT(spool_meta_count(sp), 2);
	key.cluster[0] = 'x';
	CHECK_INT(spool_meta_add(sp, &key, "message", "unknown cluster", 1), 0);
	spool_close(sp);
	file_remove();
}

/* Other runs of the job that make cc-backend refuse a start. */
static void
test_blocked(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	struct run_key key;
	int64_t a, b, c;

	CHECK_INT(put(sp, 5, 1000000, 1000010, &a), PUT_NEW);
	CHECK_INT(put(sp, 5, 1000100, 1000200, &b), PUT_NEW);
	CHECK_INT(put(sp, 5, 2000000, 2000001, &c), PUT_NEW);
	CHECK_INT(spool_get(sp, c, &run), 1);
	CHECK_INT(spool_blocked(sp, &run), 0);
	CHECK_INT(spool_previous_run(sp, &run, &key), 0);
	CHECK_INT(spool_get(sp, b, &run), 1);
	CHECK_INT(spool_blocked(sp, &run), 1);
	CHECK_INT(spool_previous_run(sp, &run, &key), 1);
	CHECK_INT(key.start, 1000000);
	state_set(sp, a, DEST_REST, START_REJECTED);
	state_set(sp, c, DEST_REST, RUN_DONE);
	CHECK_INT(spool_previous_run(sp, &run, &key), 0);
	CHECK_INT(spool_blocked(sp, &run), 1);
	state_set(sp, a, DEST_REST, RUN_DONE);
	CHECK_INT(spool_previous_run(sp, &run, &key), 1);
	spool_close(sp);
	file_remove();
}

/* A run that never ran was not sent, so cc-backend refuses no run because of it. */
static void
test_blocked_by_false_start(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct job job;
	struct spool_run run;
	struct run_key key;
	int64_t row, real;

	CHECK_INT(put(sp, 5, 1000100, 1000200, &real), PUT_NEW);
	for (key.start = 1000000; key.start <= 1000300; key.start += 300) {
		job_make(&job, 5, key.start, key.start + 10);
		job.state = END_REQUEUED;
		job.flags |= JOB_NEVER_RAN;
		CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
		CHECK(spool_is_done(sp, &job.key));
		job_clear(&job);
	}
	CHECK_INT(spool_get(sp, real, &run), 1);
	CHECK_INT(spool_blocked(sp, &run), 0);
	CHECK_INT(spool_previous_run(sp, &run, &key), 0);
	/* A run without a length was sent: it is in the way. */
	CHECK_INT(put(sp, 5, 999000, 999000, &row), PUT_NEW);
	state_set(sp, row, DEST_REST, RUN_DONE);
	CHECK_INT(spool_get(sp, row, &run), 0);
	CHECK_INT(spool_get(sp, real, &run), 1);
	CHECK_INT(spool_blocked(sp, &run), 1);
	CHECK_INT(spool_previous_run(sp, &run, &key), 1);
	CHECK_INT(key.start, 999000);
	spool_close(sp);
	file_remove();
}

/* As version 1 made it. */
static const char schema_1[] =
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;"
    "CREATE TABLE cluster (id INTEGER PRIMARY KEY,"
    " name TEXT NOT NULL UNIQUE, cursor INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE run (id INTEGER PRIMARY KEY, cluster INTEGER NOT NULL,"
    " job INTEGER NOT NULL, started INTEGER NOT NULL,"
    " ended INTEGER NOT NULL, submitted INTEGER NOT NULL,"
    " alias INTEGER NOT NULL, flags INTEGER NOT NULL,"
    " rphase INTEGER NOT NULL, rdue INTEGER NOT NULL,"
    " rtries INTEGER NOT NULL, rsince INTEGER NOT NULL,"
    " nphase INTEGER NOT NULL, ndue INTEGER NOT NULL,"
    " ntries INTEGER NOT NULL, nsince INTEGER NOT NULL,"
    " denied INTEGER NOT NULL, denials INTEGER NOT NULL, reason TEXT);"
    "CREATE UNIQUE INDEX run_key ON run (cluster, job, started);"
    "CREATE INDEX run_rest ON run (rphase, rdue, started)"
    " WHERE rphase > 0;"
    "CREATE INDEX run_nats ON run (nphase, ndue, started)"
    " WHERE nphase > 0;"
    "CREATE TABLE record (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL,"
    " sum INTEGER NOT NULL);"
    "CREATE TABLE tomb (cluster INTEGER, job INTEGER, started INTEGER,"
    " lasted INTEGER, waited INTEGER,"
    " PRIMARY KEY (cluster, job, started)) WITHOUT ROWID;"
    "PRAGMA application_id = 1129529683;"
    "PRAGMA user_version = 1;"
    "INSERT INTO cluster VALUES (1, 'alpha', 777);"
    "INSERT INTO run VALUES (1, 1, 5, 1000, 0, 0, 0, 1, 6, 0, 0, 9, 0, 0, 0,"
    " 0, 0, 0, NULL);"
    "INSERT INTO tomb VALUES (1, 4, 900, 50, 0);";

/* A file of version 1 is taken over as it is. */
static void
test_migration(void)
{
	struct run_key key = { "alpha", 4, 900 };
	struct spool_run run;
	struct spool *sp;
	sqlite3 *db;
	int64_t cursor;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, schema_1, NULL, NULL, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_close(db), SQLITE_OK);
	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_number(sp, "PRAGMA user_version"), SPOOL_SCHEMA);
	CHECK_INT(spool_runs(sp), 1);
	CHECK_INT(state_of(sp, 1, DEST_REST), START_COMMITTED);
	CHECK_INT(spool_get(sp, 1, &run), 1);
	CHECK_INT(run.flags, RUN_KEY_FIXED | RUN_REST_STARTED);
	CHECK(spool_is_done(sp, &key));
	CHECK_INT(spool_meta_add(sp, &key, "message", "x", 1), 1);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_meta_count(sp), 1);
	CHECK_INT(spool_cluster(sp, 0, &key, &cursor), 1);
	CHECK_INT(cursor, 777);
	spool_close(sp);
	file_remove();
}

static void
job_with_resources(struct job *job, uint64_t id, int64_t start)
{
	struct job_host *h;
	char name[32];
	int i;

	job_make(job, id, start, 0);
	job->submit = start - 30;
	job->shared = SHARED_NONE;
	job->flags |= JOB_HAS_THREADS | JOB_HAS_ACCELS;
	for (i = 2; i < 40; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		h = job_add_host(job, name);
		h->sockets = 2;
		h->cores = i == 7 ? 4 : 32;
		h->threads = 2;
		job_host_add_cpus(h, 0, 3);
		job_host_add_cpus(h, 64, 67);
		if (i != 4) {
			job_host_add_accel(h, "00000000:41:00.0");
			job_host_add_accel(h, "00000000:C1:00.0");
		}
	}
}

/* The same in both: hosts, shapes, threads, devices. */
static void
resources_are(const struct job *a, const struct job *b)
{
	uint32_t i, k;

	CHECK_INT(a->n_hosts, b->n_hosts);
	for (i = 0; i < a->n_hosts && i < b->n_hosts; i++) {
		CHECK_STR(a->hosts[i].name, b->hosts[i].name);
		CHECK_INT(a->hosts[i].cores, b->hosts[i].cores);
		CHECK_INT(a->hosts[i].n_cpus, b->hosts[i].n_cpus);
		CHECK(a->hosts[i].n_cpus != b->hosts[i].n_cpus ||
		    a->hosts[i].n_cpus == 0 ||
		    memcmp(a->hosts[i].cpus, b->hosts[i].cpus,
			a->hosts[i].n_cpus * sizeof(struct cpu_range)) == 0);
		CHECK_INT(a->hosts[i].n_accels, b->hosts[i].n_accels);
		for (k = 0;
		     k < a->hosts[i].n_accels && k < b->hosts[i].n_accels; k++)
			CHECK_STR(a->hosts[i].accels[k], b->hosts[i].accels[k]);
	}
}

/* job_with_resources(5, 1000) as the program of commit 3ec383c wrote it. */
static const char stub_v1[] =
    "0106012700026e3107010132000220020200033d030200103030303030303030"
    "3a34313a30302e30090743313a30302e30010133070101340300010135030200"
    "1030303030303030303a34313a30302e30090743313a30302e30010136070101"
    "3706020402010138060220020101390701023130070201310702013207020133"
    "0702013407020135070201360702013707020138070201390701023230070201"
    "3107020132070201330702013407020135070201360702013707020138070201"
    "3907010233300702013107020132070201330702013407020135070201360702"
    "0137070201380702013907";

/* A resource record of version 1 is merged into the record of its run. */
static void
test_stub_v1(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_resources stub = { { "alpha", 5, 1000 }, 970 };
	uint8_t bytes[sizeof(stub_v1) / 2];
	const size_t n = sizeof(bytes);
	struct job job, told, got;
	int64_t row;
	size_t i;

	for (i = 0; i < n; i++)
		CHECK_INT(sscanf(stub_v1 + 2 * i, "%2hhx", &bytes[i]), 1);
	for (i = 0; i < n; i++) {
		job_init(&got);
		CHECK_INT(spool_resources_read(bytes, i, &got), -1);
		job_clear(&got);
	}
	job_with_resources(&job, 5, 1000);
	snprintf(stub.key.cluster, sizeof(stub.key.cluster), "%s",
	    job.key.cluster);
	CHECK_INT(spool_resources_add(sp, &stub, bytes, n), 0);
	CHECK_INT(spool_commit(sp), 0);
	job_make(&told, 5, 1000, 2000);
	CHECK_INT(spool_put(sp, &told, &row), PUT_NEW);
	job_clear(&told);
	job_init(&got);
	CHECK_INT(spool_record(sp, row, &got), 0);
	resources_are(&got, &job);
	CHECK_INT(got.shared, SHARED_NONE);
	CHECK_INT(got.flags & (JOB_HAS_THREADS | JOB_HAS_ACCELS),
	    JOB_HAS_THREADS | JOB_HAS_ACCELS);
	job_clear(&got);
	job_clear(&job);
	CHECK_INT(spool_commit(sp), 0);
	CHECK_INT(spool_resources_count(sp), 0);
	spool_close(sp);
	file_remove();
}

/* Resources kept without a row, and merged into the record of accounting. */
static void
test_stub(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct job job, told, got;
	struct writer w;
	int64_t row;
	size_t i;

	job_with_resources(&job, 5, 1000);
	wr_init(&w, 1 << 16);
	CHECK_INT(spool_resources_write(&w, &job), 0);
	CHECK(w.len <= SPOOL_RESOURCE_MAX);
	for (i = 0; i <= w.len; i++) {
		job_init(&got);
		CHECK_INT(spool_resources_read(w.buf, i, &got),
		    i < w.len ? -1 : 0);
		if (i == w.len)
			resources_are(&got, &job);
		job_clear(&got);
	}
	for (i = 0; i < w.len; i++) {
		w.buf[i] ^= 0x10;
		job_init(&got);
		CHECK_INT(spool_resources_read(w.buf, w.len, &got), -1);
		job_clear(&got);
		w.buf[i] ^= 0x10;
	}
	wr_clear(&w);
	CHECK_INT(spool_resources_put(sp, &job), PUT_NEW);
	CHECK_INT(spool_resources_put(sp, &job), PUT_NEW);
	CHECK_INT(spool_commit(sp), 0);
	CHECK_INT(spool_resources_count(sp), 1);
	spool_close(sp);
	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_resources_count(sp), 1);
	/* Its start has moved since, its submission has not. */
	job_make(&told, 5, 1060, 2000);
	told.submit = 970;
	CHECK_INT(spool_put(sp, &told, &row), PUT_NEW);
	job_clear(&told);
	job_init(&got);
	CHECK_INT(spool_record(sp, row, &got), 0);
	resources_are(&got, &job);
	CHECK_INT(got.shared, SHARED_NONE);
	job_clear(&got);
	CHECK_INT(spool_commit(sp), 0);
	CHECK_INT(spool_resources_count(sp), 0);
	CHECK_INT(spool_resources_put(sp, &job), PUT_NEW);
	job.key.start = 1060;
	CHECK_INT(spool_resources_put(sp, &job), PUT_KNOWN);
	job.end = 2000;
	CHECK_INT(spool_resources_put(sp, &job), PUT_REFUSED);
	CHECK_INT(spool_age(sp, 1000 + SPOOL_RESOURCE_KEEP, 1), 0);
	CHECK_INT(spool_commit(sp), 0);
	CHECK_INT(spool_resources_count(sp), 1);
	CHECK_INT(spool_age(sp, 1001 + SPOOL_RESOURCE_KEEP, 1), 0);
	CHECK_INT(spool_commit(sp), 0);
	CHECK_INT(spool_resources_count(sp), 0);
	job_clear(&job);
	spool_close(sp);
	file_remove();
}

static void
tomb_make(struct spool *sp, uint64_t id, int64_t start, int64_t end)
{
	struct spool_run run;
	int64_t row;

	CHECK_INT(put(sp, id, start, end, &row), PUT_NEW);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(spool_finish(sp, &run), 0);
	CHECK_INT(spool_commit(sp), 0);
}

/*
 * A walk over the tombstones finds each old one, also one of a run that ended
 * before those of the walk before, one of a walk that was not committed, and
 * one that came behind the position of the walk.
 */
static void
test_age(void)
{
	struct spool *sp = spool_begin_test(1, 0);

	tomb_make(sp, 7, 1000, 2000);
	CHECK_INT(spool_age(sp, 2000 + WEEK, 100), 0);
	tomb_make(sp, 8, 500, 900);
	CHECK_INT(spool_age(sp, 900 + WEEK, 100), 0);
	CHECK_INT(spool_age(sp, 901 + WEEK, 100), 1);
	CHECK_INT(spool_commit(sp), 0);
	CHECK_INT(spool_age(sp, 2001 + WEEK, 100), 1);
	spool_rollback(sp);
	CHECK_INT(spool_age(sp, 2001 + WEEK, 100), 1);
	CHECK_INT(spool_commit(sp), 0);
	CHECK_INT(spool_age(sp, 2001 + WEEK, 100), 0);

	/* One of a page: the walk is behind job 9 when job 5 comes. */
	tomb_make(sp, 9, 2500, 3000);
	tomb_make(sp, 10, 2500, 4000);
	tomb_make(sp, 11, 2500, 2900);
	CHECK_INT(spool_age(sp, 3000 + WEEK, 1), 0);
	tomb_make(sp, 5, 2000, 2800);
	CHECK_INT(spool_age(sp, 3000 + WEEK, 1), 0);
	CHECK_INT(spool_age(sp, 3000 + WEEK, 1), 1);
	CHECK_INT(spool_age(sp, 3000 + WEEK, 1), 0);
	CHECK_INT(spool_age(sp, 3000 + WEEK, 1), 1);
	spool_close(sp);
	file_remove();
}

#define TOMBS 20000

/*
 * Tombstones are small; of a full spool the oldest go, and what ended before
 * them is not taken again; the youngest hour stays.
 */
static void
test_evict(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	int64_t wall = 2000000000, row, i, start, low_water;
	struct run_key key = { "alpha", 0, 0 };
	uint64_t empty = spool_bytes(sp);
	struct spool_run run;
	struct job job;
	int rc;

	/* From a week ago on, one each thirty seconds. */
	for (i = 1; i <= TOMBS; i++) {
		start = wall - TOMBS * 30 + i * 30 - 10;
		CHECK_INT(put(sp, (uint64_t)i, start, start + 10, &row),
		    PUT_NEW);
		spool_get(sp, row, &run);
		spool_finish(sp, &run);
	}
	CHECK_INT(spool_commit(sp), 0);
	CHECK((spool_bytes(sp) - empty) / TOMBS <= 40);
	CHECK_INT(spool_low_water(sp), 0);
	/* Accounting was never read: what ended long ago may come. */
	CHECK_INT(spool_evict(sp, wall, 512), 0);
	CHECK_INT(spool_watermark(sp, "alpha", wall - 86400), 0);
	CHECK_INT(spool_evict(sp, wall, 512), 1);
	low_water = spool_low_water(sp);
	CHECK_INT(low_water, wall - WEEK + WEEK / 8);
	for (i = 0; i < TOMBS / 512 && spool_low_water(sp) == low_water; i++)
		spool_evict(sp, wall, 512);
	for (i = 1; i <= TOMBS; i++) {
		key.job = (uint64_t)i;
		key.start = wall - TOMBS * 30 + i * 30 - 10;
		CHECK_INT(spool_is_done(sp, &key), key.start + 10 >= low_water);
	}
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_low_water(sp), low_water);
	/* Ended before: not again.  It runs, or has ended since: of course. */
	CHECK_INT(put(sp, 1, wall - TOMBS * 30 + 20, wall - TOMBS * 30 + 30,
		      &row),
	    PUT_KNOWN);
	CHECK_INT(spool_below_low_water(sp), 1);
	job_make(&job, 1, wall - TOMBS * 30 + 20, wall - TOMBS * 30 + 30);
	job.flags |= JOB_BACKFILL;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	CHECK_INT(put(sp, 2, wall - TOMBS * 30 + 50, 0, &row), PUT_NEW);
	CHECK_INT(put(sp, 2, wall - TOMBS * 30 + 50, wall - 5, &row),
	    PUT_MERGED);
	/* Accounting was read up to a day ago: what ended since may come. */
	CHECK_INT(spool_watermark(sp, "beta", wall - 2 * WEEK), 0);
	for (i = 0; (rc = spool_evict(sp, wall, 512)) == 1; i++)
		CHECK(i < 10000);
	CHECK_INT(rc, 0);
	CHECK(spool_low_water(sp) > low_water);
	CHECK(spool_low_water(sp) <= wall - 86400 - 3600);
	CHECK_INT(put(sp, TOMBS + 1, wall - 90000, wall - 86400, &row),
	    PUT_NEW);
	CHECK_INT(spool_watermark(sp, "alpha", wall), 0);
	spool_policy(sp)->from_stream = 1;
	CHECK_INT(spool_evict(sp, wall, 512), 0);
	spool_policy(sp)->from_stream = 0;
	for (i = 0; (rc = spool_evict(sp, wall, 512)) == 1; i++)
		CHECK(i < 10000);
	CHECK_INT(rc, 0);
	CHECK(spool_low_water(sp) > wall - 86400);
	CHECK(spool_low_water(sp) <= wall - 3600);
	key.job = TOMBS;
	key.start = wall - 10;
	CHECK(spool_is_done(sp, &key));
	spool_close(sp);
	file_remove();
}

/*
 * The wall clock is ahead of Slurm's, by a day or by so much that no run is within
 * the retention time.  Runs that end from now on are stored, and those that ended
 * after the time up to which accounting was read.
 */
static void
test_evict_ahead(void)
{
	static const int64_t ahead[] = { 86400, 100 * WEEK };
	struct spool *sp;
	int64_t now = 2000000000, row;
	struct spool_run run;
	size_t i;
	int k, again;

	for (i = 0; i < 2; i++) {
		sp = spool_begin_test(1, 0);
		CHECK_INT(spool_evict(sp, now + ahead[i], 512), 0);
		CHECK_INT(put(sp, 1, now - 20, now - 10, &row), PUT_NEW);
		spool_get(sp, row, &run);
		spool_finish(sp, &run);
		CHECK_INT(spool_watermark(sp, "alpha", now - 30), 0);
		CHECK_INT(spool_commit(sp), 0);
		for (again = 0; again < 2; again++) {
			for (k = 0; spool_evict(sp, now + ahead[i], 512) == 1;
			     k++)
				CHECK(k < 1000);
			CHECK(spool_low_water(sp) <= now - 30);
			CHECK_INT(put(sp, (uint64_t)again + 2, now - 25,
				      now - again * 20, &row),
			    PUT_NEW);
			CHECK_INT(spool_commit(sp), 0);
			spool_close(sp);
			sp = spool_begin_test(1, 0);
		}
		spool_close(sp);
		file_remove();
	}
}

/* Scripts go once the start is delivered, and not before. */
static void
test_shed(void)
{
	struct spool *sp = spool_begin_test(1, 1);
	struct job job;
	int64_t rows[300], i;
	int n, dryrun_runs = 0;

	for (i = 0; i < 300; i++) {
		job_make(&job, (uint64_t)i + 1, 1000 + i, 0);
		job.script = strdup("#!/bin/sh");
		CHECK_INT(spool_put(sp, &job, &rows[i]), PUT_NEW);
		job_clear(&job);
		if (i % 3 != 0)
			state_set(sp, rows[i], DEST_REST, START_COMMITTED);
		if (i % 3 == 2)
			state_set(sp, rows[i], DEST_NATS, STARTED);
	}
	spool_evict_begin(sp);
	while ((n = spool_drop_scripts(sp, 64)) > 0)
		dryrun_runs += n;
	CHECK_INT(n, 0);
	CHECK_INT(dryrun_runs, 300);
	for (i = 0; i < 300; i++) {
		job_init(&job);
		CHECK_INT(spool_record(sp, rows[i], &job), 0);
		CHECK_STR(job.script, i % 3 == 2 ? NULL : "#!/bin/sh");
		CHECK_STR(job.user, "u1");
		job_clear(&job);
	}
	spool_close(sp);
	file_remove();
}

/* The position in a stream is as durable as the records before it. */
static void
test_stream(void)
{
	const struct spool_stream early = { 7, 40 }, late = { 7, 41 },
				  other = { 8, 3 };
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_stream at;

	CHECK_INT(spool_stream(sp, "alpha", &at), 0);
	CHECK_INT(at.sequence, 0);
	CHECK_INT(spool_stream_set(sp, "alpha", &late), 0);
	CHECK_INT(spool_commit(sp), 0);
	CHECK_INT(spool_stream_set(sp, "alpha", &late), 0);
	CHECK_INT(spool_dirty(sp), 0);
	/* A stream that was made anew begins again. */
	CHECK_INT(spool_stream_set(sp, "alpha", &other), 0);
	spool_rollback(sp);
	CHECK_INT(spool_stream(sp, "alpha", &at), 1);
	CHECK_INT(at.identity, 7);
	CHECK_INT(at.sequence, 41);
	/* A broker that has lost the end of a stream gives numbers again. */
	CHECK_INT(spool_stream_set(sp, "alpha", &early), 0);
	CHECK_INT(spool_stream(sp, "alpha", &at), 1);
	CHECK_INT(at.sequence, 40);
	CHECK_INT(spool_stream_set(sp, "alpha", &other), 0);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	sp = spool_begin_test(1, 0);
	CHECK_INT(spool_stream(sp, "alpha", &at), 1);
	CHECK_INT(at.identity, 8);
	CHECK_INT(at.sequence, 3);
	CHECK_INT(spool_stream(sp, "alph", &at), 0);
	spool_close(sp);
	file_remove();
}

static int
cached_bytes(struct spool *sp)
{
	int now = 0, most;

	CHECK_INT(sqlite3_db_status(sp->db, SQLITE_DBSTATUS_CACHE_USED, &now,
		      &most, 0),
	    SQLITE_OK);
	return now;
}

/* Cached pages can be freed while runs are stored, and are read again. */
static void
test_shrink(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	struct job job;
	int64_t id, last = 0;
	int i;

	for (i = 1; i <= 2000; i++) {
		job_make(&job, (uint64_t)i, 1000 + i, 0);
		CHECK_INT(spool_put(sp, &job, &id), PUT_NEW);
		job_clear(&job);
		last = id;
	}
	CHECK_INT(spool_commit(sp), 0);
	CHECK(cached_bytes(sp) > 256 << 10);
	spool_shrink(sp);
	CHECK(cached_bytes(sp) < 64 << 10);
	CHECK_INT(spool_get(sp, last, &run), 1);
	CHECK_INT(run.key.job, 2000);
	spool_close(sp);
	file_remove();
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	spool_prepare();
	test_modes();
	test_stream();
	test_life();
	test_seen();
	test_order();
	test_moved();
	test_set_back();
	test_kept_away();
	test_false_start_late();
	test_pages();
	test_cursor_and_meta();
	test_full();
	test_limit();
	test_damage();
	test_too_long();
	test_salvage();
	test_recovery_in_parts();
	test_recovery_of_seen_runs();
	test_recovery_of_times();
	test_recovery_of_updates();
	test_recovery_of_watermark();
	test_recovery_of_good_watermark();
	test_two_damaged();
	test_full_disk();
	test_no_inode();
	test_set_aside();
	test_set_aside_row();
	test_forged_like();
	test_inflight();
	test_no_memory();
	test_late();
	test_blocked();
	test_blocked_by_false_start();
	test_migration();
	test_stub_v1();
	test_stub();
	test_age();
	test_evict();
	test_evict_ahead();
	test_shed();
	test_shrink();
	rmdir(dir);
	return check_done();
}
