/* SPDX-License-Identifier: MIT */
/*
 * Runs whose whole record is published to a stream (deliver "stream"): what
 * makes a record due again, and its revision.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "submitter/spool/spool.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"

static char dir[] = "/tmp/test_whole.XXXXXX";
static struct spool *sp;
static int64_t row;

static enum spool_put
put_at(int64_t start, unsigned flags, int64_t end, const char *script)
{
	enum spool_put rc;
	struct job job;
	int64_t id;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = 12;
	job.key.start = start;
	job.flags = JOB_HAS_START | flags;
	job.end = end;
	job.state = end != 0 ? END_COMPLETED : END_NOT;
	job.user = strdup("u1");
	job.script = script != NULL ? strdup(script) : NULL;
	job_add_host(&job, "n1");
	rc = spool_put(sp, &job, &id);
	job_clear(&job);
	if (id != 0)
		row = id;
	return rc;
}

static enum spool_put
put(unsigned flags, int64_t end, const char *script)
{
	return put_at(1000, flags, end, script);
}

static struct spool_run
run_now(void)
{
	struct spool_run run;

	memset(&run, 0, sizeof(run));
	CHECK_INT(spool_get(sp, row, &run), 1);
	return run;
}

static uint64_t
revision(void)
{
	struct job job;
	uint64_t r;

	job_init(&job);
	CHECK_INT(spool_record(sp, row, &job), 0);
	r = job.revision;
	job_clear(&job);
	return r;
}

/* The record is being sent. */
static void
lease(void)
{
	struct spool_run run = run_now();

	run.due[DEST_NATS] = DUE_LEASED;
	run.flags &= ~RUN_CHANGED;
	CHECK_INT(spool_save(sp, &run), 0);
}

static void
accept_start(void)
{
	struct spool_run run = run_now();

	CHECK_INT(run_move(sp, &run, DEST_NATS, RUN_EVENT_ACCEPTED, DUE_NOW,
		      NULL),
	    0);
	CHECK_INT(spool_save(sp, &run), 0);
}

static void
test_changes(void)
{
	uint64_t first, second;

	CHECK_INT(put(JOB_LIVE, 0, NULL), PUT_NEW);
	first = revision();
	/* ms since 1970: two spools of one cluster agree on what is later. */
	CHECK(first > UINT64_C(1700000000000));
	CHECK_INT(run_now().state[DEST_REST], RUN_NONE);
	CHECK_INT(run_now().state[DEST_NATS], START_DUE);
	lease();
	accept_start();
	CHECK_INT(run_now().state[DEST_NATS], STARTED);
	/* The same again is no change. */
	CHECK_INT(put(JOB_LIVE, 0, NULL), PUT_KNOWN);
	CHECK_INT(run_now().state[DEST_NATS], STARTED);
	CHECK(revision() == first);
	/* The script makes the record due again. */
	CHECK_INT(put(JOB_LIVE, 0, "#!/bin/sh\n"), PUT_MERGED);
	CHECK_INT(run_now().state[DEST_NATS], START_DUE);
	CHECK_INT(run_now().due[DEST_NATS], DUE_NOW);
	second = revision();
	CHECK(second > first);
	/* The end comes while the record is being sent. */
	lease();
	CHECK_INT(put(0, 2000, NULL), PUT_MERGED);
	CHECK_INT(run_now().state[DEST_NATS], START_DUE_ENDED);
	CHECK_INT(run_now().due[DEST_NATS], DUE_LEASED);
	CHECK((run_now().flags & RUN_CHANGED) != 0);
	CHECK(revision() > second);
	accept_start();
	CHECK_INT(run_now().state[DEST_NATS], STOP_DUE);
}

static void
test_direct(void)
{
	spool_policy(sp)->whole = 0;
	CHECK_INT(put(JOB_LIVE, 0, NULL), PUT_NEW);
	CHECK_INT(revision(), 0);
	lease();
	accept_start();
	CHECK_INT(put(JOB_LIVE, 0, "#!/bin/sh\n"), PUT_MERGED);
	CHECK_INT(run_now().state[DEST_NATS], STARTED);
	CHECK_INT(revision(), 0);
}

