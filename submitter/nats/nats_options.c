/* SPDX-License-Identifier: MIT */
/*
 * libnats' options for one server.  Secrets are handed over from memory, for
 * the chroot has no files; a copy that libnats makes of a password is beyond
 * our reach.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submitter/nats/nats_conf.h"
#include "submitter/nats/system_ca.h"

/* A broker that does not answer a connection in this time is away. */
#define CONNECT_MS	3000
/* Nor may it leave bytes unread for longer. */
#define WRITE_MS	3000
/* An idle connection is tried this often; the second silence ends it. */
#define PING_MS		20000
#define PINGS_OUT	2

/* libnats asks for these when it connects, in the thread that connects. */
static natsStatus
on_jwt(char **jwt, char **error, void *arg)
{
	const struct nats_conf *nc = arg;

	(void)error;
	*jwt = strdup(nc->jwt);
	return *jwt != NULL ? NATS_OK : NATS_NO_MEMORY;
}

static natsStatus
on_sign(char **error, unsigned char **signature, int *len, const char *nonce,
    void *arg)
{
	const struct nats_conf *nc = arg;

	(void)error;
	return nats_Sign(nc->seed, nonce, signature, len);
}

/*
 * libnats puts a login into its JSON as it is, so a quote or
 * backslash in a password would break it.  Owned, wiped by secret_free().
 */
static char *
json_escaped(const char *s)
{
	char *out = malloc(strlen(s) * 6 + 1), *p = out;

	if (out == NULL)
		return NULL;
	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < ' ')
			p += sprintf(p, "\\u%04x", (unsigned char)*s);
		else {
			if (*s == '"' || *s == '\\')
				*p++ = '\\';
			*p++ = *s;
		}
	}
	*p = '\0';
	return out;
}

static natsStatus
set_words(natsOptions *o, const struct nats_conf *nc)
{
	char *user = NULL, *word;
	natsStatus s = NATS_NO_MEMORY;

	word = json_escaped(nc->login == LOGIN_TOKEN ? nc->token :
	    nc->password != NULL ? nc->password : "");
	if (word != NULL && nc->login == LOGIN_TOKEN)
		s = natsOptions_SetToken(o, word);
	else if (word != NULL) {
		user = json_escaped(nc->user);
		if (user != NULL)
			s = natsOptions_SetUserInfo(o, user, word);
	}
	secret_free(user);
	secret_free(word);
	return s;
}

static natsStatus
set_login(natsOptions *o, struct nats_conf *nc)
{
	switch (nc->login) {
	case LOGIN_USER:
	case LOGIN_TOKEN:
		return set_words(o, nc);
	case LOGIN_CREDS:
		return natsOptions_SetUserCredentialsCallbacks(o, on_jwt, nc,
		    on_sign, nc);
	case LOGIN_NKEY:
		return natsOptions_SetNKey(o, nc->public, on_sign, nc);
	case LOGIN_NONE:
		break;
	}
	return NATS_OK;
}

static natsStatus
set_tls(natsOptions *o, const struct nats_conf *nc,
    const struct nats_server *server)
{
	char *system = NULL;
	const char *ca = nc->ca;
	natsStatus s;

	s = natsOptions_SetSecure(o, server->tls != 0);
	if (s == NATS_OK && ca == NULL)
		ca = system = nats_cert_system();
	if (s == NATS_OK && ca != NULL)
		s = natsOptions_SetCATrustedCertificates(o, ca);
	if (s == NATS_OK && nc->cert != NULL)
		s = natsOptions_SetCertificatesChain(o, nc->cert, nc->key);
	if (s == NATS_OK)
		s = natsOptions_SetExpectedHostname(o, server->host);
	free(system);
	return s;
}

/* A connection of one life: what breaks is made anew by us, not by libnats. */
static natsStatus
set_life(natsOptions *o)
{
	natsStatus s;

	s = natsOptions_SetAllowReconnect(o, false);
	if (s == NATS_OK)
		s = natsOptions_SetTimeout(o, CONNECT_MS);
	if (s == NATS_OK)
		s = natsOptions_SetWriteDeadline(o, WRITE_MS);
	if (s == NATS_OK)
		s = natsOptions_SetPingInterval(o, PING_MS);
	if (s == NATS_OK)
		s = natsOptions_SetMaxPingsOut(o, PINGS_OUT);
	if (s == NATS_OK)
		s = natsOptions_SetIgnoreDiscoveredServers(o, true);
	/* Saves the flushing thread: we flush after each batch. */
	if (s == NATS_OK)
		s = natsOptions_SetSendAsap(o, true);
	if (s == NATS_OK)
		s = natsOptions_SetName(o, "cc-slurm-adapter");
	return s;
}

natsStatus
nats_conf_options(struct nats_conf *nc, const struct nats_server *server,
    const char *address, natsOptions **opts)
{
	char url[128];
	natsStatus s;

	snprintf(url, sizeof(url), strchr(address, ':') != NULL ?
	    "%s://[%s]:%u" : "%s://%s:%u", server->tls ? "tls" : "nats",
	    address, server->port);
	*opts = NULL;
	s = natsOptions_Create(opts);
	if (s == NATS_OK)
		s = natsOptions_SetURL(*opts, url);
	if (s == NATS_OK)
		s = set_life(*opts);
	if (s == NATS_OK)
		s = set_login(*opts, nc);
	/* A broker may insist on TLS without being asked for it. */
	if (s == NATS_OK &&
	    (server->tls || nc->ca != NULL || nc->cert != NULL))
		s = set_tls(*opts, nc, server);
	return s;
}
