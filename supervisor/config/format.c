/* SPDX-License-Identifier: MIT */
/*
 * The format of single texts.  An error is reported here, where the line is
 * known, and not later by the process that uses the value.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/model/destination.h"
#include "common/model/job.h"
#include "supervisor/config/config_file.h"

#define USER_MAX 32 /* bytes, as useradd has it */
#define PORT_MAX 65535

const char *
conf_format_path(const char *value)
{
	return *value == '/' ? NULL : "must be an absolute path";
}

const char *
conf_format_optional_path(const char *value)
{
	return *value == '\0' ? NULL : conf_format_path(value);
}

const char *
conf_format_user(const char *value)
{
	size_t n = strlen(value);

	if (n == 0 || n > USER_MAX || *value == '-' ||
	    strpbrk(value, " :/,\t") != NULL)
		return "must be the name or number of a user";
	return NULL;
}

const char *
conf_format_optional_user(const char *value)
{
	return *value == '\0' ? NULL : conf_format_user(value);
}

const char *
conf_format_word(const char *value)
{
	if (*value == '\0' || strchr(value, ' ') != NULL)
		return "must be one word";
	return NULL;
}

/* One name, not an option, for -M of Slurm's commands. */
const char *
conf_format_cluster(const char *value)
{
	size_t n = strlen(value);

	if (n == 0 || n >= CLUSTER_MAX || *value == '-' ||
	    strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != n)
		return "must be a cluster's name as sacctmgr shows it";
	return NULL;
}

/* http(s)://HOST[:PORT][/PATH]; the submitter appends the rest. */
const char *
conf_format_url(const char *value)
{
	size_t scheme;

	if (*value == '\0')
		return NULL;
	if (strncasecmp(value, "https://", 8) == 0)
		scheme = 8;
	else if (strncasecmp(value, "http://", 7) == 0)
		scheme = 7;
	else
		return "must begin with https:// or http://";
	if (strcspn(value + scheme, "/:?#") == 0)
		return "must have a host after the scheme";
	if (strpbrk(value, "?# \\\"<>") != NULL)
		return "must have no blank, no ? and no #";
	return NULL;
}

/* '*' and '>' are wildcards, which are not allowed in a publication. */
const char *
conf_format_subject(const char *value)
{
	if (*value == '.' || value[strlen(value) - 1] == '.' ||
	    strstr(value, "..") != NULL || strpbrk(value, " *>") != NULL)
		return "must be a NATS subject without blanks and wildcards";
	return NULL;
}

const char *
conf_format_server(const char *value)
{
	static const char wrong[] =
	    "must be the name or address of a NATS server, or several, "
	    "separated by commas";
	const char *p;

	if (strpbrk(value, "\t\\\"<>") != NULL)
		return wrong;
	for (p = value; *p != '\0'; p++)
		if (*p == ' ' && (p == value || (p[-1] != ',' && p[-1] != ' ')))
			return wrong;
	return NULL;
}

/* The version of cc-backend decides about the body of a request. */
const char *
conf_format_version(const char *value)
{
	unsigned minor, patch;
	int end = 0;

	if (strcmp(value, "auto") == 0)
		return NULL;
	if ((sscanf(value, "1.%2u%n", &minor, &end) == 1 &&
		value[end] == '\0' && minor >= 3) ||
	    (sscanf(value, "1.%2u.%2u%n", &minor, &patch, &end) == 2 &&
		value[end] == '\0' && minor >= 3))
		return NULL;
	return "must be auto or a version of cc-backend from 1.3 on, "
	       "like 1.4 or 1.4.4";
}

/* ADDRESS or ADDRESS/BITS. */
const char *
conf_format_network(const char *value)
{
	static const char wrong[] =
	    "must be an IP address or a network (192.0.2.0/24)";
	unsigned char bytes[sizeof(struct in6_addr)];
	char address[INET6_ADDRSTRLEN];
	size_t n = strcspn(value, "/");
	unsigned long bits;
	char *end;
	int most;

	if (n >= sizeof(address))
		return wrong;
	memcpy(address, value, n);
	address[n] = '\0';
	if (inet_pton(AF_INET, address, bytes) == 1)
		most = 32;
	else if (inet_pton(AF_INET6, address, bytes) == 1)
		most = 128;
	else
		return wrong;
	if (value[n] == '\0')
		return NULL;
	if (!isdigit((unsigned char)value[n + 1]))
		return wrong;
	bits = strtoul(value + n + 1, &end, 10);
	return *end == '\0' && bits <= (unsigned long)most ? NULL : wrong;
}

