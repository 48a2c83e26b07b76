/* SPDX-License-Identifier: MIT */
/* Times, durations and runs as text. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/model/job.h"
#include "common/text/time_text.h"
#include "tests/unit/check.h"

/* Zones as POSIX rules, so that the test needs no files. */
#define BERLIN	     "CET-1CEST,M3.5.0,M10.5.0/3"
#define LORD_HOWE    "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"
#define NEWFOUNDLAND "NST3:30NDT,M3.2.0,M11.1.0"

static void
zone_set(const char *zone)
{
	setenv("TZ", zone, 1);
	time_zone_load();
}

static void
test_time(void)
{
	zone_set("UTC0");
	CHECK_STR(time_text(0), "never");
	CHECK_STR(time_text(1), "1970-01-01T00:00:01+00:00");
	CHECK_STR(time_text(-1), "1969-12-31T23:59:59+00:00");
	CHECK_STR(time_text(4102444800), "2100-01-01T00:00:00+00:00");
	zone_set(BERLIN);
	CHECK_STR(time_text(1795266005), "2026-11-21T14:00:05+01:00");
	/* The two seconds around each change of 2026. */
	CHECK_STR(time_text(1774745999), "2026-03-29T01:59:59+01:00");
	CHECK_STR(time_text(1774746000), "2026-03-29T03:00:00+02:00");
	CHECK_STR(time_text(1792889999), "2026-10-25T02:59:59+02:00");
	CHECK_STR(time_text(1792890000), "2026-10-25T02:00:00+01:00");
	/* Summer time of half an hour; an offset west of Greenwich. */
	zone_set(LORD_HOWE);
	CHECK_STR(time_text(1795266005), "2026-11-22T00:00:05+11:00");
	CHECK_STR(time_text(1785000000), "2026-07-26T03:50:00+10:30");
	zone_set(NEWFOUNDLAND);
	CHECK_STR(time_text(1795266005), "2026-11-21T09:30:05-03:30");
	/* Beyond what struct tm can have. */
	CHECK_STR(time_text(INT64_MAX), "@9223372036854775807");
}

static void
test_duration(void)
{
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = {
		{ 0, "0 ms" },
		{ 14, "14 ms" },
		{ 999, "999 ms" },
		{ 1000, "1 s" },
		{ 1099, "1 s" },
		{ 1500, "1.5 s" },
		{ 9999, "9.9 s" },
		{ 10999, "10 s" },
		{ 59999, "59 s" },
		{ 60000, "1 min" },
		{ 65000, "1 min 5 s" },
		{ 3599999, "59 min 59 s" },
		{ 3600000, "1 h" },
		{ 3659000, "1 h" },
		{ 3660000, "1 h 1 min" },
		{ 86400000, "1 d" },
		{ 525600000, "6 d 2 h" },
		{ 519300000, "6 d" },
		{ 31536000000, "365 d" },
		{ -14, "-14 ms" },
		{ -65000, "-1 min 5 s" },
		{ INT64_MIN, "-106751991167 d 7 h" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(duration_text(cases[i].ms), cases[i].text);
}

static void
test_run_key(void)
{
	struct run_key key = { "alpha", 4711, 1795266005 };

	zone_set(BERLIN);
	CHECK_STR(run_key_text(&key),
	    "job 4711 (alpha, started 2026-11-21T14:00:05+01:00)");
	key.start = 0;
	CHECK_STR(run_key_text(&key), "job 4711 (alpha)");
	key.cluster[0] = '\0';
	CHECK_STR(run_key_text(&key), "job 4711");
	key.start = 1795266005;
	CHECK_STR(run_key_text(&key),
	    "job 4711 (started 2026-11-21T14:00:05+01:00)");
	memset(key.cluster, 'a', CLUSTER_MAX - 1);
	key.job = UINT64_MAX;
	CHECK(strstr(run_key_text(&key),
		  "a, started 2026-11-21T14:00:05+01:00)") != NULL);
}

/* One line may have several texts. */
static void
test_lifetime(void)
{
	const char *a, *b, *c, *d;

	a = time_text(1795266005);
	b = time_text(1795266006);
	c = time_text(1795266007);
	d = time_text(1795266008);
	CHECK(strncmp(a + 17, "05", 2) == 0 && strncmp(b + 17, "06", 2) == 0 &&
	    strncmp(c + 17, "07", 2) == 0 && strncmp(d + 17, "08", 2) == 0);
	a = duration_text(1);
	b = duration_text(2);
	CHECK_STR(a, "1 ms");
	CHECK_STR(b, "2 ms");
}

int
main(void)
{
	test_time();
	test_duration();
	test_run_key();
	test_lifetime();
	return check_done();
}
