/* SPDX-License-Identifier: MIT */
/*
 * When the token of cc-backend expires: the claim exp of a JWT (RFC 7519,
 * section 4.1.4).  The signature is not verified; cc-backend does that.
 */
#ifndef SUBMITTER_NET_TOKEN_EXPIRY_H
#define SUBMITTER_NET_TOKEN_EXPIRY_H

#include <stddef.h>
#include <stdint.h>

enum token_kind {
	TOKEN_NONE,	   /* there is no token */
	TOKEN_OPAQUE,	   /* not a JWT: its expiry is not known */
	TOKEN_EXP_INVALID, /* a JWT whose exp is not a number */
	TOKEN_ENDLESS,	   /* a JWT without exp: it does not expire */
	TOKEN_EXPIRES
};

struct token_expiry {
	enum token_kind kind;
	int64_t expires; /* epoch, s; 0 unless TOKEN_EXPIRES */
};

#define TOKEN_EXPIRES_MAX 253402300799 /* the end of the year 9999 */

/* token: NUL-terminated, or NULL. */
void token_expiry_read(const char *token, struct token_expiry *e);

/* "none", "opaque", "invalid", "endless" or "expires": a label. */
const char *token_kind_name(enum token_kind kind);
/* A sentence for `status`; now is an epoch, s. */
void token_expiry_text(const struct token_expiry *e, int64_t now, char *buf,
    size_t size);

/* How soon the token expires; each stage is logged once. */
enum token_stage {
	TOKEN_VALID,	 /* or its expiry is not known */
	TOKEN_SOON,	 /* it expires within 14 days */
	TOKEN_VERY_SOON, /* it expires within 3 days */
	TOKEN_EXPIRED
};

#define TOKEN_SOON_S	  (14 * 86400)
#define TOKEN_VERY_SOON_S (3 * 86400)

/* now is an epoch, s. */
enum token_stage token_stage(const struct token_expiry *e, int64_t now);

#endif
