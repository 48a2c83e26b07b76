/* SPDX-License-Identifier: MIT */
/* Single values as text: widths, bytes, ages. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/text/text.h"
#include "common/text/time_text.h"
#include "ctl/print_private.h"

#define CUT_MARK "~"
#define ISO_TIME "0000-00-00T00:00:00+00:00"

#define SECONDS_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

int
text_width(const char *s)
{
	int n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

int64_t
field_seconds(const char *s)
{
	int64_t n = strtoll(s, NULL, 10);

	return n < 0 ? 0 : n > SECONDS_MAX ? SECONDS_MAX : n;
}

/* Bytes of the first n characters of s. */
static int
prefix_bytes(const char *s, int n)
{
	const char *p = s;

	for (; *p != '\0'; p++)
		if (((unsigned char)*p & 0xc0) != 0x80 && n-- == 0)
			break;
	return (int)(p - s);
}

void
cell_print(const char *s, int width, int cut)
{
	int n = text_width(s);

	if (cut && n > width && width > 1)
		printf("%.*s" CUT_MARK "  ", prefix_bytes(s, width - 1), s);
	else
		printf("%s%*s", s, n < width ? width - n + 2 : 2, "");
}

void
line_print(const char *s, int width)
{
	if (width > 1 && text_width(s) > width)
		printf("%.*s" CUT_MARK "\n", prefix_bytes(s, width - 1), s);
	else
		printf("%s\n", s);
}

const char *
bytes_text(const char *s, char buf[CELL_MAX])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	char *end;
	double n = (double)strtoull(s, &end, 10);
	unsigned u = 0;

	if (end == s || *end != '\0')
		return text_vis(s, buf, CELL_MAX);
	for (; n >= 1024 && u < 4; u++)
		n /= 1024;
	snprintf(buf, CELL_MAX, n >= 100 || u == 0 ? "%.0f %s" : "%.1f %s", n,
	    units[u]);
	return buf;
}

/* 1 when an ISO 8601 time with its offset begins at s. */
static int
iso_time_read(const char *s, int64_t *when)
{
	static const char form[] = ISO_TIME;
	struct tm tm;
	const char *rest;
	size_t i;
	int minutes;

	for (i = 0; i < sizeof(form) - 1; i++) {
		if (i == 19	       ? (s[i] != '+' && s[i] != '-') :
			form[i] == '0' ? (s[i] < '0' || s[i] > '9') :
					 s[i] != form[i])
			return 0;
	}
	memset(&tm, 0, sizeof(tm));
	rest = strptime(s, "%Y-%m-%dT%H:%M:%S", &tm);
	if (rest != s + 19)
		return 0;
	minutes = (s[20] - '0') * 600 + (s[21] - '0') * 60 +
	    (s[23] - '0') * 10 + s[24] - '0';
	*when = (int64_t)timegm(&tm) -
	    (s[19] == '-' ? -60 : 60) * (int64_t)minutes;
	return 1;
}

const char *
ages_text(const char *s, int64_t now, char buf[CELL_MAX])
{
	size_t len = 0;
	int64_t when;

	while (*s != '\0' && len + 64 < CELL_MAX) {
		if (!iso_time_read(s, &when)) {
			buf[len++] = *s++;
			continue;
		}
		len += (size_t)snprintf(buf + len, CELL_MAX - len,
		    when <= now ? "%s ago" : "in %s",
		    duration_text(
			(when <= now ? now - when : when - now) * 1000));
		s += sizeof(ISO_TIME) - 1;
	}
	buf[len] = '\0';
	return buf;
}
