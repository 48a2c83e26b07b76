/* SPDX-License-Identifier: MIT */
/*
 * Is cc-backend there, and which one is it?  While it fails, only the
 * harmless probe asks, at growing waits; when the probe is answered, one
 * request goes first, and the rest follow a good answer.  The probe also
 * tells the version, for a backend may be upgraded while it is away.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "submitter/delivery/delivery.h"
#include "submitter/reconcile/failover.h"

#define FAILURES_MAX	3	/* good answers lacking in a row: it is down */
#define ROW_TRIES	3	/* a row that failed oftener says nothing of others */
#define PROBE_MAX	20000	/* ms between probes: one harmless request */
#define CLUSTERS_AGE	600000	/* ms; older topology is asked again with the probe */
#define CLUSTERS_TRIES	3	/* while the probe is answered; then it goes without */

#define PROBE_EVERY	2000	/* ms between probes for a new connection's sake */

/* Before 1.4 a tag's scope is unknown, before 1.5 shared: the first counts. */
static const char probe_body[] =
    "{\"tags\":[{\"scope\":\"global\"}],\"shared\":\"none\"}";

static const char *const state_names[] = {
	[GATE_SHUT] = "not in use",
	[GATE_PROBE] = "down",
	[GATE_HALF] = "coming back",
	[GATE_OPEN] = "up",
	[GATE_STOPPED] = "refuses the token",
	[GATE_CONFIG] = "wrong address",
};

static void probe_send(struct gate *g);

const char *
gate_name(enum gate_state state)
{
	return state_names[state];
}

int64_t
retry_wait(unsigned tries)
{
	int64_t ms = RETRY_FIRST;

	while (tries-- > 0 && ms < RETRY_MAX)
		ms *= 2;
	return submitter_jitter(ms < RETRY_MAX ? ms : RETRY_MAX);
}

static int64_t
probe_wait(struct gate *g)
{
	int64_t ms = retry_wait(g->probes++);

	return ms < PROBE_MAX ? ms : submitter_jitter(PROBE_MAX);
}

unsigned
gate_width(const struct gate *g)
{
	if (standby_holds(g->s->standby))
		return 0;
	if (g->state == GATE_OPEN)
		return REST_IN_FLIGHT;
	return g->state == GATE_HALF ? 1 : 0;
}

static unsigned long long
waiting_runs(const struct gate *g)
{
	const struct spool *sp = g->s->spool;

	return (unsigned long long)(spool_count(sp, DEST_REST, PHASE_START) +
	    spool_count(sp, DEST_REST, PHASE_START_ENDED) +
	    spool_count(sp, DEST_REST, PHASE_BEHIND) +
	    spool_count(sp, DEST_REST, PHASE_STOP));
}

/* One line an outage. */
static void
say_down(struct gate *g, enum gate_state state)
{
	const char *where = rest_where(g->s->rest);

	if (state == GATE_STOPPED)
		log_errorx("CC-BACKEND AT %s REFUSES THE TOKEN (%s): nothing is "
		    "submitted until it takes it; all runs are kept", where,
		    g->why);
	else if (state == GATE_CONFIG)
		log_errorx("%s is no cc-backend that takes jobs by REST (%s): "
		    "check ccRestUrl, and ccRestSubmitJobs if it takes them by "
		    "NATS; all runs are kept", where, g->why);
	else
		log_warnx("cc-backend at %s is away: %s; %llu runs wait", where,
		    g->why, waiting_runs(g));
}

static void
gate_down(struct gate *g, enum gate_state state, int64_t wait)
{
	if (g->said != state) {
		if (g->down == 0)
			g->down = spool_now(g->s->spool);
		say_down(g, state);
		g->said = state;
	}
	g->state = state;
	rest_forget(g->s->rest);
	if (!g->asking)
		submitter_after(g->timer, wait);
}

/* It answers, but is it the same one?  Asked now, or by the timer soon. */
static void
doubt_settle(struct gate *g)
{
	int64_t wait = g->probed + PROBE_EVERY - spool_now(g->s->spool);

	if (!g->doubt || g->asking || g->s->backend_pinned)
		return;
	if (wait <= 0)
		probe_send(g);
	else if (!evtimer_pending(g->timer, NULL))
		submitter_after(g->timer, wait);
}

