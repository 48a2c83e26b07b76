/* SPDX-License-Identifier: MIT */
/*
 * What is done when.  Nothing is asked before Slurm's configuration is known
 * and the submitter has said what its spool holds; from then on each lane goes
 * its own way, and this clock only reminds them.
 */
#include "config.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "collector/base/cluster.h"
#include "common/log.h"

#define TICK_MS		500	/* what waits for a time is that exact */
#define HOSTS_EVERY_S	3600	/* shapes of nodes, again */

static void
wake_in(struct site *site, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	/* A neighbour may speak before the first configuration is in force. */
	if (site->kick_timer != NULL)
		event_add(site->kick_timer, &tv);
}

static void
on_hosts(void *arg)
{
	wake(arg);
}

static void
poll_due(struct cluster *c)
{
	int64_t now = now_ms(), least;

	if (now < c->poll_at || poll_busy(c->poll) ||
	    health_wait(&c->ctld) > 0)
		return;
	least = rate_limit_poll_ms(c);
	c->poll_at = now + (c->set->poll * 1000 > least ?
	    c->set->poll * 1000 : least);
	c->polled = now_wall();
	poll_start(c->poll);
}

static void
long_due(struct cluster *c)
{
	int64_t now = now_s();

	if (now - c->day_at >= c->set->long_poll) {
		c->day_at = now;
		acct_day(c->accounting);
	}
	if (now - c->hosts_at >= HOSTS_EVERY_S && health_wait(&c->ctld) == 0) {
		c->hosts_at = now;
		/* A restart between two polls is seen by nobody. */
		startup_again(c);
		startup_nodes(c, on_hosts, c);
	}
}

static void
cluster_tick(struct cluster *c)
{
	startup_kick(c);
	if (!c->ready || !c->synced)
		return;
	hook_events_kick(c->hook_events);
	poll_due(c);
	long_due(c);
	acct_kick(c->accounting);
	confirm_kick(c->confirm);
	node_states_kick(c->node_states);
}

/* Old settings, once no question reads with them any more. */
static void
retired_free(struct site *site)
{
	struct settings *old;

	while (site->retired != NULL && runner_running(site->runner) == 0) {
		old = site->retired;
		site->retired = old->next;
		settings_free(old);
	}
}

/* A big answer leaves holes that a quiet collector never fills. */
static void
memory_trim(struct site *site)
{
	unsigned i;
	int trim = 0;

	if (outbox_waiting(site->outbox) != 0)
		return;
	for (i = 0; i < site->n; i++) {
		trim |= site->clusters[i]->trim;
		site->clusters[i]->trim = 0;
	}
	if (trim)
		malloc_trim(0);
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct site *site = arg;
	unsigned i;

	(void)fd;
	(void)what;
	wake_in(site, TICK_MS);
	retired_free(site);
	memory_trim(site);
	for (i = 0; i < site->n && !site->w->stopping; i++)
		cluster_tick(site->clusters[i]);
	if (!site->w->stopping && site->synced)
		controller_role_kick(site->controller_role);
}

void
wake(struct cluster *c)
{
	wake_in(c->site, 0);
}

/* The polls of several clusters are spread over the interval. */
void
sched_start(struct site *site)
{
	struct cluster *c;
	unsigned i;

	for (i = 0; i < site->n; i++) {
		c = site->clusters[i];
		c->day_at = now_s();
		c->poll_at = now_ms() + c->set->poll * 1000 * i / site->n;
	}
	site->kick_timer = evtimer_new(site->w->base, on_tick, site);
	if (site->kick_timer == NULL)
		fatal("no memory");
	wake_in(site, 0);
}

void
sched_conf(struct cluster *c)
{
	int64_t soonest = now_ms() + c->set->poll * 1000;

	if (c->poll_at > soonest)
		c->poll_at = soonest;
	wake(c);
}

void
sched_poll_now(struct cluster *c)
{
	c->poll_at = 0;
	c->day_at = now_s() - c->set->long_poll;
	wake(c);
}
