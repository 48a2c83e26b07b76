/* SPDX-License-Identifier: MIT */
/*
 * The claims of a JWT: the input as the whole token, and as its claims.  For an
 * object whose exp is an integer, jansson and the suite agree.
 */
#include "config.h"

#include <jansson.h>

#include "common/text/base64.h"
#include "submitter/net/token_expiry.h"
#include "tests/fuzz/fuzz.h"

static void
values_check(const struct token_expiry *e)
{
	char text[128];

	HOLDS(e->expires >= 0 && e->expires <= TOKEN_EXPIRES_MAX);
	HOLDS(e->kind == TOKEN_EXPIRES || e->expires == 0);
	HOLDS(token_stage(e, 1763733600) <= TOKEN_EXPIRED);
	token_expiry_text(e, 1763733600, text, sizeof(text));
	HOLDS(text[0] != '\0');
}

/* Returns owned: a token with these claims. */
static char *
token_of(const uint8_t *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789-_";
	char *token = malloc(n / 3 * 4 + 16), *p = token;
	uint32_t v;
	size_t i, k;

	HOLDS(token != NULL);
	p = stpcpy(p, "h.");
	for (i = 0; i < n; i += 3) {
		for (v = 0, k = 0; k < 3; k++)
			v = v << 8 | (i + k < n ? bytes[i + k] : 0);
		for (k = 0; k < 4 && i + k <= n; k++)
			*p++ = digits[v >> (18 - 6 * k) & 63];
	}
	stpcpy(p, ".s");
	return token;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *whole = exact_string(bytes, n), *token;
	struct token_expiry e;
	json_t *claims, *exp;
	json_int_t v;

	token_expiry_read(whole, &e);
	values_check(&e);
	free(whole);
	token = token_of(bytes, n);
	token_expiry_read(token, &e);
	values_check(&e);
	claims = json_loadb((const char *)bytes, n, 0, NULL);
	exp = json_object_get(claims, "exp");
	v = json_is_integer(exp) ? json_integer_value(exp) : -1;
	if (v >= 0 && v <= TOKEN_EXPIRES_MAX && e.kind != TOKEN_OPAQUE)
		HOLDS(e.kind == TOKEN_EXPIRES && e.expires == v);
	json_decref(claims);
	free(token);
	return 0;
}
