/* SPDX-License-Identifier: MIT */
/*
 * Names to addresses without opening a file: the hosts file and resolv.conf
 * come as bytes, the rest is asked of the name servers by evdns.  Literal
 * addresses pass through.  nsswitch is not known here: hosts first, then DNS.
 */
#ifndef SUBMITTER_NET_RESOLVER_H
#define SUBMITTER_NET_RESOLVER_H

#include <stddef.h>
#include <stdint.h>

#include "common/msg.h"

struct event_base;
struct resolver;
struct resolver_query;

#define NAMES_ADDRS_MAX	16	/* addresses of one name; more are left out */
#define NAMES_ADDR_MAX	48	/* bytes with the NUL: an IPv6 address as text */

struct resolver_answer {
	unsigned	 n;	/* 0 = failed */
	char		 addrs[NAMES_ADDRS_MAX][NAMES_ADDR_MAX];	/* IPv4 first */
	const char	*why;	/* NULL, or what went wrong; borrowed for the call */
};

typedef void resolver_fn(const struct resolver_answer *answer, void *arg);

/* Before the sandbox closes: the random numbers of the questions. */
void resolver_prepare(void);
/* NULL on memory. */
struct resolver *resolver_new(struct event_base *base);
/* Questions under way are dropped without an answer.  NULL is fine. */
void resolver_free(struct resolver *n);
/* The bytes of /etc/hosts or /etc/resolv.conf (copied); forgets what was cached. */
void resolver_file(struct resolver *n, enum msg_file which, const uint8_t *p,
    size_t len);
/*
 * Asks for a host's addresses.  fn is called once: before this returns when
 * the answer is known (then NULL is returned), else later from the loop.
 */
struct resolver_query *resolver_resolve(struct resolver *n, const char *host,
    resolver_fn *fn, void *arg);
/* The answer is no longer wanted: fn is not called.  NULL is fine. */
void resolver_cancel(struct resolver_query *q);
/* Forgets the cached answer of a host, after a connection to it failed. */
void resolver_forget(struct resolver *n, const char *host);

#endif
