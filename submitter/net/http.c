/* SPDX-License-Identifier: MIT */
/*
 * Requests to cc-backend; see http.h.  The event loop drives libcurl.  libcurl
 * gets addresses from resolver.h, certificates from memory and nothing from the
 * environment, so it needs neither files nor threads in the chroot.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/model/destination.h"
#include "common/net/resolver.h"
#include "submitter/net/http_private.h"

#define NAME_AGE_MS 60000 /* until the host's name is resolved again */

struct http_client {
	struct event_base *base;
	struct resolver *resolver;
	struct http_conf *conf;
	CURLM *multi;
	struct event *timer;	   /* of libcurl */
	struct event *later;	   /* ends the calls in failed */
	struct http_call *waiting; /* for the address, in order */
	struct http_call **waiting_end;
	struct http_call *failed;
	LIST_HEAD(http_calls, http_call) running; /* libcurl has them */
	int64_t until;				  /* see http_fence() */
	unsigned writes;			  /* of busy */
	int64_t
	    unsure; /* CLOCK_BOOTTIME, ms: a write ended without an answer */
	void (*quiet)(void *arg); /* http_on_quiet(); NULL = not called */
	void *quiet_arg;
	struct resolver_query *query;
	char *resolve;	    /* host:port:address,...; owned */
	long long resolved; /* clock_ms() */
	unsigned busy;
	char why[160]; /* why the name was not resolved */
};

static void
call_free(struct http_call *c)
{
	if (c->runs)
		LIST_REMOVE(c, link);
	if (c->easy != NULL)
		curl_easy_cleanup(c->easy);
	curl_slist_free_all(c->resolve);
	http_conf_free(c->conf);
	wr_clear(&c->body);
	wr_clear(&c->answer);
	free(c->url);
	free(c);
}

static void
quiet_check(struct http_client *r)
{
	void (*quiet)(void *arg) = r->quiet;

	if (r->writes > 0 || quiet == NULL)
		return;
	r->quiet = NULL;
	quiet(r->quiet_arg);
}

/*
 * A write that libcurl has sent twice on two connections, or that a proxy has
 * given up, may be under way in cc-backend.
 */
static void
write_ended(struct http_client *r, const struct http_answer *a)
{
	r->writes--;
	if (a->code == 0 || a->code >= 500 || a->sends > 1)
		r->unsure = clock_boot_ms();
}

/* Ends and frees a call; every call ends here. */
static void
call_end(struct http_call *c, long code, const char *error)
{
	struct http_client *r = c->http;
	struct http_answer a = { .what = c->what,
		.code = code,
		.error = error,
		.body = (const char *)c->answer.buf,
		.len = c->answer.len,
		.sends = c->sends };
	long made = 0;

	if (c->easy != NULL &&
	    curl_easy_getinfo(c->easy, CURLINFO_NUM_CONNECTS, &made) ==
		CURLE_OK)
		a.new_connection = made > 0;

	r->busy--;
	if (!http_is_read(c->what))
		write_ended(r, &a);
	c->done(&a, c->arg);
	call_free(c);
	quiet_check(r);
}

static void
fail_later(struct http_client *r, struct http_call *c, const char *why)
{
	c->broken = why;
	c->next = r->failed;
	r->failed = c;
	event_active(r->later, EV_TIMEOUT, 1);
}

/* The time is over, or what remains of it is too short for a write. */
static int
is_fenced(const struct http_client *r, enum request_kind what)
{
	return r->until != HTTP_NO_FENCE &&
	    r->until - clock_boot_ms() <
	    (http_is_read(what) ? 1 : HTTP_FENCE_LEAST);
}

/*
 * Called before each step of libcurl.  The limit of a write in libcurl does not
 * include the time of a suspended host.
 */
static void
fence_check(struct http_client *r)
{
	struct http_call *c, *next;

	if (r->until == HTTP_NO_FENCE || clock_boot_ms() < r->until)
		return;
	for (c = LIST_FIRST(&r->running); c != NULL; c = next) {
		next = LIST_NEXT(c, link);
		if (http_is_read(c->what) || c->broken != NULL)
			continue;
		curl_multi_remove_handle(r->multi, c->easy);
		fail_later(r, c, "this centre is not active any more");
	}
}

void
http_fence(struct http_client *r, int64_t until)
{
	r->until = until;
	fence_check(r);
}

void
http_on_quiet(struct http_client *r, void (*quiet)(void *arg), void *arg)
{
	r->quiet = quiet;
	r->quiet_arg = arg;
	quiet_check(r);
}

int
http_all_answered(const struct http_client *r, int64_t ms)
{
	return r->writes == 0 && clock_boot_ms() - r->unsure >= ms;
}

