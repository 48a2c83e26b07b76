/* SPDX-License-Identifier: MIT */
/* JSON read where it lies: values, members, and documents in pieces. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/parse/json_read.h"
#include "tests/unit/check.h"

static struct span
span_of(const char *s)
{
	struct span v = { s, strlen(s) };

	return v;
}

static void
check_text(const char *json, const char *want)
{
	char *got = json_text(span_of(json), 100);

	CHECK_STR(got, want);
	free(got);
}

static void
test_text(void)
{
	check_text("\"plain\"", "plain");
	check_text("\"\"", NULL);
	check_text("null", NULL);
	check_text("\"q\\\"uo\\\\te\\/\"", "q\"uo\\te/");
	check_text("\"two\\nlines\\tx\"", "two\nlines\tx");
	check_text("\"\\u00e9\\u20ac\"", "\xc3\xa9\xe2\x82\xac");
	check_text("\"\\ud83d\\ude80\"", "\xf0\x9f\x9a\x80");
	check_text("\"\\ud83d x\"", "\xef\xbf\xbd x");
	check_text("\"\\u12\"", "\xef\xbf\xbd" "12");
	check_text("\"bad\xff\"", "bad\xef\xbf\xbd");
	check_text("\"esc\\u001b[31m\"", "esc\\x1b[31m");
	check_text("\"nul\\u0000x\"", "nul\\x00x");
}

static void
check_state(const char *json, const char *want)
{
	struct job_snapshot s;
	struct json_job j = { .s = &s };

	snapshot_init(&s);
	CHECK_INT(json_get_state(span_of(json), &j), want != NULL ? 0 : -1);
	if (want != NULL)
		CHECK_STR(s.state->word, want);
	snapshot_clear(&s);
}

static void
test_state(void)
{
	check_state("\"RUNNING\"", "RUNNING");
	check_state("[\"RUNNING\"]", "RUNNING");
	check_state("[\"PENDING\",\"REQUEUED\"]", "REQUEUED");
	check_state("[\"CANCELLED\",\"COMPLETING\"]", "COMPLETING");
	check_state("[\"PENDING\",\"COMPLETING\"]", "PENDING");
	/* Flags that change nothing, known or not. */
	check_state("[\"RUNNING\",\"CONFIGURING\",\"POWER_UP_NODE\"]",
	    "CONFIGURING");
	check_state("[\"COMPLETED\",\"LAUNCH_FAILED\",\"UPDATE_DB\"]",
	    "COMPLETED");
	check_state("[\"RUNNING\",\"BEYOND_2026\"]", "RUNNING");
	check_state("[\"BEYOND_2026\",\"RUNNING\"]", "RUNNING");
	check_state("[\"BEYOND_2026\"]", NULL);
	check_state("\"BEYOND_2026\"", NULL);
	check_state("[]", NULL);
	check_state("[3]", NULL);
	check_state("7", NULL);
}

static void
test_killer(void)
{
	static const char row[] = "{\"job_id\":7,\"account\":\"a\",\"array\":"
	    "{\"job_id\":0,\"task_id\":null},\"exit_code\":{\"return_code\":0},"
	    "\"kill_request_user\":\"carol\",\"name\":\"n\",\"nodes\":\"n1\","
	    "\"partition\":\"p\",\"qos\":\"q\",\"state\":{\"current\":"
	    "[\"CANCELLED\"]},\"time\":{\"end\":1795271000,\"limit\":5,"
	    "\"start\":1795270000,\"submission\":1795270000},"
	    "\"tres\":{\"allocated\":[],\"requested\":[]},\"user\":\"u\"}";
	static const struct read_options how = { .gpus = NULL };
	static const struct json_reading json_how = { .how = &how };
	struct job_snapshot s;

	snapshot_init(&s);
	CHECK_INT(json_acct(span_of(row), &json_how, &s), RECORD_GOOD);
	CHECK_STR(s.job.reason, "CANCELLED by carol");
	snapshot_clear(&s);
}

static void
test_info(void)
{
	char *got = json_info(span_of("{\"job_id\":7,\"name\":\"a\\\"b\\nc\","
	    "\"account\":\"\",\"job_state\":[\"RUNNING\",\"X\"],\"none\":null,"
	    "\"time_limit\":{\"set\":true,\"infinite\":false,\"number\":20},"
	    "\"job_resources\":{\"nodes\":{\"count\":1}},\"requeue\":true,"
	    "\"gres_detail\":[]}"));

	CHECK_STR(got, "job_id=7\nname=a\"b\nc\njob_state=RUNNING,X\n"
	    "time_limit=20\nrequeue=true");
	free(got);
	got = json_info(span_of("{}"));
	CHECK(got == NULL);
	free(got);
	got = json_info(span_of("[1"));
	CHECK(got == NULL);
	free(got);
}

static void
check_number(const char *json, enum json_number want, int64_t value)
{
	int64_t v = -99;

	CHECK_INT(json_number(span_of(json), &v), want);
	if (want == JSON_NUMBER_SET)
		CHECK_INT(v, value);
}

