/* SPDX-License-Identifier: MIT */
/*
 * The circuit breaker: finds out whether cc-backend is reachable, and which
 * version it is.  While cc-backend fails, only a probe without effect is sent,
 * at growing intervals.  When cc-backend answers the probe, one request is
 * sent; the others follow after a good answer.  The answer to the probe also
 * shows the version, because cc-backend may have been upgraded in the meantime.
 *
 * A proxy may refuse one request and accept all others, or never answer one
 * kind of request.  So such a request stops the delivery only when the probe
 * fails, too.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/permanent.h"
#include "common/text/time_text.h"
#include "submitter/backend/breaker.h"
#include "submitter/backend/token_watch.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/net/http.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool.h"

/* failures in a row until cc-backend counts as down */
#define FAILURES_MAX 3
/* failures of a row with more tries do not count for other rows */
#define ROW_TRIES 3
/* ms between probes; a start waits that long after an outage */
#define PROBE_MAX 5000
/* ms; an older topology is requested again with the probe */
#define CLUSTERS_AGE   600000
#define CLUSTERS_TRIES 3 /* attempts while the probe is answered */

/* lists of jobs that failed in a row, until the summary has a problem */
#define LISTS_FAILED 5

/* ms between probes because of new connections or failed requests */
#define PROBE_EVERY 2000

/* ms; an admin has to change the token or the address */
#define STOPPED_WAIT 30000

/*
 * ms between lines of the same kind: a proxy that limits the rate of requests
 * (503, 429) makes two short outages a second
 */
#define REPORT_EVERY 60000

enum breaker_state {
	BREAKER_UNUSED,	   /* no address or token */
	BREAKER_DOWN,	   /* a probe is under way or due */
	BREAKER_HALF_OPEN, /* one request at a time */
	BREAKER_UP,
	BREAKER_UNAUTHORIZED, /* the token is refused; probed */
	/* the address is not cc-backend's; probed as well */
	BREAKER_WRONG_ADDRESS,
	BREAKER__COUNT
};

/* Why cc-backend is probed while requests are sent. */
enum breaker_doubt {
	DOUBT_NONE,
	DOUBT_VERSION, /* another cc-backend may answer */
	/* a request failed; no other is sent while the probe is under way */
	DOUBT_REQUEST
};

struct breaker {
	struct submitter *s;
	enum breaker_state state;
	struct event *timer;
	unsigned failures; /* since the last good answer */
	unsigned probes;   /* failed probes in a row */
	/* a probe or a request for the clusters is under way */
	int asking;
	/* that request was made with an older configuration */
	int stale;
	enum breaker_doubt doubt;
	/* the probe under way shows whether only this request fails */
	int judging;
	char failed[448]; /* the request that failed, and its answer */
	enum request_kind failed_kind;
	struct log_limit failed_alone[REQUEST__COUNT];
	struct log_limit no_topology;
	int64_t probed;		    /* spool_now() of the last probe */
	enum breaker_state problem; /* of the outage, as found last */
	/* the state that was logged in this outage; BREAKER_UNUSED = none */
	enum breaker_state logged;
	int64_t logged_at[BREAKER__COUNT]; /* spool_now(); 0 = never */
	int64_t down;			   /* spool_now(); 0 = up */
	int64_t clusters_at; /* spool_now() of the last good ones */
	/* failures in a row after a good probe */
	unsigned no_clusters;
	unsigned lists_failed;		 /* in a row */
	int64_t lists_since;		 /* epoch of the first of these */
	char lists_why[400];		 /* of the last one */
	char why[400];			 /* of the last failure */
	char told[400];			 /* the reason that was logged */
	char last[400];			 /* answer, for status */
	uint64_t results[RESULT__COUNT]; /* of all requests */
	int64_t answered;		 /* epoch of the last success */
	enum backend version;
	int version_received; /* 0: assumed */
	int version_pinned;   /* configured */
	/* another one than cc-backend has, which is other */
	int pin_is_wrong;
	enum backend other;
};

