/* SPDX-License-Identifier: MIT */
/*
 * The part of libevent that the product uses, on the virtual clock.  Each
 * process of the simulation links its own copy.
 */
#include "config.h"

#include <event2/event.h>
#include <event2/util.h>
#include <stdlib.h>

#include "tests/simulate/process.h"
#include "tests/simulate/world.h"

struct event_base {
	int unused;
};

struct event {
	struct event *next; /* events of descriptors */
	evutil_socket_t fd;
	short what;
	short active; /* bits of event_active() */
	event_callback_fn fn;
	void *arg;
	struct world_call *timer;
	struct world_call *at_once;
	int waits; /* for its descriptor */
};

static struct event *by_fd;

struct event_base *
event_base_new(void)
{
	return world_alloc(sizeof(struct event_base));
}

struct event *
event_new(struct event_base *base, evutil_socket_t fd, short what,
    event_callback_fn fn, void *arg)
{
	struct event *ev = world_alloc(sizeof(*ev));

	(void)base;
	ev->fd = fd;
	ev->what = what;
	ev->fn = fn;
	ev->arg = arg;
	if (fd >= 0) {
		ev->next = by_fd;
		by_fd = ev;
	}
	return ev;
}

evutil_socket_t
event_get_fd(const struct event *ev)
{
	return ev->fd;
}

static void
on_timer(void *arg)
{
	struct event *ev = arg;

	ev->timer = NULL;
	if ((ev->what & EV_PERSIST) == 0)
		ev->waits = 0;
	ev->fn(ev->fd, EV_TIMEOUT, ev->arg);
}

static void
on_active(void *arg)
{
	struct event *ev = arg;
	short what = ev->active;

	ev->at_once = NULL;
	ev->active = 0;
	if ((ev->what & EV_PERSIST) == 0) {
		world_cancel(ev->timer);
		ev->timer = NULL;
		ev->waits = 0;
	}
	ev->fn(ev->fd, what, ev->arg);
}

int
event_add(struct event *ev, const struct timeval *tv)
{
	if (tv != NULL) {
		world_cancel(ev->timer);
		ev->timer = world_after(process_current(),
		    (int64_t)tv->tv_sec * 1000 + (tv->tv_usec + 999) / 1000,
		    on_timer, ev);
	}
	ev->waits = ev->fd >= 0;
	return 0;
}

int
event_del(struct event *ev)
{
	world_cancel(ev->timer);
	world_cancel(ev->at_once);
	ev->timer = ev->at_once = NULL;
	ev->active = 0;
	ev->waits = 0;
	return 0;
}

void
event_free(struct event *ev)
{
	struct event **p;

	event_del(ev);
	for (p = &by_fd; *p != NULL; p = &(*p)->next)
		if (*p == ev) {
			*p = ev->next;
			break;
		}
	free(ev);
}

void
event_active(struct event *ev, int res, short ncalls)
{
	(void)ncalls;
	ev->active |= (short)res;
	if (ev->at_once == NULL)
		ev->at_once = world_after(process_current(), 0, on_active, ev);
}

int
event_pending(const struct event *ev, short what, struct timeval *tv)
{
	int set = ev->active;

	(void)tv;
	if (ev->timer != NULL)
		set |= EV_TIMEOUT;
	if (ev->waits)
		set |= ev->what & (EV_READ | EV_WRITE);
	return set & what;
}

void
loop_fd_ready(int fd, short what)
{
	struct event *ev;

	for (ev = by_fd; ev != NULL; ev = ev->next)
		if (ev->fd == fd && ev->waits && (ev->what & what) != 0)
			event_active(ev, what, 1);
}

/* The world makes the calls of the loop; see process_main(). */
int
event_base_dispatch(struct event_base *base)
{
	(void)base;
	process_main_done();
}

/*
 * The worker would send a summary to the supervisor after each turn: nothing
 * depends on it here.
 */
int
event_base_loop(struct event_base *base, int flags)
{
	(void)base;
	(void)flags;
	process_main_done();
}

int
evutil_make_socket_nonblocking(evutil_socket_t fd)
{
	(void)fd;
	return 0;
}
