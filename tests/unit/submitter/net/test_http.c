/* SPDX-License-Identifier: MIT */
/*
 * Requests to an HTTP server of the test on loopback, in the same event loop:
 * what is sent, which answers are accepted, and the limits.
 */
#include "config.h"

#include <sys/socket.h>

#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include "common/clock.h"
#include "common/net/resolver.h"
#include "submitter/net/http.h"
#include "tests/unit/check.h"

#define LONG_BODY (3u * 1024 * 1024)
#define HUGE_BODY (9u * 1024 * 1024)
#define TOKEN	  "abc.def.ghi"

static struct event_base *base;
static struct http_client *http;
static struct resolver *names;
static int port;

/* What the server received last. */
static struct {
	unsigned n;
	char uri[128];
	char token[64];
	char type[64];
	char body[64];
} received;

/* What done received last. */
static struct {
	unsigned n;
	long code;
	size_t len;
	char body[64];
	char error[256];
	int new_connection;
} answered;

static void (*silent)(void); /* called instead of an answer */
static size_t streamed;
static int stream_fails;

static void
header_copy(struct evhttp_request *req, const char *name, char *buf,
    size_t size)
{
	const char *s = evhttp_find_header(evhttp_request_get_input_headers(
					       req),
	    name);

	snprintf(buf, size, "%s", s != NULL ? s : "");
}

static void
on_request(struct evhttp_request *req, void *arg)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(req);
	struct evbuffer *out;
	const char *uri = evhttp_request_get_uri(req);
	char *filler;
	size_t size;
	int n;

	(void)arg;
	received.n++;
	if (strstr(uri, "silent") != NULL) {
		if (silent != NULL)
			silent();
		return; /* freed with its connection */
	}
	out = evbuffer_new();
	snprintf(received.uri, sizeof(received.uri), "%s", uri);
	header_copy(req, "X-Auth-Token", received.token,
	    sizeof(received.token));
	header_copy(req, "Content-Type", received.type, sizeof(received.type));
	n = evbuffer_remove(in, received.body, sizeof(received.body) - 1);
	received.body[n > 0 ? n : 0] = '\0';
	if (strstr(uri, "long") != NULL || strstr(uri, "huge") != NULL) {
		size = strstr(uri, "huge") != NULL ? HUGE_BODY : LONG_BODY;
		filler = calloc(1, size);
		evbuffer_add(out, filler, size);
		free(filler);
	} else
		evbuffer_add_printf(out, "hello");
	if (strstr(uri, "moved") != NULL)
		evhttp_add_header(evhttp_request_get_output_headers(req),
		    "Location", "/api/elsewhere");
	evhttp_send_reply(req,
	    strstr(uri, "moved") != NULL       ? 302 :
		strstr(uri, "bad") != NULL     ? 400 :
		strstr(uri, "gateway") != NULL ? 504 :
						 200,
	    "x", out);
	evbuffer_free(out);
}

static void
on_done(const struct http_answer *a, void *arg)
{
	size_t n = a->len < sizeof(answered.body) ? a->len :
						    sizeof(answered.body) - 1;

	(void)arg;
	answered.n++;
	answered.code = a->code;
	answered.len = a->len;
	answered.new_connection = a->new_connection;
	if (n > 0)
		memcpy(answered.body, a->body, n);
	answered.body[n] = '\0';
	snprintf(answered.error, sizeof(answered.error), "%s",
	    a->error != NULL ? a->error : "");
	if (http_busy(http) == 0)
		event_base_loopbreak(base);
}

static int
on_data(const char *p, size_t n, void *arg)
{
	(void)p;
	(void)arg;
	streamed += n;
	return stream_fails ? -1 : 0;
}

