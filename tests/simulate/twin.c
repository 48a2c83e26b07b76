/* SPDX-License-Identifier: MIT */
/* See twin.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/backend.h"
#include "tests/simulate/backend_private.h"
#include "tests/simulate/check.h"
#include "tests/simulate/collector_side.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/reduce.h"
#include "tests/simulate/truth.h"
#include "tests/simulate/twin.h"

#define TWINS	    200000 /* of a million seeds */
#define STEP_MS	    (20 * SECOND_MS)
#define TURN_MAX_MS (4 * HOUR_MS)
#define BOTH_MAX_MS (3 * MINUTE_MS)
#define POLLED_S    60 /* until the other suite knows a run */

enum row {
	ROW_NONE,
	ROW_CACHED,
	ROW_RUNNING,
	ROW_STOPPED
};

static struct {
	struct prng random;
	int active; /* the other suite */
	int ours;   /* our suite is active */
	int exists; /* in this seed */
} twin;

static void
on_row(const struct cc_row *row, void *arg)
{
	struct truth_run *t = truth_find((uint64_t)row->job, row->start);

	(void)arg;
	if (t != NULL)
		t->twin_row = strcmp(row->state, "running") != 0 ? ROW_STOPPED :
		    row->cached					 ? ROW_CACHED :
								   ROW_RUNNING;
}

static int
request(const char *path, const char *body)
{
	struct cc_answer answer = { 0 };

	cc_box_request("POST", path, body, strlen(body), &answer);
	trace("the other suite: %s %s gives %d", path, body, answer.status);
	free(answer.body);
	return answer.status;
}

static void
start_send(struct truth_run *t)
{
	char body[1024], user[32];
	size_t n;
	unsigned i;

	truth_user(t, user, sizeof(user));
	n = (size_t)snprintf(body, sizeof(body),
	    "{\"jobId\":%llu,\"cluster\":\"" TRUTH_CLUSTER
	    "\",\"user\":\"%s\",\"project\":\"p1\",\"partition\":\"main\","
	    "\"numNodes\":%u,\"startTime\":%lld,\"resources\":[",
	    (unsigned long long)t->job, user, t->nodes, (long long)t->start);
	for (i = 0; i < t->nodes; i++)
		n += (size_t)snprintf(body + n, sizeof(body) - n,
		    "%s{\"hostname\":\"n%02u\"}", i > 0 ? "," : "",
		    t->first_node + i);
	snprintf(body + n, sizeof(body) - n, "]}");
	/* Any other answer: it is refused, or was accepted before. */
	if (request("/api/jobs/start_job/", body) != 201)
		t->twin_refused = 1;
}

static const char *
state_word(const struct truth_run *t)
{
	enum job_end end = t->state == END_REQUEUED ? END_PREEMPTED : t->state;

	if (backend_version() != CC_1_5_4) {
		if (end == END_NODE_FAIL || end == END_BOOT_FAIL)
			end = END_FAILED;
		else if (end == END_DEADLINE)
			end = END_TIMEOUT;
	}
	return job_end_name(end);
}

static void
stop_send(const struct truth_run *t)
{
	int64_t stop = t->end;
	char body[256];

	if (stop == t->start && backend_version() < CC_1_4_4)
		stop++;
	snprintf(body, sizeof(body),
	    "{\"jobId\":%llu,\"cluster\":\"" TRUTH_CLUSTER
	    "\",\"startTime\":%lld,\"stopTime\":%lld,\"jobState\":\"%s\"}",
	    (unsigned long long)t->job, (long long)t->start, (long long)stop,
	    state_word(t));
	request("/api/jobs/stop_job/", body);
}

static void
rows_send(void)
{
	struct truth_run *t;
	unsigned i;

	for (i = 0; (t = truth_run(i)) != NULL; i++)
		t->twin_row = ROW_NONE;
	cc_box_rows(on_row, NULL);
	for (i = 0; (t = truth_run(i)) != NULL; i++) {
		if (t->start + POLLED_S > truth_now() || t->opts_out != 0)
			continue;
		/* It has the same requeuedRuns. */
		if (t->twin_row == ROW_NONE && !t->twin_refused &&
		    (t->newer == NULL || !check_may_be_replaced(t)))
			start_send(t);
		else if (t->twin_row == ROW_RUNNING && truth_has_ended(t))
			stop_send(t);
	}
}

static void
on_step(void *arg)
{
	(void)arg;
	if (faults_ended())
		return;
	if (twin.active && !backend_is_away())
		rows_send();
	world_after(PROCESS_NONE, STEP_MS, on_step, NULL);
}

static void on_turn(void *arg);

/* The change of the second one ends the turn. */
static void
on_second(void *arg)
{
	(void)arg;
	if (faults_ended())
		return;
	if (twin.active == twin.ours) {
		if (prng_chance(&twin.random, 500000))
			twin.active = !twin.active;
		else
			twin.ours = !twin.ours;
	}
	trace("our suite is %s, the other one is %s",
	    twin.ours ? "active" : "passive",
	    twin.active ? "active" : "passive");
	collector_side_role(twin.ours);
	world_after(PROCESS_NONE,
	    prng_between(&twin.random, MINUTE_MS, TURN_MAX_MS), on_turn, NULL);
}

static void
on_turn(void *arg)
{
	(void)arg;
	if (faults_ended())
		return;
	if (prng_chance(&twin.random, 500000))
		twin.active = !twin.active;
	else
		twin.ours = !twin.ours;
	trace("our suite is %s, the other one is %s",
	    twin.ours ? "active" : "passive",
	    twin.active ? "active" : "passive");
	collector_side_role(twin.ours);
	world_after(PROCESS_NONE, prng_between(&twin.random, 0, BOTH_MAX_MS),
	    on_second, NULL);
}

void
twin_begin(struct supervised *submitter)
{
	prng_init(&twin.random, world_seed(), "twin");
	if (!prng_chance(&twin.random, TWINS) || !reduce_allows("twin"))
		return;
	twin.exists = 1;
	twin.ours = prng_chance(&twin.random, 500000);
	twin.active = !twin.ours;
	supervised_conf(submitter, CONF_ACTIVE_ONLY, "true");
	collector_side_role(twin.ours);
	world_after(PROCESS_NONE, STEP_MS, on_step, NULL);
	world_after(PROCESS_NONE,
	    prng_between(&twin.random, MINUTE_MS, TURN_MAX_MS), on_turn, NULL);
}

void
twin_end(void)
{
	if (twin.exists)
		collector_side_role(1);
}
