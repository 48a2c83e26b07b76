/* SPDX-License-Identifier: MIT */
/* Structs that http.c, http_call.c and http_conf.c share. */
#ifndef SUBMITTER_NET_HTTP_PRIVATE_H
#define SUBMITTER_NET_HTTP_PRIVATE_H

#include <sys/queue.h>

#include <curl/curl.h>

#include "submitter/net/http.h"

/* Address, token, certificates.  Each running request has a reference. */
struct http_conf {
	unsigned refs;
	char *base;  /* "https://host:port/path/api/"; NULL = not set */
	char *host;  /* from libcurl; an IPv6 address has brackets */
	char *where; /* host:port, for logs */
	long port;
	int tls;
	int literal; /* the host is an address */
	/* "X-Auth-Token: ..." of secret.h; NULL = no token */
	char *auth;
	struct token_expiry expiry;
	char *ca; /* PEM; NULL = the system's */
	size_t ca_len;
	struct curl_slist *headers; /* owned; without the token */
	/* of all headers: libcurl borrows auth, then headers */
	struct curl_slist first;
};

struct http_conf *http_conf_ref(struct http_conf *rc);
/* The headers of a request, borrowed. */
struct curl_slist *http_conf_headers(struct http_conf *rc);

#define READ_MAX (64u * 1024 * 1024) /* bytes of the longest answer */

/* One request, from http_send() until done. */
struct http_call {
	struct http_call *next;	    /* in waiting or failed */
	LIST_ENTRY(http_call) link; /* in running, as long as easy is used */
	int runs;		    /* in running */
	int fenced;		    /* with a lease */
	long limit;		    /* then: ms until its end */
	struct http_client *http;
	struct http_conf *conf; /* a reference */
	CURL *easy;
	enum request_kind what;
	char *url; /* owned */
	const char *method;
	struct writer body; /* owned */
	struct writer answer;
	size_t seen;	    /* bytes of the answer */
	unsigned sends;	    /* libcurl repeats a request on a dead connection */
	const char *broken; /* why the request was ended here */
	struct curl_slist *resolve; /* must exist as long as easy */
	http_data_fn *data;
	http_done_fn *done;
	void *arg;
	char error[CURL_ERROR_SIZE];
};

/* 1 for requests without an effect. */
int http_is_read(enum request_kind what);
/* Sets all options of c->easy except CURLOPT_RESOLVE. */
void http_call_set(struct http_call *c);

#endif
