/* SPDX-License-Identifier: MIT */
/* Questions to a cluster about its runs and the answers, as JSON. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/record/ask_json.h"
#include "tests/unit/check.h"

#define NONCE "0123456789abcdef"
#define HEAD  "{\"schema\":1,\"nonce\":\"" NONCE "\""
#define RUN   "{\"jobId\":7,\"startTime\":1000}"
#define ASK   HEAD ",\"kind\":\"lookup\",\"runs\":[" RUN "]}"
#define ANSWER \
	HEAD \
	    ",\"cluster\":\"alpha\",\"error\":\"\",\"asked\":2,\"notFound\":[" RUN \
	    "]}"

static char why[ASK_TEXT_MAX];

static int
ask(const char *text)
{
	static struct ask a;

	return ask_read(&a, text, strlen(text), why, sizeof(why));
}

static int
answer_of(const char *text, size_t len)
{
	static struct ask_answer a;

	return ask_answer_read(&a, text, len, why, sizeof(why));
}

static int
answer(const char *text)
{
	return answer_of(text, strlen(text));
}

static void
test_question(void)
{
	struct ask a = { .nonce = NONCE, .n = 2 }, b = { .n = 0 };
	struct writer w;
	unsigned i;

	a.runs[0] = (struct ask_run) { 7, 1000 };
	a.runs[1] = (struct ask_run) { INT64_MAX, TIME_S_MAX };
	wr_init(&w, ASK_BYTES_MAX);
	ask_write(&w, &a);
	CHECK_INT(wr_end(&w), 0);
	CHECK_INT(ask_read(&b, (const char *)w.buf, w.len, why, sizeof(why)),
	    0);
	CHECK_STR(b.nonce, NONCE);
	CHECK_INT(b.n, 2);
	CHECK_INT(b.runs[0].job, 7);
	CHECK_INT(b.runs[0].start, 1000);
	CHECK(b.runs[1].job == INT64_MAX);
	CHECK(b.runs[1].start == TIME_S_MAX);
	/* the longest question fits */
	a.n = ASK_RUNS_MAX;
	for (i = 0; i < a.n; i++)
		a.runs[i] = (struct ask_run) { INT64_MAX - i, TIME_S_MAX };
	wr_reset(&w);
	ask_write(&w, &a);
	CHECK_INT(wr_end(&w), 0);
	CHECK_INT(ask_read(&b, (const char *)w.buf, w.len, why, sizeof(why)),
	    0);
	CHECK_INT(b.n, ASK_RUNS_MAX);
	wr_clear(&w);
}

static void
kind_is_kept(enum ask_kind kind, int64_t from, int64_t to)
{
	struct ask a = { .nonce = NONCE, .kind = kind, .from = from, .to = to };
	struct ask b;
	struct writer w;

	if (kind == ASK_EXPLAIN)
		a.job = INT64_MAX;
	wr_init(&w, ASK_BYTES_MAX);
	ask_write(&w, &a);
	CHECK_INT(wr_end(&w), 0);
	CHECK_INT(ask_read(&b, (const char *)w.buf, w.len, why, sizeof(why)),
	    0);
	CHECK_INT(b.kind, kind);
	CHECK_INT(b.n, 0);
	CHECK_INT(b.from, from);
	CHECK_INT(b.to, to);
	CHECK(b.job == a.job);
	/* an older cluster reads runs first, and says what is not known */
	wr_u8(&w, 0);
	CHECK(strstr((const char *)w.buf, "\"runs\":[]") != NULL);
	wr_clear(&w);
}

