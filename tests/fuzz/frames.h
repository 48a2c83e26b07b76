/* SPDX-License-Identifier: MIT */
/*
 * Messages of a worker, made of the input: a byte selects the type from the table of
 * the target, two bytes the length, then follows the payload.  So each message has a
 * header that agrees with its payload; fuzz_channel sends malformed headers.
 */
#ifndef TESTS_FUZZ_FRAMES_H
#define TESTS_FUZZ_FRAMES_H

#include "common/model/msg.h"
#include "tests/fuzz/fuzz.h"

struct frames {
	const uint8_t *p;
	size_t n;
	const enum msg_type *types; /* borrowed */
	size_t n_types;
};

/*
 * The next message, with its payload in a copy of exact size (owned).  Returns 1, or
 * 0 at the end.
 */
static inline int
frames_next(struct frames *f, struct msg_header *h, char **payload)
{
	size_t len;

	if (f->n < 3)
		return 0;
	memset(h, 0, sizeof(*h));
	h->type = (uint16_t)f->types[f->p[0] % f->n_types];
	h->id = f->p[0] / f->n_types;
	len = ((size_t)f->p[1] << 8 | f->p[2]) % (f->n - 2);
	h->length = (uint32_t)len;
	*payload = exact(f->p + 3, len);
	f->p += 3 + len;
	f->n -= 3 + len;
	return 1;
}

/* A time in ms, of the first bytes of a payload. */
static inline int64_t
frame_ms(const char *payload, size_t n, size_t bytes)
{
	int64_t ms = 0;
	size_t i;

	for (i = 0; i < n && i < bytes; i++)
		ms = ms << 8 | (unsigned char)payload[i];
	return ms;
}

#endif
