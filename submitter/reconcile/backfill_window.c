/* SPDX-License-Identifier: MIT */
/* The window of starts that is listed in cc-backend; see backfill_private.h. */
#include "config.h"

#include <string.h>

#include "submitter/backend/breaker.h"
#include "submitter/reconcile/backfill_private.h"

#define UNANSWERED_TRIES 3  /* lists of a window, until it is halved */
#define LISTED_MIN	 16 /* windows listed, until they are longer again */

void
window_soon(struct backfill *b, int64_t ms)
{
	timer_after(b->timer, ms);
}

int
window_lists(const struct backfill *b)
{
	return !is_by_nats(b) && conf_sends_rest(&b->s->w->conf);
}

void
window_first(struct backfill *b)
{
	b->width_max = WINDOW_S;
	b->n_listed = 0;
	memset(&b->failures, 0, sizeof(b->failures));
}

void
window_begin(struct backfill *b)
{
	b->width = b->width_max;
	b->unanswered = 0;
}

void
window_listed(struct backfill *b)
{
	b->unanswered = 0;
	memset(&b->failures, 0, sizeof(b->failures));
	if (b->width_max >= WINDOW_S || ++b->n_listed < LISTED_MIN)
		return;
	b->n_listed = 0;
	b->width_max = 2 * b->width_max < WINDOW_S ? 2 * b->width_max :
						     WINDOW_S;
}

/*
 * cc-backend or a proxy closes the connection when the list takes too long: a
 * shorter window may be listed in time.  In an outage the breaker permits no more
 * lists, so that an outage shortens the window once.  Returns 0 when the shortest
 * window has no answer either.  Later windows of this length are then listed once,
 * until a list has an answer.
 */
static int
window_shorten(struct backfill *b, const struct result *v)
{
	int64_t span = b->hi - b->lo + 1;

	if (span <= 1)
		return !job_list_gives_up(&b->failures, v);
	if (++b->unanswered < UNANSWERED_TRIES)
		return 1;
	b->unanswered = 0;
	b->n_listed = 0;
	b->width = b->width_max = span / 2;
	return 1;
}

int
window_failed(struct backfill *b, const struct result *v)
{
	breaker_request_result(b->s->breaker, v);
	if (v->code != RESULT_UNREACHABLE)
		b->unanswered = 0;
	else if (!window_shorten(b, v))
		return 0;
	/* One damaged row makes its page fail: a smaller window avoids it. */
	if (v->code == RESULT_RETRY && breaker_allows(b->s->breaker)) {
		if (b->width <= 1)
			return 0;
		b->width /= 2;
	}
	window_soon(b, RETRY_MS);
	return 1;
}
