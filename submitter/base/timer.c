/* SPDX-License-Identifier: MIT */
/* Timers of the loop, in milliseconds; see submitter.h. */
#include "config.h"

#include <event2/event.h>

#include "submitter/base/submitter.h"

struct event *
timer_new(struct submitter *s, event_callback_fn fn, void *arg)
{
	return evtimer_new(s->w->base, fn, arg);
}

void
timer_after(struct event *timer, int64_t ms)
{
	struct timeval tv = { ms / 1000, (ms % 1000) * 1000 };

	if (ms < 0)
		event_del(timer);
	else
		event_add(timer, &tv);
}
