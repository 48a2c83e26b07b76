/* SPDX-License-Identifier: MIT */
/*
 * Reads the claim exp of a JWT; see token_expiry.h.  The claims are no secret
 * without the signature, but their copy is wiped with the same care.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/base64.h"
#include "common/text/json_scan.h"
#include "common/text/time_text.h"
#include "submitter/net/token_expiry.h"

#define CLAIMS_MAX 16384 /* base64 characters of the claims */
#define CLAIM_MAX  64	 /* bytes of a name or number with the NUL */
#define DEPTH_MAX  16

/* The claims read so far; of several exp the last one counts, as in Go. */
struct claims {
	struct token_expiry *e;
	int is_exp; /* the value that follows is that of exp */
};

static void
exp_take(struct token_expiry *e, const struct json_scan *s)
{
	char *end;
	double value;

	e->kind = TOKEN_EXP_INVALID;
	if (strcmp(s->text, "null") == 0) {
		e->kind = TOKEN_ENDLESS;
		return;
	}
	if (s->cut || s->len == 0 ||
	    s->text[strspn(s->text, "0123456789+-.eE")] != '\0')
		return;
	value = strtod(s->text, &end);
	if (*end != '\0')
		return;
	e->kind = TOKEN_EXPIRES;
	if (value >= (double)TOKEN_EXPIRES_MAX)
		e->expires = TOKEN_EXPIRES_MAX;
	else
		e->expires = value > 0 ? (int64_t)value : 0;
}

static const char *
on_claim(struct json_scan *s, enum json_event event, void *arg)
{
	struct claims *c = arg;

	if (event == JSON_EV_NAME) {
		c->is_exp = s->depth == 1 && !s->cut &&
		    strcmp(s->text, "exp") == 0;
		return NULL;
	}
	if (c->is_exp && event == JSON_EV_SCALAR)
		exp_take(c->e, s);
	else if (c->is_exp)
		c->e->kind = TOKEN_EXP_INVALID;
	c->is_exp = 0;
	return NULL;
}

/* RFC 7515: base64url without padding.  Returns owned base64, or NULL. */
static char *
base64_of_url(const char *p, size_t n)
{
	char *text;
	size_t i;

	if (n == 0 || n > CLAIMS_MAX || memchr(p, '+', n) != NULL ||
	    memchr(p, '/', n) != NULL || memchr(p, '=', n) != NULL)
		return NULL;
	text = malloc(n + 4);
	if (text == NULL)
		return NULL;
	for (i = 0; i < n; i++)
		text[i] = p[i] == '-' ? '+' : p[i] == '_' ? '/' : p[i];
	while (i % 4 != 0)
		text[i++] = '=';
	text[i] = '\0';
	return text;
}

/* 0, or -1: not an object in JSON. */
static int
claims_read(const uint8_t *p, size_t n, struct token_expiry *e)
{
	struct claims c = { .e = e };
	struct json_scan s;
	char text[CLAIM_MAX];
	int rc = -1;

	e->kind = TOKEN_ENDLESS;
	json_scan_init(&s, '{', text, sizeof(text), on_claim, &c);
	json_scan_set_depth(&s, DEPTH_MAX);
	if (json_scan_feed(&s, (const char *)p, n) == NULL &&
	    json_scan_end(&s) == NULL)
		rc = 0;
	explicit_bzero(text, sizeof(text));
	return rc;
}

/* The second of three parts that dots separate.  0 or -1. */
static int
claims_find(const char *token, const char **claims, size_t *n)
{
	const char *dot = strchr(token, '.'), *end;

	if (dot == NULL || (end = strchr(dot + 1, '.')) == NULL ||
	    strchr(end + 1, '.') != NULL)
		return -1;
	*claims = dot + 1;
	*n = (size_t)(end - dot - 1);
	return 0;
}

void
token_expiry_read(const char *token, struct token_expiry *e)
{
	const char *claims;
	uint8_t *bytes = NULL;
	char *text = NULL;
	size_t n;

	e->kind = token == NULL || *token == '\0' ? TOKEN_NONE : TOKEN_OPAQUE;
	e->expires = 0;
	if (e->kind == TOKEN_NONE || claims_find(token, &claims, &n) == -1)
		return;
	text = base64_of_url(claims, n);
	if (text != NULL)
		bytes = base64_bytes(text, &n);
	if (bytes == NULL || claims_read(bytes, n, e) == -1)
		e->kind = TOKEN_OPAQUE;
	if (e->kind != TOKEN_EXPIRES)
		e->expires = 0;
	if (bytes != NULL)
		explicit_bzero(bytes, n);
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(bytes);
	free(text);
}

const char *
token_kind_name(enum token_kind kind)
{
	static const char *const names[] = {
		[TOKEN_NONE] = "none",
		[TOKEN_OPAQUE] = "opaque",
		[TOKEN_EXP_INVALID] = "invalid",
		[TOKEN_ENDLESS] = "endless",
		[TOKEN_EXPIRES] = "expires",
	};

	return names[kind];
}

void
token_expiry_text(const struct token_expiry *e, int64_t now, char *buf,
    size_t size)
{
	int64_t left = (e->expires - now) * 1000;

	switch (e->kind) {
	case TOKEN_NONE:
		snprintf(buf, size, "none");
		break;
	case TOKEN_OPAQUE:
		snprintf(buf, size, "not a JWT: its expiry is not known");
		break;
	case TOKEN_EXP_INVALID:
		snprintf(buf, size, "a JWT whose exp is not a number");
		break;
	case TOKEN_ENDLESS:
		snprintf(buf, size, "without exp: it does not expire");
		break;
	case TOKEN_EXPIRES:
		snprintf(buf, size,
		    left > 0 ? "expires %s, in %s" : "expired %s, %s ago",
		    time_text(e->expires),
		    duration_text(left > 0 ? left : -left));
		break;
	}
}

enum token_stage
token_stage(const struct token_expiry *e, int64_t now)
{
	if (e->kind != TOKEN_EXPIRES || e->expires - now > TOKEN_SOON_S)
		return TOKEN_VALID;
	if (e->expires - now > TOKEN_VERY_SOON_S)
		return TOKEN_SOON;
	return e->expires > now ? TOKEN_VERY_SOON : TOKEN_EXPIRED;
}
