/* SPDX-License-Identifier: MIT */
/*
 * Literal addresses and the hosts file.  The file has no index: a cluster's has
 * thousands of lines, and the daemon resolves a few names, which are cached.
 */
#include "config.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/net/hosts_file.h"

void
answer_add(struct resolver_answer *a, int family, const void *address)
{
	char text[NAMES_ADDR_MAX];
	unsigned i;

	if (a->n == NAMES_ADDRS_MAX ||
	    inet_ntop(family, address, text, sizeof(text)) == NULL)
		return;
	for (i = 0; i < a->n; i++)
		if (strcmp(a->addrs[i], text) == 0)
			return;
	memcpy(a->addrs[a->n++], text, sizeof(text));
}

static int
add_text(struct resolver_answer *a, const char *text, int family)
{
	unsigned char address[16];

	if (inet_pton(family, text, address) != 1)
		return 0;
	answer_add(a, family, address);
	return 1;
}

int
answer_literal(struct resolver_answer *a, const char *host)
{
	char text[NAMES_ADDR_MAX];
	size_t n = strlen(host);

	if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
		host++;
		n -= 2;
	}
	if (n >= sizeof(text))
		return 0;
	memcpy(text, host, n);
	text[n] = '\0';
	return add_text(a, text, AF_INET) || add_text(a, text, AF_INET6);
}

int
resolver_line(const char **p, size_t *len, char line[NAMES_LINE_MAX])
{
	const char *nl = *len > 0 ? memchr(*p, '\n', *len) : NULL;
	size_t all = nl != NULL ? (size_t)(nl - *p) : *len;
	size_t n = all < NAMES_LINE_MAX ? all : NAMES_LINE_MAX - 1;

	if (*len == 0)
		return 0;
	memcpy(line, *p, n);
	line[n] = '\0';
	*p += all + (nl != NULL);
	*len -= all + (nl != NULL);
	return 1;
}

/* Adds the address of the line if the line lists the host. */
static int
line_names(struct resolver_answer *a, char *line, const char *host, int family)
{
	char *save = NULL, *address, *name;

	line[strcspn(line, "#")] = '\0';
	address = strtok_r(line, " \t\r", &save);
	if (address == NULL)
		return 0;
	while ((name = strtok_r(NULL, " \t\r", &save)) != NULL)
		if (strcasecmp(name, host) == 0)
			return add_text(a, address, family);
	return 0;
}

static int
scan(struct resolver_answer *a, const char *p, size_t len, const char *host,
    int family)
{
	char line[NAMES_LINE_MAX];
	int found = 0;

	while (resolver_line(&p, &len, line))
		found |= line_names(a, line, host, family);
	return found;
}

int
answer_hosts(struct resolver_answer *a, const char *bytes, size_t len,
    const char *host)
{
	int found;

	found = scan(a, bytes, len, host, AF_INET);
	found |= scan(a, bytes, len, host, AF_INET6);
	if (!found && strcasecmp(host, "localhost") == 0) {
		add_text(a, "127.0.0.1", AF_INET);
		add_text(a, "::1", AF_INET6);
		found = 1;
	}
	return found;
}