static void
test_orders(void)
{
	static const char *const bad[] = { HEAD
		",\"kind\":\"backfill\",\"runs\":[]}",
		HEAD ",\"kind\":\"backfill\",\"from\":5,\"runs\":[]}",
		HEAD ",\"kind\":\"backfill\",\"to\":5,\"runs\":[]}",
		HEAD ",\"kind\":\"backfill\",\"from\":5,\"to\":6}",
		HEAD ",\"kind\":\"backfill\",\"from\":6,\"to\":6,\"runs\":[]}",
		HEAD ",\"kind\":\"backfill\",\"from\":0,\"to\":6,\"runs\":[]}",
		HEAD ",\"kind\":\"backfill\",\"from\":-1,\"to\":6,\"runs\":[]}",
		HEAD ",\"kind\":\"backfill\",\"from\":\"5\",\"to\":6,"
		     "\"runs\":[]}",
		HEAD ",\"kind\":\"backfill\",\"from\":5,\"from\":5,\"to\":6,"
		     "\"runs\":[]}",
		HEAD ",\"kind\":\"backfill\",\"from\":5,"
		     "\"to\":99999999999999999999,\"runs\":[]}",
		HEAD ",\"kind\":\"backfill\",\"from\":5,\"to\":6,\"runs\":[" RUN
		     "]}",
		HEAD ",\"kind\":\"backfill-status\",\"runs\":[" RUN "]}",
		HEAD ",\"kind\":\"explain\",\"runs\":[]}",
		HEAD ",\"kind\":\"explain\",\"jobId\":0,\"runs\":[]}",
		HEAD ",\"kind\":\"explain\",\"jobId\":7,\"runs\":[" RUN "]}",
		HEAD ",\"kind\":\"backfill-cancel\",\"runs\":[" RUN "]}",
		HEAD ",\"kind\":\"backfill-cancel\"}",
		HEAD ",\"kind\":\"backfill-pause\",\"runs\":[]}" };
	size_t i;

	kind_is_kept(ASK_BACKFILL, 5, TIME_S_MAX);
	kind_is_kept(ASK_BACKFILL_STATUS, 0, 0);
	kind_is_kept(ASK_EXPLAIN, 0, 0);
	kind_is_kept(ASK_BACKFILL_CANCEL, 0, 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_INT(ask(bad[i]), -1);
		CHECK(*why != '\0');
	}
	CHECK(strstr(why, "upgrade the cluster") != NULL);
}

/* The line for an admin is in the answer only when there is one. */
static void
test_line(void)
{
	struct ask_answer a = { .nonce = NONCE, .cluster = "alpha" };
	struct ask_answer b;
	struct writer w;

	memset(a.text, 'p', sizeof(a.text) - 1);
	wr_init(&w, ASK_BYTES_MAX);
	ask_answer_write(&w, &a);
	CHECK_INT(wr_end(&w), 0);
	CHECK_INT(ask_answer_read(&b, (const char *)w.buf, w.len, why,
		      sizeof(why)),
	    0);
	CHECK_STR(b.text, a.text);
	CHECK_INT(b.asked, 0);
	CHECK_INT(b.n, 0);
	/* one byte too many */
	wr_reset(&w);
	wr_mem(&w, HEAD, strlen(HEAD));
	wr_mem(&w, ",\"text\":\"p", 10);
	wr_mem(&w, a.text, sizeof(a.text) - 1);
	wr_mem(&w, "\"}", 2);
	CHECK_INT(answer_of((const char *)w.buf, w.len), -1);
	CHECK(strstr(why, "text") != NULL);
	wr_clear(&w);
	CHECK_INT(answer(ANSWER), 0);
	CHECK_INT(ask(HEAD ",\"kind\":\"lookup\",\"text\":\"p\",\"runs\":"
			   "[" RUN "]}"),
	    -1);
}

static void
test_answer(void)
{
	struct ask_answer a = { .nonce = NONCE,
		.cluster = "al\"pha\\",
		.error = "its collector is not running",
		.asked = 3,
		.n = 1 };
	struct ask_answer b = { .n = 0 };
	struct writer w;

	a.not_found[0] = (struct ask_run) { 7, 1000 };
	wr_init(&w, ASK_BYTES_MAX);
	ask_answer_write(&w, &a);
	CHECK_INT(wr_end(&w), 0);
	CHECK_INT(ask_answer_read(&b, (const char *)w.buf, w.len, why,
		      sizeof(why)),
	    0);
	CHECK_STR(b.nonce, NONCE);
	CHECK_STR(b.cluster, a.cluster);
	CHECK_STR(b.error, a.error);
	CHECK_INT(b.asked, 3);
	CHECK_INT(b.n, 1);
	CHECK_INT(b.not_found[0].job, 7);
	wr_clear(&w);
	CHECK_INT(answer(ANSWER), 0);
	/* members that a later version may add */
	CHECK_INT(answer(HEAD ",\"new\":[{\"jobId\":[]},[1]],\"cluster\":\"a\","
			      "\"error\":\"\",\"asked\":1,\"notFound\":[{"
			      "\"jobId\":7,\"why\":{\"jobId\":8},"
			      "\"startTime\":9}]}"),
	    0);
}

