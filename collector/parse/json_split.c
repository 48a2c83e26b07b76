/* SPDX-License-Identifier: MIT */
/*
 * Finds each element of one top-level array as the bytes arrive.  Only what
 * straddles two reads is copied; a document of 100 MB passes in the memory
 * of its longest job.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"

#define MEMBER_MAX	(64u * 1024)	/* meta, errors, warnings */
#define KEY_MAX		64

/* Where in the document the next byte stands. */
enum place {
	AT_START,		/* before the document's { */
	AT_KEY,			/* a key, a comma, or the end */
	IN_KEY,
	AT_COLON,
	AT_VALUE,		/* the value of a member */
	IN_MEMBER,		/* inside a value that is not the array */
	AT_ELEMENT,		/* inside the array, before an element */
	IN_ELEMENT,
	AT_END
};

struct json_split {
	const struct json_split_ops *ops;
	void		*arg;
	char		 array[KEY_MAX];
	char		 key[KEY_MAX];
	size_t		 key_len;
	enum place	 place;
	int		 depth;		/* of the value under way */
	int		 in_string;
	int		 escaped;	/* behind a backslash, of a string or key */
	int		 scalar;	/* a number or word: ends before , ] } */
	int		 seen_array;
	int		 failed;
	size_t		 max;
	char		*kept;		/* what earlier reads brought of the value */
	size_t		 kept_len;
	size_t		 kept_cap;
	size_t		 total;		/* bytes of the value so far */
	int		 too_long;
};

struct json_split *
json_split_new(const char *array, size_t max, const struct json_split_ops *ops,
    void *arg)
{
	struct json_split *s = calloc(1, sizeof(*s));

	if (s == NULL || strlen(array) >= sizeof(s->array)) {
		free(s);
		return NULL;
	}
	strcpy(s->array, array);
	s->max = max;
	s->ops = ops;
	s->arg = arg;
	return s;
}

void
json_split_free(struct json_split *s)
{
	if (s == NULL)
		return;
	free(s->kept);
	free(s);
}

static int
is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static size_t
limit(const struct json_split *s)
{
	return s->place == IN_ELEMENT ? s->max : MEMBER_MAX;
}

static void
value_begin(struct json_split *s, enum place place)
{
	s->place = place;
	s->depth = 0;
	s->in_string = 0;
	s->escaped = 0;
	s->scalar = 0;
	s->kept_len = 0;
	s->total = 0;
	s->too_long = 0;
}

/* Keeps the part of a value that this read brought. */
static int
keep(struct json_split *s, const char *p, size_t n)
{
	size_t cap = s->kept_cap != 0 ? s->kept_cap : 4096;
	char *more;

	s->total += n;
	if (s->too_long || s->total > limit(s)) {
		s->too_long = 1;
		s->kept_len = 0;
		return 0;
	}
	while (cap < s->kept_len + n)
		cap *= 2;
	if (cap > s->kept_cap) {
		more = realloc(s->kept, cap);
		if (more == NULL)
			return -1;
		s->kept = more;
		s->kept_cap = cap;
	}
	memcpy(s->kept + s->kept_len, p, n);
	s->kept_len += n;
	return 0;
}

/* The value is whole: its last part is p, n. */
static int
value_done(struct json_split *s, const char *p, size_t n)
{
	struct span v = { p, n }, key = { s->key, s->key_len };
	int element = s->place == IN_ELEMENT;

	if (s->total > 0 || n > limit(s)) {
		if (keep(s, p, n) == -1)
			return -1;
		v.p = s->kept;
		v.n = s->kept_len;
	}
	/* A number or word has been read up to what ends it. */
	while (v.n > 0 && is_blank(v.p[v.n - 1]))
		v.n--;
	s->place = element ? AT_ELEMENT : AT_KEY;
	if (s->too_long) {
		if (s->ops->on_too_long != NULL)
			s->ops->on_too_long(s->total, s->arg);
		return 0;
	}
	if (element)
		return s->ops->on_element(v, s->arg);
	if (s->ops->on_member != NULL)
		s->ops->on_member(key, v, s->arg);
	return 0;
}

