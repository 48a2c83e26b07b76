/* SPDX-License-Identifier: MIT */
/*
 * HTTP client of cc-backend: libcurl's multi interface in the event loop.  Few
 * connections, answers and times are bounded.  Has the token and the
 * certificates.  backend/response.c decides what an answer means.
 */
#ifndef SUBMITTER_NET_HTTP_H
#define SUBMITTER_NET_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/model/conf.h"
#include "submitter/net/token_expiry.h"
#include "submitter/payload/backend_version.h"

struct event_base;
struct resolver;
struct http_client;
struct http_conf;

#define HTTP_CONNECTIONS 4 /* more are not faster (measured) */
#define HTTP_IN_FLIGHT	 8 /* writes, sent or waiting for a connection */

/* The kinds of requests. */
enum request_kind {
	REQUEST_PROBE,	  /* an invalid start: its answer tells the version */
	REQUEST_CLUSTERS, /* GET clusters/ */
	REQUEST_START,	  /* start_job/ */
	REQUEST_STOP,	  /* stop_job/ */
	REQUEST_LIST,	  /* GET jobs/ */
	REQUEST_NODES,	  /* nodestate/ */
	REQUEST_META,	  /* edit_meta/ */
	REQUEST_DELETE,	  /* delete_job/ */
	REQUEST__COUNT
};

/* One answer.  code 0: there is no answer, error has the reason. */
struct http_answer {
	enum request_kind what;
	long code;	  /* HTTP status */
	const char *body; /* borrowed, without NUL; may be NULL */
	size_t len;
	const char *error;    /* of the transport; NULL = none */
	enum backend backend; /* version, set by the caller of http_send() */
	unsigned sends;	      /* times sent; 0 = unknown */
	/* 1 = a connection was made for the request */
	int new_connection;
};

/* The end of a request.  Borrows a; a streamed body is not in it. */
typedef void http_done_fn(const struct http_answer *a, void *arg);
/* A part of the body of a 200.  0, or -1 to end the request with an error. */
typedef int http_data_fn(const char *p, size_t n, void *arg);

struct http_request {
	enum request_kind what;
	const char *method;  /* "GET", "POST", ... */
	const char *path;    /* below /api/, with its query string; copied */
	struct writer *body; /* taken and left empty; NULL = none */
	http_data_fn *data;  /* NULL = done gets the whole body */
	http_done_fn *done;
	void *arg;
};

/* Loads libcurl, TLS, certificates.  Call it before the sandbox closes. */
void http_prepare(void);

/*
 * Reads address, token and certificates.  NULL with a reason.  Without
 * ccRestUrl the result is not usable.
 */
struct http_conf *http_conf_new(const struct conf *conf, const uint8_t *secrets,
    size_t len, char *reason, size_t size);
/* Wipes the token; NULL is fine. */
void http_conf_free(struct http_conf *rc);
/* 1 when ccRestUrl is set. */
int http_conf_usable(const struct http_conf *rc);
/* The trusted certificates as PEM, borrowed; NULL = none. */
const char *http_ca(const struct http_conf *rc, size_t *len);
int http_conf_equal(const struct http_conf *a, const struct http_conf *b);

/* Borrows base and names.  NULL when memory is short. */
struct http_client *http_new(struct event_base *base, struct resolver *names);
void http_free(struct http_client *r);
/* Takes rc.  Running requests keep the configuration they started with. */
void http_use(struct http_client *r, struct http_conf *rc);
int http_usable(const struct http_client *r);
/*
 * Starts a request; the event loop calls done.  0, or -1 without memory, without an
 * address, or after the fence: then the body is not taken.
 */
int http_send(struct http_client *r, struct http_request *req);
/* The next request lets the host's name be resolved again, for later ones. */
void http_forget(struct http_client *r);
#define HTTP_NO_FENCE INT64_MAX
/* ms; a write with a shorter limit is not started */
#define HTTP_FENCE_LEAST 1000
/*
 * With a lease: until is CLOCK_BOOTTIME in ms.  http_send() starts nothing after
 * it (-1), and the limit of a write ends at it.  A call after it ends with an error
 * what is under way.  Requests that only read keep their own limit.
 */
void http_fence(struct http_client *r, int64_t until);
/*
 * Calls quiet(arg) once, now or later, when no write is under way.  The caller
 * sees to it that none is started (http_fence()).
 */
void http_on_quiet(struct http_client *r, void (*quiet)(void *arg), void *arg);
/*
 * 1 when cc-backend works on no write: none is under way, and each one that
 * ended in the last ms had one answer, which was not one of a proxy about
 * cc-backend.  A client younger than ms returns 0: the process before it may
 * have ended with writes under way.
 */
int http_all_answered(const struct http_client *r, int64_t ms);
/* Number of running requests. */
unsigned http_busy(const struct http_client *r);
/* 1 when the token is sent to another host without TLS. */
int http_token_in_clear(const struct http_client *r);
/* The expiry of the token in use; never NULL. */
const struct token_expiry *http_token_expiry(const struct http_client *r);
/* "host:port" for logs. */
const char *http_where(const struct http_client *r);

/*
 * libcurl before 7.77 reads certificates from files only: main.c writes this
 * one into the root of the chroot.
 */
#define HTTP_CA_PATH "ca.pem"

#endif
