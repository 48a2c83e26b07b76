/* SPDX-License-Identifier: MIT */
/* Lists of numbers, "0-3,8"; see read.h. */
#include "config.h"

#include <string.h>

#include "collector/parse/parse.h"

/* "4" or "4-7" into first and last. */
static int
range_parse(struct span s, uint32_t *first, uint32_t *last)
{
	const char *dash = s.n > 0 ? memchr(s.p, '-', s.n) : NULL;
	struct span a = s, b;

	if (dash == NULL) {
		if (number_u32(s, first) == -1)
			return -1;
		*last = *first;
		return 0;
	}
	a.n = (size_t)(dash - s.p);
	b.p = dash + 1;
	b.n = s.n - a.n - 1;
	if (number_u32(a, first) == -1 || number_u32(b, last) == -1)
		return -1;
	return *first <= *last ? 0 : -1;
}

int
ranges_each(struct span s, int (*each)(uint32_t first, uint32_t last,
    void *arg), void *arg)
{
	uint32_t first, last, before = 0;
	struct span part;
	const char *comma;
	int any = 0;

	while (s.n > 0) {
		comma = memchr(s.p, ',', s.n);
		part.p = s.p;
		part.n = comma != NULL ? (size_t)(comma - s.p) : s.n;
		if (range_parse(part, &first, &last) == -1)
			return -1;
		if (any && first <= before)
			return -1;
		if (each(first, last, arg) == -1)
			return -1;
		any = 1;
		before = last;
		if (comma == NULL)
			return 0;
		s.p = comma + 1;
		s.n -= part.n + 1;
		if (s.n == 0)
			return -1;
	}
	return 0;
}
