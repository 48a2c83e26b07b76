/* SPDX-License-Identifier: MIT */
/*
 * Two suites beside two slurmctld (activeOnly), with simulated answers: the
 * passive one sends nothing; before it sends, it lists what the other sent.
 */
#include "config.h"

#include <sys/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/codec.h"
#include "common/ipc/channel.h"
#include "submitter/backend/breaker.h"
#include "submitter/ctl.h"
#include "submitter/net/http.h"
#include "submitter/reconcile/failover.h"
#include "submitter/reconcile/first_list.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

#define EMPTY "{\"jobs\":[]}"

static void
role(int active, unsigned rank)
{
	const uint8_t bytes[] = { (uint8_t)active, (uint8_t)rank };
	struct reader r;

	rd_init(&r, bytes, sizeof(bytes));
	CHECK_INT(failover_frame(sim.failover, &r), 0);
	sim_run(0);
}

static void
begin(void)
{
	sim_begin();
	conf_set(&sim.w->conf, CONF_ACTIVE_ONLY, "true");
	failover_conf(sim.failover);
	spool_policy(sim.spool)->active_only = 1;
	sim_connect();
}

/* Nothing is sent before the collector has said who is active. */
static void
test_passive(void)
{
	begin();
	CHECK(role_is_passive(&sim));
	sim_put(1, 1000, 1100);
	sim_run(SIM_MINUTE);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	role(0, 1);
	sim_run(SIM_MINUTE);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(sim_state(1, 1000), START_DUE_ENDED);
	sim_end();
}

static void
backend_down(void)
{
	struct result v = { .code = RESULT_UNREACHABLE, .text = "reset" };
	int i;

	for (i = 0; i < 3; i++)
		breaker_request_result(sim.breaker, &v);
	CHECK(!breaker_reaches(sim.breaker));
}

/* cc-backend answers the probe. */
static void
backend_back(void)
{
	sim_run(SIM_MINUTE);
	sim_answer(REQUEST_PROBE, 400, "{\"error\":\"no such cluster: \"}");
	while (sim_waits(REQUEST_CLUSTERS) > 0)
		sim_answer(REQUEST_CLUSTERS, 200, "{\"clusters\":[]}");
}

/*
 * No request follows the probe of a passive suite, and none while the only run
 * waits until Slurm shows it running: the answer to the probe ends the outage.
 */
static void
test_outage(void)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	begin();
	role(0, 1);
	sim_put(1, 1000, 1100);
	backend_down();
	backend_back();
	CHECK(breaker_is_up(sim.breaker));
	sim_end();

	sim_begin();
	sim_connect();
	backend_down();
	sim_put(1, 1000, 0);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.due[DEST_REST] = DUE_UNCONFIRMED;
	run.flags |= RUN_UNCONFIRMED;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	backend_back();
	CHECK(breaker_is_up(sim.breaker));
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_end();

	sim_begin();
	sim_connect();
	backend_down();
	sim_put(1, 1000, 0);
	sim_put(2, 1000, 0);
	backend_back();
	CHECK(!breaker_is_up(sim.breaker));
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK(breaker_is_up(sim.breaker));
	sim_end();
}

/* The runs that the other suite has delivered are not sent again. */
static void
test_active(void)
{
	begin();
	sim_put(1, 1000, 1100);
	sim_put(2, 1001, 0);
	sim_put(3, 1002, 0);
	role(1, 0);
	CHECK(role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(2, 1001, "running", 0) "," SIM_JOB(1, 1000,
		"completed", 100) "]}");
	CHECK(!role_is_passive(&sim));
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	CHECK_INT(sim_state(2, 1001), START_COMMITTED);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"jobId\":3,") != NULL);
	sim_end();
}

/*
 * A backfill sends a run of months ago: the list does not begin there.  cc-backend
 * refuses the start if the other suite has sent it.
 */
