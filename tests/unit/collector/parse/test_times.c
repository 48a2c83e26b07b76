/* SPDX-License-Identifier: MIT */
/* Times, limits, amounts of memory, exit codes as Slurm writes them. */
#include "config.h"

#include "collector/parse/parse.h"
#include "tests/unit/check.h"

#define S(text)	((struct span){ text, strlen(text) })
#define BAD	(-99)

static const struct {
	const char	*text;
	long long	 want;
} points[] = {
	{ "1795212354", 1795212354 },
	{ "2026-11-20T22:05:54", 1795212354 },
	{ "1970-01-01T00:00:00", 0 },
	{ "Unknown", 0 }, { "None", 0 }, { "N/A", 0 }, { "", 0 },
	{ "-5", BAD }, { "now", BAD }, { "2026-11-20", BAD },
	{ "2026-11-20T22:05:54x", BAD }, { "99999999999999999999", BAD },
	{ "253402300800", BAD }, { "1960-01-01T00:00:00", BAD },
}, limits[] = {
	{ "00:05:00", 300 }, { "05:00", 300 }, { "1-00:00:00", 86400 },
	{ "1-02:03:04", 93784 }, { "365-00:00:00", 31536000 },
	{ "UNLIMITED", 0 }, { "INVALID", -1 }, { "Partition_Limit", -1 },
	{ "", -1 }, { "1-", BAD }, { "1:2:3:4", BAD },
	{ "x", BAD }, { ":", BAD }, { "-1", BAD }, { "99999999-00:00:00", BAD },
}, minutes[] = {
	{ "5", 300 }, { "525600", 31536000 }, { "UNLIMITED", 0 },
	{ "Partition_Limit", -1 }, { "", -1 }, { "5m", BAD },
	{ "18446744073709551615", BAD },
}, memories[] = {
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
test_points(void)
{
	int64_t v;
	size_t i;

	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		CHECK_INT(time_point(S(points[i].text), &v) == 0 ? v : BAD,
		    points[i].want);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		CHECK_INT(time_limit(S(limits[i].text), &v) == 0 ? v : BAD,
		    limits[i].want);
	for (i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++)
		CHECK_INT(time_limit_minutes(S(minutes[i].text), &v) == 0 ?
		    v : BAD, minutes[i].want);
}

static void
test_amounts(void)
{
	uint64_t v;
	uint32_t n;
	size_t i;
	char per;

	for (i = 0; i < sizeof(memories) / sizeof(memories[0]); i++)
		CHECK_INT(number_memory(S(memories[i].text), &v, NULL) == 0 ?
		    (long long)v : BAD, memories[i].want);
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

static void
test_states(void)
{
	CHECK_INT(state_compact(S("R"))->phase, PHASE_RUNNING);
	CHECK_INT(state_compact(S("CG"))->phase, PHASE_COMPLETING);
	CHECK_INT(state_compact(S("??"))->phase, PHASE_UNKNOWN);
	CHECK_INT(state_word(S("CANCELLED by 1001"))->end, END_CANCELLED);
	CHECK_INT(state_word(S("REQUEUED"))->end, END_REQUEUED);
	CHECK_INT(state_word(S("RESIZING"))->phase, PHASE_RESIZED);
	CHECK_INT(state_word(S("SUSPENDED"))->phase, PHASE_RUNNING);
	CHECK_INT(state_word(S(""))->phase, PHASE_UNKNOWN);
}

int
main(void)
{
	test_points();
	test_amounts();
	test_states();
	return check_done();
}
