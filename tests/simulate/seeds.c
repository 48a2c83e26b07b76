/* SPDX-License-Identifier: MIT */
/*
 * PROGRAM [--seeds N] [--seed S] [--hours H] [--trace] [--twice] [--no-faults]
 *     [--coverage] [--without KIND]... [--jobs N] [--as-it-is]
 * PROGRAM --kept FILE
 *
 *	--seeds N	seeds S to S + N - 1; default 1
 *	--seed S	the first seed; default 1
 *	--hours H	simulated hours with jobs and faults; then some without
 *	--trace		print each event
 *	--twice		run each seed twice and compare the traces
 *	--no-faults	no crash, no loss, no outage
 *	--coverage	print how often the rows of the tables were taken
 *	--without KIND	without this kind of fault
 *	--jobs N	only the first N submissions
 *	--as-it-is	do not shorten a seed that fails
 *	--kept FILE	the seeds of the file, twice each: a line has the seed,
 *			the hours, and the reason.  "without KIND[,KIND]..."
 *			after the hours: without these kinds of faults
 *
 * Exit status 1: a seed failed.  Its last events and the way to repeat it are
 * printed, after the seed was shortened.  2: the options or the file are not
 * valid.
 */
#include "config.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulate/reduce.h"
#include "tests/simulate/rest.h"
#include "tests/simulate/seeds.h"
#include "tests/simulate/world.h"

#define CPU_MAX 3600	   /* seconds of one seed */
#define KEEP	(64 << 20) /* bytes that free() does not give back */
#define LARGE	(1 << 20)  /* bytes that free() does give back */

static struct {
	uint64_t seed, seeds;
	int64_t hours;
	int trace, twice, no_faults, coverage, as_it_is;
	const char *kept;
	struct reduction reduction;
} options = { .seed = 1, .seeds = 1, .reduction = { .jobs = UINT_MAX } };

static const struct simulation *sim;

/* --- one seed --- */

static void
child_run(uint64_t seed, int quiet, int to)
{
	const struct rlimit cpu = { CPU_MAX, CPU_MAX };
	struct figures f = { 0 };
	int null;

	/* A call that does not return is a failure, too. */
	if (setrlimit(RLIMIT_CPU, &cpu) == -1)
		_exit(2);
	if (quiet &&
	    ((null = open("/dev/null", O_WRONLY)) == -1 ||
		dup2(null, STDOUT_FILENO) == -1))
		_exit(2);
	if (quiet && !options.twice)
		trace_mode_set(TRACE_NONE);
	/* Buffers that come and go are not cleared by the kernel again. */
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, KEEP);
	sim->run(seed, options.hours, options.no_faults, &f);
	fflush(stdout);
	_exit(write(to, &f, sizeof(f)) == sizeof(f) ? 0 : 2);
}

/*
 * Runs the seed in a child.  Returns 0, or a number that is the same for
 * failures of one kind.
 */
static uint64_t
seed_fork(uint64_t seed, int quiet, struct figures *f)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	fflush(stdout);
	reduce_forget();
	invariant_forget();
	if (pipe(fds) == -1 || (pid = fork()) == -1) {
		perror(sim->name);
		exit(2);
	}
	if (pid == 0) {
		close(fds[0]);
		child_run(seed, quiet, fds[1]);
	}
	close(fds[1]);
	n = read(fds[0], f, sizeof(*f));
	close(fds[0]);
	waitpid(pid, &status, 0);
	if (n == sizeof(*f) && status == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == INVARIANT_STATUS)
		return invariant_failed();
	if (!quiet)
		printf("FAILED seed %llu: the program ended with status %d\n",
		    (unsigned long long)seed, status);
	return 1 + (uint64_t)status;
}

/* --- the reduction of a seed that fails --- */

static int
still_fails(uint64_t seed, const struct reduction *r, int64_t hours,
    uint64_t how)
{
	int64_t was = options.hours;
	struct figures f;
	uint64_t now;

	reduce_use(r);
	options.hours = hours;
	now = seed_fork(seed, 1, &f);
	options.hours = was;
	return now == how;
}

