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

/* As in the C library; further entries are ignored. */
#define SERVERS_MAX 3
#define NDOTS_MAX   15

struct resolv_reader {
	struct resolv_conf *conf;
	unsigned servers;
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

static void
read_ndots(struct resolv_conf *conf, const char *text)
{
	long ndots = strtol(text, NULL, 10);

	if (ndots >= 0)
		conf->ndots = ndots < NDOTS_MAX ? (unsigned)ndots : NDOTS_MAX;
}

static void
read_options(struct resolv_reader *r, char **save)
{
	static const char *const known[] = { "timeout:", "attempts:" };
	const char *option;
	size_t i, n;

	while ((option = strtok_r(NULL, " \t\r", save)) != NULL) {
		if (strncmp(option, "ndots:", 6) == 0)
			read_ndots(r->conf, option + 6);
		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			n = strlen(known[i]);
			if (strncmp(option, known[i], n) == 0)
				evdns_base_set_option(r->conf->dns, known[i],
				    option + n);
		}
	}
}

static void
read_server(struct resolv_reader *r, char **save)
{
	const char *address = strtok_r(NULL, " \t\r", save);

	if (address == NULL || r->servers == SERVERS_MAX)
		return;
	if (evdns_base_nameserver_ip_add(r->conf->dns, address) != 0)
		log_warnx("resolv.conf: \"%.100s\" is not the address of a "
			  "name server; the line is ignored",
		    address);
	else
		r->servers++;
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
		read_options(r, &save);
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

void
resolv_read(struct resolv_conf *conf, struct evdns_base *dns, const char *p,
    size_t len)
{
	struct resolv_reader r = { conf, 0, 0 };
	char line[NAMES_LINE_MAX];

	conf->dns = dns;
	conf->n_search = 0;
	conf->ndots = 1;
	while (resolver_line(&p, &len, line))
		read_line(&r, line);
	/*
	 * Answers with up to about 80 addresses.  libevent before 2.2 has neither
	 * this option nor TCP: its answers end after 512 bytes.
	 */
	evdns_base_set_option(dns, "edns-udp-size:", "1232");
	if (!r.searched)
		search_own(conf);
	if (r.servers == 0)
		evdns_base_nameserver_ip_add(dns, "127.0.0.1");
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
