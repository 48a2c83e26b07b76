/* SPDX-License-Identifier: MIT */
/*
 * `queue --rejected` shows what was rejected, and why.  `drop` removes it, and
 * nothing that is still to be delivered.  A change that the disk refuses is no
 * success.
 */
#include "config.h"

#include <sys/resource.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/log_line.h"
#include "submitter/ctl.h"
#include "submitter/delivery/delivery.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

#define JOB 7

static struct spool_run
run_of(void)
{
	struct run_key key = { "alpha", JOB, 1000 };
	struct spool_run run;

	memset(&run, 0, sizeof(run));
	spool_find(sim.spool, &key, &run);
	return run;
}

/* A run for both destinations; NATS waits for its broker. */
static void
begin(int64_t end)
{
	sim_begin();
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	sim_put(JOB, 1000, end);
}

static void
reject(enum dest dest)
{
	struct spool_run run = run_of();

	CHECK_INT(run_move(sim.spool, &run, dest, RUN_EVENT_REJECTED, DUE_NOW,
		      "rejected"),
	    0);
	CHECK_INT(spool_save(sim.spool, &run), 0);
}

static void
drop(const char *told)
{
	struct ctl_request req = { .verb = CTL_DROP, .n_ids = 1 };

	req.ids[0] = JOB;
	sim_told();
	sim.w->arg = &sim;
	ctl_on_request(sim.w, 1, &req);
	CHECK_STR(sim_told(), told);
}

/* The message is too long for NATS; the start waits for cc-backend. */
static void
test_start_due(void)
{
	begin(2000);
	reject(DEST_NATS);
	drop("ok: 1 runs were dropped\n");
	CHECK_INT(sim_state(JOB, 1000), START_DUE_ENDED);
	CHECK_INT(run_of().state[DEST_NATS], RUN_NONE);
	drop("ok: 0 runs were dropped\n");
	sim_end();
}

/* The run is open in cc-backend: its stop is sent, and then it is done. */
static void
test_open(void)
{
	begin(0);
	reject(DEST_NATS);
	sim_connect();
	spool_policy(sim.spool)->wait_commit = 0;
	wake(&sim, WAKE_DELIVERY);
	sim_run(0);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(JOB, 1000), START_COMMITTED);
	drop("ok: 1 runs were dropped\n");
	CHECK_INT(sim_state(JOB, 1000), START_COMMITTED);
	sim_put(JOB, 1000, 2000);
	wake(&sim, WAKE_DELIVERY);
	sim_run(0);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_answer(REQUEST_STOP, 200, "{\"jobId\":7,\"startTime\":1000}");
	CHECK_INT(sim_state(JOB, 1000), RUN_STATE__COUNT);
	sim_end();
}

/* cc-backend rejects the start; the message still waits for the broker. */
static void
test_nats_due(void)
{
	struct spool_run run;

	begin(2000);
	reject(DEST_REST);
	drop("ok: 1 runs were dropped\n");
	run = run_of();
	CHECK_INT(run.state[DEST_REST], RUN_NONE);
	CHECK_INT(run.state[DEST_NATS], START_DUE_ENDED);
	sim_end();
}

/* `queue`, or `queue --rejected`, shows this reason. */
static void
shows(unsigned flags, const char *reason)
{
	struct ctl_request req = { .verb = CTL_QUEUE, .flags = flags };
	const char *told;

	sim_told();
	sim.w->arg = &sim;
	ctl_on_request(sim.w, 1, &req);
	told = sim_told();
	CHECK(strstr(told, reason) != NULL);
}

/* Each destination keeps its reason, whatever happens to the other one. */
static void
test_reasons(void)
{
	static const char locked[] = "{\"error\":\"database is locked\"}";
	static const char why[] = "|NATS: the message is too long|";
	struct spool_run run;

	begin(0);
	run = run_of();
	run_reject(&sim, &run, DEST_NATS, REJECT_TOO_LONG,
	    "the message is too long");
	sim_connect();
	sim_answer(REQUEST_START, 500, locked);
	shows(CTL_FLAG_REJECTED, why);
	shows(0, "database is locked");
	sim_run(5000);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(sim_state(JOB, 1000), STARTED);
	shows(CTL_FLAG_REJECTED, why);
	sim_end();
}

