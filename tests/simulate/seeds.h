/* SPDX-License-Identifier: MIT */
/*
 * The command line of a simulation: it runs seeds, each in a process of its
 * own, so that nothing of one seed is left in the next.  A seed that fails is
 * shortened: fewer kinds of faults, fewer jobs, fewer hours.
 */
#ifndef TESTS_SIMULATE_SEEDS_H
#define TESTS_SIMULATE_SEEDS_H

#include <stdint.h>

#define FIGURES 8

/* What a seed tells its parent. */
struct figures {
	uint64_t hash; /* of the trace */
	int64_t ms;    /* simulated */
	uint64_t n[FIGURES];
};

struct simulation {
	const char *name;	    /* of the program */
	int64_t hours;		    /* default: with faults */
	const char *words[FIGURES]; /* what figures.n count; NULL = no more */
	void (*run)(uint64_t seed, int64_t hours, int no_faults,
	    struct figures *f);
	void (*coverage)(void); /* prints it; NULL = there is none */
};

/* main() of a simulation. */
int seeds_main(const struct simulation *sim, int argc, char **argv);

#endif
