/* SPDX-License-Identifier: MIT */
/* The judge, against answers as cc-backend 1.3 to 1.5 gave them; the listing reader. */
#include "config.h"

#include <stdlib.h>

#include "submitter/backend/job_list_parser.h"
#include "submitter/backend/response.h"
#include "tests/unit/check.h"

#define UNPROC "{\"status\":\"Unprocessable Entity\",\"error\":"
#define BAD    "{\"status\":\"Bad Request\",\"error\":"
#define ISE    "{\"status\":\"Internal Server Error\",\"error\":"

static const struct {
	enum request_kind what;
	int code;
	const char *body;
	enum result_code want;
} cases[] = {
	{ REQUEST_START, 201, "{\"msg\":\"success\"}\n", RESULT_DONE },
	{ REQUEST_START, 201, "<html>welcome</html>", RESULT_UNREACHABLE },
	{ REQUEST_START, 200, "<html>log in</html>", RESULT_UNREACHABLE },
	{ REQUEST_START, 200, "{}", RESULT_UNREACHABLE },
	{ REQUEST_START, 400, BAD "\"no such cluster: nosuch\"}",
	    RESULT_REJECTED },
	{ REQUEST_START, 400,
	    BAD "\"parsing request body failed: json: unknown "
		"field \\\"exclusive\\\"\"}",
	    RESULT_REPROBE },
	{ REQUEST_START, 400, "<html>bad request</html>", RESULT_UNREACHABLE },
	{ REQUEST_START, 400,
	    BAD "\"integer expected in path for id: strconv\"}",
	    RESULT_WRONG_ADDRESS },
	{ REQUEST_START, 400,
	    BAD "\"no subcluster found for cluster a and host json: unknown "
		"field\"}",
	    RESULT_REJECTED },
	{ REQUEST_START, 400,
	    BAD "\"no subcluster found for cluster a and host integer "
		"expected in path\"}",
	    RESULT_REJECTED },
	{ REQUEST_START, 401,
	    "{\"error\":\"unauthorized\",\"status\":"
	    "\"Unauthorized\"}\n",
	    RESULT_UNAUTHORIZED },
	{ REQUEST_START, 401, "plain text", RESULT_UNAUTHORIZED },
	{ REQUEST_START, 403, "", RESULT_UNAUTHORIZED },
	{ REQUEST_START, 404,
	    "{\"error\":\"the requested endpoint does not "
	    "exist\",\"status\":\"Resource not found\"}",
	    RESULT_WRONG_ADDRESS },
	{ REQUEST_START, 301, "", RESULT_WRONG_ADDRESS },
	{ REQUEST_START, 302, "<a href=...>", RESULT_WRONG_ADDRESS },
	{ REQUEST_START, 413, "too large", RESULT_REJECTED },
	{ REQUEST_START, 422,
	    UNPROC "\"a job with that jobId, cluster and "
		   "startTime already exists: dbid: 17, jobid: 4711\"}",
	    RESULT_CHECK },
	{ REQUEST_START, 422, "no json", RESULT_UNREACHABLE },
	{ REQUEST_START, 500,
	    ISE "\"insert into database failed: UNIQUE "
		"constraint failed: job_cache.job_id, job_cache.cluster\"}",
	    RESULT_ACCEPTED_BEFORE },
	{ REQUEST_START, 500,
	    ISE "\"insert into database failed: CHECK "
		"constraint failed: smt IN (0, 1)\"}",
	    RESULT_REJECTED },
	{ REQUEST_START, 500,
	    ISE "\"adding tag to new job 12 failed: UNIQUE "
		"constraint failed: jobtag.job_id, jobtag.tag_id\"}",
	    RESULT_DONE },
	{ REQUEST_START, 500,
	    "UNIQUE constraint failed: tag.tag_type\n" ISE
	    "\"adding tag to new job 2 failed: UNIQUE constraint failed: "
	    "tag.tag_type, tag.tag_name\"}",
	    RESULT_DONE },
	{ REQUEST_START, 500, "<title>adding\ntag to new job 2</title>",
	    RESULT_RETRY },
	{ REQUEST_START, 500, "", RESULT_RETRY },
	{ REQUEST_START, 500, ISE "\"database is locked\"}", RESULT_RETRY },
	{ REQUEST_START, 502, "<html>bad gateway</html>", RESULT_UNREACHABLE },
	{ REQUEST_START, 503, "", RESULT_UNREACHABLE },
	{ REQUEST_START, 504, "", RESULT_UNREACHABLE },
	{ REQUEST_START, 429, "", RESULT_UNREACHABLE },
	{ REQUEST_START, 418, "", RESULT_UNREACHABLE },
	{ REQUEST_START, 0, NULL, RESULT_UNREACHABLE },
	{ REQUEST_STOP, 200,
	    "{\"cluster\":\"alpha\",\"jobId\":7,"
	    "\"startTime\":1790000000}",
	    RESULT_DONE },
	{ REQUEST_STOP, 200, "<html>log in</html>", RESULT_UNREACHABLE },
	{ REQUEST_STOP, 422,
	    UNPROC "\"jobId 3000038 (id 27) on alpha : job has "
		   "already been stopped (state is: completed)\"}",
	    RESULT_ALREADY_STOPPED },
	{ REQUEST_STOP, 422,
	    UNPROC "\"finding job failed: sql: no rows in "
		   "result set\"}",
	    RESULT_NO_RUN },
	{ REQUEST_STOP, 404,
	    "{\"status\":\"Not Found\",\"error\":\"finding job "
	    "failed: sql: no rows in result set\"}",
	    RESULT_NO_RUN },
	{ REQUEST_STOP, 404, "404 page not found\n", RESULT_WRONG_ADDRESS },
	{ REQUEST_STOP, 400,
	    BAD
	    "\"jobId 3 (id 27) on alpha : stopTime 1790000060"
	    " must be larger than startTime 1790000000 and only running jobs "
	    "can be stopped (state is: completed)\"}",
	    RESULT_ALREADY_STOPPED },
	{ REQUEST_STOP, 400,
	    BAD
	    "\"jobId 3 (id 28) on alpha : stopTime 1790000000"
	    " must be larger than startTime 1790000000 and only running jobs "
	    "can be stopped (state is: running)\"}",
	    RESULT_REJECTED },
	{ REQUEST_STOP, 400,
	    BAD "\"stopTime must be larger than startTime and "
		"only running jobs can be stopped\"}",
	    RESULT_ALREADY_STOPPED },
	{ REQUEST_STOP, 400,
	    BAD "\"jobId 3 (id 18) on alpha : invalid requested "
		"job state: \\\"node_fail\\\"\"}",
	    RESULT_REJECTED },
	{ REQUEST_STOP, 500, ISE "\"transferring cached job failed\"}",
	    RESULT_RETRY },
	{ REQUEST_LIST, 200, "{\"jobs\":[]}", RESULT_DONE },
	{ REQUEST_LIST, 500,
	    ISE "\"open var/meta.json: no such file or "
		"directory\"}",
	    RESULT_RETRY },
	{ REQUEST_LIST, 404, "404 page not found\n", RESULT_WRONG_ADDRESS },
	{ REQUEST_NODES, 200, "", RESULT_DONE },
	{ REQUEST_NODES, 404, "404 page not found\n", RESULT_REJECTED },
	{ REQUEST_META, 404, "404 page not found\n", RESULT_REJECTED },
	{ REQUEST_META, 422, UNPROC "\"finding job failed\"}", RESULT_NO_RUN },
	{ REQUEST_DELETE, 422, UNPROC "\"finding job failed\"}",
	    RESULT_NO_RUN },
	{ REQUEST_DELETE, 422,
	    UNPROC "\"deleting job failed: database is locked (5)\"}",
	    RESULT_RETRY },
	{ REQUEST_PROBE, 200, "{}", RESULT_UNREACHABLE },
};

