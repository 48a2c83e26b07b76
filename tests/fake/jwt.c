/* SPDX-License-Identifier: MIT */
/*
 * EdDSA tokens: signed for the tests, and checked with the words of the Go
 * library that cc-backend uses.  The key is fixed and public on purpose, so
 * that a token outlives a restart; it opens nothing but this stand-in.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"

#define KEY_LEN 32
#define SIG_LEN 64

static const char seed[KEY_LEN + 1] = "stand-in cc-backend's public key";
static EVP_PKEY *pkey;

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void
base64url(struct text *t, const unsigned char *p, size_t n)
{
	uint32_t v;
	size_t i, k;

	for (i = 0; i < n; i += 3) {
		v = (uint32_t)p[i] << 16;
		if (i + 1 < n)
			v |= (uint32_t)p[i + 1] << 8;
		if (i + 2 < n)
			v |= p[i + 2];
		for (k = 0; k < 4 && i + k <= n; k++)
			text_add(t, &alphabet[v >> (18 - 6 * k) & 63], 1);
	}
}

/* Returns the offset of the first bad byte, or -1 when all is well. */
static long
unbase64url(struct text *t, const char *s, size_t n)
{
	uint32_t v = 0;
	const char *at;
	unsigned char c;
	size_t i, bits = 0;

	text_add(t, "", 0);
	for (i = 0; i < n; i++) {
		at = s[i] != '\0' ? strchr(alphabet, s[i]) : NULL;
		if (at == NULL)
			return (long)i;
		v = v << 6 | (uint32_t)(at - alphabet);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			c = (unsigned char)(v >> bits);
			text_add(t, &c, 1);
		}
	}
	return n % 4 == 1 ? (long)n : -1;
}

static int
sign(const struct text *msg, struct text *out)
{
	unsigned char sig[SIG_LEN];
	size_t len = sizeof(sig);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int rc = -1;

	if (ctx == NULL)
		return -1;
	if (EVP_DigestSignInit(ctx, NULL, NULL, NULL, pkey) == 1 &&
	    EVP_DigestSign(ctx, sig, &len, (const unsigned char *)msg->p,
		msg->len) == 1) {
		base64url(out, sig, len);
		rc = 0;
	}
	EVP_MD_CTX_free(ctx);
	return rc;
}

int
jwt_sign(const char *claims, struct text *token)
{
	static const char head[] = "{\"alg\":\"EdDSA\",\"typ\":\"JWT\"}";
	struct text sig = { 0 };
	int rc;

	base64url(token, (const unsigned char *)head, strlen(head));
	text_str(token, ".");
	base64url(token, (const unsigned char *)claims, strlen(claims));
	rc = sign(token, &sig);
	if (rc == 0)
		text_fmt(token, ".%s", sig.p);
	text_clear(&sig);
	return rc;
}

void
jwt_key(struct text *base64)
{
	unsigned char key[2 * KEY_LEN], out[128];
	size_t len = KEY_LEN;

	memcpy(key, seed, KEY_LEN);
	EVP_PKEY_get_raw_public_key(pkey, key + KEY_LEN, &len);
	EVP_EncodeBlock(out, key, sizeof(key));
	text_str(base64, (char *)out);
}

/* The token of the file, if it is still good. */
static int
token_read(const char *file, struct text *token)
{
	struct text err = { 0 };
	char buf[8192];
	json_t *claims;
	ssize_t n;
	int fd;

	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	while (n > 0 && (buf[n - 1] == '\n' || buf[n - 1] == ' '))
		n--;
	if (n <= 0)
		return -1;
	buf[n] = '\0';
	claims = jwt_verify(buf, &err);
	text_clear(&err);
	if (claims == NULL)
		return -1;
	json_decref(claims);
	text_str(token, buf);
	return 0;
}

static int
token_write(const char *file, const struct text *token)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int rc;

	if (fd == -1)
		return -1;
	rc = write(fd, token->p, token->len) == (ssize_t)token->len ? 0 : -1;
	return close(fd) == 0 ? rc : -1;
}