/* Goes on inside a string; returns behind its end, or end. */
static const char *
in_string(struct json_split *s, const char *p, const char *end)
{
	const char *quote, *back;

	if (s->escaped && p < end) {
		s->escaped = 0;
		p++;
	}
	while (p < end) {
		quote = memchr(p, '"', (size_t)(end - p));
		back = memchr(p, '\\', (size_t)((quote != NULL ? quote :
		    end) - p));
		if (back == NULL && quote == NULL)
			return end;
		if (back == NULL) {
			s->in_string = 0;
			return quote + 1;
		}
		s->escaped = back + 1 == end;
		p = s->escaped ? end : back + 2;
	}
	return end;
}

/* What stands here ends a number or word; without one there is no value. */
static int
value_over(struct json_split *s)
{
	if (!s->scalar)
		s->failed = 1;
	return s->scalar;
}

/*
 * 1 when the value ends before or at *p (then *p is moved behind it).  0
 * without *p moved: it failed.
 */
static int
value_byte(struct json_split *s, const char **p)
{
	switch (**p) {
	case '"':
		s->in_string = 1;
		break;
	case '{':
	case '[':
		if (++s->depth > JSON_DEPTH_MAX)
			s->failed = 1;
		break;
	case '}':
	case ']':
		if (s->depth == 0)
			return value_over(s);
		if (--s->depth == 0) {
			++*p;
			return 1;
		}
		break;
	case ',':
		if (s->depth == 0)
			return value_over(s);
		break;
	default:
		if (s->depth == 0 && !is_blank(**p))
			s->scalar = 1;
		break;
	}
	++*p;
	return 0;
}

/* Reads on in a value; returns where it ended, or end.  *whole says which. */
static const char *
in_value(struct json_split *s, const char *p, const char *end, int *whole)
{
	*whole = 0;
	while (p < end && !s->failed) {
		if (s->in_string) {
			p = in_string(s, p, end);
			if (!s->in_string && s->depth == 0) {
				*whole = 1;
				return p;
			}
			continue;
		}
		if (s->depth > 0 && (p = json_mark(p, end)) == end)
			break;
		if (value_byte(s, &p)) {
			*whole = 1;
			return p;
		}
	}
	return p;
}

static void
key_byte(struct json_split *s, char c)
{
	if (s->escaped)
		s->escaped = 0;
	else if (c == '\\')
		s->escaped = 1;
	else if (c == '"') {
		s->place = AT_COLON;
		return;
	}
	/* A key that long is none of ours: its end is cut. */
	if (s->key_len < sizeof(s->key))
		s->key[s->key_len++] = c;
}

static void
value_start(struct json_split *s, char c)
{
	struct span key = { s->key, s->key_len };

	if (c == '[' && span_is(key, s->array)) {
		s->seen_array = 1;
		s->place = AT_ELEMENT;
		return;
	}
	value_begin(s, IN_MEMBER);
}

/* One byte outside of values.  1 when it was consumed. */
static int
between(struct json_split *s, char c)
{
	if (s->place == IN_KEY) {
		key_byte(s, c);
		return 1;
	}
	if (is_blank(c))
		return 1;
	switch (s->place) {
	case AT_START:
		s->failed = c != '{';
		s->place = AT_KEY;
		return 1;
	case AT_KEY:
		if (c == '"') {
			s->place = IN_KEY;
			s->key_len = 0;
			s->escaped = 0;
		} else if (c == '}')
			s->place = AT_END;
		else
			s->failed = c != ',';
		return 1;
	case AT_COLON:
		s->failed = c != ':';
		s->place = AT_VALUE;
		return 1;
	case AT_VALUE:
		value_start(s, c);
		return s->place == AT_ELEMENT;
	case AT_ELEMENT:
		if (c == ']')
			s->place = AT_KEY;
		else if (c != ',') {
			value_begin(s, IN_ELEMENT);
			return 0;
		}
		return 1;
	default:
		return 1;	/* what follows the document is ignored */
	}
}

int
json_split_feed(struct json_split *s, const char *p, size_t n)
{
	const char *end = p + n, *stop;
	int whole;

	while (p < end && !s->failed) {
		if (s->place != IN_MEMBER && s->place != IN_ELEMENT) {
			p += between(s, *p);
			continue;
		}
		stop = in_value(s, p, end, &whole);
		if (s->failed)
			break;
		if (whole ? value_done(s, p, (size_t)(stop - p)) :
		    keep(s, p, (size_t)(stop - p)))
			s->failed = 1;
		p = stop;
	}
	return s->failed ? -1 : 0;
}

int
json_split_end(const struct json_split *s)
{
	return !s->failed && s->place == AT_END && s->seen_array ? 0 : -1;
}
