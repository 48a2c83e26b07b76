/* SPDX-License-Identifier: MIT */
/* `spool import`: what it stores is delivered. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/model/msg.h"
#include "submitter/ctl.h"
#include "submitter/intake/intake.h"
#include "submitter/reconcile/backfill.h"
#include "submitter/spool/export.h"
#include "submitter/spool/spool_private.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

#define LIMIT  1048576 /* of the spool */
#define SCRIPT 20000

static char dir[] = "/tmp/test_import.XXXXXX";

/* A run that has ended. */
static void
record_make(struct job *job, uint64_t id, unsigned flags)
{
	job_init(job);
	snprintf(job->key.cluster, sizeof(job->key.cluster), "alpha");
	job->key.job = id;
	job->key.start = 1000;
	job->end = 2000;
	job->state = END_COMPLETED;
	job->flags = JOB_HAS_START | flags;
	job->user = strdup("u1");
	job->nodes = 1;
	job_add_host(job, "n1");
}

/* Writes the line of a run with this state for REST.  Takes the content of job. */
static void
record_line(FILE *f, enum run_state rest, struct job *job)
{
	struct spool_run run = { .state = { rest } };
	struct writer w;
	char *line;

	run.key = job->key;
	wr_init(&w, MSG_PAYLOAD_MAX);
	job_write(&w, job);
	line = export_line(&run, w.buf, w.len);
	fprintf(f, "%s\n", line);
	free(line);
	wr_clear(&w);
	job_clear(job);
}

/* The same with these flags of its record and a script of this length. */
static void
line_write(FILE *f, uint64_t id, unsigned flags, size_t script)
{
	struct job job;

	record_make(&job, id, flags);
	job.script = calloc(1, script + 1);
	memset(job.script, 'x', script);
	record_line(f, BACKFILL_HELD, &job);
}

static FILE *
file_begin(void)
{
	FILE *f = fopen("spool.import", "w");

	CHECK(f != NULL);
	if (f == NULL)
		exit(1);
	return f;
}

static unsigned imported, existing, refused; /* lines of the last command */

/* Adds the numbers in the last row of a step. */
static void
counts_add(const char *answer)
{
	const char *p, *last = NULL;
	unsigned n[3] = { 0 };

	for (p = answer; (p = strstr(p, "|0|")) != NULL; p++)
		last = p;
	if (last != NULL)
		sscanf(last, "|0|%u %u %u", &n[0], &n[1], &n[2]);
	imported += n[0];
	existing += n[1];
	refused += n[2];
}

/* Executes the command; returns the answer to its last step. */
static const char *
import(FILE *f)
{
	struct ctl_request req = { .verb = CTL_SPOOL, .a = CTL_SPOOL_IMPORT };
	const char *answer;

	fclose(f);
	sim_told();
	imported = existing = refused = 0;
	do {
		ctl_on_request(sim.w, 1, &req);
		answer = sim_told();
		counts_add(answer);
		req.b = atoll(answer);
	} while (req.b > 0); /* the position of the next step */
	return answer;
}

static void
begin_away(void)
{
	static const struct intake_ops ops = { .record = NULL };

	sim_begin();
	sim.intake = intake_new(&sim, &ops);
	sim.backfill = backfill_new(&sim);
}

static void
begin(void)
{
	begin_away();
	sim_connect();
}

/* The run of a backfill is compared with cc-backend's list and sent. */
static void
test_backfill(void)
{
	FILE *f;

	begin();
	f = file_begin();
	line_write(f, 1, JOB_BACKFILL, 0);
	CHECK(strstr(import(f), "ok: ") != NULL);
	CHECK_INT(sim_state(1, 1000), BACKFILL_HELD);
	sim_run(10000);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_answer(REQUEST_LIST, 200, "{\"jobs\":[],\"items\":500,\"page\":1}");
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_end();
}

/* Lines are stored up to the limit of records, not up to spoolMaxBytes. */
static void
test_full(void)
{
	const char *answer;
	uint64_t id;
	FILE *f;

	begin();
	spool_set_limits(sim.spool, LIMIT, 1000);
	f = file_begin();
	for (id = 1; id <= LIMIT / SCRIPT; id++)
		line_write(f, id, 0, SCRIPT);
	answer = import(f);
	CHECK(strncmp(answer, "error: the spool is full", 24) == 0);
	CHECK(spool_bytes(sim.spool) > LIMIT / 100 * 80);
	CHECK(spool_bytes(sim.spool) <= LIMIT / 100 * 90);
	CHECK(!spool_failed(sim.spool));
	CHECK(sim_state(1, 1000) != RUN_STATE__COUNT);
	sim_end();
}

/*
 * The import of an older run that cc-backend has rejected: the newer run of the job
 * does not wait for it.  NATS may get both, in their order.
 */
