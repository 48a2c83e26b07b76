/* SPDX-License-Identifier: MIT */
/*
 * Both sides in one world: a simulated Slurm and listener, the product's
 * collector, the messages between both, the product's submitter on a simulated
 * disk, and cc-backend.  Slurm's truth is compared with what cc-backend has.
 * The options are those of tests/simulate/seeds.c.
 */
#include "config.h"

#include <string.h>

#include "common/model/summary.h"
#include "tests/simulate/backend.h"
#include "tests/simulate/book.h"
#include "tests/simulate/check.h"
#include "tests/simulate/coverage.h"
#include "tests/simulate/disk.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/host.h"
#include "tests/simulate/others.h"
#include "tests/simulate/reduce.h"
#include "tests/simulate/seeds.h"
#include "tests/simulate/site/choices.h"
#include "tests/simulate/site/faults.h"
#include "tests/simulate/site/hooks.h"
#include "tests/simulate/site/runner.h"
#include "tests/simulate/site/slurm.h"
#include "tests/simulate/submitter.h"
#include "tests/simulate/truth.h"

#define EPOCH	    1795262400 /* 2026-11-21T12:00:00Z */
#define QUIET_HOURS 38	       /* a day and a half */
#define RESTART_MS  800	       /* at most, of a worker */
#define POINTS	    20000      /* frames of the collector between crashes */

static struct supervised *collector, *submitter;
static struct prng choices;
static int64_t points_left; /* until the collector crashes at a frame */

extern char __start_collector_data[], __stop_collector_data[];
extern char __start_collector_bss[], __stop_collector_bss[];

/* --- the collector --- */

static void
on_start(void)
{
	collector_begin(supervised_fd(collector));
}

static void
collector_start(void *arg)
{
	(void)arg;
	supervised_start(collector);
}

static int64_t
restart_ms(void)
{
	return (int64_t)prng_below(&choices, RESTART_MS);
}

static void
on_ended(const char *why)
{
	(void)why;
	supervised_ended(collector);
	link_process_ended(PROCESS_COLLECTOR);
	runner_ended();
	hooks_disconnect();
	world_after(PROCESS_NONE, restart_ms(), collector_start, NULL);
}

static const struct process_ops collector_ops = {
	.name = "collector",
	.memory = {
		{ __start_collector_data, __stop_collector_data },
		{ __start_collector_bss, __stop_collector_bss },
	},
	.start = on_start,
	.ended = on_ended,
};

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

static struct link *
neighbour(enum role role)
{
	struct link *l = link_new(PROCESS_NONE, PROCESS_COLLECTOR);

	supervised_peer(collector, role, l, 1);
	return l;
}

static void
on_ready(struct supervised *sv)
{
	(void)sv;
	runner_connect(neighbour(ROLE_RUNNER));
	hooks_connect(neighbour(ROLE_LISTENER));
	sides_join();
}

/* The collector's own view, about once a second. */
static struct summary summary;

static void
on_message(struct supervised *sv, const struct msg_header *h,
    const uint8_t *payload)
{
	struct reader r;

	(void)sv;
	if (h->type != MSG_SUMMARY)
		return;
	memset(&summary, 0, sizeof(summary));
	rd_init(&r, payload, h->length);
	summary_read(&r, &summary);
	invariant(rd_end(&r) == 0, "a malformed summary");
}

static const struct supervisor_ops supervisor_ops = {
	.ready = on_ready,
	.frame = on_message,
};

/* --- faults --- */

static void
collector_crash(void)
{
	process_kill(PROCESS_COLLECTOR, "killed");
}

static void
submitter_crash(void)
{
	process_kill(PROCESS_SUBMITTER, "killed");
}

static void
listener_back(void *arg)
{
	(void)arg;
	if (supervised_serves(collector))
		hooks_connect(neighbour(ROLE_LISTENER));
}

static void
listener_crash(void)
{
	hooks_crash();
	world_after(PROCESS_NONE, restart_ms(), listener_back, NULL);
}

static void
reload(void)
{
	reload_choose(collector, &choices);
	supervised_reload(collector);
}

static const struct fault_ops fault_ops = {
	.collector_crash = collector_crash,
	.store_crash = submitter_crash,
	.listener_crash = listener_crash,
	.reload = reload,
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
cc_begin(void)
{
	enum cc_version version = prng_chance(&choices, 700000) ?
	    CC_1_5_4 :
	    (enum cc_version)prng_below(&choices, CC_1_5_4);
	int64_t commit_ms = prng_between(&choices, 10, 180) * SECOND_MS;

	backend_begin(version, commit_ms);
}

static void
processes_define(void)
{
	int history = prng_chance(&choices, 250000);

	process_define(PROCESS_COLLECTOR, &collector_ops);
	collector = supervised_new(PROCESS_COLLECTOR, ROLE_COLLECTOR,
	    &supervisor_ops);
	supervised_conf(collector, CONF_GPU_PCI_ADDRS, SITE_DEVICES);
	reload_choose(collector, &choices);
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
	cc_begin();
	host_begin();
	runner_begin(604800, no_resume);
	hooks_begin(lost_hooks_choose(&choices));
	slurm_choose(&choices);
	others_begin();
	site_faults_begin(&fault_ops, no_faults);
	collector_start(NULL);
	submitter_begin(sides_join);
}

/* After the quiet day nothing is open and nothing is wrong. */
static void
summary_verdict(void)
{
	invariant(summary.running == 0, "the collector has %llu open runs",
	    (unsigned long long)summary.running);
	invariant(summary.n == 0, "the collector reports: %s",
	    summary.problems[0].text);
	invariant(hooks_waiting() == 0, "%u hooks are not acknowledged",
	    hooks_waiting());
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
seed_run(uint64_t seed, int64_t hours, int no_faults, struct figures *f)
{
	seed_begin(seed, no_faults);
	world_run(hours * HOUR_MS, NULL);
	slurm_close();
	site_faults_end();
	faults_end();
	host_good();
	trace("the quiet day begins");
	do
		world_run(HOUR_MS, NULL);
	while (slurm_busy() > 0);
	world_run(QUIET_HOURS * HOUR_MS, NULL);
	summary_verdict();
	check_end();
	book_check();
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
