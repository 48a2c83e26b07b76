/* SPDX-License-Identifier: MIT */
/*
 * Runs an event loop until a condition holds.  A test waits for the event
 * itself and not for a time: under valgrind, on a busy machine, the event may
 * need some hundred times as long.
 */
#ifndef TESTS_UNIT_LOOP_H
#define TESTS_UNIT_LOOP_H

#include <unistd.h>

#include <event2/event.h>

#include "tests/unit/check.h"

#define LOOP_TURNS_MAX 60000 /* of at least 1 ms; only a failure reaches it */
#define LOOP_SETTLE    100   /* turns; more than any chain of events needs */

/*
 * Handles all that is ready, and what that makes ready.  The tests show with
 * it that nothing happens: what this process writes into a pipe or a UNIX
 * socket can be read at once.
 */
static inline void
loop_settle(struct event_base *base)
{
	int i;

	for (i = 0; i < LOOP_SETTLE; i++)
		event_base_loop(base, EVLOOP_NONBLOCK);
}

/* One turn of LOOP_UNTIL. */
static inline void
loop_turn(struct event_base *base)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
	usleep(1000);
}

/* Runs the event loop until cond holds; the test fails when it never does. */
#define LOOP_UNTIL(base, cond) \
	do { \
		int loop_turns_ = 0, loop_ok_; \
\
		while (!(loop_ok_ = (cond)) && loop_turns_ < LOOP_TURNS_MAX) { \
			loop_turn(base); \
			loop_turns_++; \
		} \
		check_that(loop_ok_, #cond, __FILE__, __LINE__); \
	} while (0)

#endif
