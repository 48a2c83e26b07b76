/* SPDX-License-Identifier: MIT */
/*
 * Runs of one job that depend on each other: a run that replaces another one, a
 * start that fails for a long time, a retry of several runs, a stop beside a
 * start that waits.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "submitter/backend/breaker.h"
#include "submitter/delivery/delivery.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

#define JOB	  7
#define EMPTY	  "{\"jobs\":[]}"
#define NO_RUN	  "{\"error\":\"finding job failed: sql: no rows in result set\"}"
#define OLD_FIELD "{\"error\":\"json: unknown field \\\"exclusive\\\"\"}"
#define IS_1_4	  "{\"error\":\"json: unknown field \\\"shared\\\"\"}"
#define IS_1_5	  "{\"error\":\"no such cluster: \"}"
#define STOPPED	  "{\"jobId\":7,\"startTime\":1000}"

static enum spool_put
store(int64_t start, uint32_t flags, int64_t end, enum job_end state)
{
	struct job job;
	int64_t row;
	enum spool_put put;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = JOB;
	job.key.start = start;
	job.submit = start - 100;
	job.flags = JOB_HAS_START | flags;
	job.end = end;
	job.state = end != 0 ? state : END_NOT;
	job.user = strdup("u1");
	job.nodes = 1;
	job_add_host(&job, "n1");
	put = spool_put(sim.spool, &job, &row);
	job_clear(&job);
	return put;
}

/* Stores it, and sends what is due. */
static enum spool_put
record(int64_t start, uint32_t flags, int64_t end, enum job_end state)
{
	enum spool_put put = store(start, flags, end, state);

	wake(&sim, WAKE_DELIVERY);
	sim_run(0);
	return put;
}

static struct spool_run
run_of(int64_t start)
{
	struct run_key key = { "alpha", JOB, start };
	struct spool_run run;

	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	return run;
}

/* cc-backend has the first run, which was requeued after 30 s. */
static void
begin_requeued(void)
{
	sim_begin();
	sim_connect();
	spool_policy(sim.spool)->last_requeued = 1;
	spool_policy(sim.spool)->wait_commit = 0;
	record(1000, JOB_LIVE, 0, END_NOT);
	sim_answer(REQUEST_START, 201, "{}");
	record(1000, 0, 1030, END_REQUEUED);
	sim_answer(REQUEST_STOP, 200, STOPPED);
	CHECK_INT(sim_state(JOB, 1000), KEPT_REPLACEABLE);
}

/* requeuedRuns=last: a run whose prolog fails replaces nothing. */
static void
test_false_start_replaces_nothing(void)
{
	int unconfirmed;

	for (unconfirmed = 0; unconfirmed < 2; unconfirmed++) {
		begin_requeued();
		if (unconfirmed)
			record(1200, JOB_LIVE | JOB_UNCONFIRMED, 0, END_NOT);
		CHECK_INT(sim_state(JOB, 1000), KEPT_REPLACEABLE);
		record(1200, JOB_NEVER_RAN, 1202, END_REQUEUED);
		CHECK_INT(sim_waits(REQUEST_DELETE), 0);
		CHECK_INT(sim_state(JOB, 1000), KEPT_REPLACEABLE);
		CHECK_INT(sim_state(JOB, 1200), RUN_STATE__COUNT);
		sim_end();
	}
}

/* Nor does a run of a user who has opted out. */
static void
test_opted_out_replaces_nothing(void)
{
	begin_requeued();
	record(1200, JOB_LIVE | JOB_OPTED_OUT, 0, END_NOT);
	CHECK_INT(sim_waits(REQUEST_DELETE), 0);
	CHECK_INT(sim_state(JOB, 1000), KEPT_REPLACEABLE);
	sim_end();
}

/* A run that Slurm prepares replaces another one when it is shown running. */
static void
test_confirmed_replaces(void)
{
	begin_requeued();
	record(1200, JOB_LIVE | JOB_UNCONFIRMED, 0, END_NOT);
	CHECK_INT(sim_waits(REQUEST_DELETE), 0);
	CHECK_INT(record(1200, JOB_LIVE, 0, END_NOT), PUT_MERGED);
	CHECK_INT(sim_state(JOB, 1000), DELETE_DUE);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_answer(REQUEST_DELETE, 200, "{}");
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_end();
}

