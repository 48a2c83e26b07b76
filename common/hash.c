/* SPDX-License-Identifier: MIT */
/* FNV-1a; see hash.h. */
#include "config.h"

#include "common/hash.h"

uint64_t
hash_bytes(uint64_t hash, const void *p, size_t n)
{
	const uint8_t *b = p;

	while (n-- > 0)
		hash = (hash ^ *b++) * UINT64_C(1099511628211);
	return hash;
}
