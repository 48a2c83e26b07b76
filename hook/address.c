/* SPDX-License-Identifier: MIT */
/* The addresses of the daemon in the forms of prepSockConnectPath. */
#include "config.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>
#include <strings.h>

#include "hook/hook.h"

#define HOST_BYTES 256 /* a DNS name and its NUL */

static const char *
path_parse(const char *path, struct address_list *list)
{
	struct address *address = &list->at[0];
	size_t n = strlen(path);

	if (n == 0)
		return "the path is empty";
	if (n >= sizeof(address->to.un.sun_path))
		return "the path is too long for a socket";
	address->to.un.sun_family = AF_UNIX;
	memcpy(address->to.un.sun_path, path, n + 1);
	address->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	/* As in Go: '@' stands for the zero byte of an abstract name. */
	if (path[0] == '@')
		address->to.un.sun_path[0] = '\0';
	else
		address->len++;
	list->n = 1;
	return NULL;
}

static int
port_parse(const char *text, in_port_t *port)
{
	unsigned value = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9' && value <= 65535; p++)
		value = value * 10 + (unsigned)(*p - '0');
	if (p == text || *p != '\0' || value == 0 || value > 65535)
		return -1;
	*port = htons((in_port_t)value);
	return 0;
}

static void
ipv4_add(struct address_list *list, struct in_addr host, in_port_t port)
{
	struct address *address = &list->at[list->n++];

	address->to.in.sin_family = AF_INET;
	address->to.in.sin_addr = host;
	address->to.in.sin_port = port;
	address->len = sizeof(address->to.in);
}

static void
ipv6_add(struct address_list *list, const struct sockaddr_in6 *host,
    in_port_t port)
{
	struct address *address = &list->at[list->n++];

	address->to.in6 = *host;
	address->to.in6.sin6_family = AF_INET6;
	address->to.in6.sin6_port = port;
	address->len = sizeof(address->to.in6);
}

static const char *
host_resolve(const char *host, struct address_list *list, in_port_t port)
{
	struct addrinfo hints, *found, *ai;
	union {
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} to;

	memset(&hints, 0, sizeof(hints));
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return "the host name cannot be resolved";
	for (ai = found; ai != NULL && list->n < ADDRESSES_MAX;
	     ai = ai->ai_next) {
		if (ai->ai_addrlen > sizeof(to))
			continue;
		memcpy(&to, ai->ai_addr, ai->ai_addrlen);
		if (ai->ai_family == AF_INET)
			ipv4_add(list, to.in.sin_addr, port);
		else if (ai->ai_family == AF_INET6)
			ipv6_add(list, &to.in6, port);
	}
	freeaddrinfo(found);
	return list->n > 0 ? NULL : "the host has no IPv4 or IPv6 address";
}

/* host is "" or "localhost" for this host, else an address or a name. */
static const char *
host_parse(const char *host, struct address_list *list, in_port_t port)
{
	struct sockaddr_in6 v6 = { .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct in_addr v4 = { .s_addr = htonl(INADDR_LOOPBACK) };

	if (*host == '\0' || strcmp(host, "localhost") == 0) {
		ipv4_add(list, v4, port);
		ipv6_add(list, &v6, port);
	} else if (inet_pton(AF_INET, host, &v4) == 1)
		ipv4_add(list, v4, port);
	else if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1)
		ipv6_add(list, &v6, port);
	else
		return host_resolve(host, list, port);
	return NULL;
}

static const char *
tcp_parse(const char *text, struct address_list *list)
{
	const char *colon = strrchr(text, ':');
	char host[HOST_BYTES];
	in_port_t port;
	size_t n;

	if (colon == NULL || port_parse(colon + 1, &port) == -1)
		return "a port from 1 to 65535 is missing";
	n = (size_t)(colon - text);
	if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	} else if (memchr(text, ':', n) != NULL)
		return "an IPv6 address needs square brackets";
	if (n >= sizeof(host))
		return "the host name is too long";
	memcpy(host, text, n);
	host[n] = '\0';
	return host_parse(host, list, port);
}

/* Keeps the addresses of one family. */
static const char *
family_keep(struct address_list *list, sa_family_t family)
{
	unsigned i, n = 0;

	for (i = 0; i < list->n; i++)
		if (list->at[i].to.sa.sa_family == family)
			list->at[n++] = list->at[i];
	list->n = n;
	return n > 0 ? NULL : "the host has no address of this family";
}

static const char *
tcp_family_parse(const char *text, struct address_list *list,
    sa_family_t family)
{
	const char *wrong = tcp_parse(text, list);

	return wrong != NULL ? wrong : family_keep(list, family);
}

const char *
address_parse(const char *text, struct address_list *list)
{
	memset(list, 0, sizeof(*list));
	/* As the Go adapter, accepts the protocol in capitals, and one family. */
	if (strncasecmp(text, "tcp:", 4) == 0)
		return tcp_parse(text + 4, list);
	if (strncasecmp(text, "tcp4:", 5) == 0)
		return tcp_family_parse(text + 5, list, AF_INET);
	if (strncasecmp(text, "tcp6:", 5) == 0)
		return tcp_family_parse(text + 5, list, AF_INET6);
	if (strncasecmp(text, "unix:", 5) == 0)
		return path_parse(text + 5, list);
	return path_parse(text, list);
}
