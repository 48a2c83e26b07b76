/* SPDX-License-Identifier: MIT */
/*
 * Encodes and decodes the fields of frames, of the secrets' memfd and of stored
 * rows: host byte order, a 32 bit length before each string.  Writer and reader
 * keep their first error: a handler reads every field and then asks once.
 */
#ifndef COMMON_CODEC_H
#define COMMON_CODEC_H

#include <stddef.h>
#include <stdint.h>

struct writer {
	uint8_t *buf; /* owned */
	size_t len;
	size_t cap;
	size_t max; /* bytes; more is an error */
	int err;
	int no_memory; /* err because of that */
};

/* A writer of at most max bytes; allocates nothing. */
void wr_init(struct writer *w, size_t max);
/* Removes what was written and keeps the memory. */
void wr_reset(struct writer *w);
/* Frees the memory; wr_init() makes the writer usable again. */
void wr_clear(struct writer *w);
void wr_u8(struct writer *w, uint8_t v);
void wr_u16(struct writer *w, uint16_t v);
void wr_u32(struct writer *w, uint32_t v);
void wr_u64(struct writer *w, uint64_t v);
void wr_i64(struct writer *w, int64_t v);
/* Bytes without their length. */
void wr_mem(struct writer *w, const void *p, size_t n);
/* The length, then the bytes. */
void wr_blob(struct writer *w, const void *p, size_t n);
/* A string without its NUL; NULL becomes "". */
void wr_str(struct writer *w, const char *s);
/* 0, or -1 when a field did not fit or memory was short. */
int wr_end(const struct writer *w);
/* After wr_end() has failed: was memory short, so that a repetition may succeed? */
int wr_no_memory(const struct writer *w);

struct reader {
	const uint8_t *p; /* borrowed */
	size_t left;
	int err;
};

void rd_init(struct reader *r, const void *p, size_t n);
/* Raw bytes, no length before them; zeros on error. */
void rd_mem(struct reader *r, void *p, size_t n);
uint8_t rd_u8(struct reader *r);
uint16_t rd_u16(struct reader *r);
uint32_t rd_u32(struct reader *r);
uint64_t rd_u64(struct reader *r);
int64_t rd_i64(struct reader *r);
/*
 * A time or a duration in seconds, 0 to TIME_S_MAX; another value is an error
 * and 0.  Sums and differences of such values, also in ms, cannot overflow.
 */
#define TIME_S_MAX 253402300799LL /* the end of the year 9999 */
int64_t rd_time(struct reader *r);
/* Reads a string into buf; too long, or with a NUL inside: an error and "". */
void rd_name(struct reader *r, char *buf, size_t size);
/* Returns owned, at most max bytes; NULL only when the reader has failed. */
char *rd_strdup(struct reader *r, size_t max);
/* Returns borrowed memory of the frame and its length; NULL on error. */
const uint8_t *rd_blob(struct reader *r, size_t *n);
/* 0 when every field was valid and no byte is left, else -1. */
int rd_end(const struct reader *r);
/* Makes the reader fail: the caller has found an invalid value. */
void rd_fail(struct reader *r);

#endif
