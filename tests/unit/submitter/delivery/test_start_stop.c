/* SPDX-License-Identifier: MIT */
/*
 * Decisions of the delivery, with a simulated clock: the race of a stop with
 * cc-backend's commit, a start that is never committed, a refused duplicate.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "submitter/backend/breaker.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/diff_row.h"
#include "submitter/base/wake.h"
#include "submitter/delivery/delivery.h"
#include "submitter/spool/spool.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

#define EMPTY	  "{\"jobs\":[]}"
#define NO_ROWS	  "{\"error\":\"finding job failed: sql: no rows in result set\"}"
#define REFUSED	  "{\"error\":\"already exists: dbid: 1, jobid: 2\"}"
#define PROBED	  "{\"error\":\"no such cluster: \"}"
#define FORBIDDEN "<html>\r\n<head><title>403 Forbidden</title></head>\r\n"

/* A start that is accepted and has ended. */
static void
ended_run(uint64_t job, int64_t start)
{
	sim_put(job, start, start + 100);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(job, start), STOP_BLOCKED);
}

/* No stop before a list that was requested after the start shows the run. */
static void
test_commit_race(void)
{
	sim_begin();
	sim_connect();
	ended_run(1, 1000);
	CHECK_INT(sim_waits(REQUEST_STOP), 0);
	sim_run(1999);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	sim_run(1);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") != NULL);
	/* not committed yet: no stop, another list */
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_state(1, 1000), STOP_BLOCKED);
	CHECK_INT(sim_waits(REQUEST_STOP), 0);
	sim_run(4000);
	/* a start accepted while the list is under way proves nothing */
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	ended_run(2, 1001);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(2, 1001, "running", 0) "," SIM_JOB(1, 1000,
		"running", 0) "]}");
	CHECK_INT(sim_state(1, 1000), STOP_DUE);
	CHECK_INT(sim_state(2, 1001), STOP_BLOCKED);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	CHECK(strstr(sim_body(REQUEST_STOP), "\"jobId\":1,") != NULL);
	sim_answer(REQUEST_STOP, 200, "{\"jobId\":1,\"startTime\":1000}");
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	sim_run(2000);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(2, 1001, "running", 0) "]}");
	CHECK(strstr(sim_body(REQUEST_STOP), "\"jobId\":2,") != NULL);
	sim_end();
}

/* A start and a stop are timed once; a waiting run has an age. */
static void
test_times(void)
{
	const struct histogram *starts = &sim.n.start_delivered[DEST_REST];
	const struct histogram *ends = &sim.n.end_delivered[DEST_REST];
	uint64_t n_starts, n_ends;

	sim_begin();
	sim_connect();
	n_starts = starts->total;
	n_ends = ends->total;
	CHECK_INT(delivery_oldest(&sim, DEST_REST), 0);
	sim_put(1, 1000, 0);
	CHECK(delivery_oldest(&sim, DEST_REST) > 86400);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(starts->total, n_starts + 1);
	CHECK_INT(delivery_oldest(&sim, DEST_REST), 0);
	sim_run(SIM_MINUTE);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}");
	sim_put(1, 1000, 1100);
	CHECK(delivery_oldest(&sim, DEST_REST) > 86400);
	CHECK_INT(ends->total, n_ends);
	sim_answer(REQUEST_STOP, 200, "{\"jobId\":1,\"startTime\":1000}");
	CHECK_INT(ends->total, n_ends + 1);
	CHECK_INT(starts->total, n_starts + 1);
	CHECK(ends->count[HISTOGRAM_BUCKETS] > 0);
	sim_end();
}

/* A start that waits until Slurm shows the run as running is not late. */
static void
test_unconfirmed_is_not_late(void)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	sim_begin();
	sim_connect();
	sim_put(1, 1000, 0);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.due[DEST_REST] = DUE_UNCONFIRMED;
	run.flags |= RUN_UNCONFIRMED;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	CHECK_INT(delivery_oldest(&sim, DEST_REST), 0);
	sim_put(2, 2000, 0);
	CHECK(delivery_oldest(&sim, DEST_REST) > 86400);
	run.due[DEST_REST] = DUE_NOW;
	run.flags &= ~RUN_UNCONFIRMED;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	CHECK(delivery_oldest(&sim, DEST_REST) > 86400);
	sim_end();
}

/* The end of a run that is committed waits for nothing. */
static void
test_committed(void)
{
	sim_begin();
	sim_connect();
	sim_put(1, 1000, 0);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(1, 1000), STARTED);
	sim_run(SIM_MINUTE);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}");
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	sim_put(1, 1000, 1100);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_end();
}

/* Lists that show nothing, until a start is repeated: s. */
static int
until_repeated(int most)
{
	int i;

	for (i = 0; i < most && sim_waits(REQUEST_START) == 0; i++) {
		sim_run(1000);
		if (sim_waits(REQUEST_LIST) > 0)
			sim_answer(REQUEST_LIST, 200, EMPTY);
	}
	return i;
}

/* A start that no list shows for long is repeated, and nothing is lost. */
static void
test_overdue(void)
{
	int s;

	sim_begin();
	sim_connect();
	ended_run(1, 1000);
	s = until_repeated(1000);
	CHECK(s >= 3 && s <= 10);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK_INT(sim_waits(REQUEST_STOP), 0);
	CHECK_INT(sim_state(1, 1000), START_DUE_ENDED);
	CHECK_INT(sim.n.repeated, 1);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(1, 1000), STOP_BLOCKED);
	sim_end();
}

/* A run that ended, shown by the list that is requested after ms. */
static void
committed_run(uint64_t job, int64_t ms)
{
	char row[256];

	sim_put(job, 1000, 1100);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(ms);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	snprintf(row, sizeof(row),
	    "{\"jobs\":[{\"jobId\":%llu,\"cluster\":\"alpha\","
	    "\"startTime\":1000,\"jobState\":\"running\",\"duration\":0}]}",
	    (unsigned long long)job);
	sim_answer(REQUEST_LIST, 200, row);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	snprintf(row, sizeof(row), "{\"jobId\":%llu,\"startTime\":1000}",
	    (unsigned long long)job);
	sim_answer(REQUEST_STOP, 200, row);
}

