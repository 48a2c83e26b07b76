/* SPDX-License-Identifier: MIT */
/* The steps of a long text; see stream.h. */
#include "config.h"

#include <string.h>

#include "tests/bench/stream.h"

#define STEP (64u * 1024) /* as a pipe brings it */

/* One step's bytes on their way. */
struct step {
	char buf[STEP];
	size_t len;
	feed_fn *feed;
	void *arg;
	uint64_t bytes;
	int rc;
};

static void
step_flush(struct step *step)
{
	if (step->len > 0 && step->rc == 0)
		step->rc = step->feed(step->buf, step->len, step->arg);
	step->bytes += step->len;
	step->len = 0;
}

static void
step_add(struct step *step, const char *p, size_t n)
{
	size_t k;

	for (; n > 0; p += k, n -= k) {
		k = STEP - step->len;
		if (k > n)
			k = n;
		memcpy(step->buf + step->len, p, k);
		step->len += k;
		if (step->len == STEP)
			step_flush(step);
	}
}

int
stream_run(const struct stream *s, feed_fn *feed, void *arg, uint64_t *bytes)
{
	static struct step step;
	unsigned i;

	step.feed = feed;
	step.arg = arg;
	step_add(&step, s->head, strlen(s->head));
	for (i = 0; i < s->repeat && step.rc == 0; i++) {
		if (i > 0)
			step_add(&step, s->between, strlen(s->between));
		step_add(&step, s->unit, s->len);
	}
	step_add(&step, s->tail, strlen(s->tail));
	step_flush(&step);
	*bytes = step.bytes;
	return step.rc;
}
