/* SPDX-License-Identifier: MIT */
/*
 * Values in Slurm's output, one per line: points in time, limits, memory, exit
 * codes, states.  A value that was read is written in its plain form, which must
 * give the same value.
 */
#include "config.h"

#include <inttypes.h>
#include <time.h>

#include "collector/parse/parse.h"
#include "tests/fuzz/fuzz.h"

#define YEAR_9999 INT64_C(253402300799)
#define CENTURY	  INT64_C(3162240000)

static struct span
span_of(const char *s)
{
	return (struct span) { s, strlen(s) };
}

static void
point_holds(struct span s)
{
	int64_t t, again;
	char text[64];
	struct tm tm;
	time_t when;

	if (time_point(s, &t) == -1)
		return;
	HOLDS(t >= 0 && t <= YEAR_9999);
	snprintf(text, sizeof(text), "%" PRId64, t);
	HOLDS(time_point(span_of(text), &again) == 0 && again == t);
	when = (time_t)t;
	HOLDS(gmtime_r(&when, &tm) != NULL);
	HOLDS(strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) > 0);
	HOLDS(time_point(span_of(text), &again) == 0 && again == t);
}

static void
limit_holds(struct span s)
{
	int64_t t, again;
	char text[64];

	if (time_limit(s, &t) == 0) {
		HOLDS(t >= -1 && t <= CENTURY);
		if (t > 0) {
			snprintf(text, sizeof(text),
			    "%" PRId64 "-%02d:%02d:%02d", t / 86400,
			    (int)(t / 3600 % 24), (int)(t / 60 % 60),
			    (int)(t % 60));
			HOLDS(time_limit(span_of(text), &again) == 0);
			HOLDS(again == t);
		}
	}
	if (time_limit_minutes(s, &t) == 0)
		HOLDS(t >= -1 && t <= CENTURY && (t == -1 || t % 60 == 0));
}

static void
number_holds(struct span s)
{
	uint64_t wide, again;
	uint32_t narrow;
	char text[32];
	int rc = number_u64(s, &wide);

	if (rc == 0) {
		snprintf(text, sizeof(text), "%" PRIu64, wide);
		HOLDS(number_u64(span_of(text), &again) == 0 && again == wide);
		HOLDS(s.n >= strlen(text));
		HOLDS(
		    memcmp(s.p + s.n - strlen(text), text, strlen(text)) == 0);
	}
	HOLDS((number_u32(s, &narrow) == 0) == (rc == 0 && wide <= UINT32_MAX));
}

static void
memory_holds(struct span s)
{
	uint64_t mb, again;
	char text[32], per;

	if (number_memory(s, &mb, &per) == -1)
		return;
	HOLDS(per == '\0' || per == 'n' || per == 'c');
	HOLDS(number_memory(s, &again, NULL) == 0 && again == mb);
	if (mb <= UINT64_MAX / 102400) {
		snprintf(text, sizeof(text), "%" PRIu64 "M", mb);
		HOLDS(number_memory(span_of(text), &again, NULL) == 0);
		HOLDS(again == mb);
	}
}

static void
word_holds(struct span s)
{
	int32_t code = exit_status(s);

	HOLDS(code == -1 || (code >= 0 && code <= (255 << 8 | 127)));
	HOLDS(state_word(s) != NULL && state_word(s)->word != NULL);
	HOLDS(state_compact(s) != NULL && state_compact(s)->word != NULL);
	HOLDS(state_compact(s)->phase == PHASE_UNKNOWN ||
	    span_is(s, state_compact(s)->word));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const uint8_t *end = bytes + n, *nl;
	struct span s;
	char *word;

	fuzz_quiet();
	for (; bytes < end; bytes = nl + 1) {
		nl = memchr(bytes, '\n', (size_t)(end - bytes));
		if (nl == NULL)
			nl = end;
		s.n = (size_t)(nl - bytes);
		s.p = word = exact(bytes, s.n);
		point_holds(s);
		limit_holds(s);
		number_holds(s);
		memory_holds(s);
		word_holds(s);
		free(word);
		if (nl == end)
			break;
	}
	return 0;
}
