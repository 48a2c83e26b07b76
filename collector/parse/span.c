/* SPDX-License-Identifier: MIT */
/* Values in a span of Slurm's output; see span.h. */
#include "config.h"

#include <string.h>

#include "collector/parse/span.h"

char *
span_text(struct span s, size_t max)
{
	if (s.n == 0 || span_is(s, "(null)"))
		return NULL;
	return text_clean(s.p, s.n, max);
}

struct span
span_from(struct span s, const char *p)
{
	return (struct span) { p, s.n - (size_t)(p - s.p) };
}

const char *
token_find(struct span s, const char *what)
{
	return s.n > 0 ? memmem(s.p, s.n, what, strlen(what)) : NULL;
}

/*
 * A key ends with its only "=", and the requested key is usually one of the
 * next two.  This finds it faster than memmem().
 */
static const char *
key_find(struct span s, const char *key, size_t len)
{
	const char *p = s.p, *end = s.p + s.n;

	for (; s.n > 0 && (p = memchr(p, '=', (size_t)(end - p))) != NULL; p++)
		if ((size_t)(p - s.p) + 1 >= len &&
		    memcmp(p + 1 - len, key, len) == 0)
			return p + 1 - len;
	return NULL;
}

struct span
token_value(struct span *s, const char *key)
{
	size_t len = strlen(key);
	const char *at = key_find(*s, key, len), *end;
	struct span v = { NULL, 0 };

	if (at == NULL)
		return v;
	v = span_from(*s, at + len);
	end = v.n > 0 ? memchr(v.p, ' ', v.n) : NULL;
	if (end != NULL)
		v.n = (size_t)(end - v.p);
	*s = span_from(*s, v.p + v.n);
	return v;
}

int
span_begins(struct span s, const char *what)
{
	size_t n = strlen(what);

	return s.n >= n && memcmp(s.p, what, n) == 0;
}

struct span
token_next(struct span *s, const char *key)
{
	return span_begins(*s, key) ? token_value(s, key) :
				      (struct span) { NULL, 0 };
}

int
number_u64(struct span s, uint64_t *v)
{
	uint64_t sum = 0;
	unsigned digit;
	size_t i;

	if (s.n == 0 || s.n > 20)
		return -1;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		digit = (unsigned)(s.p[i] - '0');
		if (sum > (UINT64_MAX - digit) / 10)
			return -1;
		sum = sum * 10 + digit;
	}
	*v = sum;
	return 0;
}

int
number_u32(struct span s, uint32_t *v)
{
	uint64_t wide;

	if (number_u64(s, &wide) == -1 || wide > UINT32_MAX)
		return -1;
	*v = (uint32_t)wide;
	return 0;
}

/* The power of 1024 by which a suffix exceeds MB; -2 when c is no suffix. */
static int
memory_power(char c)
{
	static const char suffixes[] = "KMGTP";
	const char *p = c != '\0' ? strchr(suffixes, c) : NULL;

	return p != NULL ? (int)(p - suffixes) - 1 : -2;
}

int
number_memory(struct span s, uint64_t *mb, char *per)
{
	struct span whole = s, part = { NULL, 0 };
	uint64_t value, hundredths = 0;
	const char *dot;
	int power = 0;

	if (per != NULL)
		*per = '\0';
	if (s.n > 0 && (s.p[s.n - 1] == 'n' || s.p[s.n - 1] == 'c')) {
		if (per != NULL)
			*per = s.p[s.n - 1];
		whole.n--;
	}
	if (whole.n > 0 && memory_power(whole.p[whole.n - 1]) != -2)
		power = memory_power(whole.p[--whole.n]);
	dot = whole.n > 0 ? memchr(whole.p, '.', whole.n) : NULL;
	if (dot != NULL) {
		part.p = dot + 1;
		part.n = whole.n - (size_t)(part.p - whole.p);
		whole.n = (size_t)(dot - whole.p);
		if (part.n > 2)
			part.n = 2;
		if (number_u64(part, &hundredths) == -1)
			return -1;
		if (part.n == 1)
			hundredths *= 10;
	}
	if (number_u64(whole, &value) == -1 || value > UINT64_MAX / 1024)
		return -1;
	value = value * 100 + hundredths;
	for (; power > 0; power--) {
		if (value > UINT64_MAX / 1024)
			return -1;
		value *= 1024;
	}
	if (power < 0)
		value /= 1024;
	*mb = value / 100;
	return 0;
}

int32_t
exit_status(struct span s)
{
	const char *colon = s.n > 0 ? memchr(s.p, ':', s.n) : NULL;
	struct span a = s, b;
	uint32_t code, sig;

	if (colon == NULL)
		return -1;
	a.n = (size_t)(colon - s.p);
	b = span_from(s, colon + 1);
	if (number_u32(a, &code) == -1 || number_u32(b, &sig) == -1 ||
	    code > 255 || sig > 127)
		return -1;
	return (int32_t)(code << 8 | sig);
}

/* Reads "4" or "4-7". */
static int
range_parse(struct span s, uint32_t *first, uint32_t *last)
{
	const char *dash = s.n > 0 ? memchr(s.p, '-', s.n) : NULL;
	struct span a = s, b;

	if (dash == NULL) {
		if (number_u32(s, first) == -1)
			return -1;
		*last = *first;
		return 0;
	}
	a.n = (size_t)(dash - s.p);
	b.p = dash + 1;
	b.n = s.n - a.n - 1;
	if (number_u32(a, first) == -1 || number_u32(b, last) == -1)
		return -1;
	return *first <= *last ? 0 : -1;
}

int
ranges_each(struct span s,
    int (*each)(uint32_t first, uint32_t last, void *arg), void *arg)
{
	uint32_t first, last, before = 0;
	struct span part;
	const char *comma;
	int any = 0;

	while (s.n > 0) {
		comma = memchr(s.p, ',', s.n);
		part.p = s.p;
		part.n = comma != NULL ? (size_t)(comma - s.p) : s.n;
		if (range_parse(part, &first, &last) == -1)
			return -1;
		if (any && first <= before)
			return -1;
		if (each(first, last, arg) == -1)
			return -1;
		any = 1;
		before = last;
		if (comma == NULL)
			return 0;
		s.p = comma + 1;
		s.n -= part.n + 1;
		if (s.n == 0)
			return -1;
	}
	return 0;
}
