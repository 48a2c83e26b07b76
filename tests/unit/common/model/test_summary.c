/* SPDX-License-Identifier: MIT */
/* The summary of a worker as bytes: whole, cut, and with hostile values. */
#include "config.h"

#include "common/model/msg.h"
#include "common/model/summary.h"
#include "tests/unit/check.h"

static struct summary s, got;

static int
read_back(const uint8_t *p, size_t n)
{
	struct reader r;

	rd_init(&r, p, n);
	summary_read(&r, &got);
	return rd_end(&r);
}

static void
summary_make(void)
{
	memset(&s, 0, sizeof(s));
	s.running = 1;
	s.waiting = 2;
	s.rejected = 3;
	s.lost = 4;
	s.last_job = 5;
	s.standby = 1;
	summary_add(&s, PROBLEM_BACKEND, 0, 6, "down:\n%s", "\x1b[2J");
	summary_add(&s, PROBLEM_RUNAWAYS, 16, 0, "%d", 7);
}

static void
test_round(void)
{
	struct writer w;
	size_t cut;

	summary_make();
	wr_init(&w, 65536);
	summary_write(&w, &s);
	CHECK_INT(read_back(w.buf, w.len), 0);
	CHECK_INT(got.running, 1);
	CHECK_INT(got.lost, 4);
	CHECK_INT(got.last_job, 5);
	CHECK_INT(got.n, 2);
	CHECK_STR(got.problems[0].text, "down:\\n\\x1b[2J");
	CHECK_INT(got.problems[1].kind, PROBLEM_RUNAWAYS);
	CHECK_INT(got.problems[1].item, 16);
	for (cut = 0; cut < w.len; cut++) {
		CHECK_INT(read_back(w.buf, cut), -1);
		CHECK_INT(got.n, 0);
	}
	wr_clear(&w);
}

/* The longest summary fits into its message; what does not fit is counted. */
static void
test_full(void)
{
	struct msg_header h = { .type = MSG_SUMMARY };
	char text[2 * SUMMARY_TEXT_MAX];
	struct writer w;
	unsigned i;

	memset(&s, 0, sizeof(s));
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (i = 0; i < SUMMARY_PROBLEMS_MAX + 3; i++)
		summary_add(&s, PROBLEM_SLURMCTLD, i, 0, "%s", text);
	CHECK_INT(s.n, SUMMARY_PROBLEMS_MAX);
	CHECK_INT(s.more, 3);
	wr_init(&w, 65536);
	summary_write(&w, &s);
	h.length = (uint32_t)w.len;
	CHECK_STR(msg_check(&h, ROLE_COLLECTOR, ROLE_SUPERVISOR), NULL);
	CHECK_INT(read_back(w.buf, w.len), 0);
	CHECK_INT(got.n, SUMMARY_PROBLEMS_MAX);
	wr_reset(&w);
	memset(&s, 0, sizeof(s));
	summary_write(&w, &s);
	h.length = (uint32_t)w.len;
	CHECK_STR(msg_check(&h, ROLE_RUNNER, ROLE_SUPERVISOR), NULL);
	h.length--;
	CHECK(msg_check(&h, ROLE_RUNNER, ROLE_SUPERVISOR) != NULL);
	wr_clear(&w);
}

static void
refused(void)
{
	struct writer w;

	wr_init(&w, 65536);
	summary_write(&w, &s);
	CHECK_INT(read_back(w.buf, w.len), -1);
	wr_clear(&w);
}

static void
test_values(void)
{
	unsigned kind;

	summary_make();
	s.standby = 2;
	refused();
	summary_make();
	s.last_job = -1;
	refused();
	summary_make();
	s.problems[1].kind = PROBLEM__COUNT;
	refused();
	summary_make();
	s.problems[0].since = -1;
	refused();
	for (kind = 0; kind < PROBLEM__COUNT; kind++)
		CHECK(strcmp(problem_stage(kind), "?") != 0);
	CHECK_STR(problem_stage(PROBLEM__COUNT), "?");
}

int
main(void)
{
	test_round();
	test_full();
	test_values();
	return check_done();
}