static void
kinds_reduce(uint64_t seed, struct reduction *r, uint64_t how)
{
	char kinds[REDUCE_KINDS][REDUCE_NAME];
	unsigned i, n;

	for (n = 0; reduce_kind(n) != NULL; n++)
		memcpy(kinds[n], reduce_kind(n), REDUCE_NAME);
	for (i = 0; i < n && r->n < REDUCE_KINDS; i++) {
		memcpy(r->without[r->n++], kinds[i], REDUCE_NAME);
		if (!still_fails(seed, r, options.hours, how))
			r->n--;
	}
}

static void
hours_reduce(uint64_t seed, const struct reduction *r, uint64_t how)
{
	while (
	    options.hours > 1 && still_fails(seed, r, options.hours / 2, how))
		options.hours /= 2;
	while (
	    options.hours > 1 && still_fails(seed, r, options.hours - 1, how))
		options.hours--;
}

/* The fewest submissions; more of them need not fail as well. */
static void
jobs_reduce(uint64_t seed, struct reduction *r, uint64_t how)
{
	struct reduction less = *r;
	unsigned low = 0, high;

	if (!still_fails(seed, r, options.hours, how))
		return;
	high = reduce_jobs();
	while (low + 1 < high) {
		less.jobs = low + (high - low) / 2;
		if (still_fails(seed, &less, options.hours, how))
			high = less.jobs;
		else
			low = less.jobs;
	}
	less.jobs = high;
	if (still_fails(seed, &less, options.hours, how))
		*r = less;
}

static void
repeat_print(uint64_t seed, const struct reduction *r)
{
	unsigned i;

	printf("run again: %s --seed %llu --hours %lld", sim->name,
	    (unsigned long long)seed, (long long)options.hours);
	if (options.no_faults)
		printf(" --no-faults");
	for (i = 0; i < r->n; i++)
		printf(" --without %s", r->without[i]);
	if (r->jobs != UINT_MAX)
		printf(" --jobs %u", r->jobs);
	printf(" --trace\n");
}

/* The kinds are those of the run that failed, which was the last one. */
static void
seed_shorten(uint64_t seed, uint64_t how)
{
	struct reduction r = options.reduction;
	int64_t hours = options.hours;
	struct figures f;

	kinds_reduce(seed, &r, how);
	hours_reduce(seed, &r, how);
	jobs_reduce(seed, &r, how);
	reduce_use(&r);
	seed_fork(seed, 0, &f);
	printf("seed %llu of %lld hours is shortened\n",
	    (unsigned long long)seed, (long long)hours);
	repeat_print(seed, &r);
	options.hours = hours;
	reduce_use(&options.reduction);
}

/* 0, or -1: it failed, and the failure is printed. */
static int
seed_try(uint64_t seed, struct figures *f)
{
	int shorten = !options.trace && !options.as_it_is;
	uint64_t how = seed_fork(seed, shorten, f);

	if (how == 0)
		return 0;
	if (shorten)
		seed_shorten(seed, how);
	else
		repeat_print(seed, &options.reduction);
	return -1;
}

/* --- all seeds --- */

