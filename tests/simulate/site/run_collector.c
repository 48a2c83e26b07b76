/* SPDX-License-Identifier: MIT */
/*
 * The product's collector, with a simulated Slurm, listener and submitter.  The
 * options are those of tests/simulate/seeds.c.  The day after the hours with
 * jobs and faults has neither.
 */
#include "config.h"

#include <stdio.h>

#include "tests/simulate/rest.h"
#include "tests/simulate/seeds.h"
#include "tests/simulate/site/choices.h"
#include "tests/simulate/site/collector_process.h"
#include "tests/simulate/site/faults.h"
#include "tests/simulate/site/hooks.h"
#include "tests/simulate/site/runner.h"
#include "tests/simulate/site/slurm.h"
#include "tests/simulate/site/store.h"
#include "tests/simulate/supervisor.h"

#define EPOCH	    1795262400 /* 2026-11-21T12:00:00Z */
#define QUIET_HOURS 26	       /* the last day is read every ccPollInterval */

static struct supervised *collector;
static struct prng choices;

static void
on_ready(void)
{
	store_connect(collector_neighbour(ROLE_SUBMITTER));
}

static const struct collector_ops collector_ops = {
	.ready = on_ready,
	.ended = store_collector_ended,
};

/* --- faults --- */

static void
store_back(void *arg)
{
	(void)arg;
	if (supervised_serves(collector))
		store_connect(collector_neighbour(ROLE_SUBMITTER));
}

static void
store_crashes(void)
{
	store_crash();
	world_after(PROCESS_NONE, collector_restart_ms(), store_back, NULL);
}

static const struct fault_ops fault_ops = {
	.collector_crash = collector_crash,
	.collector_away = collector_away,
	.collector_lacks_right = collector_lacks_right,
	.store_crash = store_crashes,
	.listener_crash = collector_listener_crash,
	.reload = collector_reload,
	.store_flow = store_flow_set,
	.store_fragile = store_fragile,
	.collector_fragile = store_script_fragile,
};

static const struct store_ops store_ops = {
	.crash = store_crashes,
	.collector_crash = collector_crash,
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
	collector = collector_new(&choices, &collector_ops);
	/* The last day is not read again: nothing hides a gap. */
	if (prng_chance(&choices, 500000))
		supervised_conf(collector, CONF_CC_POLL_INTERVAL, "604800");
	runner_begin(span_choose(), store_resume);
	hooks_begin(lost_hooks_choose(&choices));
	store_begin(&store_ops);
	slurm_choose(&choices);
	site_faults_begin(&fault_ops, no_faults);
	collector_process_start();
}

static void
verdict(void)
{
	store_verdict(!site_faults_hide_runs());
	collector_verdict();
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
	rest_run(QUIET_HOURS * HOUR_MS, verdict);
	verdict();
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
