/* SPDX-License-Identifier: MIT */
/*
 * What reading Slurm's words costs: the recordings of each version, repeated
 * to 100,000 jobs of text and 100 MB of JSON, through the readers in steps of
 * a pipe's size; beside them jansson, which builds a tree of it all.
 *
 *	readers [DATA [MB]]	DATA: tests/data/slurm
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

#include "collector/parse/json_read.h"
#include "tests/bench/stream.h"
#include "tests/bench/tree.h"

#define DATA_DELIMITER	"<~!>"			/* of the recordings */
#define TEXT_JOBS	100000u
#define FILE_BYTES_MAX	(4u * 1024 * 1024)
#define ELEMENT_MAX	(8u * 1024 * 1024)
#define HOSTS		64

/* What a measurement counts. */
struct count {
	uint64_t	 jobs;
	uint64_t	 bad;
	uint64_t	 bytes;
};

typedef void measured_fn(const struct stream *s, struct count *c);

static struct gres_names gpus;
static struct read_options how = { .gpus = &gpus, .opt_out_word = "keep_away" };

static struct {
	char		host[HOST_MAX];
	struct node_shape	shape;
} hosts[HOSTS];
static size_t n_hosts;

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
	struct lines	 lines;
	struct count	*count;
	int		(*each)(struct span line, void *arg);
};

static int
on_record(struct span line, void *arg)
{
	struct count *c = arg;
	struct job_snapshot s;

	snapshot_init(&s);
	if (scontrol_record(line, (struct span){ NULL, 0 }, &how, &s) ==
	    RECORD_GOOD)
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
	struct sacct_reader r = { .delimiter = DATA_DELIMITER, .how = &how,
		.each = on_acct, .arg = c };

	if (stream_run(s, feed_acct, &r, &c->bytes) == -1 || sacct_end(&r) == -1)
		die("accounting");
	c->bad = r.bad;
	sacct_clear(&r);
}

/* JSON. */

static int
shape_of(const char *host, struct node_shape *shape, void *arg)
{
	size_t i;

	for (i = 0; i < n_hosts; i++)
		if (strcmp(hosts[i].host, host) == 0) {
			*shape = hosts[i].shape;
			return 0;
		}
	return -1;
}

static int
on_node(struct span line, void *arg)
{
	if (n_hosts < HOSTS && node_record(line, hosts[n_hosts].host,
	    &hosts[n_hosts].shape) == 0)
		n_hosts++;
	return 0;
}

typedef enum record_verdict json_fn(struct span element,
    const struct json_reading *how, struct job_snapshot *s);

struct by_element {
	json_fn		*read;
	struct count	*count;
};

static int
on_element(struct span element, void *arg)
{
	static const struct json_reading json_how = { .how = &how,
		.shape = shape_of };
	struct by_element *b = arg;
	struct job_snapshot s;

	snapshot_init(&s);
	if (b->read(element, &json_how, &s) == RECORD_GOOD)
		b->count->jobs++;
	else
		b->count->bad++;
	snapshot_clear(&s);
	return 0;
}

static int
feed_json(const char *p, size_t n, void *arg)
{
	return json_split_feed(arg, p, n);
}

static void
json_run(const struct stream *s, json_fn *reader, struct count *c)
{
	static const struct json_split_ops ops = { on_element, NULL, NULL };
	struct by_element b = { reader, c };
	struct json_split *split = json_split_new("jobs", ELEMENT_MAX, &ops,
	    &b);

	if (split == NULL || stream_run(s, feed_json, split, &c->bytes) == -1 ||
	    json_split_end(split) == -1)
		die("JSON");
	json_split_free(split);
}

static void
run_json_jobs(const struct stream *s, struct count *c)
{
	json_run(s, json_job, c);
}

static void
run_json_acct(const struct stream *s, struct count *c)
{
	json_run(s, json_acct, c);
}

/* The baseline: all of it in memory, then a tree of it. */
struct whole {
	char	*p;
	size_t	 len;
};

static int
feed_whole(const char *p, size_t n, void *arg)
{
	struct whole *w = arg;

	memcpy(w->p + w->len, p, n);
	w->len += n;
	return 0;
}