static void
test_backfill_apart(void)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	begin();
	sim_put(1, 1000, 1100);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.flags |= RUN_BACKFILL;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	sim_put(2, 9000000, 0);
	role(1, 0);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=9000000-9000000") !=
	    NULL);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK(!role_is_passive(&sim));
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(1000);
	CHECK(strstr(sim_body(REQUEST_START), "\"jobId\":1,") != NULL);
	sim_answer(REQUEST_START, 422,
	    "{\"error\":\"a job with that jobId exists\"}");
	CHECK_INT(sim_state(1, 1000), START_CONFLICT);
	sim_run(SIM_MINUTE);
	while (sim_waits(REQUEST_LIST) > 0)
		sim_answer(REQUEST_LIST, 200,
		    "{\"jobs\":[" SIM_JOB(1, 1000, "completed", 100) "]}");
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	sim_end();
}

/* A proxy refuses each list and accepts the probe: the runs are sent. */
static void
test_list_refused(void)
{
	int s, lists = 0;

	begin();
	sim_put(1, 1000, 0);
	role(1, 0);
	for (s = 0; s < 600 && sim_waits(REQUEST_START) == 0; s++) {
		while (sim_waits(REQUEST_PROBE) > 0)
			sim_answer(REQUEST_PROBE, 400,
			    "{\"error\":\"no such cluster: \"}");
		if (sim_waits(REQUEST_LIST) > 0) {
			lists++;
			sim_answer(REQUEST_LIST, 403, "<html>");
		}
		sim_run(1000);
	}
	CHECK_INT(lists, 5);
	CHECK(!role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_end();
}

/* More rows than were requested are no list. */
static void
test_list_too_long(void)
{
	static char text[501 * 96];
	size_t n = 0;
	int rows, i;

	for (rows = 500; rows <= 501; rows++) {
		begin();
		sim_put(1, 1000, 0);
		role(1, 0);
		n = (size_t)sprintf(text, "{\"jobs\":[");
		for (i = 0; i < rows; i++)
			n += (size_t)sprintf(text + n,
			    "%s{\"jobId\":%d,\"cluster\":\"alpha\","
			    "\"startTime\":1000,\"jobState\":\"running\"}",
			    i > 0 ? "," : "", 100 + i);
		sprintf(text + n, "]}");
		CHECK(strstr(sim_path(REQUEST_LIST), "page=1") != NULL);
		sim_answer(REQUEST_LIST, 200, text);
		/* The next page is requested only behind a whole one. */
		CHECK_INT(sim_waits(REQUEST_LIST), rows == 500);
		sim_end();
	}
}

/*
 * A run that another client has stopped with another end is not one that the
 * other suite has delivered: it is listed for an admin.
 */
static void
test_stopped_by_others(void)
{
	begin();
	sim_put(1, 1000, 1100);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "failed", 50) "]}");
	CHECK_INT(sim_state(1, 1000), START_DUE_ENDED);
	sim_answer(REQUEST_START, 422,
	    "{\"error\":\"a job with that jobId exists\"}");
	CHECK_INT(sim_state(1, 1000), START_CONFLICT);
	sim_run(SIM_MINUTE);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "failed", 50) "]}");
	CHECK_INT(sim_state(1, 1000), STOPPED_BY_OTHERS);
	sim_end();
}

/* The same while the stop waits for the list that shows the start. */
static void
test_stopped_while_waiting(void)
{
	begin();
	sim_put(1, 1000, 0);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_START, 201, "{}");
	sim_put(1, 1000, 1100);
	CHECK_INT(sim_state(1, 1000), STOP_BLOCKED);
	sim_run(SIM_MINUTE);
	sim_answer(REQUEST_LIST, 200, EMPTY); /* running jobs */
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "failed", 50) "]}");
	CHECK_INT(sim_state(1, 1000), STOP_CONFLICT);
	sim_end();
}

