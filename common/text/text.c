/* SPDX-License-Identifier: MIT */
/* Bytes from outside as text; see text.h. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/text.h"

#define CUT_MARK    "\xe2\x80\xa6[cut]"
#define REPLACEMENT "\xef\xbf\xbd"

int
span_is(struct span s, const char *word)
{
	return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

static int
is_control(unsigned char c)
{
	return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
}

#define BYTES(c) (UINT64_C(0x0101010101010101) * (c))

/* 1 when each of the eight bytes is from ' ' to 0x7e. */
static int
is_plain(uint64_t v)
{
	uint64_t del = v ^ BYTES(0x7f);

	return ((v | ((v - BYTES(' ')) & ~v) | ((del - BYTES(1)) & ~del)) &
		   BYTES(0x80)) == 0;
}

/* The number of bytes from p on that are copied as they are. */
static size_t
plain_length(const unsigned char *p, size_t n)
{
	size_t i = 0;
	uint64_t v;

	for (;;) {
		for (; n - i >= sizeof(v); i += sizeof(v)) {
			memcpy(&v, p + i, sizeof(v));
			if (!is_plain(v))
				break;
		}
		if (i == n || p[i] >= 0x80 || is_control(p[i]))
			return i;
		i++;
	}
}

/*
 * Length of the UTF-8 sequence at p, or 0 when it is invalid.  RFC 3629: no
 * overlong forms, no surrogates, nothing above U+10FFFF.
 */
static size_t
sequence(const unsigned char *p, size_t n)
{
	static const struct {
		unsigned char from, to, low, high, len;
	} forms[] = {
		{ 0x00, 0x7f, 0, 0, 1 },
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	size_t i, k;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (p[0] >= forms[i].from && p[0] <= forms[i].to)
			break;
	if (i == sizeof(forms) / sizeof(forms[0]) || forms[i].len > n)
		return 0;
	if (forms[i].len > 1 && (p[1] < forms[i].low || p[1] > forms[i].high))
		return 0;
	for (k = 2; k < forms[i].len; k++)
		if ((p[k] & 0xc0) != 0x80)
			return 0;
	return forms[i].len;
}

/* Terminals also interpret the control characters U+0080 to U+009F. */
static int
is_steering(const unsigned char *p, size_t len)
{
	return len == 2 ? p[0] == 0xc2 && p[1] < 0xa0 :
			  len == 1 && is_control(*p);
}

/* Writes the text for the character at p; *used is its length in bytes. */
static size_t
piece_of(const unsigned char *p, size_t n, char piece[8], size_t *used)
{
	size_t len = sequence(p, n);

	*used = len != 0 ? len : 1;
	if (len == 0)
		return (size_t)snprintf(piece, 8, "%s", REPLACEMENT);
	if (is_steering(p, len))
		return (size_t)snprintf(piece, 8,
		    len == 1 ? "\\x%02x" : "\\u%04x", len == 1 ? p[0] : p[1]);
	memcpy(piece, p, len);
	return len;
}

char *
text_clean(const char *s, size_t n, size_t max)
{
	const unsigned char *p = (const unsigned char *)s;
	const size_t mark = sizeof(CUT_MARK) - 1;
	size_t room, len = 0, cut = 0, used, k;
	char piece[8], *out;

	if (max < mark)
		return NULL;
	/* Nearly all texts are clean and need no more memory than n + 1. */
	if (n <= max && text_is_clean(s, n)) {
		out = malloc(n + 1);
		if (out != NULL) {
			if (n != 0)
				memcpy(out, s, n);
			out[n] = '\0';
		}
		return out;
	}
	/* A byte becomes at most four bytes. */
	room = n > max / 4 ? max : n * 4;
	out = malloc(room + mark + 1);
	if (out == NULL)
		return NULL;
	for (; n > 0; p += used, n -= used) {
		k = piece_of(p, n, piece, &used);
		if (len + k > max) {
			memcpy(out + cut, CUT_MARK, mark);
			len = cut + mark;
			break;
		}
		memcpy(out + len, piece, k);
		len += k;
		if (len + mark <= max)
			cut = len;
	}
	out[len] = '\0';
	return out;
}

int
text_is_clean(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t k;

	for (; n > 0; p += k, n -= k) {
		k = plain_length(p, n);
		if (k == 0)
			k = sequence(p, n);
		if (k == 0 || is_steering(p, k))
			return 0;
	}
	return 1;
}

const char *
text_vis(const char *s, char *buf, size_t size)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = strlen(s), len = 0, used, k;
	char piece[8];

	for (; n > 0; p += used, n -= used) {
		k = piece_of(p, n, piece, &used);
		if (k == 1 && (*piece == '\n' || *piece == '\t'))
			k = (size_t)snprintf(piece, sizeof(piece), "\\%c",
			    *p == '\n' ? 'n' : 't');
		if (len + k + 4 > size) {
			k = size > len + 3 ? 3 : 0;
			memcpy(buf + len, "...", k);
			len += k;
			break;
		}
		memcpy(buf + len, piece, k);
		len += k;
	}
	buf[len] = '\0';
	return buf;
}
