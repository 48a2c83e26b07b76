/* SPDX-License-Identifier: MIT */
/*
 * The first start on a cc-backend that another program has filled: nothing is
 * sent before the list, and no start of what the list shows.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/log_line.h"
#include "common/model/summary.h"
#include "submitter/backend/breaker.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/cluster_names.h"
#include "submitter/reconcile/destinations.h"
#include "submitter/reconcile/first_list.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

#define LIST(rows) "{\"jobs\":[" rows "],\"items\":500,\"page\":1}"

static struct first_list *before;

static void
begin(void)
{
	sim_begin();
	sim.first_list = first_list_new(&sim);
	first_list_check(sim.first_list);
	sim_connect();
	sim_run(0);
}

static void
end(void)
{
	while (sim_waits(REQUEST_LIST) > 0)
		sim_answer(REQUEST_LIST, 401, NULL);
	sim_end();
}

/* The list comes before the records. */
static void
test_before(void)
{
	begin();
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK(strstr(sim_path(REQUEST_LIST), "state=running") != NULL);
	CHECK(strstr(sim_path(REQUEST_LIST), "cluster=alpha") != NULL);
	sim_answer(REQUEST_LIST, 200,
	    LIST(SIM_JOB(1, 1000, "running", 10) "," SIM_JOB(2, 1000, "running",
		10)));
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	sim_put(1, 1000, 0);
	sim_put(2, 1000, 1100);
	sim_run(2000);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_put(3, 1000, 0);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"jobId\":3,") != NULL);
	end();
}

/* The records come before the list. */
static void
test_after(void)
{
	begin();
	sim_put(1, 1000, 0);
	sim_put(2, 1000, 1100);
	sim_put(3, 1000, 0);
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_answer(REQUEST_LIST, 200,
	    LIST(SIM_JOB(1, 1000, "running", 10) "," SIM_JOB(2, 1000, "running",
		10)));
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"jobId\":3,") != NULL);
	end();
}

static unsigned n_given_up, n_probed;

static void
on_failed_line(const struct log_line *line)
{
	n_given_up += strstr(line->text, "; the starts are sent, and") != NULL;
	n_probed += strstr(line->text, "but does not list its jobs: jobs: ") !=
	    NULL;
	CHECK(strstr(line->text, "only this request waits") == NULL);
}

static void
probe_answer(int code)
{
	while (sim_waits(REQUEST_PROBE) > 0)
		sim_answer(REQUEST_PROBE, code,
		    "{\"error\":\"no such cluster: \"}");
	while (sim_waits(REQUEST_CLUSTERS) > 0)
		sim_answer(REQUEST_CLUSTERS, 200, "{\"clusters\":[]}");
}

/* Answers the probe, and each list with this code, for s seconds at most. */
static int
lists_fail(int code, int probe, int s)
{
	int lists = 0;

	for (; s > 0 && sim_waits(REQUEST_START) == 0; s--) {
		sim_run(1000);
		probe_answer(probe);
		if (sim_waits(REQUEST_LIST) > 0) {
			lists++;
			sim_answer(REQUEST_LIST, code, "{\"error\":\"no\"}");
		}
	}
	return lists;
}

/* The problem that lists fail is in the summary. */
static int
has_problem(void)
{
	struct summary sum = { 0 };
	uint32_t i;

	breaker_summary(sim.breaker, &sum);
	for (i = 0; i < sum.n; i++)
		if (strstr(sum.problems[i].text, "does not list its jobs"))
			return 1;
	return 0;
}

/*
 * A list that cc-backend cannot make, or that a proxy refuses or never answers,
 * stops the delivery for some time only.
 */
static void
test_fails(int code, int max, int refused)
{
	n_given_up = n_probed = 0;
	log_sink_set(on_failed_line);
	begin();
	sim_put(1, 1000, 0);
	CHECK_INT(lists_fail(code, 400, 600), max);
	CHECK(!role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK_INT(n_given_up, 1);
	CHECK_INT(n_probed, refused);
	CHECK(has_problem());
	/* A good list later ends the problem. */
	sim_answer(REQUEST_START, 201, "{}");
	sim_put(1, 1000, 1100);
	for (max = 0; max < 120 && sim_waits(REQUEST_LIST) == 0; max++) {
		sim_run(1000);
		probe_answer(400);
	}
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(1, 1000, "running", 10)));
	CHECK(!has_problem());
	end();
	log_sink_set(log_line_send);
}

