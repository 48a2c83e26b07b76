/* SPDX-License-Identifier: MIT */
/*
 * What real Slurm printed, tests/data/slurm/VERSION/, for the tests of
 * readers.  A file that is not there ends the test.
 */
#ifndef TESTS_UNIT_RECORDING_H
#define TESTS_UNIT_RECORDING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/parse/parse.h"

#define RECORDING_BYTES_MAX	(4u * 1024 * 1024)
#define RECORDING_HOSTS_MAX	64

/* The hosts of the recorded cluster. */
struct recorded_hosts {
	struct {
		char		 host[HOST_MAX];
		struct node_shape	 shape;
	} of[RECORDING_HOSTS_MAX];
	size_t	n;
};

/* Returns owned, n bytes with a NUL behind them. */
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

/* each() gets its lines in turn. */
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

static inline int
recording_on_host(struct span line, void *arg)
{
	struct recorded_hosts *r = arg;

	if (r->n < RECORDING_HOSTS_MAX && node_record(line, r->of[r->n].host,
	    &r->of[r->n].shape) == 0)
		r->n++;
	return 0;
}

/* Fills r from `scontrol show node -o`. */
static inline void
recording_hosts(const char *version, const char *name,
    struct recorded_hosts *r)
{
	r->n = 0;
	recording_lines(version, name, recording_on_host, r);
}

/* For struct json_reading, whose arg are the hosts. */
static inline int
recording_shape(const char *host, struct node_shape *shape, void *arg)
{
	const struct recorded_hosts *r = arg;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (strcmp(r->of[i].host, host) == 0) {
			*shape = r->of[i].shape;
			return 0;
		}
	}
	return -1;
}

/* For struct read_options: "n3-0". */
static inline int
recording_device(const char *host, uint32_t index, char address[ACCEL_MAX],
    void *arg)
{
	(void)arg;
	snprintf(address, ACCEL_MAX, "%s-%u", host, index);
	return 0;
}

#endif
