/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON as Go's encoding/json does: < > & and U+2028, U+2029 escaped,
 * the keys of maps sorted, no blanks, numbers without a needless point.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

static void
byte_write(struct text *t, unsigned char c)
{
	static const char plain[] = "\"\\\b\f\n\r\t", named[] = "\"\\bfnrt";
	const char *at = c != 0 ? strchr(plain, c) : NULL;

	if (at != NULL)
		text_fmt(t, "\\%c", named[at - plain]);
	else
		text_fmt(t, "\\u%04x", c);
}

void
go_string(struct text *t, const char *s, size_t n)
{
	const char *end = s + n, *run;
	unsigned char c;

	text_str(t, "\"");
	while (s < end) {
		for (run = s; s < end; s++) {
			c = (unsigned char)*s;
			if (c < 0x20 || c == '"' || c == '\\' || c == '<' ||
			    c == '>' || c == '&' ||
			    (c == 0xe2 && end - s >= 3 &&
				(unsigned char)s[1] == 0x80 &&
				((unsigned char)s[2] & 0xfe) == 0xa8))
				break;
		}
		text_add(t, run, (size_t)(s - run));
		if (s == end)
			break;
		if ((unsigned char)*s == 0xe2) {
			text_fmt(t, "\\u202%c", s[2] & 1 ? '9' : '8');
			s += 3;
		} else
			byte_write(t, (unsigned char)*s++);
	}
	text_str(t, "\"");
}

void
go_cstring(struct text *t, const char *s)
{
	go_string(t, s, strlen(s));
}

/* strconv.Quote, as %q prints it. */
void
go_quote(struct text *t, const char *s, size_t n)
{
	static const char plain[] = "\"\\\a\b\f\n\r\t\v",
			  named[] = "\"\\abfnrtv";
	unsigned char c;
	const char *at;

	text_str(t, "\"");
	for (; n > 0; n--, s++) {
		c = (unsigned char)*s;
		at = c != 0 ? strchr(plain, c) : NULL;
		if (at != NULL)
			text_fmt(t, "\\%c", named[at - plain]);
		else if (c < 0x20 || c == 0x7f)
			text_fmt(t, "\\x%02x", c);
		else
			text_add(t, s, 1);
	}
	text_str(t, "\"");
}

/* The shortest that reads back the same; exponents without zeros. */
void
go_float(struct text *t, double v)
{
	char buf[64], *e;
	int digits;

	for (digits = 15; digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	e = strstr(buf, "e-0");
	if (e != NULL)
		memmove(e + 2, e + 3, strlen(e + 3) + 1);
	text_str(t, buf);
}

static int
key_compare(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void
object_write(struct text *t, json_t *v)
{
	size_t i = 0, n = json_object_size(v);
	const char **keys = xcalloc(n + 1, sizeof(*keys)), *key;
	json_t *member;

	json_object_foreach(v, key, member) keys[i++] = key;
	qsort(keys, n, sizeof(*keys), key_compare);
	text_str(t, "{");
	for (i = 0; i < n; i++) {
		if (i > 0)
			text_str(t, ",");
		go_cstring(t, keys[i]);
		text_str(t, ":");
		go_value(t, json_object_get(v, keys[i]));
	}
	text_str(t, "}");
	free(keys);
}

void
go_value(struct text *t, json_t *v)
{
	size_t i;

	switch (v != NULL ? json_typeof(v) : JSON_NULL) {
	case JSON_OBJECT:
		object_write(t, v);
		break;
	case JSON_ARRAY:
		text_str(t, "[");
		for (i = 0; i < json_array_size(v); i++) {
			if (i > 0)
				text_str(t, ",");
			go_value(t, json_array_get(v, i));
		}
		text_str(t, "]");
		break;
	case JSON_STRING:
		go_string(t, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		text_fmt(t, "%lld", (long long)json_integer_value(v));
		break;
	case JSON_REAL:
		go_float(t, json_real_value(v));
		break;
	case JSON_TRUE:
		text_str(t, "true");
		break;
	case JSON_FALSE:
		text_str(t, "false");
		break;
	case JSON_NULL:
		text_str(t, "null");
		break;
	}
}
