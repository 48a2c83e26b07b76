/* SPDX-License-Identifier: MIT */
/*
 * The files of natsCredsFile and natsNKeySeedFile.  The first byte selects whether the
 * next bytes become a seed, with its prefix and its checksum, because no input guesses
 * one; a byte behind them selects its place in the rest of the text.  A valid seed is
 * found, and no other text; its public key is that of a second writer; the JWT is one
 * word of the text.
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

/* n bytes with the checksum behind them, as text. */
static void
key_make(uint8_t *raw, size_t n, char *text)
{
	uint16_t sum = checksum(raw, n);

	raw[n] = (uint8_t)sum;
	raw[n + 1] = (uint8_t)(sum >> 8);
	text_make(raw, n + 2, text);
}

/*
 * The bytes of the input, with the prefix and the checksum of a seed, and its public
 * key: the type of the seed is in the last 3 bits of one byte and in 5 of the next.
 */
static void
seed_make(const uint8_t *p, char seed[NKEY_SEED_LEN + 1],
    char public[NKEY_PUBLIC_MAX])
{
	uint8_t raw[RAW_BYTES], key[1 + KEY_BYTES + 2];
	size_t i;

	memcpy(raw, p, RAW_BYTES - 2);
	raw[0] = (uint8_t)(18 << 3 | (raw[0] & 7));
	key_make(raw, RAW_BYTES - 2, seed);
	key[0] = (uint8_t)(raw[0] << 5 | raw[1] >> 3);
	for (i = 0; i < KEY_BYTES; i++)
		key[1 + i] = (uint8_t)~raw[2 + i];
	key_make(key, 1 + KEY_BYTES, public);
}

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
text_holds(const char *text, size_t n, int has_seed)
{
	char *seed = nkey_find(text, n), *jwt, *second;

	if (has_seed)
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

/* The seed in a line of its own, behind some bytes of the text. */
static void
made_holds(const uint8_t *raw, const uint8_t *p, size_t n)
{
	char seed[NKEY_SEED_LEN + 1], want[NKEY_PUBLIC_MAX],
	    public[NKEY_PUBLIC_MAX], *text;
	size_t at = n > 0 ? p[0] % (n + 1) : 0, len = n + NKEY_SEED_LEN + 2;

	seed_make(raw, seed, want);
	HOLDS(nkey_public(seed, public, sizeof(public)) == 0);
	HOLDS(strcmp(public, want) == 0);
	text = malloc(len);
	HOLDS(text != NULL);
	if (n > 0) {
		memcpy(text, p, at);
		memcpy(text + at + NKEY_SEED_LEN + 2, p + at, n - at);
	}
	text[at] = text[at + 1 + NKEY_SEED_LEN] = '\n';
	memcpy(text + at + 1, seed, NKEY_SEED_LEN);
	text_holds(text, len, 1);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text, public[NKEY_PUBLIC_MAX];

	fuzz_quiet();
	if (n < 1)
		return 0;
	if ((bytes[0] & 1) && n > RAW_BYTES) {
		made_holds(bytes + 1, bytes + 1 + RAW_BYTES, n - 1 - RAW_BYTES);
		return 0;
	}
	text = exact(bytes + 1, n - 1);
	text_holds(text, n - 1, 0);
	free(text);
	text = exact_string(bytes + 1, n - 1);
	if (nkey_public(text, public, sizeof(public)) == 0)
		HOLDS(strlen(text) == NKEY_SEED_LEN);
	free(text);
	return 0;
}
