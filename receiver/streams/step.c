/* SPDX-License-Identifier: MIT */
/*
 * The steps of one stream from the connection to the first pull request: ask
 * for the stream, create it or correct its limits, find the position, create
 * our consumer again behind the position.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/backoff.h"
#include "common/log.h"
#include "common/text/time_text.h"
#include "receiver/streams/streams_private.h"

#define ANSWER_MS    10000 /* limit of a request; it may elect a leader */
#define RETRY_MS     1000  /* first wait after a failure */
#define RETRY_MS_MAX 60000
#define NOT_THERE    404

/* The request of a step was sent: rc. */
static void
asked(struct stream *st, enum stream_step step, int rc)
{
	st->step = step;
	if (rc == -1)
		stream_fail(st, "the request cannot be sent");
	else
		stream_timer(st, ANSWER_MS);
}

static void
ask(struct stream *st, enum stream_step step, const char *what,
    const char *consumer, const struct writer *w)
{
	asked(st, step,
	    stream_request(st, what, consumer, w, stream_token(st)));
}

void
stream_start(struct stream *st)
{
	if (st->step != STEP_IDLE || !st->t->up || !st->t->begun)
		return;
	ask(st, STEP_INFO, "STREAM.INFO", NULL, NULL);
}

void
stream_halt(struct stream *st)
{
	fetch_end(st);
	limits_halt(st);
	evtimer_del(st->timer);
	st->serial++; /* a late answer is ignored */
	st->step = STEP_IDLE;
	st->waiting = 0;
	st->wants_long = LONG_NO;
}

void
stream_fail(struct stream *st, const char *why)
{
	int64_t ms = backoff_jitter(
	    backoff_wait(st->failures++, RETRY_MS, RETRY_MS_MAX));

	/* Log a cause once; the attempts continue. */
	if (strcmp(st->problem, why) != 0)
		log_warnx("stream %s: %s; attempts continue", st->name, why);
	snprintf(st->problem, sizeof(st->problem), "%s", why);
	stream_halt(st);
	st->step = STEP_WAIT;
	stream_timer(st, (int)ms);
}

static void
ask_config(struct stream *st, enum stream_step step, const char *what)
{
	asked(st, step, stream_request_config(st, what, stream_token(st)));
}

static void
ask_consumer(struct stream *st)
{
	struct writer w;

	wr_init(&w, API_REQUEST_MAX);
	api_consumer_config(&w, st->name, st->window.taken + 1, ACK_PENDING,
	    ACK_WAIT);
	ask(st, STEP_CONSUMER, "CONSUMER.DURABLE.CREATE", API_CONSUMER, &w);
	wr_clear(&w);
}

/* Messages up to this one are no longer in the stream. */
static void
lost_until(struct stream *st, uint64_t until)
{
	uint64_t n = until - st->window.taken;

	st->expired += n;
	snprintf(st->loss, sizeof(st->loss),
	    "%" PRIu64 " messages expired or were deleted before they were "
	    "read, the last time at %s",
	    st->expired, time_text(time(NULL)));
	log_about(LOG_ID_NONE, st->cluster, 0);
	log_errorx("stream %s: %llu messages (%llu to %llu) expired or were "
		   "deleted before they were read; their runs are in the spool "
		   "of cluster %s or in its accounting",
	    st->name, (unsigned long long)n,
	    (unsigned long long)st->window.taken + 1, (unsigned long long)until,
	    st->cluster);
	window_init(&st->window, until);
}

/*
 * The stream is another one than that of the position.  Whether the old one had
 * messages that nobody has read is not known.
 */
static void
begin_again(struct stream *st, const char *why)
{
	log_about(LOG_ID_NONE, st->cluster, 0);
	log_warnx(
	    "stream %s: %s; it is read from its first message, known runs do not "
	    "change",
	    st->name, why);
	st->renewed = (int64_t)time(NULL);
	snprintf(st->loss, sizeof(st->loss),
	    "%s, found at %s: messages that were not read are lost", why,
	    time_text(st->renewed));
	window_init(&st->window, 0);
}

/*
 * Messages that are read again when a consumer is made.  The replicas of a stream
 * may count differently: after kills of brokers, nats-server 2.9.10 had the same
 * messages at numbers that differ by up to 8, and a consumer that moved to another
 * broker left messages out.  Known runs do not change.
 */
#define AGAIN 64

static void
read_again(struct stream *st, uint64_t first)
{
	uint64_t from;

	st->again = st->window.taken;
	from = st->again > AGAIN ? st->again - AGAIN : 0;
	if (first > 0 && from < first - 1)
		from = first - 1;
	if (from < st->again)
		window_init(&st->window, from);
}