/* Sends one request and waits for its end. */
static void
sent(enum request_kind what, const char *method, const char *path,
    const char *body, http_data_fn *data)
{
	struct http_request req = { .what = what,
		.method = method,
		.path = path,
		.data = data,
		.done = on_done };
	struct timeval limit = { 60, 0 };
	struct writer w;

	memset(&answered, 0, sizeof(answered));
	memset(&received, 0, sizeof(received));
	streamed = 0;
	wr_init(&w, 4096);
	if (body != NULL) {
		wr_mem(&w, body, strlen(body));
		req.body = &w;
	}
	CHECK_INT(http_send(http, &req), 0);
	CHECK_INT(w.len, 0);
	event_base_loopexit(base, &limit);
	event_base_dispatch(base);
	CHECK_INT(answered.n, 1);
	wr_clear(&w);
}

/* The configuration, or NULL with the reason in why. */
static struct http_conf *
made_if(const char *submits, const char *url, const char *token, char *why,
    size_t size)
{
	struct http_conf *rc;
	struct conf conf;
	struct writer w;

	conf_init(&conf);
	conf_set(&conf, CONF_CC_REST_URL, url);
	conf_set(&conf, CONF_CC_REST_SUBMIT, submits);
	wr_init(&w, CONF_SECRETS_MAX);
	wr_u16(&w, CONF_CC_REST_JWT);
	wr_blob(&w, token, strlen(token));
	why[0] = '\0';
	rc = http_conf_new(&conf, w.buf, w.len, why, size);
	wr_clear(&w);
	conf_clear(&conf);
	return rc;
}

static struct http_conf *
made(const char *url, const char *token, char *why, size_t size)
{
	return made_if("true", url, token, why, size);
}

static void
use(const char *host)
{
	struct http_conf *rc;
	char url[128], why[128];

	snprintf(url, sizeof(url), "http://%s:%d", host, port);
	rc = made(url, TOKEN "\n", why, sizeof(why));
	CHECK(rc != NULL);
	http_use(http, rc);
}

static void
check_conf(void)
{
	static const struct {
		const char *url, *token, *why;
	} refused[] = {
		{ "ftp://a", TOKEN, "ccRestUrl must begin with http" },
		{ "http://u:p@a", TOKEN, "the only login is ccRestJwt" },
		{ "http://a:99999", TOKEN, "ccRestUrl is not an address" },
		{ "http://a", "two words", "ccRestJwt: " },
		{ "http://a", "a\x80", "ccRestJwt: " },
	};
	struct http_conf *a, *b;
	char why[128];
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		CHECK(made(refused[i].url, refused[i].token, why,
			  sizeof(why)) == NULL);
		CHECK(strstr(why, refused[i].why) != NULL);
		CHECK(strstr(why, "two words") == NULL);
	}
	a = made("", "", why, sizeof(why));
	CHECK(a != NULL && !http_conf_usable(a));
	http_conf_free(a);
	/* The parser of the configuration only warns of this one. */
	a = made_if("false", "http://u:p@a", TOKEN, why, sizeof(why));
	CHECK(a != NULL && !http_conf_usable(a));
	http_conf_free(a);
	/* The path may or may not end with api/. */
	a = made("https://a/cc/", TOKEN, why, sizeof(why));
	b = made("https://a:443/cc/api", TOKEN, why, sizeof(why));
	CHECK(http_conf_usable(a) && http_conf_equal(a, b));
	http_conf_free(b);
	b = made("https://a/cc/", TOKEN "x", why, sizeof(why));
	CHECK(!http_conf_equal(a, b));
	http_conf_free(a);
	http_conf_free(b);
	http_conf_free(NULL);
}

/* Without an address no token is sent: its expiry is no concern. */
static void
check_expiry(void)
{
	static const char expired[] = "e30.eyJleHAiOjF9.x"; /* {"exp":1} */
	char why[128];

	CHECK_INT(http_token_expiry(http)->kind, TOKEN_NONE);
	http_use(http, made("", expired, why, sizeof(why)));
	CHECK_INT(http_token_expiry(http)->kind, TOKEN_NONE);
	http_use(http, made("http://a", expired, why, sizeof(why)));
	CHECK_INT(http_token_expiry(http)->kind, TOKEN_EXPIRES);
	CHECK_INT(http_token_expiry(http)->expires, 1);
}

