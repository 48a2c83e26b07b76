/* SPDX-License-Identifier: MIT */
/* See coverage.h. */
#include "config.h"

#include <sys/mman.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/simulate/coverage.h"

#define COUNTS_MAX 64 /* states, and events */

static uint64_t (*counts)[COUNTS_MAX];

void
coverage_begin(void)
{
	void *p = mmap(NULL, COUNTS_MAX * sizeof(counts[0]),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	counts = p;
}

void
coverage_add(unsigned state, unsigned event)
{
	counts[state][event]++;
}

/* Prints the transitions with a count, or those without. */
static unsigned
rows_print(int with)
{
	const char *from, *what;
	unsigned state, event, n = 0;
	int allowed;

	for (state = 0; state < COUNTS_MAX; state++)
		for (event = 0; event < COUNTS_MAX; event++) {
			allowed = submitter_transition(state, event, &from,
			    &what);
			if (allowed != 1 || (counts[state][event] > 0) != with)
				continue;
			printf("%10llu %s: %s\n",
			    (unsigned long long)counts[state][event], from,
			    what);
			n++;
		}
	return n;
}

void
coverage_print(void)
{
	unsigned taken = rows_print(1), never = rows_print(0);

	printf("%u of %u transitions were taken\n", taken, taken + never);
}
