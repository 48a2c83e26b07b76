/* SPDX-License-Identifier: MIT */
/* Hosts and ports of servers; see destination.h. */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/model/destination.h"

#define HTTP_PORT  80
#define HTTPS_PORT 443

/* The port number; 0 when the text is not one. */
static unsigned long
port_read(const char *text)
{
	char *end;
	unsigned long port;

	if (*text < '0' || *text > '9')
		return 0;
	port = strtoul(text, &end, 10);
	return *end == '\0' && port <= 65535 ? port : 0;
}

/* Splits "host:port", "[v6]:port", "v6" or "host". */
static int
host_read(char *text, struct destination *d)
{
	char *host = text, *end, *colon = strchr(text, ':');
	unsigned long port = d->port;

	if (*text == '[') {
		host = text + 1;
		end = strchr(host, ']');
		if (end == NULL || (end[1] != '\0' && end[1] != ':'))
			return -1;
		if (end[1] == ':')
			port = port_read(end + 2);
		*end = '\0';
	} else if (colon != NULL && strchr(colon + 1, ':') == NULL) {
		*colon = '\0';
		port = port_read(colon + 1);
	}
	if (port == 0 || *host == '\0' || strlen(host) >= HOST_MAX)
		return -1;
	strcpy(d->host, host);
	d->port = (uint16_t)port;
	return 0;
}

static int
part_read(const char *text, size_t n, struct destination *d)
{
	char host[HOST_MAX + 16];

	if (n >= sizeof(host))
		return -1;
	memcpy(host, text, n);
	host[n] = '\0';
	return host_read(host, d);
}

int
destination_parse(struct destination *d, const char *text, uint16_t port,
    int tls)
{
	size_t n;

	d->port = port;
	d->tls = tls;
	if (strncmp(text, "nats://", 7) == 0)
		text += 7;
	else if (strncmp(text, "tls://", 6) == 0) {
		text += 6;
		d->tls = 1;
	}
	n = strlen(text);
	if (n > 0 && text[n - 1] == '/')
		n--;
	if (strcspn(text, "@/ \t\"\\%") < n)
		return -1;
	return part_read(text, n, d);
}

int
destination_parse_url(struct destination *d, const char *url)
{
	const char *at;
	size_t n;

	if (strncasecmp(url, "https://", 8) == 0) {
		url += 8;
		d->tls = 1;
	} else if (strncasecmp(url, "http://", 7) == 0) {
		url += 7;
		d->tls = 0;
	} else
		return -1;
	d->port = d->tls ? HTTPS_PORT : HTTP_PORT;
	n = strcspn(url, "/?#");
	at = memrchr(url, '@', n);
	if (at != NULL) {
		n -= (size_t)(at + 1 - url);
		url = at + 1;
	}
	return part_read(url, n, d);
}

int
destination_in_clear(struct destination *d, const char *list, uint16_t port,
    int tls)
{
	char item[HOST_MAX + 32];
	size_t n;

	while (*(list += strspn(list, ", \t")) != '\0') {
		n = strcspn(list, ", \t");
		if (n < sizeof(item)) {
			memcpy(item, list, n);
			item[n] = '\0';
			if (destination_parse(d, item, port, tls) == 0 &&
			    !d->tls && !host_is_local(d->host))
				return 1;
		}
		list += n;
	}
	return 0;
}

int
host_is_local(const char *host)
{
	struct in6_addr six;
	struct in_addr four;

	if (strcasecmp(host, "localhost") == 0)
		return 1;
	if (inet_pton(AF_INET, host, &four) == 1)
		return (ntohl(four.s_addr) >> 24) == IN_LOOPBACKNET;
	return inet_pton(AF_INET6, host, &six) == 1 &&
	    IN6_IS_ADDR_LOOPBACK(&six);
}
