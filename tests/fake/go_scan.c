/* SPDX-License-Identifier: MIT */
/*
 * The syntax check that Go's JSON decoder makes before it looks at the
 * meaning: it finds the end of the first value, or complains in Go's words
 * (encoding/json/scanner.go is where they come from).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "fake.h"

/* Go gives up at 10,000 levels too, and so does our recursion. */
#define DEPTH_MAX 10000

struct scan {
	const char *s;
	size_t n, at;
	struct text *err;
	int depth;
};

static int value_scan(struct scan *);

/* A byte in single quotes as Go prints it. */
static void
byte_quote(struct text *t, unsigned char c)
{
	static const char plain[] = "\a\b\f\n\r\t\v", named[] = "abfnrtv";
	const char *at;

	if (c == '\'')
		text_str(t, "'\\''");
	else if (c == '"')
		text_str(t, "'\"'");
	else if (c == '\\')
		text_str(t, "'\\\\'");
	else if (c != 0 && (at = strchr(plain, c)) != NULL)
		text_fmt(t, "'\\%c'", named[at - plain]);
	else if (c < 0x20 || c == 0x7f)
		text_fmt(t, "'\\x%02x'", c);
	else if (c < 0x7f)
		text_fmt(t, "'%c'", c);
	else if (c <= 0xa0 || c == 0xad)
		text_fmt(t, "'\\u%04x'", c);
	else
		text_fmt(t, "'%c%c'", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
}

static int
scan_bad(struct scan *sc, const char *where)
{
	if (sc->at >= sc->n) {
		text_str(sc->err, "unexpected EOF");
		return -1;
	}
	text_str(sc->err, "invalid character ");
	byte_quote(sc->err, (unsigned char)sc->s[sc->at]);
	text_fmt(sc->err, " %s", where);
	return -1;
}

static void
space_skip(struct scan *sc)
{
	while (sc->at < sc->n &&
	    (sc->s[sc->at] == ' ' || sc->s[sc->at] == '\t' ||
		sc->s[sc->at] == '\r' || sc->s[sc->at] == '\n'))
		sc->at++;
}

/* The next byte, or -1 at the end. */
static int
peek(const struct scan *sc)
{
	return sc->at < sc->n ? (unsigned char)sc->s[sc->at] : -1;
}

static int
escape_scan(struct scan *sc)
{
	int i, c = peek(sc);

	if (c == -1 || strchr("bfnrt\\/\"u", c) == NULL || c == 0)
		return scan_bad(sc, "in string escape code");
	sc->at++;
	if (c != 'u')
		return 0;
	for (i = 0; i < 4; i++, sc->at++) {
		c = peek(sc);
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
			(c >= 'A' && c <= 'F')))
			return scan_bad(sc,
			    "in \\u hexadecimal character escape");
	}
	return 0;
}

static int
string_scan(struct scan *sc)
{
	int c;

	for (sc->at++; (c = peek(sc)) != '"';) {
		if (c < 0x20)
			return scan_bad(sc, "in string literal");
		sc->at++;
		if (c == '\\' && escape_scan(sc) == -1)
			return -1;
	}
	sc->at++;
	return 0;
}

static int
digits_scan(struct scan *sc, const char *where)
{
	if (peek(sc) < '0' || peek(sc) > '9')
		return scan_bad(sc, where);
	while (peek(sc) >= '0' && peek(sc) <= '9')
		sc->at++;
	return 0;
}

static int
number_scan(struct scan *sc)
{
	if (peek(sc) == '-')
		sc->at++;
	if (peek(sc) == '0')
		sc->at++;
	else if (digits_scan(sc, "in numeric literal") == -1)
		return -1;
	if (peek(sc) == '.') {
		sc->at++;
		if (digits_scan(sc, "after decimal point in numeric literal") ==
		    -1)
			return -1;
	}
	if (peek(sc) == 'e' || peek(sc) == 'E') {
		sc->at++;
		if (peek(sc) == '+' || peek(sc) == '-')
			sc->at++;
		if (digits_scan(sc, "in exponent of numeric literal") == -1)
			return -1;
	}
	return 0;
}

static int
word_scan(struct scan *sc, const char *word)
{
	char where[64];
	const char *p;

	for (p = word; *p != '\0'; p++, sc->at++) {
		if (peek(sc) == *p)
			continue;
		snprintf(where, sizeof(where), "in literal %s (expecting '%c')",
		    word, *p);
		return scan_bad(sc, where);
	}
	return 0;
}

static int
object_scan(struct scan *sc)
{
	sc->at++;
	space_skip(sc);
	if (peek(sc) == '}') {
		sc->at++;
		return 0;
	}
	for (;;) {
		space_skip(sc);
		if (peek(sc) != '"')
			return scan_bad(sc,
			    "looking for beginning of object key string");
		if (string_scan(sc) == -1)
			return -1;
		space_skip(sc);
		if (peek(sc) != ':')
			return scan_bad(sc, "after object key");
		sc->at++;
		if (value_scan(sc) == -1)
			return -1;
		space_skip(sc);
		if (peek(sc) != ',' && peek(sc) != '}')
			return scan_bad(sc, "after object key:value pair");
		if (sc->s[sc->at++] == '}')
			return 0;
	}
}

static int
array_scan(struct scan *sc)
{
	sc->at++;
	space_skip(sc);
	if (peek(sc) == ']') {
		sc->at++;
		return 0;
	}
	for (;;) {
		if (value_scan(sc) == -1)
			return -1;
		space_skip(sc);
		if (peek(sc) != ',' && peek(sc) != ']')
			return scan_bad(sc, "after array element");
		if (sc->s[sc->at++] == ']')
			return 0;
	}
}

static int
value_scan(struct scan *sc)
{
	int c, rc;

	space_skip(sc);
	c = peek(sc);
	if (c == '{' || c == '[') {
		if (++sc->depth > DEPTH_MAX) {
			text_str(sc->err, "exceeded max depth");
			return -1;
		}
		rc = c == '{' ? object_scan(sc) : array_scan(sc);
		sc->depth--;
		return rc;
	}
	if (c == '"')
		return string_scan(sc);
	if (c == '-' || (c >= '0' && c <= '9'))
		return number_scan(sc);
	if (c == 't')
		return word_scan(sc, "true");
	if (c == 'f')
		return word_scan(sc, "false");
	if (c == 'n')
		return word_scan(sc, "null");
	return scan_bad(sc, "looking for beginning of value");
}

int
go_scan(const char *s, size_t n, size_t *end, struct text *err)
{
	struct scan sc = { .s = s, .n = n, .err = err };

	space_skip(&sc);
	if (sc.at == sc.n) {
		text_str(err, "EOF");
		return -1;
	}
	if (value_scan(&sc) == -1)
		return -1;
	*end = sc.at;
	return 0;
}