/* Two commits that were seen limit the interval: a lost start is repeated soon.
 */
static void
test_interval_short(void)
{
	int s;

	sim_begin();
	sim_connect();
	sim_run(1000); /* starts of an earlier process tell nothing */
	committed_run(1, 2000);
	sim_run(1000);
	committed_run(2, 2000);
	ended_run(3, 1000);
	s = until_repeated(1000);
	CHECK(s >= 15 && s <= 20);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_end();
}

#define UNCOMMITTED "{\"error\":\"UNIQUE constraint failed: job_cache.job_id\"}"

/*
 * 40 starts wait for a commit that takes long: only 4 are repeated after a list,
 * and the answers prove the interval longer.  Then cc-backend has lost all of
 * them: each list repeats twice as many.
 */
static void
test_repeat_width(void)
{
	static const int widths[] = { 4, 4, 4, 8, 16 };
	int i, n;
	size_t k;

	sim_begin();
	sim_connect();
	sim_run(1000);
	for (i = 1; i <= 40; i++)
		ended_run((uint64_t)i, 1000);
	for (k = 0; k < sizeof(widths) / sizeof(widths[0]); k++) {
		CHECK(until_repeated(1000) < 1000);
		for (n = 0; sim_waits(REQUEST_START) > 0; n++)
			sim_answer(REQUEST_START, k < 2 ? 500 : 201,
			    k < 2 ? UNCOMMITTED : "{}");
		CHECK_INT(n, widths[k]);
	}
	sim_end();
}

#define LOST 200

/*
 * cc-backend has lost 200 starts, with and without an end: as soon as the first
 * answers show that, all of them are repeated.
 */
static void
test_repeat_lost(int64_t end)
{
	int repeated[LOST + 1] = { 0 };
	int i, n = 0, s = 0;
	const char *body;

	sim_begin();
	sim_connect();
	sim_run(1000);
	for (i = 1; i <= LOST; i++) {
		sim_put((uint64_t)i, 1000, end);
		sim_answer(REQUEST_START, 201, "{}");
	}
	CHECK(until_repeated(1000) <= 10);
	CHECK_INT(sim_waits(REQUEST_START), 4);
	while (n < LOST && s < 1000) {
		while (sim_waits(REQUEST_START) > 0) {
			body = strstr(sim_body(REQUEST_START), "\"jobId\":");
			CHECK(sscanf(body, "\"jobId\":%d", &i) == 1);
			n += !repeated[i];
			repeated[i] = 1;
			sim_answer(REQUEST_START, 201, "{}");
		}
		s += until_repeated(1000);
	}
	CHECK(s <= 25);
	sim_end();
}

/*
 * A list that was requested after 2 s does not show the run, so the interval is
 * longer: a start is repeated after 6 s.
 */
static void
test_overdue_time(void)
{
	int s;

	sim_begin();
	sim_connect();
	sim_run(1000);
	ended_run(1, 1000);
	sim_run(2000);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_run(4000);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}");
	sim_answer(REQUEST_STOP, 200, "{\"jobId\":1,\"startTime\":1000}");
	ended_run(2, 1000);
	s = until_repeated(1000);
	CHECK(s >= 6 && s <= 8);
	sim_end();
}

/* No list was requested for 5 minutes: that tells nothing of the interval. */
static void
test_interval_outage(void)
{
	sim_begin();
	sim_connect();
	sim_run(1000);
	ended_run(1, 1000);
	role_set(&sim, 1, 0);
	sim_run(5 * SIM_MINUTE);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	role_set(&sim, 0, 0);
	wake(&sim, WAKE_COMMIT_CHECK);
	sim_run(2000);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}");
	sim_answer(REQUEST_STOP, 200, "{\"jobId\":1,\"startTime\":1000}");
	ended_run(2, 1000);
	CHECK(until_repeated(1000) <= 10);
	sim_end();
}

/*
 * cc-backend commits every 120 s, ccCommitInterval is 1 s: few lists, and few
 * starts are repeated, in the first interval and later, with stops that wait
 * and without.
 */
static void
test_interval_long(void)
{
	static const char *const rows[] = { SIM_JOB(1, 1000, "running", 0),
		SIM_JOB(2, 1000, "running", 0),
		SIM_JOB(3, 1000, "running", 0) };
	char list[256];
	int i, s, lists;

	sim_begin();
	sim_connect();
	for (i = 0; i < 3; i++) {
		sim_put((uint64_t)i + 1, 1000, i < 2 ? 1100 : 0);
		sim_answer(REQUEST_START, 201, "{}");
		for (s = lists = 0; s < 120; s++) {
			sim_run(1000);
			while (sim_waits(REQUEST_START) > 0)
				sim_answer(REQUEST_START, 500, UNCOMMITTED);
			if (sim_waits(REQUEST_LIST) == 0)
				continue;
			lists++;
			sim_answer(REQUEST_LIST, 200, EMPTY);
		}
		CHECK(lists <= 8);
		snprintf(list, sizeof(list), "{\"jobs\":[%s]}", rows[i]);
		for (s = 0; s < 130 && sim_waits(REQUEST_LIST) == 0; s++)
			sim_run(1000);
		/* soon after the commit while a stop waits */
		CHECK(s <= (i < 2 ? 30 : 125));
		sim_answer(REQUEST_LIST, 200, list);
		CHECK_INT(sim_waits(REQUEST_STOP), i < 2);
		if (i < 2)
			sim_answer(REQUEST_STOP, 200,
			    i == 0 ? "{\"jobId\":1,\"startTime\":1000}" :
				     "{\"jobId\":2,\"startTime\":1000}");
	}
	CHECK(sim.n.repeated <= 5);
	sim_end();
}

/* The two lists that settle a refused start; all: what the second one shows. */
static void
refused(const char *running, const char *all)
{
	sim_begin();
	sim_connect();
	sim_put(2, 1000, 1100);
	sim_answer(REQUEST_START, 422, REFUSED);
	CHECK_INT(sim_state(2, 1000), START_CONFLICT);
	sim_run(200);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") != NULL);
	sim_answer(REQUEST_LIST, 200, running);
	if (all == NULL)
		return;
	CHECK_INT(sim_state(2, 1000), START_CONFLICT);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") == NULL);
	sim_answer(REQUEST_LIST, 200, all);
}

