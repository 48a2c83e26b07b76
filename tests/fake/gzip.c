/* SPDX-License-Identifier: MIT */
/*
 * The gzip format around blocks that are stored as they are: a client sees
 * whether it can unpack, and the stand-in needs no library for it.
 */
#include "config.h"

#include <string.h>

#include "fake.h"

/* The most that one stored block holds (RFC 1951, 3.2.4). */
#define BLOCK_MAX 65535

static uint32_t
crc32_of(const char *p, size_t n)
{
	static uint32_t table[256];
	uint32_t c, i, k;

	if (table[1] == 0)
		for (i = 0; i < 256; i++) {
			for (c = i, k = 0; k < 8; k++)
				c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
			table[i] = c;
		}
	for (c = 0xffffffffu; n > 0; n--, p++)
		c = table[(c ^ (unsigned char)*p) & 0xff] ^ c >> 8;
	return ~c;
}

static void
little(struct text *t, uint32_t v, size_t bytes)
{
	char b[4] = { (char)v, (char)(v >> 8), (char)(v >> 16),
		(char)(v >> 24) };

	text_add(t, b, bytes);
}

void
gzip_wrap(struct text *t)
{
	static const char head[10] = { 0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0,
		(char)0xff };
	struct text out = { 0 };
	size_t at = 0, n;

	text_add(&out, head, sizeof(head));
	do {
		n = t->len - at > BLOCK_MAX ? BLOCK_MAX : t->len - at;
		little(&out, at + n == t->len, 1);
		little(&out, (uint32_t)n, 2);
		little(&out, ~(uint32_t)n, 2);
		if (n > 0)
			text_add(&out, t->p + at, n);
		at += n;
	} while (at < t->len);
	little(&out, crc32_of(t->p, t->len), 4);
	little(&out, (uint32_t)t->len, 4);
	text_clear(t);
	*t = out;
}
