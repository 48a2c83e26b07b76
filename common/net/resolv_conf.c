/* SPDX-License-Identifier: MIT */
/* Reads resolv.conf(5) from memory; the supervisor sends the file. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <event2/dns.h>

#include "common/model/job.h"
#include "common/log.h"
#include "common/net/hosts_file.h"
#include "common/net/resolv_conf.h"

/* As in the C library; further entries are ignored. */
#define SERVERS_MAX 3
#define SEARCH_MAX  6

struct resolv_reader {
	struct evdns_base *dns;
	unsigned servers;
	int searched; /* a search list was given */
};

static void
read_search(struct resolv_reader *r, char **save)
{
	const char *domain;
	unsigned n = 0;

	/* The last such line replaces the earlier ones. */
	evdns_base_search_clear(r->dns);
	r->searched = 1;
	while ((domain = strtok_r(NULL, " \t\r", save)) != NULL &&
	    n++ < SEARCH_MAX)
		evdns_base_search_add(r->dns, domain);
}

static void
read_options(struct resolv_reader *r, char **save)
{
	static const char *const known[] = { "ndots:", "timeout:",
		"attempts:" };
	const char *option;
	size_t i, n;

	while ((option = strtok_r(NULL, " \t\r", save)) != NULL)
		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			n = strlen(known[i]);
			if (strncmp(option, known[i], n) == 0)
				evdns_base_set_option(r->dns, known[i],
				    option + n);
		}
}

static void
read_server(struct resolv_reader *r, char **save)
{
	const char *address = strtok_r(NULL, " \t\r", save);

	if (address == NULL || r->servers == SERVERS_MAX)
		return;
	if (evdns_base_nameserver_ip_add(r->dns, address) != 0)
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
search_own(struct evdns_base *dns)
{
	char host[HOST_MAX];
	const char *dot;

	if (gethostname(host, sizeof(host)) == -1)
		return;
	host[sizeof(host) - 1] = '\0';
	dot = strchr(host, '.');
	if (dot != NULL && dot[1] != '\0')
		evdns_base_search_add(dns, dot + 1);
}

void
resolv_read(struct evdns_base *dns, const char *p, size_t len)
{
	struct resolv_reader r = { dns, 0, 0 };
	char line[NAMES_LINE_MAX];

	while (resolver_line(&p, &len, line))
		read_line(&r, line);
	/*
	 * Answers with up to about 80 addresses.  libevent before 2.2 has neither
	 * this option nor TCP: its answers end after 512 bytes.
	 */
	evdns_base_set_option(dns, "edns-udp-size:", "1232");
	if (!r.searched)
		search_own(dns);
	if (r.servers == 0)
		evdns_base_nameserver_ip_add(dns, "127.0.0.1");
}
