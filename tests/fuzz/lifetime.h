/* SPDX-License-Identifier: MIT */
/*
 * The memory and the timers of a process that ends with the input.  The product
 * never frees what it needs as long as it runs, so a target could run it once only.
 * From lifetime_begin() to lifetime_end() the memory and the events that the product
 * allocates are noted, and its timers follow a clock of their own.  A target links
 * with $(fuzz_lifetime_link), which replaces the functions.
 */
#ifndef TESTS_FUZZ_LIFETIME_H
#define TESTS_FUZZ_LIFETIME_H

#include <stdint.h>

struct event_base;

void lifetime_begin(void);
/* Frees what was not freed. */
void lifetime_end(void);
/* ms; the clock of the timers, from 0 in each input. */
int64_t lifetime_ms(void);
/*
 * The same clock in place of the product's, in ms: not near 0, which means "never".
 * A target that links with --wrap=clock_ms,--wrap=clock_left has it there too.
 */
long long lifetime_clock_ms(void);
/*
 * Lets ms pass: handles the events, and the timers that are due, in their order; a
 * few hundred of them, at most.
 */
void lifetime_pass(struct event_base *base, int64_t ms);

#endif