/* Finds the position in the stream that exists now. */
static void
position_find(struct stream *st, const struct api_answer *a)
{
	int known = st->identity != 0 && st->identity == a->created;

	/* The consumer before this one did not reach the position. */
	if (st->window.taken < st->again)
		window_init(&st->window, st->again);
	if (st->identity != 0 && !known)
		begin_again(st, "the stream was made anew since it was read");
	else if (st->window.taken > a->last) {
		begin_again(st, "it ends before the stored position");
		known = 0;
	}
	st->identity = a->created;
	if (a->first > st->window.taken + 1) {
		if (known && !st->elsewhere)
			lost_until(st, a->first - 1);
		else
			window_init(&st->window, a->first - 1);
	}
	st->elsewhere = 0;
	read_again(st, a->first);
}

/* The stream exists, with our limits where the broker permits them. */
static void
stream_found(struct stream *st, const struct api_answer *a, const char *kept)
{
	if (st->t->kind == STREAM_OF_RUNS)
		position_find(st, a);
	st->end = a->last;
	limits_note(st, a, kept);
	ask(st, STEP_DELETE, "CONSUMER.DELETE", API_CONSUMER, NULL);
}

static void
stream_made(struct stream *st, const struct api_answer *a)
{
	log_notice("stream %s was made: %u replicas, %lld s, %lld bytes",
	    st->name, st->t->limits.replicas, (long long)st->t->limits.max_age,
	    (long long)st->t->limits.max_bytes);
	stream_found(st, a, "");
}

static void
info_answer(struct stream *st, const struct api_answer *a)
{
	char why[256];

	if (a->code == NOT_THERE && a->created == 0) {
		ask_config(st, STEP_CREATE, "STREAM.CREATE");
		return;
	}
	if (a->code != 0 || a->created == 0) {
		snprintf(why, sizeof(why), "the broker says: %s",
		    a->error[0] != '\0' ? a->error : "an incomplete answer");
		stream_fail(st, why);
		return;
	}
	st->found = *a;
	if (api_stream_differs(a, st->subject, &st->t->limits))
		ask_config(st, STEP_UPDATE, "STREAM.UPDATE");
	else
		stream_found(st, a, "");
}

/* A stream that keeps its old limits is read nevertheless. */
static void
update_answer(struct stream *st, const struct api_answer *a)
{
	char why[256];

	if (a->code == 0 && a->created != 0) {
		log_notice("stream %s has the configured limits now", st->name);
		stream_found(st, a, "");
		return;
	}
	snprintf(why, sizeof(why), LIMITS_KEPT "%s", a->error);
	stream_found(st, &st->found, why);
}

/*
 * A broker does not answer a request that the login is not permitted to send.  A
 * stream without an update is read after some attempts.
 */
void
stream_no_answer(struct stream *st)
{
	if (st->step != STEP_UPDATE)
		stream_fail(st,
		    "JetStream does not answer: is it enabled, and is the "
		    "login permitted to use $JS.API and _INBOX_centre?");
	else if (++st->unanswered < LIMITS_TRIES)
		stream_fail(st,
		    "JetStream does not answer the update of limits");
	else
		stream_found(st, &st->found, LIMITS_NO_ANSWER);
}

static void
reading_begins(struct stream *st)
{
	evtimer_del(st->timer);
	link_worked(st->t->link);
	log_info("stream %s is read from message %llu; messages up to %llu "
		 "were read before",
	    st->name, (unsigned long long)st->window.taken + 1,
	    (unsigned long long)stream_read_up_to(st));
	st->problem[0] = '\0';
	st->step = STEP_READ;
	st->pull.messages = 0;
	limits_watch(st);
	fetch_position(st);
	fetch_all(st->t);
}

void
stream_answer(struct stream *st, const struct link_message *m)
{
	struct api_answer a;
	char why[256];

	if (st->step == STEP_UPDATE)
		st->unanswered = 0;
	if (m->status != 0) {
		stream_fail(st, "JetStream is not available");
		return;
	}
	if (api_answer_read(&a, m->data, m->len) == -1) {
		stream_fail(st, "the broker's answer is not valid");
		return;
	}
	snprintf(why, sizeof(why), "the broker says: %s", a.error);
	if (st->step == STEP_INFO)
		info_answer(st, &a);
	else if (st->step == STEP_UPDATE)
		update_answer(st, &a);
	else if (a.code != 0 &&
	    !(st->step == STEP_DELETE && a.code == NOT_THERE))
		stream_fail(st, why);
	else if (st->step == STEP_CREATE)
		stream_made(st, &a);
	else if (st->step == STEP_DELETE)
		ask_consumer(st);
	else
		reading_begins(st);
}
