/* SPDX-License-Identifier: MIT */
/* See coverage.h. */
#include "config.h"

#include <sys/mman.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/coverage.h"

#define COUNTS_MAX 64 /* states, events, places */
#define RULES_MAX  128
#define DESTS	   2
#define TEXT_MAX   400

struct counts {
	uint64_t moves[DESTS][COUNTS_MAX][COUNTS_MAX];
	uint64_t rules[RULES_MAX];
	struct {
		char name[16];
		uint64_t passed, crashed;
	} points[COUNTS_MAX];
};

static struct counts *counts;

void
coverage_begin(void)
{
	void *p = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	counts = p;
}

void
coverage_add(unsigned dest, unsigned state, unsigned event)
{
	counts->moves[dest][state][event]++;
}

void
coverage_rule(unsigned row)
{
	counts->rules[row]++;
}

void
coverage_point(const char *where, int crashed)
{
	unsigned i = 0;

	while (counts->points[i].name[0] != '\0' &&
	    strcmp(counts->points[i].name, where) != 0)
		if (++i == COUNTS_MAX)
			abort();
	snprintf(counts->points[i].name, sizeof(counts->points[i].name), "%s",
	    where);
	if (crashed)
		counts->points[i].crashed++;
	else
		counts->points[i].passed++;
}

/* Prints the transitions with a count, or those without. */
static unsigned
moves_print(unsigned dest, int with)
{
	const char *from, *what;
	unsigned state, event, n = 0;
	uint64_t count;
	int allowed;

	for (state = 0; state < COUNTS_MAX; state++)
		for (event = 0; event < COUNTS_MAX; event++) {
			allowed = submitter_transition(dest, state, event,
			    &from, &what);
			count = counts->moves[dest][state][event];
			if (allowed != 1 || (count > 0) != with)
				continue;
			printf("%10llu %s%s: %s\n", (unsigned long long)count,
			    dest == 0 ? "" : "NATS: ", from, what);
			n++;
		}
	return n;
}

/* A simulation without NATS takes none of its transitions. */
static int
dest_is_used(unsigned dest)
{
	unsigned state, event;

	for (state = 0; state < COUNTS_MAX; state++)
		for (event = 0; event < COUNTS_MAX; event++)
			if (counts->moves[dest][state][event] > 0)
				return 1;
	return 0;
}

static unsigned
rules_print(int with)
{
	char text[TEXT_MAX];
	unsigned i, n = 0;

	for (i = 0; submitter_rule(i, text, sizeof(text)) == 0; i++) {
		if ((counts->rules[i] > 0) != with)
			continue;
		printf("%10llu %s\n", (unsigned long long)counts->rules[i],
		    text);
		n++;
	}
	return n;
}

static void
points_print(void)
{
	unsigned i;

	for (i = 0; i < COUNTS_MAX && counts->points[i].name[0] != '\0'; i++)
		printf("%10llu times at \"%s\", %llu crashes\n",
		    (unsigned long long)counts->points[i].passed,
		    counts->points[i].name,
		    (unsigned long long)counts->points[i].crashed);
}

void
coverage_print(void)
{
	unsigned dest, taken, never;

	for (dest = 0; dest < DESTS; dest++) {
		if (!dest_is_used(dest))
			continue;
		taken = moves_print(dest, 1);
		never = moves_print(dest, 0);
		printf("%u of %u transitions of %s were taken\n", taken,
		    taken + never, dest == 0 ? "cc-backend" : "NATS");
	}
	taken = rules_print(1);
	never = rules_print(0);
	printf("%u of %u rows of the answers were taken\n", taken,
	    taken + never);
	points_print();
}