static void
check_sent(void)
{
	char where[64];

	use("127.0.0.1");
	snprintf(where, sizeof(where), "127.0.0.1:%d", port);
	CHECK_STR(http_where(http), where);
	sent(REQUEST_CLUSTERS, "GET", "clusters/?a=b", NULL, NULL);
	CHECK_INT(answered.code, 200);
	CHECK_STR(answered.body, "hello");
	CHECK_STR(answered.error, "");
	CHECK(answered.new_connection);
	CHECK_STR(received.uri, "/api/clusters/?a=b");
	CHECK_STR(received.token, TOKEN);
	sent(REQUEST_STOP, "POST", "jobs/stop_job/", "{\"a\":1}", NULL);
	CHECK_INT(answered.code, 200);
	CHECK(!answered.new_connection);
	CHECK_STR(received.type, "application/json");
	CHECK_STR(received.body, "{\"a\":1}");
	/* A redirect is an answer; the token is not sent elsewhere. */
	sent(REQUEST_START, "POST", "moved", "{}", NULL);
	CHECK_INT(answered.code, 302);
	CHECK_INT(received.n, 1);
}

static void
check_limits(void)
{
	sent(REQUEST_START, "POST", "long", "{}", NULL);
	CHECK_STR(answered.error, "the answer is too long");
	/* cc-backend returns a run of many nodes. */
	sent(REQUEST_STOP, "POST", "long", "{}", NULL);
	CHECK_STR(answered.error, "");
	CHECK_INT(answered.len, LONG_BODY);
	sent(REQUEST_META, "POST", "long", "{}", NULL);
	CHECK_STR(answered.error, "");
	CHECK_INT(answered.len, LONG_BODY);
	sent(REQUEST_META, "POST", "huge", "{}", NULL);
	CHECK_STR(answered.error, "");
	CHECK(answered.len > LONG_BODY && answered.len < HUGE_BODY / 2);
	/* Another limit for the clusters; an error page is cut. */
	sent(REQUEST_CLUSTERS, "GET", "long", NULL, NULL);
	CHECK_INT(answered.len, LONG_BODY);
	sent(REQUEST_CLUSTERS, "GET", "bad/long", NULL, NULL);
	CHECK_INT(answered.code, 400);
	CHECK(answered.len > 0 && answered.len < LONG_BODY);
	CHECK_STR(answered.error, "");
	sent(REQUEST_LIST, "GET", "long", NULL, on_data);
	CHECK_INT(streamed, LONG_BODY);
	CHECK_INT(answered.len, 0);
	/* The body of an error is not streamed. */
	sent(REQUEST_LIST, "GET", "bad", NULL, on_data);
	CHECK_INT(streamed, 0);
	CHECK_STR(answered.body, "hello");
	stream_fails = 1;
	sent(REQUEST_LIST, "GET", "long", NULL, on_data);
	CHECK_STR(answered.error, "the answer does not have the expected form");
	stream_fails = 0;
}

static void
check_names(void)
{
	static const char hosts[] = "127.0.0.1 backend.test\n";
	struct http_request req = { .what = REQUEST_LIST,
		.method = "GET",
		.path = "x",
		.done = on_done };

	use("backend.test");
	sent(REQUEST_LIST, "GET", "x", NULL, NULL);
	CHECK_INT(answered.code, 0);
	CHECK_STR(answered.error,
	    "the name backend.test cannot be resolved: "
	    "resolv.conf was not received yet");
	resolver_file(names, MSG_FILE_HOSTS, (const uint8_t *)hosts,
	    sizeof(hosts) - 1);
	sent(REQUEST_LIST, "GET", "x", NULL, NULL);
	CHECK_INT(answered.code, 200);
	http_forget(http);
	sent(REQUEST_LIST, "GET", "x", NULL, NULL);
	CHECK_INT(answered.code, 200);
	/* A name server that does not answer: a request waits for the name. */
	resolver_file(names, MSG_FILE_RESOLV_CONF,
	    (const uint8_t *)"nameserver 127.0.0.1:1\n", 23);
	use("other.test");
	memset(&answered, 0, sizeof(answered));
	CHECK_INT(http_send(http, &req), 0);
	use("127.0.0.1");
	event_base_dispatch(base);
	CHECK_STR(answered.error, "the address was changed");
}

