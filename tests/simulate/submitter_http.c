/* SPDX-License-Identifier: MIT */
/*
 * The submitter's HTTP client in the simulation: the functions of submitter/net
 * on the simulated network.
 */
#include "config.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submitter/net/http.h"
#include "tests/simulate/backend.h"
#include "tests/simulate/world.h"

#define WRITE_MS 30000 /* as submitter/net/http_call.c */
#define READ_MS	 120000
/* More at once would be a queue without a limit. */
#define BUSY_MAX (HTTP_IN_FLIGHT + 24)
#define PIECE	 700 /* bytes of a body that is passed on in parts */

struct http_conf {
	int usable;
	struct token_expiry expiry;
};

struct http_client {
	struct http_conf *conf;
	unsigned busy;
};

struct call {
	struct http_client *http;
	enum request_kind what;
	http_data_fn *data;
	http_done_fn *done;
	void *arg;
};

void
http_prepare(void)
{
}

struct http_conf *
http_conf_new(const struct conf *conf, const uint8_t *secrets, size_t len,
    char *reason, size_t size)
{
	struct http_conf *rc = world_alloc(sizeof(*rc));

	(void)secrets;
	(void)len;
	(void)reason;
	(void)size;
	rc->usable = *conf_str(conf, CONF_CC_REST_URL) != '\0';
	rc->expiry.kind = TOKEN_ENDLESS;
	return rc;
}

void
http_conf_free(struct http_conf *rc)
{
	free(rc);
}

int
http_conf_usable(const struct http_conf *rc)
{
	return rc != NULL && rc->usable;
}

const char *
http_ca(const struct http_conf *rc, size_t *len)
{
	(void)rc;
	*len = 0;
	return NULL;
}

int
http_conf_equal(const struct http_conf *a, const struct http_conf *b)
{
	return a != NULL && b != NULL && a->usable == b->usable;
}

struct http_client *
http_new(struct event_base *base, struct resolver *names)
{
	(void)base;
	(void)names;
	return world_alloc(sizeof(struct http_client));
}

void
http_free(struct http_client *r)
{
	free(r);
}

void
http_use(struct http_client *r, struct http_conf *rc)
{
	http_conf_free(r->conf);
	r->conf = rc;
}

int
http_usable(const struct http_client *r)
{
	return http_conf_usable(r->conf);
}

/* The simulated centre has no activeOnly. */
void
http_fence(struct http_client *r, int64_t until)
{
	(void)r;
	(void)until;
}

void
http_on_quiet(struct http_client *r, void (*quiet)(void *arg), void *arg)
{
	(void)r;
	(void)quiet;
	(void)arg;
}

int
http_all_answered(const struct http_client *r, int64_t ms)
{
	(void)r;
	(void)ms;
	return 0;
}

unsigned
http_busy(const struct http_client *r)
{
	return r->busy;
}

void
http_forget(struct http_client *r)
{
	(void)r;
}

int
http_token_in_clear(const struct http_client *r)
{
	(void)r;
	return 0;
}

const struct token_expiry *
http_token_expiry(const struct http_client *r)
{
	static const struct token_expiry none = { .kind = TOKEN_NONE };

	return http_usable(r) ? &r->conf->expiry : &none;
}

const char *
http_where(const struct http_client *r)
{
	return http_usable(r) ? "cc-backend:443" : "no address";
}

/* Passes a body on in parts.  0, or -1 when the receiver refuses it. */
static int
body_pass(struct call *c, const char *body, size_t n)
{
	size_t at, piece;

	for (at = 0; at < n; at += piece) {
		piece = n - at < PIECE ? n - at : PIECE;
		if (c->data(body + at, piece, c->arg) == -1)
			return -1;
	}
	return 0;
}

static void
on_end(void *arg, int code, const char *body, size_t n, const char *error,
    unsigned sends)
{
	struct call *c = arg;
	struct http_answer a = { .what = c->what,
		.code = code,
		.body = body,
		.len = n,
		.error = error,
		.sends = sends,
		.new_connection = error != NULL };

	if (c->data != NULL && code == 200) {
		if (body_pass(c, body, n) == -1) {
			a.code = 0;
			a.error = "the answer does not have the expected form";
		}
		a.body = NULL;
		a.len = 0;
	}
	c->http->busy--;
	c->done(&a, c->arg);
	free(c);
}

int
http_send(struct http_client *r, struct http_request *req)
{
	int is_read = req->what == REQUEST_LIST ||
	    req->what == REQUEST_CLUSTERS;
	struct call *c = world_alloc(sizeof(*c));
	char path[700];

	c->http = r;
	c->what = req->what;
	c->data = req->data;
	c->done = req->done;
	c->arg = req->arg;
	r->busy++;
	invariant(r->busy <= BUSY_MAX, "%u requests at once", r->busy);
	invariant((size_t)snprintf(path, sizeof(path), "/api/%s", req->path) <
		sizeof(path),
	    "a long path: %s", req->path);
	backend_request(req->method, path,
	    req->body != NULL ? (const char *)req->body->buf : NULL,
	    req->body != NULL ? req->body->len : 0,
	    is_read ? READ_MS : WRITE_MS, on_end, c);
	if (req->body != NULL)
		wr_clear(req->body);
	return 0;
}
