/* SPDX-License-Identifier: MIT */
/*
 * The simulated listener: it keeps the events of hooks until the collector has
 * acknowledged them, and sends all of them to a new collector.
 */
#ifndef TESTS_SIMULATE_SITE_HOOKS_H
#define TESTS_SIMULATE_SITE_HOOKS_H

#include "tests/simulate/link.h"

/* lost: of a million hooks, those that find no listener. */
void hooks_begin(unsigned lost);
/* A slurm_hook_fn. */
void hooks_called(uint32_t job, int is_end);
/* A new collector or a new listener: end 0 of the link is the listener's. */
void hooks_connect(struct link *l);
void hooks_disconnect(void);
/* The listener crashes: it loses its events. */
void hooks_crash(void);
/* Those that have waited for their acknowledgement for more than two minutes. */
unsigned hooks_waiting(void);

#endif
