/* SPDX-License-Identifier: MIT */
/* Configures evdns by resolv.conf in memory; evdns itself reads a file. */
#ifndef COMMON_NET_RESOLV_CONF_H
#define COMMON_NET_RESOLV_CONF_H

#include <stddef.h>

#include "common/model/job.h"

/* As in the C library. */
#define RESOLV_SERVERS_MAX 3
/* As in the C library before 2.26; further domains are ignored. */
#define RESOLV_SEARCH_MAX 6
/* A host and a domain of the search list; evdns refuses more than 255 bytes. */
#define RESOLV_NAME_MAX (2 * HOST_MAX)

struct event_base;
struct evdns_base;

/*
 * Each server has an evdns_base of its own: with several servers, evdns asks
 * them in turn, but only the first one may know the names of a site.  The search
 * list is not given to evdns: evdns searches for each address family alone, and its
 * answers can then be those of two hosts.
 */
struct resolv_conf {
	unsigned n_servers; /* 0 = no resolv.conf yet */
	struct evdns_base *servers[RESOLV_SERVERS_MAX]; /* owned */
	unsigned timeout;  /* s for the answer of a server */
	unsigned attempts; /* times that each server is asked */
	unsigned n_search;
	char search[RESOLV_SEARCH_MAX][HOST_MAX]; /* "" = the root */
	unsigned ndots; /* a name with so many dots is asked as is first */
};

/*
 * Reads nameserver, search, domain and the options ndots, timeout and attempts
 * of resolv.conf(5); ignores other lines.  The default server is 127.0.0.1, as
 * in the C library.  Returns -1 when memory is short.
 */
int resolv_read(struct resolv_conf *conf, struct event_base *base,
    const char *bytes, size_t len);
/* With fail, evdns calls the functions of its questions, else it does not. */
void resolv_clear(struct resolv_conf *conf, int fail);
/*
 * The i-th name to ask for host, in the order of the C library.  A host that
 * ends with a dot is asked as is only.  Returns 0 when there are fewer names.
 */
int resolv_candidate(const struct resolv_conf *conf, const char *host,
    unsigned i, char name[RESOLV_NAME_MAX]);

#endif
