/* SPDX-License-Identifier: MIT */
/* The expiry of tokens of each kind, valid, strange and hostile. */
#include "config.h"

#include "common/text/base64.h"
#include "submitter/net/token_expiry.h"
#include "tests/unit/check.h"

#define NOW 1800000000

/* The token with these claims; static memory. */
static const char *
token_of(const char *claims)
{
	static char token[65536];
	char *text = base64_text(claims, strlen(claims)), *p;

	for (p = text; *p != '\0'; p++)
		*p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
	text[strcspn(text, "=")] = '\0';
	snprintf(token, sizeof(token), "eyJhbGciOiJFZERTQSJ9.%s.c2ln", text);
	free(text);
	return token;
}

static enum token_kind
kind_of(const char *token)
{
	struct token_expiry e;

	token_expiry_read(token, &e);
	return e.kind;
}

static void
test_kinds(void)
{
	static const struct {
		const char *claims;
		enum token_kind kind;
		long long expires;
	} cases[] = {
		{ "{\"sub\":\"a\",\"exp\":1900000000}", TOKEN_EXPIRES,
		    1900000000 },
		{ "{\"exp\":1900000000.75}", TOKEN_EXPIRES, 1900000000 },
		{ "{\"exp\":1.9e9}", TOKEN_EXPIRES, 1900000000 },
		{ "{\"exp\":0}", TOKEN_EXPIRES, 0 },
		{ "{\"exp\":-5}", TOKEN_EXPIRES, 0 },
		{ "{\"exp\":99999999999999999999}", TOKEN_EXPIRES,
		    TOKEN_EXPIRES_MAX },
		{ "{\"exp\":1e999}", TOKEN_EXPIRES, TOKEN_EXPIRES_MAX },
		{ "{\"exp\":1,\"exp\":1900000000}", TOKEN_EXPIRES, 1900000000 },
		/* a character of base64url that base64 does not have */
		{ "{\"sub\":\"\xc3\xbf\xc3\xbf?>~\",\"exp\":7}", TOKEN_EXPIRES,
		    7 },
		{ "{\"sub\":\"a\"}", TOKEN_ENDLESS, 0 },
		{ "{}", TOKEN_ENDLESS, 0 },
		{ "{\"exp\":null}", TOKEN_ENDLESS, 0 },
		{ "{\"a\":{\"exp\":1900000000}}", TOKEN_ENDLESS, 0 },
		{ "{\"roles\":[\"exp\",1900000000]}", TOKEN_ENDLESS, 0 },
		{ "{\"exp\":\"1900000000\"}", TOKEN_EXP_INVALID, 0 },
		{ "{\"exp\":[1900000000]}", TOKEN_EXP_INVALID, 0 },
		{ "{\"exp\":true}", TOKEN_EXP_INVALID, 0 },
		{ "{\"exp\":nan}", TOKEN_EXP_INVALID, 0 },
		{ "{\"exp\":0x7fffffff}", TOKEN_EXP_INVALID, 0 },
		{ "{\"exp\":1-2}", TOKEN_EXP_INVALID, 0 },
		{ "[1900000000]", TOKEN_OPAQUE, 0 },
		{ "{\"exp\":1900000000", TOKEN_OPAQUE, 0 },
		{ "", TOKEN_OPAQUE, 0 },
	};
	struct token_expiry e;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		token_expiry_read(token_of(cases[i].claims), &e);
		CHECK_INT(e.kind, cases[i].kind);
		CHECK_INT(e.expires, cases[i].expires);
	}
}

