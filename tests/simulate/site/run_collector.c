/* SPDX-License-Identifier: MIT */
/*
 * The product's collector, with a simulated Slurm, listener and submitter.
 *
 * run-collector [--seeds N] [--seed S] [--hours H] [--trace] [--twice]
 * run-collector --kept FILE
 *
 *	--seeds N	seeds S to S + N - 1; default 1
 *	--seed S	the first seed; default 1
 *	--hours H	simulated hours with jobs and faults; default 24.  The
 *			day after them has neither.
 *	--trace		print each event
 *	--twice		run each seed twice and compare the traces
 *	--kept FILE	the seeds that have found a fault: a line has the seed,
 *			the hours and the fault
 *
 * Exit status 1: a seed failed.  Its last events and the way to repeat it are
 * printed.  2: the options or the file are not valid.
 */
#include "config.h"

#include <sys/wait.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/model/summary.h"
#include "tests/simulate/site/faults.h"
#include "tests/simulate/site/hooks.h"
#include "tests/simulate/site/runner.h"
#include "tests/simulate/site/slurm.h"
#include "tests/simulate/site/store.h"
#include "tests/simulate/supervisor.h"

#define EPOCH	     1795262400 /* 2026-11-21T12:00:00Z */
#define QUIET_HOURS  26		/* the last day is read every ccPollInterval */
#define RESTART_MS   800	/* at most, of a worker */
#define LOST_HOOKS   50000	/* of a million */
#define HOSTILE_RATE 60000	/* of a million names, in some seeds */

/* Figures of a seed, from its process to the parent. */
struct result {
	uint64_t hash;
	uint64_t runs;
	uint64_t steps;
	uint64_t faults;
};

static struct supervised *collector;
static struct prng choices;
static int64_t hours = 24;

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
	store_disconnect();
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
reload_choose(void)
{
	static const char *const polls[] = { "10", "30", "60", "120" };
	static const char *const lags[] = { "0", "60", "900" };

	supervised_conf(collector, CONF_POLL_INTERVAL,
	    polls[prng_below(&choices, sizeof(polls) / sizeof(polls[0]))]);
	supervised_conf(collector, CONF_ACCOUNTING_LAG,
	    lags[prng_below(&choices, sizeof(lags) / sizeof(lags[0]))]);
}

static void
reload(void)
{
	reload_choose();
	supervised_reload(collector);
}

static const struct fault_ops fault_ops = {
	.collector_crash = collector_crash,
	.store_crash = store_crashes,
	.listener_crash = listener_crashes,
	.reload = reload,
};

/* --- one seed --- */

static void
slurm_choose(void)
{
	static const unsigned versions[] = { 2011, 2205, 2411, 2605 };
	struct slurm_options o = {
		.version = versions[prng_below(&choices, 4)],
		.jobs_hour = (unsigned)prng_between(&choices, 10, 200),
		.hostile = prng_chance(&choices, 300000) ? HOSTILE_RATE : 0,
		.min_job_age = prng_chance(&choices, 300000) ? 60 : 300,
		.id_first = 1,
		.id_last = 60000000,
		.private_jobs = !prng_chance(&choices, 250000),
		.is_operator = 1,
	};

	o.limited = o.version >= 2411 && prng_chance(&choices, 250000);
	/* Above 200 live jobs the collector asks otherwise. */
	if (prng_chance(&choices, 10000))
		o.jobs_hour *= 4;

	/* Ids begin again within the run, but not before jobs are purged. */
	if (prng_chance(&choices, 200000)) {
		o.id_first = 1000;
		o.id_last = o.id_first + 200 + (uint32_t)o.jobs_hour * 8;
	}
	slurm_begin(&o, hooks_called);
}

