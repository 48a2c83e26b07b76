/* SPDX-License-Identifier: MIT */
/*
 * Packs lines; see record_pack.h.  zlib's format shows whether a line was
 * packed with the dictionary, which is used when it is full.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "collector/details/record_pack.h"

#define DICTIONARY   4096u /* bytes: some four records */
#define WINDOW_BITS  13	   /* the dictionary and a record fit; 32 KiB */
#define MEMORY_LEVEL 6	   /* 32 KiB more */

struct pack {
	z_stream in; /* packs */
	z_stream out;
	unsigned char dictionary[DICTIONARY];
	size_t filled; /* bytes of the dictionary; used when full */
	char *buf;     /* owned: for both directions */
	size_t cap;
};

struct pack *
pack_new(void)
{
	struct pack *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	if (deflateInit2(&p->in, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS,
		MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(p);
		return NULL;
	}
	if (inflateInit2(&p->out, WINDOW_BITS) != Z_OK) {
		deflateEnd(&p->in);
		free(p);
		return NULL;
	}
	return p;
}

void
pack_free(struct pack *p)
{
	if (p == NULL)
		return;
	deflateEnd(&p->in);
	inflateEnd(&p->out);
	free(p->buf);
	free(p);
}

static int
reserve(struct pack *p, size_t n)
{
	char *buf;

	if (n <= p->cap)
		return 0;
	buf = realloc(p->buf, n);
	if (buf == NULL)
		return -1;
	p->buf = buf;
	p->cap = n;
	return 0;
}

static void
dictionary_add(struct pack *p, const char *line, size_t n)
{
	if (n > DICTIONARY - p->filled)
		n = DICTIONARY - p->filled;
	if (n > 0)
		memcpy(p->dictionary + p->filled, line, n);
	p->filled += n;
}

/* zlib only reads next_in, although its type is not const. */
static void
input(z_stream *z, const char *bytes, size_t n)
{
	memcpy(&z->next_in, &bytes, sizeof(z->next_in));
	z->avail_in = (uInt)n;
}

char *
pack_line(struct pack *p, const char *line, size_t n, size_t *size)
{
	z_stream *z = &p->in;
	size_t bound = n <= UINT_MAX / 2 ? deflateBound(z, n) : 0;
	char *packed;

	if (bound == 0 || reserve(p, bound) == -1 || deflateReset(z) != Z_OK ||
	    (p->filled == DICTIONARY &&
		deflateSetDictionary(z, p->dictionary, DICTIONARY) != Z_OK))
		return NULL;
	input(z, line, n);
	z->next_out = (Bytef *)p->buf;
	z->avail_out = (uInt)bound;
	if (deflate(z, Z_FINISH) != Z_STREAM_END)
		return NULL;
	*size = bound - z->avail_out;
	packed = malloc(*size);
	if (packed == NULL)
		return NULL;
	memcpy(packed, p->buf, *size);
	dictionary_add(p, line, n);
	return packed;
}

const char *
pack_read(struct pack *p, const char *packed, size_t size, size_t n)
{
	z_stream *z = &p->out;
	int rc;

	/* One byte more than the line must have. */
	if (size > UINT_MAX || n >= UINT_MAX || reserve(p, n + 1) == -1 ||
	    inflateReset(z) != Z_OK)
		return NULL;
	input(z, packed, size);
	z->next_out = (Bytef *)p->buf;
	z->avail_out = (uInt)(n + 1);
	rc = inflate(z, Z_FINISH);
	if (rc == Z_NEED_DICT && p->filled == DICTIONARY &&
	    inflateSetDictionary(z, p->dictionary, DICTIONARY) == Z_OK)
		rc = inflate(z, Z_FINISH);
	return rc == Z_STREAM_END && z->avail_in == 0 && z->avail_out == 1 ?
	    p->buf :
	    NULL;
}