static void
test_no_jwt(void)
{
	static char claims[20000];
	char nested[600];

	CHECK_INT(kind_of(NULL), TOKEN_NONE);
	CHECK_INT(kind_of(""), TOKEN_NONE);
	CHECK_INT(kind_of("secret"), TOKEN_OPAQUE);
	CHECK_INT(kind_of("a.b"), TOKEN_OPAQUE);
	CHECK_INT(kind_of("a..c"), TOKEN_OPAQUE);
	CHECK_INT(kind_of("a.e30.c"), TOKEN_ENDLESS);
	CHECK_INT(kind_of("a.e30.c.d"), TOKEN_OPAQUE);
	CHECK_INT(kind_of("a.e30=.c"), TOKEN_OPAQUE);
	CHECK_INT(kind_of("a.e3*0.c"), TOKEN_OPAQUE);
	CHECK_INT(kind_of("a.e30ab.c"), TOKEN_OPAQUE);
	/* bounded: longer than any real token, deeper than any claim */
	snprintf(claims, sizeof(claims), "{\"a\":\"%*s\",\"exp\":1}", 19900,
	    "");
	CHECK_INT(kind_of(token_of(claims)), TOKEN_OPAQUE);
	snprintf(claims, sizeof(claims), "{\"a\":\"%*s\",\"exp\":1}", 9000, "");
	CHECK_INT(kind_of(token_of(claims)), TOKEN_EXPIRES);
	memset(nested, '[', sizeof(nested) - 1);
	nested[sizeof(nested) - 1] = '\0';
	snprintf(claims, sizeof(claims), "{\"a\":%s", nested);
	CHECK_INT(kind_of(token_of(claims)), TOKEN_OPAQUE);
}

static void
test_stages(void)
{
	struct token_expiry e = { TOKEN_EXPIRES, NOW };

	CHECK_INT(token_stage(&e, NOW - TOKEN_SOON_S - 1), TOKEN_VALID);
	CHECK_INT(token_stage(&e, NOW - TOKEN_SOON_S), TOKEN_SOON);
	CHECK_INT(token_stage(&e, NOW - TOKEN_VERY_SOON_S - 1), TOKEN_SOON);
	CHECK_INT(token_stage(&e, NOW - TOKEN_VERY_SOON_S), TOKEN_VERY_SOON);
	CHECK_INT(token_stage(&e, NOW - 1), TOKEN_VERY_SOON);
	CHECK_INT(token_stage(&e, NOW), TOKEN_EXPIRED);
	e.expires = TOKEN_EXPIRES_MAX;
	CHECK_INT(token_stage(&e, NOW), TOKEN_VALID);
	e.expires = 0;
	CHECK_INT(token_stage(&e, NOW), TOKEN_EXPIRED);
	e.kind = TOKEN_ENDLESS;
	CHECK_INT(token_stage(&e, NOW), TOKEN_VALID);
}

static void
test_texts(void)
{
	struct token_expiry e = { TOKEN_EXPIRES, NOW };
	char text[128];

	setenv("TZ", "UTC", 1);
	token_expiry_text(&e, NOW - 312 * 86400, text, sizeof(text));
	CHECK_STR(text, "expires 2027-01-15T08:00:00+00:00, in 312 d");
	token_expiry_text(&e, NOW + 300, text, sizeof(text));
	CHECK_STR(text, "expired 2027-01-15T08:00:00+00:00, 5 min ago");
	e.kind = TOKEN_ENDLESS;
	token_expiry_text(&e, NOW, text, sizeof(text));
	CHECK_STR(text, "without exp: it does not expire");
	e.kind = TOKEN_OPAQUE;
	token_expiry_text(&e, NOW, text, sizeof(text));
	CHECK_STR(text, "not a JWT: its expiry is not known");
	e.kind = TOKEN_EXP_INVALID;
	token_expiry_text(&e, NOW, text, sizeof(text));
	CHECK_STR(text, "a JWT whose exp is not a number");
	e.kind = TOKEN_NONE;
	token_expiry_text(&e, NOW, text, sizeof(text));
	CHECK_STR(text, "none");
	CHECK_STR(token_kind_name(TOKEN_EXPIRES), "expires");
}

int
main(void)
{
	test_kinds();
	test_no_jwt();
	test_stages();
	test_texts();
	return check_done();
}
