/* SPDX-License-Identifier: MIT */
/*
 * Pings to the workers, and systemd's watchdog: WATCHDOG=1 is sent while this
 * event loop runs and every worker answers.  A worker that waits for Slurm or
 * cc-backend still answers pings.
 */
#include "config.h"

#include <string.h>

#include "common/clock.h"
#include "supervisor/system/path_watch.h"
#include "supervisor/workers/workers.h"

/* A worker that hangs is killed after 40 s, or sooner. */
#define PING_MS		 20000
#define PONG_TIMEOUT_MS	 20000 /* a commit on a slow disk is shorter */
#define HELLO_TIMEOUT_MS 60000 /* a worker loads its libraries first */
/* Between two checks of the processes while one has not answered */
#define UNANSWERED_MS 1000
/*
 * A process that is this old and not ready makes a long start: it recovers or
 * migrates the spool.  Processes that end early and are started again do not
 * prolong the start of the service.
 */
#define LONG_START_MS 20000
/*
 * between two checks of resolv.conf and hosts: the next start reaches
 * cc-backend at a new address in time
 */
#define FILES_MS 4000
/* The same, where the kernel reports their changes */
#define FILES_WATCHED_MS 20000

/*
 * Counts from a ping that was sent.  A supervisor that was itself stopped for
 * a while kills no worker: it reads the answers in its sockets before a timer
 * runs.
 */
static int
is_unresponsive(const struct child *c)
{
	if (c->pid == 0)
		return 0;
	if (c->state == CHILD_STARTED)
		return clock_ms() - c->started_ms > HELLO_TIMEOUT_MS;
	return c->ping_sent_ms != 0 &&
	    clock_ms() - c->ping_sent_ms > PONG_TIMEOUT_MS;
}

static void
ping_send(struct child *c)
{
	struct writer w;

	if (c->state < CHILD_SANDBOXED || c->channel == NULL)
		return;
	wr_init(&w, sizeof(uint64_t));
	wr_u64(&w, (uint64_t)clock_ms());
	channel_send(c->channel, MSG_PING, 0, &w, -1);
	wr_clear(&w);
	if (c->ping_sent_ms == 0)
		c->ping_sent_ms = clock_ms();
}

static void
timer_set(struct event *timer, unsigned ms)
{
	struct timeval tv = clock_timeval(ms);

	if (event_add(timer, &tv) == -1)
		fatalx("out of memory");
}

/* 1 when a hello or a pong is missing. */
static int
is_unanswered(const struct child *c)
{
	return c->pid != 0 &&
	    (c->state == CHILD_STARTED || c->ping_sent_ms != 0);
}

static void
on_unanswered(evutil_socket_t fd, short what, void *arg)
{
	struct workers *w = arg;
	struct child *c;
	int role, any = 0;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		c = &w->children[role];
		if (is_unresponsive(c) && !c->kill_sent) {
			c->kill_sent = 1;
			child_kill(c, "it does not answer");
		}
		any |= is_unanswered(c);
	}
	if (any)
		timer_set(w->unanswered, UNANSWERED_MS);
}

static void
on_ping(evutil_socket_t fd, short what, void *arg)
{
	struct workers *w = arg;
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		ping_send(&w->children[role]);
	if (!event_pending(w->unanswered, EV_TIMEOUT, NULL))
		timer_set(w->unanswered, UNANSWERED_MS);
}

void
watchdog_started(struct workers *w)
{
	if (w->unanswered != NULL)
		timer_set(w->unanswered, UNANSWERED_MS);
}

void
watchdog_answered(struct child *c)
{
	struct workers *w = c->workers;
	int role;

	c->ping_sent_ms = 0;
	if (c->state == CHILD_SANDBOXED &&
	    clock_ms() - c->started_ms > LONG_START_MS)
		notify_starting();
	if (w->unanswered == NULL)
		return;
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (is_unanswered(&w->children[role]))
			return;
	event_del(w->unanswered);
}

/*
 * The supervisor kills a worker that does not answer.  systemd's watchdog gets
 * no message until that worker is gone.
 */
static void
on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	struct workers *w = arg;
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (is_unresponsive(&w->children[role]))
			return;
	}
	notify_watchdog();
}

static void
on_files(evutil_socket_t fd, short what, void *arg)
{
	resolver_files_check(arg);
}

static void
on_files_changed(void *arg)
{
	struct workers *w = arg;

	/* A symbolic link may have another target now. */
	(void)resolver_files_watch(w->files);
	resolver_files_check(w);
}

static void
timer_start(struct workers *w, unsigned ms, event_callback_fn fn)
{
	struct event *ev = event_new(w->base, -1, EV_PERSIST, fn, w);

	if (ev == NULL)
		fatalx("out of memory");
	timer_set(ev, ms);
}

static void
files_watch(struct workers *w)
{
	w->files = path_watch_new(w->base, on_files_changed, w);
	if (w->files != NULL && resolver_files_watch(w->files) == -1) {
		path_watch_free(w->files);
		w->files = NULL;
	}
	timer_start(w, w->files != NULL ? FILES_WATCHED_MS : FILES_MS,
	    on_files);
}

void
watchdog_init(struct workers *w)
{
	w->unanswered = evtimer_new(w->base, on_unanswered, w);
	if (w->unanswered == NULL)
		fatalx("out of memory");
	/* No worker has sent its hello. */
	timer_set(w->unanswered, UNANSWERED_MS);
	timer_start(w, PING_MS, on_ping);
	files_watch(w);
	if (notify_watchdog_ms() != 0)
		timer_start(w, notify_watchdog_ms(), on_watchdog);
}