/* The end of a run of job 7, which was requeued after ten seconds. */
static void
requeued(int64_t start)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = 7;
	job.key.start = start;
	job.submit = 900;
	job.end = start + 10;
	job.state = END_REQUEUED;
	job.flags = JOB_HAS_START;
	CHECK_INT(spool_put(sim.spool, &job, &row), PUT_MERGED);
	job_clear(&job);
}

/* requeuedRuns=last: cc-backend has the first run of job 7, the second is due. */
static void
begin_requeued(void)
{
	sim_begin();
	sim_connect();
	spool_policy(sim.spool)->last_requeued = 1;
	spool_policy(sim.spool)->wait_commit = 0;
	sim_put(7, 1000, 0);
	sim_answer(REQUEST_START, 201, "{}");
	sim_put(7, 1100, 0);
}

/*
 * requeuedRuns=last: cc-backend refuses the second run because of the first one.
 * Meanwhile the third run replaces both.  It does not wait for the second one,
 * which cc-backend does not have.
 */
static void
test_refused_and_replaced(void)
{
	begin_requeued();
	sim_answer(REQUEST_START, 422, REFUSED);
	CHECK_INT(sim_state(7, 1100), START_CONFLICT);
	sim_put(7, 1200, 0);
	CHECK_INT(sim_state(7, 1200), START_BLOCKED);
	requeued(1000);
	requeued(1100);
	sim_run(200);
	sim_answer(REQUEST_DELETE, 200, "{}");
	CHECK_INT(sim_state(7, 1000), RUN_STATE__COUNT);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_state(7, 1100), RUN_STATE__COUNT);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"startTime\":1200") != NULL);
	sim_end();
}

static const char broken[] = "{\"error\":\"database is locked\"}";

static void
lists_fail(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		sim_run(2000);
		CHECK_INT(sim_waits(REQUEST_LIST), 1);
		sim_answer(REQUEST_LIST, 500, broken);
	}
}

/* edit_meta does not show either whether cc-backend has the run. */
static void
metas_fail(int meta_code)
{
	int i, ms;

	for (i = 0; i < 3; i++) {
		CHECK_INT(sim_waits(REQUEST_META), 1);
		sim_answer(REQUEST_META, meta_code, broken);
		for (ms = 0; ms < 5000 && !sim_waits(REQUEST_META); ms += 100) {
			if (sim_waits(REQUEST_PROBE))
				sim_answer(REQUEST_PROBE, 400, PROBED);
			sim_run(100);
		}
	}
}

/*
 * A refused run that cannot be listed is listed again later, and later runs of
 * its job do not wait for it: neither those that waited already nor new ones.
 * Failures of the start before the refusal do not count.
 */
static void
test_refused_unlisted(int meta_code)
{
	struct run_key key = { "alpha", 2, 1000 };
	struct spool_run run;

	sim_begin();
	sim_connect();
	sim_put(2, 1000, 1100);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.tries[DEST_REST] = 3;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	sim_answer(REQUEST_START, 422, REFUSED);
	CHECK_INT(sim_state(2, 1000), START_CONFLICT);
	sim_put(2, 101000, 101100);
	CHECK_INT(sim_state(2, 101000), START_BLOCKED);
	lists_fail();
	metas_fail(meta_code);
	CHECK_INT(sim_state(2, 1000), START_CONFLICT);
	CHECK_INT(sim_state(2, 101000), START_DUE_ENDED);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(2, 101000), STOP_BLOCKED);
	sim_put(2, 201000, 0);
	CHECK_INT(sim_state(2, 201000), START_DUE);
	sim_end();
}

/*
 * The edit_meta of a refused run that cannot be listed contains only what
 * metaDataFields permits.  Without such a text, the run counts as running: the
 * answer to its stop shows more.
 */
static void
test_refused_fields(void)
{
	struct conf conf;
	char reason[128];

	sim_begin();
	sim_connect();
	sim_put(2, 1000, 1100);
	sim_answer(REQUEST_START, 422, REFUSED);
	lists_fail();
	CHECK(strstr(sim_body(REQUEST_META),
		  "\"key\":\"jobName\",\"value\":\"train\"") != NULL);
	sim_end();
	sim_begin();
	sim_connect();
	conf_init(&conf);
	conf_set(&conf, CONF_META_DATA_FIELDS, "[\"exitCode\"]");
	payload_free(sim.payload);
	sim.payload = payload_new(&conf, reason, sizeof(reason));
	sim_put(2, 1000, 1100);
	sim_put(3, 1000, 1100);
	CHECK(strstr(sim_body(REQUEST_START), "train") == NULL);
	sim_answer(REQUEST_START, 422, REFUSED);
	sim_answer(REQUEST_START, 422, REFUSED);
	lists_fail();
	CHECK_INT(sim_waits(REQUEST_META), 0);
	CHECK_INT(sim_state(2, 1000), STOP_DUE);
	CHECK_INT(sim_state(3, 1000), STOP_DUE);
	CHECK_INT(sim_waits(REQUEST_STOP), 2);
	conf_clear(&conf);
	sim_end();
}

/* The start that waits is refused, and no list shows the run. */
static void
refuse(void)
{
	sim_answer(REQUEST_START, 422, REFUSED);
	sim_run(200);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_LIST, 200, EMPTY);
}

/*
 * requeuedRuns=last: the second run was rejected, and waits since it replaces the
 * first one.  The third run replaces it, and is refused itself: the second one
 * waits no longer, and the third one waits for it.
 */
static void
test_both_wait(void)
{
	begin_requeued();
	refuse();
	refuse();
	CHECK_INT(sim_state(7, 1100), START_REJECTED);
	sim_put(7, 1200, 0);
	sim_answer(REQUEST_START, 422, REFUSED);
	requeued(1000);
	CHECK_INT(sim_state(7, 1100), START_BLOCKED);
	sim_run(150);
	sim_answer(REQUEST_DELETE, 200, "{}");
	CHECK_INT(sim_state(7, 1000), RUN_STATE__COUNT);
	requeued(1100);
	CHECK_INT(sim_state(7, 1100), START_BLOCKED);
	sim_run(200);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	refuse();
	CHECK_INT(sim_state(7, 1200), START_BLOCKED);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"startTime\":1100") != NULL);
	sim_end();
}

