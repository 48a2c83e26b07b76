/* SPDX-License-Identifier: MIT */
/*
 * Reads the configuration of NATS: servers, logins, refused values.  The keys
 * were made for this test.
 */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>

#include "common/nats/nats_options.h"
#include "tests/unit/check.h"

#define TEST_SEED   "SUAHBKZPNS2CG3FA7K67AIARPOZCQ45RWYXNX54WW7RBFRBNL7MHT64LG4"
#define TEST_PUBLIC "UAPI46JOKM24N5SQXVUGCMYZHL2R7QWW3T4TB67TEBMUIZOEW6FHONKV"
#define TEST_JWT    "eyJ0eXAiOiJKV1QifQ.eyJuYW1lIjoidGVzdCJ9.c2lnbmF0dXJl"
#define TEST_CREDS \
	"-----BEGIN NATS USER JWT-----\r\n" TEST_JWT "\r\n" \
	"------END NATS USER JWT------\n\nIMPORTANT: keep it secret.\n" \
	"-----BEGIN USER NKEY SEED-----\n" TEST_SEED "\n" \
	"------END USER NKEY SEED------\n"

static char why[256];

static void
secret(struct writer *w, enum conf_key key, const char *value)
{
	wr_u16(w, (uint16_t)key);
	wr_blob(w, value, strlen(value));
}

/* A configuration of keys and values, ended by CONF__COUNT. */
static struct nats_conf *
made(const struct writer *secrets, int key, ...)
{
	struct nats_conf *nc;
	struct conf conf;
	va_list ap;

	conf_init(&conf);
	va_start(ap, key);
	for (; key != CONF__COUNT; key = va_arg(ap, int))
		conf_set(&conf, (enum conf_key)key, va_arg(ap, const char *));
	va_end(ap);
	why[0] = '\0';
	nc = nats_conf_new(&conf, secrets->buf, secrets->len, why, sizeof(why));
	conf_clear(&conf);
	return nc;
}

/* The only server that is read from the text. */
static const char *
server(const char *text)
{
	static char buf[HOST_MAX + 32];
	struct writer none;
	struct nats_conf *nc;

	wr_init(&none, CONF_SECRETS_MAX);
	nc = made(&none, CONF_NATS_SERVER, text, CONF__COUNT);
	if (nc == NULL)
		return "none";
	snprintf(buf, sizeof(buf), "%s %u%s", nc->servers[0].host,
	    nc->servers[0].port, nc->servers[0].tls ? " tls" : "");
	nats_conf_free(nc);
	return buf;
}

static void
check_servers(void)
{
	char longer[400];

	CHECK_STR(server("nats.example"), "nats.example 4222");
	CHECK_STR(server("nats.example:14222"), "nats.example 14222");
	CHECK_STR(server("nats://nats.example"), "nats.example 4222");
	CHECK_STR(server("nats://nats.example:1/"), "nats.example 1");
	CHECK_STR(server("tls://10.0.0.1:4443"), "10.0.0.1 4443 tls");
	CHECK_STR(server("::1"), "::1 4222");
	CHECK_STR(server("[::1]"), "::1 4222");
	CHECK_STR(server("tls://[fd00::1]:99"), "fd00::1 99 tls");
	CHECK_STR(server("nats://"), "none");
	CHECK_STR(server("a:"), "none");
	CHECK_STR(server("a:0"), "none");
	CHECK_STR(server("a:65536"), "none");
	CHECK_STR(server("a:-1"), "none");
	CHECK_STR(server("a:1x"), "none");
	CHECK_STR(server("[::1"), "none");
	CHECK_STR(server("[::1]x"), "none");
	CHECK_STR(server("http://a"), "none");
	CHECK_STR(server("a/b"), "none");
	CHECK_STR(server("u@a"), "none");
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	CHECK_STR(server(longer), "none");
}

static void
check_conf(void)
{
	struct nats_conf *a, *b;
	struct writer none, w;

	wr_init(&none, CONF_SECRETS_MAX);
	wr_init(&w, CONF_SECRETS_MAX);
	a = made(&none, CONF__COUNT);
	CHECK(a != NULL && a->n_servers == 0);
	nats_conf_free(a);
	a = made(&none, CONF_NATS_SERVER, "n1, nats://n2:1,tls://n3",
	    CONF__COUNT);
	CHECK(a != NULL && a->n_servers == 3 && a->login == LOGIN_NONE);
	CHECK_STR(a->servers[2].host, "n3");
	CHECK(a->servers[2].tls && !a->servers[1].tls);
	CHECK_STR(a->subject, "jobs");
	secret(&w, CONF_NATS_USER, "u");
	secret(&w, CONF_NATS_PASSWORD, "geheim");
	b = made(&w, CONF_NATS_SERVER, "n1,n2:1,tls://n3", CONF__COUNT);
	CHECK(b != NULL && b->login == LOGIN_USER);
	CHECK(!nats_conf_equal(a, b) && nats_conf_equal(a, a));
	nats_conf_free(a);
	a = made(&w, CONF_NATS_SERVER, "n1,n2:1,tls://n3", CONF__COUNT);
	CHECK(nats_conf_equal(a, b));
	nats_conf_free(a);
	nats_conf_free(b);
	secret(&w, CONF_NATS_CREDS_FILE, TEST_CREDS);
	a = made(&w, CONF_NATS_SERVER, "n1", CONF__COUNT);
	CHECK(a != NULL && a->login == LOGIN_CREDS);
	nats_conf_free(a);
	secret(&w, CONF_NATS_NKEY_SEED_FILE, TEST_SEED "\n");
	CHECK(made(&w, CONF_NATS_SERVER, "n1", CONF__COUNT) == NULL);
	CHECK(strstr(why, "exclude") != NULL);
	a = made(&w, CONF__COUNT); /* NATS is not in use */
	CHECK(a != NULL);
	nats_conf_free(a);
	wr_reset(&w);
	secret(&w, CONF_NATS_NKEY_SEED_FILE, TEST_SEED "\n");
	a = made(&w, CONF_NATS_SERVER, "n1", CONF__COUNT);
	CHECK(a != NULL && a->login == LOGIN_NKEY);
	CHECK_STR(a->public, TEST_PUBLIC);
	nats_conf_free(a);
	wr_clear(&w);
	wr_clear(&none);
}