static void
on_any_row(const struct backend_job *row, void *arg)
{
	CHECK_STR("a row", "none is expected");
}

static void
on_list_end(const struct result *v, void *arg)
{
	CHECK_INT(v->code, RESULT_RETRY);
}

/* One damaged row of a stopped job makes its lists fail: cc-backend works. */
static void
test_damaged(int running)
{
	static struct job_list list;
	int i;

	begin();
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	for (i = 0; i < 6; i++) {
		CHECK_INT(job_list_start(&list, &sim, "alpha", running, 0, 10,
			      on_any_row, on_list_end, NULL),
		    0);
		sim_answer(REQUEST_LIST, 500, "{\"error\":\"no\"}");
	}
	CHECK_INT(has_problem(), running);
	end();
}

/* Refused lists and lists without an answer have a limit each. */
static void
test_limits(void)
{
	const struct result refused = { .code = RESULT_REJECTED },
			    unanswered = { .code = RESULT_UNREACHABLE };
	struct job_list_failures f = { 0 };
	int i;

	for (i = 0; i < 4; i++)
		CHECK(!job_list_gives_up(&f, &refused));
	CHECK(!job_list_gives_up(&f, &unanswered));
	CHECK(job_list_gives_up(&f, &refused));
	/* the next cluster of the review */
	CHECK(!job_list_gives_up(&f, &unanswered));
}

/* A token that is refused is an outage: the list comes when it has ended. */
static void
test_token(void)
{
	begin();
	sim_put(1, 1000, 0);
	CHECK(lists_fail(401, 401, 600) < 5);
	CHECK(role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK(!has_problem());
	CHECK_INT(lists_fail(401, 400, 60) > 0, 1);
	end();
}

/* Each cluster is listed once, also by the next process. */
static void
test_once(void)
{
	begin();
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	CHECK(!role_is_passive(&sim));
	before = sim.first_list; /* it lives as long as the process */
	sim.first_list = first_list_new(&sim);
	first_list_check(sim.first_list);
	CHECK(!role_is_passive(&sim));
	spool_watermark(sim.spool, "beta", 0);
	first_list_check(sim.first_list);
	CHECK(role_is_passive(&sim));
	sim_run(1000);
	CHECK(strstr(sim_path(REQUEST_LIST), "cluster=beta") != NULL);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	CHECK(!role_is_passive(&sim));
	CHECK(before != NULL);
	end();
}

/* With activeOnly, failover.c lists; with NATS only, there is no list. */
static void
test_off(void)
{
	static const struct {
		enum conf_key key;
		const char *on, *off;
	} keys[] = { { CONF_ACTIVE_ONLY, "true", "false" },
		{ CONF_CC_REST_SUBMIT, "false", "true" } };
	size_t i;

	for (i = 0; i < 2; i++) {
		sim_begin();
		conf_set(&sim.w->conf, keys[i].key, keys[i].on);
		sim.first_list = first_list_new(&sim);
		first_list_check(sim.first_list);
		CHECK(!role_is_passive(&sim));
		conf_set(&sim.w->conf, keys[i].key, keys[i].off);
		end();
	}
}

static unsigned n_told;

static void
on_line(const struct log_line *line)
{
	n_told += strstr(line->text, "nothing is published on NATS") != NULL;
}

/* While the first list is not possible, NATS gets nothing: the log has it once. */
static void
test_nats_waits(void)
{
	int nats, s;

	for (nats = 0; nats < 2; nats++) {
		n_told = 0;
		log_sink_set(on_line);
		sim_begin();
		spool_policy(sim.spool)->to[DEST_NATS] = nats;
		sim.first_list = first_list_new(&sim);
		first_list_check(sim.first_list);
		sim_run(55000);
		CHECK_INT(n_told, 0);
		for (s = 0; s < 600; s++)
			sim_run(1000);
		CHECK(role_is_passive(&sim));
		CHECK_INT(n_told, nats);
		spool_policy(sim.spool)->to[DEST_NATS] = 0;
		end();
		log_sink_set(log_line_send);
	}
}

static int
is_known(const char *cluster, uint64_t job, int64_t start)
{
	struct run_key key = { .job = job, .start = start };
	struct spool_run run;

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	return spool_find(sim.spool, &key, &run);
}

/*
 * The cluster alpha was renamed to beta in Slurm: the runs of cc-backend's alpha
 * become rows of beta alone.
 */
static void
test_renamed(void)
{
	sim_begin();
	conf_set(&sim.w->conf, CONF_CLUSTER_NAMES, "{\"beta\":\"alpha\"}");
	sim_end();
	begin();
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	spool_watermark(sim.spool, "alpha", 5000);
	spool_watermark(sim.spool, "beta", 6000);
	first_list_check(sim.first_list);
	sim_run(1000);
	CHECK(strstr(sim_path(REQUEST_LIST), "cluster=alpha") != NULL);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(1, 1000, "running", 10)));
	CHECK_INT(is_known("beta", 1, 1000), 1);
	CHECK(!role_is_passive(&sim));

	first_list_again(sim.first_list);
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(2, 1000, "running", 10)));
	CHECK_INT(is_known("alpha", 2, 1000), 0);
	CHECK_INT(is_known("beta", 2, 1000), 1);
	CHECK(!role_is_passive(&sim));

	reconcile_begin(sim.reconcile, 0, "", 0, 0);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(3, 1000, "running", 10)));
	CHECK_INT(is_known("alpha", 3, 1000), 0);
	CHECK_INT(is_known("beta", 3, 1000), 1);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);

	/* The name was changed back, and the entry stays. */
	spool_watermark(sim.spool, "alpha", 7000);
	reconcile_begin(sim.reconcile, 0, "", 0, 0);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(4, 1000, "running", 10)));
	CHECK_INT(is_known("alpha", 4, 1000), 1);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(4, 1000, "running", 10)));
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	conf_set(&sim.w->conf, CONF_CLUSTER_NAMES, "{}");
	end();
}

