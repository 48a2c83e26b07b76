/* SPDX-License-Identifier: MIT */
/*
 * Two suites (activeOnly).  At its start and when it becomes active, this suite
 * lists cc-backend's jobs before it sends anything: runs that the other suite
 * has delivered are done.  A passive suite does the same at intervals, because
 * its spool would grow without limit.  Two active suites are harmless: a start
 * that is sent twice is one start, and each stop waits for a list of its own
 * (commit_check.c).  See failover.h.
 *
 * Two centres: the receiver tells until when this one is active.  The standby
 * makes no request at all, lists included.  A centre that becomes active lists
 * what its spool has still to deliver, and the running jobs of each cluster
 * (first_list.c): the other centre has delivered records that this one has not
 * read yet.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/permanent.h"
#include "submitter/backend/breaker.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/net/http.h"
#include "submitter/reconcile/failover.h"
#include "submitter/reconcile/first_list.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"

#define RETRY_MS 2000 /* after a list that failed */
#define LATER_MS 5000 /* between the stops of two suites */

struct failover {
	struct submitter *s;
	struct event *timer;
	struct job_list job_list;
	int on;	      /* activeOnly */
	int centre;   /* with source "stream" */
	int active;   /* the collector or the receiver reports it */
	int reviewed; /* since then */
	unsigned rank;
	unsigned cluster; /* the n-th, in this review */
	/* the starts that this review lists */
	struct spool_ranges ranges;
	/* since this suite became active, or of this review */
	struct job_list_failures failures;
	unsigned done; /* runs that the other suite has delivered */
	int stale;     /* the list under way was requested before */
	int changed;   /* a list has changed a run */
	/* n.commits at that time: equal until the change is durable */
	uint64_t changed_at;
	/* of the receiver, at a centre */
	struct event *end;
	int64_t until; /* CLOCK_BOOTTIME in ms */
	uint64_t id;   /* of the lease; 0 = none */
	int drains;    /* for good, unless there is a new receiver */
	int64_t drain_ms;
};

/* The boxes that send ask base/role.h. */
static void
role_update(struct failover *b)
{
	role_set(b->s, b->on && !(b->active && b->reviewed),
	    b->on ? (int64_t)b->rank * LATER_MS : 0);
	b->s->role.inactive = b->on && !b->active;
}

/*
 * The other suite has published by NATS what it sent by REST, but not what
 * `backfill --nats` publishes again here.
 */
static void
nats_follow(struct failover *b, struct spool_run *run, enum run_event event)
{
	int again = (run->flags & RUN_REPUBLISHED) &&
	    run->state[DEST_NATS] != STOP_DUE;

	if (!again && run_may_move(run, DEST_NATS, event))
		run_move(b->s->spool, run, DEST_NATS, event, DUE_KEEP, NULL);
}

static void
change_note(struct failover *b)
{
	b->changed = 1;
	b->changed_at = b->s->n.commits;
}

static void
run_done(struct failover *b, struct spool_run *run)
{
	struct spool_run copy = *run;

	b->done++;
	change_note(b);
	nats_follow(b, run, RUN_EVENT_LISTED_STOPPED);
	run_move(b->s->spool, run, DEST_REST, RUN_EVENT_LISTED_STOPPED,
	    DUE_KEEP, NULL);
	spool_save(b->s->spool, run);
	spool_release(b->s->spool, &copy, DEST_REST);
	run_nats_listed(b->s, &copy, run);
	commit_soon(b->s->commit);
}

static void
run_listed(struct failover *b, struct spool_run *run)
{
	struct spool_run copy = *run;

	run->flags |= RUN_KEY_FIXED;
	change_note(b);
	nats_follow(b, run, RUN_EVENT_LISTED);
	run_start_listed(b->s, run);
	run_nats_listed(b->s, &copy, run);
}

static void
on_row(const struct backend_job *row, void *arg)
{
	struct failover *b = arg;
	struct spool_run run;
	int running = strcmp(row->state, "running") == 0;
	char how[sizeof(run.reason)];

	if (spool_find(b->s->spool, &row->key, &run) != 1)
		return;
	/* Another client stopped it: the answer to the next request shows it. */
	if (!running && run.end != 0 &&
	    !end_agrees(b->s, &run, row, how, sizeof(how)))
		return;
	switch (run.state[DEST_REST]) {
	case START_DUE:
	case START_DUE_ENDED:
	case START_BLOCKED:
	case START_CONFLICT:
		if (!running && run.end != 0)
			run_done(b, &run);
		else
			run_listed(b, &run);
		break;
	case STARTED:
	case STOP_BLOCKED:
	case STOP_DUE:
		if (!running && run.end != 0)
			run_done(b, &run);
		else if (running)
			commit_seen(b->s->commit_check, &run,
			    b->job_list.asked);
		break;
	default:
		break;
	}
}