static void
judge(enum request_kind what, int code, const char *body, const char *error,
    struct result *v)
{
	struct http_answer a = { .what = what,
		.code = code,
		.body = body,
		.len = body != NULL ? strlen(body) : 0,
		.error = error,
		.backend = BACKEND_1_5 };

	response_classify(&a, v);
}

static void
test_judge(void)
{
	struct result v;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		judge(cases[i].what, cases[i].code, cases[i].body, NULL, &v);
		CHECK_STR(result_name(v.code), result_name(cases[i].want));
		if (v.code != cases[i].want)
			fprintf(stderr, "    %s %d %s\n",
			    request_kind_name(cases[i].what), cases[i].code,
			    cases[i].body);
	}
}

static void
test_words(void)
{
	struct result v;

	judge(REQUEST_START, 400, BAD "\"ARCHIVE \\u003e no \\\"x\\\"\\n\"}",
	    NULL, &v);
	CHECK_STR(v.text, "400: ARCHIVE > no \"x\" ");
	judge(REQUEST_START, 502, "<html>\nsecond line", NULL, &v);
	CHECK_STR(v.text, "502: <html>");
	judge(REQUEST_START, 200, "{}", "connection reset", &v);
	CHECK_INT(v.code, RESULT_UNREACHABLE);
	CHECK_STR(v.text, "connection reset");
	judge(REQUEST_PROBE, 400, BAD "\"no such cluster: \"}", NULL, &v);
	CHECK(v.told && v.backend == BACKEND_1_5);
	judge(REQUEST_PROBE, 400, BAD "\"json: unknown field \\\"scope\\\"\"}",
	    NULL, &v);
	CHECK_INT(v.backend, BACKEND_1_3);
	judge(REQUEST_PROBE, 400, BAD "\"json: unknown field \\\"shared\\\"\"}",
	    NULL, &v);
	CHECK(v.told && v.backend == BACKEND_1_4_3);
	judge(REQUEST_PROBE, 404, "{\"error\":\"x\"}", NULL, &v);
	CHECK_INT(v.code, RESULT_WRONG_ADDRESS);
	CHECK(!v.told);
}

