/* SPDX-License-Identifier: MIT */
/* Foreign bytes made fit to be passed on: valid UTF-8, bounded, visible. */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stddef.h>

/* A part of a text that belongs to the caller; p may be NULL when n is 0. */
struct span {
	const char	*p;
	size_t		 n;
};

int span_is(struct span s, const char *word);
/*
 * Returns owned: the n bytes as valid UTF-8 of at most max bytes (without the
 * NUL), cut at a character and marked with "…[cut]" when longer.  Bytes that
 * are no UTF-8 become U+FFFD, control bytes other than newline and tab become
 * a visible "\x1b".  NULL on memory.
 */
char *text_clean(const char *p, size_t n, size_t max);
/* The same into buf, newline and tab made visible too, for one log line; returns buf. */
const char *text_vis(const char *s, char *buf, size_t size);
/* The value of a hexadecimal digit; -1 when it is none. */
int text_hex(char c);
/* Is it UTF-8 without control bytes but newline and tab? */
int text_is_clean(const char *p, size_t n);

#endif
