/* SPDX-License-Identifier: MIT */
/* NATS' keys as text: seeds, public keys, creds files. */
#ifndef SUBMITTER_NATS_NKEY_H
#define SUBMITTER_NATS_NKEY_H

#include <stddef.h>

#define NKEY_SEED_LEN	58	/* characters of a seed */
#define NKEY_PUBLIC_MAX	64	/* bytes with the NUL: a public key has 56 */

/*
 * The public key of a seed ("SU..." for a user).  0, or -1 when it is no
 * seed: length, alphabet, checksum or kind are wrong.
 */
int nkey_public(const char *seed, char *out, size_t size);
/* The first seed in a file's bytes; owned, wiped by secret_free().  NULL: none. */
char *nkey_find(const char *p, size_t len);
/*
 * The user's JWT and seed of a creds file; owned, wiped by secret_free().
 * 0, or -1 when one is not there.
 */
int creds_find(const char *p, size_t len, char **jwt, char **seed);

#endif
