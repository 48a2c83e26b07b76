/* SPDX-License-Identifier: MIT */
/* The submitter as a simulated process; it is started again when it ends. */
#ifndef TESTS_SIMULATE_SUBMITTER_H
#define TESTS_SIMULATE_SUBMITTER_H

#include "tests/simulate/supervisor.h"

/* With a configuration that may be changed before it begins. */
struct supervised *submitter_new(const char *commit_interval, int with_history);
/* started: called when it serves. */
void submitter_begin(void (*started)(void));
unsigned submitter_starts(void);

/*
 * After the faults.  any: runs may be rejected, so the configuration is loaded
 * again when the submitter serves.
 */
void submitter_retry(int any);

#endif