/*
 * The other suite has delivered a run, which `backfill --nats` publishes again
 * here: that is still to be done.
 */
static void
test_published_again(void)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	begin();
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	sim_put(1, 1000, 1100);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run_move(sim.spool, &run, DEST_NATS, RUN_EVENT_ACCEPTED, DUE_NOW, NULL);
	spool_policy(sim.spool)->republish = (struct spool_republish) {
		.cluster = "alpha",
		.until = 1000,
		.before = run.since[DEST_NATS] + 1,
	};
	CHECK_INT(spool_republish(sim.spool, &run), 1);
	CHECK_INT(run.state[DEST_NATS], BACKFILL_HELD);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "completed", 100) "]}");
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_REST], RUN_DONE);
	CHECK_INT(run.state[DEST_NATS], BACKFILL_HELD);
	sim_end();
}

static enum run_state
nats_state(uint64_t job, int64_t start)
{
	struct run_key key = { "alpha", job, start };
	struct spool_run run;

	return spool_find(sim.spool, &key, &run) == 1 ? run.state[DEST_NATS] :
							RUN_STATE__COUNT;
}

/*
 * The list settles the start of a run for NATS: the next run of the job is
 * published.
 */
static void
test_releases_nats(const char *list, enum run_state rest, enum run_state nats)
{
	begin();
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	sim_put(1, 1000, 1100);
	sim_put(1, 1200, 0);
	CHECK_INT(sim_state(1, 1200), START_BLOCKED);
	CHECK_INT(nats_state(1, 1200), START_BLOCKED);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200, list);
	CHECK_INT(sim_state(1, 1000), rest);
	CHECK_INT(nats_state(1, 1000), nats);
	CHECK_INT(sim_state(1, 1200), START_DUE);
	CHECK_INT(nats_state(1, 1200), START_DUE);
	spool_policy(sim.spool)->to[DEST_NATS] = 0;
	sim_end();
}

/* The same, but `backfill --nats` publishes the first run again. */
static void
test_keeps_nats_blocked(void)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	begin();
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	sim_put(1, 1000, 1100);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.flags |= RUN_REPUBLISHED;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	sim_put(1, 1200, 0);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "completed", 100) "]}");
	CHECK_INT(nats_state(1, 1000), START_DUE_ENDED);
	CHECK_INT(nats_state(1, 1200), START_BLOCKED);
	spool_policy(sim.spool)->to[DEST_NATS] = 0;
	sim_end();
}

#define STEPS 100 /* of SQLite, in one call */

static int
on_steps(void *arg)
{
	++*(int *)arg;
	return 0;
}

/* Clusters without runs do not make the rows be read again for each of them. */
static void
test_many_clusters(void)
{
	char name[CLUSTER_MAX];
	int i, calls = 0;

	begin();
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		CHECK_INT(spool_watermark(sim.spool, name, 1), 0);
	}
	for (i = 1; i <= 500; i++)
		sim_put((uint64_t)i, 1000 + i, 0);
	sqlite3_progress_handler(sim.spool->db, STEPS, on_steps, &calls);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sqlite3_progress_handler(sim.spool->db, 0, NULL, NULL);
	CHECK(!role_is_passive(&sim));
	CHECK(calls * STEPS < 100 * 500);
	sim_end();
}

/*
 * The start of a run that is open for days does not make the list longer: its
 * stop waits for a list of its own.
 */