int
jwt_init(const char *tokenfile, struct text *token)
{
	char claims[256];
	long now = (long)time(NULL);

	if (pkey == NULL)
		pkey = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL,
		    (const unsigned char *)seed, KEY_LEN);
	if (pkey == NULL)
		return -1;
	if (tokenfile != NULL && token_read(tokenfile, token) == 0)
		return 0;
	/* Valid for 2,000 hours. */
	snprintf(claims, sizeof(claims),
	    "{\"exp\":%ld,\"iat\":%ld,"
	    "\"roles\":[\"api\"],\"sub\":\"api\"}",
	    now + 7200000, now);
	if (jwt_sign(claims, token) == -1)
		return -1;
	return tokenfile != NULL ? token_write(tokenfile, token) : 0;
}

/* One part of the token: base64, then JSON. */
static json_t *
part_read(const char *what, const char *s, size_t n, struct text *err)
{
	struct text raw = { 0 };
	long bad = unbase64url(&raw, s, n);
	json_error_t jerr;
	json_t *v = NULL;

	if (bad >= 0)
		text_fmt(err,
		    "token is malformed: could not base64 decode "
		    "%s: illegal base64 data at input byte %ld",
		    what, bad);
	else if ((v = json_loadb(raw.p, raw.len, 0, &jerr)) == NULL)
		text_fmt(err,
		    "token is malformed: could not JSON decode "
		    "%s: %s",
		    what, jerr.text);
	text_clear(&raw);
	return v;
}

/* The last token that was found good: the check costs 0.1 ms. */
static char *known;

static int
signature_check(const char *token, const char *sig, struct text *err)
{
	struct text raw = { 0 };
	EVP_MD_CTX *ctx;
	int ok = 0;

	if (known != NULL && strcmp(known, token) == 0)
		return 0;
	ctx = EVP_MD_CTX_new();
	if (unbase64url(&raw, sig, strlen(sig)) == -1 && ctx != NULL &&
	    raw.len == SIG_LEN &&
	    EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, pkey) == 1)
		ok = EVP_DigestVerify(ctx, (unsigned char *)raw.p, raw.len,
			 (const unsigned char *)token,
			 (size_t)(sig - 1 - token)) == 1;
	EVP_MD_CTX_free(ctx);
	text_clear(&raw);
	if (!ok) {
		text_str(err,
		    "token signature is invalid: "
		    "ed25519: verification error");
		return -1;
	}
	free(known);
	known = xstrdup(token);
	return 0;
}

static int
claims_check(json_t *claims, struct text *err)
{
	json_t *exp = json_object_get(claims, "exp");
	json_t *nbf = json_object_get(claims, "nbf");
	double now = (double)time(NULL);
	const char *why = NULL;

	if (exp != NULL && !json_is_number(exp))
		why = "invalid type for claim: exp is invalid";
	else if (nbf != NULL && !json_is_number(nbf))
		why = "invalid type for claim: nbf is invalid";
	else if (exp != NULL && now >= json_number_value(exp))
		why = "token is expired";
	else if (nbf != NULL && now < json_number_value(nbf))
		why = "token is not valid yet";
	if (why == NULL)
		return 0;
	text_fmt(err, "token has invalid claims: %s", why);
	return -1;
}

static int
alg_check(json_t *head, struct text *err)
{
	const char *alg = json_string_value(json_object_get(head, "alg"));

	if (alg != NULL && strcmp(alg, "EdDSA") == 0)
		return 0;
	text_str(err,
	    "token is unverifiable: error while executing "
	    "keyfunc: only Ed25519/EdDSA supported");
	return -1;
}

json_t *
jwt_verify(const char *token, struct text *err)
{
	const char *one = strchr(token, '.'), *two;
	json_t *head, *claims = NULL;

	two = one != NULL ? strchr(one + 1, '.') : NULL;
	if (two == NULL || strchr(two + 1, '.') != NULL) {
		text_str(err,
		    "token is malformed: token contains an "
		    "invalid number of segments");
		return NULL;
	}
	head = part_read("header", token, (size_t)(one - token), err);
	if (head == NULL)
		return NULL;
	claims = part_read("claim", one + 1, (size_t)(two - one - 1), err);
	if (claims != NULL &&
	    (alg_check(head, err) == -1 ||
		signature_check(token, two + 1, err) == -1 ||
		claims_check(claims, err) == -1)) {
		json_decref(claims);
		claims = NULL;
	}
	json_decref(head);
	return claims;
}