static void
seed_begin(uint64_t seed)
{
	static const char devices[] = "{\"node[0-9]\":[\"gpu0\",\"gpu1\","
				      "\"gpu2\",\"gpu3\"]}";

	world_begin(seed, EPOCH);
	prng_init(&choices, seed, "choices");
	process_define(PROCESS_COLLECTOR, &collector_ops);
	collector = supervised_new(PROCESS_COLLECTOR, ROLE_COLLECTOR,
	    &supervisor_ops);
	supervised_conf(collector, CONF_GPU_PCI_ADDRS, devices);
	reload_choose();
	/* The last day is not read again: nothing hides a gap. */
	if (prng_chance(&choices, 500000))
		supervised_conf(collector, CONF_CC_POLL_INTERVAL, "604800");
	runner_begin();
	hooks_begin(LOST_HOOKS);
	store_begin();
	slurm_choose();
	site_faults_begin(&fault_ops);
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
seed_run(uint64_t seed, struct result *res)
{
	seed_begin(seed);
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
	res->hash = trace_hash();
	res->runs = store_runs();
	res->steps = world_steps();
	res->faults = site_faults_count();
}

/* --- all seeds --- */

/* One seed per process.  0, or -1: it failed, and has printed why. */
static int
seed_fork(uint64_t seed, struct result *res)
{
	int fds[2], status;
	pid_t pid;

	fflush(stdout);
	if (pipe(fds) == -1 || (pid = fork()) == -1) {
		perror("run-collector");
		exit(2);
	}
	if (pid == 0) {
		seed_run(seed, res);
		if (write(fds[1], res, sizeof(*res)) != sizeof(*res))
			_exit(2);
		fflush(stdout);
		_exit(0);
	}
	close(fds[1]);
	if (read(fds[0], res, sizeof(*res)) != sizeof(*res))
		memset(res, 0, sizeof(*res));
	close(fds[0]);
	if (waitpid(pid, &status, 0) == pid && status == 0)
		return 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != INVARIANT_STATUS)
		printf("FAILED seed %llu: the program ended with status %d\n",
		    (unsigned long long)seed, status);
	printf("run again: run-collector --seed %llu --hours %lld --trace\n",
	    (unsigned long long)seed, (long long)hours);
	return -1;
}

static int
seeds_run(uint64_t first, uint64_t n, int twice)
{
	struct result res, again, sum = { 0, 0, 0, 0 };
	time_t began = time(NULL), took;
	unsigned failed = 0;
	uint64_t seed;

	for (seed = first; seed < first + n; seed++) {
		if (seed_fork(seed, &res) == -1) {
			failed++;
			continue;
		}
		sum.runs += res.runs;
		sum.steps += res.steps;
		sum.faults += res.faults;
		if (twice &&
		    (seed_fork(seed, &again) == -1 || again.hash != res.hash)) {
			printf("FAILED seed %llu: its second trace differs\n",
			    (unsigned long long)seed);
			failed++;
		}
	}
	took = time(NULL) - began;
	printf("note %llu seeds, %llu h, %llu runs, %llu faults, %llu events "
	       "in %lld s\n",
	    (unsigned long long)n,
	    (unsigned long long)n *
		(unsigned long long)(hours + QUIET_HOURS + 1),
	    (unsigned long long)sum.runs, (unsigned long long)sum.faults,
	    (unsigned long long)sum.steps, (long long)took);
	printf("%llu passed, %u failed\n", (unsigned long long)n - failed,
	    failed);
	return failed > 0 ? 1 : 0;
}

/* Runs each seed of the file twice. */
static int
kept_run(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[512];
	uint64_t seed;
	char *end;
	int rc = -1;

	if (f == NULL) {
		perror(path);
		return 2;
	}
	while (fgets(line, sizeof(line), f) != NULL) {
		if (line[0] == '#')
			continue;
		seed = strtoull(line, &end, 10);
		hours = strtoll(end, &end, 10);
		if (hours <= 0) {
			printf("FAILED %s: a line without hours: %s", path,
			    line);
			rc = 2;
			break;
		}
		printf("note seed %llu:%s", (unsigned long long)seed, end);
		rc = seeds_run(seed, 1, 1) | (rc == 1);
	}
	fclose(f);
	/* A file without a seed tests nothing. */
	return rc == -1 ? 2 : rc;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seeds", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' },
		{ "hours", required_argument, NULL, 'h' },
		{ "trace", no_argument, NULL, 't' },
		{ "twice", no_argument, NULL, '2' },
		{ "kept", required_argument, NULL, 'k' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t first = 1, n = 1;
	int opt, twice = 0;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (opt) {
		case 'n':
			n = strtoull(optarg, NULL, 10);
			break;
		case 's':
			first = strtoull(optarg, NULL, 10);
			break;
		case 'h':
			hours = strtoll(optarg, NULL, 10);
			break;
		case 't':
			trace_mode_set(TRACE_PRINT);
			break;
		case '2':
			twice = 1;
			break;
		case 'k':
			return kept_run(optarg);
		default:
			return 2;
		}
	if (optind != argc || n == 0 || hours <= 0)
		return 2;
	return seeds_run(first, n, twice);
}