/* The same, and the other run was not sent before. */
static void
test_confirmed_replaces_unsent(void)
{
	sim_begin();
	spool_policy(sim.spool)->last_requeued = 1;
	record(1000, 0, 1030, END_REQUEUED);
	record(1200, JOB_LIVE | JOB_UNCONFIRMED, 0, END_NOT);
	CHECK_INT(sim_state(JOB, 1000), START_DUE_ENDED);
	CHECK_INT(sim_state(JOB, 1200), START_BLOCKED);
	record(1200, JOB_LIVE, 0, END_NOT);
	CHECK_INT(sim_state(JOB, 1000), RUN_STATE__COUNT);
	CHECK_INT(sim_state(JOB, 1200), START_DUE);
	sim_end();
}

/* cc-backend refuses the deletion: the later run is sent nevertheless. */
static void
test_deletion_rejected(void)
{
	begin_requeued();
	record(1200, JOB_LIVE, 0, END_NOT);
	CHECK_INT(sim_state(JOB, 1200), START_BLOCKED);
	sim_answer(REQUEST_DELETE, 400, "{\"error\":\"no\"}");
	CHECK_INT(sim_state(JOB, 1000), STOP_DUE);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(1000);
	sim_answer(REQUEST_STOP, 422,
	    "{\"error\":\"job has already been stopped\"}");
	CHECK_INT(sim_state(JOB, 1000), RUN_STATE__COUNT);
	sim_end();
}

/* The same, and the stop was not sent: cc-backend shows the run as running. */
static void
test_deletion_rejected_before_stop(void)
{
	sim_begin();
	sim_connect();
	spool_policy(sim.spool)->last_requeued = 1;
	spool_policy(sim.spool)->wait_commit = 0;
	record(1000, JOB_LIVE, 0, END_NOT);
	sim_answer(REQUEST_START, 201, "{}");
	store(1000, 0, 1030, END_REQUEUED);
	record(1200, JOB_LIVE, 0, END_NOT);
	CHECK_INT(sim_state(JOB, 1000), DELETE_DUE);
	sim_answer(REQUEST_DELETE, 400, "{\"error\":\"no\"}");
	/* A stop waits for starts of its job under way. */
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_answer(REQUEST_STOP, 200, STOPPED);
	CHECK_INT(sim_state(JOB, 1000), RUN_STATE__COUNT);
	CHECK_INT(sim_waits(REQUEST_DELETE), 0);
	sim_end();
}

/* A user opts out while a later run of the job waits. */
static void
test_opted_out_releases(void)
{
	sim_begin();
	record(1000, JOB_LIVE, 0, END_NOT);
	record(90000, JOB_LIVE, 0, END_NOT);
	CHECK_INT(sim_state(JOB, 90000), START_BLOCKED);
	record(1000, JOB_LIVE | JOB_OPTED_OUT, 0, END_NOT);
	CHECK_INT(sim_state(JOB, 90000), START_DUE);
	sim_end();
}

/* Answers all other requests until a start waits. */
static void
wait_for_start(const char *probe)
{
	int turns;

	for (turns = 0; turns < 100000 && sim_waits(REQUEST_START) == 0;
	     turns++) {
		if (sim_waits(REQUEST_PROBE) > 0)
			sim_answer(REQUEST_PROBE, 400, probe);
		else if (sim_waits(REQUEST_CLUSTERS) > 0)
			sim_answer(REQUEST_CLUSTERS, 200, "{\"clusters\":[]}");
		else if (sim_waits(REQUEST_LIST) > 0)
			sim_answer(REQUEST_LIST, 200, EMPTY);
		else
			sim_run(1000);
	}
	CHECK(sim_waits(REQUEST_START) > 0);
}

/*
 * A start that has failed 20 times blocks no later run of the job, also none
 * that is stored afterwards.
 */
