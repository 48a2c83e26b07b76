/* SPDX-License-Identifier: MIT */
/* Tokens, numbers and ranges in a span. */
#include "config.h"

#include <stdlib.h>

#include "collector/parse/span.h"
#include "tests/unit/check.h"

#define S(text) ((struct span) { text, strlen(text) })
#define BAD	(-99)

static const struct {
	const char *text;
	long long want;
} memories[] = {
	{ "100M", 100 }, { "4000M", 4000 }, { "62.50G", 64000 }, { "2G", 2048 },
	{ "1T", 1048576 }, { "1.5G", 1536 }, { "512K", 0 }, { "2048K", 2 },
	{ "0", 0 }, { "30", 30 }, { "100Mn", 100 }, { "50Mc", 50 }, { "0n", 0 },
	{ "", BAD }, { "G", BAD }, { "n", BAD }, { "1.M", BAD }, { "x1M", BAD },
	{ "99999999999999999999P", BAD }, { "17000000000000000P", BAD },
}, exits[] = {
	{ "0:0", 0 }, { "3:0", 768 }, { "0:9", 9 }, { "1:15", 271 },
	{ "", -1 }, { "3", -1 }, { "256:0", -1 }, { "0:200", -1 },
	{ "a:b", -1 },
};

static void
test_amounts(void)
{
	uint64_t v;
	uint32_t n;
	size_t i;
	char per;

	for (i = 0; i < sizeof(memories) / sizeof(memories[0]); i++)
		CHECK_INT(number_memory(S(memories[i].text), &v, NULL) == 0 ?
			(long long)v :
			BAD,
		    memories[i].want);
	CHECK(number_memory(S("50Mc"), &v, &per) == 0 && per == 'c');
	CHECK(number_memory(S("50M"), &v, &per) == 0 && per == '\0');
	for (i = 0; i < sizeof(exits) / sizeof(exits[0]); i++)
		CHECK_INT(exit_status(S(exits[i].text)), exits[i].want);
	CHECK_INT(number_u64(S("18446744073709551615"), &v), 0);
	CHECK(v == UINT64_MAX);
	CHECK_INT(number_u64(S("18446744073709551616"), &v), -1);
	CHECK_INT(number_u64(S("+1"), &v), -1);
	CHECK_INT(number_u32(S("4294967296"), &n), -1);
}

static char got[1024];

static int
on_range(uint32_t first, uint32_t last, void *arg)
{
	size_t len = strlen(got);

	(void)arg;
	snprintf(got + len, sizeof(got) - len, "%s%u-%u", len ? " " : "", first,
	    last);
	return 0;
}

static void
test_ranges(void)
{
	static const struct {
		const char *text;
		const char *ranges;
	} good[] = {
		{ "", "" },
		{ "0", "0-0" },
		{ "0-3,8", "0-3 8-8" },
		{ "4-5,8-9", "4-5 8-9" },
		{ "4294967295", "4294967295-4294967295" },
	};
	static const char *const bad[] = { "3-1", "1,1", "5,3", "a", "1-", "-1",
		"1,", ",1", "1--2", "4294967296", "1-2,2-3" };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		got[0] = '\0';
		CHECK_INT(ranges_each(S(good[i].text), on_range, NULL), 0);
		CHECK_STR(got, good[i].ranges);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(ranges_each(S(bad[i]), on_range, NULL), -1);
}

static void
test_tokens(void)
{
	static const char line[] = "A=1 BA=2 B=3 C= D=4";
	struct span s = S(line), v;
	char *text;

	CHECK(token_find(s, "B=") == line + 9);
	CHECK(token_find(s, "E=") == NULL);
	CHECK(token_find((struct span) { NULL, 0 }, "B=") == NULL);
	CHECK(span_is(token_value(&s, " B="), "3"));
	CHECK(span_is(s, " C= D=4"));
	CHECK(token_value(&s, " BA=").p == NULL);
	CHECK(span_is(s, " C= D=4"));
	v = token_value(&s, " C=");
	CHECK(v.p != NULL && v.n == 0);
	CHECK(span_is(token_value(&s, " D="), "4"));
	CHECK_INT(s.n, 0);
	CHECK(token_value(&s, " D=").p == NULL);
	CHECK(span_text(S(""), 10) == NULL);
	CHECK(span_text(S("(null)"), 10) == NULL);
	text = span_text(S("a\x01"), 10);
	CHECK_STR(text, "a\\x01");
	free(text);
}

int
main(void)
{
	test_amounts();
	test_ranges();
	test_tokens();
	return check_done();
}
