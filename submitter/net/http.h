/* SPDX-License-Identifier: MIT */
/*
 * HTTP towards cc-backend: libcurl's multi interface on libevent, a handful
 * of connections, bounded answers, bounded times.  Knows the token and the
 * certificates; judges nothing.
 */
#ifndef SUBMITTER_NET_HTTP_H
#define SUBMITTER_NET_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/conf.h"
#include "submitter/payload/payload.h"

struct event_base;
struct resolver;
struct http_client;
struct http_conf;

#define REST_CONNECTIONS	4	/* more bring nothing (measured) */
#define HTTP_IN_FLIGHT		8	/* writes under way or waiting for a connection */

/* What was asked. */
enum request_kind {
	REQUEST_PROBE,	/* the harmless start that tells the version */
	REQUEST_CLUSTERS,	/* GET clusters/ */
	REQUEST_START,
	REQUEST_STOP,
	REQUEST_LIST,	/* GET jobs/ */
	REQUEST_NODES,	/* nodestate/ */
	REQUEST_META,	/* edit_meta/ */
	REQUEST_DELETE,	/* delete_job/ */
	REQUEST__COUNT
};

/* One answer.  code 0: there was none, error says why. */
struct http_answer {
	enum request_kind	 what;
	long		 code;		/* HTTP's */
	const char	*body;		/* borrowed; not NUL-terminated; may be NULL */
	size_t		 len;
	const char	*error;		/* of the transport; NULL = none */
	enum backend	 backend;	/* who is asked, as far as known */
	unsigned	 sends;		/* how often it went out; 0 = not known */
	int		 fresh;		/* over a connection made for it */
};

/* A request's end.  a->body lives until it returns; NULL-body for streamed ones. */
typedef void rest_done_fn(const struct http_answer *a, void *arg);
/* A piece of a 200's body; 0, or -1 to end the request with an error. */
typedef int rest_data_fn(const char *p, size_t n, void *arg);

struct http_request {
	enum request_kind	 what;
	const char	*method;	/* "GET", "POST", ... */
	const char	*path;		/* below /api/, with what follows '?'; copied */
	struct writer	*body;		/* taken (and left empty); NULL = none */
	rest_data_fn	*data;		/* NULL = the body is collected for done */
	rest_done_fn	*done;
	void		*arg;
};

/* Before the sandbox closes: libcurl, TLS, the system's certificates. */
void http_prepare(void);

/*
 * What the configuration says, built aside: address, token, certificates.
 * NULL with a reason.  Without a ccRestUrl it is a conf that reaches nobody.
 */
struct http_conf *http_conf_new(const struct conf *conf,
    const uint8_t *secrets, size_t len, char *reason, size_t size);
/* Wipes the token; NULL is fine. */
void http_conf_free(struct http_conf *rc);
/* 1 when there is an address and a token. */
int http_conf_usable(const struct http_conf *rc);
/* The certificates that count, as PEM; NULL = none. */
const char *http_ca(const struct http_conf *rc, size_t *len);
int http_conf_equal(const struct http_conf *a, const struct http_conf *b);

/* names is borrowed.  NULL on memory. */
struct http_client *http_new(struct event_base *base, struct resolver *names);
void http_free(struct http_client *r);
/* Takes rc; requests under way end with what they were begun with. */
void http_use(struct http_client *r, struct http_conf *rc);
int http_usable(const struct http_client *r);
/* Begins a request; done comes from the loop, always.  0, or -1 on memory. */
int http_send(struct http_client *r, struct http_request *req);
/* Connections are closed and the name is asked anew: after a failure. */
void http_forget(struct http_client *r);
/* Requests begun and not yet done. */
unsigned http_busy(const struct http_client *r);
/* Host and port, for people; never the token. */
const char *http_where(const struct http_client *r);

/*
 * Where a libcurl without certificates from memory (before 7.77) finds them:
 * in our own folder, the root of the chroot.
 */
#define HTTP_CA_PATH	"ca.pem"

#endif
