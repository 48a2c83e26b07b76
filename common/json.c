/* SPDX-License-Identifier: MIT */
/* Going through JSON text without building it; see json.h. */
#include "config.h"

#include <string.h>

#include "common/json.h"

static const char *
skip_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
		p++;
	return p;
}

/* p stands behind the opening quote; returns the closing one, or NULL. */
static const char *
string_end(const char *p, const char *end)
{
	const char *back;

	for (;;) {
		p = memchr(p, '"', (size_t)(end - p));
		if (p == NULL)
			return NULL;
		/* An odd number of backslashes before it escapes it. */
		for (back = p; back[-1] == '\\'; back--)
			continue;
		if (((p - back) & 1) == 0)
			return p;
		p++;
	}
}

static const char *
skip_string(const char *p, const char *end)
{
	const char *quote = string_end(p + 1, end);

	return quote != NULL ? quote + 1 : NULL;
}

/* The next quote or bracket, or end. */
static const char *
mark_find(const char *p, const char *end)
{
	static const unsigned char marks[256] = { ['"'] = 1, ['{'] = 1,
		['}'] = 1, ['['] = 1, [']'] = 1 };

	while (p < end && !marks[(unsigned char)*p])
		p++;
	return p;
}

/* Objects and arrays: only quotes and brackets matter. */
static const char *
skip_nested(const char *p, const char *end)
{
	char open[JSON_DEPTH_MAX];
	int depth = 0;

	for (; (p = mark_find(p, end)) < end; p++) {
		switch (*p) {
		case '"':
			p = string_end(p + 1, end);
			if (p == NULL)
				return NULL;
			break;
		case '{':
		case '[':
			if (depth == JSON_DEPTH_MAX)
				return NULL;
			open[depth++] = *p == '{' ? '}' : ']';
			break;
		case '}':
		case ']':
			if (depth == 0 || open[--depth] != *p)
				return NULL;
			if (depth == 0)
				return p + 1;
			break;
		default:
			break;
		}
	}
	return NULL;
}

static const char *
skip_word(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && strchr(",}] \n\t\r", *p) == NULL)
		p++;
	return p > start ? p : NULL;
}

const char *
json_skip(const char *p, const char *end)
{
	p = skip_blank(p, end);
	if (p == end)
		return NULL;
	if (*p == '"')
		return skip_string(p, end);
	if (*p == '{' || *p == '[')
		return skip_nested(p, end);
	return skip_word(p, end);
}

enum json_kind
json_kind(struct span v)
{
	if (v.n == 0)
		return JSON_NONE;
	switch (*v.p) {
	case '"':
		return JSON_STRING;
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case 't':
	case 'f':
		return JSON_BOOL;
	case 'n':
		return JSON_NULL;
	default:
		return *v.p == '-' || (*v.p >= '0' && *v.p <= '9') ?
		    JSON_NUMBER : JSON_NONE;
	}
}

static void
iter_init(struct json_iter *it, struct span s, char open, char close)
{
	it->p = s.p;
	it->end = s.n != 0 ? s.p + s.n : s.p;
	it->close = 0;
	it->first = 1;
	it->err = s.n == 0 || *s.p != open;
	if (!it->err) {
		it->p++;
		it->close = close;
	}
}

void
json_iter_object(struct json_iter *it, struct span object)
{
	iter_init(it, object, '{', '}');
}

void
json_iter_array(struct json_iter *it, struct span array)
{
	iter_init(it, array, '[', ']');
}

static int
iter_fail(struct json_iter *it)
{
	it->err = 1;
	it->close = 0;
	return 0;
}

/* Steps over the comma; 1 when a value follows, 0 when it is over. */
static int
iter_next(struct json_iter *it)
{
	if (it->close == 0)
		return 0;
	it->p = skip_blank(it->p, it->end);
	if (it->p == it->end)
		return iter_fail(it);
	if (*it->p == it->close) {
		it->close = 0;
		return 0;
	}
	if (!it->first) {
		if (*it->p != ',')
			return iter_fail(it);
		it->p = skip_blank(it->p + 1, it->end);
	}
	it->first = 0;
	return 1;
}

static int
iter_value(struct json_iter *it, struct span *value)
{
	const char *end;

	it->p = skip_blank(it->p, it->end);
	end = json_skip(it->p, it->end);
	if (end == NULL)
		return iter_fail(it);
	value->p = it->p;
	value->n = (size_t)(end - it->p);
	it->p = end;
	return 1;
}

int
json_member(struct json_iter *it, struct span *key, struct span *value)
{
	const char *quote;

	if (!iter_next(it))
		return 0;
	if (it->p == it->end || *it->p != '"' ||
	    (quote = string_end(it->p + 1, it->end)) == NULL)
		return iter_fail(it);
	key->p = it->p + 1;
	key->n = (size_t)(quote - key->p);
	it->p = skip_blank(quote + 1, it->end);
	if (it->p == it->end || *it->p != ':')
		return iter_fail(it);
	it->p++;
	return iter_value(it, value);
}

int
json_item(struct json_iter *it, struct span *value)
{
	return iter_next(it) && iter_value(it, value);
}

enum json_kind
json_get(struct span object, const char *key, struct span *value)
{
	struct json_iter it;
	struct span k;

	json_iter_object(&it, object);
	while (json_member(&it, &k, value))
		if (span_is(k, key))
			return json_kind(*value);
	value->p = NULL;
	value->n = 0;
	return JSON_NONE;
}