static void
test_duplicate(void)
{
	/* cc-backend has it and it runs there: its stop is due */
	refused("{\"jobs\":[" SIM_JOB(2, 1000, "running", 0) "]}", NULL);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_end();
	/* stopped by another client, as Slurm says: done */
	refused(EMPTY, "{\"jobs\":[" SIM_JOB(2, 1000, "completed", 100) "]}");
	CHECK_INT(sim_state(2, 1000), RUN_STATE__COUNT);
	sim_end();
	/* and not as Slurm says: kept for an admin */
	refused(EMPTY, "{\"jobs\":[" SIM_JOB(2, 1000, "failed", 7) "]}");
	CHECK_INT(sim_state(2, 1000), STOPPED_BY_OTHERS);
	CHECK_INT(sim_waits(REQUEST_STOP) + sim_waits(REQUEST_DELETE), 0);
	sim_end();
	/* cc-backend accepted an earlier request and has lost the run since */
	refused(EMPTY, EMPTY);
	CHECK_INT(sim_state(2, 1000), START_DUE_ENDED);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(2, 1000), STOP_BLOCKED);
	sim_end();
	/* another run of the job is there: rejected, and kept */
	refused(EMPTY, EMPTY);
	sim_answer(REQUEST_START, 422, REFUSED);
	sim_run(200);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_state(2, 1000), START_REJECTED);
	sim_run(SIM_HOUR);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_end();
}

/* At a centre: cc-backend shows a run as stopped that the stream has running. */
static void
centre_stopped(void)
{
	sim_begin();
	sim_connect();
	conf_set(&sim.w->conf, CONF_SOURCE, "stream");
	sim_put(2, 1000, 0);
	sim_put(2, 101000, 0);
	CHECK_INT(sim_state(2, 101000), START_BLOCKED);
	sim_answer(REQUEST_START, 422, REFUSED);
	sim_run(200);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(2, 1000, "completed", 100) "]}");
}

static void
centre_end(void)
{
	conf_set(&sim.w->conf, CONF_SOURCE, "slurm");
	sim_end();
}

/*
 * A centre reads a stream again: cc-backend has runs whose end it has not read
 * yet.  Neither these runs nor others wait for each other.
 */
static void
test_centre_reads_again(void)
{
	struct run_key key = { "alpha", 2, 1000 };
	struct spool_run run;

	centre_stopped();
	/* the next process continues with this row */
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_REST], START_CONFLICT);
	CHECK_INT(run.tries[DEST_REST], 1);
	CHECK(run.due[DEST_REST] > spool_now(sim.spool));
	CHECK_INT(sim_state(2, 101000), START_DUE);
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(2000);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(2, 101000, "running", 0) "]}");
	CHECK_INT(sim_state(2, 101000), START_COMMITTED);
	sim_put(2, 101000, 101100);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_answer(REQUEST_STOP, 200, "{\"jobId\":2,\"startTime\":101000}");
	CHECK_INT(sim_state(2, 101000), RUN_STATE__COUNT);
	/* the end is compared at once */
	sim_put(2, 1000, 1100);
	sim_run(200);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(2, 1000, "completed", 100) "]}");
	CHECK_INT(sim_state(2, 1000), RUN_STATE__COUNT);
	centre_end();
}

/* Another client has stopped the run: no end comes. */
static void
test_centre_foreign_stop(void)
{
	int minutes;

	centre_stopped();
	for (minutes = 0; minutes < 200; minutes++) {
		while (sim_waits(REQUEST_START) > 0)
			sim_answer(REQUEST_START, 201, "{}");
		while (sim_waits(REQUEST_LIST) > 0)
			sim_answer(REQUEST_LIST, 200,
			    strstr(sim_path(REQUEST_LIST), "state=running") ?
				"{\"jobs\":[" SIM_JOB(2, 101000, "running",
				    0) "]}" :
				"{\"jobs\":[" SIM_JOB(2, 1000, "completed",
				    100) "]}");
		if (sim_state(2, 1000) != START_CONFLICT)
			break;
		sim_run(SIM_MINUTE);
	}
	CHECK(minutes > 60);
	CHECK_INT(sim_state(2, 1000), STOPPED_BY_OTHERS);
	centre_end();
}

/*
 * The start after a repair was accepted by an answer that the suite did not get.
 * The time before the repair tells nothing about cc-backend's commits.
 */
static void
test_repair_interval(void)
{
	static const struct ctl_request repair = { .verb = CTL_REPAIR };
	struct diff_rows rows = { .request = 1 };

	refused(EMPTY, "{\"jobs\":[" SIM_JOB(2, 1000, "failed", 7) "]}");
	sim_run(SIM_MINUTE);
	CHECK_INT(foreign_stop_repair(&sim, &rows, &repair), 1);
	sim_run(0);
	sim_answer(REQUEST_DELETE, 200, "{}");
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_answer(REQUEST_START, 500, UNCOMMITTED);
	CHECK_INT(sim_state(2, 1000), STOP_BLOCKED);
	CHECK(until_repeated(1000) <= 10);
	sim_end();
}

/* cc-backend fails: nothing is lost, and no answer is taken for a success. */
static void
test_failures(void)
{
	sim_begin();
	sim_connect();
	sim_put(1, 1000, 1100);
	sim_answer(REQUEST_START, 503, "busy");
	CHECK_INT(sim_state(1, 1000), START_DUE_ENDED);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_run(500);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	/* 201 without cc-backend's body may be a proxy's */
	sim_answer(REQUEST_START, 201, "<html>");
	CHECK_INT(sim_state(1, 1000), START_DUE_ENDED);
	sim_end();
}

/* A list without an answer; cc-backend answers other requests. */
static void
list_fails(uint64_t job, const char *range)
{
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK(strstr(sim_path(REQUEST_LIST), range) != NULL);
	sim_answer(REQUEST_LIST, 0, NULL);
	sim_put(job, 2000, 0);
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(2000);
}

