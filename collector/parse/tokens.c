/* SPDX-License-Identifier: MIT */
/* Tokens "Key=value" in scontrol's fixed order; see read.h. */
#include "config.h"

#include <string.h>

#include "collector/parse/parse.h"

const char *
token_find(struct span s, const char *what)
{
	return s.n > 0 ? memmem(s.p, s.n, what, strlen(what)) : NULL;
}

struct span
span_from(struct span s, const char *p)
{
	return (struct span){ p, s.n - (size_t)(p - s.p) };
}

/*
 * A key ends in the only = that it has, and the one looked for is mostly the
 * next or the one behind it: this is sooner there than memmem().
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
