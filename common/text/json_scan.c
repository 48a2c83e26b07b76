/* SPDX-License-Identifier: MIT */
/* The JSON scanner; see json_scan.h. */
#include "config.h"

#include <string.h>

#include "common/text/json_scan.h"

/* The element that may come next. */
enum state {
	ST_BEGIN,  /* the first bracket */
	ST_VALUE,  /* a value */
	ST_ITEM,   /* a value or ']' */
	ST_NAME,   /* a name */
	ST_MEMBER, /* a name or '}' */
	ST_COLON,
	ST_AFTER, /* a comma or the closing bracket */
	ST_STRING,
	ST_ESCAPE,  /* behind a backslash */
	ST_UNICODE, /* the digits of a \u escape */
	ST_SCALAR,
	ST_END /* blanks */
};

#define REPLACEMENT 0xfffdu /* for what no UTF-8 text may contain */

void
json_scan_init(struct json_scan *s, char first, char *text, size_t size,
    json_scan_fn *fn, void *arg)
{
	memset(s, 0, sizeof(*s));
	s->first = first;
	s->text = text;
	s->size = size;
	s->fn = fn;
	s->arg = arg;
	s->max_depth = JSON_SCAN_DEPTH_MAX;
	s->state = ST_BEGIN;
	text[0] = '\0';
}

void
json_scan_set_depth(struct json_scan *s, unsigned max_depth)
{
	s->max_depth = max_depth;
}

int
json_scan_in_array(const struct json_scan *s)
{
	return s->depth > 0 && (s->arrays >> (s->depth - 1) & 1);
}

static int
fail(struct json_scan *s, const char *error)
{
	s->error = error;
	return -1;
}

static int
event(struct json_scan *s, enum json_event ev)
{
	s->error = s->fn(s, ev, s->arg);
	return s->error != NULL ? -1 : 0;
}

static void
text_begin(struct json_scan *s, size_t offset)
{
	s->offset = offset;
	s->len = 0;
	s->cut = 0;
	s->surrogate = 0;
}

static void
text_add(struct json_scan *s, const char *p, size_t n)
{
	size_t room = s->size - 1 - s->len;

	if (s->cut)
		return;
	if (n > room) {
		s->cut = 1;
		n = room;
	}
	memcpy(s->text + s->len, p, n);
	s->len += n;
}

