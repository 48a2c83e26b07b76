/* SPDX-License-Identifier: MIT */
/*
 * Recorded jobs of scontrol and rows of sacct of each version, compared with the
 * records in tests/data/slurm/VERSION/job.records and acct.records.  An
 * independent reader made these records from Slurm's JSON of the same jobs.  The
 * fields that the JSON of 22.05 lacks (memory per CPU, the user without an
 * account, exit codes) come from the recorded text.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"
#include "tests/unit/collector/parse/dump_record.h"
#include "tests/unit/collector/parse/recording.h"

#define DATA_DELIMITER "<~!>"
#define RECORDS_MAX    256

static struct gres_names gpus;
static struct read_options how = { .gpus = &gpus,
	.opt_out_word = "keep_away",
	.device = recording_device };

/* The records of one file, one per line. */
struct records {
	char *file; /* owned */
	struct {
		char *line; /* into file */
		size_t key; /* bytes of its "job N|start N|" */
		int seen;
	} of[RECORDS_MAX];
	size_t n;
};

static size_t
key_length(const char *line)
{
	const char *end = strstr(line, "|state ");

	return end != NULL ? (size_t)(end - line) + 1 : 0;
}

static void
records_load(struct records *r, const char *version, const char *name)
{
	char *p, *end;
	size_t n;

	memset(r, 0, sizeof(*r));
	r->file = recording_read(version, name, &n);
	for (p = r->file; *p != '\0' && r->n < RECORDS_MAX; p = end + 1) {
		end = strchr(p, '\n');
		*end = '\0';
		r->of[r->n].line = p;
		r->of[r->n].key = key_length(p);
		CHECK(r->of[r->n].key > 0);
		r->n++;
	}
}

/* Pending jobs and jobs that never ran have no record. */
static void
compare(struct records *r, struct job_snapshot *s)
{
	static struct dump d;
	size_t i;

	if (s->state->phase == PHASE_PENDING || s->never)
		return;
	dump_record(&d, s);
	for (i = 0; i < r->n; i++) {
		if (strncmp(r->of[i].line, d.text, r->of[i].key) != 0)
			continue;
		CHECK_STR(d.text, r->of[i].line);
		r->of[i].seen++;
		return;
	}
}

static int
on_job(struct span line, void *arg)
{
	struct job_snapshot s;

	snapshot_init(&s);
	if (scontrol_record(line, NULL, &how, &s) == RECORD_GOOD)
		compare(arg, &s);
	snapshot_clear(&s);
	return 0;
}

static int
on_row(struct job_snapshot *s, void *arg)
{
	compare(arg, s);
	return 0;
}

static int
on_node(struct span line, void *arg)
{
	char host[HOST_MAX];
	struct node_shape shape;
	int *nodes = arg;

	if (node_record(line, host, &shape) == 0 && shape.sockets > 0 &&
	    shape.cores > 0 && shape.threads > 0)
		++*nodes;
	return 0;
}

/* Checks that the reader produced each record once. */
static void
records_done(struct records *r, const char *version, const char *what)
{
	size_t i;

	CHECK(r->n >= 15);
	for (i = 0; i < r->n; i++) {
		if (r->of[i].seen != 1)
			fprintf(stderr, "%s, %s: %d times: %s\n", version, what,
			    r->of[i].seen, r->of[i].line);
		CHECK_INT(r->of[i].seen, 1);
	}
	printf("%s: %zu records of %s as expected\n", version, r->n, what);
	free(r->file);
}

static void
test_jobs(const char *version)
{
	struct records records;

	records_load(&records, version, "job.records");
	recording_lines(version, "job.txt", on_job, &records);
	records_done(&records, version, "jobs");
}

static void
test_accounting(const char *version)
{
	struct records records;
	struct sacct_reader r = { .delimiter = DATA_DELIMITER,
		.how = &how,
		.each = on_row,
		.arg = &records };
	size_t n;
	char *buf = recording_read(version, "acct.txt", &n);

	records_load(&records, version, "acct.records");
	CHECK_INT(sacct_feed(&r, buf, n), 0);
	CHECK_INT(sacct_end(&r), 0);
	CHECK_INT(r.bad, 0);
	records_done(&records, version, "accounting");
	sacct_clear(&r);
	free(buf);
}

static void
test_nodes(const char *version)
{
	int nodes = 0;

	recording_lines(version, "node.txt", on_node, &nodes);
	CHECK(nodes >= 4);
}

int
main(void)
{
	static const char *const versions[] = { "22.05", "24.11", "26.05" };
	size_t i;

	gres_names_set(&gpus, "[\"gpu\"]");
	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		test_jobs(versions[i]);
		test_accounting(versions[i]);
		test_nodes(versions[i]);
	}
	return check_done();
}
