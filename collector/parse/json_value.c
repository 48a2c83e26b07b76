/* SPDX-License-Identifier: MIT */
/* The values of JSON: strings unescaped, numbers in Slurm's shapes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/text.h"

/* Four hex digits at p, or -1. */
static int32_t
unit(const char *p, const char *end)
{
	int32_t v = 0;
	int i, d;

	if (end - p < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		d = text_hex(p[i]);
		if (d == -1)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

static char *
put_utf8(char *out, uint32_t c)
{
	if (c < 0x80)
		*out++ = (char)c;
	else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

/* \uXXXX, and a second one when the first is half of a pair. */
static const char *
put_unicode(const char *p, const char *end, char **out)
{
	int32_t high = unit(p, end), low;
	uint32_t c;

	if (high == -1) {
		*out = put_utf8(*out, 0xfffd);
		return p;
	}
	p += 4;
	c = (uint32_t)high;
	if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' &&
	    p[1] == 'u' && (low = unit(p + 2, end)) >= 0xdc00 && low < 0xe000) {
		c = 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
		p += 6;
	} else if (c >= 0xd800 && c < 0xe000)
		c = 0xfffd;
	*out = put_utf8(*out, c);
	return p;
}

/* p stands behind the backslash; returns what follows the escape. */
static const char *
put_escape(const char *p, const char *end, char **out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (p == end)
		return p;
	if (*p == 'u')
		return put_unicode(p + 1, end, out);
	at = strchr(from, *p);
	*(*out)++ = at != NULL && *at != '\0' ? to[at - from] : *p;
	return p + 1;
}

void
json_raw(struct span value, struct span *raw)
{
	raw->p = NULL;
	raw->n = 0;
	if (json_kind(value) != JSON_STRING || value.n < 2)
		return;
	raw->p = value.p + 1;
	raw->n = value.n - 2;
}

char *
json_text(struct span value, size_t max)
{
	struct span raw;
	const char *p, *end, *back;
	char *plain, *out, *text;

	json_raw(value, &raw);
	if (raw.n == 0)
		return NULL;
	/* Only a broken unicode escape grows, from two bytes to three. */
	plain = malloc(raw.n + raw.n / 2 + 1);
	if (plain == NULL)
		return NULL;
	end = raw.p + raw.n;
	for (p = raw.p, out = plain; p < end; ) {
		back = memchr(p, '\\', (size_t)(end - p));
		if (back == NULL)
			back = end;
		memcpy(out, p, (size_t)(back - p));
		out += back - p;
		p = back < end ? put_escape(back + 1, end, &out) : end;
	}
	text = text_clean(plain, (size_t)(out - plain), max);
	free(plain);
	return text;
}

int
json_is(struct span value, const char *word)
{
	struct span raw;

	json_raw(value, &raw);
	return raw.p != NULL && span_is(raw, word);
}

int
json_truth(struct span value)
{
	if (span_is(value, "true"))
		return 1;
	return span_is(value, "false") ? 0 : -1;
}

/* -12, 12, 12.75: the integer part; -1 when it is none or does not fit. */
static int
plain_number(struct span s, int64_t *v)
{
	int negative = s.n > 0 && *s.p == '-';
	size_t i = negative ? 1 : 0;
	uint64_t n = 0;

	if (i == s.n || s.p[i] < '0' || s.p[i] > '9')
		return -1;
	for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
		if (n > (INT64_MAX - 9) / 10)
			return -1;
		n = n * 10 + (uint64_t)(s.p[i] - '0');
	}
	if (i < s.n && s.p[i] != '.')
		return -1;
	*v = negative ? -(int64_t)n : (int64_t)n;
	return 0;
}

static enum json_number
set_number(struct span object, int64_t *v)
{
	struct json_iter it;
	struct span key, value, number = { NULL, 0 };
	int set = -1, infinite = 0;

	json_iter_object(&it, object);
	while (json_member(&it, &key, &value)) {
		if (span_is(key, "set"))
			set = json_truth(value);
		else if (span_is(key, "infinite"))
			infinite = json_truth(value);
		else if (span_is(key, "number"))
			number = value;
	}
	if (infinite == 1)
		return JSON_NUMBER_INFINITE;
	if (set == 0)
		return JSON_NUMBER_UNSET;
	if (set == 1 && plain_number(number, v) == 0)
		return JSON_NUMBER_SET;
	return JSON_NUMBER_BAD;
}

enum json_number
json_number(struct span value, int64_t *v)
{
	switch (json_kind(value)) {
	case JSON_NULL:
		return JSON_NUMBER_UNSET;
	case JSON_NUMBER:
		return plain_number(value, v) == 0 ? JSON_NUMBER_SET :
		    JSON_NUMBER_BAD;
	case JSON_OBJECT:
		return set_number(value, v);
	default:
		return JSON_NUMBER_BAD;
	}
}
