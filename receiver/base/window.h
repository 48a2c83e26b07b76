/* SPDX-License-Identifier: MIT */
/*
 * Which messages of one stream were taken: their records are on the way to the
 * submitter, or they need none.  Messages arrive in the order of their stream
 * sequence; a message that arrives again has a known sequence.  A message with
 * a newer schema is held: the position stays before it.
 */
#ifndef RECEIVER_BASE_WINDOW_H
#define RECEIVER_BASE_WINDOW_H

#include <stdint.h>

/* Messages behind the first held one; a stream that has more waits. */
#define WINDOW_MAX 1024

struct window {
	uint64_t taken;	  /* all messages up to this one were taken */
	uint64_t highest; /* the last one that arrived; >= taken */
	unsigned held;	  /* messages that are held */
	uint8_t bits[WINDOW_MAX / 8]; /* held, by sequence % WINDOW_MAX */
};

/* The place of a message in its stream, from the sequences taken before. */
enum window_kind {
	WINDOW_NEXT,  /* directly behind the highest */
	WINDOW_KNOWN, /* it arrived before and was taken */
	WINDOW_HELD,  /* it arrived before and is held */
	WINDOW_GAP    /* a message before it did not arrive */
};

/* Begins behind this sequence, with nothing held. */
void window_init(struct window *w, uint64_t taken);
enum window_kind window_kind(const struct window *w, uint64_t seq);
/* The message that window_kind() called WINDOW_NEXT was taken, or is held. */
void window_take(struct window *w);
void window_hold(struct window *w);
/*
 * Messages up to this one do not exist.  Returns 0, or -1 when held messages
 * before them leave no place to note that.  Messages on their way need the
 * other half of the window.
 */
int window_skip(struct window *w, uint64_t until);
/* Further messages that can be noted. */
unsigned window_room(const struct window *w);

#endif
