/* SPDX-License-Identifier: MIT */
/* See sim_clock.h. */
#include "config.h"

#include <stdlib.h>

#include "common/clock.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/spool/spool_private.h"
#include "tests/unit/submitter/sim_clock.h"

#define TIMERS_MAX 32
#define FAR_AWAY   1000000 /* s: libevent itself fires no timer */

static int64_t clock_at, look_ms;

static struct {
	struct event *event;
	int64_t due; /* -1 = not set */
} timers[TIMERS_MAX];
static int n_timers;

int64_t
spool_boottime(void)
{
	return clock_at += look_ms;
}

long long
clock_boot_ms(void)
{
	return clock_at;
}

struct event *
timer_new(struct submitter *s, event_callback_fn fn, void *arg)
{
	struct event *event = evtimer_new(s->w->base, fn, arg);

	if (n_timers == TIMERS_MAX)
		abort();
	timers[n_timers].event = event;
	timers[n_timers++].due = -1;
	return event;
}

void
timer_after(struct event *event, int64_t ms)
{
	static const struct timeval far = { FAR_AWAY, 0 };
	int i;

	for (i = 0; timers[i].event != event; i++)
		continue;
	timers[i].due = ms < 0 ? -1 : clock_at + ms;
	if (ms < 0)
		event_del(event);
	else
		event_add(event, &far); /* evtimer_pending() tells */
}

int64_t
timer_jitter(int64_t ms)
{
	return ms;
}

int64_t
timer_backoff(unsigned tries, int64_t first, int64_t max)
{
	while (tries-- > 0 && first < max)
		first *= 2;
	return first < max ? first : max;
}

void
sim_clock_begin(int64_t ms)
{
	clock_at = ms;
	look_ms = 0;
	n_timers = 0;
}

void
sim_clock_look(int64_t ms)
{
	look_ms = ms;
}

/* The timer that is due first, until then; -1 = none. */
static int
timer_first(int64_t until)
{
	int i, first = -1;

	for (i = 0; i < n_timers; i++)
		if (timers[i].due >= 0 && timers[i].due <= until &&
		    (first == -1 || timers[i].due < timers[first].due))
			first = i;
	return first;
}

void
sim_clock_run(struct event_base *base, int64_t ms, int (*enough)(void))
{
	int64_t until = clock_at + ms;
	struct event *event;
	int i;

	for (;;) {
		event_base_loop(base, EVLOOP_NONBLOCK);
		if (enough != NULL && enough())
			return;
		if ((i = timer_first(until)) == -1)
			break;
		if (timers[i].due > clock_at)
			clock_at = timers[i].due;
		timers[i].due = -1;
		event = timers[i].event;
		event_del(event);
		event_get_callback(
		    event)(-1, EV_TIMEOUT, event_get_callback_arg(event));
	}
	clock_at = until;
}
