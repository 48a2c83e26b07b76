/* SPDX-License-Identifier: MIT */
/* The lines of `spool export` and `spool import`. */
#include "config.h"

#include <stdlib.h>

#include "common/text/base64.h"
#include "common/model/msg.h"
#include "submitter/spool/export.h"
#include "tests/unit/check.h"

static void
job_make(struct job *job)
{
	struct job_host *h;

	job_init(job);
	snprintf(job->key.cluster, sizeof(job->key.cluster), "alpha");
	job->key.job = 4711;
	job->key.start = 1795212354;
	job->flags |= JOB_HAS_START;
	job->user = strdup("labalice");
	job->script = strdup("#!/bin/sh\necho \"{,[\" \xc3\xa4\n");
	h = job_add_host(job, "n1");
	CHECK(h != NULL && job_host_add_cpus(h, 0, 3) == 0);
}

/* Owned: the line of that job, in that phase. */
static char *
line_make(struct job *job, enum run_state state, const char *reason)
{
	struct spool_run run;
	struct writer w;
	char *line;

	memset(&run, 0, sizeof(run));
	run.key = job->key;
	run.state[DEST_REST] = state;
	snprintf(run.reason, sizeof(run.reason), "%s", reason);
	wr_init(&w, MSG_PAYLOAD_MAX);
	job_write(&w, job);
	CHECK_INT(wr_end(&w), 0);
	line = export_line(&run, w.buf, w.len);
	CHECK(line != NULL);
	wr_clear(&w);
	return line;
}

static void
test_there_and_back(void)
{
	struct imported in;
	struct job job;
	char *line;

	job_make(&job);
	line = line_make(&job, STARTED, "not said");
	CHECK(strchr(line, '\n') == NULL);
	CHECK_STR(import_line(&in, line, strlen(line)), NULL);
	CHECK(run_key_equal(&in.job.key, &job.key));
	CHECK_STR(in.job.user, "labalice");
	CHECK_STR(in.job.script, job.script);
	CHECK_INT(in.job.n_hosts, 1);
	CHECK_INT(in.refused, 0);
	CHECK_STR(in.reason, "");
	imported_clear(&in);
	free(line);
	line = line_make(&job, STOP_REJECTED, "422: \x1b[31m\xff,,{{");
	CHECK_STR(import_line(&in, line, strlen(line)), NULL);
	CHECK_INT(in.refused, 1);
	CHECK_STR(in.reason, "422: \\x1b[31m\xef\xbf\xbd,,{{");
	imported_clear(&in);
	free(line);
	job_clear(&job);
}

/* What is wrong with a line: head, and behind it the record, if there is one. */
static const char *
wrong_with(const char *head, const char *record)
{
	static char line[64 * 1024];
	struct imported in;
	const char *wrong;
	char *exact;
	size_t n;

	snprintf(line, sizeof(line), "%s%s%s", head,
	    record != NULL ? record : "", record != NULL ? "\"}" : "");
	n = strlen(line);
	exact = malloc(n);
	if (exact == NULL)
		exit(1);
	memcpy(exact, line, n);
	wrong = import_line(&in, exact, n);
	imported_clear(&in);
	free(exact);
	return wrong;
}

/* The record of a job in base64, owned. */
static char *
record_make(void)
{
	struct writer w;
	struct job job;
	char *text;

	job_make(&job);
	wr_init(&w, MSG_PAYLOAD_MAX);
	job_write(&w, &job);
	text = base64_text(w.buf, w.len);
	wr_clear(&w);
	job_clear(&job);
	return text;
}

static void
test_hostile(void)
{
	static const char none[] = "it is no line of an export";
	static const char *const lines[] = { " ", "{", "[]", "7", "null",
		"\"x\"", "{\"cluster\":\"alpha\"}",
		"{\"cluster\":1,\"job\":1,\"start\":1,\"record\":\"\"}",
		"{\"cluster\":\"a\",\"job\":\"1\",\"start\":1,\"record\":\"\"}",
		"{\"cluster\":\"a\",\"job\":1.5,\"start\":1,\"record\":\"\"}",
		"{\"cluster\":\"a\",\"job\":1,\"start\":1,\"record\":null}",
		"{\"cluster\":\"a\",\"job\":99999999999999999999,\"start\":1,"
		"\"record\":\"\"}",
		"{\"cluster\":\"a\",\"cluster\":\"a\","
		"\"job\":1,\"start\":1,\"record\":\"\"}",
		"{\"cluster\":\"a\\u0000b\",\"job\":1,\"start\":1,"
		"\"record\":\"\"}",
		"{\"cluster\":\"\xff\",\"job\":1,"
		"\"start\":1,\"record\":\"\"}" };
	char *record = record_make(), *shorter = strdup(record);
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CHECK_STR(wrong_with(lines[i], NULL), none);
	shorter[strlen(shorter) / 8 * 4] = '\0';
	CHECK_STR(wrong_with("{\"cluster\":\"alpha\",\"job\":4711,\"start\":"
			     "1795212354,\"record\":\"",
		      record),
	    NULL);
	CHECK_STR(wrong_with("{\"cluster\":\"alpha\",\"job\":4711,\"start\":"
			     "1795212354,\"record\":\"",
		      shorter),
	    "the record is invalid");
	CHECK_STR(wrong_with("{\"cluster\":\"alpha\",\"job\":4711,\"start\":"
			     "1795212354,\"record\":\"",
		      ""),
	    "the record is invalid");
	CHECK_STR(wrong_with("{\"cluster\":\"alpha\",\"job\":4711,\"start\":"
			     "1795212354,\"record\":\"=",
		      record),
	    "the record is no base64");
	CHECK_STR(wrong_with("{\"cluster\":\"beta\",\"job\":4711,\"start\":"
			     "1795212354,\"record\":\"",
		      record),
	    "the record is of another run");
	CHECK_STR(wrong_with("{\"cluster\":\"alpha\",\"job\":-4711,\"start\":"
			     "1795212354,\"record\":\"",
		      record),
	    "the record is of another run");
	CHECK_STR(wrong_with("{\"cluster\":\"alpha\",\"job\":4711,\"start\":"
			     "-1,\"record\":\"",
		      record),
	    "the record is of another run");
	free(record);
	free(shorter);
}