/*
 * The starts of runs with work that the other suite may have done, as this
 * review begins: a start to send, to await or to compare, or a stop.  A run in
 * START_COMMITTED needs no list: its end is unknown here, and with activeOnly its
 * stop waits for a list of its own (STOP_BLOCKED).  Such runs are open for days,
 * and a list since their starts contains all jobs of these days.
 *
 * A run of a backfill may be months old, and nothing is sent before the list is
 * complete.  If the other suite has read the same range, the start is refused, or
 * the stop finds the run stopped, and conflict.c asks for this run alone.  Held runs
 * have a list of their own (backfill_release.c).
 */
static int
ranges_read(struct failover *b)
{
	static const enum run_state states[] = { START_DUE, START_DUE_ENDED,
		START_BLOCKED, START_CONFLICT, STARTED, STOP_BLOCKED,
		STOP_DUE };

	return spool_ranges(b->s->spool, states,
	    sizeof(states) / sizeof(states[0]), INT64_MAX,
	    RUN_BACKFILL | RUN_UNCONFIRMED, &b->ranges);
}

static void
failures_clear(struct failover *b)
{
	memset(&b->failures, 0, sizeof(b->failures));
}

static void
review_end(struct failover *b)
{
	struct submitter *s = b->s;

	failures_clear(b);
	if (!b->active) {
		timer_after(b->timer,
		    1000 * conf_int(&s->w->conf, CONF_CC_POLL_INTERVAL));
		return;
	}
	b->reviewed = 1;
	role_update(b);
	log_notice("this daemon is active now: %s; the other daemon has "
		   "delivered %u runs",
	    b->centre ? "its centre has the lease" :
			"its slurmctld is the active one",
	    b->done);
	wake(s,
	    WAKE_DELIVERY | WAKE_COMMIT_CHECK | WAKE_CONFLICT | WAKE_RECONCILE);
}

static void review_next(struct failover *b);

static void
on_listed(const struct result *v, void *arg)
{
	struct failover *b = arg;

	if (b->stale) {
		b->stale = 0;
		timer_after(b->timer, 0);
		return;
	}
	if (v->code == RESULT_DONE) {
		review_next(b);
		return;
	}
	breaker_request_result(b->s->breaker, v);
	log_debug("the list of the runs that the other suite has sent failed: "
		  "%s",
	    v->text);
	if (!job_list_gives_up(&b->failures, v)) {
		timer_after(b->timer, RETRY_MS);
		return;
	}
	if (b->active)
		log_warnx("the jobs of %s in cc-backend cannot be listed: %s; "
			  "the starts are sent, and cc-backend refuses those "
			  "that it has",
		    b->job_list.cluster, v->text);
	review_next(b);
}

static void
review_next(struct failover *b)
{
	struct run_key name;
	int64_t cursor, from, to;

	while (spool_cluster(b->s->spool, b->cluster, &name, &cursor)) {
		from = b->ranges.of[b->cluster].from;
		to = b->ranges.of[b->cluster].to;
		b->cluster++;
		if (to == 0)
			continue;
		if (job_list_start(&b->job_list, b->s, name.cluster, 0, from,
			to, on_row, on_listed, b) == -1)
			timer_after(b->timer, RETRY_MS);
		return;
	}
	review_end(b);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct failover *b = arg;

	if (!b->on || b->reviewed || b->job_list.busy ||
	    (b->centre && !b->active))
		return;
	/* Nothing is sent meanwhile, and the next commit may fail, too. */
	if (commit_is_stuck(b->s->commit)) {
		timer_after(b->timer, RETRY_MS);
		return;
	}
	b->cluster = 0;
	b->done = 0;
	if (ranges_read(b) == 0)
		review_next(b);
	else
		timer_after(b->timer, RETRY_MS);
}

/* A passive suite lists again anyway, at intervals and when it becomes active. */
void
failover_rolled_back(struct failover *b)
{
	int lost = b->changed && b->changed_at == b->s->n.commits;

	b->changed = 0;
	if (!lost || !b->on || !b->active)
		return;
	b->reviewed = 0;
	b->stale = b->job_list.busy;
	role_update(b);
	timer_after(b->timer, 0);
}

int
failover_frame(struct failover *b, struct reader *r)
{
	int active = rd_u8(r);
	unsigned rank = rd_u8(r);

	if (rd_end(r) == -1 || active > 1)
		return -1;
	b->rank = rank;
	role_update(b);
	if (active == b->active)
		return 0;
	b->active = active;
	b->reviewed = 0;
	b->stale = active && b->job_list.busy;
	role_update(b);
	failures_clear(b);
	if (!active)
		log_notice("standby: another slurmctld is active; this daemon "
			   "stores runs, the other daemon sends them");
	timer_after(b->timer,
	    active ? 0 :
		     1000 * conf_int(&b->s->w->conf, CONF_CC_POLL_INTERVAL));
	return 0;
}