const char breaker_probe[] =
    "{\"tags\":[{\"scope\":\"global\"}],\"shared\":\"none\"}";

static const char *const state_names[] = {
	[BREAKER_UNUSED] = "not in use",
	[BREAKER_DOWN] = "down",
	[BREAKER_HALF_OPEN] = "coming back",
	[BREAKER_UP] = "up",
	[BREAKER_UNAUTHORIZED] = "refuses the token",
	[BREAKER_WRONG_ADDRESS] = "wrong address",
};

static void probe_send(struct breaker *g);

static int64_t
probe_wait(struct breaker *g)
{
	int64_t ms = timer_backoff(g->probes++, RETRY_FIRST, RETRY_MAX);

	return ms < PROBE_MAX ? ms : timer_jitter(PROBE_MAX);
}

unsigned
breaker_width(const struct breaker *g)
{
	if (role_is_passive(g->s))
		return 0;
	if (g->state == BREAKER_UP)
		return HTTP_IN_FLIGHT;
	return g->state == BREAKER_HALF_OPEN ? 1 : 0;
}

static unsigned long long
waiting_runs(const struct breaker *g)
{
	const struct spool *sp = g->s->spool;

	return (unsigned long long)(spool_count(sp, DEST_REST, START_DUE) +
	    spool_count(sp, DEST_REST, START_DUE_ENDED) +
	    spool_count(sp, DEST_REST, START_BLOCKED) +
	    spool_count(sp, DEST_REST, STOP_DUE));
}

/* Equal but for numbers?  Each failure has another duration. */
static int
same_reason(const char *a, const char *b)
{
	static const char digits[] = "0123456789";

	for (;;) {
		a += strspn(a, digits);
		b += strspn(b, digits);
		if (*a == '\0' || *a != *b)
			return *a == *b;
		a++;
		b++;
	}
}

static void
report_down(struct breaker *g, enum breaker_state state)
{
	const char *where = http_where(g->s->http);

	log_about(state == BREAKER_UNAUTHORIZED ? LOG_ID_TOKEN_REFUSED :
						  LOG_ID_BACKEND_DOWN,
	    NULL, 0);
	if (state == BREAKER_UNAUTHORIZED)
		log_errorx(
		    "cc-backend at %s refuses the token (%s): nothing is "
		    "submitted until cc-backend accepts the token; all runs "
		    "are kept",
		    where, g->why);
	else if (state == BREAKER_WRONG_ADDRESS)
		log_errorx(
		    "%s is no cc-backend that accepts jobs by REST (%s): "
		    "check ccRestUrl, and ccRestSubmitJobs if cc-backend "
		    "accepts jobs only by NATS; all runs are kept",
		    where, g->why);
	else
		log_warnx("cc-backend at %s is unreachable: %s; %llu runs wait",
		    where, g->why, waiting_runs(g));
}

/*
 * Logs one line per outage, and one when the reason has changed: an outage may
 * begin with a restart, and last because the new certificate is not valid.  A
 * line that is not permitted yet is logged after a later probe, if the outage
 * lasts until then.
 */
static void
problem_log(struct breaker *g)
{
	int64_t now = spool_now(g->s->spool), at = g->logged_at[g->problem];

	if (g->logged == g->problem && same_reason(g->why, g->told))
		return;
	if (at != 0 && now - at < REPORT_EVERY)
		return;
	report_down(g, g->problem);
	g->logged = g->problem;
	g->logged_at[g->problem] = now;
	memcpy(g->told, g->why, sizeof(g->told));
}

static void
breaker_down(struct breaker *g, enum breaker_state state, int64_t wait)
{
	if (g->down == 0)
		g->down = spool_now(g->s->spool);
	g->problem = state;
	problem_log(g);
	g->state = state;
	http_forget(g->s->http);
	if (!g->asking)
		timer_after(g->timer, wait);
}