/* The same at a centre, which reads no accounting: the key clusters tells. */
static void
test_renamed_centre(void)
{
	sim_begin();
	conf_set(&sim.w->conf, CONF_CLUSTER_NAMES, "{\"beta\":\"alpha\"}");
	conf_set(&sim.w->conf, CONF_CLUSTERS, "[\"beta\"]");
	sim_end();
	begin();
	cluster_names_conf(&sim);
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	spool_watermark(sim.spool, "beta", 0);
	CHECK(!cluster_is_renamed(&sim, "beta"));
	CHECK(cluster_is_renamed(&sim, "alpha"));

	first_list_again(sim.first_list);
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(1, 1000, "running", 10)));
	CHECK_INT(is_known("alpha", 1, 1000), 0);
	CHECK_INT(is_known("beta", 1, 1000), 1);
	CHECK(!role_is_passive(&sim));

	reconcile_begin(sim.reconcile, 0, "", 0, 0);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(2, 1000, "running", 10)));
	CHECK_INT(is_known("alpha", 2, 1000), 0);
	CHECK_INT(is_known("beta", 2, 1000), 1);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);

	/* The name was changed back, and the entry stays. */
	conf_set(&sim.w->conf, CONF_CLUSTERS, "[\"alpha\"]");
	cluster_names_conf(&sim);
	CHECK(!cluster_is_renamed(&sim, "alpha"));
	conf_set(&sim.w->conf, CONF_CLUSTERS, "[]");
	conf_set(&sim.w->conf, CONF_CLUSTER_NAMES, "{}");
	cluster_names_conf(&sim);
	end();
}

static void
use(int rest, int nats)
{
	conf_set(&sim.w->conf, CONF_CC_REST_SUBMIT, rest ? "true" : "false");
	spool_policy(sim.spool)->to[DEST_REST] = rest;
	spool_policy(sim.spool)->to[DEST_NATS] = nats;
	first_list_check(sim.first_list);
	CHECK_INT(destinations_check(&sim), 0);
}

/* NATS has the start. */
static void
published(uint64_t job, int64_t start)
{
	struct run_key key = { .cluster = "alpha", .job = job, .start = start };
	struct spool_run run;

	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run_move(sim.spool, &run, DEST_NATS, RUN_EVENT_ACCEPTED,
		      DUE_NOW, NULL),
	    0);
	run.flags |= RUN_KEY_FIXED;
	CHECK_INT(spool_save(sim.spool, &run), 0);
}

/*
 * ccRestSubmitJobs becomes true while runs are in the spool: cc-backend gets
 * those that it lacks, and the stop of each.
 */
