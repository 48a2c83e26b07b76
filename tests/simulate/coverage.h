/* SPDX-License-Identifier: MIT */
/*
 * How often the seeds took each transition of the table of run states, each row
 * of the table of cc-backend's answers, and each place of a crash.
 */
#ifndef TESTS_SIMULATE_COVERAGE_H
#define TESTS_SIMULATE_COVERAGE_H

#include <stddef.h>

/* Before the first seed: the counts are shared with the processes of seeds. */
void coverage_begin(void);
/* dest: 0 cc-backend, 1 NATS (enum dest) */
void coverage_add(unsigned dest, unsigned state, unsigned event);
void coverage_rule(unsigned row);
/* The process has come to the place; crashed: it ends there. */
void coverage_point(const char *where, int crashed);
/* Prints the counts; the rows that were never taken come last. */
void coverage_print(void);

/*
 * Of the submitter's side: the texts of a transition.  1 when the table allows
 * it, 0 when not, -1 when there is no such state or event.
 */
int submitter_transition(unsigned dest, unsigned state, unsigned event,
    const char **from, const char **what);
/* The text of a row of the table of answers.  0, or -1: there is no such row. */
int submitter_rule(unsigned i, char *text, size_t size);

#endif
