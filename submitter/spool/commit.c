/* SPDX-License-Identifier: MIT */
/* Group commit; see commit.h. */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "common/permanent.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool.h"

/* until answers that were received are durable */
#define SOON_MS 50
/* until a disk that refused a commit is tried again */
#define STUCK_MS 1000

struct commit {
	struct submitter *s;
	const struct commit_ops *ops;
	struct event *timer;
	int armed;
	int stuck;
	int said_stuck;
};

static void
timer_stop(struct commit *c)
{
	if (c->armed)
		timer_after(c->timer, -1);
	c->armed = 0;
}

/* A commit has succeeded: the spool may have refused writes before. */
static void
accepts_again(struct commit *c)
{
	if (!c->said_stuck)
		return;
	log_about(LOG_ID_SPOOL_ACCEPTS, NULL, 0);
	log_notice("the spool accepts writes again");
	c->said_stuck = 0;
	c->ops->stuck(c->s);
}

void
commit_fail(struct commit *c)
{
	struct spool *sp = c->s->spool;

	timer_stop(c);
	c->s->n.commits_failed++;
	spool_rollback(sp);
	if (c->ops->failed(c->s)) {
		if (spool_commit(sp) == 0) {
			c->stuck = 0;
			accepts_again(c);
			return;
		}
		spool_rollback(sp);
	}
	c->stuck = 1;
	if (!c->said_stuck) {
		log_about(LOG_ID_SPOOL_REFUSES, NULL, 0);
		log_errorx(
		    "the spool refuses writes: %s; records of Slurm wait "
		    "until it accepts them",
		    spool_error(sp));
		c->said_stuck = 1;
		c->ops->stuck(c->s);
	}
	timer_after(c->timer, STUCK_MS);
}

int
commit_now(struct commit *c)
{
	if (c->stuck)
		return -1;
	if (c->ops->before != NULL)
		c->ops->before(c->s);
	CRASH_POINT("store");
	if (spool_commit(c->s->spool) == -1) {
		commit_fail(c);
		return -1;
	}
	CRASH_POINT("stored");
	timer_stop(c);
	c->s->n.commits++;
	c->s->n.committed_at = (int64_t)time(NULL);
	c->ops->committed(c->s);
	accepts_again(c);
	return 0;
}

/*
 * The disk may accept writes again: applies the changes that were rolled back.
 */
static void
stuck_retry(struct commit *c)
{
	c->stuck = 0;
	if (c->ops->retry(c->s) == -1 || commit_now(c) == -1)
		return;
	wake(c->s, WAKE_DELIVERY);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct commit *c = arg;

	c->armed = 0;
	if (c->stuck)
		stuck_retry(c);
	else if (spool_dirty(c->s->spool) && commit_now(c) == 0)
		wake(c->s, WAKE_DELIVERY);
}

void
commit_soon(struct commit *c)
{
	if (c->armed || c->stuck)
		return;
	c->armed = 1;
	timer_after(c->timer, SOON_MS);
}

int
commit_is_stuck(const struct commit *c)
{
	return c->stuck;
}

struct commit *
commit_new(struct submitter *s, const struct commit_ops *ops)
{
	struct commit *c = permanent_new(sizeof(*c));

	c->s = s;
	c->ops = ops;
	c->timer = timer_new(s, on_timer, c);
	return c;
}