/*
 * cc-backend reads a file per stopped job, and sends no answer when that takes
 * too long: the range is halved.  The runs of a single second are not asked one
 * by one because of that, since an outage looks the same.
 */
static void
test_list_too_long(void)
{
	uint64_t job = 10;
	int i;

	sim_begin();
	sim_connect();
	spool_policy(sim.spool)->wait_commit = 0;
	sim_put(1, 1000, 1100);
	sim_put(2, 1500, 1600);
	while (sim_waits(REQUEST_START) > 0)
		sim_answer(REQUEST_START, 422, REFUSED);
	sim_run(200);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	for (i = 0; i < 3; i++)
		list_fails(job++, "start-time=1000-1500&");
	for (i = 0; i < 5; i++)
		list_fails(job++, "start-time=1000-1000&");
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "completed", 100) "]}");
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	CHECK_INT(sim_state(2, 1500), START_CONFLICT);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=1500-1500&") != NULL);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(2, 1500, "completed", 100) "]}");
	CHECK_INT(sim_state(2, 1500), RUN_STATE__COUNT);
	CHECK_INT(sim_waits(REQUEST_META), 0);
	sim_end();
}

/* A run that a list has shown and that has ended: its stop is due. */
static void
stopping_run(void)
{
	sim_begin();
	sim_connect();
	ended_run(1, 1000);
	sim_run(2000);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}");
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
}

/*
 * cc-backend was restored from an older copy and lacks the run: its start is
 * repeated, but not while a stop of it may still be under way.
 */
static void
test_stop_no_run(void)
{
	stopping_run();
	sim_answer(REQUEST_STOP, 404, NO_ROWS);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	/* Once: cc-backend refuses the next stop, too. */
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(2000);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}");
	sim_answer(REQUEST_STOP, 404, NO_ROWS);
	CHECK_INT(sim_state(1, 1000), STOP_REJECTED);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_end();

	stopping_run();
	sim_answer(REQUEST_STOP, 0, NULL);
	sim_run(500);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_answer(REQUEST_STOP, 404, NO_ROWS);
	CHECK_INT(sim_state(1, 1000), START_DUE_ENDED);
	/* also when cc-backend is reachable again after an outage */
	spool_retry_now(sim.spool, DEST_REST);
	sim_run(59000);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_end();
}

/* Two stops in the second of their start are under way to cc-backend 1.4.1. */
static void
test_old_version_twice(void)
{
	static const char refused[] =
	    "{\"error\":\"stopTime 1000 must be larger than startTime 1000 and "
	    "only running jobs can be stopped (state is: running)\"}";
	int i;

	sim_begin();
	sim_connect();
	breaker_set_version(sim.breaker, BACKEND_1_4_3);
	spool_policy(sim.spool)->wait_commit = 0;
	sim_put(1, 1000, 1000);
	sim_put(2, 1000, 1000);
	sim_answer(REQUEST_START, 201, "{}");
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_waits(REQUEST_STOP), 2);
	sim_answer(REQUEST_STOP, 400, refused);
	CHECK_INT(breaker_version(sim.breaker), BACKEND_1_4_0);
	sim_answer(REQUEST_STOP, 400, refused);
	CHECK_INT(sim_state(1, 1000), STOP_DUE);
	CHECK_INT(sim_state(2, 1000), STOP_DUE);
	sim_run(2000);
	CHECK_INT(sim_waits(REQUEST_STOP), 2);
	for (i = 0; i < 2; i++) {
		CHECK(strstr(sim_body(REQUEST_STOP), "\"stopTime\":1001") !=
		    NULL);
		sim_answer(REQUEST_STOP, 200, "{}");
	}
	CHECK_INT(sim_state(2, 1000), RUN_STATE__COUNT);
	sim_end();
}

/* A proxy that refuses some requests; all others are accepted. */
static struct proxy {
	enum request_kind refuses;
	const char *with; /* only those with this text */
	int code;
	int refused, accepted;
} proxy;

static void
proxy_pass(enum request_kind kind, int code, const char *body)
{
	while (sim_waits(kind) > 0) {
		if (kind == proxy.refuses &&
		    strstr(sim_body(kind), proxy.with) != NULL) {
			proxy.refused++;
			sim_answer(kind, proxy.code, FORBIDDEN);
		} else {
			proxy.accepted += kind != REQUEST_PROBE &&
			    kind != REQUEST_CLUSTERS && kind != REQUEST_LIST;
			sim_answer(kind, code, body);
		}
	}
}

static void
proxy_run(int seconds)
{
	int i;

	for (i = 0; i < seconds * 100; i++) {
		proxy_pass(REQUEST_PROBE, 400, PROBED);
		proxy_pass(REQUEST_CLUSTERS, 200, "{\"clusters\":[]}");
		proxy_pass(REQUEST_LIST, 200, EMPTY);
		proxy_pass(REQUEST_START, 201, "{}");
		proxy_pass(REQUEST_META, 200, "{}");
		sim_run(10);
	}
}

/* A proxy refuses the start of one job: the others are sent. */
static void
test_start_forbidden(int code)
{
	int i;

	proxy = (struct proxy) { REQUEST_START, "\"jobId\":99,", code, 0, 0 };
	sim_begin();
	sim_connect();
	breaker_pin_version(sim.breaker, 1, BACKEND_1_5);
	spool_policy(sim.spool)->wait_commit = 0;
	sim_put(99, 9000, 0);
	proxy_run(5);
	for (i = 1; i <= 20; i++)
		sim_put((uint64_t)i, 1000 + i, 0);
	proxy_run(5);
	CHECK_INT(proxy.accepted, 20);
	/* The request is repeated at growing intervals. */
	proxy_run(300);
	CHECK(breaker_is_up(sim.breaker));
	CHECK_STR(breaker_problem(sim.breaker), "up");
	CHECK_INT(sim_state(99, 9000), START_DUE);
	CHECK(proxy.refused > 5 && proxy.refused < 15);
	sim_end();
}

