/* SPDX-License-Identifier: MIT */
/*
 * FNV-1a with 64 bits, for hash tables and checksums.  A client that chooses
 * the bytes can make two values collide: no table may depend on the absence of
 * collisions.
 */
#ifndef COMMON_HASH_H
#define COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of no bytes. */
#define HASH_START UINT64_C(14695981039346656037)

/* Continues hash, HASH_START or a result of this function, with n bytes. */
uint64_t hash_bytes(uint64_t hash, const void *p, size_t n);

#endif