/* The answer shows that cc-backend accepts no requests now. */
static void
breaker_refused(struct breaker *g, const struct result *v)
{
	snprintf(g->why, sizeof(g->why), "%s", v->text);
	if (v->code == RESULT_UNAUTHORIZED)
		breaker_down(g, BREAKER_UNAUTHORIZED,
		    timer_jitter(STOPPED_WAIT));
	else if (v->code == RESULT_WRONG_ADDRESS)
		breaker_down(g, BREAKER_WRONG_ADDRESS,
		    timer_jitter(STOPPED_WAIT));
	else
		breaker_down(g, BREAKER_DOWN, probe_wait(g));
}

/* Probes cc-backend now or soon if there is a reason. */
static void
doubt_settle(struct breaker *g)
{
	int64_t wait = g->probed + PROBE_EVERY - spool_now(g->s->spool);

	if (g->doubt == DOUBT_NONE || g->asking)
		return;
	if (wait <= 0) {
		if (g->doubt == DOUBT_REQUEST)
			g->state = BREAKER_DOWN;
		probe_send(g);
	} else if (!evtimer_pending(g->timer, NULL))
		timer_after(g->timer, wait);
}

/* The probe shows whether only this request fails. */
static void
request_failed(struct breaker *g, const struct result *v)
{
	if (g->state != BREAKER_UP && g->state != BREAKER_HALF_OPEN)
		return;
	g->failed_kind = v->what;
	snprintf(g->failed, sizeof(g->failed), "%s: %s",
	    request_kind_name(v->what), v->text);
	g->doubt = DOUBT_REQUEST;
	doubt_settle(g);
}

static void
report_up(struct breaker *g)
{
	log_about(LOG_ID_BACKEND_UP, NULL, 0);
	log_notice("cc-backend at %s is reachable again after %s; %llu runs "
		   "wait",
	    http_where(g->s->http),
	    duration_text(spool_now(g->s->spool) - g->down), waiting_runs(g));
}

static void
breaker_good(struct breaker *g)
{
	g->failures = 0;
	g->probes = 0;
	if (g->state == BREAKER_UP) {
		doubt_settle(g);
		return;
	}
	g->state = BREAKER_UP;
	if (g->down != 0) {
		if (g->logged != BREAKER_UNUSED)
			report_up(g);
		g->down = 0;
		g->logged = BREAKER_UNUSED;
		spool_retry_now(g->s->spool, DEST_REST);
		commit_soon(g->s->commit);
	}
	wake(g->s, WAKE_DELIVERY | WAKE_COMMIT_CHECK);
}

/* The request had no effect, for a reason that an admin may have to remove. */
static int
is_error(enum result_code code)
{
	return code == RESULT_RETRY || code == RESULT_UNREACHABLE ||
	    code == RESULT_REPROBE || code == RESULT_OLD_VERSION ||
	    code == RESULT_REJECTED || code == RESULT_UNAUTHORIZED ||
	    code == RESULT_WRONG_ADDRESS;
}

static void
result_count(struct breaker *g, enum result_code code)
{
	g->results[code]++;
	if (!is_error(code))
		g->answered = (int64_t)time(NULL);
}

void
breaker_metrics(struct breaker *g, uint64_t request)
{
	struct worker *w = g->s->w;
	int code;

	worker_metric_stage(w, request, STAGE_LAST_SUCCESS, "cc-backend", NULL,
	    NULL, g->answered);
	for (code = 0; code < RESULT__COUNT; code++)
		if (is_error((enum result_code)code))
			worker_metric_stage(w, request, STAGE_ERRORS,
			    "cc-backend", "kind",
			    result_name((enum result_code)code),
			    (int64_t)g->results[code]);
}

