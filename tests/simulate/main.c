/* SPDX-License-Identifier: MIT */
/*
 * simulate [--seeds N] [--seed S] [--hours H] [--trace] [--twice]
 *     [--no-faults] [--coverage]
 *
 * Simulates N seeds from S on, each in a process of its own, so that nothing of
 * one seed is left in the next.  Each seed runs for H hours with its faults and
 * a day and a half without; then cc-backend must have the truth.  Prints the
 * trace of a seed that fails, and the figures.  Exit status 1: a seed failed;
 * 2: the options are not valid.
 */
#include "config.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/simulate/backend.h"
#include "tests/simulate/check.h"
#include "tests/simulate/collector_side.h"
#include "tests/simulate/coverage.h"
#include "tests/simulate/disk.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/submitter.h"
#include "tests/simulate/truth.h"
#include "tests/simulate/world.h"

#define EPOCH	 1790000000
#define END_RUN	 (13 * HOUR_MS) /* until the longest run has ended */
#define END_REST (24 * HOUR_MS)

static struct {
	uint64_t seed;
	uint64_t seeds;
	int64_t hours;
	int trace;
	int twice;
	int no_faults;
	int coverage;
} options = { .seed = 1, .seeds = 1, .hours = 12 };

/* Figures of a seed, from its process to the parent. */
struct figures {
	uint64_t hash;
	uint64_t runs, absent, steps, requests, starts, restored;
	int64_t ms; /* simulated */
};

static void
on_step(void *arg)
{
	struct prng *random = arg;

	if (faults_ended())
		return;
	world_wall_step(prng_between(random, -2 * HOUR_MS, 2 * HOUR_MS));
	world_after(PROCESS_NONE, fault_wait(faults()->step_every), on_step,
	    random);
}

static void
on_disk_good(void *arg)
{
	(void)arg;
	disk_capacity(SIZE_MAX / 4);
	disk_broken(0);
	trace("the disk is good again");
}

static void
on_disk_full(void *arg)
{
	struct prng *random = arg;

	if (faults_ended())
		return;
	disk_capacity(disk_used() + prng_below(random, 100000));
	trace("the disk is full");
	world_after(PROCESS_NONE, prng_between(random, 1000, 2 * HOUR_MS),
	    on_disk_good, NULL);
	world_after(PROCESS_NONE, fault_wait(faults()->full_every),
	    on_disk_full, random);
}

static void
on_disk_broken(void *arg)
{
	struct prng *random = arg;

	if (faults_ended())
		return;
	disk_broken(1);
	trace("the disk fails");
	world_after(PROCESS_NONE, prng_between(random, 1000, HOUR_MS / 4),
	    on_disk_good, NULL);
	world_after(PROCESS_NONE, fault_wait(faults()->broken_every),
	    on_disk_broken, random);
}

static void
host_begin(void)
{
	static struct prng random;
	const struct faults *f = faults();

	prng_init(&random, world_seed(), "host");
	if (f->step_every > 0)
		world_after(PROCESS_NONE, fault_wait(f->step_every), on_step,
		    &random);
	if (f->full_every > 0)
		world_after(PROCESS_NONE, fault_wait(f->full_every),
		    on_disk_full, &random);
	if (f->broken_every > 0)
		world_after(PROCESS_NONE, fault_wait(f->broken_every),
		    on_disk_broken, &random);
}

static void
seed_run(uint64_t seed, struct figures *figures)
{
	struct prng random;
	enum cc_version version;
	unsigned i;

	world_begin(seed, EPOCH);
	prng_init(&random, seed, "site");
	faults_begin(options.no_faults);
	disk_begin();
	version = prng_chance(&random, 700000) ?
	    CC_1_5_4 :
	    (enum cc_version)prng_below(&random, CC_1_5_4);
	backend_begin(version, prng_between(&random, 10, 180) * SECOND_MS);
	host_begin();
	collector_side_begin(submitter_begin(collector_side_link, "120",
	    prng_chance(&random, 250000)));
	truth_begin((unsigned)prng_between(&random, 4, 60));
	world_run(options.hours * HOUR_MS, NULL);
	truth_end();
	faults_end();
	on_disk_good(NULL);
	world_run(END_RUN + END_REST, NULL);
	check_end();
	for (i = 0; truth_run(i) != NULL; i++)
		continue;
	*figures = (struct figures) { .hash = trace_hash(),
		.runs = i,
		.absent = check_absent(),
		.steps = world_steps(),
		.requests = backend_numbers()->requests,
		.restored = backend_numbers()->restored,
		.starts = submitter_starts(),
		.ms = world_ms() };
}

