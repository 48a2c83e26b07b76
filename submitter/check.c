/* SPDX-License-Identifier: MIT */
/* The checklist of -test; see check.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/text/time_text.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/check.h"
#include "submitter/nats/nats.h"
#include "submitter/net/token_expiry.h"
#include "submitter/payload/topology.h"

#define CHECK_MS  15000 /* then what has not answered is reported */
#define NATS_MS	  200	/* between two looks at the connection */
#define NATS_WAIT 3000	/* for the first connection; a failure may be passing */
#define NAMES_MAX 400	/* bytes of a list of clusters */
#define PROBE_MAX 256	/* bytes of the probe */

static struct {
	struct submitter *s;
	uint64_t request;
	long long began;  /* clock_ms() */
	int asks_backend; /* a request is under way */
	int has_clusters; /* cc-backend has answered with its clusters */
	int asks_nats;
	int with_rest;	   /* ccRestSubmitJobs */
	char streams[400]; /* of struct check_conf, as version */
	char version[17];
	struct event *timer; /* deadline, and NATS */
} check;

static void
check_end(void)
{
	if (check.asks_backend || check.asks_nats)
		return;
	timer_after(check.timer, -1);
	worker_ctl_end(check.s->w, check.request, CTL_OK, NULL);
}

/* The command or key that corrects the cause of this answer. */
static const char *
remedy(enum result_code code)
{
	switch (code) {
	case RESULT_UNAUTHORIZED:
		return "write a token of a user with the role api to ccRestJwt "
		       "or to the file of ccRestJwtFile; in cc-backend, run: "
		       "cc-backend -jwt USER";
	case RESULT_WRONG_ADDRESS:
		return "correct ccRestUrl, or set ccRestSubmitJobs to false if "
		       "cc-backend accepts jobs only by NATS";
	default:
		return "on the host of cc-backend, run: systemctl status "
		       "cc-backend; or correct ccRestUrl";
	}
}

/* A token that is not valid for long is a warning. */
static const char *
token_text(const struct token_expiry *e, char *buf, size_t size)
{
	int64_t left = e->expires - time(NULL);

	if (e->kind == TOKEN_EXPIRES && left > 0)
		snprintf(buf, size, "the token is valid for %s",
		    duration_text(left * 1000));
	else if (e->kind == TOKEN_ENDLESS)
		snprintf(buf, size, "the token does not expire");
	else {
		snprintf(buf, size, "token: ");
		token_expiry_text(e, time(NULL), buf + strlen(buf),
		    size - strlen(buf));
	}
	return buf;
}

static void
backend_bad(const struct result *v)
{
	struct submitter *s = check.s;
	char token[128];

	check.asks_backend = 0;
	worker_check(s->w, check.request, "warn",
	    "cc-backend at %s: %s%s%s; all runs are kept until it accepts them; "
	    "%s",
	    http_where(s->http), v->text,
	    v->code == RESULT_UNAUTHORIZED ? "; " : "",
	    v->code == RESULT_UNAUTHORIZED ?
		token_text(http_token_expiry(s->http), token, sizeof(token)) :
		"",
	    remedy(v->code));
	check_end();
}

static void
backend_good(const char *version)
{
	struct submitter *s = check.s;
	const struct token_expiry *e = http_token_expiry(s->http);
	int is_valid = token_stage(e, time(NULL)) == TOKEN_VALID;
	char names[NAMES_MAX], token[128];

	check.asks_backend = 0;
	topology_names(s->topology, names, sizeof(names));
	worker_check(s->w, check.request, is_valid ? "ok" : "warn",
	    "cc-backend %s at %s: has the clusters %s; %s%s%s", version,
	    http_where(s->http), names, token_text(e, token, sizeof(token)),
	    is_valid ? "" : "; ", is_valid ? "" : remedy(RESULT_UNAUTHORIZED));
	check_end();
}

/* Reports a ccBackendVersion that is not the version of cc-backend. */
static void
pin_report(enum backend found)
{
	const char *pin = check.version;

	if (strcmp(pin, "auto") != 0 &&
	    strcmp(breaker_version_text(backend_of(pin)),
		breaker_version_text(found)) != 0)
		worker_check(check.s->w, check.request, "warn",
		    "ccBackendVersion is %s, and cc-backend is version %s: "
		    "starts can be rejected; remove the key",
		    pin, breaker_version_text(found));
}

static void
on_probe(const struct http_answer *a, void *arg)
{
	struct result v;

	(void)arg;
	if (!check.asks_backend)
		return; /* after the deadline */
	response_classify(a, &v);
	if ((v.code == RESULT_DONE || v.code == RESULT_REJECTED) && v.told)
		pin_report(v.backend);
	if (v.code == RESULT_DONE || v.code == RESULT_REJECTED)
		backend_good(v.told ? breaker_version_text(v.backend) :
				      "of unknown version");
	else
		backend_bad(&v);
}

static void
request_failed(void)
{
	struct result v = { .code = RESULT_UNREACHABLE,
		.text = "out of memory" };

	backend_bad(&v);
}

