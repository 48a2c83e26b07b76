/* SPDX-License-Identifier: MIT */
/* Reads resolv.conf(5) from memory; the supervisor sends the file. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/dns.h>

#include "common/model/job.h"
#include "common/log.h"
#include "common/net/hosts_file.h"
#include "common/net/resolv_conf.h"

#define NDOTS_MAX    15 /* as in the C library */
#define ATTEMPTS_MAX 5	/* as in the C library */
#define ATTEMPTS     3
/* s; the resolver's limit for a lookup is the time of three servers. */
#define TIMEOUT_MAX 5

struct resolv_reader {
	struct resolv_conf *conf;
	struct event_base *base;
	int searched; /* a search list was given */
};

/* Adds a domain without its dots at the ends.  A longer one has no name. */
static void
search_add(struct resolv_conf *conf, const char *domain)
{
	size_t n;

	domain += strspn(domain, ".");
	n = strlen(domain);
	if (n > 0 && domain[n - 1] == '.')
		n--;
	if (n >= HOST_MAX)
		return;
	memcpy(conf->search[conf->n_search], domain, n);
	conf->search[conf->n_search++][n] = '\0';
}

static void
read_search(struct resolv_reader *r, char **save)
{
	const char *domain;

	/* The last such line replaces the earlier ones. */
	r->conf->n_search = 0;
	r->searched = 1;
	while ((domain = strtok_r(NULL, " \t\r", save)) != NULL) {
		if (r->conf->n_search == RESOLV_SEARCH_MAX) {
			log_warnx(
			    "resolv.conf: the search list has more than "
			    "%d domains; \"%.100s\" and the next ones are "
			    "ignored",
			    RESOLV_SEARCH_MAX, domain);
			return;
		}
		search_add(r->conf, domain);
	}
}

/* Reads a number; one outside of the range becomes its end. */
static void
read_number(unsigned *to, const char *text, long min, long max)
{
	long value = strtol(text, NULL, 10);

	*to = (unsigned)(value < min ? min : value > max ? max : value);
}

static void
read_options(struct resolv_conf *conf, char **save)
{
	const char *option;

	while ((option = strtok_r(NULL, " \t\r", save)) != NULL)
		if (strncmp(option, "ndots:", 6) == 0)
			read_number(&conf->ndots, option + 6, 0, NDOTS_MAX);
		else if (strncmp(option, "timeout:", 8) == 0)
			read_number(&conf->timeout, option + 8, 1, TIMEOUT_MAX);
		else if (strncmp(option, "attempts:", 9) == 0)
			read_number(&conf->attempts, option + 9, 1,
			    ATTEMPTS_MAX);
}

/* 0 when the address is not one of a name server. */
static int
server_add(struct resolv_reader *r, const char *address)
{
	struct evdns_base *dns = evdns_base_new(r->base, 0);

	if (dns == NULL)
		return 1; /* resolv_read() finds that there is no server */
	if (evdns_base_nameserver_ip_add(dns, address) != 0) {
		evdns_base_free(dns, 0);
		return 0;
	}
	r->conf->servers[r->conf->n_servers++] = dns;
	return 1;
}

static void
read_server(struct resolv_reader *r, char **save)
{
	const char *address = strtok_r(NULL, " \t\r", save);

	if (address == NULL || r->conf->n_servers == RESOLV_SERVERS_MAX)
		return;
	if (!server_add(r, address))
		log_warnx("resolv.conf: \"%.100s\" is not the address of a "
			  "name server; the line is ignored",
		    address);
}

static void
read_line(struct resolv_reader *r, char *line)
{
	char *save = NULL;
	const char *word;

	line[strcspn(line, "#;")] = '\0';
	word = strtok_r(line, " \t\r", &save);
	if (word == NULL)
		return;
	if (strcmp(word, "nameserver") == 0)
		read_server(r, &save);
	else if (strcmp(word, "search") == 0 || strcmp(word, "domain") == 0)
		read_search(r, &save);
	else if (strcmp(word, "options") == 0)
		read_options(r->conf, &save);
}

/* The default search list: this host's domain. */
static void
search_own(struct resolv_conf *conf)
{
	char host[HOST_MAX];
	const char *dot;

	if (gethostname(host, sizeof(host)) == -1)
		return;
	host[sizeof(host) - 1] = '\0';
	dot = strchr(host, '.');
	if (dot != NULL && dot[1] != '\0')
		search_add(conf, dot + 1);
}

/* The options of a server are the last ones of the file. */
static void
server_configure(const struct resolv_conf *conf, struct evdns_base *dns)
{
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%u", conf->timeout);
	evdns_base_set_option(dns, "timeout:", seconds);
	/* The resolver repeats a question: by another server, if there is one. */
	evdns_base_set_option(dns, "attempts:", "1");
	/*
	 * Answers with up to about 80 addresses.  libevent before 2.2 has neither
	 * this option nor TCP: its answers end after 512 bytes.
	 */
	evdns_base_set_option(dns, "edns-udp-size:", "1232");
}

int
resolv_read(struct resolv_conf *conf, struct event_base *base, const char *p,
    size_t len)
{
	struct resolv_reader r = { conf, base, 0 };
	char line[NAMES_LINE_MAX];
	unsigned i;

	conf->n_servers = conf->n_search = 0;
	conf->ndots = 1;
	conf->timeout = TIMEOUT_MAX;
	conf->attempts = ATTEMPTS;
	while (resolver_line(&p, &len, line))
		read_line(&r, line);
	if (!r.searched)
		search_own(conf);
	if (conf->n_servers == 0)
		server_add(&r, "127.0.0.1");
	for (i = 0; i < conf->n_servers; i++)
		server_configure(conf, conf->servers[i]);
	return conf->n_servers == 0 ? -1 : 0;
}

void
resolv_clear(struct resolv_conf *conf, int fail)
{
	while (conf->n_servers > 0)
		evdns_base_free(conf->servers[--conf->n_servers], fail);
}

static unsigned
dots(const char *host)
{
	unsigned n = 0;

	for (; *host != '\0'; host++)
		n += *host == '.';
	return n;
}

int
resolv_candidate(const struct resolv_conf *conf, const char *host, unsigned i,
    char name[RESOLV_NAME_MAX])
{
	size_t n = strlen(host);
	int first = dots(host) >= conf->ndots; /* as is, then the list */
	const char *domain = "";

	if (n > 1 && host[n - 1] == '.') {
		snprintf(name, RESOLV_NAME_MAX, "%.*s", (int)n - 1, host);
		return i == 0;
	}
	if (i > conf->n_search)
		return 0;
	if (i != (first ? 0 : conf->n_search))
		domain = conf->search[first ? i - 1 : i];
	snprintf(name, RESOLV_NAME_MAX, "%s%s%s", host,
	    *domain != '\0' ? "." : "", domain);
	return 1;
}