static void
test_failing_start(void)
{
	int i;

	sim_begin();
	sim_connect();
	record(1000, JOB_LIVE, 0, END_NOT);
	for (i = 0; i < 19; i++) {
		wait_for_start(IS_1_5);
		sim_answer(REQUEST_START, 500, "{\"error\":\"internal\"}");
	}
	record(90000, JOB_LIVE, 0, END_NOT);
	record(180000, JOB_LIVE, 0, END_NOT);
	CHECK_INT(sim_state(JOB, 90000), START_BLOCKED);
	for (i = 0; i < 4 && sim_state(JOB, 180000) != STARTED; i++) {
		wait_for_start(IS_1_5);
		if (strstr(sim_body(REQUEST_START), "\"startTime\":1000") ==
		    NULL)
			sim_answer(REQUEST_START, 201, "{}");
		else
			sim_answer(REQUEST_START, 500,
			    "{\"error\":\"internal\"}");
	}
	CHECK_INT(sim_state(JOB, 1000), START_DUE);
	CHECK_INT(sim_state(JOB, 90000), STARTED);
	CHECK_INT(sim_state(JOB, 180000), STARTED);
	record(270000, JOB_LIVE, 0, END_NOT);
	CHECK_INT(sim_state(JOB, 270000), START_DUE);
	sim_end();
}

/* Both runs of a job were rejected, and both are retried. */
static void
test_retry_order(void)
{
	static const int64_t starts[] = { 1000, 90000 };
	struct spool_run run;
	unsigned i, first;

	for (first = 0; first < 2; first++) {
		sim_begin();
		record(1000, JOB_LIVE, 0, END_NOT);
		record(1000, 0, 1100, END_FAILED);
		record(90000, JOB_LIVE, 0, END_NOT);
		for (i = 0; i < 2; i++) {
			run = run_of(starts[i]);
			run_reject(&sim, &run, DEST_REST, REJECT_INVALID, "no");
			CHECK_INT(sim_state(JOB, starts[i]), START_REJECTED);
		}
		for (i = 0; i < 2; i++) {
			run = run_of(starts[i ^ first]);
			CHECK_INT(spool_retry(sim.spool, &run), 0);
		}
		CHECK_INT(sim_state(JOB, 1000), START_DUE_ENDED);
		CHECK_INT(sim_state(JOB, 90000), START_BLOCKED);
		sim_end();
	}
}

/*
 * A start waits a minute because a stop of the run may be under way.  Another
 * value of the record does not shorten that.
 */
static void
test_wait_for_stop(void)
{
	struct spool_run run;
	struct job job;
	int64_t row;

	sim_begin();
	sim_connect();
	spool_policy(sim.spool)->wait_commit = 0;
	record(1000, 0, 1100, END_COMPLETED);
	sim_answer(REQUEST_START, 201, "{}");
	sim_answer(REQUEST_STOP, 0, NULL);
	while (sim_waits(REQUEST_STOP) == 0)
		sim_run(100);
	sim_answer(REQUEST_STOP, 404, NO_RUN);
	CHECK_INT(sim_state(JOB, 1000), START_DUE_ENDED);
	job_init(&job);
	job.key = run_of(1000).key;
	job.submit = 900;
	job.flags = JOB_HAS_START;
	job.end = 1100;
	job.state = END_COMPLETED;
	job.memory = 1000;
	CHECK_INT(spool_put(sim.spool, &job, &row), PUT_MERGED);
	job_clear(&job);
	run = run_of(1000);
	CHECK(run.due[DEST_REST] > spool_now(sim.spool) + 50000);
	sim_end();
}

/* Slurm prepares a later run: the stop of this one does not wait for that. */
static void
test_stop_beside_unconfirmed(void)
{
	sim_begin();
	sim_connect();
	spool_policy(sim.spool)->wait_commit = 0;
	record(1000, JOB_LIVE, 0, END_NOT);
	sim_answer(REQUEST_START, 201, "{}");
	record(1200, JOB_LIVE | JOB_UNCONFIRMED, 0, END_NOT);
	record(1000, 0, 1130, END_NODE_FAIL);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_end();
}

/*
 * cc-backend is upgraded after a start has failed several times for another
 * reason: the version is probed, and the start has the new fields.
 */
