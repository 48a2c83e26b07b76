/* SPDX-License-Identifier: MIT */
/* Copies of secrets: locked, in no dump, wiped. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "submitter/net/secret.h"
#include "tests/unit/check.h"

/* The flags of the mapping of p in /proc/self/smaps: 1 when it has them. */
static int
has_flags(const void *p, const char *a, const char *b)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long from = 0, to = 0, first, last;
	char line[512];
	int found = 0;

	CHECK(f != NULL);
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%lx-%lx ", &first, &last) == 2) {
			from = first;
			to = last;
		} else if (strncmp(line, "VmFlags:", 8) == 0 &&
		    from <= (uintptr_t)p && (uintptr_t)p < to)
			found = strstr(line, a) != NULL &&
			    strstr(line, b) != NULL;
	}
	if (f != NULL)
		fclose(f);
	return found;
}

static void
test_copies(void)
{
	char *copy = secret_copy("geheim?", 6);

	CHECK_STR(copy, "geheim");
	/* A sanitizer ignores mlock(). */
#ifdef SANITIZED
	CHECK(has_flags(copy, " dd", " dd"));
#else
	if (!secret_is_unlocked())
		CHECK(has_flags(copy, " lo", " dd"));
#endif
	secret_free(copy);
	copy = secret_copy("", 0);
	CHECK_STR(copy, "");
	secret_free(copy);
	CHECK(secret_copy("a\0b", 3) == NULL);
	secret_free(NULL);
	CHECK(secret_alloc(SIZE_MAX) == NULL);
}

/* In any order of the list. */
static void
test_wipe(void)
{
	char *a = secret_copy("one", 3), *b = secret_copy("two", 3),
	     *c = secret_copy("three", 5);

	secret_free(b);
	secret_wipe_all();
	CHECK_STR(a, "");
	CHECK_STR(c, "");
	secret_free(c);
	secret_free(a);
	secret_wipe_all();
}

static void
test_allocator(void)
{
	char *p = wiping_realloc(NULL, 8);

	memcpy(p, "geheim", 7);
	p = wiping_realloc(p, 4096);
	CHECK_STR(p, "geheim");
	p = wiping_realloc(p, 4);
	CHECK(memcmp(p, "gehe", 4) == 0);
	CHECK(wiping_realloc(p, 0) == NULL);
	wiping_free(NULL);
}

int
main(void)
{
	test_copies();
	test_wipe();
	test_allocator();
	return check_done();
}
