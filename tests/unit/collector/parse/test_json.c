/* SPDX-License-Identifier: MIT */
/* The JSON scanner: kinds, members, items, and where a value ends. */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "tests/unit/check.h"

static struct span
span_of(const char *s)
{
	struct span v = { s, strlen(s) };

	return v;
}

static void
test_kind(void)
{
	CHECK_INT(json_kind(span_of("")), JSON_NONE);
	CHECK_INT(json_kind(span_of("x")), JSON_NONE);
	CHECK_INT(json_kind(span_of("null")), JSON_NULL);
	CHECK_INT(json_kind(span_of("true")), JSON_BOOL);
	CHECK_INT(json_kind(span_of("false")), JSON_BOOL);
	CHECK_INT(json_kind(span_of("-1.5e3")), JSON_NUMBER);
	CHECK_INT(json_kind(span_of("0")), JSON_NUMBER);
	CHECK_INT(json_kind(span_of("\"\"")), JSON_STRING);
	CHECK_INT(json_kind(span_of("[]")), JSON_ARRAY);
	CHECK_INT(json_kind(span_of("{}")), JSON_OBJECT);
}

/* The value that text begins with has n bytes, blanks before it included; -1: there is none. */
static void
check_skip(const char *text, int n)
{
	const char *end = json_skip(text, text + strlen(text));

	CHECK_INT(end != NULL ? (int)(end - text) : -1, n);
}

static void
test_skip(void)
{
	char deep[2 * (JSON_DEPTH_MAX + 1) + 1];

	check_skip("12, 3", 2);
	check_skip(" \n\ttrue]", 7);
	check_skip("\"a\\\"]}\\\\\" x", 9);
	check_skip("[1, {\"x\": \"]}\\\"\"}, []] ]", 22);
	check_skip("{\"a\": [}", -1);
	check_skip("[1, 2", -1);
	check_skip("\"open", -1);
	check_skip("\"open\\\"", -1);
	check_skip("", -1);
	check_skip("  ", -1);
	check_skip(",", -1);
	check_skip("]", -1);
	memset(deep, '[', JSON_DEPTH_MAX);
	memset(deep + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	deep[2 * JSON_DEPTH_MAX] = '\0';
	check_skip(deep, 2 * JSON_DEPTH_MAX);
	memset(deep, '[', JSON_DEPTH_MAX + 1);
	memset(deep + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	deep[2 * (JSON_DEPTH_MAX + 1)] = '\0';
	check_skip(deep, -1);
}

static void
test_members(void)
{
	struct span v, doc = span_of("{ \"a\" : [1, {\"x\":\"]}\"} , \"s\"], "
	    "\"b\\\"c\":\"d\\\\\", \"e\":{} }");
	struct json_iter it;
	int n = 0;

	CHECK_INT(json_get(doc, "a", &v), JSON_ARRAY);
	json_iter_array(&it, v);
	while (json_item(&it, &v))
		n++;
	CHECK_INT(n, 3);
	CHECK(!it.err);
	CHECK_INT(json_get(doc, "b\\\"c", &v), JSON_STRING);
	CHECK_INT(json_get(doc, "e", &v), JSON_OBJECT);
	CHECK_INT(json_get(doc, "none", &v), JSON_NONE);
	CHECK(v.n == 0);
	json_iter_object(&it, span_of("[1]"));
	CHECK(!json_member(&it, &v, &v) && it.err);
	json_iter_object(&it, span_of("{\"a\" 1}"));
	CHECK(!json_member(&it, &v, &v) && it.err);
	json_iter_object(&it, span_of("{\"a\":[1,2"));
	CHECK(!json_member(&it, &v, &v) && it.err);
}

/* Items of an array until its end or its fault; err says which. */
static void
check_items(const char *array, int want, int err)
{
	struct json_iter it;
	struct span v;
	int n = 0;

	json_iter_array(&it, span_of(array));
	while (json_item(&it, &v))
		n++;
	CHECK_INT(n, want);
	CHECK_INT(it.err, err);
}

static void
test_items(void)
{
	check_items("[]", 0, 0);
	check_items("[ ]", 0, 0);
	check_items("[1, \"two\", [3], {\"four\": 4}, null]", 5, 0);
	check_items("[1 2]", 1, 1);
	check_items("[1,", 1, 1);
	check_items("[1", 1, 1);
	check_items("{}", 0, 1);
	check_items("", 0, 1);
}

int
main(void)
{
	test_kind();
	test_skip();
	test_members();
	test_items();
	return check_done();
}
