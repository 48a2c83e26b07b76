/* SPDX-License-Identifier: MIT */
/* The window of sequences. */
#include "config.h"

#include "receiver/base/window.h"
#include "tests/unit/check.h"

static void
test_order(void)
{
	struct window w;

	window_init(&w, 10);
	CHECK_INT(window_kind(&w, 10), WINDOW_KNOWN);
	CHECK_INT(window_kind(&w, 11), WINDOW_NEXT);
	CHECK_INT(window_kind(&w, 12), WINDOW_GAP);
	window_take(&w);
	CHECK_INT(w.taken, 11);
	CHECK_INT(window_kind(&w, 11), WINDOW_KNOWN);
	CHECK_INT(window_kind(&w, 12), WINDOW_NEXT);
}

/* A held message keeps the position, not the messages behind it. */
static void
test_held(void)
{
	struct window w;
	unsigned i;

	window_init(&w, 0);
	window_take(&w);
	window_hold(&w);
	window_take(&w);
	CHECK_INT(w.taken, 1);
	CHECK_INT(w.highest, 3);
	CHECK_INT(w.held, 1);
	CHECK_INT(window_kind(&w, 2), WINDOW_HELD);
	CHECK_INT(window_kind(&w, 3), WINDOW_KNOWN);
	CHECK_INT(window_kind(&w, 4), WINDOW_NEXT);
	CHECK_INT(window_room(&w), WINDOW_MAX - 2);
	for (i = 3; i < WINDOW_MAX; i++)
		window_take(&w);
	CHECK_INT(window_room(&w), 1);
	window_take(&w);
	CHECK_INT(window_room(&w), 0);
	CHECK_INT(window_kind(&w, 2), WINDOW_HELD);
	CHECK_INT(window_kind(&w, w.highest), WINDOW_KNOWN);
}

/* The places of old messages are used again. */
static void
test_reuse(void)
{
	struct window w;

	window_init(&w, WINDOW_MAX + 1);
	window_hold(&w); /* the place of message 2 */
	CHECK_INT(window_kind(&w, WINDOW_MAX + 2), WINDOW_HELD);
	window_init(&w, 1);
	window_take(&w);
	window_hold(&w);
	CHECK_INT(window_kind(&w, 2), WINDOW_KNOWN);
	CHECK_INT(window_kind(&w, 3), WINDOW_HELD);
}

static void
test_skip(void)
{
	struct window w;

	window_init(&w, 5);
	CHECK_INT(window_skip(&w, 1000000), 0);
	CHECK_INT(w.taken, 1000000);
	window_init(&w, 5);
	window_hold(&w);
	CHECK_INT(window_skip(&w, 9), 0);
	CHECK_INT(w.taken, 5);
	CHECK_INT(w.highest, 9);
	CHECK_INT(window_kind(&w, 6), WINDOW_HELD);
	CHECK_INT(window_kind(&w, 9), WINDOW_KNOWN);
	/* messages on their way have a place nevertheless */
	CHECK_INT(window_skip(&w, 5 + WINDOW_MAX / 2 + 1), -1);
	CHECK_INT(w.highest, 9);
	CHECK_INT(window_skip(&w, 5 + WINDOW_MAX / 2), 0);
	CHECK_INT(w.highest, 5 + WINDOW_MAX / 2);
}

int
main(void)
{
	test_order();
	test_held();
	test_reuse();
	test_skip();
	return check_done();
}