void
breaker_result(struct breaker *g, const struct result *v, unsigned tries)
{
	result_count(g, v->code);
	snprintf(g->last, sizeof(g->last), "%s", v->text);
	if (g->state == BREAKER_UNUSED)
		return;
	/* A new connection may reach another cc-backend. */
	if ((v->code == RESULT_UNREACHABLE || v->new_connection) &&
	    g->doubt == DOUBT_NONE)
		g->doubt = DOUBT_VERSION;
	switch (v->code) {
	case RESULT_UNAUTHORIZED:
	case RESULT_WRONG_ADDRESS:
		request_failed(g, v);
		return;
	case RESULT_REPROBE:
		/*
		 * cc-backend was upgraded: the probe finds the version, and
		 * other requests wait.
		 */
		if (g->state == BREAKER_UP || g->state == BREAKER_HALF_OPEN) {
			g->state = BREAKER_DOWN;
			g->clusters_at = 0;
			probe_send(g);
		}
		return;
	case RESULT_UNREACHABLE:
	case RESULT_RETRY:
		break;
	default:
		if (g->state == BREAKER_HALF_OPEN || g->state == BREAKER_UP)
			breaker_good(g);
		return;
	}
	if (v->code == RESULT_RETRY && tries >= ROW_TRIES)
		return;
	snprintf(g->why, sizeof(g->why), "%s", v->text);
	if (g->state == BREAKER_UP && ++g->failures < FAILURES_MAX)
		return;
	if (g->state == BREAKER_UP || g->state == BREAKER_HALF_OPEN)
		breaker_down(g, BREAKER_DOWN, probe_wait(g));
}

const char *
breaker_version_text(enum backend version)
{
	static const char *const names[] = {
		[BACKEND_1_3] = "1.3 or older",
		[BACKEND_1_4_0] = "1.4",
		[BACKEND_1_4_3] = "1.4",
		[BACKEND_1_5] = "1.5 or newer",
	};

	return names[version];
}

/* Starts in the form of another version are rejected. */
static void
pin_check(struct breaker *g, enum backend found)
{
	int was_wrong = g->pin_is_wrong;
	const char *text = breaker_version_text(found);

	g->other = found;
	g->pin_is_wrong = strcmp(text, breaker_version_text(g->version)) != 0;
	if (g->pin_is_wrong && !was_wrong)
		log_warnx("ccBackendVersion is %s, and cc-backend at %s is "
			  "version %s: starts can be rejected; remove the key",
		    breaker_version_text(g->version), http_where(g->s->http),
		    text);
}

/* Stores the version that the probe found. */
static void
version_take(struct breaker *g, const struct result *v)
{
	if (!v->told)
		return;
	if (g->version_pinned) {
		pin_check(g, v->backend);
		return;
	}
	/*
	 * The answer to a stop showed an older version than a probe can show.
	 */
	if (g->version_received && g->version == BACKEND_1_4_0 &&
	    v->backend == BACKEND_1_4_3)
		return;
	if (g->version_received && g->version != v->backend)
		/* another cc-backend may have another topology */
		g->clusters_at = 0;
	if (!g->version_received || g->version != v->backend)
		log_notice("cc-backend at %s is version %s",
		    http_where(g->s->http), breaker_version_text(v->backend));
	g->version = v->backend;
	g->version_received = 1;
	spool_policy(g->s->spool)->wait_commit = g->version == BACKEND_1_5;
}

/* The states in which a request for the run is made. */
static const enum run_state due_states[] = { START_DUE, START_DUE_ENDED,
	STOP_DUE, DELETE_DUE };

/*
 * Is a run due, now or soon?  Those that wait for Slurm or for another run make
 * no request, and a passive suite makes none.
 */
static int
request_follows(const struct breaker *g)
{
	int64_t soon = spool_now(g->s->spool) + PROBE_MAX, due;
	size_t i;

	for (i = 0; i < sizeof(due_states) / sizeof(due_states[0]); i++) {
		due = spool_next_due(g->s->spool, DEST_REST, due_states[i]);
		if (due >= 0 && due <= soon)
			return !role_is_passive(g->s);
	}
	return 0;
}

