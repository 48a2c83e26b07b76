/* SPDX-License-Identifier: MIT */
/* See timer.h. */
#include "config.h"

#include "common/backoff.h"
#include "common/clock.h"
#include "common/log.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"

struct event *
timer_new(struct submitter *s, event_callback_fn fn, void *arg)
{
	struct event *timer = evtimer_new(s->w->base, fn, arg);

	if (timer == NULL)
		fatalx("out of memory");
	return timer;
}

void
timer_after(struct event *timer, int64_t ms)
{
	struct timeval tv = clock_timeval(ms);

	if (ms < 0)
		event_del(timer);
	else
		event_add(timer, &tv);
}

int64_t
timer_backoff(unsigned tries, int64_t first, int64_t max)
{
	return timer_jitter(backoff_wait(tries, first, max));
}