/* An invalid start, as the service sends it to find the version. */
static void
probe_send(void)
{
	struct writer body;
	struct http_request req = { .what = REQUEST_PROBE,
		.method = "POST",
		.path = "jobs/start_job/",
		.body = &body,
		.done = on_probe };

	wr_init(&body, PROBE_MAX);
	wr_mem(&body, breaker_probe, strlen(breaker_probe));
	if (http_send(check.s->http, &req) == -1)
		request_failed();
	wr_clear(&body);
}

static void
on_clusters(const struct http_answer *a, void *arg)
{
	struct submitter *s = check.s;
	char reason[256] = "the answer is empty";
	struct result v;

	(void)arg;
	if (!check.asks_backend)
		return; /* after the deadline */
	response_classify(a, &v);
	if (v.code != RESULT_DONE) {
		backend_bad(&v);
		return;
	}
	if (a->body == NULL ||
	    topology_load(s->topology, a->body, a->len, reason,
		sizeof(reason)) == -1) {
		v.code = RESULT_WRONG_ADDRESS;
		snprintf(v.text, sizeof(v.text),
		    "the list of clusters is not valid: %s", reason);
		backend_bad(&v);
		return;
	}
	check.has_clusters = 1;
	if (check.with_rest)
		probe_send();
	else
		backend_good("(jobs are sent by NATS only)");
}

static void
clusters_send(void)
{
	struct http_request req = { .what = REQUEST_CLUSTERS,
		.method = "GET",
		.path = "clusters/",
		.done = on_clusters };

	if (http_send(check.s->http, &req) == -1)
		request_failed();
}

/* --- NATS --- */

static void
on_published(uint64_t token, enum nats_result result, const char *why,
    void *arg)
{
	/* Nothing is published. */
	(void)token;
	(void)result;
	(void)why;
	(void)arg;
}

static void
nats_report(void)
{
	struct submitter *s = check.s;
	struct nats_status st;
	int up = nats_is_up(s->nats);

	nats_status(s->nats, &st);
	worker_check(s->w, check.request, up ? "ok" : "warn", "NATS: %s%s%s",
	    st.broker.text,
	    up ? "" :
		 "; on the host of the broker, run: systemctl status "
		 "nats-server; or correct natsServer and the login",
	    check.streams);
	check.asks_nats = 0;
	check_end();
}

static void
on_nats_up(int up, void *arg)
{
	(void)up;
	(void)arg;
	if (check.asks_nats)
		nats_report();
}

static void
nats_begin(struct nats_conf *nats)
{
	struct submitter *s = check.s;

	s->nats = nats_new(s->w->base, s->resolver, on_published, on_nats_up,
	    NULL);
	if (s->nats == NULL)
		fatalx("out of memory");
	nats_use(s->nats, nats);
}

/* --- begin and end --- */

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct result v = { .code = RESULT_UNREACHABLE };
	long long age = clock_ms() - check.began;

	(void)fd;
	(void)what;
	(void)arg;
	timer_after(check.timer, NATS_MS);
	if (check.asks_nats && age >= NATS_WAIT)
		nats_report();
	if (check.asks_backend && age >= CHECK_MS) {
		snprintf(v.text, sizeof(v.text), "no answer within %d s",
		    CHECK_MS / 1000);
		backend_bad(&v);
	}
}

void
check_begin(struct submitter *s, uint64_t request,
    const struct check_conf *conf)
{
	check.s = s;
	check.request = request;
	check.began = clock_ms();
	check.with_rest = conf->with_rest;
	check.timer = timer_new(s, on_timer, NULL);
	s->payload = conf->payload;
	http_use(s->http, conf->http);
	check.asks_backend = conf->streams[0] == '\0' && http_usable(s->http);
	memcpy(check.streams, conf->streams, sizeof(check.streams));
	memcpy(check.version, conf->version, sizeof(check.version));
	check.asks_nats = conf->with_nats;
	if (conf->with_nats)
		nats_begin(conf->nats);
	else
		nats_conf_free(conf->nats);
	timer_after(check.timer, NATS_MS);
	if (check.asks_backend)
		clusters_send();
	else {
		if (check.with_rest)
			worker_check(s->w, request, "warn",
			    "ccRestUrl is not set: all runs are kept in the "
			    "spool; set ccRestUrl to the address of cc-backend");
		check_end();
	}
}

void
check_cluster(struct submitter *s, uint64_t request, const char *cluster)
{
	const char *name;
	char names[NAMES_MAX];

	if (check.has_clusters) {
		name = payload_cluster(s->payload, cluster);
		topology_names(s->topology, names, sizeof(names));
		if (topology_has(s->topology, name))
			worker_check(s->w, request, "ok",
			    "cc-backend has the cluster %s", name);
		else
			worker_check(s->w, request, "warn",
			    "cc-backend does not have the cluster %s, it has "
			    "%s: its jobs are rejected; add the cluster to "
			    "cc-backend, or set \"clusterNames\": {\"%s\": "
			    "\"name in cc-backend\"}",
			    name, names, cluster);
	}
	worker_ctl_end(s->w, request, CTL_OK, NULL);
}
