/* SPDX-License-Identifier: MIT */
/* The first start of the workers, for the service and for -test. */
#include "config.h"

#include "supervisor/workers/workers.h"

void
workers_start(struct workers *w)
{
	static const enum role order[] = { ROLE_SUBMITTER, ROLE_RUNNER,
		ROLE_COLLECTOR, ROLE_LISTENER };
	size_t i;

	neighbours_init(w);
	for (i = 0; i < WORKERS; i++)
		child_init(w, order[i]);
	for (i = 0; i < WORKERS; i++)
		child_start(&w->children[order[i]]);
}
