/* SPDX-License-Identifier: MIT */
/* See reduce.h. */
#include "config.h"

#include <sys/mman.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/reduce.h"

static struct reduction used = { .jobs = UINT_MAX };

static struct noted {
	unsigned jobs;
	unsigned n;
	char kinds[REDUCE_KINDS][REDUCE_NAME];
} * noted;

void
reduce_prepare(void)
{
	void *p = mmap(NULL, sizeof(*noted), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	noted = p;
}

void
reduce_use(const struct reduction *r)
{
	used = *r;
}

int
reduce_allows(const char *kind)
{
	unsigned i;

	for (i = 0; i < used.n; i++)
		if (strcmp(used.without[i], kind) == 0)
			return 0;
	for (i = 0; i < noted->n; i++)
		if (strcmp(noted->kinds[i], kind) == 0)
			return 1;
	if (noted->n == REDUCE_KINDS)
		abort();
	snprintf(noted->kinds[noted->n++], REDUCE_NAME, "%s", kind);
	return 1;
}

int
reduce_job(void)
{
	if (noted->jobs >= used.jobs)
		return 0;
	noted->jobs++;
	return 1;
}

void
reduce_forget(void)
{
	memset(noted, 0, sizeof(*noted));
}

const char *
reduce_kind(unsigned i)
{
	return i < noted->n ? noted->kinds[i] : NULL;
}

unsigned
reduce_jobs(void)
{
	return noted->jobs;
}