static void
call_begin(struct http_client *r, struct http_call *c)
{
	if (is_fenced(r, c->what)) {
		fail_later(r, c, "this centre is not active any more");
		return;
	}
	if (r->until != HTTP_NO_FENCE) {
		c->fenced = 1;
		c->limit = (long)(r->until - clock_boot_ms());
	}
	c->easy = curl_easy_init();
	if (c->easy == NULL) {
		fail_later(r, c, "out of memory");
		return;
	}
	if (r->resolve != NULL) {
		c->resolve = curl_slist_append(NULL, r->resolve);
		curl_easy_setopt(c->easy, CURLOPT_RESOLVE, c->resolve);
	}
	http_call_set(c);
	if (curl_multi_add_handle(r->multi, c->easy) != CURLM_OK)
		fail_later(r, c, "libcurl rejected the request");
	else {
		LIST_INSERT_HEAD(&r->running, c, link);
		c->runs = 1;
	}
}

static void
multi_finish(struct http_client *r)
{
	struct http_call *c;
	const char *why;
	CURLMsg *m;
	CURLcode rc;
	long code;
	int left;

	while ((m = curl_multi_info_read(r->multi, &left)) != NULL) {
		if (m->msg != CURLMSG_DONE)
			continue;
		rc = m->data.result;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &c);
		code = 0;
		curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &code);
		curl_multi_remove_handle(r->multi, c->easy);
		why = NULL;
		if (rc != CURLE_OK)
			why = c->broken != NULL ? c->broken :
			    c->error[0] != '\0' ? c->error :
						  curl_easy_strerror(rc);
		call_end(c, code, why);
	}
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct http_client *r = arg;
	int running;

	fence_check(r);
	curl_multi_socket_action(r->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	multi_finish(r);
}

static void
on_ready(evutil_socket_t fd, short what, void *arg)
{
	struct http_client *r = arg;
	int running, flags = 0;

	if (what & EV_READ)
		flags |= CURL_CSELECT_IN;
	if (what & EV_WRITE)
		flags |= CURL_CSELECT_OUT;
	fence_check(r);
	curl_multi_socket_action(r->multi, fd, flags, &running);
	multi_finish(r);
}

/* Called by libcurl: set its timer to ms; -1 = stop it. */
static int
set_timer(CURLM *multi, long ms, void *arg)
{
	struct http_client *r = arg;
	struct timeval tv = clock_timeval(ms);

	if (ms < 0)
		event_del(r->timer);
	else
		event_add(r->timer, &tv);
	return 0;
}

static int
set_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *assigned)
{
	struct http_client *r = arg;
	struct event *ev = assigned;
	short flags = EV_PERSIST;

	if (ev != NULL)
		event_free(ev);
	ev = NULL;
	if (what != CURL_POLL_REMOVE) {
		if (what & CURL_POLL_IN)
			flags |= EV_READ;
		if (what & CURL_POLL_OUT)
			flags |= EV_WRITE;
		ev = event_new(r->base, fd, flags, on_ready, r);
		if (ev == NULL || event_add(ev, NULL) == -1)
			return -1;
	}
	curl_multi_assign(r->multi, fd, ev);
	return 0;
}

static void
on_later(evutil_socket_t fd, short what, void *arg)
{
	struct http_client *r = arg;
	struct http_call *c, *all = r->failed;

	r->failed = NULL;
	while ((c = all) != NULL) {
		all = c->next;
		call_end(c, 0, c->broken);
	}
}

static struct http_call *
waiting_take(struct http_client *r)
{
	struct http_call *all = r->waiting;

	r->waiting = NULL;
	r->waiting_end = &r->waiting;
	return all;
}

/* Sets host:port:address,... for CURLOPT_RESOLVE.  0 or -1. */
static int
resolve_set(struct http_client *r, const struct resolver_answer *answer)
{
	char line[NAMES_ADDRS_MAX * (NAMES_ADDR_MAX + 3) + 300];
	char *copy;
	size_t n;
	unsigned i;

	n = (size_t)snprintf(line, sizeof(line), "%s:%ld:", r->conf->host,
	    r->conf->port);
	for (i = 0; i < answer->n && n < sizeof(line); i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s",
		    i > 0 ? "," : "", answer->addrs[i]);
	if (n >= sizeof(line) || (copy = strdup(line)) == NULL)
		return -1;
	free(r->resolve);
	r->resolve = copy;
	r->resolved = clock_ms();
	return 0;
}

static void
on_name(const struct resolver_answer *answer, void *arg)
{
	struct http_client *r = arg;
	struct http_call *c, *all;

	r->query = NULL;
	if (answer->n > 0 && resolve_set(r, answer) == 0)
		r->why[0] = '\0';
	else
		snprintf(r->why, sizeof(r->why),
		    "the name %.60s cannot be resolved: %.40s", r->conf->host,
		    answer->why != NULL ? answer->why : "no address");
	all = waiting_take(r);
	while ((c = all) != NULL) {
		all = c->next;
		if (r->resolve != NULL)
			call_begin(r, c);
		else
			fail_later(r, c, r->why);
	}
}

