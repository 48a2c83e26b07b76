/* SPDX-License-Identifier: MIT */
/* Numbers and strings of JSON; see json_write.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json_write.h"
#include "common/text/text.h"

/* The digits of u before the end of buf; returns the first. */
static char *
digits(uint64_t u, char *end)
{
	do
		*--end = (char)('0' + u % 10);
	while ((u /= 10) != 0);
	return end;
}

void
wr_json_unsigned(struct writer *w, uint64_t v)
{
	char buf[24], *end = buf + sizeof(buf), *p = digits(v, end);

	wr_mem(w, p, (size_t)(end - p));
}

void
wr_json_number(struct writer *w, int64_t v)
{
	char buf[24], *end = buf + sizeof(buf), *p;

	p = digits(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, end);
	if (v < 0)
		*--p = '-';
	wr_mem(w, p, (size_t)(end - p));
}

static void
escape(struct writer *w, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char out[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

	switch (c) {
	case '\n':
		WR_TEXT(w, "\\n");
		break;
	case '\t':
		WR_TEXT(w, "\\t");
		break;
	case '"':
		WR_TEXT(w, "\\\"");
		break;
	case '\\':
		WR_TEXT(w, "\\\\");
		break;
	default:
		wr_mem(w, out, sizeof(out));
	}
}

/* Escapes n bytes of valid UTF-8. */
static void
escaped(struct writer *w, const char *s, size_t n)
{
	size_t i, from = 0;

	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		wr_mem(w, s + from, i - from);
		escape(w, c);
		from = i + 1;
	}
	wr_mem(w, s + from, n - from);
}

static int
is_ascii(const char *s, size_t n)
{
	unsigned char all = 0;
	size_t i;

	for (i = 0; i < n; i++)
		all |= (unsigned char)s[i];
	return all < 0x80;
}

void
wr_json_string_max(struct writer *w, const char *s, size_t max)
{
	size_t n = strlen(s);
	char *clean = NULL;

	if (n > max || (!is_ascii(s, n) && !text_is_clean(s, n))) {
		clean = text_clean(s, n, max);
		if (clean == NULL) {
			/* Out of memory, or max is less than the mark. */
			clean = strdup("");
			if (clean == NULL)
				w->err = 1;
		}
		s = clean != NULL ? clean : "";
		n = strlen(s);
	}
	wr_u8(w, '"');
	escaped(w, s, n);
	wr_u8(w, '"');
	free(clean);
}

void
wr_json_string(struct writer *w, const char *s)
{
	wr_json_string_max(w, s, JSON_UNLIMITED);
}
