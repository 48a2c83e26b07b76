/* SPDX-License-Identifier: MIT */
/*
 * Lines that resemble each other, kept small until they are used: what stands in
 * the first lines need not be kept again.  A record of scontrol takes a sixth.
 */
#ifndef COLLECTOR_DETAILS_RECORD_PACK_H
#define COLLECTOR_DETAILS_RECORD_PACK_H

#include <stddef.h>

struct pack;

/* NULL on memory; some 110 KiB.  What it packed can be read as long as it lives. */
struct pack *pack_new(void);
void pack_free(struct pack *p);

/* Returns owned bytes, *size of them, hardly more than n; NULL on memory. */
char *pack_line(struct pack *p, const char *line, size_t n, size_t *size);
/* The line of n bytes; it is valid until the next call.  NULL: it is none. */
const char *pack_read(struct pack *p, const char *packed, size_t size,
    size_t n);

#endif
