/* SPDX-License-Identifier: MIT */
/* The judge, against answers as cc-backend 1.3 to 1.5 gave them; the listing reader. */
#include "config.h"

#include <stdlib.h>

#include "submitter/backend/job_list_parser.h"
#include "submitter/backend/response.h"
#include "tests/unit/check.h"

#define UNPROC	"{\"status\":\"Unprocessable Entity\",\"error\":"
#define BAD	"{\"status\":\"Bad Request\",\"error\":"
#define ISE	"{\"status\":\"Internal Server Error\",\"error\":"

static const struct {
	enum what	 what;
	int		 code;
	const char	*body;
	enum outcome	 want;
} cases[] = {
	{ WHAT_START, 201, "{\"msg\":\"success\"}\n", OUT_DONE },
	{ WHAT_START, 201, "<html>welcome</html>", OUT_AWAY },
	{ WHAT_START, 200, "<html>log in</html>", OUT_AWAY },
	{ WHAT_START, 200, "{}", OUT_AWAY },
	{ WHAT_START, 400, BAD "\"no such cluster: nosuch\"}", OUT_REJECTED },
	{ WHAT_START, 400, BAD "\"parsing request body failed: json: unknown "
	    "field \\\"exclusive\\\"\"}", OUT_REPROBE },
	{ WHAT_START, 400, "<html>bad request</html>", OUT_AWAY },
	{ WHAT_START, 400, BAD "\"integer expected in path for id: strconv\"}",
	    OUT_CONFIG },
	{ WHAT_START, 401, "{\"error\":\"unauthorized\",\"status\":"
	    "\"Unauthorized\"}\n", OUT_STOP_LINE },
	{ WHAT_START, 401, "plain text", OUT_STOP_LINE },
	{ WHAT_START, 403, "", OUT_STOP_LINE },
	{ WHAT_START, 404, "{\"error\":\"the requested endpoint does not "
	    "exist\",\"status\":\"Resource not found\"}", OUT_CONFIG },
	{ WHAT_START, 301, "", OUT_CONFIG },
	{ WHAT_START, 302, "<a href=...>", OUT_CONFIG },
	{ WHAT_START, 413, "too large", OUT_REJECTED },
	{ WHAT_START, 422, UNPROC "\"a job with that jobId, cluster and "
	    "startTime already exists: dbid: 17, jobid: 4711\"}",
	    OUT_ASK_BACK },
	{ WHAT_START, 422, "no json", OUT_AWAY },
	{ WHAT_START, 500, ISE "\"insert into database failed: UNIQUE "
	    "constraint failed: job_cache.job_id, job_cache.cluster\"}",
	    OUT_CACHED },
	{ WHAT_START, 500, ISE "\"insert into database failed: CHECK "
	    "constraint failed: smt IN (0, 1)\"}", OUT_REJECTED },
	{ WHAT_START, 500, ISE "\"adding tag to new job 12 failed: UNIQUE "
	    "constraint failed: jobtag.job_id, jobtag.tag_id\"}", OUT_DONE },
	{ WHAT_START, 500, "UNIQUE constraint failed: tag.tag_type\n" ISE
	    "\"adding tag to new job 2 failed: UNIQUE constraint failed: "
	    "tag.tag_type, tag.tag_name\"}", OUT_DONE },
	{ WHAT_START, 500, "", OUT_RETRY },
	{ WHAT_START, 500, ISE "\"database is locked\"}", OUT_RETRY },
	{ WHAT_START, 502, "<html>bad gateway</html>", OUT_AWAY },
	{ WHAT_START, 503, "", OUT_AWAY },
	{ WHAT_START, 504, "", OUT_AWAY },
	{ WHAT_START, 429, "", OUT_AWAY },
	{ WHAT_START, 418, "", OUT_AWAY },
	{ WHAT_START, 0, NULL, OUT_AWAY },
	{ WHAT_STOP, 200, "{\"cluster\":\"alpha\",\"jobId\":7,"
	    "\"startTime\":1790000000}", OUT_DONE },
	{ WHAT_STOP, 200, "<html>log in</html>", OUT_AWAY },
	{ WHAT_STOP, 422, UNPROC "\"jobId 3000038 (id 27) on alpha : job has "
	    "already been stopped (state is: completed)\"}", OUT_CLOSED },
	{ WHAT_STOP, 422, UNPROC "\"finding job failed: sql: no rows in "
	    "result set\"}", OUT_NO_RUN },
	{ WHAT_STOP, 404, "{\"status\":\"Not Found\",\"error\":\"finding job "
	    "failed: sql: no rows in result set\"}", OUT_NO_RUN },
	{ WHAT_STOP, 404, "404 page not found\n", OUT_CONFIG },
	{ WHAT_STOP, 400, BAD "\"jobId 3 (id 27) on alpha : stopTime 1790000060"
	    " must be larger than startTime 1790000000 and only running jobs "
	    "can be stopped (state is: completed)\"}", OUT_CLOSED },
	{ WHAT_STOP, 400, BAD "\"jobId 3 (id 28) on alpha : stopTime 1790000000"
	    " must be larger than startTime 1790000000 and only running jobs "
	    "can be stopped (state is: running)\"}", OUT_REJECTED },
	{ WHAT_STOP, 400, BAD "\"stopTime must be larger than startTime and "
	    "only running jobs can be stopped\"}", OUT_CLOSED },
	{ WHAT_STOP, 400, BAD "\"jobId 3 (id 18) on alpha : invalid requested "
	    "job state: \\\"node_fail\\\"\"}", OUT_REJECTED },
	{ WHAT_STOP, 500, ISE "\"transferring cached job failed\"}",
	    OUT_RETRY },
	{ WHAT_LIST, 200, "{\"jobs\":[]}", OUT_DONE },
	{ WHAT_LIST, 500, ISE "\"open var/meta.json: no such file or "
	    "directory\"}", OUT_RETRY },
	{ WHAT_LIST, 404, "404 page not found\n", OUT_CONFIG },
	{ WHAT_NODES, 200, "", OUT_DONE },
	{ WHAT_NODES, 404, "404 page not found\n", OUT_REJECTED },
	{ WHAT_META, 404, "404 page not found\n", OUT_REJECTED },
	{ WHAT_META, 422, UNPROC "\"finding job failed\"}", OUT_NO_RUN },
	{ WHAT_DELETE, 422, UNPROC "\"finding job failed\"}", OUT_NO_RUN },
	{ WHAT_PROBE, 200, "{}", OUT_AWAY },
};

