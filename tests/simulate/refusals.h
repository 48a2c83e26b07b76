/* SPDX-License-Identifier: MIT */
/*
 * What cc-backend refuses for a time, beyond its contract with a sound run:
 * deletions, requests of some runs, all starts of the cluster.
 */
#ifndef TESTS_SIMULATE_REFUSALS_H
#define TESTS_SIMULATE_REFUSALS_H

#include <stddef.h>

struct cc_answer;

void refusals_begin(int no_faults);
/*
 * 1: cc-backend answers so (the body is the caller's) and does nothing.  0: it
 * handles the request.
 */
int refusals_answer(const char *path, const char *body, size_t n,
    struct cc_answer *answer);
/* cc-backend starts; its configuration may lack the cluster. */
void refusals_restart(void);
/* Did cc-backend refuse deletions at some time? */
int refusals_of_deletions(void);
/*
 * From now on nothing is refused.  1 when starts were rejected because of the
 * cluster: an admin loads the configuration again.
 */
int refusals_end(void);

#endif
