/* SPDX-License-Identifier: MIT */
/*
 * Runs that Slurm does not know, with a simulated clock: one answer ends
 * nothing, two an hour apart do, many at once need an admin.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

static void
missing(uint64_t job, int64_t start)
{
	struct run_key key = { .job = job, .start = start };

	snprintf(key.cluster, sizeof(key.cluster), "alpha");
	missing_report(sim.missing, &key);
	sim_run(5000);
}

/* A run that is committed in cc-backend. */
static void
open_run(uint64_t job, int64_t start)
{
	struct run_key key = { .job = job, .start = start };

	snprintf(key.cluster, sizeof(key.cluster), "alpha");
	spool_put_from_backend(sim.spool, &key);
	sim_put(job, start, 0);
	CHECK_INT(sim_state(job, start), START_COMMITTED);
}

static void
test_twice(void)
{
	sim_begin();
	open_run(1, 1000);
	missing(1, 1000);
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	/* again and again within the hour: still one answer */
	sim_run(30 * SIM_MINUTE);
	missing(1, 1000);
	sim_run(29 * SIM_MINUTE);
	missing(1, 1000);
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	sim_run(SIM_MINUTE);
	missing(1, 1000);
	CHECK_INT(sim_state(1, 1000), STOP_DUE);
	sim_end();
}

/*
 * The run ended before the first answer.  The daemon was stopped for ten hours
 * between both answers, which the clock of the spool does not count.
 */
static void
test_stopped_between(void)
{
	int64_t now = time(NULL), start = now - 13 * 3600;
	struct run_key key = { .cluster = "alpha", .job = 1, .start = start };
	struct spool_run run;

	sim_begin();
	open_run(1, start);
	missing(1, start);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK(run.not_found_time >= now && run.not_found_time <= now + 60);
	CHECK_INT(run.not_found_count, 1);
	run.not_found_time -= 11 * 3600;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	sim_run(SIM_HOUR);
	missing(1, start);
	CHECK_INT(sim_state(1, start), STOP_DUE);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK(run.end >= now - 11 * 3600 && run.end <= now - 11 * 3600 + 60);
	sim_end();

	/* The clock was set back by ten hours between both answers. */
	sim_begin();
	open_run(1, start);
	missing(1, start);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.not_found_time += 10 * 3600;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	sim_run(SIM_HOUR);
	missing(1, start);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK(run.end >= now - 3600 - 60 && run.end <= now - 3600 + 60);
	sim_end();
}

/* A record of the run proves the first answer wrong. */
static void
test_known_again(void)
{
	struct run_key key = { .cluster = "alpha", .job = 1, .start = 1000 };
	struct spool_run run;

	sim_begin();
	open_run(1, 1000);
	missing(1, 1000);
	sim_run(SIM_HOUR);
	sim_put(1, 1000, 0);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.not_found_count, 0);
	missing(1, 1000);
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	sim_end();
}

static int no_record; /* there is no memory for a record */

void __real_job_read(struct reader *r, struct job *job);
void __wrap_job_read(struct reader *r, struct job *job);

void
__wrap_job_read(struct reader *r, struct job *job)
{
	__real_job_read(r, job);
	if (no_record) {
		errno = ENOMEM;
		rd_fail(r);
	}
}

/* The record of a run is not replaced when there is no memory to read it. */
static void
test_no_memory(void)
{
	struct run_key key = { .cluster = "alpha", .job = 1, .start = 1000 };
	struct spool_run run;
	struct job job;

	sim_begin();
	open_run(1, 1000);
	missing(1, 1000);
	sim_run(SIM_HOUR);
	no_record = 1;
	missing(1, 1000);
	no_record = 0;
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	missing(1, 1000);
	CHECK_INT(sim_state(1, 1000), STOP_DUE);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	job_init(&job);
	CHECK_INT(spool_record(sim.spool, run.id, &job), 0);
	CHECK(job.n_hosts > 0);
	job_clear(&job);
	sim_end();
}