/* A character that was written as an escape; it is whole or missing. */
static void
text_add_utf8(struct json_scan *s, unsigned c)
{
	char out[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

	if (n > s->size - 1 - s->len) {
		s->cut = 1;
		return;
	}
	out[0] = (char)c;
	for (i = n; n > 1 && i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	if (n > 1)
		out[0] = (char)((0xf00 >> n & 0xff) | c);
	text_add(s, out, n);
}

/* The first half of a pair without its second one. */
static void
surrogate_end(struct json_scan *s)
{
	if (s->surrogate != 0)
		text_add_utf8(s, REPLACEMENT);
	s->surrogate = 0;
}

static int
text_end(struct json_scan *s, enum json_event ev, enum state next)
{
	surrogate_end(s);
	s->text[s->len] = '\0';
	s->state = next;
	return event(s, ev);
}

static int
bracket_open(struct json_scan *s, char c, size_t offset)
{
	uint64_t bit;

	if (s->depth == s->max_depth)
		return fail(s, "nested too deeply");
	s->offset = offset;
	if (event(s, c == '{' ? JSON_EV_OBJECT : JSON_EV_ARRAY) == -1)
		return -1;
	bit = UINT64_C(1) << s->depth;
	s->arrays = c == '[' ? s->arrays | bit : s->arrays & ~bit;
	s->depth++;
	s->state = c == '[' ? ST_ITEM : ST_MEMBER;
	return 0;
}

static int
bracket_close(struct json_scan *s, char c, size_t offset)
{
	if (json_scan_in_array(s) != (c == ']'))
		return fail(s, "brackets do not match");
	s->depth--;
	s->offset = offset;
	s->state = s->depth == 0 ? ST_END : ST_AFTER;
	return event(s, c == ']' ? JSON_EV_ARRAY_END : JSON_EV_OBJECT_END);
}

static int
value_begin(struct json_scan *s, char c, size_t offset)
{
	if (c == '{' || c == '[')
		return bracket_open(s, c, offset);
	if ((c == ']' || c == '}') && s->state == ST_ITEM)
		return bracket_close(s, c, offset);
	if (c == '"') {
		text_begin(s, offset);
		s->is_name = 0;
		s->state = ST_STRING;
		return 0;
	}
	if (c != '-' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z'))
		return fail(s, "a value is missing");
	text_begin(s, offset);
	text_add(s, &c, 1);
	s->state = ST_SCALAR;
	return 0;
}

static int
name_begin(struct json_scan *s, char c, size_t offset)
{
	if (c == '}' && s->state == ST_MEMBER)
		return bracket_close(s, c, offset);
	if (c != '"')
		return fail(s, "a string is missing");
	text_begin(s, offset);
	s->is_name = 1;
	s->state = ST_STRING;
	return 0;
}

static int
after_value(struct json_scan *s, char c, size_t offset)
{
	if (c == '}' || c == ']')
		return bracket_close(s, c, offset);
	if (c != ',')
		return fail(s,
		    json_scan_in_array(s) ? "the array does not end" :
					    "the object does not end");
	s->state = json_scan_in_array(s) ? ST_VALUE : ST_NAME;
	return 0;
}

/* One byte outside of strings and scalars. */
static int
structure(struct json_scan *s, char c, size_t offset)
{
	if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		return 0;
	switch ((enum state)s->state) {
	case ST_BEGIN:
		if (c == s->first)
			return bracket_open(s, c, offset);
		return fail(s,
		    s->first == '{' ? "not a JSON object" : "not a JSON array");
	case ST_VALUE:
	case ST_ITEM:
		return value_begin(s, c, offset);
	case ST_NAME:
	case ST_MEMBER:
		return name_begin(s, c, offset);
	case ST_COLON:
		s->state = ST_VALUE;
		return c == ':' ? 0 : fail(s, "a colon is missing");
	case ST_AFTER:
		return after_value(s, c, offset);
	default:
		return fail(s, "more bytes after the end");
	}
}

static int
escape(struct json_scan *s, char c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (c == 'u') {
		s->unicode = s->digits = 0;
		s->state = ST_UNICODE;
		return 0;
	}
	surrogate_end(s);
	at = c != '\0' ? strchr(from, c) : NULL;
	if (at == NULL)
		return fail(s, "unknown escape");
	text_add(s, &to[at - from], 1);
	s->state = ST_STRING;
	return 0;
}

static void
unicode_end(struct json_scan *s)
{
	unsigned c = s->unicode;

	s->state = ST_STRING;
	if (s->surrogate != 0 && c >= 0xdc00 && c < 0xe000) {
		c = 0x10000 + ((s->surrogate - 0xd800) << 10) + (c - 0xdc00);
		s->surrogate = 0;
	}
	surrogate_end(s);
	if (c >= 0xd800 && c < 0xdc00)
		s->surrogate = c;
	else
		text_add_utf8(s,
		    c == 0 || (c >= 0xdc00 && c < 0xe000) ? REPLACEMENT : c);
}

static int
unicode(struct json_scan *s, char c)
{
	static const char hex[] = "0123456789abcdef";
	const char *at;

	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	at = c != '\0' ? strchr(hex, c) : NULL;
	if (at == NULL)
		return fail(s, "invalid \\u escape");
	s->unicode = s->unicode << 4 | (unsigned)(at - hex);
	if (++s->digits == 4)
		unicode_end(s);
	return 0;
}

/* Bytes of a string; returns how many were read, -1 on error. */
static ptrdiff_t
string(struct json_scan *s, const char *p, const char *end)
{
	const char *start = p;

	while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= ' ')
		p++;
	if (p > start) {
		surrogate_end(s);
		text_add(s, start, (size_t)(p - start));
	}
	if (p == end)
		return p - start;
	if (*p == '\\')
		s->state = ST_ESCAPE;
	else if (*p != '"')
		return fail(s, "a string contains a control byte");
	else if (text_end(s, s->is_name ? JSON_EV_NAME : JSON_EV_STRING,
		     s->is_name ? ST_COLON : ST_AFTER) == -1)
		return -1;
	return p + 1 - start;
}

static ptrdiff_t
scalar(struct json_scan *s, const char *p, const char *end)
{
	const char *start = p;

	while (p < end &&
	    ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
		*p == '-' || *p == '+' || *p == '.' || *p == 'E'))
		p++;
	text_add(s, start, (size_t)(p - start));
	if (p < end && text_end(s, JSON_EV_SCALAR, ST_AFTER) == -1)
		return -1;
	return p - start;
}

/* Returns how many bytes were read, -1 on error. */
static ptrdiff_t
step(struct json_scan *s, const char *p, const char *end, size_t offset)
{
	switch ((enum state)s->state) {
	case ST_STRING:
		return string(s, p, end);
	case ST_SCALAR:
		return scalar(s, p, end);
	case ST_ESCAPE:
		return escape(s, *p) == -1 ? -1 : 1;
	case ST_UNICODE:
		return unicode(s, *p) == -1 ? -1 : 1;
	default:
		return structure(s, *p, offset) == -1 ? -1 : 1;
	}
}

const char *
json_scan_feed(struct json_scan *s, const char *p, size_t n)
{
	const char *start = p, *end = p + n;
	ptrdiff_t read;

	while (p < end && s->error == NULL) {
		read = step(s, p, end, s->base + (size_t)(p - start));
		if (read == -1)
			break;
		p += read;
	}
	s->base += n;
	return s->error;
}

const char *
json_scan_end(const struct json_scan *s)
{
	if (s->error != NULL || s->state == ST_END)
		return s->error;
	if (s->state == ST_BEGIN)
		return s->first == '{' ? "not a JSON object" :
					 "not a JSON array";
	if (s->state == ST_STRING || s->state == ST_ESCAPE ||
	    s->state == ST_UNICODE)
		return "a string does not end";
	return s->first == '{' ? "the object does not end" :
				 "the array does not end";
}