/* A good line within the bound, but for values that would be much longer in memory. */
static void
test_many_values(void)
{
	static const char more[] = ",\"x\":[0";
	struct imported in;
	struct job job;
	char *line, *longer;
	size_t n, i;

	job_make(&job);
	line = line_make(&job, STARTED, "");
	n = strlen(line) - 1;
	longer = malloc(4u << 20);
	if (longer == NULL)
		exit(1);
	memcpy(longer, line, n);
	memcpy(longer + n, more, sizeof(more));
	n += sizeof(more) - 1;
	memcpy(longer + n, "]}", 2);
	CHECK_STR(import_line(&in, longer, n + 2), NULL);
	imported_clear(&in);
	for (i = n; i + 4 < 4u << 20; i += 2)
		memcpy(longer + i, ",0", 2);
	memcpy(longer + i, "]}", 2);
	CHECK_STR(import_line(&in, longer, i + 2),
	    "it is no line of an export");
	imported_clear(&in);
	free(longer);
	free(line);
	job_clear(&job);
}

static void
test_lines(void)
{
	static const char text[] = "one\n\ntwo\0x\nlast";
	struct import_text t = { 0 };
	FILE *f = fmemopen((void *)(uintptr_t)text, sizeof(text) - 1, "r");

	CHECK(f != NULL);
	CHECK_INT(import_text_next(&t, f), 4);
	CHECK(t.len == 3 && memcmp(t.buf, "one", 3) == 0);
	CHECK_INT(import_text_next(&t, f), 1);
	CHECK_INT(t.len, 0);
	CHECK_INT(import_text_next(&t, f), 6);
	CHECK(t.len == 5 && memcmp(t.buf, "two\0x", 5) == 0);
	CHECK_INT(import_text_next(&t, f), 4);
	CHECK(t.len == 4 && memcmp(t.buf, "last", 4) == 0);
	CHECK_INT(import_text_next(&t, f), 0);
	/* Where a step begins: behind a line, amid one, at the end. */
	fseek(f, 3, SEEK_SET);
	CHECK_INT(import_text_rest(f), 0);
	CHECK_INT(import_text_next(&t, f), 1);
	fseek(f, 1, SEEK_SET);
	CHECK_INT(import_text_rest(f), 2);
	CHECK_INT(import_text_next(&t, f), 1);
	fseek(f, -2, SEEK_END);
	CHECK_INT(import_text_rest(f), 1);
	CHECK_INT(import_text_next(&t, f), 0);
	import_text_clear(&t);
	fclose(f);
}

/* As an import goes on from step to step over lines beyond all bounds. */
static void
test_long_line(void)
{
	size_t size = EXPORT_SKIP_MAX * 2 + EXPORT_LINE_MAX + 5, steps = 0;
	struct import_text t = { 0 };
	char *text = malloc(size);
	int64_t at, n;
	FILE *f;

	if (text == NULL)
		exit(1);
	memset(text, 'x', size);
	memcpy(text + size - 5, "\nend\n", 5);
	f = fmemopen(text, size, "r");
	CHECK(f != NULL);
	at = import_text_next(&t, f);
	CHECK_INT(at, EXPORT_LINE_MAX + 1);
	CHECK_INT(t.too_long, 1);
	CHECK(t.cap <= EXPORT_LINE_MAX * 2);
	do {
		fseek(f, at - 1, SEEK_SET);
		n = import_text_rest(f);
		CHECK(n <= EXPORT_SKIP_MAX);
		at += n;
	} while (n == EXPORT_SKIP_MAX && ++steps < 9);
	CHECK_INT(steps, 2);
	CHECK_INT(import_text_next(&t, f), 4);
	CHECK(t.len == 3 && !t.too_long && memcmp(t.buf, "end", 3) == 0);
	import_text_clear(&t);
	fclose(f);
	free(text);
}

int
main(void)
{
	test_there_and_back();
	test_hostile();
	test_many_values();
	test_lines();
	test_long_line();
	return check_done();
}