static void
test_number(void)
{
	check_number("12", JSON_NUMBER_SET, 12);
	check_number("-2", JSON_NUMBER_SET, -2);
	check_number("12.75", JSON_NUMBER_SET, 12);
	check_number("null", JSON_NUMBER_UNSET, 0);
	check_number("\"12\"", JSON_NUMBER_BAD, 0);
	check_number("18446744073709551615", JSON_NUMBER_BAD, 0);
	check_number("{\"set\": true, \"infinite\": false, \"number\": 7}",
	    JSON_NUMBER_SET, 7);
	check_number("{\"set\":false,\"infinite\":false,\"number\":0}",
	    JSON_NUMBER_UNSET, 0);
	check_number("{\"set\":false,\"infinite\":true,\"number\":0}",
	    JSON_NUMBER_INFINITE, 0);
	check_number("{\"set\":true}", JSON_NUMBER_BAD, 0);
	check_number("[1]", JSON_NUMBER_BAD, 0);
	check_number("{\"set\":", JSON_NUMBER_BAD, 0);
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

struct seen {
	char	text[4096];
	int	elements;
	int	too_long;
};

static int
on_element(struct span e, void *arg)
{
	struct seen *s = arg;

	s->elements++;
	strncat(s->text, e.p, e.n);
	strcat(s->text, "|");
	return 0;
}

static void
on_member(struct span key, struct span value, void *arg)
{
	struct seen *s = arg;

	strncat(s->text, key.p, key.n);
	strcat(s->text, "=");
	strncat(s->text, value.p, value.n);
	strcat(s->text, "|");
}

static void
on_too_long(size_t n, void *arg)
{
	struct seen *s = arg;

	s->too_long++;
}

static const struct json_split_ops ops = { on_element, on_member, on_too_long };

/* Feeds doc in pieces of `step` bytes; the result of json_split_end. */
static int
split(const char *doc, size_t step, size_t max, struct seen *seen)
{
	struct json_split *s = json_split_new("jobs", max, &ops, seen);
	size_t n = strlen(doc), at, k;
	int rc;

	memset(seen, 0, sizeof(*seen));
	for (at = 0; at < n; at += k) {
		k = n - at < step ? n - at : step;
		/* A copy of its own, so that a read beyond it is found. */
		char *piece = malloc(k);

		memcpy(piece, doc + at, k);
		rc = json_split_feed(s, piece, k);
		free(piece);
		if (rc == -1)
			break;
	}
	rc = json_split_end(s);
	json_split_free(s);
	return rc;
}

static void
test_split(void)
{
	static const char doc[] = "{\n \"meta\": {\"a\": [1, 2], \"s\": \"}\"}, "
	    "\"n\": 12, \"jobs\": [ {\"id\": 1, \"name\": \"q\\\"]}\\\\\"},\n"
	    "{\"id\":2,\"x\":[{},{\"y\":[]}]}, 7 , \"str\" ],\"errors\":[] }\n";
	static const char want[] = "meta={\"a\": [1, 2], \"s\": \"}\"}|n=12|"
	    "{\"id\": 1, \"name\": \"q\\\"]}\\\\\"}|{\"id\":2,\"x\":[{},{\"y\":[]}]}"
	    "|7|\"str\"|errors=[]|";
	struct seen seen;
	size_t step;

	for (step = 1; step <= sizeof(doc); step++) {
		CHECK_INT(split(doc, step, 1000, &seen), 0);
		CHECK_STR(seen.text, want);
		CHECK_INT(seen.elements, 4);
	}
	CHECK_INT(split(doc, 5, 20, &seen), 0);
	CHECK_INT(seen.too_long, 2);
	CHECK_INT(seen.elements, 2);
	CHECK_INT(split("{\"jobs\":[]}", 3, 20, &seen), 0);
	CHECK_INT(split("{\"jobs\":[{}", 3, 20, &seen), -1);
	CHECK_INT(split("{\"jobs\":[{}]", 3, 20, &seen), -1);
	CHECK_INT(split("{\"other\":[{}]}", 3, 20, &seen), -1);
	CHECK_INT(split("slurm_load_jobs error", 3, 20, &seen), -1);
	CHECK_INT(split("", 3, 20, &seen), -1);
	/* Where a value should stand is none. */
	CHECK_INT(split("{\"jobs\":[}", 3, 20, &seen), -1);
	CHECK_INT(split("{\"meta\":}", 3, 20, &seen), -1);
	CHECK_INT(split("{\"meta\":]", 3, 20, &seen), -1);
	CHECK_INT(split("{\"meta\":,\"jobs\":[]}", 3, 20, &seen), -1);
	/* A quote in a key does not end it. */
	CHECK_INT(split("{\"a\\\":[\":1,\"jobs\":[]}", 3, 20, &seen), 0);
}

/* What --json=list of 24.11 and 26.05 says, and of Slurms that do not exist. */
static void
test_form(void)
{
	CHECK_INT(json_form("Possible data_parser plugins:\n"
	    "data_parser/v0.0.42\ndata_parser/v0.0.40\n"
	    "data_parser/v0.0.41\n"), 40);
	CHECK_INT(json_form("data_parser/v0.0.45\ndata_parser/v0.0.42\n"
	    "data_parser/v0.0.43\ndata_parser/v0.0.44\n"), 42);
	CHECK_INT(json_form("data_parser/v0.0.47\ndata_parser/v0.0.46\n"),
	    46);
	CHECK_INT(json_form("data_parser/v0.0.39\ndata_parser/v0.0.40\n"),
	    40);
	CHECK_INT(json_form("data_parser/v0.0.39\n"), 0);
	CHECK_INT(json_form("data_parser/v0.0."), 0);
	CHECK_INT(json_form(""), 0);
}

int
main(void)
{
	test_text();
	test_state();
	test_info();
	test_killer();
	test_number();
	test_members();
	test_split();
	test_form();
	return check_done();
}