static void
check_refused(void)
{
	struct writer none, w;

	wr_init(&none, CONF_SECRETS_MAX);
	wr_init(&w, CONF_SECRETS_MAX);
	CHECK(made(&none, CONF_NATS_SERVER, "u:p@n1", CONF__COUNT) == NULL);
	CHECK(strstr(why, "natsUser") != NULL && strstr(why, "u:p") == NULL);
	CHECK(made(&none, CONF_NATS_SERVER, "n1:x", CONF__COUNT) == NULL);
	CHECK(strstr(why, "n1:x") != NULL);
	CHECK(made(&none, CONF_NATS_SERVER, "n1", CONF_NATS_SUBJECT, "a.>",
		  CONF__COUNT) == NULL);
	CHECK(made(&none, CONF_NATS_SERVER, "n1", CONF_NATS_SUBJECT, "a b",
		  CONF__COUNT) == NULL);
	CHECK(made(&none, CONF_NATS_SERVER, "n1", CONF_NATS_FORMAT, "xml",
		  CONF__COUNT) == NULL);
	secret(&w, CONF_NATS_CREDS_FILE, "nonsense geheim");
	CHECK(made(&w, CONF_NATS_SERVER, "n1", CONF__COUNT) == NULL);
	CHECK(strstr(why, "natsCredsFile") != NULL);
	CHECK(strstr(why, "geheim") == NULL);
	wr_reset(&w);
	secret(&w, CONF_NATS_NKEY_SEED_FILE, TEST_PUBLIC);
	CHECK(made(&w, CONF_NATS_SERVER, "n1", CONF__COUNT) == NULL);
	wr_reset(&w);
	secret(&w, CONF_NATS_CERT_FILE, "x");
	CHECK(made(&w, CONF_NATS_SERVER, "n1", CONF__COUNT) == NULL);
	secret(&w, CONF_NATS_KEY_FILE, "x");
	CHECK(made(&w, CONF_NATS_SERVER, "tls://n1", CONF__COUNT) == NULL);
	CHECK(strstr(why, "natsCertFile") != NULL);
	wr_reset(&w);
	secret(&w, CONF_NATS_CA_FILE, "no certificate");
	CHECK(made(&w, CONF_NATS_SERVER, "tls://n1", CONF__COUNT) == NULL);
	wr_clear(&w);
	wr_clear(&none);
}

/* deliver "stream": a cluster that publishes to its own stream. */
static void
check_stream(void)
{
	struct nats_conf *a, *b;
	struct writer none;

	wr_init(&none, CONF_SECRETS_MAX);
	CHECK(made(&none, CONF_NATS_SERVER, "n1", CONF_DELIVER, "stream",
		  CONF__COUNT) == NULL);
	CHECK(strstr(why, "clusters") != NULL);
	a = made(&none, CONF_NATS_SERVER, "n1", CONF_DELIVER, "stream",
	    CONF_CLUSTERS, "[\"a.b\",\"c\"]", CONF__COUNT);
	b = made(&none, CONF_NATS_SERVER, "n1", CONF_DELIVER, "stream",
	    CONF_CLUSTERS, "[\"c\"]", CONF__COUNT);
	CHECK(a != NULL && b != NULL);
	CHECK(a->records && !a->jetstream);
	CHECK_STR(a->inbox, "_INBOX_a=2Eb");
	CHECK(nats_conf_equal(a, a) && !nats_conf_equal(a, b));
	nats_conf_free(a);
	nats_conf_free(b);
	a = made(&none, CONF_NATS_SERVER, "n1", CONF_CLUSTERS, "[\"c\"]",
	    CONF__COUNT);
	CHECK(a != NULL && !a->records && a->inbox == NULL);
	nats_conf_free(a);
}

int
main(void)
{
	check_servers();
	check_stream();
	check_conf();
	check_refused();
	return check_done();
}
