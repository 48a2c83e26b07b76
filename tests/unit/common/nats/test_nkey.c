/* SPDX-License-Identifier: MIT */
/* Seeds, public keys and creds files.  The keys were made for this test. */
#include "config.h"

#include "common/nats/nkey.h"
#include "common/net/secret.h"
#include "tests/unit/check.h"

#define TEST_SEED   "SUAHBKZPNS2CG3FA7K67AIARPOZCQ45RWYXNX54WW7RBFRBNL7MHT64LG4"
#define TEST_PUBLIC "UAPI46JOKM24N5SQXVUGCMYZHL2R7QWW3T4TB67TEBMUIZOEW6FHONKV"
#define TEST_JWT    "eyJ0eXAiOiJKV1QifQ.eyJuYW1lIjoidGVzdCJ9.c2lnbmF0dXJl"
#define TEST_CREDS \
	"-----BEGIN NATS USER JWT-----\r\n" TEST_JWT "\r\n" \
	"------END NATS USER JWT------\n\nIMPORTANT: keep it secret.\n" \
	"-----BEGIN USER NKEY SEED-----\n" TEST_SEED "\n" \
	"------END USER NKEY SEED------\n"

static void
check_keys(void)
{
	char out[NKEY_PUBLIC_MAX], bad[NKEY_SEED_LEN + 2];
	char *seed, *jwt;

	CHECK_INT(nkey_public(TEST_SEED, out, sizeof(out)), 0);
	CHECK_STR(out, TEST_PUBLIC);
	CHECK_INT(nkey_public(TEST_PUBLIC, out, sizeof(out)), -1);
	CHECK_INT(nkey_public("", out, sizeof(out)), -1);
	strcpy(bad, TEST_SEED);
	bad[30] = bad[30] == 'A' ? 'B' : 'A';
	CHECK_INT(nkey_public(bad, out, sizeof(out)), -1);
	bad[30] = '1';
	CHECK_INT(nkey_public(bad, out, sizeof(out)), -1);
	strcpy(bad, TEST_SEED "A");
	CHECK_INT(nkey_public(bad, out, sizeof(out)), -1);
	CHECK_INT(nkey_public(TEST_SEED, out, 10), -1);
	seed = nkey_find(TEST_CREDS, sizeof(TEST_CREDS) - 1);
	CHECK_STR(seed, TEST_SEED);
	secret_free(seed);
	seed = nkey_find(TEST_SEED "\n", NKEY_SEED_LEN + 1);
	CHECK_STR(seed, TEST_SEED);
	secret_free(seed);
	CHECK(nkey_find("", 0) == NULL);
	CHECK(nkey_find("S", 1) == NULL);
	CHECK(nkey_find(TEST_PUBLIC, sizeof(TEST_PUBLIC) - 1) == NULL);
	CHECK_INT(creds_find(TEST_CREDS, sizeof(TEST_CREDS) - 1, &jwt, &seed),
	    0);
	CHECK_STR(jwt, TEST_JWT);
	CHECK_STR(seed, TEST_SEED);
	secret_free(jwt);
	secret_free(seed);
	CHECK_INT(creds_find(TEST_SEED, NKEY_SEED_LEN, &jwt, &seed), -1);
	CHECK(jwt == NULL && seed == NULL);
	CHECK_INT(creds_find(TEST_JWT, sizeof(TEST_JWT) - 1, &jwt, &seed), -1);
}

int
main(void)
{
	check_keys();
	return check_done();
}
