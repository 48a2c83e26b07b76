/* SPDX-License-Identifier: MIT */
/*
 * What reading Slurm's words costs: the recordings of each version, repeated
 * to 100,000 jobs, through the readers in steps of a pipe's size.
 *
 *	readers [DATA]	DATA: tests/data/slurm
 *
 * Each measurement is a process of its own: its CPU time and peak memory are
 * the kernel's (wait4), what makes the text up included.
 */
#include "config.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/parse/parse.h"
#include "tests/bench/stream.h"

#define DATA_DELIMITER "<~!>" /* of the recordings */
#define TEXT_JOBS      100000u
#define FILE_BYTES_MAX (4u * 1024 * 1024)

/* What a measurement counts. */
struct count {
	uint64_t jobs;
	uint64_t bad;
	uint64_t bytes;
};

typedef void measured_fn(const struct stream *s, struct count *c);

static struct gres_names gpus;
static struct read_options how = { .gpus = &gpus, .opt_out_word = "keep_away" };

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static char *
file_read(const char *dir, const char *version, const char *name, size_t *n)
{
	char path[512], *buf = malloc(FILE_BYTES_MAX);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", dir, version, name);
	f = fopen(path, "rb");
	if (f == NULL || buf == NULL)
		die(path);
	*n = fread(buf, 1, FILE_BYTES_MAX, f);
	fclose(f);
	return realloc(buf, *n + 1);
}

/* Text of slurmctld. */

struct by_line {
	struct lines lines;
	struct count *count;
	int (*each)(struct span line, void *arg);
};

static int
on_record(struct span line, void *arg)
{
	struct count *c = arg;
	struct job_snapshot s;

	snapshot_init(&s);
	if (scontrol_record(line, NULL, &how, &s) == RECORD_GOOD)
		c->jobs++;
	else
		c->bad++;
	snapshot_clear(&s);
	return 0;
}

static int
on_row(struct span line, void *arg)
{
	struct count *c = arg;
	struct squeue_job row;

	if (squeue_row(line, &row) == 0)
		c->jobs++;
	else
		c->bad++;
	return 0;
}

static int
feed_lines(const char *p, size_t n, void *arg)
{
	struct by_line *b = arg;

	return lines_feed(&b->lines, p, n, b->each, b->count);
}

static void
lines_run(const struct stream *s, int (*each)(struct span, void *),
    struct count *c)
{
	struct by_line b = { .count = c, .each = each };

	if (stream_run(s, feed_lines, &b, &c->bytes) == -1)
		die("lines");
	lines_clear(&b.lines);
}

static void
run_records(const struct stream *s, struct count *c)
{
	lines_run(s, on_record, c);
}

static void
run_rows(const struct stream *s, struct count *c)
{
	lines_run(s, on_row, c);
}

/* Text of accounting. */

static int
on_acct(struct job_snapshot *s, void *arg)
{
	struct count *c = arg;

	c->jobs++;
	return 0;
}

static int
feed_acct(const char *p, size_t n, void *arg)
{
	return sacct_feed(arg, p, n);
}

static void
run_acct(const struct stream *s, struct count *c)
{
	struct sacct_reader r = { .delimiter = DATA_DELIMITER,
		.how = &how,
		.each = on_acct,
		.arg = c };

	if (stream_run(s, feed_acct, &r, &c->bytes) == -1 ||
	    sacct_end(&r) == -1)
		die("accounting");
	c->bad = r.bad;
	sacct_clear(&r);
}

/* Runs it in a process of its own and prints its row. */
static void
measure(const char *version, const char *what, const struct stream *s,
    measured_fn *fn)
{
	struct count c = { 0, 0, 0 };
	struct rusage ru;
	int fds[2], status;
	double us;
	pid_t pid;

	fflush(stdout);
	if (pipe(fds) == -1 || (pid = fork()) == -1)
		die("fork");
	if (pid == 0) {
		fn(s, &c);
		_exit(write(fds[1], &c, sizeof(c)) != (ssize_t)sizeof(c));
	}
	close(fds[1]);
	if (read(fds[0], &c, sizeof(c)) != (ssize_t)sizeof(c) ||
	    wait4(pid, &status, 0, &ru) == -1 || status != 0 || c.jobs == 0)
		die(what);
	close(fds[0]);
	us = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1e6 +
	    (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
	printf("%-6s %-24s %8llu %7llu %8.2f %9.0f %7.0f %8ld", version, what,
	    (unsigned long long)(c.jobs + c.bad),
	    (unsigned long long)(c.bytes / (c.jobs + c.bad)),
	    us / (double)(c.jobs + c.bad), (double)(c.jobs + c.bad) * 1e6 / us,
	    (double)c.bytes / us, ru.ru_maxrss);
	if (c.bad != 0)
		printf("  %llu not read", (unsigned long long)c.bad);
	printf("\n");
}

static void
text_measure(const char *dir, const char *version, const char *file,
    const char *what, measured_fn *fn)
{
	struct stream s = { .head = "", .between = "", .tail = "" };
	size_t i;

	s.unit = file_read(dir, version, file, &s.len);
	for (i = 0; i < s.len; i++)
		s.jobs += s.unit[i] == '\n';
	s.repeat = TEXT_JOBS / s.jobs + 1;
	measure(version, what, &s, fn);
	free(s.unit);
}

static void
rows_measure(void)
{
	struct stream s = { .head = "",
		.between = "",
		.tail = "",
		.jobs = 1000 };
	unsigned i;

	s.unit = malloc(s.jobs * 64);
	if (s.unit == NULL)
		die("memory");
	for (i = 0; i < s.jobs; i++)
		s.len += (size_t)sprintf(s.unit + s.len, "%u R No %u\n",
		    1234000 + i, 1700000000 + i);
	s.repeat = TEXT_JOBS / s.jobs;
	measure("all", "squeue, text", &s, run_rows);
	free(s.unit);
}

int
main(int argc, char **argv)
{
	static const char *const versions[] = { "22.05", "24.11", "26.05" };
	const char *dir = argc > 1 ? argv[1] : "tests/data/slurm";
	size_t i;

	gres_names_set(&gpus, "[\"gpu\"]");
	printf("%-6s %-24s %8s %7s %8s %9s %7s %8s\n", "Slurm", "reader",
	    "jobs", "bytes/j", "us/job", "jobs/s", "MB/s", "peak KiB");
	rows_measure();
	text_measure(dir, "20.11", "scontrol-job-d-o.txt", "jobs, text",
	    run_records);
	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		text_measure(dir, versions[i], "job.txt", "jobs, text",
		    run_records);
		text_measure(dir, versions[i], "acct.txt", "sacct, text",
		    run_acct);
	}
	return 0;
}
