/* SPDX-License-Identifier: MIT */
/* The bounds of the answer to `explain`: what it leaves out, it says. */
#include "config.h"

#include <unistd.h>

#include "submitter/explain.h"
#include "submitter/history/history.h"
#include "submitter/run_history.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

#define JOBS	 10
#define RUNS	 70   /* of each job; 64 are printed */
#define EVENTS	 120  /* of each run: more than its bytes hold */
#define RUN_S	 1000 /* from run to run */
#define T0	 INT64_C(1763733600)
#define MAX_SIZE (8u * 1024 * 1024)

static size_t bytes, not_shown;
static unsigned runs_shown[JOBS + 2];
static char last_run[32], notes[JOBS + 2][256];
static char rejected[256]; /* text of the event */

static void
on_row(const struct writer *row)
{
	struct reader r;
	char field[6][256];
	unsigned i, job;

	bytes += row->len;
	rd_init(&r, row->buf, row->len);
	rd_u8(&r); /* the table */
	CHECK_INT(rd_u8(&r), 6);
	for (i = 0; i < 6; i++)
		rd_name(&r, field[i], sizeof(field[i]));
	job = (unsigned)atoi(field[1]);
	if (rd_end(&r) == -1 || job > JOBS + 1) {
		CHECK(0);
		return;
	}
	if (strcmp(field[4], "rejected") == 0)
		snprintf(rejected, sizeof(rejected), "%s", field[5]);
	if (strcmp(field[4], CTL_EVENT_NOT_SHOWN) == 0) {
		not_shown++;
		snprintf(notes[job], sizeof(notes[job]), "%s", field[5]);
	} else if (strcmp(last_run, field[2]) != 0) {
		runs_shown[job]++;
		snprintf(last_run, sizeof(last_run), "%.20s", field[2]);
	}
}

static void
ask(unsigned first, unsigned last, int64_t from)
{
	struct ctl_request req = { .verb = CTL_EXPLAIN, .a = from };

	for (; first <= last; first++)
		req.ids[req.n_ids++] = first;
	bytes = not_shown = 0;
	memset(runs_shown, 0, sizeof(runs_shown));
	last_run[0] = '\0';
	explain_begin(&sim, 1, &req);
}

/* A run with failures of each kind: each event is a row of its own. */
static void
run_add(uint64_t job, int64_t start)
{
	struct run_key key = { .cluster = "alpha", .job = job, .start = start };
	unsigned i;

	for (i = 0; i < EVENTS; i++)
		history_note_at(sim.history, start * 1000 + i, &key,
		    HISTORY_RETRY, 500 + i % 20, 0);
}

static void
test_job(void)
{
	char want[128];

	ask(1, 1, 0);
	CHECK_INT(runs_shown[1], 64);
	CHECK_INT(not_shown, 1);
	snprintf(want, sizeof(want), "explain 1 --from %lld",
	    (long long)(T0 + 64 * RUN_S));
	CHECK(strstr(notes[1], want) != NULL);
	ask(1, 1, T0 + 64 * RUN_S);
	CHECK_INT(runs_shown[1], RUNS - 64);
	CHECK_INT(not_shown, 0);
	/* All runs are earlier: a row about the job, or Slurm would be asked. */
	ask(1, 1, T0 + RUNS * RUN_S);
	CHECK_INT(runs_shown[1], 0);
	CHECK_INT(not_shown, 1);
	CHECK(strstr(notes[1], "began before the time of --from") != NULL);
}

static void
test_jobs(void)
{
	unsigned job, left_out = 0;

	ask(1, JOBS, 0);
	CHECK(bytes < MAX_SIZE);
	CHECK(bytes > MAX_SIZE / 2);
	for (job = 1; job <= JOBS; job++) {
		CHECK(runs_shown[job] == 64 || runs_shown[job] == 0);
		if (runs_shown[job] > 0)
			continue;
		left_out++;
		CHECK(strstr(notes[job],
			  "the answer is too long: run "
			  "`cc-slurm-adapterctl explain ") != NULL);
	}
	CHECK(left_out > 0);
	CHECK_INT(not_shown, JOBS);
}