/* A run that has ended is not ended again. */
static void
test_ended(void)
{
	sim_begin();
	open_run(1, 1000);
	sim_put(1, 1000, 1100);
	CHECK_INT(sim_state(1, 1000), STOP_DUE);
	missing(1, 1000);
	sim_run(SIM_HOUR);
	missing(1, 1000);
	CHECK_INT(sim_state(1, 1000), STOP_DUE);
	sim_end();
}

static unsigned
count_open(unsigned n)
{
	unsigned i, open = 0;

	for (i = 1; i <= n; i++)
		open += sim_state(i, 1000 + i) == START_COMMITTED;
	return open;
}

static void
test_many(void)
{
	const unsigned n = 21;
	unsigned i;

	sim_begin();
	for (i = 1; i <= n; i++)
		open_run(i, 1000 + i);
	for (i = 1; i <= n; i++)
		missing(i, 1000 + i);
	sim_run(SIM_HOUR);
	for (i = 1; i <= 20; i++)
		missing(i, 1000 + i);
	/* twenty are what a site loses by accident */
	CHECK_INT(count_open(n), 1);
	missing(21, 1021);
	CHECK_INT(count_open(n), 1);
	/* an hour later one more is no accident of that hour */
	sim_run(SIM_HOUR);
	missing(21, 1021);
	CHECK_INT(count_open(n), 0);
	sim_end();
}

/* All at once: none is ended, until an admin says that they have ended. */
static void
test_force(void)
{
	const unsigned n = 40;
	unsigned i;
	struct run_key key = { .cluster = "alpha" };

	sim_begin();
	for (i = 1; i <= n; i++)
		open_run(i, 1000 + i);
	for (i = 1; i <= n; i++)
		missing(i, 1000 + i);
	sim_run(SIM_HOUR);
	for (i = 1; i <= n; i++) {
		key.job = i;
		key.start = 1000 + i;
		missing_report(sim.missing, &key);
	}
	sim_run(5000);
	CHECK_INT(count_open(n), n);
	CHECK_INT(missing_runs_force(sim.missing, "alpha", 1), (int)n);
	CHECK_INT(count_open(n), n);
	CHECK_INT(missing_runs_force(sim.missing, "beta", 0), 0);
	CHECK_INT(count_open(n), n);
	CHECK_INT(missing_runs_force(sim.missing, "alpha", 0), (int)n);
	CHECK_INT(count_open(n), 0);
	sim_end();
}

/* The problem of the summary, or "". */
static const char *
problem(void)
{
	static struct summary to;

	memset(&to, 0, sizeof(to));
	missing_runs_summary(sim.missing, &to);
	return to.n > 0 ? to.problems[0].text : "";
}

/* The alarm ends when Slurm shows the runs again, or their end. */
static void
test_alarm_ends(void)
{
	const unsigned n = 40;
	unsigned i;

	sim_begin();
	for (i = 1; i <= n; i++)
		open_run(i, 1000 + i);
	for (i = 1; i <= n; i++)
		missing(i, 1000 + i);
	CHECK_STR(problem(), "");
	sim_run(SIM_HOUR);
	for (i = 1; i <= n; i++)
		missing(i, 1000 + i);
	CHECK(strstr(problem(), "20 open runs are unknown to Slurm") != NULL);
	sim_run(10 * SIM_MINUTE);
	CHECK(strstr(problem(), "20 open runs are unknown to Slurm") != NULL);
	for (i = 21; i <= 30; i++)
		sim_put(i, 1000 + i, 0);
	sim_run(11 * SIM_MINUTE);
	CHECK(strstr(problem(), "10 open runs are unknown to Slurm") != NULL);
	for (i = 31; i <= n; i++)
		sim_put(i, 1000 + i, 2000);
	sim_run(11 * SIM_MINUTE);
	CHECK_STR(problem(), "");
	sim_end();
}

