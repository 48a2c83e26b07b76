/* SPDX-License-Identifier: MIT */
/*
 * The destinations of jobs change while runs are in the spool: each run goes to
 * the new ones, and nothing waits for one that was removed.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "submitter/spool/spool.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"

enum {
	REST = 1,
	NATS = 2
};

static char dir[] = "/tmp/test_destinations.XXXXXX";
static struct spool *sp;
static int64_t row;
static struct spool_dest_change change;

static void
use(int dests)
{
	spool_policy(sp)->to[DEST_REST] = (dests & REST) != 0;
	spool_policy(sp)->to[DEST_NATS] = (dests & NATS) != 0;
}

/* 1 when the destinations differ from those before. */
static int
use_now(int dests)
{
	use(dests);
	return spool_destinations_change(sp, &change);
}

static enum spool_put
put(uint64_t id, int64_t start, int64_t end, unsigned flags)
{
	enum spool_put rc;
	struct job job;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = id;
	job.key.start = start;
	job.flags = JOB_HAS_START | flags;
	job.end = end;
	job.state = end != 0 ? END_COMPLETED : END_NOT;
	job.user = strdup("u1");
	job_add_host(&job, "n1");
	rc = spool_put(sp, &job, &row);
	job_clear(&job);
	return rc;
}

static struct spool_run
run_now(void)
{
	struct spool_run run;

	memset(&run, 0, sizeof(run));
	CHECK_INT(spool_get(sp, row, &run), 1);
	return run;
}

static void
move(enum dest dest, enum run_event event)
{
	struct spool_run run = run_now();

	CHECK_INT(run_move(sp, &run, dest, event, DUE_NOW, NULL), 0);
	run.flags |= RUN_KEY_FIXED;
	if (dest == DEST_REST)
		run.flags |= RUN_REST_STARTED;
	CHECK_INT(spool_save(sp, &run), 0);
}

static void
states(enum run_state rest, enum run_state nats)
{
	struct spool_run run = run_now();

	CHECK_INT(run.state[DEST_REST], rest);
	CHECK_INT(run.state[DEST_NATS], nats);
}

/* The same file, opened by the next process. */
static void
spool_begin(const char *name)
{
	char path[96], reason[256] = "";

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	sp = spool_open(path, 64 << 20, 604800, reason, sizeof(reason));
	CHECK_STR(reason, "");
	if (sp == NULL)
		exit(1);
}

static void
begin(const char *name, int dests)
{
	spool_begin(name);
	CHECK_INT(use_now(dests), 0);
}

static void
end(void)
{
	CHECK_INT(spool_forbidden(sp), 0);
	spool_close(sp);
}

/* ccRestSubmitJobs false to true, NATS stays. */
static void
test_rest_added(void)
{
	begin("rest_added.db", NATS);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_NEW);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	states(RUN_NONE, STARTED);
	CHECK_INT(use_now(REST | NATS), 1);
	CHECK_INT(change.added[DEST_REST], 1);
	CHECK_INT(change.runs, 1);
	states(START_DUE, STARTED);
	CHECK_INT(run_now().due[DEST_REST], DUE_NOW);
	CHECK_INT(use_now(REST | NATS), 0);
	CHECK_INT(put(1, 1000, 2000, 0), PUT_MERGED);
	states(START_DUE_ENDED, STOP_DUE);
	end();
}

/* The same, and natsServer is removed. */
static void
test_nats_to_rest(void)
{
	int64_t open, ended;

	begin("nats_to_rest.db", NATS);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_NEW);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	open = row;
	CHECK_INT(put(2, 1000, 2000, 0), PUT_NEW);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	states(RUN_NONE, STOP_DUE);
	ended = row;
	CHECK_INT(use_now(REST), 1);
	CHECK_INT(change.runs, 2);
	row = open;
	states(START_DUE, RUN_NONE);
	row = ended;
	states(START_DUE_ENDED, RUN_NONE);
	end();
}

/* ccRestSubmitJobs true to false with NATS as the new destination. */
static void
test_rest_to_nats(void)
{
	begin("rest_to_nats.db", REST);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_NEW);
	move(DEST_REST, RUN_EVENT_COMMITTED);
	CHECK_INT(put(2, 1000, 2000, 0), PUT_NEW);
	move(DEST_REST, RUN_EVENT_COMMITTED);
	states(STOP_DUE, RUN_NONE);
	CHECK_INT(use_now(NATS), 1);
	CHECK_INT(change.removed[DEST_REST], 1);
	states(RUN_NONE, START_DUE_ENDED);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	move(DEST_NATS, RUN_EVENT_STOPPED);
	CHECK_INT(spool_runs(sp), 1);
	end();
}