static void
name_ask(struct http_client *r)
{
	struct resolver_query *q;

	if (r->query != NULL)
		return;
	q = resolver_resolve(r->resolver, r->conf->host, on_name, r);
	/* NULL: on_name() was called. */
	if (q != NULL)
		r->query = q;
}

static char *
url_make(const struct http_conf *rc, const char *path)
{
	char *url;

	return asprintf(&url, "%s%s", rc->base, path) == -1 ? NULL : url;
}

int
http_send(struct http_client *r, struct http_request *req)
{
	struct http_call *c = calloc(1, sizeof(*c));

	if (c == NULL || !http_usable(r) || is_fenced(r, req->what) ||
	    (c->url = url_make(r->conf, req->path)) == NULL) {
		free(c);
		return -1;
	}
	c->http = r;
	c->conf = http_conf_ref(r->conf);
	c->what = req->what;
	c->method = req->method;
	c->data = req->data;
	c->done = req->done;
	c->arg = req->arg;
	wr_init(&c->answer, READ_MAX);
	wr_init(&c->body, 0);
	if (req->body != NULL) {
		c->body = *req->body;
		wr_init(req->body, req->body->max);
	}
	r->busy++;
	r->writes += !http_is_read(c->what);
	if (r->conf->literal || r->resolve != NULL) {
		call_begin(r, c);
		if (!r->conf->literal && clock_ms() - r->resolved > NAME_AGE_MS)
			name_ask(r);
		return 0;
	}
	*r->waiting_end = c;
	r->waiting_end = &c->next;
	name_ask(r);
	return 0;
}

void
http_forget(struct http_client *r)
{
	if (!http_usable(r) || r->conf->literal)
		return;
	resolver_forget(r->resolver, r->conf->host);
	r->resolved = 0;
}

static CURLM *
multi_new(struct http_client *r)
{
	CURLM *m = curl_multi_init();

	if (m == NULL)
		return NULL;
	curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(m, CURLMOPT_SOCKETDATA, r);
	curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(m, CURLMOPT_TIMERDATA, r);
	curl_multi_setopt(m, CURLMOPT_MAX_HOST_CONNECTIONS,
	    (long)HTTP_CONNECTIONS);
	curl_multi_setopt(m, CURLMOPT_MAX_TOTAL_CONNECTIONS,
	    (long)HTTP_CONNECTIONS);
	curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, (long)HTTP_CONNECTIONS);
	curl_multi_setopt(m, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	return m;
}

struct http_client *
http_new(struct event_base *base, struct resolver *names)
{
	struct http_client *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->base = base;
	r->resolver = names;
	r->until = HTTP_NO_FENCE;
	r->unsure = clock_boot_ms();
	r->waiting_end = &r->waiting;
	r->timer = evtimer_new(base, on_timer, r);
	r->later = evtimer_new(base, on_later, r);
	r->multi = multi_new(r);
	if (r->timer == NULL || r->later == NULL || r->multi == NULL) {
		http_free(r);
		return NULL;
	}
	return r;
}

/* Running requests are not freed: for the end of the process only. */
void
http_free(struct http_client *r)
{
	if (r == NULL)
		return;
	resolver_cancel(r->query);
	if (r->multi != NULL && r->busy == 0)
		curl_multi_cleanup(r->multi);
	if (r->timer != NULL)
		event_free(r->timer);
	if (r->later != NULL)
		event_free(r->later);
	http_conf_free(r->conf);
	free(r->resolve);
	free(r);
}

void
http_use(struct http_client *r, struct http_conf *rc)
{
	struct http_call *c, *all;

	if (http_conf_equal(r->conf, rc)) {
		http_conf_free(rc);
		return;
	}
	all = waiting_take(r);
	resolver_cancel(r->query);
	r->query = NULL;
	free(r->resolve);
	r->resolve = NULL;
	http_conf_free(r->conf);
	r->conf = rc;
	/* The calls that wait have the old address. */
	while ((c = all) != NULL) {
		all = c->next;
		fail_later(r, c, "the address was changed");
	}
}

int
http_usable(const struct http_client *r)
{
	return http_conf_usable(r->conf);
}

unsigned
http_busy(const struct http_client *r)
{
	return r->busy;
}

int
http_token_in_clear(const struct http_client *r)
{
	struct destination d;

	return http_usable(r) && r->conf->auth != NULL &&
	    destination_parse_url(&d, r->conf->base) == 0 && !d.tls &&
	    !host_is_local(d.host);
}

const struct token_expiry *
http_token_expiry(const struct http_client *r)
{
	static const struct token_expiry none = { .kind = TOKEN_NONE };

	/* Without an address the token is not sent. */
	return http_usable(r) ? &r->conf->expiry : &none;
}

const char *
http_where(const struct http_client *r)
{
	return http_usable(r) ? r->conf->where : "no address";
}
