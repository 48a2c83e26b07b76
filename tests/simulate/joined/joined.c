/* SPDX-License-Identifier: MIT */
/*
 * Both sides in one world: a simulated Slurm and listener, the product's
 * collector, the messages between both, the product's submitter on a simulated
 * disk, and cc-backend.  Slurm's truth is compared with what cc-backend has.
 * The options are those of tests/simulate/seeds.c.
 */
#include "config.h"

#include "tests/simulate/backend.h"
#include "tests/simulate/book.h"
#include "tests/simulate/check.h"
#include "tests/simulate/coverage.h"
#include "tests/simulate/disk.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/host.h"
#include "tests/simulate/others.h"
#include "tests/simulate/refusals.h"
#include "tests/simulate/reduce.h"
#include "tests/simulate/rest.h"
#include "tests/simulate/seeds.h"
#include "tests/simulate/site/choices.h"
#include "tests/simulate/site/collector_process.h"
#include "tests/simulate/site/faults.h"
#include "tests/simulate/site/hooks.h"
#include "tests/simulate/site/runner.h"
#include "tests/simulate/site/slurm.h"
#include "tests/simulate/submitter.h"
#include "tests/simulate/truth.h"

#define EPOCH	    1795262400 /* 2026-11-21T12:00:00Z */
#define QUIET_HOURS 38	       /* a day and a half */
#define POINTS	    20000      /* frames of the collector between crashes */

static struct supervised *collector, *submitter;
static struct prng choices;
static int64_t points_left; /* until the collector crashes at a frame */

/* Called when one of both is ready: a new socketpair if the other is, too. */
static void
sides_join(void)
{
	struct link *l;

	if (!supervised_serves(collector) || !supervised_serves(submitter))
		return;
	l = link_new(PROCESS_COLLECTOR, PROCESS_SUBMITTER);
	supervised_peer(collector, ROLE_SUBMITTER, l, 0);
	supervised_peer(submitter, ROLE_COLLECTOR, l, 1);
}

static const struct collector_ops collector_ops = { .ready = sides_join };

/* --- faults --- */

static void
submitter_crash(void)
{
	process_kill(PROCESS_SUBMITTER, "killed");
}

static const struct fault_ops fault_ops = {
	.collector_crash = collector_crash,
	.collector_away = collector_away,
	.collector_lacks_right = collector_lacks_right,
	.store_crash = submitter_crash,
	.listener_crash = collector_listener_crash,
	.reload = collector_reload,
};

/* Of either process. */
static void
on_point(const char *where)
{
	if (process_current() != PROCESS_COLLECTOR) {
		fault_point(where);
		return;
	}
	if (faults_ended() || points_left < 0 || points_left-- > 0)
		return;
	points_left = fault_wait("collector-point", POINTS);
	process_die(where);
}

/* --- one seed --- */

/* Accounting is read from the beginning. */
static int64_t
no_resume(void)
{
	return INT64_MAX;
}

static void
cc_begin(int no_faults)
{
	enum cc_version version = prng_chance(&choices, 700000) ?
	    CC_1_5_4 :
	    (enum cc_version)prng_below(&choices, CC_1_5_4);
	int64_t commit_ms = prng_between(&choices, 10, 180) * SECOND_MS;

	refusals_begin(no_faults);
	backend_begin(version, commit_ms);
}

static void
processes_define(void)
{
	int history = prng_chance(&choices, 250000);

	collector = collector_new(&choices, &collector_ops);
	submitter = submitter_new("120", history);
	/* The last day is not read again: nothing hides a gap. */
	if (prng_chance(&choices, 500000)) {
		supervised_conf(collector, CONF_CC_POLL_INTERVAL, "604800");
		supervised_conf(submitter, CONF_CC_POLL_INTERVAL, "604800");
	}
}

/* A later run of the job may replace an earlier one. */
static void
requeued_choose(void)
{
	struct prng random;

	prng_init(&random, world_seed(), "settings");
	if (!prng_chance(&random, 250000))
		return;
	supervised_conf(submitter, CONF_REQUEUED_RUNS, "last");
	check_last_requeued();
}

static void
seed_begin(uint64_t seed, int no_faults)
{
	world_begin(seed, EPOCH);
	prng_init(&choices, seed, "choices");
	faults_begin(no_faults);
	process_fault_set(on_point);
	points_left = -1;
	if (!no_faults && prng_chance(&choices, 300000) &&
	    reduce_allows("collector-point"))
		points_left = fault_wait("collector-point", POINTS);
	disk_begin();
	processes_define();
	requeued_choose();
	cc_begin(no_faults);
	host_begin();
	runner_begin(604800, no_resume);
	hooks_begin(lost_hooks_choose(&choices));
	slurm_choose(&choices);
	others_begin();
	site_faults_begin(&fault_ops, no_faults);
	collector_process_start();
	submitter_begin(sides_join);
}

static void
figures_fill(struct figures *f)
{
	f->hash = trace_hash();
	f->ms = world_ms();
	while (truth_run((unsigned)f->n[0]) != NULL)
		f->n[0]++;
	f->n[1] = check_absent();
	f->n[2] = backend_numbers()->requests;
	f->n[3] = submitter_starts();
	f->n[4] = process_incarnation(PROCESS_COLLECTOR);
	f->n[5] = site_faults_count();
}

static void
verdict(void)
{
	collector_verdict();
	check_end();
	book_check();
}

static void
seed_run(uint64_t seed, int64_t hours, int no_faults, struct figures *f)
{
	seed_begin(seed, no_faults);
	world_run(hours * HOUR_MS, NULL);
	slurm_close();
	site_faults_end();
	faults_end();
	host_good();
	submitter_retry(refusals_end());
	trace("the quiet day begins");
	do
		world_run(HOUR_MS, NULL);
	while (slurm_busy() > 0);
	rest_run(QUIET_HOURS * HOUR_MS, verdict);
	verdict();
	figures_fill(f);
}

static const struct simulation simulation = {
	.name = "joined",
	.hours = 6,
	.words = { "runs", "refused by cc-backend", "requests",
	    "starts of the submitter", "starts and ends of the collector",
	    "faults around the collector" },
	.run = seed_run,
	.coverage = coverage_print,
};

int
main(int argc, char **argv)
{
	coverage_begin();
	return seeds_main(&simulation, argc, argv);
}