static void
test_rest_again(void)
{
	begin();
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	use(1, 0);
	use(0, 1);
	sim_put(1, 1000, 0);
	sim_put(2, 1000, 0);
	sim_put(3, 1000, 1100);
	published(1, 1000);
	published(2, 1000);
	published(3, 1000);
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);

	use(1, 0);
	CHECK(role_is_passive(&sim));
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_answer(REQUEST_LIST, 200,
	    LIST(SIM_JOB(1, 1000, "running", 10) "," SIM_JOB(3, 1000, "running",
		10)));
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	CHECK(strstr(sim_body(REQUEST_STOP), "\"jobId\":3,") != NULL);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"jobId\":2,") != NULL);
	sim_put(1, 1000, 2000);
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_STOP), 2);
	end();
}

static void
begin_with_nats(void)
{
	sim_begin();
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	sim.first_list = first_list_new(&sim);
	first_list_check(sim.first_list);
	sim_connect();
}

static void
end_with_nats(void)
{
	spool_policy(sim.spool)->to[DEST_NATS] = 0;
	end();
}

/*
 * The same with NATS: cc-backend has the start, so NATS does not get it, and a
 * later record does not change it.
 */
static void
test_after_with_nats(void)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	begin_with_nats();
	sim_put(1, 1000, 0);
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(1, 1000, "running", 10)));
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_REST], START_COMMITTED);
	CHECK_INT(run.state[DEST_NATS], STARTED);
	CHECK_INT(run.flags & (RUN_KEY_FIXED | RUN_REST_STARTED),
	    RUN_KEY_FIXED | RUN_REST_STARTED);
	end_with_nats();
}

/*
 * The list has a run before its record has come: the readers of NATS know its start
 * from the program that was replaced, and get its stop.
 */
static void
test_before_with_nats(int64_t until)
{
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;

	begin_with_nats();
	sim_put(2, 1000, 0);
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(1, 1000, "running", 10)));
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_NATS], RUN_NONE);
	sim_put(1, 1000, until);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_REST],
	    until == 0 ? START_COMMITTED : STOP_DUE);
	CHECK_INT(run.state[DEST_NATS], until == 0 ? STARTED : STOP_DUE);
	sim_put(1, 1000, 2000);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_NATS], STOP_DUE);
	end_with_nats();
}

/* The list settles the start of a run: the next run of its job is published. */
static void
test_releases_nats(void)
{
	struct run_key key = { "alpha", 1, 1200 };
	struct spool_run run;

	begin_with_nats();
	sim_put(1, 1000, 1100);
	sim_put(1, 1200, 0);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_NATS], START_BLOCKED);
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(1, 1000, "running", 10)));
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_REST], START_DUE);
	CHECK_INT(run.state[DEST_NATS], START_DUE);
	end_with_nats();
}

/*
 * The disk refuses the commit with the result of a list: the cluster is listed
 * again.  A later commit that fails stops nothing.
 */
static void
test_rolled_back(void)
{
	begin();
	CHECK_INT(commit_now(sim.commit), 0);
	sim_run(1000);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(1, 1000, "running", 10)));
	CHECK(!role_is_passive(&sim));
	commit_fail(sim.commit);
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	CHECK(role_is_passive(&sim));
	/* No list while the disk refuses writes. */
	sim_run(0);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	sim_run(3000);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	/* Rows of the list under way may be lost. */
	commit_fail(sim.commit);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	CHECK(role_is_passive(&sim));
	sim_run(3000);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(1, 1000, "running", 10)));
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	CHECK(!role_is_passive(&sim));
	CHECK_INT(commit_now(sim.commit), 0);
	commit_fail(sim.commit);
	CHECK(!role_is_passive(&sim));
	sim_run(3000);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	/* The order to list again stays in force. */
	first_list_again(sim.first_list);
	commit_fail(sim.commit);
	CHECK(role_is_passive(&sim));
	sim_run(3000);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	end();
}

int
main(void)
{
	test_before();
	test_after();
	test_after_with_nats();
	test_before_with_nats(0);
	test_before_with_nats(2000);
	test_releases_nats();
	test_fails(500, 5, 0);
	test_fails(400, 5, 0);
	test_fails(403, 5, 1);
	test_fails(404, 5, 1);
	test_fails(405, 5, 1);
	test_fails(302, 5, 1);
	test_fails(406, 100, 0);
	test_damaged(0);
	test_damaged(1);
	test_limits();
	test_token();
	test_once();
	test_off();
	test_renamed();
	test_renamed_centre();
	test_nats_waits();
	test_rest_again();
	test_rolled_back();
	return check_done();
}
