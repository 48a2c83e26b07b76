/* SPDX-License-Identifier: MIT */
/*
 * See pack.h.  Positions count from the beginning of the first lines, which
 * are kept as they are; the line itself begins at FIRST_MAX.  What is packed is
 * a row of literals (a byte below 128: that many and one more follow) and of
 * references (a byte from 128 on: MATCH_MIN and what is above 128 bytes, from
 * the position in the next two).
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/pack.h"

#define FIRST_MAX	(16u * 1024)	/* bytes of first lines: some fifteen */
#define POSITION_MAX	65535u		/* fits two bytes */
#define MATCH_MIN	4u		/* a reference takes three */
#define MATCH_MAX	(MATCH_MIN + 127)
#define LITERALS_MAX	128u
#define SLOTS_BITS	12
#define SLOTS		(1u << SLOTS_BITS)

struct pack {
	uint8_t		*text;		/* owned: the first lines and this one */
	size_t		 cap;
	size_t		 first;		/* bytes of first lines */
	char		*out;		/* owned: of the line being packed */
	size_t		 out_cap;
	uint16_t	 in_first[SLOTS];	/* position plus one of four bytes */
	uint16_t	 in_line[SLOTS];
	uint16_t	 turn[SLOTS];	/* in which in_line was set */
	uint16_t	 now;
};

/* Where the next bytes go. */
struct packing {
	char		*out;
	size_t		 n;
	size_t		 literals;	/* of them not yet announced: from here */
	size_t		 pending;
};

struct pack *
pack_new(void)
{
	struct pack *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->cap = FIRST_MAX + 4096;
	p->text = malloc(p->cap);
	if (p->text == NULL) {
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
	free(p->text);
	free(p->out);
	free(p);
}

/* For a line of n bytes. */
static int
room(struct pack *p, size_t n)
{
	uint8_t *text;

	if (p->cap - FIRST_MAX >= n)
		return 0;
	text = realloc(p->text, FIRST_MAX + n);
	if (text == NULL)
		return -1;
	p->text = text;
	p->cap = FIRST_MAX + n;
	return 0;
}

/* The same for what becomes of it; it never grows by more than this. */
static int
out_room(struct pack *p, size_t n)
{
	size_t most = n + n / LITERALS_MAX + 2;
	char *out;

	if (p->out_cap >= most)
		return 0;
	out = realloc(p->out, most);
	if (out == NULL)
		return -1;
	p->out = out;
	p->out_cap = most;
	return 0;
}

static unsigned
slot_of(const uint8_t *at)
{
	uint32_t four;

	memcpy(&four, at, sizeof(four));
	return (four * 2654435761u) >> (32 - SLOTS_BITS);
}

/* Bytes that the text at `from` has in common with that at `at`. */
static size_t
common(const struct pack *p, size_t from, size_t from_end, size_t at,
    size_t end)
{
	size_t n = 0, most = end - at < MATCH_MAX ? end - at : MATCH_MAX;

	if (from_end - from < most)
		most = from_end - from;
	while (n < most && p->text[from + n] == p->text[at + n])
		n++;
	return n;
}

/* The longest reference for what is at `at`; 0 = none. */
static size_t
match_find(const struct pack *p, size_t at, size_t end, size_t *from)
{
	unsigned slot = slot_of(p->text + at);
	size_t best = 0, n;

	if (p->in_first[slot] != 0) {
		*from = p->in_first[slot] - 1u;
		best = common(p, *from, p->first, at, end);
	}
	if (p->turn[slot] == p->now) {
		n = common(p, p->in_line[slot], at, at, end);
		if (n > best) {
			*from = p->in_line[slot];
			best = n;
		}
	}
	return best >= MATCH_MIN ? best : 0;
}

static void
note(struct pack *p, size_t at, size_t end)
{
	unsigned slot;

	if (at > POSITION_MAX || end - at < MATCH_MIN)
		return;
	slot = slot_of(p->text + at);
	p->in_line[slot] = (uint16_t)at;
	p->turn[slot] = p->now;
}

static void
literals_end(struct packing *k)
{
	if (k->pending > 0)
		k->out[k->literals] = (char)(k->pending - 1);
	k->pending = 0;
}

static void
literal(struct packing *k, uint8_t c)
{
	if (k->pending == LITERALS_MAX)
		literals_end(k);
	if (k->pending++ == 0)
		k->literals = k->n++;
	k->out[k->n++] = (char)c;
}

static void
reference(struct packing *k, size_t from, size_t len)
{
	literals_end(k);
	k->out[k->n++] = (char)(128 + (len - MATCH_MIN));
	k->out[k->n++] = (char)(from & 0xff);
	k->out[k->n++] = (char)(from >> 8);
}

/* One of the first lines: the others refer to it. */
static void
first_keep(struct pack *p, const char *line, size_t n)
{
	size_t i;

	if (n > FIRST_MAX - p->first)
		return;
	memcpy(p->text + p->first, line, n);
	for (i = 0; i + MATCH_MIN <= n; i++)
		p->in_first[slot_of(p->text + p->first + i)] =
		    (uint16_t)(p->first + i + 1);
	p->first += n;
}

static void
turn_begin(struct pack *p)
{
	if (++p->now == 0) {
		memset(p->turn, 0, sizeof(p->turn));
		p->now = 1;
	}
}

char *
pack_line(struct pack *p, const char *line, size_t n, size_t *size)
{
	size_t at = FIRST_MAX, end = FIRST_MAX + n, from = 0, len, i;
	struct packing k = { 0 };
	char *packed;

	if (room(p, n) == -1 || out_room(p, n) == -1)
		return NULL;
	k.out = p->out;
	turn_begin(p);
	memcpy(p->text + FIRST_MAX, line, n);
	while (at < end) {
		len = end - at >= MATCH_MIN ? match_find(p, at, end, &from) : 0;
		if (len == 0)
			literal(&k, p->text[at]);
		else
			reference(&k, from, len);
		for (i = 0; i < (len != 0 ? len : 1); i++)
			note(p, at++, end);
	}
	literals_end(&k);
	first_keep(p, line, n);
	*size = k.n;
	packed = malloc(k.n != 0 ? k.n : 1);
	if (packed != NULL)
		memcpy(packed, k.out, k.n);
	return packed;
}

const char *
pack_read(struct pack *p, const char *packed, size_t size, size_t n)
{
	const uint8_t *in = (const uint8_t *)packed, *end = in + size;
	size_t at = FIRST_MAX, from, len;

	if (room(p, n) == -1)
		return NULL;
	while (in < end) {
		if (*in < 128) {
			len = *in++ + 1u;
			if ((size_t)(end - in) < len || FIRST_MAX + n - at < len)
				return NULL;
			memcpy(p->text + at, in, len);
			in += len;
		} else {
			len = *in++ - 128u + MATCH_MIN;
			if (end - in < 2 || FIRST_MAX + n - at < len)
				return NULL;
			from = in[0] | (size_t)in[1] << 8;
			in += 2;
			if (from + len > at || (from < FIRST_MAX &&
			    from + len > p->first))
				return NULL;
			memcpy(p->text + at, p->text + from, len);
		}
		at += len;
	}
	return at == FIRST_MAX + n ? (const char *)p->text + FIRST_MAX : NULL;
}