static void
judge(enum what what, int code, const char *body, const char *error,
    struct verdict *v)
{
	struct answer a = { .what = what, .code = code, .body = body,
		.len = body != NULL ? strlen(body) : 0, .error = error,
		.backend = BACKEND_1_5 };

	outcome_judge(&a, v);
}

static void
test_judge(void)
{
	struct verdict v;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		judge(cases[i].what, cases[i].code, cases[i].body, NULL, &v);
		CHECK_STR(outcome_name(v.outcome),
		    outcome_name(cases[i].want));
		if (v.outcome != cases[i].want)
			fprintf(stderr, "    %s %d %s\n",
			    what_name(cases[i].what), cases[i].code,
			    cases[i].body);
	}
}

static void
test_words(void)
{
	struct verdict v;

	judge(WHAT_START, 400, BAD "\"ARCHIVE \\u003e no \\\"x\\\"\\n\"}",
	    NULL, &v);
	CHECK_STR(v.text, "400: ARCHIVE > no \"x\" ");
	judge(WHAT_START, 502, "<html>\nsecond line", NULL, &v);
	CHECK_STR(v.text, "502: <html>");
	judge(WHAT_START, 200, "{}", "connection reset", &v);
	CHECK_INT(v.outcome, OUT_AWAY);
	CHECK_STR(v.text, "connection reset");
	judge(WHAT_PROBE, 400, BAD "\"no such cluster: \"}", NULL, &v);
	CHECK(v.told && v.backend == BACKEND_1_5);
	judge(WHAT_PROBE, 400, BAD "\"json: unknown field \\\"scope\\\"\"}",
	    NULL, &v);
	CHECK_INT(v.backend, BACKEND_1_3);
	judge(WHAT_PROBE, 400, BAD "\"json: unknown field \\\"shared\\\"\"}",
	    NULL, &v);
	CHECK(v.told && v.backend == BACKEND_1_4_3);
	judge(WHAT_PROBE, 404, "{\"error\":\"x\"}", NULL, &v);
	CHECK_INT(v.outcome, OUT_CONFIG);
	CHECK(!v.told);
}

