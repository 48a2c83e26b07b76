/* SPDX-License-Identifier: MIT */
/* The JSON scanner: events, texts, errors; whole and in pieces. */
#include "config.h"

#include <stdlib.h>

#include "common/text/json_scan.h"
#include "tests/unit/check.h"

static char seen[4096];

/* One word per event: its bracket, or the kind, offset and text. */
static const char *
on_event(struct json_scan *s, enum json_event event, void *arg)
{
	static const char marks[] = "{}[]:\"=";
	char word[256];

	if (event < JSON_EV_NAME) {
		snprintf(word, sizeof(word), "%u%c ", s->depth, marks[event]);
	} else {
		CHECK_INT(strlen(s->text), s->len);
		snprintf(word, sizeof(word), "%u%c%s%s ", s->depth,
		    marks[event], s->text, s->cut ? "~" : "");
	}
	strcat(seen, word);
	return *(const char *)arg != '\0' && strcmp(s->text, arg) == 0 ?
	    "stopped" :
	    NULL;
}

/* Feeds pieces of step bytes, each a copy of exact size. */
static const char *
scan(const char *doc, size_t len, size_t step, char first, size_t size,
    const char *stop)
{
	const char *error = NULL;
	char text[64], *piece, end[16];
	struct json_scan s;
	size_t at, n;

	seen[0] = '\0';
	snprintf(end, sizeof(end), "%s", stop);
	json_scan_init(&s, first, text, size, on_event, end);
	for (at = 0; at < len && error == NULL; at += n) {
		n = len - at < step ? len - at : step;
		piece = malloc(n);
		memcpy(piece, doc + at, n);
		error = json_scan_feed(&s, piece, n);
		free(piece);
	}
	if (error == NULL)
		error = json_scan_end(&s);
	else
		CHECK_STR(json_scan_feed(&s, "]", 1), error);
	return error;
}

static void
check_events(const char *doc, const char *want, const char *error)
{
	size_t step, n = strlen(doc);
	const char *got;

	for (step = 1; step <= n + 1; step++) {
		got = scan(doc, n, step, *doc == '[' ? '[' : '{', 16, "");
		CHECK_STR(got, error);
		if (want != NULL)
			CHECK_STR(seen, want);
	}
}

static void
test_events(void)
{
	check_events("{}", "0{ 0} ", NULL);
	check_events("{ \"a\" : [1, {\"x\":\"]}\"} ,-2.5E+3,[]] ,\r\n\t"
		     "\"b\":null}\n",
	    "0{ 1:a 1[ 2=1 2{ 3:x 3\"]} 2} 2=-2.5E+3 2[ 2] "
	    "1] 1:b 1=null 0} ",
	    NULL);
	check_events("[\"\",true]", "0[ 1\" 1=true 0] ", NULL);
	/* Two members of one name, bytes that are no UTF-8. */
	check_events("{\"a\":1,\"a\":\"\xff\xc3\"}",
	    "0{ 1:a 1=1 1:a 1\"\xff\xc3 0} ", NULL);
}

static void
test_escapes(void)
{
	check_events("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
	    "0[ 1\"\"\\/\b\f\n\r\t 0] ", NULL);
	check_events("[\"\\u0041\\u00e9\\u20aC\"]",
	    "0[ 1\"A\xc3\xa9\xe2\x82\xac 0] ", NULL);
	check_events("[\"\\ud83d\\ude80\"]", "0[ 1\"\xf0\x9f\x9a\x80 0] ",
	    NULL);
	/* Halves of a pair, and NUL, become U+FFFD. */
	check_events("[\"\\ud83d\"]", "0[ 1\"\xef\xbf\xbd 0] ", NULL);
	check_events("[\"\\ud83dx\"]", "0[ 1\"\xef\xbf\xbdx 0] ", NULL);
	check_events("[\"\\ud83d\\n\"]", "0[ 1\"\xef\xbf\xbd\n 0] ", NULL);
	check_events("[\"\\ud83d\\ud83d\"]",
	    "0[ 1\"\xef\xbf\xbd\xef\xbf\xbd 0] ", NULL);
	check_events("[\"\\ude80\\u0000\"]",
	    "0[ 1\"\xef\xbf\xbd\xef\xbf\xbd 0] ", NULL);
}

/* A text that does not fit is cut, between characters written as escapes. */
static void
test_cut(void)
{
	check_events("[\"123456789012345\"]", "0[ 1\"123456789012345 0] ",
	    NULL);
	check_events("[\"1234567890123456\"]", "0[ 1\"123456789012345~ 0] ",
	    NULL);
	check_events("[12345678901234567890]", "0[ 1=123456789012345~ 0] ",
	    NULL);
	check_events("[\"12345678901234\\u00e9x\"]",
	    "0[ 1\"12345678901234~ 0] ", NULL);
	CHECK_STR(scan("{\"name\":\"value\"}", 16, 3, '{', 1, ""), NULL);
	CHECK_STR(seen, "0{ 1:~ 1\"~ 0} ");
}

