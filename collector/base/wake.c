/* SPDX-License-Identifier: MIT */
/* The scheduler's timer; see wake.h. */
#include "config.h"

#include <event2/event.h>

#include "collector/base/cluster.h"
#include "collector/base/wake.h"

void
wake_in(struct site *site, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	/*
	 * A neighbour may send a message before the first configuration is in
	 * force.
	 */
	if (site->timer != NULL)
		event_add(site->timer, &tv);
}

void
wake(struct cluster *c)
{
	wake_in(c->site, 0);
}
