/* SPDX-License-Identifier: MIT */
/* Work that follows events; see pace.h. */
#include "config.h"

#include <event2/event.h>

#include "common/clock.h"
#include "common/ipc/pace.h"
#include "common/log.h"

/* The timer only ends the turn: pace_turn() follows. */
static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static void
timer_set(struct pace *p, long long ms)
{
	struct timeval wait = clock_timeval(ms);

	if (event_add(p->timer, &wait) == -1)
		fatalx("out of memory");
}

int
pace_init(struct pace *p, struct event_base *base)
{
	p->done_ms = 0;
	p->soon = 0;
	p->timer = evtimer_new(base, on_timer, NULL);
	return p->timer != NULL ? 0 : -1;
}

int
pace_turn(struct pace *p, long long least_ms, long long most_ms)
{
	long long now = clock_ms(), left = p->done_ms + least_ms - now;

	if (p->done_ms == 0 || left <= 0) {
		p->done_ms = now;
		p->soon = 0;
		timer_set(p, most_ms);
		return 1;
	}
	/* libevent's coarse clock may end a timer some ms before its time. */
	if (!p->soon || !event_pending(p->timer, EV_TIMEOUT, NULL)) {
		p->soon = 1;
		timer_set(p, left);
	}
	return 0;
}

void
pace_clear(struct pace *p)
{
	if (p->timer != NULL)
		event_free(p->timer);
	p->timer = NULL;
}
