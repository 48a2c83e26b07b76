/* SPDX-License-Identifier: MIT */
/*
 * Recorded output of Slurm, tests/data/slurm/VERSION/, for the tests of readers.
 * A missing file ends the test.
 */
#ifndef TESTS_UNIT_COLLECTOR_PARSE_RECORDING_H
#define TESTS_UNIT_COLLECTOR_PARSE_RECORDING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/parse/parse.h"

#define RECORDING_BYTES_MAX (4u * 1024 * 1024)

/* Returns owned: n bytes and a NUL behind them. */
static inline char *
recording_read(const char *version, const char *name, size_t *n)
{
	const char *dir = getenv("srcdir") != NULL ? getenv("srcdir") : ".";
	char path[512], *buf = malloc(RECORDING_BYTES_MAX + 1);
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/slurm/%s/%s", dir, version,
	    name);
	f = fopen(path, "rb");
	if (f == NULL || buf == NULL) {
		perror(path);
		exit(1);
	}
	*n = fread(buf, 1, RECORDING_BYTES_MAX, f);
	buf[*n] = '\0';
	fclose(f);
	return buf;
}

/* Calls each() for every line of a recording. */
static inline void
recording_lines(const char *version, const char *name,
    int (*each)(struct span line, void *arg), void *arg)
{
	struct lines lines = { 0 };
	size_t n;
	char *text = recording_read(version, name, &n);

	if (lines_feed(&lines, text, n, each, arg) == -1 ||
	    lines_end(&lines, each, arg) == -1) {
		fprintf(stderr, "%s/%s: cannot be read\n", version, name);
		exit(1);
	}
	lines_clear(&lines);
	free(text);
}

/*
 * A line in memory of its exact size, so that the sanitizer finds a read behind
 * its end.  *copy is owned.
 */
static inline struct span
line_new(const char *text, size_t n, char **copy)
{
	*copy = malloc(n != 0 ? n : 1);
	if (*copy == NULL)
		exit(1);
	memcpy(*copy, text, n);
	return (struct span) { *copy, n };
}

/* The device of struct read_options: "n3-0". */
static inline int
recording_device(const char *host, uint32_t index, char address[ACCEL_MAX],
    void *arg)
{
	(void)arg;
	snprintf(address, ACCEL_MAX, "%s-%u", host, index);
	return 0;
}

#endif