/* The state by NATS; RUN_STATE__COUNT when there is no row. */
static enum run_state
published_state(uint64_t job, int64_t start)
{
	struct run_key key = { .cluster = "alpha", .job = job, .start = start };
	struct spool_run run;

	return spool_find(sim.spool, &key, &run) == 1 ? run.state[DEST_NATS] :
							RUN_STATE__COUNT;
}

static uint64_t
revision_of(uint64_t number, int64_t start)
{
	struct run_key key = { .cluster = "alpha",
		.job = number,
		.start = start };
	struct spool_run run;
	uint64_t revision = 0;
	struct job job;

	job_init(&job);
	if (spool_find(sim.spool, &key, &run) == 1 &&
	    spool_record(sim.spool, run.id, &job) == 0)
		revision = job.revision;
	job_clear(&job);
	return revision;
}

static void
unconfirmed(uint64_t number)
{
	struct job job;
	int64_t id;

	job_init(&job);
	job.key.job = number;
	job.key.start = 1000;
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.flags = JOB_HAS_START | JOB_UNCONFIRMED;
	CHECK_INT(spool_put(sim.spool, &job, &id), PUT_NEW);
	job_clear(&job);
}

/* At a cluster that publishes to a stream, the end is published. */
static void
test_stream(void)
{
	struct run_key key = { .cluster = "alpha", .job = 1, .start = 1000 };
	struct spool_run run;
	uint64_t before;

	sim_begin();
	spool_policy(sim.spool)->whole = 1;
	spool_policy(sim.spool)->to[DEST_REST] = 0;
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	sim_put(1, 1000, 0);
	unconfirmed(2);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run_move(sim.spool, &run, DEST_NATS, RUN_EVENT_ACCEPTED,
		      DUE_NOW, NULL),
	    0);
	CHECK_INT(spool_save(sim.spool, &run), 0);
	before = revision_of(1, 1000);
	missing(1, 1000);
	missing(2, 1000);
	CHECK_INT(published_state(1, 1000), STARTED);
	CHECK_INT(published_state(2, 1000), START_DUE);
	sim_run(SIM_HOUR);
	missing(1, 1000);
	missing(2, 1000);
	CHECK_INT(published_state(1, 1000), STOP_DUE);
	/* the centre takes only a later revision */
	CHECK(revision_of(1, 1000) > before);
	/* it was never published, so there is nothing to end */
	CHECK_INT(published_state(2, 1000), START_REJECTED);
	sim_end();
}

static unsigned
answers_of(uint64_t job, int64_t start)
{
	struct run_key key = { .cluster = "alpha", .job = job, .start = start };
	struct spool_run run;

	return spool_find(sim.spool, &key, &run) == 1 ? run.not_found_count :
							99;
}

/* At the centre of a fan-in only the answer to a lookup counts. */
static void
test_centre(void)
{
	struct run_key key = { .cluster = "alpha", .job = 1, .start = 1000 };

	sim_begin();
	spool_policy(sim.spool)->from_stream = 1;
	CHECK_INT(spool_put_from_backend(sim.spool, &key), 1);
	open_run(2, 2000); /* its record has come: it is not looked up */
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	missing(1, 1000); /* nobody has asked */
	CHECK_INT(answers_of(1, 1000), 0);
	missing_asked(sim.missing);
	missing(2, 2000);
	CHECK_INT(answers_of(2, 2000), 0);
	missing(1, 1000);
	CHECK_INT(answers_of(1, 1000), 1);
	sim_run(SIM_HOUR);
	missing(1, 1000); /* an answer of the lookup an hour ago */
	CHECK_INT(answers_of(1, 1000), 1);
	CHECK_INT(sim_state(1, 1000), START_COMMITTED);
	missing_asked(sim.missing);
	missing(1, 1000);
	CHECK_INT(sim_state(1, 1000), STOP_DUE);
	sim_end();
}

int
main(void)
{
	test_centre();
	test_stream();
	test_twice();
	test_stopped_between();
	test_known_again();
	test_no_memory();
	test_ended();
	test_many();
	test_force();
	test_alarm_ends();
	return check_done();
}