static double
minutes_of_children(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return ((double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
		   (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6) /
	    60;
}

static void
sum_print(const struct figures *sum, unsigned long long failed, double minutes)
{
	int64_t hours = sum->ms / HOUR_MS;
	unsigned i;

	printf("%llu seeds, %lld simulated hours",
	    (unsigned long long)options.seeds, (long long)hours);
	for (i = 0; i < FIGURES && sim->words[i] != NULL; i++)
		printf(", %llu %s", (unsigned long long)sum->n[i],
		    sim->words[i]);
	printf("; %.0f hours per minute and core\n", (double)hours / minutes);
	printf("%llu passed, %llu failed\n",
	    (unsigned long long)options.seeds - failed, failed);
}

static int
seeds_run(void)
{
	struct figures sum = { 0 }, f, again;
	double begin = minutes_of_children();
	unsigned long long failed = 0;
	uint64_t i;
	unsigned k;

	for (i = 0; i < options.seeds; i++) {
		if (seed_try(options.seed + i, &f) == -1) {
			failed++;
			continue;
		}
		sum.ms += f.ms;
		for (k = 0; k < FIGURES; k++)
			sum.n[k] += f.n[k];
		if (options.twice &&
		    (seed_fork(options.seed + i, 1, &again) != 0 ||
			again.hash != f.hash)) {
			printf("FAILED seed %llu: the second run differs\n",
			    (unsigned long long)(options.seed + i));
			failed++;
		}
	}
	if (options.coverage && sim->coverage != NULL)
		sim->coverage();
	sum_print(&sum, failed, minutes_of_children() - begin);
	return failed > 0;
}

static int
without_add(const char *kind)
{
	struct reduction *r = &options.reduction;

	if (r->n == REDUCE_KINDS || strlen(kind) >= REDUCE_NAME)
		return -1;
	snprintf(r->without[r->n++], REDUCE_NAME, "%s", kind);
	return 0;
}

/* Takes "without KIND[,KIND]..." of a line.  0 or -1. */
static int
kept_without(const char *text)
{
	static const char word[] = " without ";
	const char *end;
	char *kind, *next;

	options.reduction.n = 0;
	if (strncmp(text, word, sizeof(word) - 1) != 0)
		return 0;
	text += sizeof(word) - 1;
	end = strchr(text, ' ');
	if (end == NULL)
		return -1;
	for (kind = strndupa(text, (size_t)(end - text));
	     (kind = strtok_r(kind, ",", &next)) != NULL; kind = NULL)
		if (without_add(kind) == -1)
			return -1;
	reduce_use(&options.reduction);
	return 0;
}

static int
kept_run(void)
{
	FILE *f = fopen(options.kept, "r");
	char line[512], *end;
	int rc = -1;

	if (f == NULL) {
		perror(options.kept);
		return 2;
	}
	options.twice = 1;
	rest_whole();
	while (fgets(line, sizeof(line), f) != NULL) {
		if (line[0] == '#')
			continue;
		options.seed = strtoull(line, &end, 10);
		options.hours = strtoll(end, &end, 10);
		if (options.hours <= 0 || kept_without(end) == -1) {
			printf("FAILED %s: a line that is not valid: %s",
			    options.kept, line);
			rc = 2;
			break;
		}
		printf("note seed %llu:%s", (unsigned long long)options.seed,
		    end);
		rc = seeds_run() | (rc == 1);
	}
	fclose(f);
	/* A file without a seed tests nothing. */
	return rc == -1 ? 2 : rc;
}

/* --- the options --- */

static const struct option names[] = {
	{ "seeds", required_argument, NULL, 'n' },
	{ "seed", required_argument, NULL, 's' },
	{ "hours", required_argument, NULL, 'h' },
	{ "trace", no_argument, NULL, 't' },
	{ "twice", no_argument, NULL, '2' },
	{ "no-faults", no_argument, NULL, 'f' },
	{ "coverage", no_argument, NULL, 'c' },
	{ "without", required_argument, NULL, 'w' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "as-it-is", no_argument, NULL, 'a' },
	{ "kept", required_argument, NULL, 'k' },
	{ NULL, 0, NULL, 0 },
};

static int
option_take(int opt, const char *arg)
{
	switch (opt) {
	case 'n':
		options.seeds = strtoull(arg, NULL, 10);
		return options.seeds > 0 ? 0 : -1;
	case 's':
		options.seed = strtoull(arg, NULL, 10);
		return 0;
	case 'h':
		options.hours = strtoll(arg, NULL, 10);
		return options.hours > 0 ? 0 : -1;
	case 't':
		return !(options.trace = 1);
	case '2':
		return !(options.twice = 1);
	case 'f':
		return !(options.no_faults = 1);
	case 'c':
		return !(options.coverage = 1);
	case 'a':
		return !(options.as_it_is = 1);
	case 'w':
		return without_add(arg);
	case 'j':
		options.reduction.jobs = (unsigned)strtoul(arg, NULL, 10);
		return 0;
	case 'k':
		options.kept = arg;
		return 0;
	default:
		return -1;
	}
}

int
seeds_main(const struct simulation *s, int argc, char **argv)
{
	int opt;

	sim = s;
	options.hours = s->hours;
	while ((opt = getopt_long(argc, argv, "", names, NULL)) != -1)
		if (option_take(opt, optarg) != 0)
			return 2;
	if (optind != argc)
		return 2;
	if (options.trace)
		trace_mode_set(TRACE_PRINT);
	reduce_prepare();
	reduce_use(&options.reduction);
	invariant_prepare();
	return options.kept != NULL ? kept_run() : seeds_run();
}
