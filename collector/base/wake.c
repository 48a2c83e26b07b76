/* SPDX-License-Identifier: MIT */
/* The scheduler's timer; see wake.h. */
#include "config.h"

#include <event2/event.h>

#include "collector/base/cluster.h"
#include "collector/base/wake.h"
#include "common/clock.h"

void
wake_in(struct site *site, int64_t ms)
{
	struct timeval tv = clock_timeval(ms);
	int64_t at = now_ms() + ms;

	/*
	 * A neighbour may send a message before the first configuration is in
	 * force.
	 */
	if (site->timer == NULL || (site->wake_at != 0 && site->wake_at <= at))
		return;
	site->wake_at = at;
	event_add(site->timer, &tv);
}

void
wake(struct cluster *c)
{
	wake_in(c->site, 0);
}
