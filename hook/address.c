/* SPDX-License-Identifier: MIT */
/* The address of the daemon in the forms of prepSockConnectPath. */
#include "config.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>

#include "hook/hook.h"

#define HOST_BYTES 256 /* a DNS name and its NUL */

static const char *
path_parse(const char *path, struct address *address)
{
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

static const char *
host_resolve(const char *host, struct address *address, in_port_t port)
{
	struct addrinfo hints, *found;

	memset(&hints, 0, sizeof(hints));
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return "the host name cannot be resolved";
	if (found->ai_addrlen > sizeof(address->to)) {
		freeaddrinfo(found);
		return "the host has an address of an unknown family";
	}
	memcpy(&address->to, found->ai_addr, found->ai_addrlen);
	address->len = found->ai_addrlen;
	if (found->ai_family == AF_INET6)
		address->to.in6.sin6_port = port;
	else
		address->to.in.sin_port = port;
	freeaddrinfo(found);
	return NULL;
}

/* host is "" or "localhost" for this host, else an address or a name. */
static const char *
host_parse(const char *host, struct address *address, in_port_t port)
{
	if (*host == '\0' || strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &address->to.in.sin_addr) == 1) {
		address->to.in.sin_family = AF_INET;
		address->to.in.sin_port = port;
		address->len = sizeof(address->to.in);
		return NULL;
	}
	if (inet_pton(AF_INET6, host, &address->to.in6.sin6_addr) == 1) {
		address->to.in6.sin6_family = AF_INET6;
		address->to.in6.sin6_port = port;
		address->len = sizeof(address->to.in6);
		return NULL;
	}
	return host_resolve(host, address, port);
}

static const char *
tcp_parse(const char *text, struct address *address)
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
	return host_parse(host, address, port);
}

const char *
address_parse(const char *text, struct address *address)
{
	memset(address, 0, sizeof(*address));
	if (strncmp(text, "tcp:", 4) == 0)
		return tcp_parse(text + 4, address);
	if (strncmp(text, "unix:", 5) == 0)
		return path_parse(text + 5, address);
	return path_parse(text, address);
}