/* After an outage only the refused start is due: the outage is over. */
static void
test_start_forbidden_alone(void)
{
	proxy = (struct proxy) { REQUEST_START, "\"jobId\":99,", 403, 0, 0 };
	sim_begin();
	sim_connect();
	sim_put(99, 9000, 0);
	sim_answer(REQUEST_START, 0, NULL);
	sim_run(600);
	sim_answer(REQUEST_START, 0, NULL);
	sim_run(1100);
	sim_answer(REQUEST_START, 0, NULL);
	CHECK(!breaker_allows(sim.breaker));
	proxy_run(10);
	CHECK_STR(breaker_problem(sim.breaker), "up");
	sim_end();
}

/* A run that has failed: the update of its exit code is due. */
static void
failed_run(uint64_t id, int64_t start)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = id;
	job.key.start = start;
	job.flags = JOB_HAS_START;
	job.end = start + 100;
	job.state = END_FAILED;
	job.exit_code = 256;
	job.user = strdup("u1");
	job.nodes = 1;
	job_add_host(&job, "n1");
	CHECK_INT(spool_put(sim.spool, &job, &row), PUT_MERGED);
	job_clear(&job);
	wake(&sim, WAKE_DELIVERY);
	sim_run(0);
	sim_answer(REQUEST_STOP, 200, "{}");
}

/* A run whose update is due, and no other request. */
static void
begin_meta(void)
{
	sim_begin();
	sim_connect();
	breaker_pin_version(sim.breaker, 1, BACKEND_1_5);
	spool_policy(sim.spool)->wait_commit = 0;
	sim_put(50, 1000, 0);
	sim_answer(REQUEST_START, 201, "{}");
	failed_run(50, 1000);
	CHECK_INT(spool_meta_count(sim.spool), 1);
}

/* A proxy permits no PATCH, or never answers it; 0: no answer. */
static void
test_meta_forbidden(int code)
{
	int i, up = 0;

	proxy = (struct proxy) { REQUEST_META, "\"jobId\":50,", code, 0, 0 };
	begin_meta();
	proxy_run(5);
	sim_put(51, 2000, 0);
	sim_answer(REQUEST_START, 201, "{}");
	failed_run(51, 2000);
	/* The update of another run is sent although this one fails. */
	proxy_run(10);
	CHECK_INT(proxy.accepted, 1);
	for (i = 0; i < 120; i++) {
		proxy_run(1);
		up += breaker_is_up(sim.breaker);
	}
	CHECK_INT(up, 120);
	CHECK(proxy.refused < 8);
	CHECK_INT(spool_meta_count(sim.spool), 1);
	/* After META_TRIES the update is given up. */
	for (i = 0; i < 90 && spool_meta_count(sim.spool) > 0; i++)
		proxy_run(60);
	CHECK_INT(proxy.refused, 10);
	CHECK_INT(sim.n.meta_dropped, 1);
	sim_end();
}

/* cc-backend is away for a day: no update is given up. */
static void
test_meta_outage(int code)
{
	int i, sent = 0;

	begin_meta();
	for (i = 0; i < 24 * 3600; i++) {
		while (sim_waits(REQUEST_META)) {
			sent++;
			sim_answer(REQUEST_META, code, FORBIDDEN);
		}
		while (sim_waits(REQUEST_PROBE))
			sim_answer(REQUEST_PROBE, code, FORBIDDEN);
		sim_run(1000);
	}
	CHECK_INT(sent, 1);
	CHECK_INT(spool_meta_count(sim.spool), 1);
	proxy = (struct proxy) { REQUEST_META, "nothing", 0, 0, 0 };
	proxy_run(60);
	CHECK_INT(proxy.accepted, 1);
	CHECK_INT(spool_meta_count(sim.spool), 0);
	sim_end();
}

/* Another client stopped the first run: the second one waits no longer. */
static void
test_foreign_stop_releases(void)
{
	sim_begin();
	sim_connect();
	sim_put(2, 1000, 1100);
	sim_put(2, 101000, 101100);
	sim_answer(REQUEST_START, 422, REFUSED);
	CHECK_INT(sim_state(2, 1000), START_CONFLICT);
	CHECK_INT(sim_state(2, 101000), START_BLOCKED);
	sim_run(200);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(2, 1000, "completed", 100) "]}");
	CHECK_INT(sim_state(2, 1000), RUN_STATE__COUNT);
	CHECK_INT(sim_state(2, 101000), START_DUE_ENDED);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_end();
}

/*
 * A list of all jobs with two pages has not shown the run.  Jobs that stop
 * between the pages move rows, so the run may be there: its range is split.
 */
static void
test_two_pages(void)
{
	struct writer list;
	char row[160];
	int i;

	sim_begin();
	sim_connect();
	sim_put(1, 1000, 1100);
	sim_put(2, 1500, 1600);
	while (sim_waits(REQUEST_START) > 0)
		sim_answer(REQUEST_START, 422, REFUSED);
	sim_run(200);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=1000-1500&") != NULL);
	wr_init(&list, PAYLOAD_MAX);
	wr_mem(&list, "{\"jobs\":[", 9);
	for (i = 0; i < JOB_LIST_ROWS; i++) {
		snprintf(row, sizeof(row),
		    "%s{\"jobId\":%d,\"cluster\":\"alpha\","
		    "\"startTime\":1200,\"jobState\":\"completed\","
		    "\"duration\":10}",
		    i > 0 ? "," : "", 1000 + i);
		wr_mem(&list, row, strlen(row));
	}
	wr_mem(&list, "]}", 3);
	CHECK_INT(wr_end(&list), 0);
	sim_answer(REQUEST_LIST, 200, (const char *)list.buf);
	wr_clear(&list);
	CHECK(strstr(sim_path(REQUEST_LIST), "page=2") != NULL);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_state(1, 1000), START_CONFLICT);
	CHECK_INT(sim_state(2, 1500), START_CONFLICT);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=1000-1000&") != NULL);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_state(1, 1000), START_DUE_ENDED);
	CHECK_INT(sim_state(2, 1500), START_CONFLICT);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=1500-1500&") != NULL);
	sim_end();
}

/*
 * The HTTP client accepts no request, for example after the fence of the lease:
 * the event loop runs between the tries, and these do not commit again and again.
 * All starts are sent when the client accepts requests.
 */