/* The same while NATS was in use: cc-backend may have missed these messages. */
static void
test_rest_removed(void)
{
	int64_t open;

	begin("rest_removed.db", REST | NATS);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_NEW);
	move(DEST_REST, RUN_EVENT_COMMITTED);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	open = row;
	CHECK_INT(put(2, 1000, 2000, 0), PUT_NEW);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	move(DEST_NATS, RUN_EVENT_STOPPED);
	states(START_DUE_ENDED, RUN_DONE);
	CHECK_INT(use_now(NATS), 1);
	states(RUN_NONE, START_DUE_ENDED);
	row = open;
	states(RUN_NONE, START_DUE);
	end();
}

/*
 * NATS did not get a run that a comparison found in cc-backend, nor a held one of a
 * backfill.
 */
static void
test_listed_first(void)
{
	struct run_key key = { .cluster = "alpha", .job = 1, .start = 1000 };
	int64_t listed;

	begin("listed.db", REST | NATS);
	CHECK_INT(spool_put_from_backend(sp, &key), 1);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_MERGED);
	states(START_COMMITTED, RUN_NONE);
	listed = row;
	CHECK_INT(put(2, 1000, 2000, JOB_BACKFILL), PUT_NEW);
	states(BACKFILL_HELD, BACKFILL_HELD);
	CHECK_INT(use_now(REST), 1);
	CHECK_INT(use_now(NATS), 1);
	states(RUN_NONE, BACKFILL_HELD);
	row = listed;
	states(RUN_NONE, START_DUE);
	CHECK_INT(put(1, 1000, 2000, 0), PUT_MERGED);
	states(RUN_NONE, START_DUE_ENDED);
	end();
	begin("listed2.db", REST | NATS);
	CHECK_INT(spool_put_from_backend(sp, &key), 1);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_MERGED);
	CHECK_INT(use_now(NATS), 1);
	states(RUN_NONE, START_DUE);
	end();
}

/* The list had it, and no record: the flag of the first list. */
static void
first_listed(const struct run_key *key)
{
	struct spool_run run;

	CHECK_INT(spool_put_from_backend(sp, key), 1);
	CHECK_INT(spool_find(sp, key, &run), 1);
	run.flags |= RUN_FIRST_LISTED;
	CHECK_INT(spool_save(sp, &run), 0);
	row = run.id;
	states(START_COMMITTED, RUN_NONE);
}

/*
 * The readers of NATS get the stop of such a run, also when Slurm does not know it.
 * When REST is removed, they get the run from its start.
 */
static void
test_first_listed(void)
{
	struct run_key key = { .cluster = "alpha", .job = 1, .start = 1000 };
	struct spool_run run;
	struct job job;

	begin("first_listed.db", REST | NATS);
	first_listed(&key);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_MERGED);
	states(START_COMMITTED, STARTED);
	CHECK_INT(use_now(NATS), 1);
	states(RUN_NONE, START_DUE);
	end();

	begin("first_listed2.db", REST | NATS);
	first_listed(&key);
	run = run_now();
	job_init(&job);
	job.key = key;
	job.end = 2000;
	CHECK_INT(spool_end(sp, &run, &job, "", 0), 0);
	states(STOP_DUE, STOP_DUE);
	end();

	begin("first_listed3.db", REST);
	first_listed(&key);
	CHECK_INT(put(1, 1000, 2000, 0), PUT_MERGED);
	states(STOP_DUE, RUN_NONE);
	end();
}

/* A spool of an older version, which has such runs only, is as it was. */
static void
test_older_version(void)
{
	struct run_key key = { .cluster = "alpha", .job = 1, .start = 1000 };

	spool_begin("older.db");
	use(REST | NATS);
	CHECK_INT(spool_put_from_backend(sp, &key), 1);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_MERGED);
	CHECK_INT(use_now(REST | NATS), 0);
	states(START_COMMITTED, RUN_NONE);
	end();
}

/* Nothing waits for NATS any more: the row of a delivered run is removed. */
static void
test_nats_removed(void)
{
	begin("nats_removed.db", REST | NATS);
	CHECK_INT(put(1, 1000, 2000, 0), PUT_NEW);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	move(DEST_REST, RUN_EVENT_COMMITTED);
	move(DEST_REST, RUN_EVENT_STOPPED);
	states(RUN_DONE, STOP_DUE);
	CHECK_INT(use_now(REST), 1);
	CHECK_INT(spool_runs(sp), 0);
	end();
}