/* Nothing listens at the port. */
static void
check_refused(struct evhttp *server, struct evhttp_bound_socket *bound)
{
	evhttp_del_accept_socket(server, bound);
	use("localhost");
	sent(REQUEST_LIST, "GET", "x", NULL, NULL);
	CHECK_INT(answered.code, 0);
	CHECK(answered.error[0] != '\0');
}

/* --- a lease --- */

static void
fence_over(void)
{
	http_fence(http, clock_boot_ms() - 1);
}

/* 0, or -1: it was not started. */
static int
started(enum request_kind what)
{
	struct http_request req = { .what = what,
		.method = "GET",
		.path = "hello",
		.done = on_done };
	int rc = http_send(http, &req);

	if (rc == 0)
		event_base_dispatch(base);
	return rc;
}

/* Writes end with the lease; what only reads needs a lease to begin. */
static void
check_fence(void)
{
	long long began;
	int i, rc = -1;

	http_fence(http, clock_boot_ms() + HTTP_FENCE_LEAST / 2);
	CHECK_INT(started(REQUEST_STOP), -1);
	CHECK_INT(started(REQUEST_PROBE), -1);
	/* what only reads begins, unless this process was not run meanwhile */
	for (i = 0; i < 20 && rc == -1; i++) {
		http_fence(http, clock_boot_ms() + HTTP_FENCE_LEAST / 2);
		rc = started(REQUEST_LIST);
	}
	CHECK_INT(rc, 0);
	http_fence(http, 0);
	CHECK_INT(started(REQUEST_LIST), -1);
	/* the limit of the request is the end of the lease */
	began = clock_boot_ms();
	http_fence(http, began + HTTP_FENCE_LEAST + 1500);
	sent(REQUEST_START, "POST", "silent", "x", NULL);
	CHECK_INT(received.n, 1);
	CHECK_INT(answered.code, 0);
	CHECK(clock_boot_ms() - began < 20000);
	/* the end comes earlier: the request under way ends at once */
	http_fence(http, clock_boot_ms() + 3600000);
	silent = fence_over;
	began = clock_boot_ms();
	sent(REQUEST_START, "POST", "silent", "x", NULL);
	CHECK_INT(received.n, 1);
	CHECK_INT(answered.code, 0);
	CHECK_STR(answered.error, "this centre is not active any more");
	CHECK(clock_boot_ms() - began < 20000);
	silent = NULL;
	http_fence(http, HTTP_NO_FENCE);
	sent(REQUEST_START, "POST", "hello", "x", NULL);
	CHECK_INT(answered.code, 200);
}

/* The lease ends while a request waits for the address: it is not sent. */
static void
fenced_by_name(enum request_kind what)
{
	char name[32], hosts[64];
	struct http_request req = { .what = what,
		.method = "GET",
		.path = "hello",
		.done = on_done };

	snprintf(name, sizeof(name), "late%d.test", (int)what);
	snprintf(hosts, sizeof(hosts), "127.0.0.1 %s\n", name);
	use(name);
	memset(&answered, 0, sizeof(answered));
	memset(&received, 0, sizeof(received));
	http_fence(http, clock_boot_ms() + 3600000);
	CHECK_INT(http_send(http, &req), 0);
	CHECK_INT(answered.n, 0);
	fence_over();
	resolver_file(names, MSG_FILE_HOSTS, (const uint8_t *)hosts,
	    strlen(hosts));
	event_base_dispatch(base);
	CHECK_INT(answered.n, 1);
	CHECK_STR(answered.error, "this centre is not active any more");
	CHECK_INT(received.n, 0);
	http_fence(http, HTTP_NO_FENCE);
	use("127.0.0.1");
}

