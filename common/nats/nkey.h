/* SPDX-License-Identifier: MIT */
/* NATS' keys (NKeys) as text: seeds, public keys, creds files. */
#ifndef COMMON_NATS_NKEY_H
#define COMMON_NATS_NKEY_H

#include <stddef.h>

#define NKEY_SEED_LEN	58 /* characters of a seed */
#define NKEY_PUBLIC_MAX 64 /* bytes with the NUL: a public key has 56 */

/*
 * The public key of a seed ("SU..." for a user).  Returns 0, or -1 when length,
 * alphabet, checksum or prefix of the seed are wrong.
 */
int nkey_public(const char *seed, char *out, size_t size);
/* Returns owned, for secret_free(): the first seed in the text; or NULL. */
char *nkey_find(const char *p, size_t len);
/*
 * The user's JWT and seed of a creds file; both owned, for secret_free().
 * Returns 0, or -1 with both NULL.
 */
int creds_find(const char *p, size_t len, char **jwt, char **seed);

#endif