/* spool_each(): counts the runs that wait for another attempt. */
static int
count_later(struct spool *sp, struct spool_run *run, void *arg)
{
	unsigned *n = arg;

	(void)sp;
	*n += run->due[DEST_REST] < DUE_LEASED;
	return 0;
}

/* Does more than one run wait for another attempt? */
static int
several_wait(const struct breaker *g)
{
	struct spool_after after;
	unsigned n = 0;
	size_t i;

	for (i = 0; i < sizeof(due_states) / sizeof(due_states[0]); i++) {
		memset(&after, 0, sizeof(after));
		after.due = INT64_MIN;
		(void)spool_each(g->s->spool, DEST_REST, due_states[i], &after,
		    2, count_later, &n);
	}
	return n > 1;
}

void
breaker_no_request(struct breaker *g)
{
	/* Several runs without a good answer: cc-backend does not work. */
	if (g->state == BREAKER_HALF_OPEN && !request_follows(g) &&
	    !several_wait(g))
		breaker_good(g);
}

static void
breaker_half(struct breaker *g)
{
	if (g->down == 0 || g->judging) {
		breaker_good(g);
	} else {
		g->state = BREAKER_HALF_OPEN;
		wake(g->s, WAKE_DELIVERY);
		if (!request_follows(g))
			breaker_good(g);
	}
	/* A comparison whose list fails would be repeated at once. */
	if ((g->state == BREAKER_UP || g->state == BREAKER_HALF_OPEN) &&
	    !g->judging)
		wake(g->s, WAKE_RECONCILE);
}

/*
 * The answer to a request of the breaker's own.  0, or -1 when the answer
 * belongs to the old configuration.
 */
static int
answer_take(struct breaker *g, const struct http_answer *a, struct result *v)
{
	g->asking = 0;
	if (g->stale) {
		g->stale = 0;
		timer_after(g->timer, 0);
		return -1;
	}
	response_classify(a, v);
	return 0;
}

static void
on_clusters(const struct http_answer *a, void *arg)
{
	struct breaker *g = arg;
	struct result v;

	if (answer_take(g, a, &v) == -1)
		return;
	result_count(g, v.code);
	if (v.code == RESULT_DONE && topology_cache_store(g->s, a) == 0) {
		g->clusters_at = spool_now(g->s->spool);
		g->no_clusters = 0;
	} else if (v.code == RESULT_UNAUTHORIZED ||
	    (v.code == RESULT_UNREACHABLE &&
		++g->no_clusters < CLUSTERS_TRIES)) {
		breaker_refused(g, &v);
		return;
	} else
		log_limited(&g->no_topology, log_warnx,
		    "the clusters of cc-backend cannot be read (%s): threads "
		    "are numbered by the topology of the last start, or as "
		    "Slurm numbers them",
		    v.text);
	breaker_half(g);
}

/*
 * The topology is requested with the probe, so that the first start is right.
 */
static void
clusters_send(struct breaker *g)
{
	struct http_request req = { .what = REQUEST_CLUSTERS,
		.method = "GET",
		.path = "clusters/",
		.done = on_clusters,
		.arg = g };

	if (g->clusters_at != 0 &&
	    spool_now(g->s->spool) - g->clusters_at < CLUSTERS_AGE) {
		breaker_half(g);
		return;
	}
	g->asking = 1;
	if (http_send(g->s->http, &req) == -1) {
		g->asking = 0;
		timer_after(g->timer, probe_wait(g));
	}
}

/* cc-backend accepts the probe after it has refused a request. */
static void
failed_alone_log(struct breaker *g)
{
	struct log_limit *limit = &g->failed_alone[g->failed_kind];

	if (g->failed_kind == REQUEST_LIST)
		log_limited(limit, log_warnx,
		    "cc-backend at %s accepts the probe, but does not list "
		    "its jobs: %s; the list is repeated, and requests that need a "
		    "list wait",
		    http_where(g->s->http), g->failed);
	else
		log_limited(limit, log_warnx,
		    "cc-backend at %s accepts the probe, but not this "
		    "request: %s; only this request waits and is "
		    "repeated",
		    http_where(g->s->http), g->failed);
}

