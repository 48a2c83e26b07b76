/* SPDX-License-Identifier: MIT */
/*
 * Outages of cc-backend with a simulated clock: what is logged, and what is sent
 * when cc-backend works again.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/log_line.h"
#include "submitter/backend/breaker.h"
#include "submitter/delivery/delivery.h"
#include "submitter/spool/spool.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/sim_clock.h"
#include "tests/unit/submitter/simulation.h"

#define EXPIRED "{\"error\":\"token is expired\"}"
#define PROBED	"{\"error\":\"no such cluster: \"}"
#define LOCKED	"{\"error\":\"database is locked\"}"

static unsigned lines[LOG_ID__COUNT]; /* that were logged */
static char last[512];		      /* the last one with an id */

static void
count_line(const struct log_line *line)
{
	lines[line->id]++;
	if (line->id != LOG_ID_NONE)
		snprintf(last, sizeof(last), "%s", line->text);
}

static void
begin(void)
{
	memset(lines, 0, sizeof(lines));
	last[0] = '\0';
	sim_begin();
	sim_connect();
}

/* cc-backend accepts the probe. */
static void
probe_accept(void)
{
	sim_answer(REQUEST_PROBE, 400, PROBED);
	if (sim_waits(REQUEST_CLUSTERS))
		sim_answer(REQUEST_CLUSTERS, 200, "{\"clusters\":[]}");
}

static void
reload(void)
{
	breaker_conf(sim.breaker);
	sim_run(0);
}

/* The start of job 1 and the probe are refused; the start waits for a minute. */
static void
begin_refused(void)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	begin();
	sim_run(3000);
	sim_put(1, 1000, 0);
	sim_answer(REQUEST_START, 401, EXPIRED);
	sim_answer(REQUEST_PROBE, 401, EXPIRED);
	CHECK_INT(lines[LOG_ID_TOKEN_REFUSED], 1);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.tries[DEST_REST] = 8;
	run.due[DEST_REST] = spool_now(sim.spool) + SIM_MINUTE;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	sim_run(5000);
	CHECK_INT(sim_waits(REQUEST_START), 0);
}

/* A reload brings a token that cc-backend accepts. */
static void
test_reload(void)
{
	begin_refused();
	reload();
	CHECK(strstr(breaker_problem(sim.breaker), "down for 5 s") != NULL);
	probe_accept();
	CHECK_STR(breaker_problem(sim.breaker), "up");
	CHECK_INT(lines[LOG_ID_BACKEND_UP], 1);
	CHECK(strstr(last, "reachable again after 5 s") != NULL);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	/* Without an outage, a reload logs nothing. */
	reload();
	probe_accept();
	CHECK_INT(lines[LOG_ID_BACKEND_UP], 1);
	sim_end();
}

/* A reload brings a token that cc-backend refuses: that is logged again. */
static void
test_reload_refused(void)
{
	begin_refused();
	reload();
	sim_answer(REQUEST_PROBE, 401, EXPIRED);
	CHECK_INT(lines[LOG_ID_TOKEN_REFUSED], 2);
	CHECK(
	    strstr(breaker_problem(sim.breaker), "the token for 5 s") != NULL);
	reload();
	probe_accept();
	CHECK_INT(lines[LOG_ID_BACKEND_UP], 1);
	sim_end();
}

/* A request that fails for want of a connection; three are an outage. */
static void
fail(const char *why)
{
	struct result v = { .code = RESULT_UNREACHABLE, .what = REQUEST_LIST };
	int i;

	snprintf(v.text, sizeof(v.text), "%s", why);
	for (i = 0; i < 3; i++)
		breaker_request_result(sim.breaker, &v);
	CHECK(!breaker_reaches(sim.breaker));
}

/* A proxy limits the rate: an outage twice a second, for ten minutes. */
static void
test_short_outages(void)
{
	int i;

	begin();
	for (i = 0; i < 1200; i++) {
		fail("503");
		/* The first outage is logged at once. */
		CHECK(lines[LOG_ID_BACKEND_DOWN] >= 1);
		sim_run(500);
		probe_accept();
		CHECK_STR(breaker_problem(sim.breaker), "up");
		/* The log never ends with an outage that is over. */
		CHECK_INT(lines[LOG_ID_BACKEND_UP], lines[LOG_ID_BACKEND_DOWN]);
	}
	CHECK_INT(lines[LOG_ID_BACKEND_DOWN], 10);
	sim_end();
}

