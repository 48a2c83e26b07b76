/* SPDX-License-Identifier: MIT */
/*
 * Reads the keys of NATS and makes libnats' options of them.  libnats gets the
 * secrets from memory, because the chroot has no files.  libnats keeps a copy
 * of a password and of a user's JWT; this process cannot wipe these copies.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "common/nats/nats_options.h"
#include "common/record/stream_name.h"
#include "common/net/secret.h"
#include "common/net/system_ca.h"

/* Limit for the connection and the login. */
#define CONNECT_MS 3000
/* Limit for a write that the broker does not read. */
#define WRITE_MS 3000
/*
 * TLS 1.2 is the first version with these ciphers, and libnats has no option for
 * the version.  TLS 1.3 has a list of its own.
 */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM"
/* Interval of pings; PINGS_OUT pings without answer end the connection. */
#define PING_MS	  20000
#define PINGS_OUT 2

void
nats_prepare(void)
{
	/* libnats also trusts OpenSSL's default files, where it can read them. */
	setenv("SSL_CERT_FILE", "/dev/null", 1);
	setenv("SSL_CERT_DIR", "/dev/null", 1);
	/* Reads openssl.cnf, which the chroot does not have. */
	OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG |
		OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
	    NULL);
	system_ca_load();
}

struct nats_conf *
nats_conf_ref(struct nats_conf *nc)
{
	atomic_fetch_add(&nc->refs, 1);
	return nc;
}

void
nats_conf_free(struct nats_conf *nc)
{
	if (nc == NULL || atomic_fetch_sub(&nc->refs, 1) != 1)
		return;
	free(nc->subject);
	free(nc->inbox);
	free(nc->clusters);
	secret_free(nc->user);
	secret_free(nc->password);
	secret_free(nc->token);
	secret_free(nc->jwt);
	secret_free(nc->seed);
	secret_free(nc->ca);
	secret_free(nc->cert);
	secret_free(nc->key);
	free(nc);
}

static int
read_servers(struct nats_conf *nc, const struct conf *conf, char *reason,
    size_t size)
{
	const char *list = conf_str(conf, CONF_NATS_SERVER);
	char *copy = strdup(list), *save = NULL, *one;
	int rc = -1;

	if (copy == NULL) {
		snprintf(reason, size, "out of memory");
		return -1;
	}
	for (one = strtok_r(copy, ", \t", &save); one != NULL;
	     one = strtok_r(NULL, ", \t", &save)) {
		if (nc->n_servers == NATS_SERVERS_MAX) {
			snprintf(reason, size,
			    "natsServer names more than %d "
			    "servers",
			    NATS_SERVERS_MAX);
			goto done;
		}
		if (strchr(one, '@') != NULL) {
			snprintf(reason, size,
			    "natsServer contains a "
			    "login: use natsUser and natsPassword");
			goto done;
		}
		if (destination_parse(&nc->servers[nc->n_servers], one,
			(uint16_t)conf_int(conf, CONF_NATS_PORT),
			conf_bool(conf, CONF_NATS_TLS)) == -1) {
			snprintf(reason, size,
			    "natsServer: \"%.200s\" is "
			    "not a host, host:port, nats:// or tls:// address",
			    one);
			goto done;
		}
		nc->n_servers++;
	}
	rc = 0;
done:
	free(copy);
	return rc;
}

/* 1 for a subject without wildcard and without empty token. */
static int
is_subject(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && strcspn(s, " \t\r\n*>") == n && s[0] != '.' &&
	    s[n - 1] != '.' && strstr(s, "..") == NULL;
}

/* Copies one secret; *out is NULL when there is none.  0, or -1. */
static int
secret_get(const uint8_t *secrets, size_t len, enum conf_key key, char **out)
{
	size_t n;
	const uint8_t *p = conf_secret(secrets, len, key, &n);

	*out = NULL;
	if (p == NULL || n == 0)
		return 0;
	*out = secret_copy(p, n);
	return *out != NULL ? 0 : -1;
}