static void
test_invalid_question(void)
{
	static const char *const texts[] = { "", "{}", "[]", ASK "x", HEAD "}",
		HEAD ",\"kind\":\"lookup\",\"runs\":[]}",
		HEAD ",\"kind\":\"purge\",\"runs\":[" RUN "]}",
		HEAD ",\"runs\":[" RUN "]}",
		HEAD ",\"kind\":\"lookup\",\"runs\":" RUN "}",
		HEAD ",\"kind\":\"lookup\",\"runs\":[7]}",
		HEAD ",\"kind\":\"lookup\",\"runs\":[{\"jobId\":7}]}",
		HEAD ",\"kind\":\"lookup\",\"runs\":[{\"jobId\":0,"
		     "\"startTime\":1}]}",
		HEAD ",\"kind\":\"lookup\",\"runs\":[{\"jobId\":-7,"
		     "\"startTime\":1}]}",
		HEAD ",\"kind\":\"lookup\",\"runs\":[{\"jobId\":7,"
		     "\"startTime\":99999999999999999999}]}",
		HEAD ",\"kind\":\"lookup\",\"runs\":[{\"jobId\":7,\"jobId\":7,"
		     "\"startTime\":1}]}",
		HEAD ",\"kind\":\"lookup\",\"runs\":[" RUN "],\"runs\":[" RUN
		     "]}",
		HEAD ",\"kind\":\"lookup\",\"runs\":[" RUN,
		"{\"schema\":1,\"nonce\":\"0123456789ABCDEF\","
		"\"kind\":\"lookup\",\"runs\":[" RUN "]}",
		"{\"schema\":2,\"nonce\":\"" NONCE
		"\",\"kind\":\"lookup\",\"runs\":[" RUN "]}" };
	size_t i;

	CHECK_INT(ask(ASK), 0);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK_INT(ask(texts[i]), -1);
		CHECK(*why != '\0');
	}
	CHECK(strstr(why, "upgrade") != NULL);
}

static void
test_many(void)
{
	static char text[64 * 1024];
	size_t n;
	int i;

	n = (size_t)snprintf(text, sizeof(text), "%s",
	    HEAD ",\"kind\":\"lookup\",\"runs\":[" RUN);
	for (i = 0; i < ASK_RUNS_MAX; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "," RUN);
	snprintf(text + n, sizeof(text) - n, "]}");
	CHECK_INT(ask(text), -1);
	CHECK(strstr(why, "more than") != NULL);
	memset(text, ' ', ASK_BYTES_MAX + 1);
	text[ASK_BYTES_MAX + 1] = '\0';
	CHECK_INT(ask(text), -1);
	CHECK(strstr(why, "longer") != NULL);
}

static void
test_invalid_answer(void)
{
	static const char *const texts[] = { ASK,
		HEAD ",\"cluster\":\"a\",\"error\":\"\",\"asked\":1}",
		HEAD ",\"cluster\":\"a\",\"error\":\"\",\"notFound\":[]}",
		HEAD ",\"cluster\":\"a\",\"asked\":1,\"notFound\":[]}",
		HEAD ",\"error\":\"\",\"asked\":1,\"notFound\":[]}",
		HEAD ",\"cluster\":\"a\",\"error\":\"\",\"asked\":257,"
		     "\"notFound\":[]}",
		HEAD ",\"cluster\":7,\"error\":\"\",\"asked\":1,"
		     "\"notFound\":[]}",
		HEAD ",\"cluster\":\"a\",\"error\":\"\\u001b\",\"asked\":1,"
		     "\"notFound\":[]}",
		"{\"schema\":2,\"nonce\":\"" NONCE
		"\",\"cluster\":\"a\",\"error\":\"\",\"asked\":1,"
		"\"notFound\":[]}" };
	static const char whole[] = ANSWER;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK_INT(answer(texts[i]), -1);
	/* no part of an answer is an answer */
	for (i = 0; i < sizeof(whole) - 1; i++)
		CHECK_INT(answer_of(whole, i), -1);
}

int
main(void)
{
	test_question();
	test_orders();
	test_line();
	test_answer();
	test_invalid_question();
	test_many();
	test_invalid_answer();
	return check_done();
}
