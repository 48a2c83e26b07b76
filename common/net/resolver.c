/* SPDX-License-Identifier: MIT */
/*
 * Resolves names in the event loop.  Each name has one entry with its cached
 * answer and the queries that wait for the next answer.  While no name server
 * answers, the last good answer stays valid: the host most likely still has
 * the address.
 */
#include "config.h"

#include <sys/queue.h>
#include <sys/socket.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>

#include "common/clock.h"
#include "common/model/job.h"
#include "common/log.h"
#include "common/net/hosts_file.h"
#include "common/net/resolv_conf.h"
#include "common/net/resolver.h"

/* Cached names: those of cc-backend and the brokers are a few. */
#define ENTRIES_MAX 64
/* Queries that wait at the same time. */
#define QUERIES_MAX 1024

/* s; a shorter time to live would cause a DNS query per request. */
#define TTL_MIN 30
/* s until the next DNS query after a failure. */
#define TTL_FAILED 5
/* Limit for a lookup: all names, both families, all servers. */
#define DEADLINE_MS 15000
/* Wait for the other address family after the first answer. */
#define SECOND_MS 1000
/* s; a longer time to live would delay the move of a host. */
#define TTL_MAX 3600

struct resolver_query {
	TAILQ_ENTRY(resolver_query) link;
	struct entry *entry;
	resolver_fn *fn;
	void *arg;
};
TAILQ_HEAD(queries, resolver_query);

struct entry {
	TAILQ_ENTRY(entry) link;
	struct resolver *names;
	char host[HOST_MAX];
	struct resolver_answer known; /* last good answer; n = 0: none */
	long long expires;	      /* clock_ms() */
	char why[96];		/* reason of the last failure; "" = none */
	struct queries queries; /* wait for the answer */
	struct event *timer;	/* owned; deadline of the lookup */
	int asked;		/* calls of on_answer() to come */
	int running;		/* a lookup is under way */
	int late; /* the lookup waits for answers to an earlier one */
	char name[RESOLV_NAME_MAX];  /* asked now */
	char found[RESOLV_NAME_MAX]; /* the name of the last good answer */
	unsigned candidates;	     /* names asked, the present one included */
	struct resolver_answer v4, v6; /* answers so far */
	int ttl;
	unsigned server;    /* asked now */
	unsigned first;	    /* asked first for the next name */
	unsigned tries;	    /* questions for the present name */
	long long asked_at; /* clock_ms() of the present question */
	int error;	    /* DNS_ERR_* of the present question */
	int reason;	    /* DNS_ERR_* of the names before */
	int doubt;	    /* a name was not denied by the first server */
	int denied;	    /* the first server has denied all names */
};
TAILQ_HEAD(entries, entry);

struct resolver {
	struct event_base *base; /* borrowed */
	struct resolv_conf conf; /* owned */
	struct entries entries;
	unsigned n_entries;
	unsigned n_queries;
	char *hosts; /* owned bytes */
	size_t hosts_len;
};

static void
query_free(struct resolver_query *q)
{
	TAILQ_REMOVE(&q->entry->queries, q, link);
	q->entry->names->n_queries--;
	free(q);
}

static void
entry_drop(struct entry *e)
{
	struct resolver_query *q;

	while ((q = TAILQ_FIRST(&e->queries)) != NULL)
		query_free(q);
	TAILQ_REMOVE(&e->names->entries, e, link);
	e->names->n_entries--;
	event_free(e->timer);
	free(e);
}

/* Ends all queries.  Their functions may start and cancel queries. */
static void
queries_end(struct entry *e, const struct resolver_answer *answer)
{
	struct resolver_answer copy = *answer;
	struct resolver_query *q;
	resolver_fn *fn;
	void *arg;

	while ((q = TAILQ_FIRST(&e->queries)) != NULL) {
		fn = q->fn;
		arg = q->arg;
		query_free(q);
		fn(&copy, arg);
	}
}

static void
entry_cache(struct entry *e)
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
	e->expires = clock_ms() + e->ttl * 1000LL;
	e->why[0] = '\0';
	memcpy(e->found, e->name, sizeof(e->found));
}

/* 1 when a server denied the name. */
static int
is_denial(int error)
{
	return error == DNS_ERR_NOTEXIST || error == DNS_ERR_NODATA;
}

/* A failure outranks a denial: the name may exist. */
static void
error_merge(int *all, int error)
{
	if (*all == DNS_ERR_NONE || is_denial(*all))
		*all = error;
}

