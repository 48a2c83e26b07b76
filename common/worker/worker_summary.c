/* SPDX-License-Identifier: MIT */
/*
 * When the summary of a worker is sent; see worker_summary.h.  Only an event
 * changes a summary: a worker without events compares nothing.  Times in a
 * summary are points of time; their reader computes the age.
 */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "common/clock.h"
#include "common/ipc/pace.h"
#include "common/log.h"
#include "common/model/msg.h"
#include "common/model/summary.h"
#include "common/worker/worker.h"
#include "common/worker/worker_summary.h"

#define CHECK_MS   1000	 /* between two comparisons with the last one */
#define REFRESH_MS 60000 /* a summary without a change is sent again */

/* Fixed members, and each problem with its text. */
#define SUMMARY_BYTES (64 + SUMMARY_PROBLEMS_MAX * (16 + SUMMARY_TEXT_MAX))

static struct {
	struct worker *w;
	struct pace pace;
	struct writer sent; /* what the supervisor has */
	long long sent_ms;  /* clock_ms(); 0 = never */
} state;

static int
is_known(const struct writer *now)
{
	return state.sent_ms != 0 && clock_ms() - state.sent_ms < REFRESH_MS &&
	    now->len == state.sent.len &&
	    memcmp(now->buf, state.sent.buf, now->len) == 0;
}

static void
summary_check(void)
{
	static struct summary s; /* large; one at a time */
	struct writer now;

	/* The problems below s.n are written whole. */
	memset(&s, 0, offsetof(struct summary, problems));
	state.w->ops->summary(state.w, &s);
	wr_init(&now, SUMMARY_BYTES);
	summary_write(&now, &s);
	if (wr_end(&now) == -1 || is_known(&now)) {
		wr_clear(&now);
		return;
	}
	channel_send(state.w->supervisor, MSG_SUMMARY, 0, &now, -1);
	wr_clear(&state.sent);
	state.sent = now;
	state.sent_ms = clock_ms();
}

void
worker_summary_turn(void)
{
	if (state.w == NULL || state.w->stopping || state.w->supervisor == NULL)
		return;
	if (pace_turn(&state.pace, CHECK_MS, REFRESH_MS))
		summary_check();
}

void
worker_summary_begin(struct worker *w)
{
	if (w->ops->summary == NULL)
		return;
	state.w = w;
	wr_init(&state.sent, SUMMARY_BYTES);
	if (pace_init(&state.pace, w->base) == -1)
		fatalx("out of memory");
	worker_summary_turn();
}