static void
test_open_run(void)
{
	begin();
	sim_put(1, 1000, 0);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}");
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	role(0, 0);
	sim_run(6 * SIM_HOUR);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	role(1, 0);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	CHECK(!role_is_passive(&sim));
	role(0, 0);
	sim_put(2, 605000, 0);
	role(1, 0);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK(
	    strstr(sim_path(REQUEST_LIST), "start-time=605000-605000") != NULL);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK(!role_is_passive(&sim));
	/* the other suite has sent the stop */
	sim_put(1, 1000, 1100);
	CHECK_INT(sim_state(1, 1000), STOP_BLOCKED);
	sim_run(SIM_MINUTE);
	CHECK(sim_waits(REQUEST_LIST) > 0);
	while (sim_waits(REQUEST_LIST) > 0)
		sim_answer(REQUEST_LIST, 200,
		    strstr(sim_path(REQUEST_LIST), "state=running") != NULL ?
			EMPTY :
			"{\"jobs\":[" SIM_JOB(1, 1000, "completed", 100) "]}");
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	CHECK_INT(sim_waits(REQUEST_STOP), 0);
	sim_end();
}

/* A list that fails is repeated; nothing is sent meanwhile. */
static void
test_list_fails(void)
{
	begin();
	sim_put(1, 1000, 0);
	role(1, 0);
	sim_answer(REQUEST_LIST, 0, NULL);
	CHECK(role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_run(2000);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK(!role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_end();
}

/*
 * A suite that was never active looks for the runs that the other suite has
 * delivered: its spool would grow without limit.
 */
static void
test_passive_lists(void)
{
	begin();
	role(0, 1);
	sim_put(1, 1000, 1100);
	sim_run(6 * SIM_HOUR);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "completed", 100) "]}");
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	CHECK(role_is_passive(&sim));
	sim_put(2, 1001, 1100);
	sim_run(6 * SIM_HOUR);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_end();
}

/* A takeover back and forth: the suite that was active sends nothing more. */
static void
test_back(void)
{
	begin();
	sim_put(1, 1000, 0);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(1, 1000), STARTED);
	role(0, 0);
	CHECK(role_is_passive(&sim));
	sim_put(2, 1001, 0);
	sim_run(SIM_MINUTE);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	/* active again: it lists first */
	role(1, 0);
	CHECK(role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_end();
}

/*
 * A list that was requested before this suite became active does not show what
 * the other suite has sent since: the jobs are listed again.  was_passive: the
 * list is one of the passive suite, else one of an earlier takeover.
 */
static void
test_list_before_takeover(int was_passive)
{
	begin();
	if (was_passive) {
		role(1, 0);
		role(0, 0);
	}
	sim_put(1, 1000, 1100);
	if (was_passive)
		sim_run(6 * SIM_HOUR);
	else {
		role(1, 0);
		role(0, 0);
	}
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK(role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "completed", 100) "]}");
	CHECK(!role_is_passive(&sim));
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_end();
}

/*
 * A list shows the run while its start is under way, and its stop is sent.  The
 * answer to the start is not one to the stop.
 */
static void
test_start_under_way(void)
{
	begin();
	sim_put(1, 1000, 1100);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	role(0, 0);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}");
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_answer(REQUEST_START, 0, NULL);
	sim_run(SIM_MINUTE);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_answer(REQUEST_STOP, 200, "{\"jobId\":1,\"startTime\":1000}");
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	sim_end();
}

/* Stores a run of job 7 that was requeued after 10 s, and its next run. */
static void
early_put(void)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = 7;
	job.key.start = 1000;
	job.submit = 900;
	job.end = 1010;
	job.state = END_REQUEUED;
	job.flags = JOB_HAS_START;
	job.user = strdup("u1");
	job.nodes = 1;
	job_add_host(&job, "n1");
	CHECK_INT(spool_put(sim.spool, &job, &row), PUT_NEW);
	job_clear(&job);
}

/* The earlier run is deleted in cc-backend, then the later one is started. */
static void
check_replaced(void)
{
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(sim_waits(REQUEST_DELETE), 1);
	CHECK(strstr(sim_body(REQUEST_DELETE),
		  "{\"jobId\":7,\"cluster\":\"alpha\",\"startTime\":1000}") !=
	    NULL);
	sim_answer(REQUEST_DELETE, 200, "{}");
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"startTime\":1100") != NULL);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(7, 1100), STARTED);
}

