/* SPDX-License-Identifier: MIT */
/*
 * Packs lines that resemble each other.  The first lines are the dictionary of
 * the later ones, in zlib's format.  A record of scontrol needs a sixth of its
 * bytes.
 */
#ifndef COLLECTOR_DETAILS_RECORD_PACK_H
#define COLLECTOR_DETAILS_RECORD_PACK_H

#include <stddef.h>

struct pack;

/*
 * NULL when out of memory; needs some 110 KiB.  Lines can be read as long as
 * the struct pack that packed them lives.
 */
struct pack *pack_new(void);
void pack_free(struct pack *p);

/*
 * Returns owned bytes, *size of them, hardly more than n; NULL when out of
 * memory.
 */
char *pack_line(struct pack *p, const char *line, size_t n, size_t *size);
/*
 * Returns the line of n bytes, valid until the next call; NULL when packed is
 * invalid.
 */
const char *pack_read(struct pack *p, const char *packed, size_t size,
    size_t n);

#endif
