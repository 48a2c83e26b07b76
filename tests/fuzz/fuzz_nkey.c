/* SPDX-License-Identifier: MIT */
/*
 * The files of natsCredsFile and natsNKeySeedFile.  The first byte selects whether
 * a seed, whose bytes are the next ones, gets its checksum here and is put into the
 * text at a place that these bytes select.  The first valid seed is found, and no
 * other text; the public key of a seed has its form; the JWT is one word of the text.
 * Before the search each part of the text is a copy of exact size.
 */
#include "config.h"

#include <openssl/evp.h>

#include "common/nats/nkey.h"
#include "common/net/secret.h"
#include "tests/fuzz/fuzz.h"

#define RAW_BYTES 36 /* of a seed: prefix, key, checksum */
#define KEY_BYTES 32

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
static char key_of_libcrypto;

/* --- in place of libcrypto: the public key is the private one, inverted --- */

static uint8_t private_key[KEY_BYTES];

EVP_PKEY *
EVP_PKEY_new_raw_private_key(int type, ENGINE *e, const unsigned char *p,
    size_t len)
{
	HOLDS(type == EVP_PKEY_ED25519 && len == KEY_BYTES);
	memcpy(private_key, p, len);
	return (EVP_PKEY *)&key_of_libcrypto;
}

int
EVP_PKEY_get_raw_public_key(const EVP_PKEY *key, unsigned char *p, size_t *len)
{
	size_t i;

	HOLDS(key == (const EVP_PKEY *)&key_of_libcrypto && *len == KEY_BYTES);
	for (i = 0; i < KEY_BYTES; i++)
		p[i] = (uint8_t)~private_key[i];
	return 1;
}

void
EVP_PKEY_free(EVP_PKEY *key)
{
}

/* --- seeds --- */

/* A second reader of NKeys: bit by bit. */
static uint16_t
checksum(const uint8_t *p, size_t n)
{
	unsigned crc = 0;
	size_t i;

	for (i = 0; i < 8 * n; i++) {
		crc = crc << 1 ^
		    ((((crc >> 15) ^ (p[i / 8] >> (7 - i % 8))) & 1) != 0 ?
			    0x1021u :
			    0);
		crc &= 0xffff;
	}
	return (uint16_t)crc;
}

static unsigned
bit(const uint8_t *p, size_t i)
{
	return p[i / 8] >> (7 - i % 8) & 1u;
}

static void
text_make(const uint8_t *p, size_t n, char *out)
{
	size_t i, k;
	unsigned v;

	for (i = 0; i < 8 * n; i += 5) {
		v = 0;
		for (k = i; k < i + 5; k++)
			v = v << 1 | (k < 8 * n ? bit(p, k) : 0);
		*out++ = alphabet[v];
	}
	*out = '\0';
}

/* The bytes of the input, with the prefix and the checksum of a seed. */
static void
seed_make(const uint8_t *p, size_t n, char seed[NKEY_SEED_LEN + 1])
{
	uint8_t raw[RAW_BYTES] = { 0 };
	uint16_t sum;

	memcpy(raw, p, n < RAW_BYTES - 2 ? n : RAW_BYTES - 2);
	raw[0] = (uint8_t)(18 << 3 | (raw[0] & 7));
	sum = checksum(raw, RAW_BYTES - 2);
	raw[RAW_BYTES - 2] = (uint8_t)sum;
	raw[RAW_BYTES - 1] = (uint8_t)(sum >> 8);
	text_make(raw, RAW_BYTES, seed);
}

/* The checksum over a key and its own checksum is not 0: it is swapped. */
static void
public_holds(const char *seed)
{
	char public[NKEY_PUBLIC_MAX];
	size_t i;

	HOLDS(nkey_public(seed, public, NKEY_PUBLIC_MAX - 1) == -1);
	HOLDS(nkey_public(seed, public, sizeof(public)) == 0);
	HOLDS(strlen(public) == 56);
	for (i = 0; i < 56; i++)
		HOLDS(strchr(alphabet, public[i]) != NULL);
	HOLDS(public[0] == seed[1] || strchr(alphabet, seed[1]) != NULL);
}

static int
is_word(const char *text, size_t n, const char *word)
{
	static const char space[] = " \t\r\n";
	size_t len = strlen(word), i;

	for (i = 0; len <= n && i <= n - len; i++)
		if (memcmp(text + i, word, len) == 0 &&
		    (i == 0 || memchr(space, text[i - 1], 5) != NULL) &&
		    (i + len == n || memchr(space, text[i + len], 5) != NULL))
			return 1;
	return 0;
}

static void
text_holds(const char *text, size_t n, const char *made)
{
	char *seed = nkey_find(text, n), *jwt, *second;

	if (made != NULL)
		HOLDS(seed != NULL);
	if (seed != NULL) {
		HOLDS(strlen(seed) == NKEY_SEED_LEN && is_word(text, n, seed));
		public_holds(seed);
	}
	if (creds_find(text, n, &jwt, &second) == 0) {
		HOLDS(seed != NULL && strcmp(seed, second) == 0);
		HOLDS(strncmp(jwt, "eyJ", 3) == 0 && is_word(text, n, jwt));
	} else
		HOLDS(jwt == NULL && second == NULL);
	secret_free(jwt);
	secret_free(second);
	secret_free(seed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char made[NKEY_SEED_LEN + 1], *text, *copy;
	size_t at;

	fuzz_quiet();
	if (n < 1 + RAW_BYTES)
		return 0;
	copy = exact_string(bytes + 1, n - 1);
	if (nkey_public(copy, made, 0) != -1)
		HOLDS(0);
	if ((bytes[0] & 1) == 0) {
		free(copy);
		copy = exact(bytes + 1, n - 1);
		text_holds(copy, n - 1, NULL);
		free(copy);
		return 0;
	}
	free(copy);
	seed_make(bytes + 1, RAW_BYTES, made);
	bytes += 1 + RAW_BYTES;
	n -= 1 + RAW_BYTES;
	at = n > 0 ? bytes[0] % (n + 1) : 0;
	text = malloc(n + sizeof(made) + 1);
	HOLDS(text != NULL);
	memcpy(text, bytes, at);
	text[at] = '\n';
	memcpy(text + at + 1, made, NKEY_SEED_LEN);
	text[at + 1 + NKEY_SEED_LEN] = '\n';
	memcpy(text + at + 2 + NKEY_SEED_LEN, bytes + at, n - at);
	copy = exact(text, n + 2 + NKEY_SEED_LEN);
	text_holds(copy, n + 2 + NKEY_SEED_LEN, made);
	free(copy);
	free(text);
	return 0;
}
