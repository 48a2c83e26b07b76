/* SPDX-License-Identifier: MIT */
/*
 * A clock and timers for the boxes of the submitter: no time passes but what
 * a test lets pass.
 */
#ifndef TESTS_UNIT_SUBMITTER_SIM_CLOCK_H
#define TESTS_UNIT_SUBMITTER_SIM_CLOCK_H

#include <stdint.h>

#include <event2/event.h>

/* The clock shows ms; there are no timers. */
void sim_clock_begin(int64_t ms);
/* From now on, ms pass with each look at the clock. */
void sim_clock_look(int64_t ms);
/*
 * Lets ms pass: timers and wake-ups run in their order.  Ends early when
 * enough() is not 0; enough may be NULL.
 */
void sim_clock_run(struct event_base *base, int64_t ms, int (*enough)(void));

#endif
