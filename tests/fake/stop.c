/* SPDX-License-Identifier: MIT */
/*
 * stop_job, and on request its race: cc-backend reads the cached row before
 * it takes the lock, and when the commit comes between, it stops whatever
 * row of the other table has that number.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "fake.h"

/* From the answer until the archive worker has written its file. */
#define ARCHIVE_MS 50

static int races;
static bool races_lose;

void
stop_race(int count, bool lost)
{
	races = count;
	races_lose = lost;
}

int
stop_race_left(void)
{
	return races;
}

/* The state as a static string, NULL if this version does not know it. */
static const char *
state_find(const char *word)
{
	static const char *const always[] = { "completed", "failed",
		"cancelled", "timeout", "out_of_memory", "preempted",
		"running" };
	static const char *const since15[] = { "node_fail", "boot_fail",
		"deadline", "pending", "suspended" };
	size_t i;

	if (*word == '\0')
		return "completed";
	for (i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (strcmp(word, always[i]) == 0)
			return always[i];
	if (api_options()->version != V154)
		return strcmp(word, "stopped") == 0 ? "stopped" : NULL;
	for (i = 0; i < sizeof(since15) / sizeof(since15[0]); i++)
		if (strcmp(word, since15[i]) == 0)
			return since15[i];
	return NULL;
}

/* Whether r may be stopped so; -1 with the answer of the played version. */
static int
stop_check(const struct run *r, int64_t stop, const char *word,
    struct reply *rp)
{
	enum version v = api_options()->version;
	bool running = strcmp(r->state, "running") == 0;
	struct text quoted = { 0 };
	char who[512];

	snprintf(who, sizeof(who),
	    "jobId %lld (id %lld) on %s :", (long long)r->jobid,
	    (long long)r->dbid, r->cluster);
	if (v <= V141 && (!running || stop <= r->start)) {
		if (v == V131)
			reply_error(rp, 400,
			    "stopTime must be larger than "
			    "startTime and only running jobs can be stopped");
		else
			reply_error(rp, 400,
			    "%s stopTime %lld must be larger "
			    "than startTime %lld and only running jobs can be "
			    "stopped (state is: %s)",
			    who, (long long)stop, (long long)r->start,
			    r->state);
		return -1;
	}
	if (!running) {
		reply_error(rp, 422,
		    "%s job has already been stopped "
		    "(state is: %s)",
		    who, r->state);
		return -1;
	}
	if (stop < r->start) {
		reply_error(rp, 400,
		    "%s stopTime %lld must be larger/equal "
		    "than startTime %lld",
		    who, (long long)stop, (long long)r->start);
		return -1;
	}
	if (state_find(word) != NULL)
		return 0;
	go_quote(&quoted, word, strlen(word));
	if (v == V131)
		reply_error(rp, 400, "invalid job state: %s", quoted.p);
	else
		reply_error(rp, 400, "%s invalid requested job state: %s", who,
		    quoted.p);
	text_clear(&quoted);
	return -1;
}

void
run_finish(struct run *r, const char *state, int64_t duration)
{
	const char *known = state_find(state);

	r->state = known != NULL ? known : "completed";
	r->duration = (int32_t)(uint32_t)duration;
	if (r->monitoring != 0 && r->archived == 0)
		r->archived = now_ms() + ARCHIVE_MS;
}

/* Some other running row, as the race would hit it. */
static struct run *
victim_find(const struct run * not )
{
	struct run **rows;
	size_t i, n;

	rows = store_sorted(&n);
	for (i = 0; i < n; i++)
		if (rows[i] != not &&strcmp(rows[i]->state, "running") == 0)
			return rows[i];
	return NULL;
}

static void
victim_stop(const struct run *r, const char *state, int64_t duration,
    json_t *body)
{
	struct run *victim = victim_find(r);

	if (victim == NULL)
		return;
	run_finish(victim, state, duration);
	if (races_lose)
		victim->lost = true;
	ledger_write("race", victim, body);
}

static void
stopped(struct reply *rp, struct run *r, const char *state, int64_t duration)
{
	const char *was = r->state;
	int32_t before = r->duration;

	/* In a race the answer shows what did not happen. */
	r->state = state;
	r->duration = (int32_t)(uint32_t)duration;
	rp->status = 200;
	rp->ctype = "application/json";
	run_render(&rp->body, r, RENDER_STOP, false);
	text_str(&rp->body, "\n");
	r->state = was;
	r->duration = before;
}

static void
run_stop(struct run *r, json_t *body, struct reply *rp)
{
	int64_t stop = json_num(body, "stopTime", 0);
	const char *word = json_text(body, "jobState", "");
	bool raced = r->cached && races > 0;
	const char *state;

	if (stop_check(r, stop, word, rp) == -1)
		return;
	state = state_find(word);
	if (r->cached && store_transfer(r) == -1) {
		reply_error(rp, 500,
		    "jobId %lld (id %lld) on %s : "
		    "transferring cached job failed: transferring cached job "
		    "%lld to main table failed: UNIQUE constraint failed: "
		    "job.job_id, job.cluster, job.start_time",
		    (long long)r->jobid, (long long)r->dbid, r->cluster,
		    (long long)r->dbid);
		return;
	}
	stopped(rp, r, state, stop - r->start);
	if (raced) {
		races--;
		store_commit();
		victim_stop(r, state, stop - r->start, body);
		return;
	}
	run_finish(r, state, stop - r->start);
	ledger_write("stop", r, body);
}

void
stop_job(struct request *rq, struct reply *rp, const char *part)
{
	json_t *body = body_decode(rq, rp, schema_stop()), *v;
	const char *cluster;
	struct run *r = NULL;
	int64_t start, id;

	if (body == NULL)
		return;
	if (json_object_get(body, "jobId") == NULL) {
		reply_error(rp, 400, "the field 'jobId' is required");
		json_decref(body);
		return;
	}
	id = json_num(body, "jobId", 0);
	start = json_num(body, "startTime", 0);
	cluster = json_text(body, "cluster", NULL);
	v = json_object_get(body, "startTime");
	if (api_options()->version == V154)
		r = store_find(true, id, cluster, v != NULL ? &start : NULL);
	if (r == NULL)
		r = store_find(false, id, cluster, v != NULL ? &start : NULL);
	if (r == NULL)
		reply_not_found(rp);
	else
		run_stop(r, body, rp);
	json_decref(body);
}