static void
run_tree(const struct stream *s, struct count *c)
{
	struct whole w = { NULL, 0 };

	w.p = malloc((s->len + 8) * s->repeat + 64);
	if (w.p == NULL)
		die("memory");
	stream_run(s, feed_whole, &w, &c->bytes);
	c->jobs = tree_load(w.p, w.len);
	free(w.p);
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
	    us / (double)(c.jobs + c.bad),
	    (double)(c.jobs + c.bad) * 1e6 / us, (double)c.bytes / us,
	    ru.ru_maxrss);
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
	struct stream s = { .head = "", .between = "", .tail = "",
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

/* Puts elements together again that jansson can read, indented or not. */
struct gather {
	struct stream	*s;
	int		 indented;
	size_t		 cap;
};

static int
on_gather(struct span element, void *arg)
{
	struct gather *g = arg;
	struct stream *s = g->s;
	size_t n;
	char *text = tree_indent(element.p, element.n, &n);
	const char *p = g->indented ? text : element.p;

	if (text == NULL)
		return 0;
	if (!g->indented)
		n = element.n;
	if (s->len + n + 2 > g->cap) {
		g->cap = 2 * (s->len + n + 2);
		s->unit = realloc(s->unit, g->cap);
		if (s->unit == NULL)
			die("memory");
	}
	if (s->len > 0)
		s->unit[s->len++] = ',';
	memcpy(s->unit + s->len, p, n);
	s->len += n;
	s->jobs++;
	free(text);
	return 0;
}

static void
json_stream(struct stream *s, const char *dir, const char *version,
    const char *file, int indented, size_t bytes)
{
	static const struct json_split_ops ops = { on_gather, NULL, NULL };
	struct gather g = { .s = s, .indented = indented };
	struct json_split *split = json_split_new("jobs", ELEMENT_MAX, &ops,
	    &g);
	size_t n;
	char *buf = file_read(dir, version, file, &n);

	memset(s, 0, sizeof(*s));
	s->head = "{\"meta\":{},\"jobs\":[";
	s->between = ",";
	s->tail = "],\"errors\":[]}";
	if (split == NULL || json_split_feed(split, buf, n) == -1)
		die(file);
	json_split_free(split);
	free(buf);
	s->repeat = (unsigned)(bytes / s->len) + 1;
}

static void
json_measure(const char *dir, const char *version, size_t bytes)
{
	static const struct {
		const char	*file;
		const char	*what;
		int		 indented;
		measured_fn	*fn;
	} cases[] = {
		{ "job.json", "jobs, JSON", 1, run_json_jobs },
		{ "job.json", "jobs, JSON compact", 0, run_json_jobs },
		{ "acct.json", "sacct, JSON", 1, run_json_acct },
		{ "acct.json", "sacct, JSON compact", 0, run_json_acct },
		{ "acct.json", "sacct, JSON, jansson", 1, run_tree },
	};
	struct stream s;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* A tree takes ten times the text: once is enough. */
		if (cases[i].fn == run_tree && strcmp(version, "24.11") != 0)
			continue;
		json_stream(&s, dir, version, cases[i].file,
		    cases[i].indented, bytes);
		measure(version, cases[i].what, &s, cases[i].fn);
		free(s.unit);
	}
}

int
main(int argc, char **argv)
{
	static const char *const versions[] = { "22.05", "24.11", "26.05" };
	const char *dir = argc > 1 ? argv[1] : "tests/data/slurm";
	size_t bytes = (argc > 2 ? strtoul(argv[2], NULL, 10) : 100) * 1000000;
	struct lines lines;
	size_t i, n;
	char *nodes;

	gres_names_set(&gpus, "[\"gpu\"]");
	printf("%-6s %-24s %8s %7s %8s %9s %7s %8s\n", "Slurm", "reader",
	    "jobs", "bytes/j", "us/job", "jobs/s", "MB/s", "peak KiB");
	rows_measure();
	text_measure(dir, "20.11", "scontrol-job-d-o.txt", "jobs, text",
	    run_records);
	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		n_hosts = 0;
		nodes = file_read(dir, versions[i], "node.txt", &n);
		memset(&lines, 0, sizeof(lines));
		lines_feed(&lines, nodes, n, on_node, NULL);
		lines_clear(&lines);
		free(nodes);
		text_measure(dir, versions[i], "job.txt", "jobs, text",
		    run_records);
		text_measure(dir, versions[i], "acct.txt", "sacct, text",
		    run_acct);
		json_measure(dir, versions[i], bytes);
	}
	return 0;
}
