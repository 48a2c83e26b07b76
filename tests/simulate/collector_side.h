/* SPDX-License-Identifier: MIT */
/*
 * Stands for the collector: it tells the submitter what the truth is, with the
 * messages, repetitions and limits of the real one.
 */
#ifndef TESTS_SIMULATE_COLLECTOR_SIDE_H
#define TESTS_SIMULATE_COLLECTOR_SIDE_H

#include "tests/simulate/supervisor.h"

void collector_side_begin(struct supervised *submitter);
/* The submitter serves: makes a new link. */
void collector_side_link(void);
/* With two suites: ours is active, or passive. */
void collector_side_role(int active);
/* Messages that the submitter has not acknowledged. */
unsigned collector_side_waiting(void);

#endif
