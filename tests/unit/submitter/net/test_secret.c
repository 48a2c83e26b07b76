/* SPDX-License-Identifier: MIT */
/* Copies of secrets. */
#include "config.h"

#include "submitter/net/secret.h"
#include "tests/unit/check.h"

int
main(void)
{
	char *copy = secret_copy("geheim?", 6);

	CHECK_STR(copy, "geheim");
	secret_free(copy);
	copy = secret_copy("", 0);
	CHECK_STR(copy, "");
	secret_free(copy);
	CHECK(secret_copy("a\0b", 3) == NULL);
	secret_free(NULL);
	return check_done();
}