static void
test_rejected(void)
{
	struct run_key key = { "alpha", 5, 5000 };
	struct spool_run run;
	struct job job;
	FILE *f;

	begin_away();
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	sim_put(5, 5000, 0);
	f = file_begin();
	record_make(&job, 5, 0);
	record_line(f, START_REJECTED, &job);
	CHECK(strstr(import(f), "ok: ") != NULL);
	CHECK_INT(sim_state(5, 1000), START_REJECTED);
	CHECK_INT(sim_state(5, 5000), START_DUE);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_NATS], START_BLOCKED);
	spool_policy(sim.spool)->to[DEST_NATS] = 0;
	sim_end();
}

/* The same with requeuedRuns=last: the newer run replaces a run of a minute. */
static void
test_rejected_and_replaced(void)
{
	struct job job;
	FILE *f;

	begin_away();
	spool_policy(sim.spool)->last_requeued = 1;
	spool_policy(sim.spool)->active_only = 1;
	sim_put(5, 5000, 0);
	f = file_begin();
	record_make(&job, 5, 0);
	job.submit = 900;
	job.end = 1010;
	job.state = END_REQUEUED;
	record_line(f, START_REJECTED, &job);
	CHECK(strstr(import(f), "ok: ") != NULL);
	CHECK_INT(sim_state(5, 1000), START_DUE_ENDED);
	CHECK_INT(sim_state(5, 5000), START_BLOCKED);
	sim_end();
}

/* The run ended before the oldest tombstones: it may be done, or not. */
static const char *
import_old(uint64_t id)
{
	FILE *f;

	sim.spool->now.low_water = 3000;
	f = file_begin();
	line_write(f, id, 0, 0);
	return import(f);
}

/* cc-backend's list tells whether it has the run. */
static void
test_old(int listed)
{
	begin();
	import_old(6);
	CHECK_INT((int)imported, 1);
	CHECK_INT(sim_state(6, 1000), BACKFILL_HELD);
	CHECK_INT((int)spool_below_low_water(sim.spool), 0);
	/* repeated */
	import_old(6);
	CHECK_INT((int)existing, 1);
	sim_run(10000);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	sim_answer(REQUEST_LIST, 200,
	    listed ? "{\"jobs\":[" SIM_JOB(6, 1000, "completed", 1000) "]}" :
		     "{\"jobs\":[]}");
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), !listed);
	CHECK_INT(sim_state(6, 1000),
	    listed ? RUN_STATE__COUNT : START_DUE_ENDED);
	sim_end();
}

/* `backfill --nats` is under way: REST gets the run nevertheless. */
static void
test_old_republish(void)
{
	begin();
	spool_policy(sim.spool)->republish.records = 1;
	spool_policy(sim.spool)->republish.until = 5000;
	import_old(6);
	CHECK_INT((int)imported, 1);
	CHECK_INT(sim_state(6, 1000), BACKFILL_HELD);
	CHECK_INT(spool_policy(sim.spool)->republish.records, 1);
	spool_policy(sim.spool)->republish.records = 0;
	sim_end();
}

/* Without REST there is no list. */
static void
test_old_nats(void)
{
	begin();
	spool_policy(sim.spool)->to[DEST_REST] = 0;
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	CHECK(
	    strstr(import_old(6), "line 1: the run ended so long ago") != NULL);
	CHECK_INT((int)refused, 1);
	CHECK_INT((int)spool_runs(sim.spool), 0);
	spool_policy(sim.spool)->to[DEST_REST] = 1;
	spool_policy(sim.spool)->to[DEST_NATS] = 0;
	sim_end();
}

/* cc-backend has rejected the run: no list is needed before NATS gets it. */
static void
test_old_rejected(void)
{
	struct run_key key = { "alpha", 6, 1000 };
	struct spool_run run;
	struct job job;
	FILE *f;

	begin_away();
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	sim.spool->now.low_water = 3000;
	f = file_begin();
	record_make(&job, 6, 0);
	record_line(f, START_REJECTED, &job);
	CHECK(strstr(import(f), "ok: ") != NULL);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_REST], START_REJECTED);
	CHECK_INT(run.state[DEST_NATS], START_DUE_ENDED);
	spool_policy(sim.spool)->to[DEST_NATS] = 0;
	sim_end();
}

/* The spool has the run from cc-backend's list, and the line has its end. */
static void
test_found_in_backend(void)
{
	struct run_key key = { "alpha", 7, 1000 };
	FILE *f;

	begin();
	CHECK_INT(spool_put_from_backend(sim.spool, &key), 1);
	f = file_begin();
	line_write(f, 7, 0, 0);
	import(f);
	CHECK_INT((int)imported, 1);
	sim_run(0);
	CHECK_INT(sim_state(7, 1000), STOP_DUE);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_end();
}

int
main(void)
{
	if (mkdtemp(dir) == NULL || chdir(dir) == -1)
		return 1;
	test_backfill();
	test_full();
	test_rejected();
	test_rejected_and_replaced();
	test_old(0);
	test_old(1);
	test_old_republish();
	test_old_nats();
	test_old_rejected();
	test_found_in_backend();
	unlink("spool.import");
	rmdir(dir);
	return check_done();
}
