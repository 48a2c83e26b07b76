/* SPDX-License-Identifier: MIT */
/* The submitter as a simulated process; it is started again when it ends. */
#ifndef TESTS_SIMULATE_SUBMITTER_H
#define TESTS_SIMULATE_SUBMITTER_H

#include "tests/simulate/supervisor.h"

/* started: called when it serves.  Starts the process. */
struct supervised *submitter_begin(void (*started)(void),
    const char *commit_interval, int with_history);
unsigned submitter_starts(void);

#endif
