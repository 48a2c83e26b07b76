/* SPDX-License-Identifier: MIT */
/* The last warnings and errors: number, length, order, equal lines. */
#include "config.h"

#include "supervisor/system/log_output.h"
#include "supervisor/system/recent_warnings.h"
#include "tests/unit/check.h"
#include "tests/unit/supervisor/system/log_capture.h"

#define MANY  200 /* lines, more than are kept */
#define FIRST 5	  /* lines of other processes, which stay */
#define REST  (RECENT_WARNINGS_MAX - FIRST)

static void
add(const char *sender, enum log_kind kind, const char *text, int64_t now)
{
	struct log_line line = { .sender = sender,
		.kind = kind,
		.cluster = "",
		.text = text };

	recent_warning_add(&line, now);
}

static void
test_kinds(void)
{
	add("listener", LOG_NOTICE, "a notice", 1);
	add("listener", LOG_DEBUG, "debug", 2);
	CHECK(recent_warning_at(0) == NULL);
	add("listener", LOG_WARN, "a warning", 3);
	add("listener", LOG_ERROR, "an error", 4);
	add("listener", LOG_FATAL, "the end", 5);
	CHECK_STR(recent_warning_at(0)->text, "the end");
	CHECK_INT(recent_warning_at(0)->kind, LOG_FATAL);
	CHECK_STR(recent_warning_at(1)->text, "an error");
	CHECK_STR(recent_warning_at(2)->text, "a warning");
	CHECK(recent_warning_at(3) == NULL);
}

/* Equal lines are one, and the newest; those of other processes are others. */
static void
test_equal(void)
{
	add("listener", LOG_WARN, "a warning", 10);
	add("listener", LOG_WARN, "a warning", 11);
	CHECK_STR(recent_warning_at(0)->text, "a warning");
	CHECK_INT(recent_warning_at(0)->count, 3);
	CHECK_INT(recent_warning_at(0)->first, 3);
	CHECK_INT(recent_warning_at(0)->last, 11);
	CHECK_STR(recent_warning_at(1)->text, "the end");
	CHECK_STR(recent_warning_at(2)->text, "an error");
	CHECK(recent_warning_at(3) == NULL);
	add("runner", LOG_WARN, "a warning", 12);
	CHECK_STR(recent_warning_at(0)->sender, "runner");
	CHECK_INT(recent_warning_at(0)->count, 1);
	add("runner", LOG_ERROR, "a warning", 13);
	CHECK_INT(recent_warning_at(0)->count, 1);
	CHECK(recent_warning_at(4) != NULL);
	CHECK(recent_warning_at(5) == NULL);
}

static void
test_bounds(void)
{
	char text[1000], want[32];
	int i;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	add("submitter", LOG_ERROR, text, 20);
	CHECK_INT(strlen(recent_warning_at(0)->text), RECENT_TEXT_MAX - 1);
	CHECK_STR(recent_warning_at(0)->text + RECENT_TEXT_MAX - 5, "x...");
	for (i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "line %d\033[2J", i);
		add("submitter", LOG_WARN, text, 100 + i);
	}
	for (i = 0; i < REST; i++) {
		snprintf(want, sizeof(want), "line %d\\x1b[2J", MANY - 1 - i);
		CHECK_STR(recent_warning_at((unsigned)i)->text, want);
		CHECK_INT(recent_warning_at((unsigned)i)->last,
		    100 + MANY - 1 - i);
	}
	CHECK(recent_warning_at(RECENT_WARNINGS_MAX) == NULL);
	/* The oldest one again: it stays, and no other one goes. */
	snprintf(text, sizeof(text), "line %d\033[2J", MANY - REST);
	add("submitter", LOG_WARN, text, 999);
	CHECK_INT(recent_warning_at(0)->count, 2);
	CHECK_STR(recent_warning_at(REST - 1)->text, "line 156\\x1b[2J");
	CHECK_STR(recent_warning_at(RECENT_WARNINGS_MAX - 1)->text, "an error");
}

/* One process that logs fast leaves the lines of the others. */
static void
test_flood(void)
{
	char text[64];
	int i, of_runner = 0, of_listener = 0;

	for (i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), "a problem %d", i);
		add("listener", LOG_WARN, text, 1000);
		add("runner", LOG_WARN, text, 1000);
	}
	for (i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "flood %d", i);
		add("collector", LOG_ERROR, text, 2000 + i);
	}
	for (i = 0; i < RECENT_WARNINGS_MAX; i++) {
		of_runner += strcmp(recent_warning_at((unsigned)i)->sender,
				 "runner") == 0;
		of_listener += strcmp(recent_warning_at((unsigned)i)->sender,
				   "listener") == 0;
	}
	CHECK_INT(of_runner, 5 + 2);
	CHECK_INT(of_listener, 5 + 3);
	/* Of the process with the most, the oldest one is removed. */
	snprintf(text, sizeof(text), "flood %d", MANY - 1);
	CHECK_STR(recent_warning_at(0)->text, text);
	CHECK_STR(recent_warning_at(1)->sender, "collector");
}

/* The supervisor's reports about such a process are one line. */
static void
test_suppressed(void)
{
	struct log_line line = log_output_loss("");
	char text[96];
	int i, n = 0;

	add("supervisor", LOG_WARN, "of the supervisor", 3000);
	for (i = 1; i <= MANY; i++) {
		snprintf(text, sizeof(text),
		    "%d log lines of the %s are "
		    "suppressed",
		    i * 7, i % 2 ? "collector" : "listener");
		line.text = text;
		recent_warning_add(&line, 3000 + i);
	}
	CHECK_STR(recent_warning_at(0)->text,
	    "1400 log lines of the listener are suppressed");
	CHECK_INT(recent_warning_at(0)->count, MANY / 2);
	CHECK_INT(recent_warning_at(0)->first, 3002);
	CHECK_STR(recent_warning_at(1)->text,
	    "1393 log lines of the collector are suppressed");
	CHECK_STR(recent_warning_at(2)->text, "of the supervisor");
	/* Other lines with another number are others. */
	add("supervisor", LOG_WARN, "1 run", 4000);
	add("supervisor", LOG_WARN, "2 run", 4000);
	for (i = 0; i < RECENT_WARNINGS_MAX; i++)
		n += strcmp(recent_warning_at((unsigned)i)->sender,
			 "supervisor") == 0;
	CHECK_INT(n, 5);
}

/* Every line that is written to the log is offered. */
static void
test_log(void)
{
	capture_begin();
	log_output_init();
	log_warnx("of the supervisor");
	log_info("not at this level");
	CHECK(strstr(capture_end(), "of the supervisor") != NULL);
	CHECK_STR(recent_warning_at(0)->text, "of the supervisor");
	CHECK_STR(recent_warning_at(0)->sender, "supervisor");
}

int
main(void)
{
	log_init("supervisor", LOG_LEVEL_WARN);
	test_kinds();
	test_equal();
	test_bounds();
	test_flood();
	test_suppressed();
	test_log();
	return check_done();
}
