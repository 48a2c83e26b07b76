/* SPDX-License-Identifier: MIT */
/*
 * The time without faults at the end of a seed.  Most seeds end as soon as
 * their checks pass, because most of their time would pass without an event.
 * The other seeds show that nothing changes in the hours after that.
 */
#ifndef TESTS_SIMULATE_REST_H
#define TESTS_SIMULATE_REST_H

#include <stdint.h>

/* The seeds of this process and of its children last for the whole time. */
void rest_whole(void);
/*
 * Runs the world for at most ms milliseconds.  Every two hours a copy of the
 * process calls verdict, which ends its process when an invariant fails; the
 * time ends when none does.  The caller calls verdict again.
 */
void rest_run(int64_t ms, void (*verdict)(void));

#endif
