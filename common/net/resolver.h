/* SPDX-License-Identifier: MIT */
/*
 * Resolves host names without opening a file: the supervisor sends the hosts
 * file and resolv.conf, and evdns asks the name servers.  The order is fixed,
 * nsswitch.conf is not read: literal address, hosts file, DNS.
 */
#ifndef COMMON_NET_RESOLVER_H
#define COMMON_NET_RESOLVER_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/msg.h"

struct event_base;
struct resolver;
struct resolver_query;

#define NAMES_ADDRS_MAX 16 /* addresses of one name; more are ignored */
#define NAMES_ADDR_MAX	48 /* an IPv6 address as text with the NUL */

struct resolver_answer {
	unsigned n;				     /* 0 = failed */
	char addrs[NAMES_ADDRS_MAX][NAMES_ADDR_MAX]; /* IPv4 first */
	const char *why; /* reason of a failure, borrowed; else NULL */
};

typedef void resolver_fn(const struct resolver_answer *answer, void *arg);

/* Seeds the ids of DNS queries.  Call it before the sandbox closes. */
void resolver_prepare(void);
/* Borrows base.  NULL when memory is short. */
struct resolver *resolver_new(struct event_base *base);
/* Drops queries without calling their functions.  NULL is fine. */
void resolver_free(struct resolver *n);
/* Copies /etc/hosts or reads /etc/resolv.conf; cached answers expire. */
void resolver_file(struct resolver *n, enum msg_file which, const uint8_t *p,
    size_t len);
/*
 * Resolves a host.  fn is called once: when the answer is known before this
 * returns, and NULL is returned; else later by the event loop.
 */
struct resolver_query *resolver_resolve(struct resolver *n, const char *host,
    resolver_fn *fn, void *arg);
/* Ends a query; fn is not called.  NULL is fine. */
void resolver_cancel(struct resolver_query *q);
/* The host's cached answer expires; for a connection that failed. */
void resolver_forget(struct resolver *n, const char *host);

#endif
