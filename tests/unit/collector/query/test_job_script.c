/* SPDX-License-Identifier: MIT */
/*
 * Job scripts, with simulated commands: which script is fetched for a run, how
 * many at a time, and what the submitter is told when there is none.
 */
#include "config.h"

#include <stdlib.h>

#include "collector/query/query_lanes.h"
#include "collector/track/track.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"
#include "tests/unit/collector/simulation.h"

#define SCRIPT "#!/bin/sh\nsleep 1\n"

static struct cluster *c;
static struct scripts *scripts;

static void
begin(const char *max_bytes)
{
	c = sim_begin(NULL, NULL);
	sim_set(c, CONF_JOB_SCRIPT_MAX, max_bytes);
	scripts = sim_keep(scripts_new(c));
}

/* A run that has just begun. */
static void
want_submitted(uint64_t job, uint64_t group, int64_t submit)
{
	struct script_request *request = calloc(1, sizeof(*request));

	snprintf(request->key.cluster, sizeof(request->key.cluster), "alpha");
	request->key.job = job;
	request->key.start = SIM_EPOCH;
	request->job = job;
	request->group = group;
	request->submit = submit;
	worklist_script(&c->work, request);
	scripts_kick(scripts);
}

static void
want(uint64_t job, uint64_t group)
{
	want_submitted(job, group, SIM_EPOCH);
}

static void
test_one(void)
{
	begin("100");
	want(10, 0);
	CHECK_STR(sim_args("scontrol"), "write batch_script 10 -");
	CHECK_INT(scripts_waiting(scripts), 1);
	sim_answer("scontrol", SCRIPT);
	CHECK_STR(sim_said(), "script 10/0");
	CHECK_STR(sim_script(), SCRIPT);
	CHECK_INT(scripts_waiting(scripts), 0);
}

/* Half of the queue to the submitter is left to new runs. */
static void
test_queue_full(void)
{
	begin("100");
	sim_fill(c);
	want(10, 0);
	CHECK_STR(sim_asked(), "");
	sim_stored(c);
	scripts_kick(scripts);
	CHECK_STR(sim_args("scontrol"), "write batch_script 10 -");
	sim_answer("scontrol", SCRIPT);
	CHECK_STR(sim_said(), "script 10/0");
}

/* While more new runs follow, their starts come first. */
static void
test_behind_starts(void)
{
	begin("100");
	c->work.more_runs = 1;
	want(10, 0);
	CHECK_STR(sim_asked(), "");
	CHECK_INT(scripts_waiting(scripts), 1);
	c->work.more_runs = 0;
	scripts_kick(scripts);
	CHECK_STR(sim_args("scontrol"), "write batch_script 10 -");
	sim_answer("scontrol", SCRIPT);
}

/* The submitter waits for a script: it is told when there is none. */
static void
test_none(void)
{
	static const char *const errs[] = {
		"",
		"job script retrieval failed: Job script not specified",
		"job script retrieval failed: Invalid job id specified",
	};
	unsigned i;

	begin("100");
	for (i = 0; i < 3; i++) {
		want(10, 0);
		sim_answer_error("scontrol", errs[i]);
		CHECK_STR(sim_said(), "script 10/0");
		CHECK_STR(sim_script(), "");
		CHECK_INT(scripts_waiting(scripts), 0);
	}
}

/* Time passes, and the scheduler runs the lanes. */
static void
pass(int64_t seconds)
{
	sim_pass(seconds);
	scripts_kick(scripts);
}

/* A command that fails is repeated: the start is not told of a lack. */
static void
test_again(void)
{
	begin("100");
	want(10, 0);
	sim_answer_failed("scontrol", "#!/bin/", "Socket timed out");
	CHECK_STR(sim_said(), "");
	CHECK_STR(sim_asked(), "");
	CHECK_INT(scripts_waiting(scripts), 1);
	pass(1);
	CHECK_STR(sim_args("scontrol"), "write batch_script 10 -");
	sim_answer_late("scontrol");
	pass(1);
	CHECK_STR(sim_asked(), "");
	pass(1);
	sim_answer_error("scontrol",
	    "job script retrieval failed: Invalid user id");
	CHECK_STR(sim_said(), "");
	pass(4);
	sim_answer("scontrol", SCRIPT);
	CHECK_STR(sim_said(), "script 10/0");
	CHECK_STR(sim_script(), SCRIPT);
	CHECK_INT(scripts_waiting(scripts), 0);
	pass(1000);
	CHECK_STR(sim_asked(), "");
}