/* The time of the lease has changed or passed. */
static void
lease_update(struct failover *b)
{
	int64_t left = b->until - clock_boot_ms() - HTTP_FENCE_LEAST;
	int active = left > 0;

	http_fence(b->s->http, b->until);
	timer_after(b->end, active ? left : -1);
	b->s->role.standby = !active;
	if (active == b->active)
		return;
	b->active = active;
	b->reviewed = 0;
	failures_clear(b);
	b->stale = active && b->job_list.busy;
	role_update(b);
	breaker_conf(b->s->breaker);
	if (active)
		first_list_again(b->s->first_list);
	else
		log_notice("standby: this centre has no lease; it sends "
			   "nothing");
	timer_after(b->timer, active ? 0 : -1);
}

static void
on_end(evutil_socket_t fd, short what, void *arg)
{
	struct failover *b = arg;
	int64_t left;

	(void)fd;
	(void)what;
	if (!b->on || !b->centre)
		return;
	lease_update(b);
	/* libevent's clock is coarse, so that its timers can be early. */
	left = b->until - clock_boot_ms();
	if (b->drains && left > 0)
		timer_after(b->end, left);
}

/* The longest lease that any configuration gives. */
static int64_t
lease_max_ms(void)
{
	return conf_rule(CONF_NATS_LEASE_TIME)->max * 1000;
}

int
failover_active_until(struct failover *b, struct reader *r)
{
	int64_t until = rd_i64(r), most = clock_boot_ms() + lease_max_ms();
	uint64_t id = rd_u64(r);

	/* A later receiver would adopt a forged time. */
	if (rd_end(r) == -1 || until < 0 || until > most)
		return -1;
	if (b->drains)
		return 0; /* a renewal in the meantime */
	b->until = until;
	b->id = id;
	if (b->on && b->centre)
		lease_update(b);
	return 0;
}

static void
on_quiet(void *arg)
{
	struct failover *b = arg;
	struct channel *c = b->s->w->peers[ROLE_RECEIVER];
	struct writer w;

	if (!b->drains)
		return; /* there is a new receiver */
	b->until = 0;
	b->id = 0;
	lease_update(b);
	if (c == NULL)
		return;
	wr_init(&w, 8);
	wr_u8(&w, (uint8_t)http_all_answered(b->s->http, b->drain_ms));
	channel_send(c, MSG_DRAINED, 0, &w, -1);
	wr_clear(&w);
}

/* A request under way has a second for its answer. */
int
failover_drain(struct failover *b, struct reader *r)
{
	int64_t until = clock_boot_ms() + HTTP_FENCE_LEAST - 1;
	int64_t ms = rd_u32(r);

	if (rd_end(r) == -1)
		return -1;
	if (!b->on || !b->centre)
		return 0;
	b->drain_ms = ms;
	b->drains = 1;
	if (until < b->until)
		b->until = until;
	lease_update(b);
	/* A write without an answer is ended then: libcurl has its old limit. */
	timer_after(b->end, HTTP_FENCE_LEAST);
	http_on_quiet(b->s->http, on_quiet, b);
	return 0;
}

void
failover_peer(struct failover *b, struct channel *c)
{
	struct writer w;

	b->drains = 0;
	if (!b->on || !b->centre || b->id == 0)
		return;
	wr_init(&w, 32);
	wr_i64(&w, b->until);
	wr_u64(&w, b->id);
	channel_send(c, MSG_ACTIVE_UNTIL, 0, &w, -1);
	wr_clear(&w);
}

/* The receiver or the collector will report whether it is active. */
void
failover_conf(struct failover *b)
{
	int on = conf_bool(&b->s->w->conf, CONF_ACTIVE_ONLY);

	if (on == b->on)
		return;
	b->on = on;
	b->centre = conf_reads_stream(&b->s->w->conf);
	b->active = b->reviewed = 0;
	role_update(b);
	if (on && b->centre)
		lease_update(b);
	else if (on)
		/* The first report may be that this suite is passive. */
		timer_after(b->timer,
		    1000 * conf_int(&b->s->w->conf, CONF_CC_POLL_INTERVAL));
	if (on)
		return;
	b->until = 0;
	b->id = 0;
	b->drains = 0;
	http_fence(b->s->http, HTTP_NO_FENCE);
	b->s->role.standby = 0;
	timer_after(b->end, -1);
	wake(b->s, WAKE_DELIVERY | WAKE_COMMIT_CHECK);
}

void
failover_status(struct failover *b, uint64_t request)
{
	if (b->on)
		worker_status(b->s->w, request, "side", "%s",
		    !b->active ?
			b->centre ?
			"standby: another centre may be active; sends nothing" :
			"standby: stores runs, sends nothing" :
			!b->reviewed ?
			"becomes active: lists the jobs of cc-backend" :
			"active");
}

struct failover *
failover_new(struct submitter *s)
{
	struct failover *b = permanent_new(sizeof(*b));

	b->s = s;
	b->timer = timer_new(s, on_timer, b);
	b->end = timer_new(s, on_end, b);
	return b;
}
