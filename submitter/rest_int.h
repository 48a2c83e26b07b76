/* SPDX-License-Identifier: MIT */
/* What the two files of the HTTP side share. */
#ifndef SUBMITTER_REST_INT_H
#define SUBMITTER_REST_INT_H

#include <curl/curl.h>

#include "submitter/rest.h"

/* Where to, as whom, trusting whom.  Requests under way keep theirs alive. */
struct rest_conf {
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

struct rest_conf *rest_conf_ref(struct rest_conf *rc);

#endif
