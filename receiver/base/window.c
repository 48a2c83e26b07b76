/* SPDX-License-Identifier: MIT */
/* The window of window.h. */
#include "config.h"

#include <string.h>

#include "receiver/base/window.h"

static uint8_t *
byte_of(struct window *w, uint64_t seq, uint8_t *bit)
{
	*bit = (uint8_t)(1u << (seq % 8));
	return &w->bits[seq % WINDOW_MAX / 8];
}

void
window_init(struct window *w, uint64_t taken)
{
	memset(w, 0, sizeof(*w));
	w->taken = w->highest = taken;
}

enum window_kind
window_kind(const struct window *w, uint64_t seq)
{
	if (seq <= w->taken)
		return WINDOW_KNOWN;
	if (seq > w->highest)
		return seq == w->highest + 1 ? WINDOW_NEXT : WINDOW_GAP;
	return w->bits[seq % WINDOW_MAX / 8] & (1u << (seq % 8)) ? WINDOW_HELD :
								   WINDOW_KNOWN;
}

void
window_take(struct window *w)
{
	uint8_t bit, *byte;

	w->highest++;
	byte = byte_of(w, w->highest, &bit);
	*byte &= (uint8_t)~bit;
	if (w->held == 0)
		w->taken = w->highest;
}

void
window_hold(struct window *w)
{
	uint8_t bit, *byte;

	w->highest++;
	byte = byte_of(w, w->highest, &bit);
	*byte |= bit;
	w->held++;
}

int
window_skip(struct window *w, uint64_t until)
{
	if (w->held == 0) {
		w->taken = w->highest = until;
		return 0;
	}
	if (until - w->taken > WINDOW_MAX / 2)
		return -1;
	while (w->highest < until)
		window_take(w);
	return 0;
}

unsigned
window_room(const struct window *w)
{
	uint64_t used = w->highest - w->taken;

	return used < WINDOW_MAX ? WINDOW_MAX - (unsigned)used : 0;
}