/* Runs the seed in a child.  0, or -1 when it failed. */
static int
seed_fork(uint64_t seed, struct figures *figures)
{
	int fds[2], status;
	pid_t pid;
	ssize_t n;

	fflush(stdout);
	if (pipe(fds) == -1 || (pid = fork()) == -1) {
		perror("simulate");
		exit(2);
	}
	if (pid == 0) {
		close(fds[0]);
		seed_run(seed, figures);
		fflush(stdout);
		n = write(fds[1], figures, sizeof(*figures));
		_exit(n == sizeof(*figures) ? 0 : 2);
	}
	close(fds[1]);
	n = read(fds[0], figures, sizeof(*figures));
	close(fds[0]);
	waitpid(pid, &status, 0);
	if (n == sizeof(*figures) && status == 0)
		return 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != INVARIANT_STATUS)
		printf("FAILED seed %llu: the program ended with status %d\n",
		    (unsigned long long)seed, status);
	return -1;
}

static void
options_read(int argc, char **argv)
{
	static const struct option names[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seeds", required_argument, NULL, 'n' },
		{ "hours", required_argument, NULL, 'h' },
		{ "trace", no_argument, NULL, 't' },
		{ "twice", no_argument, NULL, '2' },
		{ "no-faults", no_argument, NULL, 'f' },
		{ "coverage", no_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "", names, NULL)) != -1)
		switch (opt) {
		case 's':
			options.seed = strtoull(optarg, NULL, 10);
			break;
		case 'n':
			options.seeds = strtoull(optarg, NULL, 10);
			break;
		case 'h':
			options.hours = strtoll(optarg, NULL, 10);
			break;
		case 't':
			options.trace = 1;
			break;
		case '2':
			options.twice = 1;
			break;
		case 'f':
			options.no_faults = 1;
			break;
		case 'c':
			options.coverage = 1;
			break;
		default:
			exit(2);
		}
}

/* Of processor time. */
static double
seconds(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	    (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static void
figures_add(struct figures *sum, const struct figures *f)
{
	sum->runs += f->runs;
	sum->absent += f->absent;
	sum->steps += f->steps;
	sum->requests += f->requests;
	sum->starts += f->starts;
	sum->restored += f->restored;
	sum->ms += f->ms;
}

int
main(int argc, char **argv)
{
	struct figures sum = { 0 }, f, again;
	unsigned long long failed = 0;
	double begin = seconds(), minutes;
	uint64_t i;

	options_read(argc, argv);
	if (optind != argc || options.seeds == 0 || options.hours <= 0)
		return 2;
	if (options.trace)
		trace_mode_set(TRACE_PRINT);
	coverage_begin();
	for (i = 0; i < options.seeds; i++) {
		if (seed_fork(options.seed + i, &f) == -1) {
			failed++;
			continue;
		}
		figures_add(&sum, &f);
		if (options.twice &&
		    (seed_fork(options.seed + i, &again) == -1 ||
			again.hash != f.hash)) {
			printf("FAILED seed %llu: the second run differs\n",
			    (unsigned long long)(options.seed + i));
			failed++;
		}
	}
	if (options.coverage)
		coverage_print();
	minutes = (seconds() - begin) / 60;
	printf("%llu seeds, %llu failed; %llu simulated hours, %llu runs "
	       "(%llu refused by cc-backend), %llu requests, %llu starts of "
	       "the submitter, %llu databases restored; %.0f hours and %.0f "
	       "runs per minute and core\n",
	    (unsigned long long)options.seeds, failed,
	    (unsigned long long)(sum.ms / HOUR_MS),
	    (unsigned long long)sum.runs, (unsigned long long)sum.absent,
	    (unsigned long long)sum.requests, (unsigned long long)sum.starts,
	    (unsigned long long)sum.restored,
	    (double)sum.ms / (double)HOUR_MS / minutes,
	    (double)sum.runs / minutes);
	return failed > 0;
}
