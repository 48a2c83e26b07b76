/* SPDX-License-Identifier: MIT */
/*
 * Names to addresses on the event loop.  Each name asked for has one entry
 * (names_entry.c): its answer until the time to live is over, or those who wait
 * for it.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>

#include "common/job.h"
#include "common/log.h"
#include "submitter/net/hosts_file.h"
#include "submitter/net/resolv_conf.h"
#include "submitter/net/resolver.h"
#include "submitter/net/resolver_private.h"

/* Names: cc-backend's, the brokers'; more are asked without being kept. */
#define ENTRIES_MAX	64
/* Those who wait for names; each request waits for one. */
#define QUERIES_MAX	1024
/* A hosts file: some 20,000 lines. */
#define HOSTS_BYTES_MAX	(4u * 1024 * 1024)

static void
on_log(int warning, const char *text)
{
	if (warning)
		log_info("name servers: %s", text);
	else
		log_debug("name servers: %s", text);
}

void
resolver_prepare(void)
{
	if (evutil_secure_rng_init() == -1)
		log_warnx("no random numbers for questions to name servers");
	evdns_set_log_fn(on_log);
}

struct resolver *
resolver_new(struct event_base *base)
{
	struct resolver *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->base = base;
	TAILQ_INIT(&n->entries);
	return n;
}

void
resolver_free(struct resolver *n)
{
	struct entry *e;

	if (n == NULL)
		return;
	/* Without telling: evdns then forgets its questions, and who asked. */
	if (n->dns != NULL)
		evdns_base_free(n->dns, 0);
	while ((e = TAILQ_FIRST(&n->entries)) != NULL)
		entry_drop(e);
	free(n->hosts);
	free(n);
}

static struct entry *
entry_find(struct resolver *n, const char *host)
{
	struct entry *e;

	TAILQ_FOREACH(e, &n->entries, link)
		if (strcasecmp(e->host, host) == 0)
			return e;
	return NULL;
}

/* Makes room: the entry that expires first and that nobody waits for goes. */
static int
entry_evict(struct resolver *n)
{
	struct entry *e, *old = NULL;

	TAILQ_FOREACH(e, &n->entries, link)
		if (!e->running && e->asked == 0 &&
		    (old == NULL || e->expires < old->expires))
			old = e;
	if (old == NULL)
		return -1;
	entry_drop(old);
	return 0;
}

static struct entry *
entry_make(struct resolver *n, const char *host)
{
	if (n->n_entries >= ENTRIES_MAX && entry_evict(n) == -1)
		return NULL;
	return entry_new(n, host);
}

/* Known already, without a question?  Fills a. */
static int
known(struct resolver *n, const char *host, struct entry **found,
    struct resolver_answer *a)
{
	struct entry *e = entry_find(n, host);

	*found = e;
	if (e != NULL && !e->running && e->expires > resolver_now()) {
		entry_answer(e, a);
		return 1;
	}
	if (e != NULL && e->running)
		return 0;
	if (n->hosts != NULL || strcasecmp(host, "localhost") == 0) {
		if (!answer_hosts(a, n->hosts, n->hosts_len, host))
			return 0;
		if (e == NULL)
			e = entry_make(n, host);
		if (e != NULL) {
			e->known = *a;
			e->expires = resolver_now() + TTL_MAX;
		}
		return 1;
	}
	return 0;
}

/* 1 when a letter-digit-hyphen name (or one with '_') of bearable length. */
static int
is_name(const char *host)
{
	size_t i, n = strlen(host);

	if (n == 0 || n >= HOST_MAX)
		return 0;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)host[i]) &&
		    strchr("-._", host[i]) == NULL)
			return 0;
	return 1;
}

struct resolver_query *
resolver_resolve(struct resolver *n, const char *host, resolver_fn *fn, void *arg)
{
	struct resolver_answer a = { .n = 0 };
	struct resolver_query *q = NULL;
	struct entry *e = NULL;

	if (answer_literal(&a, host) ||
	    (is_name(host) && known(n, host, &e, &a)))
		goto told;
	if (!is_name(host))
		a.why = "no host name";
	else if (n->dns == NULL)
		a.why = "no name server is known";
	else if (n->n_queries >= QUERIES_MAX)
		a.why = "too many wait for names";
	if (a.why != NULL)
		goto told;
	if (e == NULL)
		e = entry_make(n, host);
	q = calloc(1, sizeof(*q));
	if (e == NULL || q == NULL) {
		free(q);
		a.why = "no memory, or too many names";
		goto told;
	}
	q->entry = e;
	q->fn = fn;
	q->arg = arg;
	TAILQ_INSERT_TAIL(&e->queries, q, link);
	n->n_queries++;
	if (!e->running)
		entry_ask(e);
	return q;
told:
	fn(&a, arg);
	return NULL;
}

void
resolver_cancel(struct resolver_query *q)
{
	if (q != NULL)
		resolver_query_free(q);
}

void
resolver_forget(struct resolver *n, const char *host)
{
	struct entry *e = entry_find(n, host);

	/* The addresses stay, for the case that nobody knows better. */
	if (e != NULL && !e->running && e->why[0] == '\0')
		e->expires = 0;
}

static void
forget_all(struct resolver *n)
{
	struct entry *e;

	TAILQ_FOREACH(e, &n->entries, link)
		if (!e->running)
			e->expires = 0;
}

/* New name servers; what is under way fails, and is told so, from the loop. */
static void
servers_use(struct resolver *n, const uint8_t *p, size_t len)
{
	struct evdns_base *dns = evdns_base_new(n->base, 0);

	if (dns == NULL) {
		log_warnx("no memory for new name servers");
		return;
	}
	resolv_read(dns, (const char *)p, len);
	if (n->dns != NULL)
		evdns_base_free(n->dns, 1);
	n->dns = dns;
}

void
resolver_file(struct resolver *n, enum msg_file which, const uint8_t *p, size_t len)
{
	char *copy;

	forget_all(n);
	if (which == MSG_FILE_RESOLV_CONF) {
		servers_use(n, p, len);
		return;
	}
	if (which != MSG_FILE_HOSTS)
		return;
	if (len > HOSTS_BYTES_MAX) {
		log_warnx("the hosts file has more than %u bytes: the rest is "
		    "not seen", HOSTS_BYTES_MAX);
		len = HOSTS_BYTES_MAX;
	}
	copy = malloc(len + 1);
	if (copy == NULL)
		return;
	memcpy(copy, p, len);
	copy[len] = '\0';
	free(n->hosts);
	n->hosts = copy;
	n->hosts_len = len;
}
