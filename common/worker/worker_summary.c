/* SPDX-License-Identifier: MIT */
/* When the summary of a worker is sent; see worker_summary.h. */
#include "config.h"

#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/msg.h"
#include "common/summary.h"
#include "common/worker/worker.h"
#include "common/worker/worker_summary.h"

#define CHECK_MS   1000	 /* between two comparisons with the last one */
#define REFRESH_MS 60000 /* a summary without a change is sent again */

/* Fixed members, and each problem with its text. */
#define SUMMARY_BYTES (64 + SUMMARY_PROBLEMS_MAX * (16 + SUMMARY_TEXT_MAX))

static struct {
	struct worker *w;
	struct event *timer;
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

	memset(&s, 0, sizeof(s));
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

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct timeval wait = clock_timeval(CHECK_MS);

	if (state.w->stopping || state.w->supervisor == NULL)
		return;
	summary_check();
	if (event_add(state.timer, &wait) == -1)
		log_warnx("out of memory: no summary for the supervisor");
}

void
worker_summary_begin(struct worker *w)
{
	if (w->ops->summary == NULL)
		return;
	state.w = w;
	wr_init(&state.sent, SUMMARY_BYTES);
	state.timer = evtimer_new(w->base, on_timer, NULL);
	if (state.timer == NULL)
		fatalx("out of memory");
	on_timer(-1, 0, NULL);
}
