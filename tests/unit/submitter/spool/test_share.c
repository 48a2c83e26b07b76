/* SPDX-License-Identifier: MIT */
/*
 * The bytes of each cluster's runs, and those that wait: they follow each change, and
 * the stored sums.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "submitter/spool/spool.h"
#include "tests/unit/check.h"

static char dir[] = "/tmp/test_share.XXXXXX";
static char path[64];

static struct spool *
spool_begin_test(int count)
{
	char reason[256] = "";
	struct spool *sp = spool_open(path, 64 << 20, 604800, reason,
	    sizeof(reason));

	CHECK_STR(reason, "");
	if (sp == NULL)
		exit(1);
	spool_policy(sp)->to[DEST_REST] = 1;
	if (count)
		CHECK_INT(spool_shares_begin(sp), 0);
	return sp;
}

/* Puts a run with a script of this length; returns its row. */
static int64_t
put(struct spool *sp, const char *cluster, uint64_t id, size_t script)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "%s", cluster);
	job.key.job = id;
	job.key.start = 1000;
	job.flags = JOB_HAS_START;
	job.nodes = 1;
	job.user = strdup("u1");
	job_add_host(&job, "n1");
	if (script > 0) {
		job.script = calloc(1, script + 1);
		memset(job.script, 'x', script);
	}
	CHECK(spool_put(sp, &job, &row) != PUT_ERROR);
	job_clear(&job);
	return row;
}

static void
test_changes(void)
{
	struct spool *sp = spool_begin_test(1);
	int64_t row, small, large;
	struct spool_run run;

	CHECK_INT(spool_shares_all(sp), 0);
	row = put(sp, "alpha", 1, 0);
	small = spool_share(sp, "alpha");
	CHECK(small > 0 && small < 2000);
	CHECK_INT(spool_share(sp, "bravo"), 0);
	CHECK_INT(spool_commit(sp), 0);
	put(sp, "alpha", 1, 100000); /* the script comes later */
	large = spool_share(sp, "alpha");
	CHECK(large >= small + 100000 && large < small + 110000);
	spool_rollback(sp);
	CHECK_INT(spool_share(sp, "alpha"), small);
	put(sp, "alpha", 1, 100000);
	put(sp, "bravo", 1, 0);
	CHECK_INT(spool_share(sp, "bravo"), small);
	CHECK_INT(spool_shares_all(sp), large + small);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(spool_forget(sp, &run), 0);
	CHECK_INT(spool_shares_all(sp), small);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
}

/* bravo has one run in the file. */
static void
test_stored(void)
{
	struct spool *sp = spool_begin_test(1);
	int64_t one = spool_share(sp, "bravo");

	CHECK(one > 0);
	CHECK_INT(spool_shares_all(sp), one);
	spool_close(sp);
	/* A program that does not count. */
	sp = spool_begin_test(0);
	put(sp, "bravo", 2, 0);
	put(sp, "alpha", 3, 5000);
	CHECK_INT(spool_shares_all(sp), 0);
	spool_close(sp);
	sp = spool_begin_test(1);
	CHECK_INT(spool_share(sp, "bravo"), 2 * one);
	CHECK(spool_share(sp, "alpha") > 5000);
	put(sp, "bravo", 4, 0);
	CHECK_INT(spool_share(sp, "bravo"), 3 * one);
	spool_close(sp);
}

/* Runs that wait for delivery are counted with each change, and at the start. */
static void
test_waiting(void)
{
	struct spool *sp = spool_begin_test(1);
	int64_t before = spool_share_waits(sp, "bravo"), first, row;
	struct spool_run run;

	first = put(sp, "bravo", 20, 0);
	row = put(sp, "bravo", 21, 0);
	CHECK_INT(spool_share_waits(sp, "bravo"), before + 2);
	CHECK_INT(spool_commit(sp), 0);
	CHECK_INT(spool_get(sp, row, &run), 1);
	run.state[DEST_REST] = START_COMMITTED;
	CHECK_INT(spool_save(sp, &run), 0);
	CHECK_INT(spool_share_waits(sp, "bravo"), before + 1);
	spool_rollback(sp);
	CHECK_INT(spool_share_waits(sp, "bravo"), before + 2);
	/* Slurm has not confirmed it. */
	CHECK_INT(spool_get(sp, first, &run), 1);
	run.flags |= RUN_UNCONFIRMED;
	CHECK_INT(spool_save(sp, &run), 0);
	CHECK_INT(spool_share_waits(sp, "bravo"), before + 1);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	sp = spool_begin_test(1);
	CHECK_INT(spool_share_waits(sp, "bravo"), before + 1);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(spool_forget(sp, &run), 0);
	CHECK_INT(spool_get(sp, first, &run), 1);
	CHECK_INT(spool_forget(sp, &run), 0);
	CHECK_INT(spool_share_waits(sp, "bravo"), before);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
}

/* A run that is done uses the bytes of its tombstone, until that is removed. */
static void
test_tombstones(void)
{
	struct spool *sp = spool_begin_test(1);
	int64_t before = spool_share(sp, "bravo"), one, row;
	struct spool_run run;

	row = put(sp, "bravo", 10, 0);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(spool_finish(sp, &run), 0);
	one = spool_share(sp, "bravo") - before;
	CHECK(one >= 20 && one <= 100);
	/* again, as after a backfill */
	row = put(sp, "charlie", 10, 0);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(spool_finish(sp, &run), 0);
	CHECK_INT(spool_share(sp, "charlie"), one);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	/* They are counted when the sums are not those of the last commit. */
	sp = spool_begin_test(0);
	put(sp, "bravo", 11, 0);
	spool_close(sp);
	sp = spool_begin_test(1);
	CHECK_INT(spool_share(sp, "charlie"), one);
	CHECK_INT(spool_age(sp, 1000 + 2 * 604800, 100), 2);
	CHECK_INT(spool_share(sp, "charlie"), 0);
	spool_close(sp);
}

int
main(void)
{
	char cmd[64];

	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	spool_prepare();
	test_changes();
	test_stored();
	test_tombstones();
	test_waiting();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CHECK_INT(system(cmd), 0);
	return check_done();
}