/* Both have rejected the run: nothing is left of it. */
static void
test_both(void)
{
	begin(2000);
	reject(DEST_REST);
	reject(DEST_NATS);
	drop("ok: 1 runs were dropped\n");
	CHECK_INT(sim_state(JOB, 1000), RUN_STATE__COUNT);
	sim_end();
}

/* Both have rejected a run without an end, and an admin has dropped it. */
static void
dropped_open(void)
{
	begin(0);
	reject(DEST_REST);
	reject(DEST_NATS);
	drop("ok: 1 runs were dropped\n");
	/* Its start is older than the time that a tombstone is kept. */
	CHECK(spool_age(sim.spool, time(NULL), 512) != -1);
}

/*
 * The run is not sent again when Slurm shows it, nor to a destination that is
 * added, and its end is not sent.
 */
static void
test_running(void)
{
	struct spool_dest_change c;

	dropped_open();
	CHECK(spool_destinations_change(sim.spool, &c) >= 0);
	sim_connect();
	sim_put(JOB, 1000, 0);
	CHECK_INT(sim_state(JOB, 1000), RUN_NONE);
	spool_policy(sim.spool)->to[DEST_NATS] = 0;
	CHECK_INT(spool_destinations_change(sim.spool, &c), 1);
	CHECK_INT(sim_state(JOB, 1000), RUN_NONE);
	drop("ok: 0 runs were dropped\n");
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(spool_runs(sim.spool), 1);
	sim_put(JOB, 1000, 2000);
	CHECK_INT(sim_state(JOB, 1000), RUN_STATE__COUNT);
	CHECK_INT(run_of().id, 0);
	CHECK_INT(sim_waits(REQUEST_START) + sim_waits(REQUEST_STOP), 0);
	sim_end();
}

/* Slurm never reports the end. */
static void
test_no_end(void)
{
	struct run_key key = { "alpha", JOB, 1000 };

	dropped_open();
	missing_report(sim.missing, &key);
	sim_run(SIM_HOUR);
	CHECK_INT(spool_runs(sim.spool), 1);
	missing_report(sim.missing, &key);
	CHECK_INT(spool_runs(sim.spool), 0);
	CHECK_INT(spool_is_done(sim.spool, &key), 1);
	sim_end();
}

/* A quarantined record is not read, so that its end would not come. */
static void
test_quarantined(void)
{
	struct run_key key = { "alpha", JOB, 1000 };

	sim_begin();
	CHECK_INT(spool_put_quarantined(sim.spool, &key, (const uint8_t *)"x",
		      1),
	    PUT_MERGED);
	drop("ok: 1 runs were dropped\n");
	CHECK_INT(spool_runs(sim.spool), 0);
	sim_end();
}

/* Another cluster has a rejected run of the same job id: it is kept. */
static void
test_cluster(void)
{
	struct ctl_request req = { .verb = CTL_DROP, .n_ids = 1 };
	struct run_key other = { "beta", JOB, 1000 };
	struct spool_run run;

	begin(2000);
	reject(DEST_REST);
	CHECK_INT(spool_put_from_backend(sim.spool, &other), 1);
	CHECK_INT(spool_find(sim.spool, &other, &run), 1);
	run.state[DEST_REST] = STOP_REJECTED;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	req.ids[0] = JOB;
	snprintf(req.text, sizeof(req.text), "alpha");
	sim_told();
	sim.w->arg = &sim;
	ctl_on_request(sim.w, 1, &req);
	CHECK_STR(sim_told(), "ok: 1 runs were dropped\n");
	CHECK_INT(spool_find(sim.spool, &other, &run), 1);
	CHECK_INT(run.state[DEST_REST], STOP_REJECTED);
	req.verb = CTL_RETRY;
	ctl_on_request(sim.w, 1, &req);
	CHECK_STR(sim_told(), "ok: 0 runs are due again\n");
	snprintf(req.text, sizeof(req.text), "beta");
	ctl_on_request(sim.w, 1, &req);
	CHECK_STR(sim_told(), "ok: 1 runs are due again\n");
	sim_end();
}