static void
test_not_sent(void)
{
	uint64_t commits;
	int i;

	sim_begin();
	sim_connect();
	sim_unsent = 1000;
	sim_put(1, 1000, 0);
	CHECK_INT(sim_unsent, 999);
	for (i = 2; i <= 5; i++)
		sim_put((uint64_t)i, 1000, 0);
	CHECK_INT(sim_unsent, 999);
	commits = sim.n.commits;
	sim_run(10000);
	CHECK(sim_unsent < 990 && sim_unsent > 970);
	CHECK(sim.n.commits < commits + 50);
	sim_unsent = 0;
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), 5);
	sim_end();
}

/* A list that fails does not prove that cc-backend lacks the run. */
static void
test_failed_lists(void)
{
	int s, lists = 0;

	sim_begin();
	sim_connect();
	ended_run(1, 1000);
	for (s = 0; s < 60; s++) {
		sim_run(1000);
		if (sim_waits(REQUEST_PROBE) > 0)
			sim_answer(REQUEST_PROBE, 400, PROBED);
		if (sim_waits(REQUEST_LIST) == 0)
			continue;
		lists++;
		sim_answer(REQUEST_LIST, 500,
		    "{\"error\":\"database is locked\"}");
	}
	CHECK(lists > 2);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(sim_state(1, 1000), STOP_BLOCKED);
	CHECK_INT(sim.n.repeated, 0);
	sim_end();
}

/* The cluster of the list that waits. */
static int
lists_cluster(const char *cluster)
{
	char text[80];

	snprintf(text, sizeof(text), "cluster=%s&", cluster);
	return strstr(sim_path(REQUEST_LIST), text) != NULL;
}

/* A start of the cluster beta that is accepted. */
static void
beta_run(uint64_t id)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "beta");
	job.key.job = id;
	job.key.start = 1000;
	job.flags = JOB_HAS_START;
	job.end = 1100;
	job.state = END_COMPLETED;
	job.user = strdup("u1");
	job.nodes = 1;
	job_add_host(&job, "n1");
	CHECK(spool_put(sim.spool, &job, &row) == PUT_NEW);
	job_clear(&job);
	wake(&sim, WAKE_DELIVERY);
	sim_run(0);
	sim_answer(REQUEST_START, 201, "{}");
}

/* Lists of alpha with stopped jobs fail; counts the lists of running jobs. */
static int
alpha_damaged(int code, int seconds, int *running)
{
	int s, damaged;

	for (s = 0; s < seconds && sim_waits(REQUEST_START) == 0;) {
		if (sim_waits(REQUEST_LIST) == 0) {
			sim_run(1000);
			s++;
			continue;
		}
		damaged = lists_cluster("alpha") &&
		    strstr(sim_path(REQUEST_LIST), "state=running") == NULL;
		*running += lists_cluster("alpha") && !damaged;
		sim_answer(REQUEST_LIST, damaged ? code : 200,
		    damaged ? "{\"error\":\"damaged\"}" : EMPTY);
	}
	return s;
}

/*
 * If another suite sends, too, the running jobs are listed first: a list with the
 * stopped jobs of the days since the start of a long run is not needed when the run
 * is among them.  When it is not, the other suite may have stopped it.
 */
static void
test_running_first(void)
{
	static const char jobs[] = "{\"jobs\":[" SIM_JOB(1, 1000, "running",
	    0) "," SIM_JOB(2, 2000, "running", 0) "," SIM_JOB(3, 1500,
	    "running", 0) "]}";

	sim_begin();
	spool_policy(sim.spool)->active_only = 1;
	sim_connect();
	sim_put(1, 1000, 0);
	sim_answer(REQUEST_START, 201, "{}");
	sim_put(2, 2000, 0);
	sim_answer(REQUEST_START, 201, "{}");
	sim_put(3, 1500, 0);
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(SIM_MINUTE);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") != NULL);
	sim_answer(REQUEST_LIST, 200, jobs);
	CHECK_INT(sim_state(2, 2000), START_COMMITTED);

	sim_put(1, 1000, 700000);
	CHECK_INT(sim_state(1, 1000), STOP_BLOCKED);
	sim_run(2000);
	/* The list for the comparison with Slurm. */
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time") == NULL);
	sim_answer(REQUEST_LIST, 200, jobs);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time") != NULL);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") != NULL);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}");
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_answer(REQUEST_STOP, 200, "{\"jobId\":1,\"startTime\":1000}");

	sim_put(2, 2000, 700000);
	sim_run(4000);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") != NULL);
	/* This one ends too late for the list that is under way. */
	sim_put(3, 1500, 700000);
	CHECK_INT(sim_state(3, 1500), STOP_BLOCKED);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") == NULL);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=2000-2000") != NULL);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(2, 2000, "completed", 698000) "]}");
	CHECK_INT(sim_state(2, 2000), RUN_STATE__COUNT);
	CHECK_INT(sim_waits(REQUEST_STOP), 0);
	sim_end();
}

static void
backfill_run(uint64_t job, int64_t start)
{
	struct run_key key = { "alpha", job, start };
	struct spool_run run;

	ended_run(job, start);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.flags |= RUN_BACKFILL;
	CHECK_INT(spool_save(sim.spool, &run), 0);
}

/*
 * The same while a backfill sends a run of months ago: the list of the stopped jobs
 * does not begin there, and no such list is read for this run alone.
 */
static void
test_backfill_apart(int alone)
{
	sim_begin();
	spool_policy(sim.spool)->active_only = 1;
	sim_connect();
	backfill_run(1, 1000);
	if (!alone)
		ended_run(2, 9000000);
	sim_run(2000);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") != NULL);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=1000-") != NULL);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_waits(REQUEST_LIST), !alone);
	if (!alone) {
		CHECK(strstr(sim_path(REQUEST_LIST),
			  "start-time=9000000-9000000") != NULL);
		sim_answer(REQUEST_LIST, 200, EMPTY);
	}
	/* The running jobs show the run of the backfill, too. */
	sim_run(SIM_MINUTE);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") != NULL);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}");
	CHECK_INT(sim_state(1, 1000), STOP_DUE);
	sim_end();
}

