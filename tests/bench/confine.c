/* SPDX-License-Identifier: MIT */
/*
 * What it costs to confine a command, beside a plain posix_spawn() of the same
 * command in the same run: CPU time of both processes, from the preparation to
 * the end of the command, and wall time.
 *
 *	confine RUNS COMMAND [ARG...]
 *
 * COMMAND is an absolute path.  The kinds of start take turns, so that a
 * machine that slows down slows all of them.  Medians.
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

#include "common/log.h"
#include "runner/confine/confine.h"

#define RUNS_MAX 100000

extern char **environ;

static struct {
	const char *name;
	enum sandbox_mode mode;
	int landlock_max; /* as in struct confine_conf */
	struct confine *confine;
	int is_fork;	    /* started by fork(), else by vfork() */
	double *cpu, *wall; /* microseconds, one a run */
	unsigned rules;
} kinds[] = {
	{ .name = "posix_spawn", .mode = SANDBOX_OFF },
	{ .name = "vfork, not confined", .mode = SANDBOX_OFF },
	{ .name = "seccomp", .mode = SANDBOX_ENFORCE, .landlock_max = -1 },
	{ .name = "landlock and seccomp", .mode = SANDBOX_ENFORCE },
	{ .name = "   with fork", .mode = SANDBOX_ENFORCE, .is_fork = 1 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static double
us(const struct timeval *t)
{
	return (double)t->tv_sec * 1e6 + (double)t->tv_usec;
}

static double
cpu_of(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return us(&used.ru_utime) + us(&used.ru_stime);
}

/* Of this process the clock is exact, of its children the kernel's count. */
static double
cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3 +
	    cpu_of(RUSAGE_CHILDREN);
}

static double
wall_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static pid_t
start_plain(char **argv)
{
	posix_spawn_file_actions_t quiet;
	pid_t pid = -1;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, argv[0], &quiet, NULL, argv, environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&quiet);
	return pid;
}

static void __attribute__((noreturn))
child_run(const struct confine_rules *rules, char **argv)
{
	int fd = open("/dev/null", O_WRONLY);

	dup2(fd, 1);
	dup2(fd, 2);
	if (confine_apply(rules) == -1)
		_exit(126);
	execve(argv[0], argv, environ);
	_exit(127);
}

static pid_t
start_confined(int is_fork, const struct confine_rules *rules, char **argv)
{
	pid_t pid = is_fork ? fork() : vfork();

	if (pid == 0)
		child_run(rules, argv);
	return pid;
}

static void
run_once(size_t kind, char **argv, int i)
{
	double cpu = cpu_now(), wall = wall_now();
	struct confine_rules rules = { .ruleset = -1 };
	int status = -1;
	pid_t pid;

	if (kind == 0) {
		pid = start_plain(argv);
	} else {
		if (confine_prepare(kinds[kind].confine, argv[0], &rules) == -1)
			fatal("confine_prepare");
		pid = start_confined(kinds[kind].is_fork, &rules, argv);
		confine_release(&rules);
	}
	if (pid == -1 || waitpid(pid, &status, 0) != pid || status != 0)
		fatalx("%s: status 0x%x", kinds[kind].name, (unsigned)status);
	kinds[kind].cpu[i] = cpu_now() - cpu;
	kinds[kind].wall[i] = wall_now() - wall;
	kinds[kind].rules = rules.n;
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
kinds_init(int runs)
{
	size_t kind;

	for (kind = 0; kind < KINDS; kind++) {
		struct confine_conf conf = { .mode = kinds[kind].mode,
			.landlock_max = kinds[kind].landlock_max };

		kinds[kind].cpu = calloc((size_t)runs, sizeof(double));
		kinds[kind].wall = calloc((size_t)runs, sizeof(double));
		kinds[kind].confine = confine_new(&conf);
		if (kinds[kind].cpu == NULL || kinds[kind].wall == NULL ||
		    kinds[kind].confine == NULL)
			fatal("confine_new");
	}
}

static void
kinds_print(int runs)
{
	double cpu = 0, base = 0;
	size_t kind;

	for (kind = 0; kind < KINDS; kind++) {
		cpu = median(kinds[kind].cpu, runs);
		if (kind == 0)
			base = cpu;
		printf("%-22s cpu %6.0f us  more %5.0f us  wall %6.0f us  "
		       "rules %u\n",
		    kinds[kind].name, cpu, cpu - base,
		    median(kinds[kind].wall, runs), kinds[kind].rules);
		free(kinds[kind].cpu);
		free(kinds[kind].wall);
		confine_free(kinds[kind].confine);
	}
}

int
main(int argc, char **argv)
{
	int i, runs = argc > 2 ? atoi(argv[1]) : 0;
	size_t kind;

	if (runs < 1 || runs > RUNS_MAX || argv[2][0] != '/') {
		fprintf(stderr, "usage: confine RUNS COMMAND [ARG...]\n");
		return 2;
	}
	log_init("confine", LOG_LEVEL_WARN);
	kinds_init(runs);
	for (i = 0; i < runs; i++)
		for (kind = 0; kind < KINDS; kind++)
			run_once(kind, argv + 2, i);
	kinds_print(runs);
	return 0;
}
