/* SPDX-License-Identifier: MIT */
/*
 * Reads cc-backend's address, the token and the certificates from the
 * configuration.  The token exists once, as a header; libcurl copies it for each
 * request, and its allocator wipes the copy.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "common/log.h"
#include "common/net/secret.h"
#include "common/net/system_ca.h"
#include "submitter/net/http_private.h"

#define AUTH_HEADER "X-Auth-Token: "

void
http_prepare(void)
{
	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, wiping_free,
		wiping_realloc, strdup, calloc) != CURLE_OK)
		fatalx("libcurl cannot be initialized");
	system_ca_load();
}

const char *
http_ca(const struct http_conf *rc, size_t *len)
{
	if (rc->ca == NULL)
		return system_ca(len);
	*len = rc->ca_len;
	return rc->ca;
}

struct http_conf *
http_conf_ref(struct http_conf *rc)
{
	rc->refs++;
	return rc;
}

void
http_conf_free(struct http_conf *rc)
{
	if (rc == NULL || --rc->refs > 0)
		return;
	curl_slist_free_all(rc->headers);
	secret_free(rc->auth);
	free(rc->base);
	free(rc->host);
	free(rc->where);
	free(rc->ca);
	free(rc);
}

int
http_conf_usable(const struct http_conf *rc)
{
	return rc != NULL && rc->base != NULL;
}

static int
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

int
http_conf_equal(const struct http_conf *a, const struct http_conf *b)
{
	return a != NULL && b != NULL && same(a->base, b->base) &&
	    same(a->auth, b->auth) && a->ca_len == b->ca_len &&
	    (a->ca_len == 0 || memcmp(a->ca, b->ca, a->ca_len) == 0);
}

static int
is_literal(const char *host)
{
	struct in_addr v4;

	return host[0] == '[' || inet_pton(AF_INET, host, &v4) == 1;
}

/* "/x/" and "/x/api/" become "/x". */
static void
path_trim(char *path)
{
	size_t n = strlen(path);

	while (n > 0 && path[n - 1] == '/')
		path[--n] = '\0';
	if (n >= 4 && strcmp(path + n - 4, "/api") == 0)
		path[n -= 4] = '\0';
	while (n > 0 && path[n - 1] == '/')
		path[--n] = '\0';
}

static char *
part_of(CURLU *u, CURLUPart part, unsigned flags)
{
	char *s = NULL, *copy;

	if (curl_url_get(u, part, &s, flags) != CURLUE_OK)
		return NULL;
	copy = strdup(s);
	curl_free(s);
	return copy;
}

/* Returns NULL, or what is wrong with the address. */
static const char *
url_take(struct http_conf *rc, const char *url)
{
	CURLU *u = curl_url();
	char *scheme = NULL, *port = NULL, *path = NULL, *user = NULL;
	const char *wrong = "is not an address";

	if (u == NULL || curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK)
		goto done;
	scheme = part_of(u, CURLUPART_SCHEME, 0);
	rc->host = part_of(u, CURLUPART_HOST, 0);
	port = part_of(u, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	path = part_of(u, CURLUPART_PATH, 0);
	user = part_of(u, CURLUPART_USER, 0);
	if (scheme == NULL || rc->host == NULL || port == NULL || path == NULL)
		goto done;
	wrong = "must begin with http:// or https://";
	rc->tls = strcmp(scheme, "https") == 0;
	if (!rc->tls && strcmp(scheme, "http") != 0)
		goto done;
	wrong = "must not contain a user or password: the only login is "
		"ccRestJwt";
	if (user != NULL)
		goto done;
	wrong = "out of memory";
	path_trim(path);
	rc->port = strtol(port, NULL, 10);
	rc->literal = is_literal(rc->host);
	if (asprintf(&rc->base, "%s://%s:%s%s/api/", scheme, rc->host, port,
		path) == -1)
		rc->base = NULL;
	if (asprintf(&rc->where, "%s:%s", rc->host, port) == -1)
		rc->where = NULL;
	if (rc->base != NULL && rc->where != NULL)
		wrong = NULL;
done:
	curl_url_cleanup(u);
	free(scheme);
	free(port);
	free(path);
	free(user);
	return wrong;
}

/* A token must be printable without blanks, because it is sent in a header. */
static const char *
token_take(struct http_conf *rc, const uint8_t *p, size_t n)
{
	size_t i;

	while (
	    n > 0 && (p[n - 1] == '\n' || p[n - 1] == '\r' || p[n - 1] == ' '))
		n--;
	if (n == 0)
		return NULL;
	for (i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] >= 0x7f)
			return "the token contains blanks or unprintable bytes";
	rc->auth = secret_alloc(sizeof(AUTH_HEADER) + n);
	if (rc->auth == NULL)
		return "out of memory";
	memcpy(rc->auth, AUTH_HEADER, sizeof(AUTH_HEADER) - 1);
	memcpy(rc->auth + sizeof(AUTH_HEADER) - 1, p, n);
	token_expiry_read(rc->auth + sizeof(AUTH_HEADER) - 1, &rc->expiry);
	return NULL;
}

static const char *
headers_make(struct http_conf *rc)
{
	static const char *const fixed[] = {
		"Content-Type: application/json", "Accept: application/json",
		"Expect:", /* do not wait for 100 Continue */
	};
	struct curl_slist *h;
	size_t i;

	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		h = curl_slist_append(rc->headers, fixed[i]);
		if (h == NULL)
			return "out of memory";
		rc->headers = h;
	}
	return NULL;
}

struct curl_slist *
http_conf_headers(struct http_conf *rc)
{
	if (rc->auth == NULL)
		return rc->headers;
	rc->first.data = rc->auth;
	rc->first.next = rc->headers;
	return &rc->first;
}

struct http_conf *
http_conf_new(const struct conf *conf, const uint8_t *secrets, size_t len,
    char *reason, size_t size)
{
	const char *url = conf_str(conf, CONF_CC_REST_URL), *wrong = NULL;
	struct http_conf *rc = calloc(1, sizeof(*rc));
	const uint8_t *p;
	size_t n;

	if (rc == NULL) {
		snprintf(reason, size, "out of memory");
		return NULL;
	}
	rc->refs = 1;
	/* An address that is not used may have a login. */
	if (url[0] != '\0' && conf_sends_rest(conf)) {
		wrong = url_take(rc, url);
		if (wrong != NULL)
			snprintf(reason, size, "ccRestUrl %s", wrong);
	}
	p = conf_secret(secrets, len, CONF_CC_REST_JWT, &n);
	if (wrong == NULL && p != NULL &&
	    (wrong = token_take(rc, p, n)) != NULL)
		snprintf(reason, size, "ccRestJwt: %s", wrong);
	p = conf_secret(secrets, len, CONF_CC_REST_CA_FILE, &n);
	if (wrong == NULL && p != NULL && n > 0) {
		rc->ca = malloc(n);
		if (rc->ca != NULL) {
			memcpy(rc->ca, p, n);
			rc->ca_len = n;
		} else
			snprintf(reason, size, "%s", wrong = "out of memory");
	}
	if (wrong == NULL && (wrong = headers_make(rc)) != NULL)
		snprintf(reason, size, "%s", wrong);
	if (wrong != NULL) {
		http_conf_free(rc);
		return NULL;
	}
	return rc;
}
