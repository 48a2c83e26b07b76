/* SPDX-License-Identifier: MIT */
/* How often the seeds took each transition of the table of run states. */
#ifndef TESTS_SIMULATE_COVERAGE_H
#define TESTS_SIMULATE_COVERAGE_H

/* Before the first seed: the counts are shared with the processes of seeds. */
void coverage_begin(void);
void coverage_add(unsigned state, unsigned event);
/* Prints the counts, the transitions without one last. */
void coverage_print(void);

/*
 * Of the submitter's side: the texts of a transition.  1 when the table allows
 * it for cc-backend, 0 when not, -1 when there is no such state or event.
 */
int submitter_transition(unsigned state, unsigned event, const char **from,
    const char **what);

#endif
