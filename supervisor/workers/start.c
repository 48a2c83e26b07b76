/* SPDX-License-Identifier: MIT */
/* The first start of the workers, for the service and for -test. */
#include "config.h"

#include "supervisor/workers/workers.h"

int
child_is_used(const struct child *c)
{
	return c->workers != NULL;
}

void
workers_start(struct workers *w)
{
	static const enum role order[WORKERS] = { ROLE_SUBMITTER, ROLE_RUNNER,
		ROLE_COLLECTOR, ROLE_RECEIVER, ROLE_LISTENER, ROLE_EXPORTER };
	size_t i;

	neighbours_init(w);
	for (i = 0; i < WORKERS; i++)
		if (worker_is_wanted(w->conf, order[i]))
			child_init(w, order[i]);
	for (i = 0; i < WORKERS; i++)
		if (child_is_used(&w->children[order[i]]))
			child_start(&w->children[order[i]]);
}
