/* SPDX-License-Identifier: MIT */
/*
 * The shutdown: exporter and listener stop first, then collector and runner, or
 * the receiver, then the submitter, so that records under way reach the spool.
 * The active one of two centres releases its lease before: the submitter ends
 * its requests, then the receiver writes the release (receiver/release.c).
 * The shutdown takes at most five seconds, whatever Slurm and cc-backend do.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "supervisor/supervisor.h"

/*
 * In order, with the grace of each; the sum is below five seconds, also because
 * the receiver replaces listener, collector and runner.
 */
static const struct {
	enum role role;
	uint32_t grace_ms;
} order[] = {
	{ ROLE_EXPORTER, 100 },
	{ ROLE_LISTENER, 400 },
	{ ROLE_COLLECTOR, 600 },
	{ ROLE_RUNNER, 200 },
	{ ROLE_RECEIVER, 1800 }, /* a release: see receiver/release.c */
	{ ROLE_SUBMITTER, 1700 },
};
#define ORDER_LEN	    ((int)(sizeof(order) / sizeof(order[0])))
#define SHUTDOWN_TIMEOUT_MS 4700 /* also when SIGKILL has no effect */

static void
on_end(evutil_socket_t fd, short what, void *arg)
{
	struct supervisor *sup = arg;

	log_warnx("%s did not end after SIGKILL; the supervisor exits",
	    children_text(&sup->workers, 0));
	event_base_loopbreak(sup->base);
}

static void
stop_next(struct supervisor *sup)
{
	struct child *c;

	for (; sup->stop_index < ORDER_LEN; sup->stop_index++) {
		c = &sup->workers.children[order[sup->stop_index].role];
		if (c->pid != 0) {
			child_stop(c, order[sup->stop_index].grace_ms);
			return;
		}
	}
	event_base_loopbreak(sup->base);
}

void
shutdown_begin(struct supervisor *sup, const char *why, int status)
{
	struct timeval end = clock_timeval(SHUTDOWN_TIMEOUT_MS);
	int role;

	if (sup->workers.stopping)
		return;
	sup->workers.stopping = 1;
	sup->status = status;
	if (!sup->workers.config_test) {
		log_about(LOG_ID_ENDING, NULL, 0);
		log_notice("ending: %s", why);
	}
	notify_stopping();
	parser_cancel(sup);
	control_close(sup);
	sockets_close(&sup->setup, &sup->conf);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (sup->workers.children[role].restart != NULL)
			evtimer_del(sup->workers.children[role].restart);
	if (event_base_once(sup->base, -1, EV_TIMEOUT, on_end, sup, &end) == -1)
		log_warnx("out of memory: no limit of time for the shutdown");
	worker_channel_ending(&sup->workers.children[ROLE_RECEIVER]);
	stop_next(sup);
}

void
shutdown_child_gone(struct child *c)
{
	struct supervisor *sup = c->workers->arg;

	if (sup->stop_index < ORDER_LEN &&
	    order[sup->stop_index].role == c->role)
		stop_next(sup);
}
