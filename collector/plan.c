/* SPDX-License-Identifier: MIT */
/*
 * What is done when.  Nothing is asked before Slurm's configuration is known
 * and the submitter has said what its spool holds; from then on each lane goes
 * its own way, and this clock only reminds them.
 */
#include "config.h"

#include <sys/stat.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "collector/collector.h"
#include "common/log.h"

#define TICK_MS		500	/* what waits for a time is that exact */
#define HOSTS_EVERY_S	3600	/* shapes of nodes, again */

static void
tick_in(struct collector *c, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	/* A neighbour may speak before the first configuration is in force. */
	if (c->kick_timer != NULL)
		event_add(c->kick_timer, &tv);
}

static void
on_hosts(void *arg)
{
	plan_kick(arg);
}

static void
poll_due(struct collector *c)
{
	int64_t now = now_ms();

	if (now < c->poll_at || cycle_busy(c->cycle) ||
	    health_wait(&c->ctld) > 0)
		return;
	c->poll_at = now + c->set->poll * 1000;
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
		startup_nodes(c, on_hosts, c);
	}
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct collector *c = arg;

	(void)fd;
	(void)what;
	tick_in(c, TICK_MS);
	while (c->retired != NULL && runner_running(c->runner) == 0) {
		struct settings *old = c->retired;

		c->retired = old->next;
		settings_free(old);
	}
	/* A big answer leaves holes that a quiet collector never fills. */
	if (c->trim && out_waiting(c->out) == 0) {
		c->trim = 0;
		malloc_trim(0);
	}
	if (c->w->stopping)
		return;
	startup_kick(c);
	if (!c->ready || !c->synced || !source_settled(c))
		return;
	events_kick(c->events);
	poll_due(c);
	long_due(c);
	ledger_kick(c->ledger);
	nodes_kick(c->nodes);
}

void
plan_kick(struct collector *c)
{
	tick_in(c, 0);
}

void
plan_start(struct collector *c)
{
	c->day_at = now_s();
	c->kick_timer = evtimer_new(c->w->base, on_tick, c);
	if (c->kick_timer == NULL)
		fatal("no memory");
	plan_kick(c);
}

/* Runs of other clusters are sorted out when ours is known. */
static void
open_early(struct collector *c, const struct run_key *key)
{
	size_t cap = c->cap_early != 0 ? c->cap_early * 2 : 256;
	struct run_key *early, copy = *key;

	if (c->n_early == c->cap_early) {
		early = realloc(c->early, cap * sizeof(*early));
		if (early == NULL)
			fatal("no memory");
		c->early = early;
		c->cap_early = cap;
	}
	c->early[c->n_early++] = copy;
}

void
plan_open(struct collector *c, const struct run_key *key)
{
	struct open_run *run;

	if (!c->slurm.known) {
		open_early(c, key);
		return;
	}
	if (strcmp(key->cluster, c->slurm.cluster) != 0 ||
	    run_number(key->job, key->start) == 0)
		return;
	run = open_find(&c->open, key->job, key->start);
	if (run != NULL) {
		run->flags &= (uint8_t)~OPEN_UNLISTED;
		return;
	}
	run = open_put(&c->open, key->job, key->start);
	if (run == NULL)
		fatal("no memory");
	run->flags |= OPEN_DETAILED | OPEN_SPOOLED;
}

static int64_t
lastrun_of(const struct collector *c)
{
	struct stat st;

	return c->lastrun != -1 && fstat(c->lastrun, &st) == 0 ?
	    st.st_mtime : 0;
}

/*
 * Where to go on: the spool's cursor; with an empty spool the time of the
 * last-run file, as the Go adapter left it; else as far back as the site wants.
 */
void
plan_cluster(struct collector *c)
{
	int64_t lastrun;
	unsigned i;
	size_t k;

	for (k = 0; k < c->n_early; k++)
		plan_open(c, &c->early[k]);
	free(c->early);
	c->early = NULL;
	c->n_early = c->cap_early = 0;
	for (i = 0; i < c->n_cursors; i++)
		if (strcmp(c->cursors[i].cluster, c->slurm.cluster) == 0 &&
		    c->cursors[i].until > c->cursor)
			c->cursor = c->cursors[i].until;
	lastrun = lastrun_of(c);
	if (c->cursor == 0 && lastrun > 0 && lastrun <= now_wall())
		c->cursor = lastrun;
}

void
plan_unsynced(struct collector *c)
{
	struct open_run *run;
	size_t at = 0;

	c->synced = 0;
	c->n_cursors = 0;
	c->n_early = 0;
	while ((run = open_next(&c->open, &at)) != NULL)
		run->flags |= OPEN_UNLISTED;
}

/*
 * What the spool does not know (it was lost, or it is on its way to it) is
 * asked for and sent once more; the spool keeps one of each.
 */
static void
unlisted_again(struct collector *c)
{
	struct open_run *run;
	size_t at = 0;
	unsigned n = 0;

	while ((run = open_next(&c->open, &at)) != NULL) {
		if (!(run->flags & OPEN_UNLISTED))
			continue;
		run->flags &= (uint8_t)~OPEN_UNLISTED;
		if (!(run->flags & OPEN_LEFT)) {
			run->flags &= (uint8_t)~OPEN_DETAILED;
			n++;
		}
	}
	if (n > 0)
		log_info("%u runs are not in the spool: asked for again", n);
	done_clear(&c->done);
}

void
plan_synced(struct collector *c)
{
	c->synced = 1;
	if (c->slurm.known) {
		c->cursor = 0;
		plan_cluster(c);
		unlisted_again(c);
	}
	out_release(c->out);
	log_debug("the spool has %zu open runs, its cursor is %lld",
	    c->open.n, (long long)c->cursor);
	plan_kick(c);
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

/* The file's time is the cursor: a site may go back to the Go adapter. */
void
plan_cursor(struct collector *c, int64_t until)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = until } };

	if (c->lastrun != -1 && futimens(c->lastrun, times) == -1) {
		log_warn("the time of the last-run file");
		c->lastrun = -1;
	}
}
