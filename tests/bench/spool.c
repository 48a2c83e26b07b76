/* SPDX-License-Identifier: MIT */
/*
 * spool [ROWS [FOLDER]]: how many records a second become durable, singly and
 * in groups; and with ROWS (1,000,000) waiting, how long opening takes, what
 * memory it needs beside a spool with none, and what a page of due rows costs,
 * each in a process of its own.
 *
 * To reach: 2,000 singly, 20,000 in groups; ready in 100 ms.
 */
#include "config.h"

#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "submitter/spool/spool.h"

#define SINGLES 2000
#define GROUP	256
#define TEXT	1200 /* bytes of slurmInfo: what a record has */

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static long
rss_kib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f != NULL && fscanf(f, "%*s %ld", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static struct spool *
open_it(const char *path)
{
	char reason[256];
	struct spool *sp = spool_open(path, UINT64_C(1) << 40, 604800, reason,
	    sizeof(reason));

	if (sp == NULL) {
		fprintf(stderr, "%s\n", reason);
		exit(1);
	}
	spool_policy(sp)->to[DEST_REST] = 1;
	spool_policy(sp)->wait_commit = 1;
	return sp;
}

static void
put(struct spool *sp, uint64_t id)
{
	struct job job;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = id;
	job.key.start = 1790000000 + (int64_t)id;
	job.flags = JOB_HAS_START;
	job.submit = job.key.start - 5;
	job.end = job.key.start + 60;
	job.state = END_COMPLETED;
	job.user = strdup("user");
	job.slurm_info = calloc(1, TEXT + 1);
	if (job.slurm_info != NULL)
		memset(job.slurm_info, 'x', TEXT);
	job_host_add_cpus(job_add_host(&job, "n1"), 0, 15);
	if (spool_put(sp, &job, &row) != PUT_NEW) {
		fprintf(stderr, "refused: %s\n", spool_error(sp));
		exit(1);
	}
	job_clear(&job);
}

static void
commit(struct spool *sp)
{
	if (spool_commit(sp) == -1) {
		fprintf(stderr, "%s\n", spool_error(sp));
		exit(1);
	}
}

/* Opens what is there, as a new submitter does, and tells what that takes. */
static int
ready(const char *what, const char *path)
{
	int64_t ids[32];
	struct spool *sp;
	double t;
	int i;

	spool_prepare();
	t = now();
	sp = open_it(path);
	printf("%-8s ready in %6.1f ms", what, (now() - t) * 1e3);
	for (t = now(), i = 0; i < 100; i++)
		spool_pick(sp, DEST_REST, START_DUE_ENDED, ORDER_NEWEST, ids,
		    32);
	printf(", a page of 32 in %.3f ms, memory %ld KiB, %llu rows\n",
	    (now() - t) * 10, rss_kib(), (unsigned long long)spool_runs(sp));
	spool_close(sp);
	return 0;
}

static void
ready_apart(const char *self, const char *what, const char *path)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execl(self, self, "ready", what, path, (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

int
main(int argc, char **argv)
{
	uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, id;
	char dir[256], path[300];
	struct spool *sp;
	double t;

	if (argc == 4 && strcmp(argv[1], "ready") == 0)
		return ready(argv[2], argv[3]);
	snprintf(dir, sizeof(dir), "%s/spool-bench.XXXXXX",
	    argc > 2 ? argv[2] : "/tmp");
	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	spool_prepare();
	spool_close(open_it(path));
	ready_apart("/proc/self/exe", "empty:", path);
	sp = open_it(path);
	for (t = now(), id = 1; id <= SINGLES; id++) {
		put(sp, id);
		commit(sp);
	}
	printf("singly            %8.0f records/s\n", SINGLES / (now() - t));
	for (t = now(); id <= rows; id++) {
		put(sp, id);
		if (id % GROUP == 0)
			commit(sp);
	}
	commit(sp);
	printf("in groups of %d  %8.0f records/s\n", GROUP,
	    (double)(rows - SINGLES) / (now() - t));
	spool_close(sp);
	ready_apart("/proc/self/exe", "full:", path);
	snprintf(dir + strlen(dir), 8, "/*");
	snprintf(path, sizeof(path), "rm -rf '%.*s'", (int)strlen(dir) - 2,
	    dir);
	return system(path) != 0;
}
