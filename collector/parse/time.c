/* SPDX-License-Identifier: MIT */
/* Points in time and time limits as Slurm prints them; see parse.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collector/parse/parse.h"

/* 100 years; Slurm's own limit is far lower. */
#define LIMIT_MAX (100LL * 366 * 86400)

static int
is_unset(struct span s)
{
	return s.n == 0 || span_is(s, "Unknown") || span_is(s, "None") ||
	    span_is(s, "N/A") || span_is(s, "NONE") || span_is(s, "INVALID") ||
	    span_is(s, "(null)");
}

static int
calendar_time(struct span s, int64_t *epoch)
{
	struct tm tm;
	char text[32], *end;
	time_t t;

	if (s.n >= sizeof(text))
		return -1;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	memset(&tm, 0, sizeof(tm));
	end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (end == NULL || *end != '\0')
		return -1;
	t = timegm(&tm);
	if (t < 0)
		return -1;
	*epoch = t;
	return 0;
}

int
time_point(struct span s, int64_t *epoch)
{
	uint64_t v;

	*epoch = 0;
	if (is_unset(s))
		return 0;
	if (number_u64(s, &v) == -1)
		return calendar_time(s, epoch);
	if (v > TIME_S_MAX)
		return -1;
	*epoch = (int64_t)v;
	return 0;
}

/* Returns 1 and sets *seconds when s is a word for a limit, else 0. */
static int
limit_word(struct span s, int64_t *seconds)
{
	if (span_is(s, "UNLIMITED") || span_is(s, "INFINITE")) {
		*seconds = 0;
		return 1;
	}
	if (is_unset(s) || span_is(s, "Partition_Limit") ||
	    span_is(s, "NOT_SET")) {
		*seconds = -1;
		return 1;
	}
	return 0;
}

int
time_limit(struct span s, int64_t *seconds)
{
	uint64_t field[3] = { 0, 0, 0 }, days = 0;
	struct span part;
	const char *p;
	int n = 0;

	if (limit_word(s, seconds))
		return 0;
	p = memchr(s.p, '-', s.n);
	if (p != NULL) {
		part.p = s.p;
		part.n = (size_t)(p - s.p);
		if (number_u64(part, &days) == -1 || days > LIMIT_MAX / 86400)
			return -1;
		s.n -= part.n + 1;
		s.p = p + 1;
	}
	for (;;) {
		p = memchr(s.p, ':', s.n);
		part.p = s.p;
		part.n = p != NULL ? (size_t)(p - s.p) : s.n;
		if (n == 3 || number_u64(part, &field[n]) == -1 ||
		    field[n] > LIMIT_MAX)
			return -1;
		n++;
		if (p == NULL)
			break;
		s.n -= part.n + 1;
		s.p = p + 1;
	}
	/* The last field is seconds: 05:00 is five minutes. */
	for (; n < 3; n++) {
		field[2] = field[1];
		field[1] = field[0];
		field[0] = 0;
	}
	*seconds = (int64_t)(days * 86400 + field[0] * 3600 + field[1] * 60 +
	    field[2]);
	return *seconds <= LIMIT_MAX ? 0 : -1;
}

int
time_limit_minutes(struct span s, int64_t *seconds)
{
	uint64_t v;

	if (limit_word(s, seconds))
		return 0;
	if (number_u64(s, &v) == -1 || v > LIMIT_MAX / 60)
		return -1;
	*seconds = (int64_t)v * 60;
	return 0;
}
