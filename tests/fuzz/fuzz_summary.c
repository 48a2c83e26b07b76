/* SPDX-License-Identifier: MIT */
/*
 * The message `summary` of a worker.  A summary that is accepted keeps the limits
 * of its header, and is read with the same values after it is written again.
 */
#include "config.h"

#include "common/model/summary.h"
#include "tests/fuzz/fuzz.h"

static void
limits_check(const struct summary *s)
{
	uint32_t i;

	HOLDS(s->n <= SUMMARY_PROBLEMS_MAX && s->standby <= 1);
	HOLDS(s->last_job >= 0);
	for (i = 0; i < s->n; i++) {
		HOLDS(s->problems[i].kind < PROBLEM__COUNT);
		HOLDS(s->problems[i].since >= 0);
		HOLDS(memchr(s->problems[i].text, '\0',
			  sizeof(s->problems[i].text)) != NULL);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct summary first, second;
	struct reader r;
	struct writer w;
	char *copy = exact(bytes, n);

	rd_init(&r, copy, n);
	summary_read(&r, &first);
	if (rd_end(&r) == 0) {
		limits_check(&first);
		wr_init(&w, n + 64);
		summary_write(&w, &first);
		HOLDS(!w.err && w.len == n && memcmp(w.buf, copy, n) == 0);
		rd_init(&r, w.buf, w.len);
		summary_read(&r, &second);
		HOLDS(rd_end(&r) == 0 && second.n == first.n);
		wr_clear(&w);
	}
	free(copy);
	return 0;
}