static void
entry_fail(struct entry *e)
{
	snprintf(e->why, sizeof(e->why), "%s",
	    e->reason == DNS_ERR_NONE || e->reason == DNS_ERR_TIMEOUT ?
		"no name server answers" :
		e->reason == DNS_ERR_TRUNCATED ?
		"too many addresses for one datagram: add the host to the "
		"hosts file" :
		evdns_err_to_string(e->reason));
	if (e->denied) /* else the last good answer is still the best */
		e->known.n = 0;
	e->expires = clock_ms() + TTL_FAILED * 1000LL;
	log_debug("name %s: %s%s", e->host, e->why,
	    e->known.n != 0 ? "; the last answer stays valid" : "");
}

/* The cached answer, or the reason of the failure. */
static void
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
		entry_cache(e);
	else
		entry_fail(e);
	entry_answer(e, &a);
	queries_end(e, &a);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct entry *e = arg;

	if (!e->running)
		return;
	error_merge(&e->reason, DNS_ERR_TIMEOUT); /* of the present name */
	entry_end(e);
}

static void
entry_timer(struct entry *e, int ms)
{
	struct timeval tv = clock_timeval(ms);

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

static void on_answer(int, char, int, int, void *, void *);

/* Asks the present server for both address families of the present name. */
static void
name_ask(struct entry *e)
{
	struct evdns_base *dns = e->names->conf.servers[e->server];
	const int flags = DNS_QUERY_NO_SEARCH;

	e->error = DNS_ERR_NONE;
	e->asked_at = clock_ms();
	if (evdns_base_resolve_ipv4(dns, e->name, flags, on_answer, e) != NULL)
		e->asked++;
	else
		e->error = DNS_ERR_UNKNOWN;
	if (evdns_base_resolve_ipv6(dns, e->name, flags, on_answer, e) != NULL)
		e->asked++;
	else
		e->error = DNS_ERR_UNKNOWN;
	if (e->asked == 0) {
		e->reason = DNS_ERR_UNKNOWN;
		entry_timer(e, 0); /* the event loop ends the lookup */
	}
}

/* Asks for the next name of the search list; without one the lookup ends. */
static void
name_next(struct entry *e)
{
	if (resolv_candidate(&e->names->conf, e->host, e->candidates,
		e->name)) {
		e->candidates++;
		e->server = e->first;
		e->tries = 0;
		name_ask(e);
	} else {
		e->denied = !e->doubt;
		entry_end(e);
	}
}

/* A later server can be a public one, without the names of the site. */
static int
first_denies(const struct entry *e)
{
	return is_denial(e->error) && e->server == 0;
}

/*
 * A later name can be another host.  It is asked after a denial, and after
 * REFUSED: a server of a closed network refuses the names of other domains.
 * The name of the last good answer is only given up if the first server denies
 * it.
 */
static int
may_continue(const struct entry *e)
{
	if (first_denies(e))
		return 1;
	if (!is_denial(e->error) && e->error != DNS_ERR_REFUSED)
		return 0;
	return e->known.n == 0 || strcmp(e->name, e->found) != 0;
}

/* Asks the next server after a failure of the present one; 0 = no more. */
static int
server_next(struct entry *e)
{
	const struct resolv_conf *conf = &e->names->conf;

	if (is_denial(e->error) || e->error == DNS_ERR_TRUNCATED ||
	    ++e->tries >= conf->attempts * conf->n_servers)
		return 0;
	e->server = (e->server + 1) % conf->n_servers;
	if (e->error == DNS_ERR_TIMEOUT) /* the time is lost once only */
		e->first = e->server;
	name_ask(e);
	return 1;
}

/* Both families of the present name have an answer. */
static void
question_end(struct entry *e)
{
	if (e->v4.n + e->v6.n != 0) {
		entry_end(e);
		return;
	}
	if (server_next(e))
		return;
	error_merge(&e->reason, e->error);
	if (!first_denies(e))
		e->doubt = 1;
	if (may_continue(e))
		name_next(e);
	else
		entry_end(e);
}

/* evdns 2.1 reports SERVFAIL as a timeout, but at once. */
static int
error_of(const struct entry *e, int result)
{
	long long half = e->names->conf.timeout * 500LL;

	if (result == DNS_ERR_TIMEOUT && clock_ms() - e->asked_at < half)
		return DNS_ERR_SERVERFAILED;
	return result;
}

/* Called by evdns with the answer of one address family. */
static void
on_answer(int result, char type, int count, int ttl, void *addresses, void *arg)
{
	struct entry *e = arg;

	e->asked--;
	if (!e->running)
		return; /* after the deadline */
	if (e->late) {
		e->late = e->asked != 0;
		if (!e->late)
			name_next(e);
		return;
	}
	if (result == DNS_ERR_NONE)
		entry_take(e, type, count, ttl, addresses);
	else
		error_merge(&e->error, error_of(e, result));
	if (e->asked == 0)
		question_end(e);
	else if (e->v4.n + e->v6.n != 0)
		entry_timer(e, SECOND_MS);
}

/* Starts a lookup.  Answers to an earlier one are for another name. */
static void
entry_ask(struct entry *e)
{
	e->v4.n = e->v6.n = 0;
	e->ttl = 0;
	e->reason = DNS_ERR_NONE;
	e->doubt = e->denied = 0;
	e->candidates = 0;
	e->first = 0;
	e->running = 1;
	entry_timer(e, DEADLINE_MS);
	e->late = e->asked != 0;
	if (!e->late)
		name_next(e);
}

static struct entry *
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
		log_warnx("no random numbers for the ids of DNS queries");
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
	/* 0: evdns ends its queries without calling on_answer(). */
	resolv_clear(&n->conf, 0);
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

/* Frees the entry that expires first among those without queries. */
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

/* 1 when the cache or the hosts file has the answer. */
static int
known(struct resolver *n, const char *host, struct entry **found,
    struct resolver_answer *a)
{
	struct entry *e = entry_find(n, host);

	*found = e;
	if (e != NULL && !e->running && e->expires > clock_ms()) {
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
			e->expires = clock_ms() + TTL_MAX * 1000LL;
		}
		return 1;
	}
	return 0;
}

