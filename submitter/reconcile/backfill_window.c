/* SPDX-License-Identifier: MIT */
/* The window of starts that is listed in cc-backend; see backfill_private.h. */
#include "config.h"

#include "submitter/backend/breaker.h"
#include "submitter/reconcile/backfill_private.h"

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

int
window_failed(struct backfill *b, const struct result *v)
{
	breaker_request_result(b->s->breaker, v);
	/* One damaged row makes its page fail: a smaller window avoids it. */
	if (v->code == RESULT_RETRY && breaker_allows(b->s->breaker)) {
		if (b->width <= 1)
			return 0;
		b->width /= 2;
	}
	window_soon(b, RETRY_MS);
	return 1;
}
