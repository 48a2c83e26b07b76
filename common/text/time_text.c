/* SPDX-License-Identifier: MIT */
/* Times, durations and numbers as text; see time_text.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/text/time_text.h"

#define TEXTS	   4  /* that stay valid at the same time */
#define TEXT_BYTES 80 /* the largest value of each number fits */

/* No strftime(3): it may read the zone's file again. */
const char *
time_text(int64_t epoch)
{
	static _Thread_local char texts[TEXTS][TEXT_BYTES];
	static _Thread_local unsigned next;
	char *buf = texts[next++ % TEXTS];
	time_t t = (time_t)epoch;
	long offset;
	struct tm tm;

	if (epoch == 0)
		return "never";
	if (localtime_r(&t, &tm) == NULL) {
		snprintf(buf, TEXT_BYTES, "@%lld", (long long)epoch);
		return buf;
	}
	offset = labs(tm.tm_gmtoff) / 60;
	snprintf(buf, TEXT_BYTES,
	    "%04lld-%02d-%02dT%02d:%02d:%02d%c%02ld:%02ld", 1900ll + tm.tm_year,
	    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
	    tm.tm_gmtoff < 0 ? '-' : '+', offset / 60, offset % 60);
	return buf;
}

void
time_zone_load(void)
{
	tzset();
}

static void
units_print(char *buf, const char *sign, uint64_t s)
{
	static const struct {
		unsigned seconds;
		const char *name;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" },
		{ 1, "s" } };
	unsigned i = 0;
	uint64_t rest;

	while (s < units[i].seconds && units[i].seconds > 1)
		i++;
	rest = s % units[i].seconds / units[i + 1].seconds;
	if (rest == 0)
		snprintf(buf, TEXT_BYTES, "%s%llu %s", sign,
		    (unsigned long long)(s / units[i].seconds), units[i].name);
	else
		snprintf(buf, TEXT_BYTES, "%s%llu %s %llu %s", sign,
		    (unsigned long long)(s / units[i].seconds), units[i].name,
		    (unsigned long long)rest, units[i + 1].name);
}

const char *
duration_text(int64_t ms)
{
	static _Thread_local char texts[TEXTS][TEXT_BYTES];
	static _Thread_local unsigned next;
	char *buf = texts[next++ % TEXTS];
	uint64_t n = ms < 0 ? -(uint64_t)ms : (uint64_t)ms;
	const char *sign = ms < 0 ? "-" : "";

	if (n < 1000)
		snprintf(buf, TEXT_BYTES, "%s%u ms", sign, (unsigned)n);
	else if (n < 10000 && n / 100 % 10 != 0)
		snprintf(buf, TEXT_BYTES, "%s%u.%u s", sign,
		    (unsigned)(n / 1000), (unsigned)(n / 100 % 10));
	else
		units_print(buf, sign, n / 1000);
	return buf;
}

const char *
count_text(uint64_t n)
{
	static _Thread_local char texts[TEXTS][TEXT_BYTES];
	static _Thread_local unsigned next;
	char *buf = texts[next++ % TEXTS], *out = buf, plain[TEXT_BYTES];
	size_t i, len;

	snprintf(plain, sizeof(plain), "%llu", (unsigned long long)n);
	len = strlen(plain);
	for (i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = plain[i];
	}
	*out = '\0';
	return buf;
}