/*
 * A run whose start was accepted a moment ago waits for cc-backend's commit: no list
 * of the stopped jobs is read for it.
 */
static void
test_accepted_apart(void)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	sim_begin();
	spool_policy(sim.spool)->active_only = 1;
	sim_connect();
	ended_run(1, 1000);
	sim_run(1500); /* ccCommitInterval is 1 s */
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.since[DEST_REST] = spool_now(sim.spool);
	CHECK_INT(spool_save(sim.spool, &run), 0);
	sim_run(500);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") != NULL);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	CHECK_INT(sim_state(1, 1000), STOP_BLOCKED);
	sim_end();
}

/*
 * If another suite sends, too, and the lists of the stopped jobs of one cluster
 * fail, those of its running jobs count: lost starts are repeated.
 */
static void
test_damaged_cluster(int code)
{
	int running = 0;

	sim_begin();
	spool_watermark(sim.spool, "beta", 0);
	spool_policy(sim.spool)->active_only = 1;
	sim_connect();
	ended_run(1, 1000);
	beta_run(2);
	CHECK(alpha_damaged(code, 120, &running) <= 10);
	CHECK(running > 0);
	CHECK_INT(sim_waits(REQUEST_START), 2);
	CHECK_INT(sim.n.repeated, 2);
	CHECK(breaker_is_up(sim.breaker));
	CHECK_INT(sim_waits(REQUEST_PROBE), 0);
	sim_end();
}

#define RUNNING "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}"

static void
lists_answer(const char *text)
{
	CHECK(sim_waits(REQUEST_LIST) > 0);
	while (sim_waits(REQUEST_LIST) > 0)
		sim_answer(REQUEST_LIST, 200, text);
}

/* A run whose start was committed ends after ms; its stop waits for a list. */
static void
begin_late_end(int64_t ms)
{
	sim_begin();
	spool_policy(sim.spool)->active_only = 1;
	sim_connect();
	sim_run(1000);
	sim_put(1, 1000, 0);
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(SIM_MINUTE);
	lists_answer(RUNNING);
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	sim_run(ms);
	while (sim_waits(REQUEST_LIST) > 0)
		lists_answer(RUNNING);
	committed_run(2, 2000);
	sim_run(1000);
	committed_run(3, 2000); /* commits are 5 s apart at most */
	sim_put(1, 1000, 1100);
	CHECK_INT(sim_state(1, 1000), STOP_BLOCKED);
}

/*
 * activeOnly: the age of a start counts from the end of the run.  A list that
 * misses the run does not prove that cc-backend has lost the start.
 */
static void
test_late_end(void)
{
	int s;

	begin_late_end(SIM_HOUR);
	sim_run(2000);
	lists_answer(EMPTY);
	CHECK_INT(sim_state(1, 1000), STOP_BLOCKED);
	CHECK_INT(sim.n.repeated, 0);
	s = until_repeated(1000);
	CHECK(s >= 3 && s <= 20); /* cc-backend lacks the run */
	sim_end();

	/* The list that shows the run says nothing about the interval. */
	begin_late_end(5 * SIM_MINUTE);
	sim_run(2000);
	lists_answer(RUNNING);
	CHECK_INT(sim_state(1, 1000), STOP_DUE);
	sim_answer(REQUEST_STOP, 200, "{\"jobId\":1,\"startTime\":1000}");
	ended_run(4, 1000);
	s = until_repeated(1000);
	CHECK(s >= 3 && s <= 20);
	sim_end();
}

/*
 * The start of such a run is repeated, and cc-backend has it uncommitted: its age
 * says nothing about the interval of commits.
 */
static void
test_late_end_repeated(void)
{
	int s;

	begin_late_end(SIM_HOUR);
	role_set(&sim, 1, 0);
	sim_run(5 * SIM_MINUTE);
	role_set(&sim, 0, 0);
	wake(&sim, WAKE_COMMIT_CHECK);
	CHECK(until_repeated(1000) <= 20);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_answer(REQUEST_START, 500, UNCOMMITTED);
	ended_run(4, 1000);
	s = until_repeated(1000);
	CHECK(s >= 3 && s <= 20);
	sim_end();
}

/*
 * activeOnly: the list of the stopped jobs takes minutes and fails.  A start that was
 * accepted meanwhile was not looked for and is not repeated.
 */
static void
test_slow_round(void)
{
	sim_begin();
	spool_policy(sim.spool)->active_only = 1;
	sim_connect();
	ended_run(1, 1000);
	sim_run(2000);
	while (strstr(sim_path(REQUEST_LIST), "state=running") != NULL)
		sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	ended_run(2, 1000);
	sim_run(5 * SIM_MINUTE);
	sim_answer(REQUEST_LIST, 504, "<html>");
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(sim.n.repeated, 0);
	CHECK(until_repeated(60) <= 10);
	sim_end();
}

int
main(void)
{
	test_commit_race();
	test_committed();
	test_times();
	test_unconfirmed_is_not_late();
	test_overdue();
	test_interval_short();
	test_repeat_width();
	test_repeat_lost(1100);
	test_repeat_lost(0);
	test_overdue_time();
	test_interval_outage();
	test_interval_long();
	test_duplicate();
	test_centre_reads_again();
	test_centre_foreign_stop();
	test_refused_and_replaced();
	test_refused_unlisted(500);
	test_refused_unlisted(403);
	test_refused_unlisted(0);
	test_refused_fields();
	test_both_wait();
	test_repair_interval();
	test_failures();
	test_list_too_long();
	test_stop_no_run();
	test_old_version_twice();
	test_start_forbidden(403);
	test_start_forbidden(302);
	test_start_forbidden(405);
	test_start_forbidden_alone();
	test_meta_forbidden(403);
	test_meta_forbidden(0);
	test_meta_outage(401);
	test_meta_outage(0);
	test_foreign_stop_releases();
	test_two_pages();
	test_not_sent();
	test_failed_lists();
	test_running_first();
	test_backfill_apart(0);
	test_backfill_apart(1);
	test_accepted_apart();
	test_damaged_cluster(500);
	test_damaged_cluster(504); /* a proxy does not wait for so many jobs */
	test_late_end();
	test_late_end_repeated();
	test_slow_round();
	return check_done();
}