/* The text of an answer whose body ends where its memory ends. */
static const char *
page_text(const char *page)
{
	static struct result v;
	size_t len = strlen(page);
	char *body = malloc(len + 1);
	struct http_answer a = { .what = REQUEST_START,
		.code = 502,
		.body = body,
		.len = len,
		.backend = BACKEND_1_5 };

	if (body == NULL)
		return "out of memory";
	memcpy(body, page, len);
	/* behind the body: a reader that goes too far shows it */
	body[len] = '!';
	response_classify(&a, &v);
	free(body);
	return v.text;
}

/* A proxy's error page is reported by its title. */
static void
test_page(void)
{
	char longest[8192];

	CHECK_STR(page_text("<html>\r\n<head><title>502 Bad Gateway</title>"
			    "</head>\r\n<body>\r\n<center>nginx</center>"),
	    "502: 502 Bad Gateway");
	CHECK_STR(page_text("\n<!DOCTYPE html>\n<STYLE>p {\"error\":\"x\"}</"
			    "STYLE>\n<TITLE lang=\"en\">\n\tRequest  \n"
			    "Rejected\n</TITLE>"),
	    "502: Request Rejected");
	CHECK_STR(page_text("<title>a\033[31m\001b</title>"),
	    "502: a\\x1b[31m\\x01b");
	/* no title, an empty one, and pages that end too early */
	CHECK_STR(page_text("<html>\nx"), "502: <html>");
	CHECK_STR(page_text("<title> </title>"), "502: <title> </title>");
	CHECK_STR(page_text("<title>cut"), "502: cut");
	CHECK_STR(page_text("<title"), "502: <title");
	CHECK_STR(page_text("<titl"), "502: <titl");
	CHECK_STR(page_text("<"), "502: <");
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "<title>", 7);
	longest[sizeof(longest) - 1] = '\0';
	CHECK(strlen(page_text(longest)) < sizeof(((struct result *)0)->text));
	CHECK(strncmp(page_text(longest), "502: xxxx", 9) == 0);
}

/* The answer to the first stop of no length shows which 1.4 this is. */
static void
test_older(void)
{
	static const char body[] = BAD
	    "\"stopTime must be larger than "
	    "startTime and only running jobs can be stopped\"}";
	struct http_answer a = { .what = REQUEST_STOP,
		.code = 400,
		.body = body,
		.len = sizeof(body) - 1,
		.backend = BACKEND_1_4_3 };
	struct result v;

	response_classify(&a, &v);
	CHECK_INT(v.code, RESULT_OLD_VERSION);
	CHECK_INT(v.backend, BACKEND_1_4_0);
	a.backend = BACKEND_1_4_0;
	response_classify(&a, &v);
	CHECK_INT(v.code, RESULT_ALREADY_STOPPED);
}

static void
test_hit(void)
{
	static const char now[] = "{\"jobId\":7,\"startTime\":1000}";
	static const char old[] =
	    "{\"jobId\":7,\"startTime\":\"2026-09-21T00:00:00Z\"}";

	CHECK(!response_names_other(now, strlen(now), 7, 1000));
	CHECK(response_names_other(now, strlen(now), 8, 1000));
	CHECK(response_names_other(now, strlen(now), 7, 1001));
	CHECK(!response_names_other(old, strlen(old), 7, 1000));
	CHECK(!response_names_other("{}", 2, 7, 1000));
	CHECK(!response_names_other(NULL, 0, 7, 1000));
}