static void
on_probe(const struct http_answer *a, void *arg)
{
	struct breaker *g = arg;
	struct result v;

	if (answer_take(g, a, &v) == -1)
		return;
	/* Each version answers the probe with 400. */
	result_count(g, v.code == RESULT_REJECTED ? RESULT_DONE : v.code);
	snprintf(g->last, sizeof(g->last), "%s", v.text);
	if (g->state == BREAKER_UNUSED)
		return;
	if (v.code == RESULT_DONE || v.code == RESULT_REJECTED) {
		if (g->judging)
			failed_alone_log(g);
		version_take(g, &v);
		clusters_send(g);
		return;
	}
	breaker_refused(g, &v);
}

static void
probe_send(struct breaker *g)
{
	struct writer body;
	struct http_request req = { .what = REQUEST_PROBE,
		.method = "POST",
		.path = "jobs/start_job/",
		.body = &body,
		.done = on_probe,
		.arg = g };

	if (g->asking)
		return;
	g->judging = g->doubt == DOUBT_REQUEST;
	g->doubt = DOUBT_NONE;
	g->probed = spool_now(g->s->spool);
	/* Without REST, no request touches the jobs of cc-backend. */
	if (!conf_sends_rest(&g->s->w->conf)) {
		g->clusters_at = 0;
		clusters_send(g);
		return;
	}
	wr_init(&body, sizeof(breaker_probe));
	wr_mem(&body, breaker_probe, sizeof(breaker_probe) - 1);
	g->asking = 1;
	if (http_send(g->s->http, &req) == -1) {
		g->asking = 0;
		timer_after(g->timer, probe_wait(g));
	}
	wr_clear(&body);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct breaker *g = arg;

	if (g->state == BREAKER_UP || g->state == BREAKER_HALF_OPEN)
		doubt_settle(g);
	else if (g->state != BREAKER_UNUSED)
		probe_send(g);
}

int
breaker_allows(const struct breaker *g)
{
	return breaker_width(g) > 0;
}

int
breaker_reaches(const struct breaker *g)
{
	return g->state == BREAKER_UP || g->state == BREAKER_HALF_OPEN;
}

int
breaker_is_up(const struct breaker *g)
{
	return g->state == BREAKER_UP;
}

void
breaker_request_result(struct breaker *g, const struct result *v)
{
	breaker_result(g, v, 0);
}

void
breaker_meta_result(struct breaker *g, const struct result *v)
{
	if (v->code != RESULT_UNREACHABLE) {
		breaker_result(g, v, 0);
		return;
	}
	result_count(g, v->code);
	snprintf(g->last, sizeof(g->last), "%s", v->text);
	request_failed(g, v);
}

void
breaker_listed(struct breaker *g, const struct result *v)
{
	if (v->code == RESULT_DONE) {
		g->lists_failed = 0;
		return;
	}
	if (g->lists_failed++ == 0)
		g->lists_since = (int64_t)time(NULL);
	snprintf(g->lists_why, sizeof(g->lists_why), "%s", v->text);
}

enum backend
breaker_version(const struct breaker *g)
{
	return g->version;
}

int
breaker_knows_version(const struct breaker *g)
{
	return g->version_received || g->version_pinned;
}

void
breaker_set_version(struct breaker *g, enum backend version)
{
	if (!g->version_pinned)
		g->version = version;
}

void
breaker_pin_version(struct breaker *g, int pinned, enum backend version)
{
	g->version_pinned = pinned;
	g->pin_is_wrong = 0;
	if (pinned)
		g->version = version;
}

const char *
breaker_problem(struct breaker *g)
{
	static char text[sizeof(g->why) + 128];

	if (g->down != 0)
		snprintf(text, sizeof(text), "%s for %s: %s",
		    state_names[g->state],
		    duration_text(spool_now(g->s->spool) - g->down), g->why);
	else
		snprintf(text, sizeof(text), "%s", state_names[g->state]);
	return text;
}

