/* SPDX-License-Identifier: MIT */
/* What names.c and names_entry.c share: the names that were asked for. */
#ifndef SUBMITTER_NET_RESOLVER_PRIVATE_H
#define SUBMITTER_NET_RESOLVER_PRIVATE_H

#include <sys/queue.h>

#include <stddef.h>
#include <time.h>

#include "common/job.h"
#include "submitter/net/resolver.h"

/* Longer ones are not trusted: a moved backend is followed in an hour. */
#define TTL_MAX		3600

struct resolver_query {
	TAILQ_ENTRY(resolver_query) link;
	struct entry	*entry;
	resolver_fn	*fn;
	void		*arg;
};
TAILQ_HEAD(queries, resolver_query);

struct entry {
	TAILQ_ENTRY(entry)	 link;
	struct resolver		*names;
	char			 host[HOST_MAX];
	struct resolver_answer	 known;		/* the last good one; n = 0: none */
	time_t			 expires;	/* CLOCK_MONOTONIC */
	char			 why[96];	/* of the last failure; "" = none */
	struct queries		 queries;	/* wait */
	struct event		*timer;		/* owned; deadline of the question */
	int			 asked;		/* evdns will still call this often */
	int			 running;	/* a question is under way */
	struct resolver_answer	 v4, v6;	/* what came of it so far */
	int			 ttl;
	int			 error;		/* evdns' of the last failure */
};
TAILQ_HEAD(entries, entry);

struct resolver {
	struct event_base	*base;		/* borrowed */
	struct evdns_base	*dns;		/* owned; NULL = no resolv.conf yet */
	struct entries		 entries;
	unsigned		 n_entries;
	unsigned		 n_queries;
	char			*hosts;		/* owned bytes */
	size_t			 hosts_len;
};

/* Seconds of CLOCK_MONOTONIC. */
time_t resolver_now(void);
void resolver_query_free(struct resolver_query *q);

/* names_entry.c */

/* One more of n's; NULL on memory. */
struct entry *entry_new(struct resolver *n, const char *host);
/* Not while evdns may still call for it. */
void entry_drop(struct entry *e);
/* What is known, as an answer. */
void entry_answer(const struct entry *e, struct resolver_answer *a);
/* Asks the name servers; those who wait are told from the loop. */
void entry_ask(struct entry *e);

#endif
