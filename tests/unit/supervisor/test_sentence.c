/* SPDX-License-Identifier: MIT */
/* The first line of status, for given problems at a given time. */
#include "config.h"

#include <time.h>

#include "supervisor/summary.h"
#include "tests/unit/check.h"

#define NOW INT64_C(1763820000) /* 2025-11-22T14:00:00Z */

static struct attention a, before;

static const char *
sentence(size_t size)
{
	static char text[SENTENCE_MAX];

	sentence_write(&a, NOW, text, size);
	return text;
}

static void
problem(enum role role, enum problem_kind kind, unsigned item, int64_t since,
    const char *text)
{
	struct attention_item *to = &a.items[a.n++];

	to->role = role;
	to->problem.kind = (uint8_t)kind;
	to->problem.item = (uint8_t)item;
	to->problem.since = since;
	snprintf(to->problem.text, sizeof(to->problem.text), "%s", text);
}

static void
test_ok(void)
{
	memset(&a, 0, sizeof(a));
	a.processes = 6;
	CHECK_STR(sentence(SENTENCE_MAX),
	    "OK: 6 processes, 0 jobs running, nothing waits, no job since the "
	    "start");
	a.running = 1204;
	a.last_job = NOW - 3;
	CHECK_STR(sentence(SENTENCE_MAX),
	    "OK: 6 processes, 1,204 jobs running, nothing waits, last job 3 s "
	    "ago");
	a.clusters = 200;
	CHECK_STR(sentence(SENTENCE_MAX),
	    "OK: 6 processes, 200 clusters, 1,204 jobs running, nothing waits, "
	    "last job 3 s ago");
	a.clusters = 0;
	a.running = 1;
	a.waiting = 1;
	a.standby = 1;
	a.last_job = NOW;
	CHECK_STR(sentence(SENTENCE_MAX),
	    "OK: 6 processes, standby: the other daemon sends, 1 job running, "
	    "1 run waits, last job less than 1 s ago");
	a.last_job = NOW + 3; /* a clock that was set back */
	CHECK(strstr(sentence(SENTENCE_MAX), "1 run waits, last job at 20") !=
	    NULL);
	CHECK(strstr(sentence(SENTENCE_MAX), " by an earlier clock") != NULL);
}

static void
test_degraded(void)
{
	memset(&a, 0, sizeof(a));
	problem(ROLE_SUBMITTER, PROBLEM_BACKEND, 0, NOW - 60,
	    "cc-backend refuses the token: 401");
	a.waiting = 812;
	a.since = NOW - 60;
	CHECK_STR(sentence(SENTENCE_MAX),
	    "DEGRADED since 13:59: cc-backend refuses the token: 401; 812 runs "
	    "wait, none lost");
	problem(ROLE_COLLECTOR, PROBLEM_SLURMDBD, 0, NOW, "slurmdbd is away");
	a.more = 3;
	a.lost = 1000000;
	a.waiting = 0;
	a.since = NOW - 100000;
	CHECK_STR(sentence(SENTENCE_MAX),
	    "DEGRADED since 2025-11-21T10:13:20+00:00: cc-backend refuses the "
	    "token: 401, and 4 more; nothing waits, threads and GPUs of "
	    "1,000,000 runs are lost");
	CHECK_STR(sentence(20), "DEGRADED since 2025");
}

static void
test_order(void)
{
	memset(&a, 0, sizeof(a));
	problem(ROLE_COLLECTOR, PROBLEM_RUNAWAYS, 0, 1, "d");
	problem(ROLE_COLLECTOR, PROBLEM_SLURMCTLD, 1, 9, "c");
	problem(ROLE_COLLECTOR, PROBLEM_SLURMCTLD, 0, 5, "b");
	problem(ROLE_LISTENER, PROBLEM_PROCESS, 0, 9, "a");
	attention_sort(&a);
	CHECK_STR(a.items[0].problem.text, "a");
	CHECK_STR(a.items[1].problem.text, "b");
	CHECK_STR(a.items[2].problem.text, "c");
	CHECK_STR(a.items[3].problem.text, "d");
}

/* A problem keeps its time while it lasts, whatever else comes and goes. */
static void
test_times(void)
{
	memset(&a, 0, sizeof(a));
	memset(&before, 0, sizeof(before));
	problem(ROLE_SUBMITTER, PROBLEM_NATS, 0, 0, "x");
	problem(ROLE_COLLECTOR, PROBLEM_SLURMCTLD, 1, NOW - 50, "y");
	problem(ROLE_COLLECTOR, PROBLEM_SLURMCTLD, 0, NOW + 50, "z");
	attention_continue(&a, &before, NOW);
	CHECK_INT(a.items[0].problem.since, NOW);
	CHECK_INT(a.items[1].problem.since, NOW - 50);
	CHECK_INT(a.items[2].problem.since, NOW);
	CHECK_INT(a.since, NOW - 50);
	before = a;
	memset(&a, 0, sizeof(a));
	problem(ROLE_SUBMITTER, PROBLEM_NATS, 0, NOW + 7, "x again");
	problem(ROLE_SUBMITTER, PROBLEM_SLURMCTLD, 1, 0, "another process");
	attention_continue(&a, &before, NOW + 10);
	CHECK_INT(a.items[0].problem.since, NOW);
	CHECK_INT(a.items[1].problem.since, NOW + 10);
	CHECK_INT(a.since, NOW - 50);
	before = a;
	memset(&a, 0, sizeof(a));
	attention_continue(&a, &before, NOW + 20);
	CHECK_INT(a.since, 0);
	before = a;
	problem(ROLE_SUBMITTER, PROBLEM_NATS, 0, 0, "x");
	attention_continue(&a, &before, NOW + 30);
	CHECK_INT(a.since, NOW + 30);
	/* The clock was set back: no problem begins in the future. */
	before = a;
	memset(&a, 0, sizeof(a));
	problem(ROLE_SUBMITTER, PROBLEM_NATS, 0, 0, "x");
	attention_continue(&a, &before, NOW - 1000);
	CHECK_INT(a.items[0].problem.since, NOW - 1000);
	CHECK_INT(a.since, NOW - 1000);
}

int
main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	test_ok();
	test_degraded();
	test_order();
	test_times();
	return check_done();
}
