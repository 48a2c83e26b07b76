/* SPDX-License-Identifier: MIT */
/* A long text out of a short one, in steps as a pipe brings it. */
#ifndef TESTS_BENCH_STREAM_H
#define TESTS_BENCH_STREAM_H

#include <stddef.h>
#include <stdint.h>

/* A text that is made of one part over and over. */
struct stream {
	const char *head;
	char *unit; /* owned */
	size_t len;
	const char *between;
	const char *tail;
	unsigned jobs; /* in a unit */
	unsigned repeat;
};

typedef int feed_fn(const char *p, size_t n, void *arg);

/* Feeds all of it; *bytes gets how much.  0, or -1 as feed() said. */
int stream_run(const struct stream *s, feed_fn *feed, void *arg,
    uint64_t *bytes);

#endif
