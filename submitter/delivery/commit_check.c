/* SPDX-License-Identifier: MIT */
/*
 * Finds out which starts cc-backend has committed to its database.  A stop that
 * is sent before that sometimes stops another run, although cc-backend answers
 * 200.  So a stop waits until a list of jobs that was requested after the start
 * was accepted shows the run.  A start that no list shows for a long time is
 * repeated.
 *
 * cc-backend commits all starts at a fixed interval. ccCommitInterval is only a
 * first guess. What the lists show gives limits of the interval: a run that is
 * shown, but not by the list before, proves that the interval is longer than the
 * time until that list, and two commits that were seen prove that it is not longer
 * than the time between them. A start that is repeated too early is refused as one
 * that cc-backend has not committed yet, which proves a longer interval, too. So
 * only a few are repeated at a time.  When the answers show that cc-backend has
 * lost them, the next list is requested soon and more are repeated after it.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "common/permanent.h"
#include "submitter/backend/breaker.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"

#define WAIT_FIRST 2000 /* ms from a waiting stop to the first list */
#define WAIT_MAX   30000
/*
 * Stops that are due, about a second of cc-backend's work.  A list would show
 * these runs again and release stops that go behind them.
 */
#define STOPS_MANY 512
#define IDLE_MAX   120000 /* ms; cc-backend's own default */
#define REPEAT_MIN 4	  /* starts repeated after one list, at first */
#define REPEAT_MAX 4096
/* times the longest commit until a start is repeated */
#define OVERDUE	    3
#define LONGEST_MAX 600000 /* ms; no commit interval is longer */

/* A commit of cc-backend that a list has shown; 0 = none. */
struct commit_shown {
	int64_t asked; /* when the list was requested */
	int64_t from;  /* the commit was not before, */
	int64_t to;    /* and not after */
};

struct commit_check {
	struct submitter *s;
	struct event *timer;
	int armed;
	int64_t due;	/* spool_now() when the timer fires */
	int64_t wait;	/* ms until the next list, growing */
	int64_t listed; /* spool_now() of the last round */
	/* of the last round with all lists of running jobs; 0 = none */
	int64_t looked;
	struct job_list job_list;
	unsigned cluster;	    /* the n-th, whose jobs are listed */
	struct spool_ranges ranges; /* of the starts, in this round */
	unsigned promoted;	    /* in this round */
	int failed;		    /* a list of running jobs failed */
	int stopped;		    /* the lists have stopped jobs, too */
	/* the running jobs of the cluster could not be listed in this round */
	uint8_t unlisted[CLUSTERS_MAX];
	/* ms: limits of the interval of commits; 0 = unknown */
	int64_t least, most;
	struct commit_shown last, before;
	/* rounds since the last one that showed a commit */
	unsigned in_vain;
	/* starts that may be repeated after a list, and how many still may */
	unsigned repeat_width, repeat_left;
	int held; /* after the last list, more starts were overdue than that */
	int lost; /* an answer since then has shown a loss */
	/* spool_now() when the next start is overdue; 0 = unknown */
	int64_t overdue_next;
};

static int64_t
commit_ms(const struct commit_check *n)
{
	return conf_int(&n->s->w->conf, CONF_CC_COMMIT_INTERVAL) * 1000;
}

/* ms: no interval of commits is longer, as far as is known. */
static int64_t
interval_most(const struct commit_check *n)
{
	int64_t ms = n->most > n->least ? n->most : n->least;

	return ms < commit_ms(n) ? commit_ms(n) : ms;
}

/*
 * ms between lists while no stop waits. Lists that show no commit prove that the
 * guess is too short.
 */
static int64_t
idle_ms(const struct commit_check *n)
{
	int64_t ms = n->most != 0 ? n->most : commit_ms(n);
	unsigned i;

	ms += ms / 4;
	for (i = 0; i < n->in_vain && ms < IDLE_MAX; i++)
		ms *= 2;
	return ms;
}

/* A list that was requested at asked shows a start that was accepted at since. */
static void
interval_learn(struct commit_check *n, int64_t since, int64_t asked)
{
	int64_t now = spool_now(n->s->spool), most;

	/*
	 * A run that was accepted before a complete list, and that this list
	 * did not show, proves that the interval is longer than the time
	 * between them.  Without such a list, after an outage for example, a
	 * late list proves nothing.
	 */
	if (n->looked - since > n->least && n->looked - since < LONGEST_MAX)
		n->least = n->looked - since;
	if (asked != n->last.asked) {
		n->before = n->last;
		n->last = (struct commit_shown) { .asked = asked, .to = now };
	}
	if (since > n->last.from)
		n->last.from = since;
	/* Accepted after the commit before: this is another commit. */
	if (n->before.to == 0 || since <= n->before.to)
		return;
	most = now - n->before.from;
	if (n->most == 0 || most < n->most)
		n->most = most;
}

static uint64_t
waiting(const struct commit_check *n, enum run_state state)
{
	return spool_count(n->s->spool, DEST_REST, state);
}