static int
read_secrets(struct nats_conf *nc, const uint8_t *secrets, size_t len,
    char *reason, size_t size)
{
	const struct {
		enum conf_key key;
		char **to;
	} all[] = {
		{ CONF_NATS_USER, &nc->user },
		{ CONF_NATS_PASSWORD, &nc->password },
		{ CONF_NATS_TOKEN, &nc->token },
		{ CONF_NATS_CA_FILE, &nc->ca },
		{ CONF_NATS_CERT_FILE, &nc->cert },
		{ CONF_NATS_KEY_FILE, &nc->key },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (secret_get(secrets, len, all[i].key, all[i].to) == -1) {
			snprintf(reason, size,
			    "%s contains a NUL byte, or out of memory",
			    conf_rule(all[i].key)->name);
			return -1;
		}
	return 0;
}

/* Selects the login: creds file, NKey, token, user, in this order. */
static int
read_login(struct nats_conf *nc, const uint8_t *secrets, size_t len,
    char *reason, size_t size)
{
	size_t n_creds, n_nkey;
	const char *creds, *nkey;

	creds = (const char *)conf_secret(secrets, len, CONF_NATS_CREDS_FILE,
	    &n_creds);
	nkey = (const char *)conf_secret(secrets, len, CONF_NATS_NKEY_SEED_FILE,
	    &n_nkey);
	if (n_creds != 0 && n_nkey != 0) {
		snprintf(reason, size,
		    "natsCredsFile and natsNKeySeedFile exclude each other");
		return -1;
	}
	nc->login = nc->token != NULL ? LOGIN_TOKEN :
	    nc->user != NULL	      ? LOGIN_USER :
					LOGIN_NONE;
	if (n_creds != 0) {
		nc->login = LOGIN_CREDS;
		if (creds_find(creds, n_creds, &nc->jwt, &nc->seed) == -1) {
			snprintf(reason, size,
			    "natsCredsFile contains no "
			    "user JWT with its seed");
			return -1;
		}
	} else if (n_nkey != 0) {
		nc->login = LOGIN_NKEY;
		nc->seed = nkey_find(nkey, n_nkey);
		if (nc->seed == NULL ||
		    nkey_public(nc->seed, nc->public, sizeof(nc->public)) ==
			-1) {
			snprintf(reason, size,
			    "natsNKeySeedFile contains no "
			    "NKey seed");
			return -1;
		}
	}
	return 0;
}

/*
 * A cluster that publishes to its stream: the login permits only its own
 * answers, below _INBOX_CLUSTER.
 */
static int
read_stream(struct nats_conf *nc, const struct conf *conf, char *reason,
    size_t size)
{
	char first[CLUSTER_MAX], inbox[STREAM_NAME_MAX];

	nc->records = 1;
	if (conf_list_item(conf_str(conf, CONF_CLUSTERS), 0, first,
		sizeof(first)) != 1 ||
	    stream_name("_INBOX_", first, inbox, sizeof(inbox)) == -1) {
		snprintf(reason, size,
		    "deliver \"stream\" needs the names of the clusters in "
		    "the key clusters");
		return -1;
	}
	nc->inbox = strdup(inbox);
	nc->subject = strdup("");
	nc->clusters = strdup(conf_str(conf, CONF_CLUSTERS));
	if (nc->inbox == NULL || nc->subject == NULL || nc->clusters == NULL) {
		snprintf(reason, size, "out of memory");
		return -1;
	}
	return 0;
}

static int
read_rest(struct nats_conf *nc, const struct conf *conf, char *reason,
    size_t size)
{
	const char *format = conf_str(conf, CONF_NATS_FORMAT);

	if ((nc->cert == NULL) != (nc->key == NULL)) {
		snprintf(reason, size,
		    "natsCertFile and natsKeyFile must "
		    "be set together");
		return -1;
	}
	if (conf_delivers_to_stream(conf))
		return read_stream(nc, conf, reason, size);
	nc->jetstream = conf_bool(conf, CONF_NATS_JETSTREAM);
	nc->json = strcmp(format, "json") == 0;
	if (!nc->json && strcmp(format, "line-protocol") != 0) {
		snprintf(reason, size,
		    "natsFormat is neither "
		    "\"line-protocol\" nor \"json\"");
		return -1;
	}
	if (!is_subject(conf_str(conf, CONF_NATS_SUBJECT))) {
		snprintf(reason, size,
		    "natsSubject is not a subject for "
		    "publishing: no wildcards, blanks or empty tokens");
		return -1;
	}
	nc->subject = strdup(conf_str(conf, CONF_NATS_SUBJECT));
	if (nc->subject == NULL)
		snprintf(reason, size, "out of memory");
	return nc->subject != NULL ? 0 : -1;
}

/* libnats calls these two in the thread that connects. */
static natsStatus
on_jwt(char **jwt, char **error, void *arg)
{
	const struct nats_conf *nc = arg;

	*jwt = strdup(nc->jwt);
	return *jwt != NULL ? NATS_OK : NATS_NO_MEMORY;
}

static natsStatus
on_sign(char **error, unsigned char **signature, int *len, const char *nonce,
    void *arg)
{
	const struct nats_conf *nc = arg;

	return nats_Sign(nc->seed, nonce, signature, len);
}

/*
 * Returns owned, for secret_free(): the text escaped for JSON.  libnats copies
 * a login into JSON without escaping it.
 */
static char *
json_escaped(const char *s)
{
	char *out = secret_alloc(strlen(s) * 6 + 1), *p = out;

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
set_password(natsOptions *o, const struct nats_conf *nc)
{
	char *user = NULL, *word;
	natsStatus s = NATS_NO_MEMORY;

	word = json_escaped(nc->login == LOGIN_TOKEN ? nc->token :
		nc->password != NULL		     ? nc->password :
						       "");
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
		return set_password(o, nc);
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
    const struct destination *server)
{
	const char *ca = nc->ca;
	natsStatus s;
	size_t len;

	s = natsOptions_SetSecure(o, server->tls != 0);
	if (s == NATS_OK)
		s = natsOptions_SetCiphers(o, CIPHERS);
	if (s == NATS_OK && ca == NULL)
		ca = system_ca(&len);
	if (s == NATS_OK && ca != NULL)
		s = natsOptions_SetCATrustedCertificates(o, ca);
	if (s == NATS_OK && nc->cert != NULL)
		s = natsOptions_SetCertificatesChain(o, nc->cert, nc->key);
	if (s == NATS_OK)
		s = natsOptions_SetExpectedHostname(o, server->host);
	return s;
}

/* libnats must not reconnect: nats_broker.c makes a new connection. */
static natsStatus
set_limits(natsOptions *o)
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
	/* No flusher thread: the caller flushes after each batch. */
	if (s == NATS_OK)
		s = natsOptions_SetSendAsap(o, true);
	if (s == NATS_OK)
		s = natsOptions_SetName(o, "cc-slurm-adapter");
	return s;
}

natsStatus
nats_conf_options(struct nats_conf *nc, const struct destination *server,
    const char *address, natsOptions **opts)
{
	char url[128];
	natsStatus s;

	snprintf(url, sizeof(url),
	    strchr(address, ':') != NULL ? "%s://[%s]:%u" : "%s://%s:%u",
	    server->tls ? "tls" : "nats", address, server->port);
	*opts = NULL;
	s = natsOptions_Create(opts);
	if (s == NATS_OK)
		s = natsOptions_SetURL(*opts, url);
	if (s == NATS_OK)
		s = set_limits(*opts);
	if (s == NATS_OK)
		s = set_login(*opts, nc);
	/* A broker may require TLS although natsTls is not set. */
	if (s == NATS_OK && (server->tls || nc->ca != NULL || nc->cert != NULL))
		s = set_tls(*opts, nc, server);
	return s;
}

/* Checks certificates and key: libnats parses them when it loads them. */
static int
try_options(struct nats_conf *nc, char *reason, size_t size)
{
	natsOptions *opts = NULL;
	natsStatus s;

	if (nc->n_servers == 0)
		return 0;
	s = nats_conf_options(nc, &nc->servers[0], "127.0.0.1", &opts);
	natsOptions_Destroy(opts);
	if (s == NATS_OK)
		return 0;
	snprintf(reason, size, "NATS: %s%s", natsStatus_GetText(s),
	    s == NATS_SSL_ERROR ? ": check natsCaFile, natsCertFile and "
				  "natsKeyFile" :
				  "");
	return -1;
}

struct nats_conf *
nats_conf_new(const struct conf *conf, const uint8_t *secrets, size_t len,
    char *reason, size_t size)
{
	struct nats_conf *nc = calloc(1, sizeof(*nc));

	if (nc == NULL) {
		snprintf(reason, size, "out of memory");
		return NULL;
	}
	atomic_init(&nc->refs, 1);
	if (read_servers(nc, conf, reason, size) == -1)
		goto failed;
	/* Without a server NATS is not used: the other keys do not count. */
	if (nc->n_servers == 0)
		return nc;
	if (read_secrets(nc, secrets, len, reason, size) == -1 ||
	    read_login(nc, secrets, len, reason, size) == -1 ||
	    read_rest(nc, conf, reason, size) == -1 ||
	    try_options(nc, reason, size) == -1)
		goto failed;
	return nc;
failed:
	nats_conf_free(nc);
	return NULL;
}

const char *
nats_conf_clear_host(const struct nats_conf *nc)
{
	unsigned i;

	if (nc->login != LOGIN_USER && nc->login != LOGIN_TOKEN)
		return NULL;
	for (i = 0; i < nc->n_servers; i++)
		if (!nc->servers[i].tls && !host_is_local(nc->servers[i].host))
			return nc->servers[i].host;
	return NULL;
}

static int
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

int
nats_conf_equal(const struct nats_conf *a, const struct nats_conf *b)
{
	unsigned i;

	if (a->n_servers != b->n_servers || a->jetstream != b->jetstream ||
	    a->records != b->records || !same(a->inbox, b->inbox) ||
	    a->login != b->login || a->json != b->json)
		return 0;
	for (i = 0; i < a->n_servers; i++)
		if (strcmp(a->servers[i].host, b->servers[i].host) != 0 ||
		    a->servers[i].port != b->servers[i].port ||
		    a->servers[i].tls != b->servers[i].tls)
			return 0;
	return same(a->subject, b->subject) && same(a->clusters, b->clusters) &&
	    same(a->user, b->user) && same(a->password, b->password) &&
	    same(a->token, b->token) && same(a->jwt, b->jwt) &&
	    same(a->seed, b->seed) && same(a->ca, b->ca) &&
	    same(a->cert, b->cert) && same(a->key, b->key);
}
