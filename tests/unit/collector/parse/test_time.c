/* SPDX-License-Identifier: MIT */
/* Points in time and time limits as Slurm prints them. */
#include "config.h"

#include "collector/parse/parse.h"
#include "tests/unit/check.h"

#define S(text) ((struct span) { text, strlen(text) })
#define BAD	(-99)

static const struct {
	const char *text;
	long long want;
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
		CHECK_INT(time_limit_minutes(S(minutes[i].text), &v) == 0 ? v :
									    BAD,
		    minutes[i].want);
}

int
main(void)
{
	test_points();
	return check_done();
}
