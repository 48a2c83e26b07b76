/* SPDX-License-Identifier: MIT */
/*
 * The suite beside the other slurmctld (activeOnly): it has no fault, and sends
 * what it finds missing in cc-backend while it is active.  Both suites are
 * active in turn; for some minutes both are, or none.
 */
#ifndef TESTS_SIMULATE_TWIN_H
#define TESTS_SIMULATE_TWIN_H

#include "tests/simulate/supervisor.h"

/* Some seeds have it.  Before the submitter begins. */
void twin_begin(struct supervised *submitter);
/* Our suite is the active one from now on. */
void twin_end(void);

#endif