/* deliver changes from "direct" to "stream". */
static void
test_to_stream(void)
{
	struct spool_run run;

	spool_policy(sp)->whole = 0;
	spool_policy(sp)->to[DEST_NATS] = 0;
	spool_policy(sp)->to[DEST_REST] = 1;
	CHECK_INT(put(JOB_LIVE, 0, NULL), PUT_NEW);
	run = run_now();
	CHECK_INT(run_move(sp, &run, DEST_REST, RUN_EVENT_COMMITTED, DUE_NOW,
		      NULL),
	    0);
	CHECK_INT(spool_save(sp, &run), 0);
	spool_policy(sp)->whole = 1;
	spool_policy(sp)->to[DEST_NATS] = 1;
	spool_policy(sp)->to[DEST_REST] = 0;
	/* Without this step, nothing of the run would be published. */
	CHECK_INT(put(JOB_LIVE, 0, NULL), PUT_KNOWN);
	CHECK_INT(run_now().state[DEST_NATS], RUN_NONE);
	CHECK_INT(spool_to_stream(sp), 1);
	CHECK_INT(run_now().state[DEST_REST], RUN_NONE);
	CHECK_INT(run_now().state[DEST_NATS], START_DUE);
	CHECK_INT(spool_to_stream(sp), 0);
	CHECK_INT(put(0, 2000, NULL), PUT_MERGED);
	CHECK_INT(run_now().state[DEST_NATS], START_DUE_ENDED);
	CHECK_INT(spool_count(sp, DEST_REST, START_COMMITTED), 0);
}

/*
 * The same of a suite that published its runs by NATS, too: what NATS has of a
 * run is no record of a stream.
 */
static void
test_to_stream_with_nats(void)
{
	struct spool_run run;
	int64_t older;

	spool_policy(sp)->whole = 0;
	spool_policy(sp)->to[DEST_REST] = 1;
	CHECK_INT(put(0, 2000, NULL), PUT_NEW);
	older = row;
	accept_start();
	run = run_now();
	CHECK_INT(run_move(sp, &run, DEST_NATS, RUN_EVENT_STOPPED, DUE_KEEP,
		      NULL),
	    0);
	CHECK_INT(spool_save(sp, &run), 0);
	CHECK_INT(run_now().state[DEST_NATS], RUN_DONE);
	CHECK_INT(run_now().state[DEST_REST], START_DUE_ENDED);
	/* The next run of the job is known to NATS, too. */
	CHECK_INT(put_at(3000, JOB_LIVE, 0, NULL), PUT_NEW);
	accept_start();
	CHECK_INT(run_now().state[DEST_NATS], STARTED);
	spool_policy(sp)->whole = 1;
	spool_policy(sp)->to[DEST_REST] = 0;
	CHECK_INT(spool_to_stream(sp), 2);
	CHECK_INT(run_now().state[DEST_REST], RUN_NONE);
	CHECK_INT(run_now().state[DEST_NATS], START_BLOCKED);
	row = older;
	CHECK_INT(run_now().state[DEST_REST], RUN_NONE);
	CHECK_INT(run_now().state[DEST_NATS], START_DUE_ENDED);
	CHECK_INT(spool_to_stream(sp), 0);
}

/* The next run was due on NATS: it is counted once where it waits now. */
static void
test_to_stream_next_due(void)
{
	spool_policy(sp)->whole = 0;
	spool_policy(sp)->to[DEST_REST] = 1;
	CHECK_INT(put(JOB_LIVE, 0, NULL), PUT_NEW);
	accept_start();
	CHECK_INT(put_at(3000, JOB_LIVE, 0, NULL), PUT_NEW);
	CHECK_INT(spool_count(sp, DEST_NATS, START_DUE), 1);
	spool_policy(sp)->whole = 1;
	spool_policy(sp)->to[DEST_REST] = 0;
	CHECK_INT(spool_to_stream(sp), 2);
	CHECK_INT(run_now().state[DEST_NATS], START_BLOCKED);
	CHECK_INT(spool_count(sp, DEST_NATS, START_BLOCKED), 1);
	CHECK_INT(spool_count(sp, DEST_NATS, START_DUE), 1);
}

static void
spool_begin(const char *name)
{
	char path[96], reason[256] = "";

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	sp = spool_open(path, 64 << 20, 604800, reason, sizeof(reason));
	CHECK_STR(reason, "");
	if (sp == NULL)
		exit(1);
	spool_policy(sp)->to[DEST_NATS] = 1;
	spool_policy(sp)->whole = 1;
}

int
main(void)
{
	char cmd[128];

	spool_prepare();
	if (mkdtemp(dir) == NULL)
		return 1;
	spool_begin("whole.db");
	test_changes();
	spool_close(sp);
	spool_begin("direct.db");
	test_direct();
	spool_close(sp);
	spool_begin("to_stream.db");
	test_to_stream();
	spool_close(sp);
	spool_begin("to_stream_nats.db");
	test_to_stream_with_nats();
	spool_close(sp);
	spool_begin("to_stream_due.db");
	test_to_stream_next_due();
	spool_close(sp);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CHECK_INT(system(cmd), 0);
	return check_done();
}
