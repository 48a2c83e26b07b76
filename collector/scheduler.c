/* SPDX-License-Identifier: MIT */
/*
 * Runs the lanes.  No lane runs before Slurm's configuration is known and the
 * submitter has sent the open runs of the spool.  Then the lanes run when a work
 * list was changed, after a command or a message, and when the next one of
 * their times has come.  While something waits for a condition the lanes run
 * twice a second.  A collector without work wakes up for the times of its lanes
 * only, at least once a minute.
 */
#include "config.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "collector/collector.h"
#include "common/log.h"

#define TICK_MS	      500  /* while something waits */
#define HOSTS_EVERY_S 3600 /* until the shapes of nodes are read again */

static void
on_hosts(void *arg, int failed)
{
	(void)failed; /* an outage of slurmctld */
	wake(arg);
}

static void
poll_due(struct lanes *l)
{
	struct cluster *c = l->c;
	int64_t now = now_ms(), least;

	if ((now < l->poll_at && !c->work.more_runs) || c->listing.busy ||
	    health_wait(&c->ctld) > 0)
		return;
	least = rate_limit_poll_ms(c);
	l->poll_at = now +
	    (c->set->poll * 1000 > least ? c->set->poll * 1000 : least);
	l->polled = now_wall();
	poll_start(l->poll);
}

static void
long_due(struct lanes *l)
{
	struct cluster *c = l->c;
	int64_t now = now_s();

	if (c->work.read_day || now - l->day_at >= c->set->long_poll) {
		c->work.read_day = 0;
		l->day_at = now;
		acct_day(l->accounting);
	}
	if ((now - c->hosts_at >= HOSTS_EVERY_S || c->work.restarted) &&
	    health_wait(&c->ctld) == 0) {
		c->work.restarted = 0;
		c->hosts_at = now;
		startup_again(l->startup);
		hosts_query(c, on_hosts, c);
	}
}

static void
on_permission(void *arg, int proved)
{
	struct cluster *c = arg;

	lookup_permission(c->lookups, proved);
}

/* Runs every lane; each lane starts the queries that are due. */
static void
lanes_run(struct lanes *l)
{
	struct cluster *c = l->c;

	/* The poll interval may change while slurmctld is away. */
	c->ctld.wait_max_ms = c->dbd.wait_max_ms = c->set->poll * 1000;
	startup_kick(l->startup);
	if (!c->ready || !c->synced)
		return;
	if (c->work.permission) {
		c->work.permission = 0;
		permission_check(c, on_permission, c);
	}
	poll_kick(l->poll);
	hook_events_kick(l->hook_events);
	poll_due(l);
	long_due(l);
	acct_kick(l->accounting);
	confirm_kick(l->confirm);
	scripts_kick(l->scripts);
	node_states_kick(l->node_states);
}

/* Frees old settings when no command is under way. */
static void
retired_free(struct collector *col)
{
	struct settings *old;

	while (col->retired != NULL && runner_running(col->site.runner) == 0) {
		old = col->retired;
		col->retired = old->next;
		settings_free(old);
	}
}

#define TRIM_EVERY_MS 3000

/*
 * A big answer, and records that waited for the submitter, leave free memory in
 * the process; this gives the memory back.
 */
static void
memory_trim(struct collector *col)
{
	struct site *site = &col->site;
	uint64_t sent = outbox_records(col->outbox);
	unsigned i;
	int trim;

	if (outbox_waiting(col->outbox) != 0)
		return;
	trim = sent != col->trimmed_records &&
	    now_ms() - col->trimmed_ms >= TRIM_EVERY_MS;
	for (i = 0; i < site->n; i++) {
		trim |= site->clusters[i]->trim;
		site->clusters[i]->trim = 0;
	}
	if (!trim)
		return;
	malloc_trim(0);
	col->trimmed_ms = now_ms();
	col->trimmed_records = sent;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Something waits for an answer, for room or for a time of its own. */
static int
lanes_wait(const struct lanes *l)
{
	const struct cluster *c = l->c;

	return !c->ready || !c->synced || health_wait(&c->ctld) > 0 ||
	    health_wait(&c->dbd) > 0 || acct_waits(l->accounting) ||
	    hook_events_waiting(l->hook_events) > 0 ||
	    confirm_waits(l->confirm) || scripts_waiting(l->scripts) > 0;
}

/* Monotonic ms of the next query that no event starts. */
static int64_t
lanes_next(const struct lanes *l)
{
	const struct cluster *c = l->c;
	int64_t next = earlier(l->poll_at, node_states_next(l->node_states));

	next = earlier(next, (l->day_at + c->set->long_poll) * 1000);
	return earlier(next, (c->hosts_at + HOSTS_EVERY_S) * 1000);
}

/* ms until the lanes run again. */
static int64_t
tick_wait(const struct collector *col)
{
	const struct site *site = &col->site;
	int64_t next = slurm_times_next(col->slurm_times), left;
	unsigned i;

	if (check_is_active(col->check))
		return TICK_MS;
	for (i = 0; i < site->n; i++) {
		if (lanes_wait(&col->lanes[i]))
			return TICK_MS;
		next = earlier(next, lanes_next(&col->lanes[i]));
	}
	next = earlier(next, controller_role_next(col->controller_role));
	left = next - now_ms();
	return left > TICK_MS ? left : TICK_MS;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct collector *col = arg;
	struct site *site = &col->site;
	unsigned i;

	site->wake_at = 0;
	retired_free(col);
	memory_trim(col);
	for (i = 0; i < site->n && !site->w->stopping; i++)
		lanes_run(&col->lanes[i]);
	check_kick(col->check);
	slurm_times_kick(col->slurm_times, runner_times(site->runner));
	if (!site->w->stopping && site->synced)
		controller_role_kick(col->controller_role);
	wake_in(site, tick_wait(col));
}

void
sched_event(struct collector *col)
{
	wake_in(&col->site, TICK_MS);
}

/* The polls of several clusters are spread over the interval. */
void
sched_start(struct collector *col)
{
	struct site *site = &col->site;
	struct lanes *l;
	unsigned i;

	for (i = 0; i < site->n; i++) {
		l = &col->lanes[i];
		l->day_at = now_s();
		l->poll_at = now_ms() + l->c->set->poll * 1000 * i / site->n;
	}
	site->timer = evtimer_new(site->w->base, on_tick, col);
	if (site->timer == NULL)
		fatalx("out of memory");
	wake_in(site, 0);
}

void
sched_conf(struct lanes *l)
{
	int64_t soonest = now_ms() + l->c->set->poll * 1000;

	if (l->poll_at > soonest)
		l->poll_at = soonest;
	wake(l->c);
}

void
sched_poll_now(struct lanes *l)
{
	l->poll_at = 0;
	l->day_at = now_s() - l->c->set->long_poll;
	wake(l->c);
}
