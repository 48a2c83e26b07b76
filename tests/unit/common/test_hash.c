/* SPDX-License-Identifier: MIT */
/* FNV-1a against the values that its authors publish. */
#include "config.h"

#include "common/hash.h"
#include "tests/unit/check.h"

int
main(void)
{
	uint64_t h;

	CHECK(hash_bytes(HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
	CHECK(hash_bytes(HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	CHECK(hash_bytes(HASH_START, "foobar", 6) ==
	    UINT64_C(0x85944171f73967e8));
	h = hash_bytes(HASH_START, "foo", 3);
	CHECK(hash_bytes(h, "bar", 3) == UINT64_C(0x85944171f73967e8));
	CHECK(hash_bytes(HASH_START, "\xff", 1) !=
	    hash_bytes(HASH_START, "\x7f", 1));
	return check_done();
}
