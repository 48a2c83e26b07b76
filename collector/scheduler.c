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
tick_in(struct site *site, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	/* A neighbour may speak before the first configuration is in force. */
	if (site->kick_timer != NULL)
		event_add(site->kick_timer, &tv);
}

static void
on_hosts(void *arg)
{
	plan_kick(arg);
}

static void
poll_due(struct collector *c)
{
	int64_t now = now_ms(), least;

	if (now < c->poll_at || cycle_busy(c->cycle) ||
	    health_wait(&c->ctld) > 0)
		return;
	least = limit_poll_ms(c);
	c->poll_at = now + (c->set->poll * 1000 > least ?
	    c->set->poll * 1000 : least);
	c->polled = now_wall();
	cycle_poll(c->cycle);
}

static void
long_due(struct collector *c)
{
	int64_t now = now_s();

	if (now - c->day_at >= c->set->long_poll) {
		c->day_at = now;
		ledger_day(c->ledger);
	}
	if (now - c->hosts_at >= HOSTS_EVERY_S && health_wait(&c->ctld) == 0) {
		c->hosts_at = now;
		/* A restart between two polls is seen by nobody. */
		startup_again(c);
		startup_nodes(c, on_hosts, c);
	}
}

static void
cluster_tick(struct collector *c)
{
	startup_kick(c);
	if (!c->ready || !c->synced || !source_settled(c))
		return;
	events_kick(c->events);
	poll_due(c);
	long_due(c);
	ledger_kick(c->ledger);
	held_kick(c->held);
	nodes_kick(c->nodes);
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

	if (out_waiting(site->out) != 0)
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
	tick_in(site, TICK_MS);
	retired_free(site);
	memory_trim(site);
	for (i = 0; i < site->n && !site->w->stopping; i++)
		cluster_tick(site->clusters[i]);
	if (!site->w->stopping && site->synced)
		active_kick(site->active);
}

void
plan_kick(struct collector *c)
{
	tick_in(c->site, 0);
}

/* The polls of several clusters are spread over the interval. */
void
plan_start(struct site *site)
{
	struct collector *c;
	unsigned i;

	for (i = 0; i < site->n; i++) {
		c = site->clusters[i];
		c->day_at = now_s();
		c->poll_at = now_ms() + c->set->poll * 1000 * i / site->n;
	}
	site->kick_timer = evtimer_new(site->w->base, on_tick, site);
	if (site->kick_timer == NULL)
		fatal("no memory");
	tick_in(site, 0);
}

void
plan_conf(struct collector *c)
{
	int64_t soonest = now_ms() + c->set->poll * 1000;

	if (c->poll_at > soonest)
		c->poll_at = soonest;
	plan_kick(c);
}

void
plan_sync(struct collector *c)
{
	c->poll_at = 0;
	c->day_at = now_s() - c->set->long_poll;
	plan_kick(c);
}