static void
arm(struct commit_check *n, int64_t ms)
{
	int64_t due = spool_now(n->s->spool) + ms;

	if (n->armed && n->due <= due)
		return;
	n->armed = 1;
	n->due = due;
	timer_after(n->timer, ms);
}

/* ms until the next list, at most ms: sooner if it may repeat starts. */
static int64_t
list_wait(const struct commit_check *n, int64_t ms)
{
	int64_t left = n->overdue_next - spool_now(n->s->spool);

	if (n->held ? !n->lost : n->overdue_next == 0)
		return ms;
	if (n->held || left < WAIT_FIRST)
		left = WAIT_FIRST;
	return left < ms ? left : ms;
}

void
commit_check_kick(struct commit_check *n)
{
	if (n->job_list.busy)
		return;
	if (waiting(n, START_CONFLICT) + waiting(n, STOP_CONFLICT) > 0)
		wake(n->s, WAKE_CONFLICT);
	if (waiting(n, STOP_BLOCKED) > 0)
		arm(n, list_wait(n, n->wait) + role_stop_delay(n->s));
	else if (waiting(n, STARTED) > 0)
		arm(n, list_wait(n, idle_ms(n)));
}

void
commit_seen(struct commit_check *n, struct spool_run *run, int64_t asked)
{
	struct spool *sp = n->s->spool;
	if ((run->state[DEST_REST] != STOP_BLOCKED &&
		run->state[DEST_REST] != STARTED) ||
	    run->since[DEST_REST] >= asked)
		return;
	if (run->since[DEST_REST] > spool_opened(sp) &&
	    !(run->flags & RUN_COMMIT_SHOWN))
		interval_learn(n, run->since[DEST_REST], asked);
	run_move(sp, run, DEST_REST, RUN_EVENT_LISTED, DUE_NOW, NULL);
	n->promoted++;
	spool_save(sp, run);
	commit_soon(n->s->commit);
}

static void
on_row(const struct backend_job *row, void *arg)
{
	struct commit_check *n = arg;
	struct spool_run run;
	char how[sizeof(run.reason)];

	if (spool_find(n->s->spool, &row->key, &run) != 1)
		return;
	if (!n->stopped || strcmp(row->state, "running") == 0)
		commit_seen(n, &run, n->job_list.asked);
	else if (run.state[DEST_REST] == STOP_BLOCKED) {
		/* The other suite has sent the stop, or another client. */
		if (end_agrees(n->s, &run, row, how, sizeof(how)))
			run_move(n->s->spool, &run, DEST_REST,
			    RUN_EVENT_LISTED_STOPPED, DUE_KEEP, NULL);
		else
			run_move(n->s->spool, &run, DEST_REST,
			    RUN_EVENT_STOP_LATE, DUE_NOW, NULL);
		spool_save(n->s->spool, &run);
		commit_soon(n->s->commit);
	}
}

/* The start was accepted long ago and no list shows the run: sends it again. */
static int
overdue_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct commit_check *n = arg;
	int64_t due = run->since[DEST_REST];

	if (due < spool_opened(sp))
		due = spool_opened(sp);
	due += OVERDUE * interval_most(n);
	/* A round can take minutes: its lists do not show what came later. */
	if (n->listed < due) {
		if (n->overdue_next == 0 || due < n->overdue_next)
			n->overdue_next = due;
		return 0;
	}
	if (n->repeat_left == 0) {
		n->held = 1;
		return -1;
	}
	n->repeat_left--;
	log_info("%s: cc-backend accepted the start and does not show the run; "
		 "the start is repeated",
	    run_key_text(&run->key));
	n->s->n.repeated++;
	run_move(sp, run, DEST_REST, RUN_EVENT_OVERDUE, DUE_NOW, NULL);
	return spool_save(sp, run);
}

static void
overdue(struct commit_check *n)
{
	static const enum run_state states[] = { STOP_BLOCKED, STARTED };
	struct spool_after after;
	size_t i;

	n->repeat_left = n->repeat_width;
	for (i = 0; i < 2; i++) {
		memset(&after, 0, sizeof(after));
		while (!n->held &&
		    spool_each(n->s->spool, DEST_REST, states[i], &after,
			SPOOL_PAGE, overdue_one, n) == SPOOL_PAGE)
			continue;
	}
	commit_soon(n->s->commit);
}

void
commit_repeat_answered(struct commit_check *n, const struct spool_run *run,
    int uncommitted)
{
	int64_t waited = spool_now(n->s->spool) - run->since[DEST_REST];

	if (run->since[DEST_REST] == 0)
		return; /* the first start of the run */
	if (!uncommitted) {
		/* After a list, twice as many are repeated. */
		if (n->repeat_width < REPEAT_MAX)
			n->repeat_width++;
		n->lost = 1;
		return;
	}
	n->repeat_width = REPEAT_MIN;
	n->overdue_next = 0;
	if (waited > n->least && waited < LONGEST_MAX &&
	    !(run->flags & RUN_COMMIT_SHOWN))
		n->least = waited;
}

