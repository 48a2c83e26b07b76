/* SPDX-License-Identifier: MIT */
/*
 * What starting a program costs, beside another in the same run: CPU time,
 * wall time and memory of each, as the kernel accounts for them (wait4).
 *
 *	spawn_cost RUNS PROGRAM [ARG...] -- BASELINE [ARG...]
 *
 * The two take turns, so that a machine that slows down slows both.
 */
#include "config.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 100000

extern char **environ;

struct cost {
	double *cpu; /* microseconds, one a run */
	double *wall;
	long rss; /* KiB, largest */
	int failed;
};

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double
us(const struct timeval *t)
{
	return (double)t->tv_sec * 1e6 + (double)t->tv_usec;
}

static void
run_once(char **argv, struct cost *cost, int i)
{
	posix_spawn_file_actions_t quiet;
	struct rusage used;
	double begin = now_us();
	int status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
	memset(&used, 0, sizeof(used));
	if (posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ) == 0)
		wait4(pid, &status, 0, &used);
	posix_spawn_file_actions_destroy(&quiet);
	cost->wall[i] = now_us() - begin;
	cost->cpu[i] = us(&used.ru_utime) + us(&used.ru_stime);
	if (used.ru_maxrss > cost->rss)
		cost->rss = used.ru_maxrss;
	cost->failed += status != 0;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double
median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return v[n / 2];
}

static void
cost_init(struct cost *cost, int runs)
{
	memset(cost, 0, sizeof(*cost));
	cost->cpu = calloc((size_t)runs, sizeof(double));
	cost->wall = calloc((size_t)runs, sizeof(double));
	if (cost->cpu == NULL || cost->wall == NULL)
		exit(1);
}

int
main(int argc, char **argv)
{
	struct cost a, b;
	double cpu_a, cpu_b, wall_a, wall_b;
	int i, cut, runs = argc > 1 ? atoi(argv[1]) : 0;

	for (cut = 2; cut < argc && strcmp(argv[cut], "--") != 0; cut++)
		continue;
	if (runs < 1 || runs > RUNS_MAX || cut < 3 || cut + 1 >= argc) {
		fprintf(stderr,
		    "usage: spawn_cost RUNS PROGRAM [ARG...] -- BASELINE [ARG...]\n");
		return 2;
	}
	argv[cut] = NULL;
	cost_init(&a, runs);
	cost_init(&b, runs);
	for (i = 0; i < runs; i++) {
		run_once(argv + 2, &a, i);
		run_once(argv + cut + 1, &b, i);
	}
	cpu_a = median(a.cpu, runs);
	cpu_b = median(b.cpu, runs);
	wall_a = median(a.wall, runs);
	wall_b = median(b.wall, runs);
	printf("%-28s cpu %7.0f us  wall %7.0f us  rss %6ld KiB  failed %d\n",
	    argv[2], cpu_a, wall_a, a.rss, a.failed);
	printf("%-28s cpu %7.0f us  wall %7.0f us  rss %6ld KiB  failed %d\n",
	    argv[cut + 1], cpu_b, wall_b, b.rss, b.failed);
	printf("%-28s cpu %7.2f x   wall %7.2f x   rss %6.2f x\n", "ratio",
	    cpu_b > 0 ? cpu_a / cpu_b : 0, wall_a / wall_b,
	    b.rss > 0 ? (double)a.rss / (double)b.rss : 0);
	free(a.cpu);
	free(a.wall);
	free(b.cpu);
	free(b.wall);
	return 0;
}
