/* SPDX-License-Identifier: MIT */
/*
 * `spool import`: input that begins with a brace is a file, cut into lines as
 * memchr() would; anything else a record, which must come back from its own
 * line as it is, and from no other run's.
 */
#include "config.h"

#include "submitter/spool/export.h"
#include "tests/fuzz/fuzz.h"

static void
line_holds(const char *line, size_t n)
{
	struct imported in;

	if (import_line(&in, line, n) == NULL) {
		HOLDS(memchr(in.job.key.cluster, '\0',
			  sizeof(in.job.key.cluster)) != NULL);
		HOLDS(in.reason[0] == '\0' || in.refused);
	}
	HOLDS(memchr(in.reason, '\0', sizeof(in.reason)) != NULL);
	imported_clear(&in);
}

static void
file_holds(const char *p, size_t n)
{
	FILE *f = fmemopen((void *)(uintptr_t)p, n, "r");
	struct import_text t = { 0 };
	const char *end;
	size_t len;

	HOLDS(f != NULL);
	for (; n > 0; p += len, n -= len) {
		end = memchr(p, '\n', n);
		len = end != NULL ? (size_t)(end - p) + 1 : n;
		HOLDS(import_text_next(&t, f) == (int64_t)len);
		HOLDS(t.len == len - (end != NULL) && !t.too_long);
		HOLDS(t.len == 0 || memcmp(t.buf, p, t.len) == 0);
		line_holds(t.buf, t.len);
	}
	HOLDS(import_text_next(&t, f) == 0);
	import_text_clear(&t);
	fclose(f);
}

static void
record_holds(const void *bytes, size_t n)
{
	struct spool_run run;
	struct imported in;
	struct writer w;
	struct reader r;
	struct job job;
	char *line;

	memset(&run, 0, sizeof(run));
	run.state[DEST_REST] = START_REJECTED;
	snprintf(run.reason, sizeof(run.reason), "%.*s", n < 400 ? (int)n : 400,
	    (const char *)bytes);
	job_init(&job);
	rd_init(&r, bytes, n);
	job_read(&r, &job);
	run.key = job.key;
	line = rd_end(&r) == 0 ? export_line(&run, bytes, n) : NULL;
	/* A cluster's name may be no text, and a number beyond JSON's. */
	if (line != NULL) {
		HOLDS(strchr(line, '\n') == NULL);
		HOLDS(import_line(&in, line, strlen(line)) == NULL ||
		    job.key.job > INT64_MAX);
		wr_init(&w, SIZE_MAX / 2);
		job_write(&w, &in.job);
		HOLDS(wr_end(&w) == 0);
		imported_clear(&in);
		free(line);
		run.key.job++;
		line = export_line(&run, w.buf, w.len);
		wr_clear(&w);
		HOLDS(line == NULL ||
		    import_line(&in, line, strlen(line)) != NULL);
		if (line != NULL)
			imported_clear(&in);
		free(line);
	}
	job_clear(&job);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *copy = exact_string(bytes, n);

	fuzz_quiet();
	if (n > 0 && *bytes == '{')
		file_holds(copy, n);
	else
		record_holds(copy, n);
	free(copy);
	return 0;
}
