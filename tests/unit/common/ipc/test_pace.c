/* SPDX-License-Identifier: MIT */
/* Work that follows events, at most once in an interval. */
#include "config.h"

#include <event2/event.h>

#include "common/clock.h"
#include "common/ipc/pace.h"
#include "tests/unit/check.h"

#define LONG_MS	 600000 /* no test waits so long */
#define LIMIT_MS 60000	/* only a failure reaches it */

static struct event_base *base;
static struct pace pace;

/* Turns of the loop until the work is due: 1, or 0 after LIMIT_MS. */
static int
is_due_later(long long least_ms, long long most_ms)
{
	long long end = clock_ms() + LIMIT_MS;

	while (clock_ms() < end) {
		event_base_loop(base, EVLOOP_ONCE);
		if (pace_turn(&pace, least_ms, most_ms))
			return 1;
	}
	return 0;
}

/* The work is done at the first event, and then not for the events that follow. */
static void
test_at_once(void)
{
	CHECK_INT(pace_turn(&pace, LONG_MS, LONG_MS), 1);
	CHECK_INT(pace_turn(&pace, LONG_MS, LONG_MS), 0);
	CHECK_INT(pace_turn(&pace, LONG_MS, LONG_MS), 0);
}

/* An event soon after the work: the work is repeated without another event. */
static void
test_later(void)
{
	long long begin = clock_ms();

	CHECK_INT(pace_turn(&pace, 30, LONG_MS), 1);
	CHECK_INT(pace_turn(&pace, 30, LONG_MS), 0);
	CHECK_INT(is_due_later(30, LONG_MS), 1);
	CHECK(clock_ms() - begin >= 30);
}

/* The timer ended some ms before the work is due: it is set again. */
static void
test_early_timer(void)
{
	CHECK_INT(pace_turn(&pace, LONG_MS, LONG_MS), 1);
	CHECK_INT(pace_turn(&pace, LONG_MS, LONG_MS), 0);
	event_del(pace.timer);
	CHECK_INT(pace_turn(&pace, LONG_MS, LONG_MS), 0);
	CHECK(event_pending(pace.timer, EV_TIMEOUT, NULL));
}

/* Without an event the work is repeated after the longest time. */
static void
test_repeated(void)
{
	CHECK_INT(pace_turn(&pace, 10, 40), 1);
	CHECK_INT(is_due_later(10, 40), 1);
}

int
main(void)
{
	static void (*const tests[])(void) = { test_at_once, test_later,
		test_early_timer, test_repeated };
	size_t i;

	base = event_base_new();
	CHECK(base != NULL);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		CHECK_INT(pace_init(&pace, base), 0);
		tests[i]();
		pace_clear(&pace);
	}
	event_base_free(base);
	return check_done();
}
