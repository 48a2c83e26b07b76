/* SPDX-License-Identifier: MIT */
/*
 * Matches a host against a node list without expanding the list: a list of
 * 20,000 nodes has some bytes, its expansion a megabyte.
 */
#include "config.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "common/text/nodelist.h"

/* Digits of a number in a range; a longer one does not fit 64 bits. */
#define DIGITS_MAX 18

static size_t
digits(const char *s, const char *end)
{
	size_t n = 0;

	while (s + n < end && isdigit((unsigned char)s[n]))
		n++;
	return n <= DIGITS_MAX ? n : 0;
}

static uint64_t
number(const char *s, size_t n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v * 10 + (uint64_t)(*s++ - '0');
	return v;
}

/* Bytes of host that the range "FROM-TO" or "N" matches, or 0. */
static size_t
range_match(const char *range, const char *end, const char *host)
{
	size_t low = digits(range, end), high, n;
	const char *to;
	uint64_t v;

	if (low == 0)
		return 0;
	to = range + low;
	if (to == end)
		return strncmp(host, range, low) == 0 ? low : 0;
	if (*to++ != '-')
		return 0;
	high = digits(to, end);
	if (high == 0 || to + high != end)
		return 0;
	n = digits(host, host + strlen(host));
	/* Equal widths: leading zeros.  Different widths: none. */
	if (low == high && n > low)
		n = low;
	if (n < low || n > high || (low != high && n > low && *host == '0'))
		return 0;
	v = number(host, n);
	return v >= number(range, low) && v <= number(to, high) ? n : 0;
}

/* Bytes of host that the content of the brackets matches, or 0. */
static size_t
bracket_match(const char *p, const char *end, const char *host)
{
	const char *comma;
	size_t n;

	for (; p < end; p = comma + 1) {
		comma = memchr(p, ',', (size_t)(end - p));
		if (comma == NULL)
			comma = end;
		n = range_match(p, comma, host);
		if (n != 0)
			return n;
	}
	return 0;
}

/* 1 when the item up to end matches the whole host. */
static int
item_has(const char *p, const char *end, const char *host)
{
	const char *close;
	size_t n;

	while (p < end) {
		if (*p != '[') {
			if (*p++ != *host++)
				return 0;
			continue;
		}
		close = memchr(p, ']', (size_t)(end - p));
		if (close == NULL)
			return 0;
		n = bracket_match(p + 1, close, host);
		if (n == 0)
			return 0;
		host += n;
		p = close + 1;
	}
	return *host == '\0';
}

/*
 * The end of the item at p: a comma outside brackets, or the NUL.  Brackets do
 * not nest: item_has() ends them at the first "]", too.
 */
static const char *
item_end(const char *p)
{
	int in_brackets = 0;

	for (; *p != '\0'; p++) {
		if (*p == '[')
			in_brackets = 1;
		else if (*p == ']')
			in_brackets = 0;
		else if (*p == ',' && !in_brackets)
			break;
	}
	return p;
}

int
nodelist_has(const char *list, const char *host)
{
	const char *end;

	if (*host == '\0')
		return 0;
	if (strcmp(list, "*") == 0)
		return 1;
	for (; *list != '\0'; list = end + (*end == ',')) {
		end = item_end(list);
		if (item_has(list, end, host))
			return 1;
	}
	return 0;
}