/*
 * requeuedRuns=last: the other suite has delivered the earlier run. This suite
 * deletes it in cc-backend when the later run comes, before or after it becomes
 * active.
 */
static void
test_last_requeued(void)
{
	static const char list[] = "{\"jobs\":[" SIM_JOB(7, 1000, "preempted",
	    10) "]}";

	/* the later run comes while this suite is passive */
	begin();
	spool_policy(sim.spool)->last_requeued = 1;
	early_put();
	sim_put(7, 1100, 0);
	CHECK_INT(sim_waits(REQUEST_DELETE), 0);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200, list);
	check_replaced();
	sim_end();

	/* it comes later */
	begin();
	spool_policy(sim.spool)->last_requeued = 1;
	early_put();
	role(1, 0);
	sim_answer(REQUEST_LIST, 200, list);
	CHECK_INT(sim_state(7, 1000), KEPT_REPLACEABLE);
	CHECK_INT(sim_waits(REQUEST_DELETE), 0);
	sim_put(7, 1100, 0);
	check_replaced();
	sim_end();
}

/* The second suite looks for stops later than the first one. */
static void
test_rank(void)
{
	begin();
	role(1, 1);
	CHECK(role_stop_delay(&sim) > 0);
	conf_set(&sim.w->conf, CONF_ACTIVE_ONLY, "false");
	failover_conf(sim.failover);
	CHECK_INT(role_stop_delay(&sim), 0);
	CHECK(!role_is_passive(&sim));
	sim_end();
}

/* --- metrics --- */

/* The values in the last answer; -1 = the answer has no row. */
static long long backend_up, oldest;

static void
on_metric(const struct writer *row)
{
	struct reader r;
	char field[5][256];
	unsigned i;

	rd_init(&r, row->buf, row->len);
	rd_u8(&r); /* the table */
	rd_u8(&r); /* the number of fields */
	for (i = 0; i < 5; i++)
		rd_name(&r, field[i], sizeof(field[i]));
	if (strcmp(field[0], "cc_slurm_adapter_backend_up") == 0)
		backend_up = atoll(field[4]);
	if (strcmp(field[0], "cc_slurm_adapter_stage_oldest_waiting_seconds") ==
		0 &&
	    strstr(field[3], "\"cc-backend\"") != NULL)
		oldest = atoll(field[4]);
}

static void
metrics_read(void)
{
	backend_up = oldest = -1;
	sim_on_row = on_metric;
	metrics_send(&sim, 1);
	sim_on_row = NULL;
}

/*
 * The other suite delivers the runs that wait at the passive one.  An active suite
 * that cannot list the jobs of cc-backend has an outage.
 */
static void
test_passive_metrics(void)
{
	begin();
	sim_put(1, 1000, 1100);
	metrics_read();
	CHECK_INT(oldest, 0);
	role(0, 1);
	metrics_read();
	CHECK_INT(oldest, 0);
	CHECK_INT(backend_up, 1);
	backend_down();
	metrics_read();
	CHECK_INT(backend_up, 0);
	role(1, 0);
	CHECK(role_is_passive(&sim));
	metrics_read();
	CHECK(oldest > 86400);
	CHECK_INT(backend_up, 0);
	conf_set(&sim.w->conf, CONF_ACTIVE_ONLY, "false");
	role(0, 0);
	failover_conf(sim.failover);
	metrics_read();
	CHECK(oldest > 86400);
	sim_end();
}

/* --- two centres --- */

/* The result for a message with this time. */
static int
active_until_at(int64_t until)
{
	struct writer w;
	struct reader r;
	int rc;

	wr_init(&w, 32);
	wr_i64(&w, until);
	wr_u64(&w, 7);
	rd_init(&r, w.buf, w.len);
	rc = failover_active_until(sim.failover, &r);
	wr_clear(&w);
	sim_run(0);
	return rc;
}