static void
test_upgrade_after_failures(void)
{
	int i;

	sim_begin();
	breaker_conf(sim.breaker);
	wake(&sim, WAKE_DELIVERY);
	sim_run(0);
	sim_answer(REQUEST_PROBE, 400, IS_1_4);
	sim_answer(REQUEST_CLUSTERS, 200, "{\"clusters\":[]}");
	record(1000, JOB_LIVE, 0, END_NOT);
	for (i = 0; i < 5; i++) {
		wait_for_start(IS_1_4);
		sim_answer(REQUEST_START, 500, "{\"error\":\"internal\"}");
	}
	wait_for_start(IS_1_4);
	CHECK(strstr(sim_body(REQUEST_START), "exclusive") != NULL);
	sim_answer(REQUEST_START, 400, OLD_FIELD);
	CHECK_INT(sim_state(JOB, 1000), START_DUE);
	wait_for_start(IS_1_5);
	CHECK(strstr(sim_body(REQUEST_START), "exclusive") == NULL);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(JOB, 1000), STARTED);
	sim_end();
}

/* A field that no version knows: the start is rejected after some tries. */
static void
test_unknown_field(void)
{
	int i;

	sim_begin();
	sim_connect();
	record(1000, JOB_LIVE, 0, END_NOT);
	for (i = 0; i < 10 && sim_state(JOB, 1000) == START_DUE; i++) {
		wait_for_start(IS_1_5);
		sim_answer(REQUEST_START, 400,
		    "{\"error\":\"json: unknown field \\\"walltime\\\"\"}");
	}
	CHECK_INT(sim_state(JOB, 1000), START_REJECTED);
	CHECK_INT(i, 4);
	sim_end();
}

/*
 * A delivered run that no later run can replace any more stays in the spool until
 * it is published.
 */
static void
test_kept_for_nats(void)
{
	struct spool_run run;

	sim_begin();
	sim_connect();
	spool_policy(sim.spool)->last_requeued = 1;
	spool_policy(sim.spool)->wait_commit = 0;
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	record(1000, 0, 1030, END_REQUEUED);
	sim_answer(REQUEST_START, 201, "{}");
	sim_answer(REQUEST_STOP, 200, STOPPED);
	run = run_of(1000);
	CHECK_INT(run.state[DEST_REST], KEPT_REPLACEABLE);
	CHECK_INT(spool_kept_done(sim.spool, &run), 0);
	run = run_of(1000);
	CHECK_INT(run.state[DEST_REST], RUN_DONE);
	CHECK_INT(run.state[DEST_NATS], START_DUE_ENDED);
	sim_end();
}

/* A proxy permits no DELETE, and accepts the probe: the later run is sent. */
static void
test_delete_forbidden(int code)
{
	int i, refused = 0;

	begin_requeued();
	record(1200, JOB_LIVE, 0, END_NOT);
	CHECK_INT(sim_state(JOB, 1000), DELETE_DUE);
	for (i = 0; i < 3000; i++) {
		if (sim_waits(REQUEST_PROBE))
			sim_answer(REQUEST_PROBE, 400, IS_1_5);
		if (sim_waits(REQUEST_DELETE)) {
			refused++;
			sim_answer(REQUEST_DELETE, code, "<html>");
		}
		sim_run(10);
	}
	CHECK_INT(refused, 5);
	CHECK_INT(sim_state(JOB, 1000), STOP_DUE);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(breaker_is_up(sim.breaker));
	sim_end();
}

/*
 * While a start of the job is under way, cc-backend may stop another run than
 * the stop names: the stop waits.
 */
static void
test_stop_beside_start(void)
{
	sim_begin();
	sim_connect();
	record(1000, 0, 1100, END_COMPLETED);
	record(101000, JOB_LIVE, 0, END_NOT);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(JOB, 1000), STOP_BLOCKED);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK_INT(run_of(101000).due[DEST_REST], DUE_LEASED);
	sim_run(2000);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(7, 1000, "running", 0) "]}");
	CHECK_INT(sim_state(JOB, 1000), STOP_DUE);
	sim_run(2000);
	CHECK_INT(sim_waits(REQUEST_STOP), 0);
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(500);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_end();
}

int
main(void)
{
	test_false_start_replaces_nothing();
	test_opted_out_replaces_nothing();
	test_confirmed_replaces();
	test_confirmed_replaces_unsent();
	test_deletion_rejected();
	test_deletion_rejected_before_stop();
	test_opted_out_releases();
	test_failing_start();
	test_retry_order();
	test_wait_for_stop();
	test_stop_beside_unconfirmed();
	test_upgrade_after_failures();
	test_unknown_field();
	test_kept_for_nats();
	test_delete_forbidden(403);
	test_delete_forbidden(405);
	test_stop_beside_start();
	return check_done();
}
