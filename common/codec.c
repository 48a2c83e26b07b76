/* SPDX-License-Identifier: MIT */
/* Encoding and decoding of fields; see codec.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/codec.h"

#define FIRST_ALLOC 256 /* bytes; most frames are shorter */

void
wr_init(struct writer *w, size_t max)
{
	memset(w, 0, sizeof(*w));
	w->max = max;
}

void
wr_reset(struct writer *w)
{
	w->len = 0;
	w->err = w->no_memory = 0;
}

void
wr_clear(struct writer *w)
{
	if (w->buf != NULL)
		explicit_bzero(w->buf, w->cap);
	free(w->buf);
	wr_init(w, w->max);
}

/* A writer may contain secrets: its memory is wiped before it is freed. */
static int
grow(struct writer *w, size_t need)
{
	size_t cap = w->cap != 0 ? w->cap : FIRST_ALLOC;
	uint8_t *p;

	while (cap < need)
		cap *= 2;
	p = malloc(cap);
	if (p == NULL)
		return -1;
	if (w->buf != NULL) {
		memcpy(p, w->buf, w->len);
		explicit_bzero(w->buf, w->cap);
		free(w->buf);
	}
	w->buf = p;
	w->cap = cap;
	return 0;
}

void
wr_mem(struct writer *w, const void *p, size_t n)
{
	if (w->err || n == 0)
		return;
	if (n > w->max || w->len > w->max - n) {
		w->err = 1;
		return;
	}
	if (w->len + n > w->cap && grow(w, w->len + n) == -1) {
		w->err = w->no_memory = 1;
		return;
	}
	memcpy(w->buf + w->len, p, n);
	w->len += n;
}

void
wr_u8(struct writer *w, uint8_t v)
{
	wr_mem(w, &v, sizeof(v));
}

void
wr_u16(struct writer *w, uint16_t v)
{
	wr_mem(w, &v, sizeof(v));
}

void
wr_u32(struct writer *w, uint32_t v)
{
	wr_mem(w, &v, sizeof(v));
}

void
wr_u64(struct writer *w, uint64_t v)
{
	wr_mem(w, &v, sizeof(v));
}

void
wr_i64(struct writer *w, int64_t v)
{
	wr_mem(w, &v, sizeof(v));
}

void
wr_blob(struct writer *w, const void *p, size_t n)
{
	if (n > UINT32_MAX) {
		w->err = 1;
		return;
	}
	wr_u32(w, (uint32_t)n);
	wr_mem(w, p, n);
}

void
wr_str(struct writer *w, const char *s)
{
	wr_blob(w, s, s != NULL ? strlen(s) : 0);
}

int
wr_end(const struct writer *w)
{
	return w->err ? -1 : 0;
}

int
wr_no_memory(const struct writer *w)
{
	return w->no_memory;
}

void
rd_init(struct reader *r, const void *p, size_t n)
{
	r->p = p;
	r->left = n;
	r->err = 0;
}

static const uint8_t *
take(struct reader *r, size_t n)
{
	const uint8_t *p = r->p;

	if (r->err || n > r->left) {
		r->err = 1;
		return NULL;
	}
	r->p += n;
	r->left -= n;
	return p;
}

void
rd_mem(struct reader *r, void *p, size_t n)
{
	const uint8_t *from = take(r, n);

	if (from != NULL)
		memcpy(p, from, n);
	else
		memset(p, 0, n);
}

#define READ_INT(type) \
	type v = 0; \
	const uint8_t *p = take(r, sizeof(v)); \
\
	if (p != NULL) \
		memcpy(&v, p, sizeof(v)); \
	return v

uint8_t
rd_u8(struct reader *r)
{
	READ_INT(uint8_t);
}

uint16_t
rd_u16(struct reader *r)
{
	READ_INT(uint16_t);
}

uint32_t
rd_u32(struct reader *r)
{
	READ_INT(uint32_t);
}

uint64_t
rd_u64(struct reader *r)
{
	READ_INT(uint64_t);
}

int64_t
rd_i64(struct reader *r)
{
	READ_INT(int64_t);
}

int64_t
rd_time(struct reader *r)
{
	int64_t v = rd_i64(r);

	if (v >= 0 && v <= TIME_S_MAX)
		return v;
	rd_fail(r);
	return 0;
}

const uint8_t *
rd_blob(struct reader *r, size_t *n)
{
	const uint8_t *p;

	*n = rd_u32(r);
	p = take(r, *n);
	if (p == NULL)
		*n = 0;
	return p;
}

void
rd_name(struct reader *r, char *buf, size_t size)
{
	size_t n;
	const uint8_t *p = rd_blob(r, &n);

	buf[0] = '\0';
	if (p == NULL)
		return;
	if (n >= size || memchr(p, '\0', n) != NULL) {
		r->err = 1;
		return;
	}
	memcpy(buf, p, n);
	buf[n] = '\0';
}

char *
rd_strdup(struct reader *r, size_t max)
{
	size_t n;
	const uint8_t *p = rd_blob(r, &n);
	char *s;

	if (p == NULL)
		return NULL;
	if (n > max || memchr(p, '\0', n) != NULL ||
	    (s = malloc(n + 1)) == NULL) {
		r->err = 1;
		return NULL;
	}
	memcpy(s, p, n);
	s[n] = '\0';
	return s;
}

int
rd_end(const struct reader *r)
{
	return r->err || r->left != 0 ? -1 : 0;
}

void
rd_fail(struct reader *r)
{
	r->err = 1;
}
