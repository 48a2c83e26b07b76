/* SPDX-License-Identifier: MIT */
/*
 * Slurm's hostlist expressions; see parse.h.  A word is literal text with
 * brackets in it; the last bracket changes fastest.  Every number of a range is
 * padded with zeros to the width of the first one.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/parse/parse.h"

#define BRACKETS_MAX 8 /* Slurm's own limit is lower */

struct expansion {
	int (*each)(const char *name, void *arg);
	void *arg;
	char name[HOST_MAX];
	int count;
	int brackets;
};

static int expand(struct expansion *x, size_t len, struct span rest);

static int
append(struct expansion *x, size_t *len, const char *p, size_t n)
{
	if (n >= sizeof(x->name) - *len)
		return -1;
	memcpy(x->name + *len, p, n);
	*len += n;
	return 0;
}

/* Expands one range of a bracket, "008-011", and the rest behind the bracket. */
static int
expand_range(struct expansion *x, size_t len, struct span range,
    struct span rest)
{
	const char *dash = memchr(range.p, '-', range.n);
	struct span a = range, b;
	uint32_t first, last, v;
	char digits[16];
	size_t at;
	int n;

	if (dash != NULL)
		a.n = (size_t)(dash - range.p);
	if (a.n > 10 || number_u32(a, &first) == -1)
		return -1;
	last = first;
	if (dash != NULL) {
		b.p = dash + 1;
		b.n = range.n - a.n - 1;
		if (number_u32(b, &last) == -1 || last < first ||
		    last - first >= HOSTS_MAX)
			return -1;
	}
	for (v = first;; v++) {
		n = snprintf(digits, sizeof(digits), "%0*u", (int)a.n, v);
		at = len;
		if (n < 0 || append(x, &at, digits, (size_t)n) == -1 ||
		    expand(x, at, rest) == -1)
			return -1;
		if (v == last)
			return 0;
	}
}

static int
expand_bracket(struct expansion *x, size_t len, struct span inside,
    struct span rest)
{
	struct span part;
	const char *comma;

	if (inside.n == 0)
		return -1;
	for (;;) {
		comma = memchr(inside.p, ',', inside.n);
		part.p = inside.p;
		part.n = comma != NULL ? (size_t)(comma - inside.p) : inside.n;
		if (part.n == 0 || expand_range(x, len, part, rest) == -1)
			return -1;
		if (comma == NULL)
			return 0;
		inside.p = comma + 1;
		inside.n -= part.n + 1;
		if (inside.n == 0)
			return -1;
	}
}

/* Expands rest behind the len bytes of the name that are complete. */
static int
expand(struct expansion *x, size_t len, struct span rest)
{
	const char *open = rest.n > 0 ? memchr(rest.p, '[', rest.n) : NULL;
	const char *close;
	struct span inside, behind;
	int rc;

	if (open == NULL) {
		if ((rest.n > 0 && memchr(rest.p, ']', rest.n) != NULL) ||
		    append(x, &len, rest.p, rest.n) == -1 || len == 0)
			return -1;
		x->name[len] = '\0';
		if (++x->count > HOSTS_MAX)
			return -1;
		return x->each(x->name, x->arg);
	}
	close = memchr(rest.p, ']', rest.n);
	if (close == NULL || close < open || x->brackets == BRACKETS_MAX ||
	    append(x, &len, rest.p, (size_t)(open - rest.p)) == -1)
		return -1;
	inside.p = open + 1;
	inside.n = (size_t)(close - inside.p);
	behind.p = close + 1;
	behind.n = rest.n - (size_t)(behind.p - rest.p);
	x->brackets++;
	rc = expand_bracket(x, len, inside, behind);
	x->brackets--;
	return rc;
}

/* The length up to the next comma that is not in a bracket. */
static size_t
word_length(struct span s)
{
	size_t i;
	int inside = 0;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '[')
			inside = 1;
		else if (s.p[i] == ']')
			inside = 0;
		else if (s.p[i] == ',' && !inside)
			break;
	}
	return i;
}

/* A list contains no blank, no control byte, no parenthesis and no "=". */
static int
is_plain(struct span s)
{
	size_t i;

	for (i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c <= ' ' || c == 0x7f || c == '(' || c == ')' || c == '=')
			return 0;
	}
	return 1;
}

int
hostlist_each(struct span s, int (*each)(const char *name, void *arg),
    void *arg)
{
	struct expansion x = { .each = each, .arg = arg };
	struct span word;

	if (s.n == 0)
		return 0;
	if (!is_plain(s))
		return -1;
	for (;;) {
		word.p = s.p;
		word.n = word_length(s);
		if (word.n == 0 || expand(&x, 0, word) == -1)
			return -1;
		if (word.n == s.n)
			return x.count;
		s.p += word.n + 1;
		s.n -= word.n + 1;
	}
}