/* Which 1.4 it is, the first stop of no length tells. */
static void
test_older(void)
{
	static const char body[] = BAD "\"stopTime must be larger than "
	    "startTime and only running jobs can be stopped\"}";
	struct answer a = { .what = WHAT_STOP, .code = 400, .body = body,
		.len = sizeof(body) - 1, .backend = BACKEND_1_4_3 };
	struct verdict v;

	outcome_judge(&a, &v);
	CHECK_INT(v.outcome, OUT_OLDER);
	CHECK_INT(v.backend, BACKEND_1_4_0);
	a.backend = BACKEND_1_4_0;
	outcome_judge(&a, &v);
	CHECK_INT(v.outcome, OUT_CLOSED);
}

static void
test_hit(void)
{
	static const char now[] = "{\"jobId\":7,\"startTime\":1000}";
	static const char old[] =
	    "{\"jobId\":7,\"startTime\":\"2026-09-21T00:00:00Z\"}";

	CHECK(!outcome_hit_other(now, strlen(now), 7, 1000));
	CHECK(outcome_hit_other(now, strlen(now), 8, 1000));
	CHECK(outcome_hit_other(now, strlen(now), 7, 1001));
	CHECK(!outcome_hit_other(old, strlen(old), 7, 1000));
	CHECK(!outcome_hit_other("{}", 2, 7, 1000));
	CHECK(!outcome_hit_other(NULL, 0, 7, 1000));
}

/* What the reader gave, as one text. */
static char rows[4096];

static void
on_row(const struct listed *row, void *arg)
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
	struct listing l;
	size_t len = strlen(text), step, at, n;
	int rc;

	for (step = 1; step <= len + 1; step = step < 8 ? step + 1 : step * 3) {
		rows[0] = '\0';
		listing_init(&l, on_row, NULL);
		for (at = 0; at < len; at += n) {
			n = len - at < step ? len - at : step;
			if (listing_feed(&l, text + at, n) == -1)
				break;
		}
		rc = listing_end(&l);
		CHECK_INT(rc, want_rc);
		CHECK_STR(rows, want);
	}
}

static void
test_listing(void)
{
	listing_check("{\"jobs\":[],\"items\":500,\"page\":1}", 0, "");
	listing_check("{\"items\":5,\"jobs\":[{\"id\":17,\"cluster\":\"alpha\","
	    "\"resources\":[{\"hostname\":\"n1\",\"jobId\":9,\"hwthreads\":"
	    "[0,1]}],\"jobId\":4711,\"metaData\":{\"startTime\":\"5\","
	    "\"jobScript\":\"\\\"jobId\\\":1}]\"},\"startTime\":1790000000,"
	    "\"jobState\":\"running\",\"energy\":0.5e3},\n"
	    "{\"jobId\":1,\"startTime\":2,\"cluster\":\"b\"}]}\n", 0,
	    "17:alpha:4711:1790000000:running;0:b:1:2:;");
	/* a row without a time is counted, not given */
	listing_check("{\"jobs\":[{\"jobId\":1,\"cluster\":\"b\",\"startTime\":"
	    "\"2026-01-01T00:00:00Z\"}]}", 0, "");
	listing_check("{\"jobs\":null}", -1, "");
	listing_check("{\"jobs\\n\":[{\"jobId\":1,\"cluster\":\"b\","
	    "\"startTime\":5}]}", -1, "");
	listing_check("{\"other\":[{\"jobId\":1,\"startTime\":2,\"cluster\":"
	    "\"b\"}]}", -1, "");
	listing_check("[]", -1, "");
	listing_check("<html></html>", -1, "");
	listing_check("{\"jobs\":[{\"jobId\":1,\"startTime\":2,\"cluster\":"
	    "\"b\"},{\"jobId\":2,\"startTi", -1, "0:b:1:2:;");
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
	test_older();
	test_hit();
	test_listing();
	return check_done();
}