static void
test_errors(void)
{
	static const struct {
		const char *doc, *error;
	} cases[] = {
		{ "garbage", "not a JSON object" },
		{ "", "not a JSON object" },
		{ "  \n", "not a JSON object" },
		{ "{", "the object does not end" },
		{ "{\"a\":1", "the object does not end" },
		{ "{\"a\":1 \"b\":2}", "the object does not end" },
		{ "[1 2]", "the array does not end" },
		{ "[1", "the array does not end" },
		{ "{\"a\":[1 2]}", "the array does not end" },
		{ "{\"a\":\"x", "a string does not end" },
		{ "{\"a\":\"\\", "a string does not end" },
		{ "{\"a\":\"\\u00", "a string does not end" },
		{ "{,}", "a string is missing" },
		{ "{1:2}", "a string is missing" },
		{ "{\"a\":1,}", "a string is missing" },
		{ "{\"a\" 1}", "a colon is missing" },
		{ "{\"a\":}", "a value is missing" },
		{ "{\"a\":,\"b\":1}", "a value is missing" },
		{ "[1,]", "a value is missing" },
		{ "[,]", "a value is missing" },
		{ "[}", "brackets do not match" },
		{ "{]", "a string is missing" },
		{ "{\"a\":1]", "brackets do not match" },
		{ "[1}", "brackets do not match" },
		{ "{}{}", "more bytes after the end" },
		{ "{} x", "more bytes after the end" },
		{ "{\"a\":\"b\nc\"}", "a string contains a control byte" },
		{ "{\"a\":\"\\q\"}", "unknown escape" },
		{ "{\"a\":\"\\u12g4\"}", "invalid \\u escape" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_events(cases[i].doc, NULL, cases[i].error);
	CHECK_STR(scan("{\"a\":\"\0\"}", 9, 9, '{', 16, ""),
	    "a string contains a control byte");
	CHECK_STR(scan("{}", 2, 2, '[', 16, ""), "not a JSON array");
	CHECK_STR(scan("{\"a\":{\"b\":1},\"c\":2}", 19, 1, '{', 16, "b"),
	    "stopped");
	CHECK_STR(seen, "0{ 1:a 1{ 2:b ");
}

static const char *
on_nothing(struct json_scan *s, enum json_event event, void *arg)
{
	return NULL;
}

static void
test_depth(void)
{
	char doc[2 * JSON_SCAN_DEPTH_MAX + 2], text[4];
	struct json_scan s;

	memset(doc, '[', JSON_SCAN_DEPTH_MAX + 1);
	json_scan_init(&s, '[', text, sizeof(text), on_nothing, NULL);
	CHECK_STR(json_scan_feed(&s, doc, JSON_SCAN_DEPTH_MAX), NULL);
	CHECK(json_scan_in_array(&s));
	CHECK_STR(json_scan_feed(&s, doc, 1), "nested too deeply");
	memset(doc + JSON_SCAN_DEPTH_MAX, ']', JSON_SCAN_DEPTH_MAX);
	json_scan_init(&s, '[', text, sizeof(text), on_nothing, NULL);
	CHECK_STR(json_scan_feed(&s, doc, 2 * JSON_SCAN_DEPTH_MAX), NULL);
	CHECK_STR(json_scan_end(&s), NULL);
	CHECK(!json_scan_in_array(&s));
	json_scan_init(&s, '[', text, sizeof(text), on_nothing, NULL);
	json_scan_set_depth(&s, 2);
	CHECK_STR(json_scan_feed(&s, "[[[", 3), "nested too deeply");
}

/* The offset is that of the bracket, quote or first byte. */
static const char *
on_offset(struct json_scan *s, enum json_event event, void *arg)
{
	const char *doc = arg;
	static const char firsts[] = "{}[]\"\"1";

	CHECK_INT(doc[s->offset], firsts[event]);
	return NULL;
}

static void
test_offset(void)
{
	char doc[] = "{ \"a\":[ \"x\\\"\", 12 ,{}] }", text[16];
	struct json_scan s;

	json_scan_init(&s, '{', text, sizeof(text), on_offset, doc);
	CHECK_STR(json_scan_feed(&s, doc, 9), NULL);
	CHECK_STR(json_scan_feed(&s, doc + 9, strlen(doc) - 9), NULL);
	CHECK_STR(json_scan_end(&s), NULL);
}

int
main(void)
{
	test_events();
	test_escapes();
	test_cut();
	test_errors();
	test_depth();
	test_offset();
	return check_done();
}
