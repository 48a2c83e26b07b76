/* SPDX-License-Identifier: MIT */
/*
 * Pings to the workers, and systemd's watchdog: WATCHDOG=1 is sent while this
 * event loop runs and every worker answers.  A worker that waits for Slurm or
 * cc-backend still answers pings.
 */
#include "config.h"

#include <string.h>

#include "common/clock.h"
#include "supervisor/workers/workers.h"

#define PING_MS		 2000
#define PONG_TIMEOUT_MS	 20000 /* a commit on a slow disk is shorter */
#define HELLO_TIMEOUT_MS 60000 /* a worker loads its libraries first */
/*
 * check resolv.conf and hosts: cc-backend at a new address gets the next start
 * in time
 */
#define FILES_MS 4000

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
on_ping(evutil_socket_t fd, short what, void *arg)
{
	struct workers *w = arg;
	struct child *c;
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		c = &w->children[role];
		if (is_unresponsive(c) && !c->kill_sent) {
			c->kill_sent = 1;
			child_kill(c, "it does not answer");
		} else
			ping_send(c);
	}
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
timer_start(struct workers *w, unsigned ms, event_callback_fn fn)
{
	struct timeval tv = clock_timeval(ms);
	struct event *ev = event_new(w->base, -1, EV_PERSIST, fn, w);

	if (ev == NULL || event_add(ev, &tv) == -1)
		fatalx("out of memory");
}

void
watchdog_init(struct workers *w)
{
	timer_start(w, PING_MS, on_ping);
	timer_start(w, FILES_MS, on_files);
	if (notify_watchdog_ms() != 0)
		timer_start(w, notify_watchdog_ms(), on_watchdog);
}
