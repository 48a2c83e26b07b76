/* SPDX-License-Identifier: MIT */
/*
 * The product's collector, with a simulated Slurm, listener and submitter.  The
 * options are those of tests/simulate/seeds.c.  The day after the hours with
 * jobs and faults has neither.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/model/summary.h"
#include "tests/simulate/seeds.h"
#include "tests/simulate/site/choices.h"
#include "tests/simulate/site/faults.h"
#include "tests/simulate/site/hooks.h"
#include "tests/simulate/site/runner.h"
#include "tests/simulate/site/slurm.h"
#include "tests/simulate/site/store.h"
#include "tests/simulate/supervisor.h"

#define EPOCH	    1795262400 /* 2026-11-21T12:00:00Z */
#define QUIET_HOURS 26	       /* the last day is read every ccPollInterval */
#define RESTART_MS  800	       /* at most, of a worker */

static struct supervised *collector;
static struct prng choices;

/* --- the process --- */

extern char __start_collector_data[], __stop_collector_data[];
extern char __start_collector_bss[], __stop_collector_bss[];

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

/* The listener and the store wait for the next collector. */
static void
on_ended(const char *why)
{
	(void)why;
	supervised_ended(collector);
	link_process_ended(PROCESS_COLLECTOR);
	runner_ended();
	hooks_disconnect();
	store_collector_ended();
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

/* --- its neighbours --- */

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
	store_connect(neighbour(ROLE_SUBMITTER));
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
store_back(void *arg)
{
	(void)arg;
	if (supervised_serves(collector))
		store_connect(neighbour(ROLE_SUBMITTER));
}

static void
store_crashes(void)
{
	store_crash();
	world_after(PROCESS_NONE, restart_ms(), store_back, NULL);
}

static void
listener_back(void *arg)
{
	(void)arg;
	if (supervised_serves(collector))
		hooks_connect(neighbour(ROLE_LISTENER));
}

static void
listener_crashes(void)
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
	.store_crash = store_crashes,
	.listener_crash = listener_crashes,
	.reload = reload,
	.store_flow = store_flow_set,
	.store_fragile = store_fragile,
};

/* --- one seed --- */

/* A short span: an outage leaves a gap in accounting. */
static int64_t
span_choose(void)
{
	char text[16];
	int64_t span = 604800;

	if (prng_chance(&choices, 300000))
		span = prng_between(&choices, 1, 4) * 3600;
	snprintf(text, sizeof(text), "%lld", (long long)span);
	supervised_conf(collector, CONF_QUERY_MAX_SPAN, text);
	return span;
}

static void
seed_begin(uint64_t seed, int no_faults)
{
	world_begin(seed, EPOCH);
	prng_init(&choices, seed, "choices");
	process_define(PROCESS_COLLECTOR, &collector_ops);
	collector = supervised_new(PROCESS_COLLECTOR, ROLE_COLLECTOR,
	    &supervisor_ops);
	supervised_conf(collector, CONF_GPU_PCI_ADDRS, SITE_DEVICES);
	reload_choose(collector, &choices);
	/* The last day is not read again: nothing hides a gap. */
	if (prng_chance(&choices, 500000))
		supervised_conf(collector, CONF_CC_POLL_INTERVAL, "604800");
	runner_begin(span_choose(), store_resume);
	hooks_begin(lost_hooks_choose(&choices));
	store_begin(store_crashes);
	slurm_choose(&choices);
	site_faults_begin(&fault_ops, no_faults);
	collector_start(NULL);
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
seed_run(uint64_t seed, int64_t hours, int no_faults, struct figures *f)
{
	seed_begin(seed, no_faults);
	world_run(hours * HOUR_MS, NULL);
	slurm_close();
	site_faults_end();
	trace("the quiet day begins");
	do
		world_run(HOUR_MS, NULL);
	while (slurm_busy() > 0);
	world_run(QUIET_HOURS * HOUR_MS, NULL);
	store_verdict(!site_faults_hide_runs());
	summary_verdict();
	f->hash = trace_hash();
	f->ms = world_ms();
	f->n[0] = store_runs();
	f->n[1] = site_faults_count();
	f->n[2] = world_steps();
}

static const struct simulation simulation = {
	.name = "run-collector",
	.hours = 24,
	.words = { "runs", "faults", "events" },
	.run = seed_run,
};

int
main(int argc, char **argv)
{
	return seeds_main(&simulation, argc, argv);
}