/* A long outage soon after a short one is logged within a minute. */
static void
test_long_after_short(void)
{
	int i;

	begin();
	fail("503");
	sim_run(500);
	probe_accept();
	fail("503");
	CHECK_INT(lines[LOG_ID_BACKEND_DOWN], 1);
	CHECK_INT(lines[LOG_ID_BACKEND_UP], 1);
	for (i = 0; i < 66; i++) {
		sim_run(1000);
		if (sim_waits(REQUEST_PROBE))
			sim_answer(REQUEST_PROBE, 503, "");
	}
	CHECK_INT(lines[LOG_ID_BACKEND_DOWN], 2);
	CHECK_INT(lines[LOG_ID_BACKEND_UP], 1);
	sim_run(5000);
	probe_accept();
	CHECK_INT(lines[LOG_ID_BACKEND_UP], 2);
	CHECK(strstr(last, "reachable again after 1 min 1") != NULL);
	/* A refused token is another message, which is logged at once. */
	sim_put(1, 1000, 0);
	sim_answer(REQUEST_START, 401, EXPIRED);
	sim_run(2000);
	sim_answer(REQUEST_PROBE, 401, EXPIRED);
	CHECK_INT(lines[LOG_ID_TOKEN_REFUSED], 1);
	sim_end();
}

/* For an hour, cc-backend accepts the probe and fails for each start. */
static void
starts_fail(void)
{
	int i;

	for (i = 0; i < 3600; i++) {
		sim_run(1000);
		if (sim_waits(REQUEST_PROBE))
			probe_accept();
		if (sim_waits(REQUEST_START))
			sim_answer(REQUEST_START, 500, LOCKED);
	}
}

/* If only the start of run 1 fails, the outage ends. */
static void
check_outage_ends(void)
{
	starts_fail();
	CHECK_INT(sim_state(1, 1000), START_DUE);
	CHECK_STR(breaker_problem(sim.breaker), "up");
	CHECK_INT(lines[LOG_ID_BACKEND_DOWN], 1);
	CHECK_INT(lines[LOG_ID_BACKEND_UP], 1);
}

/* cc-backend fails for one start again and again, and for no other request. */
static void
test_one_run_fails(void)
{
	begin();
	sim_put(1, 1000, 0);
	check_outage_ends();
	sim_end();
}

/* cc-backend accepts the probe and fails for each start: the outage goes on. */
static void
test_all_runs_fail(void)
{
	begin();
	sim_put(1, 1000, 0);
	sim_put(2, 1000, 0);
	starts_fail();
	CHECK_INT(lines[LOG_ID_BACKEND_DOWN], 1);
	CHECK_INT(lines[LOG_ID_BACKEND_UP], 0);
	sim_end();
}

/*
 * The same beside runs that make no request: they wait for Slurm, or for another
 * run of their job.
 */
static void
test_one_run_fails_beside(void)
{
	struct run_key key = { "alpha", 0, 1000 };
	struct spool_run run;

	begin();
	sim_put(1, 1000, 0);
	for (key.job = 2; key.job < 5; key.job++) {
		sim_put(key.job, 1000, 0);
		CHECK_INT(spool_find(sim.spool, &key, &run), 1);
		run.due[DEST_REST] = DUE_UNCONFIRMED;
		CHECK_INT(spool_save(sim.spool, &run), 0);
	}
	sim_put(2, 3000, 0);
	CHECK_INT(sim_state(2, 3000), START_BLOCKED);
	check_outage_ends();
	sim_end();
}

/* The only run that is due after an outage is gone before its request. */
static void
test_no_run_left(void)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	begin_refused();
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.due[DEST_REST] = spool_now(sim.spool) + 4000;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	reload();
	probe_accept();
	CHECK(strstr(breaker_problem(sim.breaker), "coming back") != NULL);
	CHECK_INT(spool_forget(sim.spool, &run), 0);
	sim_run(5000);
	CHECK_STR(breaker_problem(sim.breaker), "up");
	CHECK_INT(lines[LOG_ID_BACKEND_UP], 1);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_end();
}

int
main(void)
{
	log_sink_set(count_line);
	test_reload();
	test_reload_refused();
	test_short_outages();
	test_long_after_short();
	test_one_run_fails();
	test_one_run_fails_beside();
	test_all_runs_fail();
	test_no_run_left();
	return check_done();
}
