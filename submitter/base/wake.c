/* SPDX-License-Identifier: MIT */
/* See wake.h. */
#include "config.h"

#include <event2/event.h>

#include "submitter/base/context.h"
#include "submitter/base/timer.h"

static void
on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct submitter *s = arg;
	const struct wake_lane *l;
	unsigned lanes = s->wake.lanes;

	s->wake.lanes = 0;
	for (l = s->wake.table; l->run != NULL; l++)
		if (lanes & l->lane)
			l->run(s);
}

void
wake(struct submitter *s, unsigned lanes)
{
	s->wake.lanes |= lanes;
	event_active(s->wake.event, EV_TIMEOUT, 1);
}

void
wake_init(struct submitter *s, const struct wake_lane *table)
{
	s->wake.table = table;
	s->wake.lanes = 0;
	s->wake.event = timer_new(s, on_wake, s);
}
