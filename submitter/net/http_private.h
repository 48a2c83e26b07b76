/* SPDX-License-Identifier: MIT */
/* What the two files of the HTTP side share. */
#ifndef SUBMITTER_NET_HTTP_PRIVATE_H
#define SUBMITTER_NET_HTTP_PRIVATE_H

#include <curl/curl.h>

#include "submitter/net/http.h"

/* Where to, as whom, trusting whom.  Requests under way keep theirs alive. */
struct http_conf {
	unsigned	 refs;
	char		*base;		/* "https://host:port/path/api/"; NULL = nowhere */
	char		*host;		/* as curl names it; a literal has brackets */
	char		*where;		/* host:port, for people */
	long		 port;
	int		 tls;
	int		 literal;	/* the host is an address */
	char		*token;		/* wiped */
	char		*ca;		/* PEM; NULL = the system's */
	size_t		 ca_len;
	struct curl_slist *headers;	/* with the token: wiped */
};

struct http_conf *http_conf_ref(struct http_conf *rc);

#define READ_MAX	(64u * 1024 * 1024)	/* of a listing or the clusters */

/* One request, from http_send() to its done. */
struct http_call {
	struct http_call	*next;		/* of those that wait for the name */
	struct http_client	*http;
	struct http_conf *conf;		/* a reference */
	CURL		*easy;
	enum request_kind	 what;
	char		*url;		/* owned */
	const char	*method;
	struct writer	 body;		/* owned */
	struct writer	 answer;
	size_t		 seen;		/* bytes of the answer */
	unsigned	 sends;		/* libcurl repeats by itself on a dead connection */
	const char	*broken;	/* why we ended it ourselves */
	struct curl_slist *resolve;	/* must live as long as the handle */
	rest_data_fn	*data;
	rest_done_fn	*done;
	void		*arg;
	char		 error[CURL_ERROR_SIZE];
};

/* Sets all options of c->easy but the addresses. */
void http_call_set(struct http_call *c);

#endif