static void
active_until(int64_t ms)
{
	CHECK_INT(active_until_at(ms == 0 ? 0 : clock_boot_ms() + ms), 0);
}

static void
centre_begin(void)
{
	sim_begin();
	conf_set(&sim.w->conf, CONF_ACTIVE_ONLY, "true");
	conf_set(&sim.w->conf, CONF_SOURCE, "stream");
	sim.first_list = first_list_new(&sim);
	failover_conf(sim.failover);
	spool_policy(sim.spool)->active_only = 1;
	breaker_conf(sim.breaker);
}

static int
requests(void)
{
	int kind, n = 0;

	for (kind = 0; kind < REQUEST__COUNT; kind++)
		n += sim_waits((enum request_kind)kind);
	return n;
}

/* The answers of a cc-backend 1.5 without clusters. */
static void
probe_answers(void)
{
	CHECK_INT(sim_waits(REQUEST_PROBE), 1);
	CHECK_INT(requests(), 1);
	sim_answer(REQUEST_PROBE, 400, "{\"error\":\"no such cluster: \"}");
	sim_answer(REQUEST_CLUSTERS, 200, "{\"clusters\":[]}");
}

/* The standby makes no request of any kind. */
static void
test_standby(void)
{
	centre_begin();
	CHECK_INT(sim_fence, 0);
	sim_put(1, 1000, 1100);
	sim_run(SIM_HOUR);
	CHECK_INT(requests(), 0);
	active_until(0);
	sim_run(SIM_HOUR);
	CHECK_INT(requests(), 0);
	CHECK(role_is_passive(&sim));
	sim_end();
}

/* The standby does not know whether cc-backend answers. */
static void
test_standby_metrics(void)
{
	centre_begin();
	sim_put(1, 1000, 1100);
	metrics_read();
	CHECK_INT(backend_up, -1);
	CHECK_INT(oldest, 0);
	active_until(30000);
	metrics_read();
	CHECK_INT(backend_up, 0);
	CHECK(oldest > 86400);
	probe_answers();
	metrics_read();
	CHECK_INT(backend_up, 1);
	active_until(0);
	metrics_read();
	CHECK_INT(backend_up, -1);
	CHECK_INT(oldest, 0);
	sim_end();
}

/* Probe, list of what the spool has, running jobs; then the first start. */
static void
test_lease(void)
{
	int64_t until;

	centre_begin();
	sim_put(1, 1000, 1100);
	sim_put(2, 1001, 0);
	active_until(30000);
	until = clock_boot_ms() + 30000;
	CHECK_INT(sim_fence, until);
	probe_answers();
	sim_run(3000);
	CHECK_INT(sim_waits(REQUEST_LIST), 2);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	while (sim_waits(REQUEST_LIST) > 0) {
		CHECK_INT(sim_waits(REQUEST_START), 0);
		sim_answer(REQUEST_LIST, 200,
		    strstr(sim_path(REQUEST_LIST), "state=running") != NULL ?
			EMPTY :
			"{\"jobs\":[" SIM_JOB(1, 1000, "completed", 100) "]}");
	}
	CHECK(!role_is_passive(&sim));
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	/* the lease is over, without a message */
	sim_answer(REQUEST_START, 0, NULL);
	sim_run(until - clock_boot_ms() - HTTP_FENCE_LEAST - 1);
	CHECK(!role_is_passive(&sim));
	sim_answer(REQUEST_START, 0, NULL);
	sim_run(2);
	CHECK(role_is_passive(&sim));
	sim_run(SIM_HOUR);
	CHECK_INT(requests(), 0);
	sim_end();
}

/* The shortest lease leaves time for requests until its next renewal. */
static void
test_shortest_lease(void)
{
	int64_t ms = conf_rule(CONF_NATS_LEASE_TIME)->min * 1000;

	centre_begin();
	active_until(ms - ms / 3);
	CHECK(!sim.role.standby);
	CHECK_INT(sim_waits(REQUEST_PROBE), 1);
	active_until(0);
	sim_end();
}