static void
round_end(struct commit_check *n)
{
	if (!n->failed) {
		n->looked = n->listed;
		overdue(n);
	}
	if (n->promoted > 0)
		n->wait = WAIT_FIRST;
	else if (n->wait < WAIT_MAX)
		n->wait = n->wait * 2 < WAIT_MAX ? n->wait * 2 : WAIT_MAX;
	if (n->most > WAIT_FIRST && n->most < n->wait)
		n->wait = n->most;
	n->in_vain = n->promoted > 0 ? 0 : n->in_vain + 1;
	if (n->promoted > 0)
		wake(n->s, WAKE_DELIVERY);
	commit_check_kick(n);
}

/* The starts of each cluster that wait for their commit. */
static int
ranges_read(struct commit_check *n)
{
	static const enum run_state states[] = { STOP_BLOCKED, STARTED };

	return spool_ranges(n->s->spool, states,
	    sizeof(states) / sizeof(states[0]), INT64_MAX, 0, &n->ranges);
}

/*
 * Without the list of a cluster's running jobs no start is repeated.  Without that of
 * its stopped jobs they are: when cc-backend has the run, it refuses the start, and
 * conflict.c asks for this run alone.
 */
static void
list_failed(struct commit_check *n)
{
	if (n->stopped)
		return;
	n->unlisted[n->cluster] = 1;
	n->failed = 1;
}

static void on_listed(const struct result *v, void *arg);

/* Lists the jobs of the next cluster with such runs.  0, or -1: no more. */
static int
list_next(struct commit_check *n)
{
	struct run_key name;
	int64_t cursor, from, to;

	while (spool_cluster(n->s->spool, n->cluster, &name, &cursor)) {
		from = n->ranges.of[n->cluster].from;
		to = n->ranges.of[n->cluster].to;
		if (to == 0 || (n->stopped && n->unlisted[n->cluster])) {
			n->cluster++;
			continue;
		}
		CRASH_POINT("seen-ask");
		if (job_list_start(&n->job_list, n->s, name.cluster,
			!n->stopped, from, to, on_row, on_listed, n) == 0)
			return 0;
		list_failed(n);
		n->cluster++;
	}
	return -1;
}

/*
 * If another suite sends, too, it may have stopped the runs that were not among the
 * running jobs: those that still wait are listed with the stopped jobs.  Such a list
 * can have the jobs of many days.  With the runs of a backfill it would have those of
 * months, in each round, and all stops would wait for it.  The other suite sends such a
 * run only if it has read the same range; then the repeated start of the run is
 * refused, and conflict.c asks for this run alone.  0, or -1 when there are none.
 */
static int
stopped_begin(struct commit_check *n)
{
	static const enum run_state states[] = { STOP_BLOCKED };

	if (n->stopped || !spool_policy(n->s->spool)->active_only)
		return -1;
	n->stopped = 1;
	n->cluster = 0;
	/*
	 * A run that was accepted later waits for its commit, not for a list.  A run
	 * that has ended later and is not shown any more waits as long.
	 */
	if (spool_ranges(n->s->spool, states, 1, n->listed - interval_most(n),
		RUN_BACKFILL, &n->ranges) == 0)
		return 0;
	n->failed = 1;
	return -1;
}

static void
round_next(struct commit_check *n)
{
	while (list_next(n) == -1)
		if (stopped_begin(n) == -1) {
			round_end(n);
			return;
		}
}

static void
on_listed(const struct result *v, void *arg)
{
	struct commit_check *n = arg;

	if (v->code != RESULT_DONE) {
		log_debug("the list of the jobs of %s failed: %s",
		    n->job_list.cluster, v->text);
		list_failed(n);
		/*
		 * A damaged row makes a page of stopped jobs fail, but no page
		 * of running jobs, which were listed before.
		 */
		if (v->code != RESULT_RETRY || !n->stopped)
			breaker_request_result(n->s->breaker, v);
	}
	n->cluster++;
	round_next(n);
}

/* A list now would release nothing; WAIT_MAX after the last list one is read. */
static int
is_early(const struct commit_check *n)
{
	return waiting(n, STOP_DUE) >= STOPS_MANY &&
	    spool_now(n->s->spool) - n->listed < WAIT_MAX;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct commit_check *n = arg;

	n->armed = 0;
	if (n->job_list.busy)
		return;
	if (!breaker_allows(n->s->breaker)) {
		/* breaker_good() wakes this lane again. */
		return;
	}
	if (is_early(n)) {
		arm(n, WAIT_FIRST);
		return;
	}
	n->listed = spool_now(n->s->spool);
	n->cluster = 0;
	n->stopped = 0;
	memset(n->unlisted, 0, sizeof(n->unlisted));
	n->promoted = 0;
	n->failed = 0;
	n->held = n->lost = 0;
	n->overdue_next = 0;
	if (ranges_read(n) == 0)
		round_next(n);
	else {
		n->failed = 1;
		round_end(n);
	}
}

struct commit_check *
commit_check_new(struct submitter *s)
{
	struct commit_check *n = permanent_new(sizeof(*n));

	n->s = s;
	n->wait = WAIT_FIRST;
	n->repeat_width = REPEAT_MIN;
	n->timer = timer_new(s, on_timer, n);
	return n;
}