/* One try after the other, not while slurmctld is away, and not for ever. */
static void
test_again_bounded(void)
{
	uint64_t job;
	int i;

	begin("100");
	for (job = 10; job < 13; job++) {
		want(job, 0);
		sim_answer_failed("scontrol", "", "Socket timed out");
	}
	c->ctld.away = 1;
	pass(60);
	CHECK_STR(sim_asked(), "");
	c->ctld.away = 0;
	pass(1);
	pass(1);
	CHECK_STR(sim_asked(), "scontrol");
	CHECK_STR(sim_args("scontrol"), "write batch_script 10 -");
	/* A new run does not wait for the repeated ones. */
	want(13, 0);
	CHECK_STR(sim_asked(), "scontrol scontrol");
	sim_answer("scontrol", SCRIPT);
	sim_answer("scontrol", SCRIPT);
	(void)sim_said();
	for (i = 0; i < 16; i++) {
		pass(256);
		CHECK_STR(sim_said(), "");
		sim_answer_failed("scontrol", "", "Socket timed out");
	}
	pass(256);
	sim_answer_failed("scontrol", "", "Socket timed out");
	CHECK_STR(sim_said(), "script 11/0");
	pass(256);
	sim_answer_failed("scontrol", "", "Socket timed out");
	CHECK_STR(sim_said(), "script 12/0");
	CHECK_STR(sim_script(), "");
	pass(1000);
	CHECK_STR(sim_asked(), "");
	CHECK_INT(scripts_waiting(scripts), 0);
}

/* Slurm has used the id of an array again: the new array has another script. */
static void
test_group_id_again(void)
{
	begin("100");
	want(10, 7);
	sim_answer("scontrol", SCRIPT);
	want(11, 7);
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "script 10/0, script 11/0");
	want_submitted(12, 7, SIM_EPOCH + 500);
	CHECK_STR(sim_args("scontrol"), "write batch_script 12 -");
	sim_answer("scontrol", "#!/bin/sh\nanother\n");
	CHECK_STR(sim_said(), "script 12/0");
	CHECK_STR(sim_script(), "#!/bin/sh\nanother\n");
}

/* Two requests for one run are repeated as one. */
static void
test_again_twice(void)
{
	begin("100");
	want(10, 0);
	want(10, 0);
	sim_answer_failed("scontrol", "", "Socket timed out");
	sim_answer_failed("scontrol", "", "Socket timed out");
	CHECK_INT(scripts_waiting(scripts), 1);
	pass(1);
	CHECK_STR(sim_asked(), "scontrol");
	sim_answer("scontrol", SCRIPT);
	CHECK_STR(sim_said(), "script 10/0");
}

/* A script that another task of the array got needs no further command. */
static void
test_again_array(void)
{
	begin("100");
	want(10, 7);
	sim_answer_failed("scontrol", "", "Socket timed out");
	want(11, 7);
	sim_answer("scontrol", SCRIPT);
	CHECK_STR(sim_said(), "script 11/0");
	pass(1);
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "script 10/0");
	CHECK_STR(sim_script(), SCRIPT);
}

/* A script that is longer than jobScriptMaxBytes is cut. */
static void
test_cut(void)
{
	char script[200];

	memset(script, 'x', sizeof(script));
	script[sizeof(script) - 1] = '\0';
	begin("100");
	want(10, 0);
	sim_answer("scontrol", script);
	CHECK_STR(sim_said(), "script 10/0");
	CHECK_INT(strlen(sim_script()), 100);
	CHECK(strstr(sim_script(), "[cut]") != NULL);
	/* This one fits exactly. */
	want(11, 0);
	script[100] = '\0';
	sim_answer("scontrol", script);
	CHECK_STR(sim_script(), script);
}

