/* SPDX-License-Identifier: MIT */
/* The bytes of /etc/hosts and resolv.conf; the first line is a host. */
#include "config.h"

#include <arpa/inet.h>
#include <ctype.h>

#include <event2/dns.h>
#include <event2/event.h>

#include "common/net/hosts_file.h"
#include "common/net/resolv_conf.h"
#include "tests/fuzz/fuzz.h"

static void
answer_holds(const struct resolver_answer *a)
{
	unsigned char address[16];
	unsigned i, k;
	int six = 0;

	HOLDS(a->n <= NAMES_ADDRS_MAX);
	for (i = 0; i < a->n; i++) {
		HOLDS(memchr(a->addrs[i], '\0', NAMES_ADDR_MAX) != NULL);
		if (inet_pton(AF_INET6, a->addrs[i], address) == 1)
			six = 1;
		else
			HOLDS(!six &&
			    inet_pton(AF_INET, a->addrs[i], address) == 1);
		for (k = 0; k < i; k++)
			HOLDS(strcmp(a->addrs[i], a->addrs[k]) != 0);
	}
}

static void
hosts_hold(const char *p, size_t n, const char *host)
{
	struct resolver_answer a, more;
	char *text;
	int found;

	memset(&a, 0, sizeof(a));
	found = answer_hosts(&a, p, n, host);
	HOLDS(found == (a.n > 0));
	answer_holds(&a);

	memset(&a, 0, sizeof(a));
	HOLDS(answer_hosts(&a, p, n, "localhost") == 1);
	answer_holds(&a);

	/* A name of ours, behind all the rest, is found. */
	text = malloc(n + 64);
	HOLDS(text != NULL);
	if (n != 0)
		memcpy(text, p, n);
	n += (size_t)sprintf(text + n, "\n192.0.2.77 a.example B.example");
	memset(&more, 0, sizeof(more));
	HOLDS(answer_hosts(&more, text, n, "b.EXAMPLE") == 1);
	answer_holds(&more);
	free(text);
}

static void
literal_holds(const char *host)
{
	struct resolver_answer a, again;
	char bracketed[NAMES_ADDR_MAX + 4];

	memset(&a, 0, sizeof(a));
	memset(&again, 0, sizeof(again));
	if (answer_literal(&a, host) == 0) {
		HOLDS(a.n == 0);
		return;
	}
	HOLDS(a.n == 1);
	answer_holds(&a);
	snprintf(bracketed, sizeof(bracketed), "[%s]", a.addrs[0]);
	HOLDS(answer_literal(&again, bracketed) == 1);
	HOLDS(strcmp(a.addrs[0], again.addrs[0]) == 0);
}

/* Each name begins with the host; a dot at its end is not asked. */
static void
candidates_hold(const struct resolv_conf *conf, const char *host)
{
	char name[RESOLV_NAME_MAX];
	size_t len = strlen(host);
	unsigned i;

	HOLDS(conf->n_search <= RESOLV_SEARCH_MAX);
	if (len == 0 || len >= HOST_MAX)
		return;
	for (i = 0; resolv_candidate(conf, host, i, name); i++)
		HOLDS(strncmp(name, host, len - 1) == 0);
	HOLDS(i >= 1 && i <= conf->n_search + 1);
}

static void
resolv_holds(struct event_base *base, const char *p, size_t n, const char *host)
{
	struct resolv_conf conf;
	unsigned i;

	HOLDS(resolv_read(&conf, base, p, n) == 0);
	candidates_hold(&conf, host);
	HOLDS(conf.n_servers >= 1 && conf.n_servers <= RESOLV_SERVERS_MAX);
	for (i = 0; i < conf.n_servers; i++)
		HOLDS(evdns_base_count_nameservers(conf.servers[i]) == 1);
	HOLDS(conf.timeout >= 1 && conf.attempts >= 1);
	resolv_clear(&conf, 0);
	HOLDS(conf.n_servers == 0);
	event_base_loop(base, EVLOOP_NONBLOCK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct event_base *base;
	const uint8_t *nl = n > 0 ? memchr(bytes, '\n', n) : NULL;
	size_t len = nl != NULL ? (size_t)(nl - bytes) : n;
	char *host = exact_string(bytes, len), *text;

	fuzz_quiet();
	if (base == NULL)
		base = event_base_new();
	HOLDS(base != NULL);
	literal_holds(host);
	text = exact(bytes, n);
	hosts_hold(text, n, host);
	resolv_holds(base, text, n, host);
	free(text);
	free(host);
	return 0;
}
