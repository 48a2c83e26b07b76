/* SPDX-License-Identifier: MIT */
/* See nats_dial.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/nats/nats_dial.h"

void
nats_error_text(natsConnection *nc, natsStatus s, char *buf, size_t size)
{
	const char *text = NULL;

	if (nc != NULL)
		natsConnection_GetLastError(nc, &text);
	if (text == NULL || *text == '\0')
		text = nats_GetLastError(NULL);
	if (text == NULL || *text == '\0')
		text = natsStatus_GetText(s);
	/* Omit the position in libnats' source: "(conn.c:2088): ". */
	if (strncmp(text, "(conn.c:", 8) == 0 && strstr(text, "): ") != NULL)
		text = strstr(text, "): ") + 3;
	snprintf(buf, size, "%s", text);
}

enum nats_trouble
nats_trouble_of(natsStatus s)
{
	return s == NATS_CONNECTION_AUTH_FAILED || s == NATS_NOT_PERMITTED ?
	    TROUBLE_DENIED :
	    TROUBLE_AWAY;
}

/* A connection to one address; why has the reason of a failure. */
static natsStatus
address_try(const struct nats_target *t, const char *address,
    natsConnectionHandler closed, natsErrHandler error, void *arg,
    const char *inbox, natsConnection **nc, char *why, size_t size)
{
	natsOptions *opts = NULL;
	natsStatus s;

	*nc = NULL;
	s = nats_conf_options(t->conf, &t->server, address, &opts);
	if (s == NATS_OK)
		s = natsOptions_SetClosedCB(opts, closed, arg);
	if (s == NATS_OK && error != NULL)
		s = natsOptions_SetErrorHandler(opts, error, arg);
	if (s == NATS_OK && inbox != NULL)
		s = natsOptions_SetCustomInboxPrefix(opts, inbox);
	if (s == NATS_OK)
		s = natsConnection_Connect(nc, opts);
	if (s != NATS_OK) {
		nats_error_text(*nc, s, why, size);
		natsConnection_Destroy(*nc);
		*nc = NULL;
	}
	natsOptions_Destroy(opts);
	return s;
}

natsStatus
nats_dial(struct nats_target *t, natsConnectionHandler closed,
    natsErrHandler error, void *arg, const char *inbox, natsConnection **nc,
    char *where, size_t size)
{
	char first_why[160] = "no address", why[160];
	natsStatus s, first = NATS_NO_SERVER;
	const char *address;
	unsigned i;

	*nc = NULL;
	for (i = 0; i < t->addresses.n; i++) {
		address = t->addresses.addrs[i];
		s = address_try(t, address, closed, error, arg, inbox, nc, why,
		    sizeof(why));
		if (s == NATS_SSL_ERROR && !t->server.tls) {
			/* The broker requires TLS. */
			t->server.tls = 1;
			s = address_try(t, address, closed, error, arg, inbox,
			    nc, why, sizeof(why));
		}
		if (s == NATS_OK) {
			snprintf(where, size, "%s:%u (%s)", t->server.host,
			    t->server.port, address);
			return s;
		}
		if (i == 0 || first == NATS_NO_SERVER) {
			snprintf(first_why, sizeof(first_why), "%s", why);
			first = s;
		}
	}
	snprintf(where, size, "%.60s:%u: %s", t->server.host, t->server.port,
	    first_why);
	return first;
}
