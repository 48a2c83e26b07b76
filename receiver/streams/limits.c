/* SPDX-License-Identifier: MIT */
/*
 * Checks the configuration of a stream.  The receiver reads a stream whose limits
 * differ from ours, and asks the broker again after 30 to 60 s: it may have space
 * for our limits now, or an admin has changed them.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/backoff.h"
#include "common/clock.h"
#include "common/log.h"
#include "receiver/streams/streams_private.h"

#define CHECK_MS 60000 /* ms, at most, between two questions about one stream */

void
limits_note(struct stream *st, const struct api_answer *a, const char *kept)
{
	const char *what = kept;

	if (strcmp(a->retention, "limits") != 0)
		what = "its retention is not \"limits\": a restored centre "
		       "cannot read it again";
	else if (a->sealed)
		what = "it is sealed and accepts no message";
	else if (a->foreign)
		what = "it mirrors another stream or has sources";
	else if (strcmp(a->storage, "file") != 0)
		what = "it is kept in memory: a restart of the broker loses it";
	if (*what != '\0' && strcmp(st->wrong, what) != 0)
		log_warnx("stream %s: %s", st->name, what);
	snprintf(st->wrong, sizeof(st->wrong), "%s", what);
}

/* The answer does not change the step: messages are fetched meanwhile. */
static void
check_ask(struct stream *st, int is_update)
{
	char token[32];
	int rc;

	snprintf(token, sizeof(token), "%s" LIMITS_TOKEN "%u.%u",
	    st->t->kind == STREAM_OF_STATES ? STATES_TOKEN : "", st->index,
	    ++st->check_serial);
	if (is_update)
		rc = stream_request_config(st, "STREAM.UPDATE", token);
	else
		rc = stream_request(st, "STREAM.INFO", NULL, NULL, token);
	/* A request that cannot be sent is repeated in a minute. */
	st->check_is_update = is_update && rc == 0;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct stream *st = arg;

	if (st->wrong[0] == '\0')
		return;
	if (st->check_is_update) {
		st->unanswered++;
		limits_note(st, &st->found, LIMITS_NO_ANSWER);
	}
	check_ask(st, 0);
	limits_watch(st);
}

void
limits_init(struct stream *st)
{
	st->check = evtimer_new(st->t->base, on_timer, st);
	if (st->check == NULL)
		fatalx("out of memory");
}

void
limits_watch(struct stream *st)
{
	int64_t ms = backoff_jitter(CHECK_MS);
	struct timeval tv = clock_timeval((int)ms);

	if (st->wrong[0] != '\0')
		evtimer_add(st->check, &tv);
}

void
limits_halt(struct stream *st)
{
	evtimer_del(st->check);
	st->check_serial++; /* a late answer is ignored */
	st->check_is_update = 0;
}

static void
info_answer(struct stream *st, const struct api_answer *a)
{
	if (a->code != 0 || a->created == 0)
		return;
	st->found = *a;
	if (api_stream_differs(a, st->subject, &st->t->limits)) {
		if (st->unanswered < LIMITS_TRIES)
			check_ask(st, 1);
		return;
	}
	limits_note(st, a, "");
	if (st->wrong[0] == '\0')
		log_notice("stream %s has the configured limits now", st->name);
}

static int
update_answer(struct stream *st, const struct api_answer *a)
{
	char why[256];

	st->check_is_update = 0;
	if (a->code == 0 && a->created != 0) {
		log_notice("stream %s has the configured limits now", st->name);
		return 1;
	}
	snprintf(why, sizeof(why), LIMITS_KEPT "%s", a->error);
	limits_note(st, &st->found, why);
	return 0;
}

int
limits_answer(struct stream *st, unsigned serial, const struct link_message *m)
{
	struct api_answer a;

	if (serial != st->check_serial)
		return 0;
	if (st->check_is_update)
		st->unanswered = 0;
	if (m->status != 0 || api_answer_read(&a, m->data, m->len) == -1)
		return 0;
	if (st->check_is_update)
		return update_answer(st, &a);
	info_answer(st, &a);
	return 0;
}