/* --- the end of the writes --- */

static unsigned quiets;

static void
on_quiet(void *arg)
{
	CHECK_STR(arg, "arg");
	quiets++;
}

/* A write is under way. */
static void
quiet_asked(void)
{
	static char arg[] = "arg";

	http_on_quiet(http, on_quiet, arg);
	CHECK_INT(quiets, 0);
	CHECK(!http_all_answered(http, 0));
	fence_over();
}

/* ms since this call, at least 1 */
static int64_t
since(int64_t begin)
{
	while (clock_boot_ms() == begin)
		;
	return clock_boot_ms() - begin;
}

static void
check_quiet(void)
{
	static char arg[] = "arg";
	int64_t begin = clock_boot_ms();
	struct http_client *fresh = http_new(base, names);

	since(begin);
	/* not told for the time before the client */
	CHECK(fresh != NULL && !http_all_answered(fresh, begin));
	http_free(fresh);
	sent(REQUEST_START, "POST", "hello", "x", NULL);
	sent(REQUEST_START, "POST", "bad", "x", NULL);
	CHECK_INT(answered.code, 400);
	CHECK(http_all_answered(http, since(begin)));
	/* the end of a write without an answer */
	http_fence(http, clock_boot_ms() + 3600000);
	silent = quiet_asked;
	sent(REQUEST_START, "POST", "silent", "x", NULL);
	silent = NULL;
	CHECK_INT(quiets, 1);
	CHECK(http_all_answered(http, 0));
	CHECK(!http_all_answered(http, since(begin)));
	/* nothing is under way: at once, and once */
	http_on_quiet(http, on_quiet, arg);
	CHECK_INT(quiets, 2);
	http_fence(http, HTTP_NO_FENCE);
	sent(REQUEST_START, "POST", "hello", "x", NULL);
	CHECK_INT(quiets, 2);
	/* a proxy has no answer of cc-backend */
	since(begin = clock_boot_ms());
	sent(REQUEST_STOP, "POST", "gateway", "x", NULL);
	CHECK_INT(answered.code, 504);
	CHECK(!http_all_answered(http, since(begin)));
	/* what only reads does not count */
	since(begin = clock_boot_ms());
	sent(REQUEST_LIST, "GET", "gateway", NULL, NULL);
	CHECK(http_all_answered(http, since(begin)));
}

int
main(void)
{
	struct evhttp_bound_socket *bound;
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);
	struct evhttp *server;

	signal(SIGPIPE, SIG_IGN);
	http_prepare();
	resolver_prepare();
	base = event_base_new();
	names = resolver_new(base);
	http = http_new(base, names);
	server = evhttp_new(base);
	CHECK(names != NULL && http != NULL && server != NULL);
	evhttp_set_gencb(server, on_request, NULL);
	bound = evhttp_bind_socket_with_handle(server, "127.0.0.1", 0);
	CHECK(bound != NULL &&
	    getsockname(evhttp_bound_socket_get_fd(bound),
		(struct sockaddr *)&sin, &len) == 0);
	port = ntohs(sin.sin_port);
	CHECK(!http_usable(http));
	check_conf();
	check_expiry();
	check_sent();
	check_limits();
	check_names();
	check_fence();
	fenced_by_name(REQUEST_START);
	fenced_by_name(REQUEST_LIST);
	check_quiet();
	check_refused(server, bound);
	http_free(http);
	http_free(NULL);
	resolver_free(names);
	evhttp_free(server);
	event_base_free(base);
	return check_done();
}