/* A receiver that forges a time does not make the centre active for longer. */
static void
test_longest_lease(void)
{
	int64_t ms = conf_rule(CONF_NATS_LEASE_TIME)->max * 1000;

	centre_begin();
	active_until(30000);
	CHECK_INT(active_until_at(INT64_MAX), -1);
	CHECK_INT(active_until_at(clock_boot_ms() + ms + 1), -1);
	CHECK_INT(active_until_at(-1), -1);
	CHECK(!sim.role.standby);
	sim_run(30000);
	CHECK(sim.role.standby);
	active_until(ms);
	CHECK(!sim.role.standby);
	active_until(0);
	sim_end();
}

/* The standby shows no outage that it noted while it was active. */
static void
test_outage_is_over(void)
{
	centre_begin();
	active_until(30000);
	CHECK_INT(sim_waits(REQUEST_PROBE), 1);
	sim_answer(REQUEST_PROBE, 0, NULL);
	CHECK(strstr(breaker_problem(sim.breaker), "down for ") != NULL);
	active_until(0);
	CHECK_STR(breaker_problem(sim.breaker), "not in use");
	sim_end();
}

/* A list that was requested before another centre was active is not used. */
static void
test_old_list(void)
{
	centre_begin();
	sim_put(1, 1000, 1100);
	active_until(30000);
	probe_answers();
	sim_run(3000);
	CHECK_INT(sim_waits(REQUEST_LIST), 2);
	active_until(0);
	CHECK_INT(requests(), 2);
	active_until(30000);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK(role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_START), 0);
	probe_answers();
	sim_run(3000);
	CHECK_INT(sim_waits(REQUEST_LIST), 2);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_end();
}

/* Without activeOnly there is no lease. */
static void
test_no_lease(void)
{
	centre_begin();
	conf_set(&sim.w->conf, CONF_ACTIVE_ONLY, "false");
	failover_conf(sim.failover);
	CHECK(sim_fence == HTTP_NO_FENCE);
	CHECK(!sim.role.standby);
	active_until(0);
	CHECK(sim_fence == HTTP_NO_FENCE);
	CHECK(!sim.role.standby);
	sim_end();
}

/* --- the daemon ends --- */

static int theirs; /* the receiver's end of the channel */

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	CHECK_STR("a frame", "none is expected");
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	CHECK_STR(why, "");
}

static const struct channel_ops channel_ops = { .on_frame = on_frame,
	.on_broken = on_broken };