/* The line for the centre fits, and is about the last run. */
static void
test_line(void)
{
	char text[512];

	explain_line(&sim, "alpha", 1, text, sizeof(text));
	CHECK(strncmp(text, "70 runs, the last one started ", 30) == 0);
	CHECK(
	    strstr(text, ": the run is done: nothing is left to send") != NULL);
	explain_line(&sim, "alpha", JOBS + 1, text, sizeof(text));
	CHECK_STR(text, "its daemon has no run of this job");
	explain_line(&sim, "beta", 1, text, sizeof(text));
	CHECK_STR(text, "its daemon has no run of this job");
	sim_put(JOBS + 2, T0, 0);
	explain_line(&sim, "alpha", JOBS + 2, text, sizeof(text));
	CHECK(strncmp(text, "1 run, the last one started ", 28) == 0);
	/* a hook of no run yet is no run */
	history_hook(sim.history, "alpha", JOBS + 2, EVENT_END, T0 * 1000);
	explain_line(&sim, "alpha", JOBS + 2, text, sizeof(text));
	CHECK(strncmp(text, "1 run, the last one started ", 28) == 0);
	history_hook(sim.history, "alpha", JOBS + 3, EVENT_START, T0 * 1000);
	explain_line(&sim, "alpha", JOBS + 3, text, sizeof(text));
	CHECK_STR(text, "its daemon has no run of this job");
}

/* With deliver "stream", the stream has the run; cc-backend may not have it yet. */
static void
test_published(void)
{
	struct run_key key = { .cluster = "alpha",
		.job = JOBS + 4,
		.start = T0 };
	char text[512];

	history_note_at(sim.history, T0 * 1000, &key, HISTORY_NATS_STOP, 0, 0);
	explain_line(&sim, "alpha", JOBS + 4, text, sizeof(text));
	CHECK(strstr(text, ": the run is delivered") != NULL);
	spool_policy(sim.spool)->whole = 1;
	explain_line(&sim, "alpha", JOBS + 4, text, sizeof(text));
	CHECK(strstr(text, ": the run is done: the stream has") != NULL);
	spool_policy(sim.spool)->whole = 0;
}

/* cc-backend rejects a request: the event names the request. */
static void
test_rejected(void)
{
	static const struct {
		enum run_state before, after;
		int64_t end;
		const char *text;
	} cases[] = { { START_DUE, START_REJECTED, 0,
			  "the start is rejected for good" },
		{ STOP_DUE, STOP_REJECTED, 1, "the stop is rejected for good" },
		{ DELETE_DUE, STOPPED_BY_OTHERS, 0,
		    "the deletion is rejected for good" },
		{ DELETE_DUE, STOP_DUE, 1,
		    "the deletion is rejected for good" } };
	struct run_key key = { .cluster = "alpha", .job = JOBS + 1 };
	struct spool_run run;
	size_t i;

	run_history_begin(&sim);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		key.start = T0 + (int64_t)i * RUN_S;
		sim_put(key.job, key.start,
		    cases[i].end != 0 ? key.start + 1 : 0);
		CHECK_INT(spool_find(sim.spool, &key, &run), 1);
		run.state[DEST_REST] = cases[i].before;
		CHECK_INT(run_move(sim.spool, &run, DEST_REST,
			      RUN_EVENT_REJECTED, DUE_NOW, "400"),
		    0);
		CHECK_INT(run.state[DEST_REST], cases[i].after);
		CHECK_INT(spool_save(sim.spool, &run), 0);
		rejected[0] = '\0';
		ask(JOBS + 1, JOBS + 1, key.start);
		CHECK_STR(rejected, cases[i].text);
	}
	spool_observe(sim.spool, NULL, NULL);
}

int
main(void)
{
	char dir[] = "/tmp/test_explain.XXXXXX";
	int64_t run;
	uint64_t job;

	if (mkdtemp(dir) == NULL || chdir(dir) == -1)
		return 1;
	sim_begin();
	sim_on_row = on_row;
	sim.history = history_new(&sim, "history.db");
	history_conf(sim.history, 100000, 64 << 20);
	for (job = 1; job <= JOBS; job++)
		for (run = 0; run < RUNS; run++)
			run_add(job, T0 + run * RUN_S);
	test_job();
	test_jobs();
	test_line();
	test_published();
	test_rejected();
	history_conf(sim.history, 0, 0);
	sim_on_row = NULL;
	sim_end();
	CHECK_INT(rmdir(dir), 0);
	return check_done();
}
