/* SPDX-License-Identifier: MIT */
/* The collector as a process of the simulation; see collector_process.h. */
#include "config.h"

#include <string.h>

#include "common/model/summary.h"
#include "tests/simulate/site/choices.h"
#include "tests/simulate/site/collector_process.h"
#include "tests/simulate/site/hooks.h"
#include "tests/simulate/site/runner.h"
#include "tests/simulate/site/slurm.h"

#define RESTART_MS 800 /* at most, of a worker */

static struct supervised *collector;
static const struct collector_ops *ops;
static struct prng *choices;
static int away; /* it is not started */

/* The collector's own view, about once a second. */
static struct summary summary;

extern char __start_collector_data[], __stop_collector_data[];
extern char __start_collector_bss[], __stop_collector_bss[];

static void
on_start(void)
{
	collector_begin(supervised_fd(collector));
}

static void
restart(void *arg)
{
	if (away)
		world_after(PROCESS_NONE, MINUTE_MS, restart, arg);
	else
		supervised_start(collector);
}

int64_t
collector_restart_ms(void)
{
	return (int64_t)prng_below(choices, RESTART_MS);
}

/* The listener and the submitter wait for the next collector. */
static void
on_ended(const char *why)
{
	(void)why;
	supervised_ended(collector);
	link_process_ended(PROCESS_COLLECTOR);
	runner_ended();
	hooks_disconnect();
	if (ops->ended != NULL)
		ops->ended();
	world_after(PROCESS_NONE, collector_restart_ms(), restart, NULL);
}

static const struct process_ops process_ops = {
	.name = "collector",
	.memory = {
		{ __start_collector_data, __stop_collector_data },
		{ __start_collector_bss, __stop_collector_bss },
	},
	.start = on_start,
	.ended = on_ended,
};

struct link *
collector_neighbour(enum role role)
{
	struct link *l = link_new(PROCESS_NONE, PROCESS_COLLECTOR);

	supervised_peer(collector, role, l, 1);
	return l;
}

static void
on_ready(struct supervised *sv)
{
	(void)sv;
	runner_connect(collector_neighbour(ROLE_RUNNER));
	hooks_connect(collector_neighbour(ROLE_LISTENER));
	ops->ready();
}

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

struct supervised *
collector_new(struct prng *random, const struct collector_ops *callbacks)
{
	choices = random;
	ops = callbacks;
	process_define(PROCESS_COLLECTOR, &process_ops);
	collector = supervised_new(PROCESS_COLLECTOR, ROLE_COLLECTOR,
	    &supervisor_ops);
	supervised_conf(collector, CONF_GPU_PCI_ADDRS, SITE_DEVICES);
	reload_choose(collector, choices);
	return collector;
}

void
collector_process_start(void)
{
	supervised_start(collector);
}

void
collector_crash(void)
{
	process_kill(PROCESS_COLLECTOR, "killed");
}

void
collector_away(int is_away)
{
	away = is_away;
	if (away)
		process_kill(PROCESS_COLLECTOR, "stopped");
	trace("the collector is %s", away ? "stopped" : "started again");
}

int
collector_lacks_right(void)
{
	unsigned i;

	for (i = 0; i < summary.n; i++)
		if (summary.problems[i].kind == PROBLEM_RIGHT)
			return 1;
	return 0;
}

static void
listener_back(void *arg)
{
	(void)arg;
	if (supervised_serves(collector))
		hooks_connect(collector_neighbour(ROLE_LISTENER));
}

void
collector_listener_crash(void)
{
	hooks_crash();
	world_after(PROCESS_NONE, collector_restart_ms(), listener_back, NULL);
}

void
collector_reload(void)
{
	reload_choose(collector, choices);
	supervised_reload(collector);
}

void
collector_verdict(void)
{
	invariant(summary.running == 0, "the collector has %llu open runs",
	    (unsigned long long)summary.running);
	invariant(summary.n == 0, "the collector reports: %s",
	    summary.problems[0].text);
	invariant(hooks_waiting() == 0, "%u hooks are not acknowledged",
	    hooks_waiting());
}