/* No file can grow: each commit fails. */
static void
disk_fill(int full)
{
	static struct rlimit before;
	struct rlimit none;

	if (full) {
		CHECK_INT(commit_now(sim.commit), 0);
		CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
		none = before;
		none.rlim_cur = 0;
		CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
	} else
		CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static const char *
command(enum ctl_verb verb)
{
	struct ctl_request req = { .verb = (uint16_t)verb, .n_ids = 1 };

	req.ids[0] = JOB;
	sim_told();
	sim.w->arg = &sim;
	ctl_on_request(sim.w, 1, &req);
	return sim_told();
}

/*
 * The disk refuses the change: the answer is an error, and the state stays.
 * The second request comes while the spool is known to refuse writes.
 */
static void
refused(enum ctl_verb verb, enum run_state state, const char *told)
{
	int i;

	begin(2000);
	reject(DEST_REST);
	if (state == STOPPED_BY_OTHERS) {
		struct spool_run run = run_of();

		run.state[DEST_REST] = STOPPED_BY_OTHERS;
		CHECK_INT(spool_save(sim.spool, &run), 0);
	}
	disk_fill(1);
	for (i = 0; i < 2; i++)
		CHECK(
		    strstr(command(verb),
			"error: nothing is changed: the spool refuses writes: "
			"disk I/O error") != NULL);
	disk_fill(0);
	sim_run(2000);
	CHECK_INT(sim_state(JOB, 1000), state);
	CHECK(strstr(command(verb), told) != NULL);
	sim_end();
}

static void
test_refused(void)
{
	signal(SIGXFSZ, SIG_IGN);
	refused(CTL_RETRY, START_REJECTED, "ok: 1 runs are due again\n");
	refused(CTL_DROP, START_REJECTED, "ok: 1 runs were dropped\n");
	refused(CTL_REPAIR, STOPPED_BY_OTHERS, "ok: 1 runs are being");
}

static unsigned n_retried, n_not_retried; /* lines of the log */

static void
count_line(const struct log_line *line)
{
	n_not_retried += strstr(line->text, "are not retried") != NULL;
	n_retried += strstr(line->text, "runs are retried") != NULL;
}

/*
 * A reload retries the rejected runs.  If the disk refuses that, the log says so,
 * and the state stays, also when the spool is known to refuse writes.
 */
static void
test_reload(void)
{
	unsigned i;

	log_sink_set(count_line);
	log_set_level(LOG_LEVEL_INFO);
	begin(2000);
	reject(DEST_REST);
	disk_fill(1);
	for (i = 1; i <= 2; i++) {
		ctl_retry_all(&sim);
		CHECK_INT(n_not_retried, i);
	}
	CHECK_INT(n_retried, 0);
	disk_fill(0);
	sim_run(2000);
	CHECK_INT(sim_state(JOB, 1000), START_REJECTED);
	ctl_retry_all(&sim);
	CHECK_INT(sim_state(JOB, 1000), START_DUE_ENDED);
	CHECK_INT(n_retried, 1);
	/* Without a rejected run, nothing is logged. */
	ctl_retry_all(&sim);
	CHECK_INT(n_retried, 1);
	CHECK_INT(n_not_retried, 2);
	sim_end();
	log_set_level(LOG_LEVEL_FATAL);
	log_sink_set(NULL);
}

int
main(void)
{
	log_set_level(LOG_LEVEL_FATAL);
	test_start_due();
	test_open();
	test_nats_due();
	test_reasons();
	test_both();
	test_running();
	test_no_end();
	test_quarantined();
	test_cluster();
	test_refused();
	test_reload();
	return check_done();
}