/* cc-backend writes the numbers of a run behind its resources. */
static void
test_hit_long(void)
{
	static const char begin[] = "{\"resources\":[\"",
			  end[] = "\"],\"jobId\":7,\"startTime\":1000}";
	const size_t size = 2u * 1024 * 1024, at = size - (sizeof(end) - 1);
	char *body = malloc(size);

	if (body == NULL)
		exit(1);
	memset(body, 'x', size);
	memcpy(body, begin, sizeof(begin) - 1);
	memcpy(body + at, end, sizeof(end) - 1);
	CHECK(!response_names_other(body, size, 7, 1000));
	CHECK(response_names_other(body, size, 8, 1000));
	CHECK(response_names_other(body, size, 7, 1001));
	free(body);
}

/* What the reader gave, as one text. */
static char rows[4096];

static void
on_row(const struct backend_job *row, void *arg)
{
	size_t n = strlen(rows);

	(void)arg;
	snprintf(rows + n, sizeof(rows) - n, "%lld:%s:%llu:%lld:%s;",
	    (long long)row->id, row->key.cluster,
	    (unsigned long long)row->key.job, (long long)row->key.start,
	    row->state);
}

/* Fed in pieces of every size, the answer must be the same. */
static void
listing_check(const char *text, int want_rc, const char *want)
{
	struct job_list_parser l;
	size_t len = strlen(text), step, at, n;
	int rc;

	for (step = 1; step <= len + 1; step = step < 8 ? step + 1 : step * 3) {
		rows[0] = '\0';
		job_list_parser_init(&l, on_row, NULL);
		for (at = 0; at < len; at += n) {
			n = len - at < step ? len - at : step;
			if (job_list_parser_feed(&l, text + at, n) == -1)
				break;
		}
		rc = job_list_parser_end(&l);
		CHECK_INT(rc, want_rc);
		CHECK_STR(rows, want);
	}
}

static void
test_listing(void)
{
	listing_check("{\"jobs\":[],\"items\":500,\"page\":1}", 0, "");
	listing_check(
	    "{\"items\":5,\"jobs\":[{\"id\":17,\"cluster\":\"alpha\","
	    "\"resources\":[{\"hostname\":\"n1\",\"jobId\":9,\"hwthreads\":"
	    "[0,1]}],\"jobId\":4711,\"metaData\":{\"startTime\":\"5\","
	    "\"jobScript\":\"\\\"jobId\\\":1}]\"},\"startTime\":1790000000,"
	    "\"jobState\":\"running\",\"energy\":0.5e3},\n"
	    "{\"jobId\":1,\"startTime\":2,\"cluster\":\"b\"}]}\n",
	    0, "17:alpha:4711:1790000000:running;0:b:1:2:;");
	/* a row without a time is counted, not given */
	listing_check("{\"jobs\":[{\"jobId\":1,\"cluster\":\"b\",\"startTime\":"
		      "\"2026-01-01T00:00:00Z\"}]}",
	    0, "");
	/* a row in milliseconds: no message can contain such a start */
	listing_check("{\"jobs\":[{\"jobId\":1,\"cluster\":\"b\",\"startTime\":"
		      "1790000000000},{\"jobId\":2,\"cluster\":\"b\","
		      "\"startTime\":253402300800},{\"jobId\":3,\"cluster\":"
		      "\"b\",\"startTime\":253402300799}]}",
	    0, "0:b:3:253402300799:;");
	listing_check("{\"jobs\":null}", -1, "");
	listing_check("{\"jobs\\n\":[{\"jobId\":1,\"cluster\":\"b\","
		      "\"startTime\":5}]}",
	    -1, "");
	listing_check("{\"other\":[{\"jobId\":1,\"startTime\":2,\"cluster\":"
		      "\"b\"}]}",
	    -1, "");
	listing_check("[]", -1, "");
	listing_check("<html></html>", -1, "");
	listing_check("{\"jobs\":[{\"jobId\":1,\"startTime\":2,\"cluster\":"
		      "\"b\"},{\"jobId\":2,\"startTi",
	    -1, "0:b:1:2:;");
	listing_check("{\"jobs\":[]}{", -1, "");
	listing_check("{\"jobs\":[}", -1, "");
	listing_check("{\"jobs\" []}", -1, "");
	listing_check("", -1, "");
}

int
main(void)
{
	test_judge();
	test_words();
	test_page();
	test_older();
	test_hit();
	test_hit_long();
	test_listing();
	return check_done();
}