/* 1 for letters, digits, '-', '.', '_' and fewer than HOST_MAX bytes. */
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
resolver_resolve(struct resolver *n, const char *host, resolver_fn *fn,
    void *arg)
{
	struct resolver_answer a = { .n = 0 };
	struct resolver_query *q = NULL;
	struct entry *e = NULL;

	if (answer_literal(&a, host) ||
	    (is_name(host) && known(n, host, &e, &a)))
		goto done;
	if (!is_name(host))
		a.why = "not a host name";
	else if (n->conf.n_servers == 0)
		a.why = "resolv.conf was not received yet";
	else if (n->n_queries >= QUERIES_MAX)
		a.why = "too many queries wait";
	if (a.why != NULL)
		goto done;
	if (e == NULL)
		e = entry_make(n, host);
	q = calloc(1, sizeof(*q));
	if (e == NULL || q == NULL) {
		free(q);
		a.why = "out of memory, or too many names";
		goto done;
	}
	q->entry = e;
	q->fn = fn;
	q->arg = arg;
	TAILQ_INSERT_TAIL(&e->queries, q, link);
	n->n_queries++;
	if (!e->running)
		entry_ask(e);
	return q;
done:
	fn(&a, arg);
	return NULL;
}

void
resolver_cancel(struct resolver_query *q)
{
	if (q != NULL)
		query_free(q);
}

void
resolver_forget(struct resolver *n, const char *host)
{
	struct entry *e = entry_find(n, host);

	/* The addresses stay valid while no name server answers. */
	if (e != NULL && !e->running && e->why[0] == '\0')
		e->expires = 0;
}

static void
expire_all(struct resolver *n)
{
	struct entry *e;

	TAILQ_FOREACH(e, &n->entries, link)
	if (!e->running)
		e->expires = 0;
}

/* A running query that the new hosts file answers ends with this answer. */
static int
hosts_end_one(struct resolver *n)
{
	struct resolver_answer a = { .n = 0 };
	struct entry *e;

	TAILQ_FOREACH(e, &n->entries, link)
	if (e->running && answer_hosts(&a, n->hosts, n->hosts_len, e->host)) {
		evtimer_del(e->timer);
		e->running = 0;
		e->known = a;
		e->expires = clock_ms() + TTL_MAX * 1000LL;
		queries_end(e, &a); /* may change the list */
		return 1;
	}
	return 0;
}

/* Replaces the name servers.  Running lookups start again. */
static void
servers_use(struct resolver *n, const uint8_t *p, size_t len)
{
	struct resolv_conf conf = { 0 };
	struct entry *e;

	if (resolv_read(&conf, n->base, (const char *)p, len) == -1) {
		log_warnx("out of memory: the name servers stay the same");
		return;
	}
	resolv_clear(&n->conf, 1);
	n->conf = conf;
	TAILQ_FOREACH(e, &n->entries, link)
	if (e->running)
		entry_ask(e);
}

void
resolver_file(struct resolver *n, enum msg_file which, const uint8_t *p,
    size_t len)
{
	char *copy;

	expire_all(n);
	if (which == MSG_FILE_RESOLV_CONF) {
		servers_use(n, p, len);
		return;
	}
	if (which != MSG_FILE_HOSTS)
		return;
	copy = malloc(len + 1);
	if (copy == NULL) {
		log_warnx("out of memory: the hosts file stays the same");
		return;
	}
	memcpy(copy, p, len);
	copy[len] = '\0';
	free(n->hosts);
	n->hosts = copy;
	n->hosts_len = len;
	while (hosts_end_one(n))
		;
}