static int
address_unix(const char *path, struct conf_address *address)
{
	if (*path != '/' || strlen(path) >= sizeof(address->path))
		return -1;
	address->kind = CONF_ADDRESS_UNIX;
	snprintf(address->path, sizeof(address->path), "%s", path);
	return 0;
}

static int
host_is_right(const char *host, size_t n, int bracketed)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (bracketed ? !isxdigit((unsigned char)host[i]) &&
			    strchr(":.%", host[i]) == NULL &&
			    !isalnum((unsigned char)host[i]) :
				!isalnum((unsigned char)host[i]) &&
			    strchr("-._", host[i]) == NULL)
			return 0;
	}
	return !bracketed || n > 0;
}

/* The family of "tcp:", "tcp4:" or "tcp6:", and its length; 0 = another text. */
static size_t
tcp_prefix(const char *value, int *family)
{
	size_t n;

	if (strncasecmp(value, "tcp", 3) != 0)
		return 0;
	*family = value[3] == '4' ? AF_INET :
	    value[3] == '6'	  ? AF_INET6 :
				    AF_UNSPEC;
	n = *family == AF_UNSPEC ? 3 : 4;
	return value[n] == ':' ? n + 1 : 0;
}

/* The part after "tcp:". */
static int
address_tcp(const char *rest, struct conf_address *address)
{
	int bracketed = *rest == '[';
	const char *host = rest + bracketed;
	const char *end = bracketed ? strchr(host, ']') : strchr(host, ':');
	const char *port;
	size_t n;
	long number;

	if (end == NULL || (bracketed && end[1] != ':'))
		return -1;
	n = (size_t)(end - host);
	port = end + 1 + bracketed;
	if (n >= sizeof(address->host) || !host_is_right(host, n, bracketed) ||
	    strlen(port) >= sizeof(address->port) ||
	    port[strspn(port, "0123456789")] != '\0')
		return -1;
	number = strtol(port, NULL, 10);
	if (number < 1 || number > PORT_MAX)
		return -1;
	address->kind = CONF_ADDRESS_TCP;
	memcpy(address->host, host, n);
	address->host[n] = '\0';
	snprintf(address->port, sizeof(address->port), "%ld", number);
	return 0;
}

/* As the Go adapter, accepts the protocol in capitals, and one family. */
int
conf_address_parse(const char *value, struct conf_address *address)
{
	size_t n;

	memset(address, 0, sizeof(*address));
	n = tcp_prefix(value, &address->family);
	if (n > 0)
		return address_tcp(value + n, address);
	if (strncasecmp(value, "unix:", 5) == 0)
		return address_unix(value + 5, address);
	return address_unix(value, address);
}

const char *
conf_format_address(const char *value)
{
	struct conf_address address;

	if (conf_address_parse(value, &address) == 0)
		return NULL;
	return "must be an absolute path of at most 107 bytes, unix:PATH, "
	       "tcp:HOST:PORT, tcp:[IPV6]:PORT or tcp::PORT";
}

/* "127.0.0.1:9310" is the same as "tcp:127.0.0.1:9310". */
int
conf_metrics_address(const char *value, struct conf_address *address)
{
	char text[512];

	if (*value == '/' || strncasecmp(value, "unix:", 5) == 0 ||
	    strncasecmp(value, "tcp:", 4) == 0)
		snprintf(text, sizeof(text), "%s", value);
	else
		snprintf(text, sizeof(text), "tcp:%s", value);
	if (strlen(value) + 4 >= sizeof(text) ||
	    conf_address_parse(text, address) == -1)
		return -1;
	return address->kind == CONF_ADDRESS_UNIX ||
		host_is_local(address->host) ?
	    0 :
	    -1;
}

const char *
conf_format_metrics(const char *value)
{
	struct conf_address address;

	if (*value == '\0' || conf_metrics_address(value, &address) == 0)
		return NULL;
	return "must be a loopback address and a port, as 127.0.0.1:9310 or "
	       "[::1]:9310, or the absolute path of a UNIX socket of at most "
	       "107 bytes";
}