static void
gate_good(struct gate *g)
{
	g->failures = 0;
	g->probes = 0;
	if (g->state == GATE_OPEN) {
		doubt_settle(g);
		return;
	}
	g->state = GATE_OPEN;
	if (g->down != 0) {
		log_notice("cc-backend at %s is back after %lld s; %llu runs "
		    "wait", rest_where(g->s->rest),
		    (long long)(spool_now(g->s->spool) - g->down) / 1000,
		    waiting_runs(g));
		g->down = 0;
		g->said = GATE_SHUT;
		spool_hurry(g->s->spool, DEST_REST);
		backlog_touch(g->s->backlog);
	}
	relay_kick(g->s->relay);
	seen_kick(g->s->seen);
}

void
gate_verdict(struct gate *g, const struct verdict *v, unsigned tries)
{
	snprintf(g->last, sizeof(g->last), "%s", v->text);
	if (g->state == GATE_SHUT)
		return;
	/* A new connection may reach what was put in its place meanwhile. */
	if (v->outcome == OUT_AWAY || v->fresh)
		g->doubt = 1;
	switch (v->outcome) {
	case OUT_STOP_LINE:
		snprintf(g->why, sizeof(g->why), "%s", v->text);
		gate_down(g, GATE_STOPPED, submitter_jitter(STOPPED_WAIT));
		return;
	case OUT_CONFIG:
		snprintf(g->why, sizeof(g->why), "%s", v->text);
		gate_down(g, GATE_CONFIG, submitter_jitter(STOPPED_WAIT));
		return;
	case OUT_REPROBE:
		/* Upgraded under us: the probe tells, while the rest waits. */
		if (tries < ROW_TRIES && g->state == GATE_OPEN) {
			g->state = GATE_PROBE;
			g->clusters_at = 0;
			probe_send(g);
		}
		return;
	case OUT_AWAY:
	case OUT_RETRY:
		break;
	default:
		if (g->state == GATE_HALF || g->state == GATE_OPEN)
			gate_good(g);
		return;
	}
	if (v->outcome == OUT_RETRY && tries >= ROW_TRIES)
		return;
	snprintf(g->why, sizeof(g->why), "%s", v->text);
	if (g->state == GATE_OPEN && ++g->failures < FAILURES_MAX)
		return;
	if (g->state == GATE_OPEN || g->state == GATE_HALF)
		gate_down(g, GATE_PROBE, probe_wait(g));
}

/* What the probe told: a version that was not known, or another than before. */
static void
version_take(struct gate *g, const struct verdict *v)
{
	struct submitter *s = g->s;
	static const char *const names[] = {
		[BACKEND_1_3] = "1.3 or older",
		[BACKEND_1_4_0] = "1.4",
		[BACKEND_1_4_3] = "1.4",
		[BACKEND_1_5] = "1.5 or newer",
	};

	if (!v->told || s->backend_pinned)
		return;
	/* What a stop told of an old one is not told again by the probe. */
	if (s->backend_told && s->backend == BACKEND_1_4_0 &&
	    v->backend == BACKEND_1_4_3)
		return;
	if (s->backend_told && s->backend != v->backend)
		g->clusters_at = 0;	/* another one, another topology perhaps */
	if (!s->backend_told || s->backend != v->backend)
		log_notice("cc-backend at %s is version %s", rest_where(s->rest),
		    names[v->backend]);
	s->backend = v->backend;
	s->backend_told = 1;
	spool_policy(s->spool)->commit_seen = s->backend == BACKEND_1_5;
}

static void
gate_half(struct gate *g)
{
	if (g->down == 0) {
		gate_good(g);
	} else {
		g->state = GATE_HALF;
		relay_kick(g->s->relay);
		/* Nothing to try it on: the probe is all there is. */
		if (waiting_runs(g) == 0)
			gate_good(g);
	}
	if (g->state == GATE_OPEN || g->state == GATE_HALF)
		resync_open(g->s->resync);
}

/* An answer to the old configuration says nothing of the new one. */
static int
is_stale(struct gate *g)
{
	if (!g->stale)
		return 0;
	g->stale = 0;
	submitter_after(g->timer, 0);
	return 1;
}

