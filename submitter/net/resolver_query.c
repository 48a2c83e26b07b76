/* SPDX-License-Identifier: MIT */
/*
 * One name: the question for it, its answer, and those who wait.  When the name
 * servers are away, the last good answer goes on being given: a backend that
 * was reachable an hour ago most likely still is.
 */
#include "config.h"

#include <sys/queue.h>
#include <sys/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/dns.h>
#include <event2/event.h>

#include "common/log.h"
#include "submitter/net/hosts_file.h"
#include "submitter/net/resolver_private.h"

/* A time to live shorter than this would mean a question per request. */
#define TTL_MIN		30
/* A failure is not asked about again at once. */
#define TTL_FAILED	5
/* A question in all; the name servers' own timeouts and repeats are within. */
#define DEADLINE_MS	15000
/* One family has answered: how long the other may still take. */
#define SECOND_MS	1000

time_t
resolver_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

void
resolver_query_free(struct resolver_query *q)
{
	TAILQ_REMOVE(&q->entry->queries, q, link);
	q->entry->names->n_queries--;
	free(q);
}

void
entry_drop(struct entry *e)
{
	struct resolver_query *q;

	while ((q = TAILQ_FIRST(&e->queries)) != NULL)
		resolver_query_free(q);
	TAILQ_REMOVE(&e->names->entries, e, link);
	e->names->n_entries--;
	event_free(e->timer);
	free(e);
}

/* Tells all who wait; any of them may ask anew, or cancel another. */
static void
entry_tell(struct entry *e, const struct resolver_answer *answer)
{
	struct resolver_answer copy = *answer;
	struct resolver_query *q;
	resolver_fn *fn;
	void *arg;

	while ((q = TAILQ_FIRST(&e->queries)) != NULL) {
		fn = q->fn;
		arg = q->arg;
		resolver_query_free(q);
		fn(&copy, arg);
	}
}

static void
entry_learn(struct entry *e)
{
	unsigned i;

	e->known = e->v4;
	for (i = 0; i < e->v6.n && e->known.n < NAMES_ADDRS_MAX; i++)
		memcpy(e->known.addrs[e->known.n++], e->v6.addrs[i],
		    NAMES_ADDR_MAX);
	if (e->ttl < TTL_MIN)
		e->ttl = TTL_MIN;
	if (e->ttl > TTL_MAX)
		e->ttl = TTL_MAX;
	e->expires = resolver_now() + e->ttl;
	e->why[0] = '\0';
}

/* The name does not exist: other than silence, that ends the old answer. */
static int
is_final(int error)
{
	return error == DNS_ERR_NOTEXIST || error == DNS_ERR_NODATA;
}

static void
entry_fail(struct entry *e)
{
	snprintf(e->why, sizeof(e->why), "%s", e->error == DNS_ERR_NONE ||
	    e->error == DNS_ERR_TIMEOUT ? "no name server answers" :
	    e->error == DNS_ERR_TRUNCATED ? "too many addresses for one "
	    "datagram: put one into the hosts file" :
	    evdns_err_to_string(e->error));
	if (is_final(e->error))
		e->known.n = 0;
	e->expires = resolver_now() + TTL_FAILED;
	log_debug("name %s: %s%s", e->host, e->why,
	    e->known.n != 0 ? ", the last answer is used" : "");
}

/* What is known, as an answer. */
void
entry_answer(const struct entry *e, struct resolver_answer *a)
{
	*a = e->known;
	a->why = a->n == 0 ? e->why : NULL;
}

static void
entry_end(struct entry *e)
{
	struct resolver_answer a;

	evtimer_del(e->timer);
	e->running = 0;
	if (e->v4.n + e->v6.n != 0)
		entry_learn(e);
	else
		entry_fail(e);
	entry_answer(e, &a);
	entry_tell(e, &a);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct entry *e = arg;

	(void)fd;
	(void)what;
	if (e->running)
		entry_end(e);
}

static void
entry_timer(struct entry *e, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	evtimer_add(e->timer, &tv);
}

static void
entry_take(struct entry *e, char type, int count, int ttl, const char *p)
{
	int i;

	for (i = 0; i < count; i++)
		if (type == DNS_IPv4_A)
			answer_add(&e->v4, AF_INET, p + 4 * i);
		else if (type == DNS_IPv6_AAAA)
			answer_add(&e->v6, AF_INET6, p + 16 * i);
	if (e->ttl == 0 || ttl < e->ttl)
		e->ttl = ttl;
}

/* evdns: one family's answer. */
static void
on_answer(int result, char type, int count, int ttl, void *addresses,
    void *arg)
{
	struct entry *e = arg;

	e->asked--;
	if (!e->running)
		return;		/* too late: those who asked were told */
	if (result == DNS_ERR_NONE)
		entry_take(e, type, count, ttl, addresses);
	else if (e->error == DNS_ERR_NONE || is_final(e->error))
		/* "No such name" of one family must not hide the other's silence. */
		e->error = result;
	if (e->asked <= 0)
		entry_end(e);
	else if (e->v4.n + e->v6.n != 0)
		entry_timer(e, SECOND_MS);
}

/* Two questions, one for each family. */
void
entry_ask(struct entry *e)
{
	struct evdns_base *dns = e->names->dns;
	size_t n = strlen(e->host);
	int flags = 0;
	char host[HOST_MAX];

	memcpy(host, e->host, n + 1);
	if (n > 1 && host[n - 1] == '.') {
		host[n - 1] = '\0';	/* complete as it is */
		flags = DNS_QUERY_NO_SEARCH;
	}
	e->v4.n = e->v6.n = 0;
	e->ttl = 0;
	e->error = DNS_ERR_NONE;
	e->running = 1;
	entry_timer(e, DEADLINE_MS);
	if (evdns_base_resolve_ipv4(dns, host, flags, on_answer, e) != NULL)
		e->asked++;
	if (evdns_base_resolve_ipv6(dns, host, flags, on_answer, e) != NULL)
		e->asked++;
	if (e->asked == 0)
		entry_timer(e, 0);	/* refused: told from the loop */
}

struct entry *
entry_new(struct resolver *n, const char *host)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->timer = evtimer_new(n->base, on_deadline, e);
	if (e->timer == NULL) {
		free(e);
		return NULL;
	}
	e->names = n;
	snprintf(e->host, sizeof(e->host), "%s", host);
	TAILQ_INIT(&e->queries);
	TAILQ_INSERT_TAIL(&n->entries, e, link);
	n->n_entries++;
	return e;
}
