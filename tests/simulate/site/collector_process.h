/* SPDX-License-Identifier: MIT */
/*
 * The product's collector as a process of the simulation, with its neighbours
 * towards Slurm: the simulated runner and listener.
 */
#ifndef TESTS_SIMULATE_SITE_COLLECTOR_PROCESS_H
#define TESTS_SIMULATE_SITE_COLLECTOR_PROCESS_H

#include <stdint.h>

#include "tests/simulate/supervisor.h"

struct collector_ops {
	/* The collector serves: give it its submitter. */
	void (*ready)(void);
	/* The process has ended; a next one starts.  May be NULL. */
	void (*ended)(void);
};

/*
 * Defines the process with the configuration of the site.  Borrows choices and
 * ops.  Lives until the end of the program.
 */
struct supervised *collector_new(struct prng *choices,
    const struct collector_ops *ops);
void collector_process_start(void);
/* A new link to the collector, which has this neighbour at its other end. */
struct link *collector_neighbour(enum role role);
/* ms until a worker that has ended starts again. */
int64_t collector_restart_ms(void);

/* Faults, for struct fault_ops. */

void collector_crash(void);
void collector_away(int is_away);
int collector_lacks_right(void);
void collector_listener_crash(void);
void collector_reload(void);

/* After the quiet day nothing is open and nothing is wrong. */
void collector_verdict(void);

#endif