static void
on_clusters(const struct answer *a, void *arg)
{
	struct gate *g = arg;
	struct verdict v;

	g->asking = 0;
	if (is_stale(g))
		return;
	outcome_judge(a, &v);
	if (v.outcome == OUT_DONE && resync_topology(g->s, a) == 0) {
		g->clusters_at = spool_now(g->s->spool);
		g->no_clusters = 0;
	} else if (v.outcome == OUT_STOP_LINE || (v.outcome == OUT_AWAY &&
	    ++g->no_clusters < CLUSTERS_TRIES)) {
		snprintf(g->why, sizeof(g->why), "%s", v.text);
		gate_down(g, v.outcome == OUT_AWAY ? GATE_PROBE : GATE_STOPPED,
		    v.outcome == OUT_AWAY ? probe_wait(g) :
		    submitter_jitter(STOPPED_WAIT));
		return;
	} else
		log_warnx("cc-backend's clusters cannot be read (%s): threads are "
		    "numbered by what was known of them before, or as Slurm "
		    "does", v.text);
	gate_half(g);
}

/* The topology belongs to the probe: the first start is right at once. */
static void
clusters_send(struct gate *g)
{
	struct rest_request req = { .what = WHAT_CLUSTERS, .method = "GET",
		.path = "clusters/", .done = on_clusters, .arg = g };

	if (g->clusters_at != 0 &&
	    spool_now(g->s->spool) - g->clusters_at < CLUSTERS_AGE) {
		gate_half(g);
		return;
	}
	g->asking = 1;
	if (rest_send(g->s->rest, &req) == -1) {
		g->asking = 0;
		submitter_after(g->timer, probe_wait(g));
	}
}

static void
on_probe(const struct answer *a, void *arg)
{
	struct gate *g = arg;
	struct verdict v;

	g->asking = 0;
	if (is_stale(g))
		return;
	outcome_judge(a, &v);
	snprintf(g->last, sizeof(g->last), "%s", v.text);
	if (g->state == GATE_SHUT)
		return;
	if (v.outcome == OUT_DONE || v.outcome == OUT_REJECTED) {
		version_take(g, &v);
		clusters_send(g);
		return;
	}
	snprintf(g->why, sizeof(g->why), "%s", v.text);
	if (v.outcome == OUT_STOP_LINE || v.outcome == OUT_CONFIG)
		gate_down(g, v.outcome == OUT_CONFIG ? GATE_CONFIG :
		    GATE_STOPPED, submitter_jitter(STOPPED_WAIT));
	else
		gate_down(g, GATE_PROBE, probe_wait(g));
}

static void
probe_send(struct gate *g)
{
	struct writer body;
	struct rest_request req = { .what = WHAT_PROBE, .method = "POST",
		.path = "jobs/start_job/", .body = &body, .done = on_probe,
		.arg = g };

	if (g->asking)
		return;
	g->doubt = 0;
	g->probed = spool_now(g->s->spool);
	/* NATS only: cc-backend's jobs are not touched, not even probed. */
	if (!conf_bool(&g->s->w->conf, CONF_CC_REST_SUBMIT)) {
		g->clusters_at = 0;
		clusters_send(g);
		return;
	}
	wr_init(&body, sizeof(probe_body));
	wr_mem(&body, probe_body, sizeof(probe_body) - 1);
	g->asking = 1;
	if (rest_send(g->s->rest, &req) == -1) {
		g->asking = 0;
		submitter_after(g->timer, probe_wait(g));
	}
	wr_clear(&body);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct gate *g = arg;

	(void)fd;
	(void)what;
	if (g->state == GATE_OPEN)
		doubt_settle(g);
	else if (g->state != GATE_SHUT && g->state != GATE_HALF)
		probe_send(g);
}

int
gate_init(struct gate *g, struct submitter *s)
{
	g->s = s;
	g->timer = submitter_timer(s, on_timer, g);
	return g->timer != NULL ? 0 : -1;
}

void
gate_clear(struct gate *g)
{
	if (g->timer != NULL)
		event_free(g->timer);
}

void
gate_conf(struct gate *g)
{
	submitter_after(g->timer, -1);
	g->probes = 0;
	g->failures = 0;
	g->stale = g->asking;
	if (!rest_usable(g->s->rest)) {
		g->state = GATE_SHUT;
		return;
	}
	g->state = GATE_PROBE;
	g->down = 0;
	g->said = GATE_SHUT;
	g->clusters_at = 0;
	g->no_clusters = 0;
	submitter_after(g->timer, 0);
}
