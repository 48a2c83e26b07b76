/* SPDX-License-Identifier: MIT */
/*
 * NKeys: base32 of a prefix, 32 bytes and a CRC16 in little-endian order.
 * libnats signs with a seed but does not derive the public key, which it must
 * send to the broker.  libcrypto derives it here.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "common/nats/nkey.h"
#include "common/net/secret.h"

#define SEED_BYTES    36 /* two of prefix, the ed25519 seed, two of CRC */
#define PUBLIC_BYTES  35 /* one of prefix, the key, two of CRC */
#define ED25519_BYTES 32
#define PREFIX_SEED   (18 << 3) /* 'S' in base32's first five bits */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/* CRC-16/XMODEM */
static uint16_t
crc16(const uint8_t *p, size_t n)
{
	uint16_t crc = 0;
	int bit;

	while (n-- > 0) {
		crc ^= (uint16_t)(*p++ << 8);
		for (bit = 0; bit < 8; bit++)
			crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 :
							crc << 1);
	}
	return crc;
}

/* Returns the number of bytes decoded, or 0 on an error. */
static size_t
base32_decode(const char *s, size_t len, uint8_t *out, size_t size)
{
	uint32_t bits = 0;
	size_t i, n = 0;
	const char *c;
	int have = 0;

	for (i = 0; i < len; i++) {
		c = s[i] != '\0' ? strchr(alphabet, s[i]) : NULL;
		if (c == NULL)
			return 0;
		bits = bits << 5 | (uint32_t)(c - alphabet);
		have += 5;
		if (have >= 8) {
			if (n == size)
				return 0;
			have -= 8;
			out[n++] = (uint8_t)(bits >> have);
		}
	}
	return n;
}

static void
base32_encode(const uint8_t *p, size_t n, char *out)
{
	uint32_t bits = 0;
	int have = 0;

	while (n-- > 0) {
		bits = bits << 8 | *p++;
		for (have += 8; have >= 5; have -= 5)
			*out++ = alphabet[bits >> (have - 5) & 31];
	}
	if (have > 0)
		*out++ = alphabet[bits << (5 - have) & 31];
	*out = '\0';
}

/* Decodes a seed; 0, or -1 when the text is not a seed. */
static int
seed_decode(const char *seed, uint8_t raw[SEED_BYTES])
{
	if (strlen(seed) != NKEY_SEED_LEN ||
	    base32_decode(seed, NKEY_SEED_LEN, raw, SEED_BYTES) != SEED_BYTES)
		return -1;
	if ((raw[0] & 248) != PREFIX_SEED ||
	    crc16(raw, SEED_BYTES - 2) !=
		(raw[SEED_BYTES - 2] | raw[SEED_BYTES - 1] << 8))
		return -1;
	return 0;
}

int
nkey_public(const char *seed, char *out, size_t size)
{
	uint8_t raw[SEED_BYTES], pub[PUBLIC_BYTES];
	size_t len = ED25519_BYTES;
	EVP_PKEY *key = NULL;
	uint16_t crc;
	int rc = -1;

	if (size < NKEY_PUBLIC_MAX || seed_decode(seed, raw) == -1)
		goto done;
	key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, raw + 2,
	    ED25519_BYTES);
	if (key == NULL ||
	    EVP_PKEY_get_raw_public_key(key, pub + 1, &len) != 1 ||
	    len != ED25519_BYTES)
		goto done;
	pub[0] = (uint8_t)((raw[0] & 7) << 5 | (raw[1] & 248) >> 3);
	crc = crc16(pub, PUBLIC_BYTES - 2);
	pub[PUBLIC_BYTES - 2] = (uint8_t)(crc & 0xff);
	pub[PUBLIC_BYTES - 1] = (uint8_t)(crc >> 8);
	base32_encode(pub, sizeof(pub), out);
	rc = 0;
done:
	EVP_PKEY_free(key);
	explicit_bzero(raw, sizeof(raw));
	return rc;
}

/* Finds the next word and moves *p behind it; its length, 0 at the end. */
static size_t
word(const char **p, const char *end, const char **at)
{
	static const char space[] = " \t\r\n";
	const char *s = *p;

	while (s < end && memchr(space, *s, sizeof(space)) != NULL)
		s++;
	*at = s;
	while (s < end && memchr(space, *s, sizeof(space)) == NULL)
		s++;
	*p = s;
	return (size_t)(s - *at);
}

char *
nkey_find(const char *p, size_t len)
{
	const char *end = p + len, *at;
	uint8_t raw[SEED_BYTES];
	char *seed;
	size_t n;
	int ok;

	while ((n = word(&p, end, &at)) != 0) {
		if (n != NKEY_SEED_LEN)
			continue;
		seed = secret_copy(at, n);
		ok = seed != NULL && seed_decode(seed, raw) == 0;
		explicit_bzero(raw, sizeof(raw));
		if (ok)
			return seed;
		secret_free(seed);
	}
	return NULL;
}

/* 1 for three parts of base64url, separated by dots. */
static int
is_jwt(const char *s, size_t n)
{
	int points = 0;
	size_t i;

	if (n < 3 || memcmp(s, "eyJ", 3) != 0)
		return 0;
	for (i = 0; i < n; i++)
		points += s[i] == '.';
	return points == 2;
}

int
creds_find(const char *p, size_t len, char **jwt, char **seed)
{
	const char *rest = p, *end = p + len, *at;
	size_t n;

	*jwt = NULL;
	*seed = nkey_find(p, len);
	while (*seed != NULL && (n = word(&rest, end, &at)) != 0)
		if (is_jwt(at, n)) {
			*jwt = secret_copy(at, n);
			break;
		}
	if (*jwt != NULL)
		return 0;
	secret_free(*seed);
	*seed = NULL;
	return -1;
}
