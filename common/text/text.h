/* SPDX-License-Identifier: MIT */
/* Bytes from outside as text: valid UTF-8, bounded, without control bytes. */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stddef.h>

/* A part of a text that belongs to the caller; p may be NULL when n is 0. */
struct span {
	const char *p;
	size_t n;
};

int span_is(struct span s, const char *word);
/*
 * Returns owned: n bytes as valid UTF-8 of at most max bytes without the NUL.
 * A longer text is cut at a character and ends with "…[cut]".  Bytes that are not
 * UTF-8 become U+FFFD.  Control bytes except newline and tab are escaped as
 * "\x1b".  NULL when out of memory, or max is below 8.
 */
char *text_clean(const char *p, size_t n, size_t max);
/*
 * The same into buf for one line of text: newline and tab are escaped too.
 * Returns buf.
 */
const char *text_vis(const char *s, char *buf, size_t size);
/* 1: UTF-8 without control bytes except newline and tab. */
int text_is_clean(const char *p, size_t n);

#endif
