/* SPDX-License-Identifier: MIT */
/*
 * See release.h.  The submitter has up to a second for the answers that it waits
 * for, and the broker the rest of the grace.  Without a release in this time the
 * other centre waits for the end of the lease, as after a crash.
 */
#include "config.h"

#include <event2/event.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/net/secret.h"
#include "receiver/release.h"

/* The broker sends messages without an acknowledgement again. */
static void __attribute__((noreturn)) process_end(struct receiver *v)
{
	secret_wipe_all();
	worker_exit(v->w);
}

/* A release is not under way any more. */
static void
release_over(struct receiver *v, const char *why)
{
	v->release = RELEASE_OVER;
	if (why != NULL)
		log_warnx("the lease is not released: %s; the other centre "
			  "waits for its end",
		    why);
	if (v->w->stopping)
		process_end(v);
}

static void
on_released(int done, void *arg)
{
	if (done)
		log_notice("the lease is released: the other centre can take "
			   "it at once");
	release_over(arg, done ? NULL : "the bucket has not confirmed it");
}

void
release_begin(struct receiver *v)
{
	struct writer w;

	if (!v->active_only || bucket_until(v->lease) == 0 ||
	    v->submitter == NULL || v->release != RELEASE_NONE)
		return;
	wr_init(&w, 8);
	wr_u32(&w, (uint32_t)bucket_margin(v->lease));
	if (channel_send(v->submitter, MSG_DRAIN, 0, &w, -1) == 0) {
		v->release = RELEASE_DRAINS;
		log_info("the submitter ends its requests, then the lease is "
			 "released");
	}
	wr_clear(&w);
}

void
release_submitter_lost(struct receiver *v)
{
	if (v->release == RELEASE_DRAINS)
		release_over(v, "the submitter has ended before its requests");
}

void
release_drained(struct receiver *v, struct channel *c, struct reader *r)
{
	unsigned answered = rd_u8(r);

	if (rd_end(r) == -1)
		channel_broken(c, "drained");
	else if (v->release != RELEASE_DRAINS)
		return;
	else if (!answered)
		release_over(v,
		    "a request to cc-backend had no answer, or the submitter has "
		    "just started");
	else {
		v->release = RELEASE_WRITES;
		log_info("the submitter has ended its requests; the receiver "
			 "writes the release of the lease");
		if (bucket_release(v->lease, on_released) == -1)
			release_over(v, "this centre is not active any more");
	}
}

static void
on_grace(evutil_socket_t fd, short what, void *arg)
{
	struct receiver *v = arg;

	(void)fd;
	(void)what;
	release_over(v,
	    v->release == RELEASE_DRAINS ?
		"the submitter has not ended its requests" :
		"the broker does not answer");
}

void
release_stop(struct receiver *v, uint32_t grace_ms)
{
	struct timeval grace = clock_timeval(grace_ms);

	if ((v->release != RELEASE_DRAINS && v->release != RELEASE_WRITES) ||
	    event_base_once(v->w->base, -1, EV_TIMEOUT, on_grace, v, &grace) ==
		-1)
		process_end(v);
}
