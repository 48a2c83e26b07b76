/* SPDX-License-Identifier: MIT */
/*
 * The whole harness of the unit tests: CHECK says file, line and condition,
 * goes on, and check_done() is the exit status of main.
 */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_passed, check_failed;

#define CHECK(cond) check_that((cond) != 0, #cond, __FILE__, __LINE__)
#define CHECK_INT(got, want) \
	check_int((long long)(got), (long long)(want), #got, __FILE__, __LINE__)
#define CHECK_STR(got, want) check_str((got), (want), #got, __FILE__, __LINE__)

/* valgrind has neither seccomp filters nor Landlock, and its own limits. */
static inline int
check_on_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload != NULL && strstr(preload, "vgpreload") != NULL;
}

static inline void
check_that(int ok, const char *what, const char *file, int line)
{
	if (ok)
		check_passed++;
	else {
		check_failed++;
		fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
	}
}

static inline void
check_int(long long got, long long want, const char *what, const char *file,
    int line)
{
	check_that(got == want, what, file, line);
	if (got != want)
		fprintf(stderr, "    got %lld, want %lld\n", got, want);
}

static inline void
check_str(const char *got, const char *want, const char *what, const char *file,
    int line)
{
	int same = got != NULL && want != NULL ? strcmp(got, want) == 0 :
						 got == want;

	check_that(same, what, file, line);
	if (!same)
		fprintf(stderr, "    got  \"%s\"\n    want \"%s\"\n",
		    got != NULL ? got : "(null)",
		    want != NULL ? want : "(null)");
}

/* Prints the count; returns what main should return. */
static inline int
check_done(void)
{
	printf("%d passed, %d failed\n", check_passed, check_failed);
	return check_failed != 0;
}

#endif