/* One question for the tasks of an array, also for those that begin later. */
static void
test_array(void)
{
	begin("100");
	want(10, 7);
	want(11, 7);
	want(12, 0);
	CHECK_STR(sim_asked(), "scontrol scontrol");
	CHECK_STR(sim_args("scontrol"), "write batch_script 10 -");
	CHECK_INT(scripts_waiting(scripts), 3);
	sim_answer("scontrol", SCRIPT);
	CHECK_STR(sim_said(), "script 10/0, script 11/0");
	CHECK_STR(sim_script(), SCRIPT);
	CHECK_STR(sim_args("scontrol"), "write batch_script 12 -");
	sim_answer("scontrol", "#!12");
	(void)sim_said();
	want(13, 7);
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "script 13/0");
	CHECK_STR(sim_script(), SCRIPT);
}

/* Without its script a task of an array asks itself. */
static void
test_array_none(void)
{
	begin("100");
	want(10, 7);
	want(11, 7);
	sim_answer("scontrol", "");
	CHECK_STR(sim_said(), "script 10/0");
	CHECK_STR(sim_args("scontrol"), "write batch_script 11 -");
	sim_answer("scontrol", SCRIPT);
	CHECK_STR(sim_said(), "script 11/0");
	CHECK_STR(sim_script(), SCRIPT);
}

static void
test_at_once(void)
{
	uint64_t job;

	begin("100");
	for (job = 10; job < 16; job++)
		want(job, 0);
	CHECK_STR(sim_asked(), "scontrol scontrol scontrol scontrol");
	sim_answer("scontrol", SCRIPT);
	CHECK_STR(sim_asked(), "scontrol scontrol scontrol scontrol");
	CHECK_INT(scripts_waiting(scripts), 5);
	for (job = 11; job < 16; job++)
		sim_answer("scontrol", SCRIPT);
	CHECK_STR(sim_said(),
	    "script 10/0, script 11/0, script 12/0, script 13/0, "
	    "script 14/0, script 15/0");
	CHECK_STR(sim_asked(), "");
}

static int
on_recorded(struct span line, void *arg)
{
	static const struct read_options how;
	struct job_snapshot s;
	unsigned *n = arg;

	if (++*n > 2)
		return 0;
	snapshot_init(&s);
	CHECK_INT(scontrol_record(line, NULL, &how, &s), RECORD_GOOD);
	CHECK_INT(s.job.het_job, 2);
	CHECK_INT(s.job.key.job, 1 + *n);
	/* Its GPUs are of no interest here. */
	s.job.accels = 0;
	CHECK(track_snapshot(c, &s) != 0);
	scripts_kick(scripts);
	snapshot_clear(&s);
	return 0;
}

/*
 * The components of a heterogeneous job run the script of the leader, job 2;
 * slurmctld of 20.11 and 22.05 also keeps a script for job 3, which never runs.
 */
static void
test_components(void)
{
	unsigned n = 0;

	begin("100");
	recording_lines("20.11", "scontrol-job-d-o.txt", on_recorded, &n);
	CHECK(strstr(sim_said(), "script-follows, start 3/") != NULL);
	CHECK_STR(sim_asked(), "scontrol");
	CHECK_STR(sim_args("scontrol"), "write batch_script 2 -");
	sim_answer("scontrol", SCRIPT);
	CHECK(strstr(sim_said(), ", script 3/") != NULL);
	CHECK_STR(sim_script(), SCRIPT);
	CHECK_STR(sim_asked(), "");

	/* Without an answer for job 2, job 3 asks for the same script. */
	begin("100");
	n = 0;
	recording_lines("20.11", "scontrol-job-d-o.txt", on_recorded, &n);
	sim_answer("scontrol", "");
	CHECK_STR(sim_args("scontrol"), "write batch_script 2 -");
	sim_answer("scontrol", SCRIPT);
	CHECK_STR(sim_script(), SCRIPT);
}

int
main(void)
{
	test_one();
	test_queue_full();
	test_behind_starts();
	test_none();
	test_again();
	test_again_bounded();
	test_group_id_again();
	test_again_twice();
	test_again_array();
	test_cut();
	test_array();
	test_array_none();
	test_at_once();
	test_components();
	return check_done();
}
