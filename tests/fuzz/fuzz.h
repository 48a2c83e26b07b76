/* SPDX-License-Identifier: MIT */
/*
 * Shared by the targets: properties that must hold, numbers that depend on the
 * input only (so that an input fails again), and copies of exact size, in which
 * the sanitizer finds a read behind the end.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define HOLDS(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: does not hold: %s\n", \
			    __FILE__, __LINE__, #cond); \
			abort(); \
		} \
	} while (0)

#define DIGEST_START UINT64_C(0xcbf29ce484222325)

/* FNV-1a. */
static inline uint64_t
digest(uint64_t h, const void *p, size_t n)
{
	const unsigned char *c = p;

	while (n-- > 0)
		h = (h ^ *c++) * UINT64_C(0x100000001b3);
	return h;
}

/* The next pseudo-random number below `below`. */
static inline size_t
dice(uint64_t *state, size_t below)
{
	*state = *state * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return (size_t)(*state >> 33) % below;
}

/* Returns owned: exactly n bytes, never NULL. */
static inline char *
exact(const void *p, size_t n)
{
	char *copy = malloc(n != 0 ? n : 1);

	HOLDS(copy != NULL);
	if (n != 0)
		memcpy(copy, p, n);
	return copy;
}

/* The same with a NUL behind it. */
static inline char *
exact_string(const void *p, size_t n)
{
	char *copy = malloc(n + 1);

	HOLDS(copy != NULL);
	if (n != 0)
		memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}

/*
 * Feeds the input in pieces; their lengths depend on the input.  feed() returns
 * -1 to stop.  Returns 0, or -1 when feed() stopped.
 */
static inline int
fuzz_pieces(const uint8_t *p, size_t n,
    int (*feed)(const char *p, size_t n, void *arg), void *arg)
{
	uint64_t state = digest(DIGEST_START, p, n);
	size_t step, most = 1 + dice(&state, 64);
	char *piece;
	int rc = 0;

	for (; n > 0 && rc == 0; p += step, n -= step) {
		step = 1 + dice(&state, most);
		if (step > n)
			step = n;
		piece = exact(p, step);
		rc = feed(piece, step, arg);
		free(piece);
	}
	return rc;
}

static inline void
fuzz_quiet(void)
{
	log_set_level(LOG_LEVEL_FATAL);
}

#endif