/* deliver "stream" back to "direct", after a restart of an older version. */
static void
test_from_stream(void)
{
	int64_t known;

	spool_begin("from_stream.db");
	use(NATS);
	spool_policy(sp)->whole = 1;
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_NEW);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	known = row;
	CHECK_INT(put(2, 1000, 0, JOB_LIVE), PUT_NEW);
	states(RUN_NONE, START_DUE);
	end();
	spool_begin("from_stream.db");
	CHECK_INT(use_now(REST), 1);
	states(START_DUE, RUN_NONE);
	row = known;
	states(START_DUE, RUN_NONE);
	end();
}

/* The same with NATS as the new destination: its clients know no records. */
static void
test_from_stream_to_nats(void)
{
	spool_begin("stream_to_nats.db");
	spool_policy(sp)->whole = 1;
	CHECK_INT(use_now(NATS), 0);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_NEW);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	states(RUN_NONE, STARTED);
	end();
	spool_begin("stream_to_nats.db");
	CHECK_INT(use_now(NATS), 1);
	CHECK_INT(change.runs, 1);
	states(RUN_NONE, START_DUE);
	CHECK_INT(use_now(NATS), 0);
	end();
}

/* A restart without a change leaves what REST alone or NATS alone has. */
static void
test_restart(void)
{
	int64_t delivered;

	begin("restart.db", REST | NATS);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_NEW);
	move(DEST_REST, RUN_EVENT_COMMITTED);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE | JOB_OPTED_OUT), PUT_MERGED);
	delivered = row;
	end();
	spool_begin("restart.db");
	CHECK_INT(use_now(REST | NATS), 0);
	row = delivered;
	CHECK_INT(run_now().state[DEST_REST], START_COMMITTED);
	end();
}

/* Runs whose users have opted out go nowhere; one that NATS has is kept there. */
static void
test_opted_out(void)
{
	int64_t never;

	begin("opted_out.db", NATS);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE | JOB_OPTED_OUT), PUT_NEW);
	never = row;
	CHECK_INT(put(2, 1000, 0, JOB_LIVE), PUT_NEW);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	CHECK_INT(put(2, 1000, 0, JOB_LIVE | JOB_OPTED_OUT), PUT_MERGED);
	CHECK_INT(use_now(REST | NATS), 1);
	CHECK_INT(change.runs, 0);
	states(RUN_NONE, STARTED);
	row = never;
	states(RUN_NONE, RUN_NONE);
	end();
}

/* The new destination keeps the order of the runs of one job. */
static void
test_order(void)
{
	int64_t first;

	begin("order.db", NATS);
	CHECK_INT(put(1, 1000, 2000, 0), PUT_NEW);
	move(DEST_NATS, RUN_EVENT_ACCEPTED);
	first = row;
	CHECK_INT(put(1, 3000, 0, JOB_LIVE), PUT_NEW);
	CHECK_INT(use_now(REST | NATS), 1);
	states(START_BLOCKED, START_DUE);
	row = first;
	states(START_DUE_ENDED, STOP_DUE);
	end();
}

/* A run that Slurm has not confirmed is not sent; one of cc-backend's list. */
static void
test_unconfirmed(void)
{
	struct run_key key = { .cluster = "alpha", .job = 9, .start = 1000 };

	begin("unconfirmed.db", REST);
	CHECK_INT(spool_put_from_backend(sp, &key), 1);
	CHECK_INT(put(1, 1000, 0, JOB_UNCONFIRMED), PUT_NEW);
	CHECK_INT(use_now(NATS), 1);
	states(RUN_NONE, START_DUE);
	CHECK_INT(run_now().due[DEST_NATS], DUE_UNCONFIRMED);
	CHECK_STR(run_now().reason, "waits until Slurm shows it running");
	/* The other one has no record to publish. */
	CHECK_INT(spool_runs(sp), 1);
	/* A list that was requested before comes late. */
	CHECK_INT(spool_put_from_backend(sp, &key), 0);
	CHECK_INT(spool_runs(sp), 1);
	CHECK_INT(put(1, 1000, 0, JOB_LIVE), PUT_MERGED);
	CHECK_INT(run_now().due[DEST_NATS], DUE_NOW);
	end();
}

int
main(void)
{
	char cmd[128];

	spool_prepare();
	if (mkdtemp(dir) == NULL)
		return 1;
	test_rest_added();
	test_nats_to_rest();
	test_rest_to_nats();
	test_rest_removed();
	test_nats_removed();
	test_listed_first();
	test_first_listed();
	test_older_version();
	test_from_stream();
	test_from_stream_to_nats();
	test_restart();
	test_opted_out();
	test_order();
	test_unconfirmed();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CHECK_INT(system(cmd), 0);
	return check_done();
}
