/* SPDX-License-Identifier: MIT */
/*
 * The JSON scanner: any bytes are gone through without a read beyond them, and
 * where jansson takes the document too, both must see the same in it.
 */
#include "config.h"

#include "collector/parse/parse.h"
#include "common/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/twin.h"

static void value_walk(struct span value, struct span text, unsigned depth);

static void
inside(struct span value, struct span text)
{
	HOLDS(value.n > 0 && value.p >= text.p &&
	    value.p + value.n <= text.p + text.n);
}

/* Bytes that may be no JSON: whatever is found lies in the text. */
static void
value_walk(struct span value, struct span text, unsigned depth)
{
	struct json_iter it;
	struct span key, inner;

	inside(value, text);
	if (depth > JSON_DEPTH_MAX)
		return;
	switch (json_kind(value)) {
	case JSON_OBJECT:
		json_iter_object(&it, value);
		while (json_member(&it, &key, &inner)) {
			HOLDS(key.p > value.p && key.p + key.n < inner.p);
			value_walk(inner, value, depth + 1);
		}
		break;
	case JSON_ARRAY:
		json_iter_array(&it, value);
		while (json_item(&it, &inner))
			value_walk(inner, value, depth + 1);
		break;
	default:
		json_iter_object(&it, value);
		HOLDS(!json_member(&it, &key, &inner) && it.err);
		json_iter_array(&it, value);
		HOLDS(!json_item(&it, &inner) && it.err);
		break;
	}
}

/* Without an escape the bytes between the quotes are the string. */
static void
string_same(struct span value, const struct twin *twin)
{
	const char *text;
	size_t n;

	HOLDS(value.n >= 2 && value.p[value.n - 1] == '"');
	if (memchr(value.p, '\\', value.n) != NULL)
		return;
	text = twin_text(twin, &n);
	HOLDS(n == value.n - 2 && memcmp(value.p + 1, text, n) == 0);
}

static void value_same(struct span value, const struct twin *twin);

static void
object_same(struct span value, const struct twin *twin)
{
	struct json_iter it;
	struct span key, member, again;
	char name[128];
	size_t n = 0;

	json_iter_object(&it, value);
	while (json_member(&it, &key, &member)) {
		n++;
		if (memchr(key.p, '\\', key.n) != NULL ||
		    key.n >= sizeof(name))
			continue;
		memcpy(name, key.p, key.n);
		name[key.n] = '\0';
		HOLDS(json_get(value, name, &again) == json_kind(member));
		HOLDS(again.p == member.p && again.n == member.n);
		value_same(member, twin_member(twin, name));
	}
	HOLDS(!it.err && n == twin_size(twin));
}

static void
array_same(struct span value, const struct twin *twin)
{
	struct json_iter it;
	struct span item;
	size_t n = 0;

	json_iter_array(&it, value);
	while (json_item(&it, &item))
		value_same(item, twin_item(twin, n++));
	HOLDS(!it.err && n == twin_size(twin));
}

static void
integer_same(struct span value, int64_t want)
{
	uint64_t n;

	HOLDS(json_kind(value) == JSON_NUMBER);
	if (want >= 0 && *value.p != '-')
		HOLDS(number_u64(value, &n) == 0 && n == (uint64_t)want);
}

static void
value_same(struct span value, const struct twin *twin)
{
	HOLDS(twin != NULL);
	switch (twin_kind(twin)) {
	case TWIN_NULL:
		HOLDS(json_kind(value) == JSON_NULL);
		break;
	case TWIN_BOOL:
		HOLDS(json_kind(value) == JSON_BOOL);
		break;
	case TWIN_INTEGER:
		integer_same(value, twin_integer(twin));
		break;
	case TWIN_REAL:
		HOLDS(json_kind(value) == JSON_NUMBER);
		break;
	case TWIN_STRING:
		HOLDS(json_kind(value) == JSON_STRING);
		string_same(value, twin);
		break;
	case TWIN_ARRAY:
		array_same(value, twin);
		break;
	case TWIN_OBJECT:
		object_same(value, twin);
		break;
	}
}

/* The first value of the text; p is NULL when there is none. */
static struct span
first_value(struct span text)
{
	const char *end = json_skip(text.p, text.p + text.n);
	struct span value = { NULL, 0 };

	if (end == NULL)
		return value;
	while (strchr(" \n\t\r", *text.p) != NULL)
		text.p++;
	value.p = text.p;
	value.n = (size_t)(end - text.p);
	return value;
}

static void
twin_holds(const uint8_t *bytes, size_t n, struct span value)
{
	struct twin *root;

	/* jansson overlooks a NUL behind a number. */
	if (n == 0 || memchr(bytes, '\0', n) != NULL ||
	    (root = twin_load(bytes, n)) == NULL)
		return;
	if (twin_depth(root) <= JSON_DEPTH_MAX) {
		HOLDS(value.p != NULL);
		value_same(value, root);
	}
	twin_free(root);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *copy = exact(bytes, n);
	struct span text = { copy, n }, value;

	fuzz_quiet();
	value = first_value(text);
	if (value.p != NULL)
		value_walk(value, text, 0);
	twin_holds(bytes, n, value);
	free(copy);
	return 0;
}
