/* SPDX-License-Identifier: MIT */
/* An array grows, keeps its content, and is unchanged when it cannot grow. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "common/array.h"
#include "tests/unit/check.h"

static void
test_items(size_t size, size_t first)
{
	size_t cap = 0, n, grown = 0, before;
	char *p = NULL;

	for (n = 0; n < 10 * first; n++) {
		before = cap;
		p = array_reserve(p, &cap, n + 1, size);
		CHECK(p != NULL);
		if (p == NULL)
			return;
		CHECK(cap > n);
		if (cap != before)
			CHECK_INT(cap, grown++ == 0 ? first : 2 * before);
		p[n * size] = (char)n;
	}
	CHECK_INT(grown, 5);
	for (n = 0; n < 10 * first; n++)
		CHECK_INT(p[n * size], (char)n);
	before = cap;
	CHECK(array_reserve(p, &cap, SIZE_MAX / size, size) == NULL);
	CHECK(array_reserve(p, &cap, SIZE_MAX, size) == NULL);
	CHECK_INT(cap, before);
	free(p);
}

int
main(void)
{
	test_items(1, 4096);
	test_items(8, 512);
	test_items(1000, 16);
	return check_done();
}