void
breaker_status(struct breaker *g, uint64_t request)
{
	struct worker *w = g->s->w;

	worker_status(w, request, "backend", "%s", breaker_problem(g));
	worker_status(w, request, "backend_address", "%s",
	    http_where(g->s->http));
	if (http_token_in_clear(g->s->http))
		worker_status(w, request, "token_in_clear",
		    "the token is readable in the network: use https in "
		    "ccRestUrl");
	worker_status(w, request, "last_answer", "%s", g->last);
}

static void
refused_token_add(const struct breaker *g, struct summary *to, int64_t since)
{
	const struct token_expiry *e = http_token_expiry(g->s->http);

	if (token_stage(e, time(NULL)) == TOKEN_EXPIRED)
		summary_add(to, PROBLEM_BACKEND, 0, since,
		    "cc-backend refuses the token, which expired at %s: "
		    "%.120s; " TOKEN_REMEDY,
		    time_text(e->expires), g->why);
	else
		summary_add(to, PROBLEM_BACKEND, 0, since,
		    "cc-backend refuses the token: %.200s; " TOKEN_REMEDY,
		    g->why);
}

/* Without lists, no stop is sent to cc-backend 1.5, and nothing is compared. */
static void
lists_add(const struct breaker *g, struct summary *to)
{
	if (g->lists_failed >= LISTS_FAILED)
		summary_add(to, PROBLEM_BACKEND, 2, g->lists_since,
		    "cc-backend accepts the probe, but does not list its jobs: "
		    "%.120s; requests that need a list wait",
		    g->lists_why);
}

void
breaker_summary(const struct breaker *g, struct summary *to)
{
	int64_t since;

	if (g->down == 0 || g->problem != BREAKER_UNAUTHORIZED)
		token_watch_summary(g->s, to, time(NULL));
	if (g->pin_is_wrong)
		summary_add(to, PROBLEM_BACKEND, 1, 0,
		    "ccBackendVersion is %s, and cc-backend is version %s: "
		    "starts can be rejected; remove the key",
		    breaker_version_text(g->version),
		    breaker_version_text(g->other));
	if (g->state == BREAKER_UNUSED)
		return;
	if (g->down == 0) {
		lists_add(g, to);
		return;
	}
	since = time(NULL) - (spool_now(g->s->spool) - g->down) / 1000;
	if (g->problem == BREAKER_UNAUTHORIZED)
		refused_token_add(g, to, since);
	else if (g->problem == BREAKER_WRONG_ADDRESS)
		summary_add(to, PROBLEM_BACKEND, 0, since,
		    "ccRestUrl is no address of cc-backend: %.200s", g->why);
	else
		summary_add(to, PROBLEM_BACKEND, 0, since,
		    "cc-backend does not work: %.200s", g->why);
}

struct breaker *
breaker_new(struct submitter *s)
{
	struct breaker *g = permanent_new(sizeof(*g));

	g->s = s;
	g->version = BACKEND_1_5;
	g->timer = timer_new(s, on_timer, g);
	return g;
}

void
breaker_conf(struct breaker *g)
{
	timer_after(g->timer, -1);
	g->probes = 0;
	g->failures = 0;
	g->stale = g->asking;
	if (!http_usable(g->s->http) || g->s->role.standby ||
	    conf_delivers_to_stream(&g->s->w->conf)) {
		g->down = 0;
		g->logged = BREAKER_UNUSED;
		g->state = BREAKER_UNUSED;
		return;
	}
	g->lists_failed = 0;
	/* An outage lasts until cc-backend works; why it lasts is logged again. */
	g->told[0] = '\0';
	memset(g->logged_at, 0, sizeof(g->logged_at));
	g->state = BREAKER_DOWN;
	g->clusters_at = 0;
	g->no_clusters = 0;
	timer_after(g->timer, 0);
}