static void
receiver_begin(void)
{
	int fds[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	theirs = fds[1];
	sim.w->peers[ROLE_RECEIVER] = channel_new(sim.w->base, fds[0],
	    ROLE_SUBMITTER, ROLE_RECEIVER, &channel_ops, NULL);
	CHECK(sim.w->peers[ROLE_RECEIVER] != NULL);
}

static void
receiver_end(void)
{
	channel_free(sim.w->peers[ROLE_RECEIVER]);
	sim.w->peers[ROLE_RECEIVER] = NULL;
	close(theirs);
}

static void
drain(unsigned ms)
{
	struct writer w;
	struct reader r;

	wr_init(&w, 8);
	wr_u32(&w, ms);
	rd_init(&r, w.buf, w.len);
	CHECK_INT(failover_drain(sim.failover, &r), 0);
	rd_init(&r, w.buf, 3);
	CHECK_INT(failover_drain(sim.failover, &r), -1);
	wr_clear(&w);
	sim_run(0);
}

/* The requests end, and the receiver is told whether each had its answer. */
static void
check_drained(unsigned answered)
{
	struct msg_header h;
	uint8_t *payload = NULL;
	int fd;

	CHECK(sim_quiet != NULL);
	sim_quiet(sim_quiet_arg);
	CHECK_INT(sim_fence, 0);
	CHECK_INT(channel_flush(sim.w->peers[ROLE_RECEIVER], 10000), 0);
	CHECK_INT(frame_read(theirs, ROLE_RECEIVER, ROLE_SUBMITTER, &h,
		      &payload, &fd, 10000),
	    0);
	CHECK_INT(h.type, MSG_DRAINED);
	CHECK(payload != NULL && payload[0] == answered);
	free(payload);
}

/* No new request; those under way have a second. */
static void
test_drain(void)
{
	centre_begin();
	receiver_begin();
	active_until(30000);
	probe_answers();
	sim_run(3000);
	while (sim_waits(REQUEST_LIST) > 0)
		sim_answer(REQUEST_LIST, 200, EMPTY);
	CHECK(!role_is_passive(&sim));
	drain(25000);
	CHECK(role_is_passive(&sim));
	CHECK(sim_fence > clock_boot_ms() &&
	    sim_fence < clock_boot_ms() + HTTP_FENCE_LEAST);
	CHECK(!sim_fence_over);
	sim_run(HTTP_FENCE_LEAST);
	CHECK(sim_fence_over);
	sim_put(1, 1000, 0);
	/* a renewal by the receiver does not begin again */
	active_until(30000);
	sim_run(SIM_MINUTE);
	CHECK(role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_START), 0);
	check_drained(1);
	active_until(30000);
	CHECK_INT(sim_fence, 0);
	receiver_end();
	/* the receiver alone was ended: a new one begins anew */
	receiver_begin();
	failover_peer(sim.failover, sim.w->peers[ROLE_RECEIVER]);
	active_until(30000);
	CHECK_INT(sim_fence, clock_boot_ms() + 30000);
	drain(1);
	check_drained(0);
	receiver_end();
	sim_end();
}

/*
 * The disk refuses the commit with the result of a review: the review is
 * repeated.  A later commit that fails stops nothing.
 */
static void
test_rolled_back(void)
{
	begin();
	sim_put(1, 1000, 1100);
	CHECK_INT(commit_now(sim.commit), 0);
	role(1, 0);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "completed", 100) "]}");
	CHECK(!role_is_passive(&sim));
	commit_fail(sim.commit);
	CHECK_INT(sim_state(1, 1000), START_DUE_ENDED);
	CHECK(role_is_passive(&sim));
	sim_run(5000);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_answer(REQUEST_LIST, 200,
	    "{\"jobs\":[" SIM_JOB(1, 1000, "completed", 100) "]}");
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	CHECK(!role_is_passive(&sim));
	CHECK_INT(commit_now(sim.commit), 0);
	commit_fail(sim.commit);
	CHECK(!role_is_passive(&sim));
	sim_run(3000);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_end();
}

int
main(void)
{
	test_passive();
	test_outage();
	test_active();
	test_backfill_apart();
	test_rolled_back();
	test_list_refused();
	test_list_too_long();
	test_stopped_by_others();
	test_stopped_while_waiting();
	test_published_again();
	test_releases_nats("{\"jobs\":[" SIM_JOB(1, 1000, "completed",
			       100) "]}",
	    RUN_STATE__COUNT, RUN_STATE__COUNT);
	test_releases_nats("{\"jobs\":[" SIM_JOB(1, 1000, "running", 0) "]}",
	    STOP_DUE, STOP_DUE);
	test_keeps_nats_blocked();
	test_many_clusters();
	test_open_run();
	test_list_fails();
	test_passive_lists();
	test_back();
	test_list_before_takeover(0);
	test_list_before_takeover(1);
	test_start_under_way();
	test_last_requeued();
	test_rank();
	test_passive_metrics();
	test_standby();
	test_standby_metrics();
	test_outage_is_over();
	test_lease();
	test_shortest_lease();
	test_longest_lease();
	test_old_list();
	test_no_lease();
	test_drain();
	return check_done();
}
