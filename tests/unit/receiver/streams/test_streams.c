/* SPDX-License-Identifier: MIT */
/*
 * The streams against a simulated broker: the functions of link.h are here.
 * tests/lab/receive has the same with a real one.
 */
#include "config.h"

#include <limits.h>

#include <event2/event.h>

#include "common/log.h"
#include "receiver/streams/streams_private.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"

#define SENT_MAX 4096
#define CREATED	 "2026-11-22T17:00:05Z"
#define IDENTITY 1795366805000000000ULL

/* Messages that the box has published. */
static struct sent {
	char subject[256];
	char answer[32]; /* "" = none */
	char data[1024];
} sent[SENT_MAX];
static unsigned n_sent;
static unsigned seen; /* of sent: those that a test has looked at */
static int up;

/* Messages that the owner of the box got. */
static uint64_t got[SENT_MAX];
static unsigned n_got;
static uint64_t frames;
static uint64_t hold;	 /* sequence of a message with a newer schema */
static uint64_t invalid; /* of a message without a record */
static uint64_t position, identity;
static unsigned n_positions;

static struct event_base *base;

/* Messages that do not come, in the next status. */
static unsigned left = UINT_MAX;

int
link_publish(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len)
{
	struct sent *s = &sent[n_sent];

	if (!up || n_sent == SENT_MAX)
		return -1;
	n_sent++;
	snprintf(s->subject, sizeof(s->subject), "%s", subject);
	snprintf(s->answer, sizeof(s->answer), "%s",
	    answer != NULL ? answer : "");
	snprintf(s->data, sizeof(s->data), "%.*s", (int)len,
	    len > 0 ? (const char *)data : "");
	return 0;
}

size_t
link_max_payload(const struct link *l)
{
	return 1024 * 1024;
}

void
link_worked(struct link *l)
{
}

static enum stream_take
on_message(const struct stream_message *m, uint64_t *frame, void *arg)
{
	got[n_got++] = m->sequence;
	if (m->sequence == hold)
		return STREAM_HELD;
	if (m->sequence == invalid)
		return STREAM_DONE;
	*frame = ++frames;
	return STREAM_SENT;
}

static void
on_position(const char *cluster, uint64_t id, uint64_t sequence, void *arg)
{
	position = sequence;
	identity = id;
	n_positions++;
	frames++;
}

static const struct streams_ops ops = { on_message, on_position };
static const struct api_limits limits = { 1, 86400, 1000000, 0 };

/* The first request since the last call whose subject begins so, or NULL. */
static struct sent *
next(const char *prefix)
{
	while (seen < n_sent)
		if (strncmp(sent[seen++].subject, prefix, strlen(prefix)) == 0)
			return &sent[seen - 1];
	return NULL;
}

/* How many such requests were sent since. */
static unsigned
count(unsigned from, const char *prefix)
{
	unsigned i, n = 0;

	for (i = from; i < n_sent; i++)
		n += strncmp(sent[i].subject, prefix, strlen(prefix)) == 0;
	return n;
}

static void
answer(struct streams *t, const struct sent *to, const char *text)
{
	char subject[64];
	struct link_message m = { .subject = subject,
		.reply = "",
		.tail = to->answer,
		.status_text = "",
		.id = "",
		.data = (const uint8_t *)text,
		.len = strlen(text) };

	snprintf(subject, sizeof(subject), "_INBOX_centre.x.%s", to->answer);
	streams_receive(t, &m);
	streams_turn(t);
}

static void
status(struct streams *t, const struct sent *to, unsigned code,
    const char *text)
{
	struct link_message m = { .subject = "x",
		.reply = "",
		.tail = to->answer,
		.status = code,
		.status_text = text,
		.left = left,
		.id = "" };

	left = UINT_MAX;
	streams_receive(t, &m);
	streams_turn(t);
}

/* One message of cluster alpha; without the turn. */
static void
message(struct streams *t, uint64_t sequence, unsigned times,
    unsigned long pending)
{
	char reply[128];
	struct link_message m = { .subject = "cc.record.alpha",
		.reply = reply,
		.status_text = "",
		.id = "",
		.data = (const uint8_t *)"{}",
		.len = 2 };

	snprintf(reply, sizeof(reply),
	    "$JS.ACK.CC_RECORD_alpha.centre.%u.%llu.9.1795366806000000000.%lu",
	    times, (unsigned long long)sequence, pending);
	streams_receive(t, &m);
}

static void
one(struct streams *t, uint64_t sequence)
{
	message(t, sequence, 1, 0);
	streams_turn(t);
}

static char *
info(uint64_t first, uint64_t last)
{
	static char text[1024];

	snprintf(text, sizeof(text),
	    "{\"created\":\"" CREATED "\",\"config\":{\"subjects\":["
	    "\"cc.record.alpha\"],\"retention\":\"limits\",\"discard\":\"new\","
	    "\"storage\":\"file\",\"num_replicas\":1,"
	    "\"max_age\":86400000000000,\"max_bytes\":1000000,"
	    "\"max_msg_size\":%u,\"duplicate_window\":120000000000},"
	    "\"state\":{\"first_seq\":%llu,\"last_seq\":%llu}}",
	    BUDGET_LONGEST, (unsigned long long)first,
	    (unsigned long long)last);
	return text;
}

static struct streams *
start(void)
{
	struct streams *t = streams_new(base, NULL, STREAM_OF_RUNS, &ops, NULL);

	seen = n_sent = n_got = n_positions = 0;
	frames = hold = invalid = position = 0;
	up = 0;
	streams_conf(t, "[\"alpha\"]", &limits);
	return t;
}

/* From the connection to the first pull request. */
static struct sent *
read_from(struct streams *t, uint64_t first, uint64_t last, const char *from)
{
	struct sent *s;

	s = next("$JS.API.STREAM.INFO.CC_RECORD_alpha");
	CHECK(s != NULL);
	answer(t, s, info(first, last));
	s = next("$JS.API.CONSUMER.DELETE.CC_RECORD_alpha.centre");
	CHECK(s != NULL);
	answer(t, s, "{\"error\":{\"code\":404,\"description\":\"none\"}}");
	s = next("$JS.API.CONSUMER.DURABLE.CREATE.CC_RECORD_alpha.centre");
	CHECK(s != NULL && strstr(s->data, from) != NULL);
	answer(t, s, "{\"created\":\"" CREATED "\"}");
	s = next("$JS.API.CONSUMER.MSG.NEXT.CC_RECORD_alpha.centre");
	CHECK(s != NULL);
	return s;
}

/* Begins at once, also when the position comes after the connection. */
static struct streams *
started(uint64_t sequence, uint64_t first, uint64_t last, const char *from)
{
	struct streams *t = start();

	up = 1;
	streams_link(t, 1);
	CHECK_INT(n_sent, 0);
	if (sequence != 0)
		streams_position(t, "alpha", IDENTITY, sequence);
	streams_begin(t);
	read_from(t, first, last, from);
	return t;
}

static struct stream_status
status_of(const struct streams *t)
{
	struct stream_status st = { 0 };

	CHECK_INT(streams_status(t, 0, &st), 1);
	return st;
}

/* The wait after a failure is over. */
static void
retry(struct streams *t)
{
	CHECK_INT(t->list[0]->step, STEP_WAIT);
	CHECK(evtimer_pending(t->list[0]->timer, NULL));
	event_active(t->list[0]->timer, EV_TIMEOUT, 1);
	loop_settle(base);
	CHECK_INT(count(seen, "$JS.API.STREAM.INFO"), 1);
}

static void
stop(struct streams *t)
{
	streams_link(t, 0);
	streams_reset(t);
	streams_conf(t, "[]", &limits);
	CHECK_INT(t->budget.extra_messages, 0);
	CHECK_INT(t->budget.extra_bytes, 0);
}

/* A message is acknowledged when its record is durable, not before. */
static void
test_acknowledge(void)
{
	struct streams *t = started(0, 1, 0, "\"opt_start_seq\":1,");

	one(t, 1);
	CHECK_INT(n_got, 1);
	CHECK_INT(position, 1);
	CHECK(identity == IDENTITY);
	CHECK_INT(count(0, "$JS.ACK."), 0);
	streams_acked(t, 0);
	CHECK_INT(count(0, "$JS.ACK."), 0);
	streams_acked(t, frames);
	CHECK_INT(count(0, "$JS.ACK.CC_RECORD_alpha.centre.1.1."), 1);
	CHECK_INT(status_of(t).unacked, 0);
	CHECK_INT(status_of(t).last, 1795366806);
	stop(t);
}

/* Evidence of a cluster counts when nothing of its stream waits. */
static void
test_current(void)
{
	struct streams *t = start();

	CHECK_INT(streams_is_current(t, "alpha"), 0);
	stop(t);
	/* the broker has said nothing about what waits, but two are there */
	t = started(0, 1, 2, "\"opt_start_seq\":1,");
	CHECK_INT(streams_is_current(t, "alpha"), 0);
	message(t, 1, 1, 1);
	CHECK_INT(streams_is_current(t, "alpha"), 0);
	message(t, 2, 1, 0);
	CHECK_INT(streams_is_current(t, "alpha"), 1);
	CHECK_INT(streams_is_current(t, "beta"), 0);
	streams_pause(t, 1);
	CHECK_INT(streams_is_current(t, "alpha"), 0);
	streams_pause(t, 0);
	hold = 3;
	message(t, 3, 1, 0);
	CHECK_INT(streams_is_current(t, "alpha"), 0);
	stop(t);
}

/* The position is told once for the messages of a turn. */
static void
test_position(void)
{
	struct streams *t = started(41, 42, 90, "\"opt_start_seq\":42,");

	invalid = 43;
	message(t, 42, 1, 2);
	message(t, 43, 1, 1);
	message(t, 44, 1, 0);
	CHECK_INT(n_positions, 0);
	streams_turn(t);
	CHECK_INT(n_positions, 1);
	CHECK_INT(position, 44);
	/* the message that is no record is acknowledged at once */
	CHECK_INT(count(0, "$JS.ACK."), 1);
	CHECK_INT(count(0, "$JS.ACK.CC_RECORD_alpha.centre.1.43."), 1);
	streams_acked(t, frames);
	CHECK_INT(count(0, "$JS.ACK."), 3);
	stop(t);
}

/* A message that comes again is not sent again. */
static void
test_redelivery(void)
{
	struct streams *t = started(0, 1, 9, "\"opt_start_seq\":1,");

	one(t, 1);
	message(t, 1, 2, 0);
	CHECK_INT(n_got, 1);
	CHECK_INT(count(0, "$JS.ACK."), 0);
	streams_acked(t, frames);
	/* the broker knows the last delivery only */
	CHECK_INT(count(0, "$JS.ACK.CC_RECORD_alpha.centre.2.1."), 1);
	CHECK_INT(count(0, "$JS.ACK."), 1);
	/* its acknowledgement was lost */
	message(t, 1, 3, 0);
	CHECK_INT(n_got, 1);
	CHECK_INT(count(0, "$JS.ACK.CC_RECORD_alpha.centre.3.1."), 1);
	stop(t);
}

/* A newer schema keeps the position before it; later messages go on. */
static void
test_newer(void)
{
	struct streams *t = started(0, 1, 9, "\"opt_start_seq\":1,");
	struct stream_status st;

	hold = 2;
	one(t, 1);
	one(t, 2);
	one(t, 3);
	streams_acked(t, frames);
	CHECK_INT(position, 1);
	CHECK_INT(count(0, "$JS.ACK."), 2);
	CHECK_INT(count(0, "$JS.ACK.CC_RECORD_alpha.centre.1.2."), 0);
	message(t, 2, 2, 0);
	CHECK_INT(n_got, 3);
	CHECK_INT(count(0, "$JS.ACK."), 2);
	st = status_of(t);
	CHECK_INT(st.held, 1);
	CHECK_INT(st.taken, 1);
	stop(t);
}

/* Held messages fill the consumer of their own cluster and no budget. */
static void
test_newer_many(void)
{
	struct streams *t = started(0, 1, 9, "\"opt_start_seq\":1,");
	uint64_t i;

	for (i = 1; i < ACK_PENDING; i++) {
		hold = i;
		one(t, i);
		CHECK(status_of(t).ready);
	}
	CHECK_STR(status_of(t).problem, "");
	CHECK(next("$JS.API.CONSUMER.MSG.NEXT") != NULL);
	seen = n_sent;
	hold = ACK_PENDING;
	one(t, hold);
	CHECK(next("$JS.API.CONSUMER.MSG.NEXT") == NULL);
	CHECK_INT(t->list[0]->use.messages, 0);
	CHECK_INT(status_of(t).held, ACK_PENDING);
	CHECK(!status_of(t).ready);
	CHECK(strstr(status_of(t).problem, "newer version") != NULL);
	/* not of a standby */
	streams_link(t, 0);
	CHECK_STR(status_of(t).problem, "");
	stop(t);
}

/* No more messages are asked for than can be noted behind a held one. */
static void
test_window_end(void)
{
	struct streams *t = started(0, 1, 5000, "\"opt_start_seq\":1,");
	const struct stream *st = t->list[0];
	uint64_t i;

	hold = 1;
	for (i = 1; i <= WINDOW_MAX; i++) {
		CHECK(status_of(t).ready);
		CHECK(st->pull.messages > 0);
		CHECK(i - 1 + st->pull.messages <= WINDOW_MAX);
		message(t, i, 1, 5000);
		streams_turn(t);
		streams_acked(t, frames);
	}
	CHECK_INT(st->pull.messages, 0);
	CHECK_INT(status_of(t).held, 1);
	CHECK_INT(status_of(t).taken, 0);
	CHECK(!status_of(t).ready);
	CHECK(strstr(status_of(t).problem, "newer version") != NULL);
	stop(t);
}

static void
test_create(void)
{
	struct streams *t = start();
	struct sent *s;

	up = 1;
	streams_link(t, 1);
	streams_begin(t);
	s = next("$JS.API.STREAM.INFO.CC_RECORD_alpha");
	CHECK(s != NULL);
	answer(t, s, "{\"error\":{\"code\":404,\"description\":\"none\"}}");
	s = next("$JS.API.STREAM.CREATE.CC_RECORD_alpha");
	CHECK(s != NULL && strstr(s->data, "\"num_replicas\":1,") != NULL);
	answer(t, s, info(0, 0));
	s = next("$JS.API.CONSUMER.DELETE");
	CHECK(s != NULL);
	answer(t, s, "{\"success\":true}");
	s = next("$JS.API.CONSUMER.DURABLE.CREATE");
	CHECK(s != NULL && strstr(s->data, "\"opt_start_seq\":1,") != NULL);
	stop(t);
}

/* Other limits are corrected; a broker that refuses is read nevertheless. */
static void
test_update(void)
{
	struct api_limits other = { 3, 86400, 1000000, 0 };
	struct streams *t = start();
	struct sent *s;

	streams_conf(t, "[\"alpha\"]", &other);
	up = 1;
	streams_link(t, 1);
	streams_begin(t);
	s = next("$JS.API.STREAM.INFO");
	answer(t, s, info(1, 5));
	s = next("$JS.API.STREAM.UPDATE.CC_RECORD_alpha");
	CHECK(s != NULL && strstr(s->data, "\"num_replicas\":3,") != NULL);
	answer(t, s,
	    "{\"error\":{\"code\":500,\"description\":\"replicas > 1\"}}");
	s = next("$JS.API.CONSUMER.DELETE");
	CHECK(s != NULL);
	answer(t, s, "{\"success\":true}");
	s = next("$JS.API.CONSUMER.DURABLE.CREATE");
	answer(t, s, "{}");
	CHECK(status_of(t).ready);
	CHECK(strstr(status_of(t).problem, "replicas > 1") != NULL);
	stop(t);
}

/* The limit of time of the request of the first stream is over. */
static void
no_answer(struct streams *t, enum stream_step step)
{
	CHECK_INT(t->list[0]->step, step);
	event_active(t->list[0]->timer, EV_TIMEOUT, 1);
	loop_settle(base);
}

/* A minute later the stream is asked for, and read meanwhile. */
static struct sent *
check_of(struct streams *t)
{
	struct sent *s;

	CHECK(evtimer_pending(t->list[0]->check, NULL));
	event_active(t->list[0]->check, EV_TIMEOUT, 1);
	loop_settle(base);
	s = next("$JS.API.STREAM.INFO.CC_RECORD_alpha");
	CHECK(s != NULL && status_of(t).ready);
	return s;
}

/* So many updates have no answer; the stream is not read, and asked for again. */
static void
updates_fail(struct streams *t, unsigned n)
{
	while (n-- > 0) {
		answer(t, next("$JS.API.STREAM.INFO"), info(1, 5));
		CHECK(next("$JS.API.STREAM.UPDATE.CC_RECORD_alpha") != NULL);
		no_answer(t, STEP_UPDATE);
		CHECK(!status_of(t).ready);
		CHECK(
		    strstr(status_of(t).problem, "answer the update") != NULL);
		retry(t);
	}
}

/*
 * A broker does not answer an update that is not permitted: the stream is read after
 * three attempts.  A reload tries the update again.
 */
static void
test_update_denied(void)
{
	struct api_limits other = { 3, 86400, 1000000, 0 };
	struct streams *t = started(3, 1, 5, "\"opt_start_seq\":1,");
	struct sent *s;

	streams_conf(t, "[\"alpha\"]", &other);
	updates_fail(t, LIMITS_TRIES - 1);
	answer(t, next("$JS.API.STREAM.INFO"), info(1, 5));
	CHECK(next("$JS.API.STREAM.UPDATE.CC_RECORD_alpha") != NULL);
	no_answer(t, STEP_UPDATE);
	s = next("$JS.API.CONSUMER.DELETE");
	CHECK(s != NULL);
	answer(t, s, "{\"success\":true}");
	s = next("$JS.API.CONSUMER.DURABLE.CREATE");
	CHECK(strstr(s->data, "\"opt_start_seq\":1,") != NULL);
	answer(t, s, "{}");
	CHECK(status_of(t).ready);
	CHECK(strstr(status_of(t).problem,
		  "no permission for $JS.API.STREAM.UPDATE.*") != NULL);
	CHECK(strlen(status_of(t).problem) <= 180); /* of status */
	one(t, 1);
	CHECK_INT(n_got, 1);
	answer(t, check_of(t), info(1, 5));
	CHECK(next("$JS.API.STREAM.UPDATE") == NULL);

	streams_conf(t, "[\"alpha\"]", &other);
	updates_fail(t, LIMITS_TRIES - 1);
	answer(t, next("$JS.API.STREAM.INFO"), info(1, 5));
	s = next("$JS.API.STREAM.UPDATE.CC_RECORD_alpha");
	answer(t, s, info(1, 5));
	answer(t, next("$JS.API.CONSUMER.DELETE"), "{\"success\":true}");
	answer(t, next("$JS.API.CONSUMER.DURABLE.CREATE"), "{}");
	CHECK(status_of(t).ready);
	CHECK_STR(status_of(t).problem, "");
	/* without a problem, a reload does not interrupt */
	streams_conf(t, "[\"alpha\"]", &other);
	CHECK(next("$JS.API.STREAM.INFO") == NULL);
	stop(t);
}

/*
 * JetStream has no leader for some time: the update is sent again.  Any answer to an
 * update begins the count again.
 */
static void
test_update_late(void)
{
	struct api_limits other = { 3, 86400, 1000000, 0 };
	struct streams *t = started(3, 1, 5, "\"opt_start_seq\":1,");

	streams_conf(t, "[\"alpha\"]", &other);
	updates_fail(t, LIMITS_TRIES - 1);
	answer(t, next("$JS.API.STREAM.INFO"), info(1, 5));
	status(t, next("$JS.API.STREAM.UPDATE"), 503, "No Responders");
	retry(t);
	updates_fail(t, LIMITS_TRIES - 1);
	answer(t, next("$JS.API.STREAM.INFO"), info(1, 5));
	answer(t, next("$JS.API.STREAM.UPDATE"), info(1, 5));
	answer(t, next("$JS.API.CONSUMER.DELETE"), "{\"success\":true}");
	answer(t, next("$JS.API.CONSUMER.DURABLE.CREATE"), "{}");
	CHECK(status_of(t).ready);
	CHECK_STR(status_of(t).problem, "");
	stop(t);
}

#define REFUSED \
	"{\"error\":{\"code\":500,\"description\":\"insufficient storage\"}}"

/* The broker refuses the limits of the first stream, which is read. */
static struct streams *
refused(const struct api_limits *other)
{
	struct streams *t = started(3, 1, 5, "\"opt_start_seq\":1,");

	streams_conf(t, "[\"alpha\"]", other);
	answer(t, next("$JS.API.STREAM.INFO"), info(1, 5));
	answer(t, next("$JS.API.STREAM.UPDATE.CC_RECORD_alpha"), REFUSED);
	answer(t, next("$JS.API.CONSUMER.DELETE"), "{\"success\":true}");
	answer(t, next("$JS.API.CONSUMER.DURABLE.CREATE"), "{}");
	CHECK(status_of(t).ready);
	CHECK(strstr(status_of(t).problem, "insufficient storage") != NULL);
	return t;
}

/* The update is tried again until the broker accepts it. */
static void
test_update_again(void)
{
	struct api_limits other = { 3, 86400, 1000000, 0 };
	struct streams *t = refused(&other);
	struct sent *s;

	answer(t, check_of(t), info(1, 5));
	s = next("$JS.API.STREAM.UPDATE.CC_RECORD_alpha");
	CHECK(s != NULL && strstr(s->data, "\"num_replicas\":3,") != NULL);
	answer(t, s, REFUSED);
	CHECK(strstr(status_of(t).problem, "insufficient storage") != NULL);
	CHECK_INT(count(seen, "$JS.API.CONSUMER.DELETE"), 0);
	one(t, 1);
	CHECK_INT(n_got, 1);

	answer(t, check_of(t), info(1, 5));
	answer(t, next("$JS.API.STREAM.UPDATE.CC_RECORD_alpha"), info(1, 5));
	answer(t, next("$JS.API.STREAM.INFO"), info(1, 5));
	/* the broker has answered with the limits of now */
	answer(t, next("$JS.API.STREAM.UPDATE"), info(1, 5));
	answer(t, next("$JS.API.CONSUMER.DELETE"), "{\"success\":true}");
	answer(t, next("$JS.API.CONSUMER.DURABLE.CREATE"), "{}");
	CHECK(status_of(t).ready);
	CHECK_STR(status_of(t).problem, "");
	CHECK(!evtimer_pending(t->list[0]->check, NULL));
	stop(t);
}

/* An admin has changed the stream: the problem ends without a break. */
static void
test_limits_right(void)
{
	struct api_limits other = { 3, 86400, 1000000, 0 };
	struct streams *t = refused(&other);
	struct sent *late = check_of(t), *s;

	answer(t, check_of(t), REFUSED);
	CHECK(strstr(status_of(t).problem, "insufficient storage") != NULL);
	s = check_of(t);
	t->limits = limits;
	answer(t, late, info(1, 5));
	CHECK(strstr(status_of(t).problem, "insufficient storage") != NULL);
	answer(t, s, info(1, 5));
	CHECK_STR(status_of(t).problem, "");
	CHECK(status_of(t).ready);
	CHECK_INT(count(seen, "$JS.API.CONSUMER.DELETE"), 0);
	CHECK_INT(count(seen, "$JS.API.STREAM.UPDATE"), 0);
	stop(t);
}

/*
 * The right to update was removed meanwhile: after three updates without an answer
 * none is sent any more.  An answer begins the count again.
 */
static void
test_update_again_denied(void)
{
	struct api_limits other = { 3, 86400, 1000000, 0 };
	struct streams *t = refused(&other);
	const struct sent *s;
	unsigned i;

	for (i = 0; i < 2 * LIMITS_TRIES - 1; i++) {
		answer(t, check_of(t), info(1, 5));
		s = next("$JS.API.STREAM.UPDATE");
		CHECK(s != NULL);
		if (i == LIMITS_TRIES - 2)
			answer(t, s, REFUSED);
	}
	answer(t, check_of(t), info(1, 5));
	CHECK(strstr(status_of(t).problem,
		  "no permission for $JS.API.STREAM.UPDATE.*") != NULL);
	CHECK(next("$JS.API.STREAM.UPDATE") == NULL);
	CHECK(status_of(t).ready);
	stop(t);
}

/* Messages that expired before they were read are counted and reported. */
static void
test_expired(void)
{
	struct streams *t = started(10, 15, 20, "\"opt_start_seq\":15,");

	CHECK_INT(status_of(t).expired, 4);
	CHECK(strstr(status_of(t).loss, "4 messages expired") != NULL);
	CHECK_STR(status_of(t).problem, "");
	CHECK_INT(position, 14);
	one(t, 15);
	CHECK_INT(position, 15);
	stop(t);
	/* what expired before a first start was nobody's */
	t = started(0, 15, 20, "\"opt_start_seq\":15,");
	CHECK_INT(status_of(t).expired, 0);
	CHECK_STR(status_of(t).loss, "");
	stop(t);
	/* all of them */
	t = started(10, 21, 20, "\"opt_start_seq\":21,");
	CHECK_INT(status_of(t).expired, 10);
	stop(t);
	/* none */
	t = started(20, 21, 20, "\"opt_start_seq\":21,");
	CHECK_INT(status_of(t).expired, 0);
	stop(t);
}

/* Another centre has read what expired; later it is lost. */
static void
test_read_elsewhere(void)
{
	struct streams *t = start();

	up = 1;
	streams_read_elsewhere(t);
	streams_link(t, 1);
	streams_position(t, "alpha", IDENTITY, 10);
	streams_begin(t);
	read_from(t, 15, 20, "\"opt_start_seq\":15,");
	CHECK_INT(status_of(t).expired, 0);
	CHECK_STR(status_of(t).loss, "");
	CHECK_INT(position, 14);
	streams_link(t, 0);
	streams_link(t, 1);
	read_from(t, 17, 20, "\"opt_start_seq\":17,");
	CHECK_INT(status_of(t).expired, 2);
	stop(t);
}

static void
test_other_stream(void)
{
	struct streams *t = start();

	up = 1;
	streams_link(t, 1);
	streams_position(t, "alpha", IDENTITY - 1, 10);
	streams_begin(t);
	read_from(t, 1, 20, "\"opt_start_seq\":1,");
	CHECK_INT(status_of(t).expired, 0);
	CHECK(status_of(t).renewed != 0);
	CHECK(strstr(status_of(t).loss, "that were not read are lost") != NULL);
	stop(t);
	/* the broker has lost the end of the stream */
	t = started(30, 1, 20, "\"opt_start_seq\":1,");
	CHECK_INT(n_positions, 1);
	CHECK_INT(position, 0);
	CHECK(status_of(t).renewed != 0);
	one(t, 1);
	CHECK_INT(position, 1);
	stop(t);
	/* the stream of the position */
	t = started(10, 11, 20, "\"opt_start_seq\":11,");
	CHECK(status_of(t).renewed == 0);
	stop(t);
}

/* A lost delivery is not skipped: the consumer is made anew behind the position. */
static void
test_gap(void)
{
	struct streams *t = started(0, 1, 9, "\"opt_start_seq\":1,");
	unsigned i;

	one(t, 1);
	one(t, 3);
	CHECK_INT(n_got, 1);
	CHECK(!status_of(t).ready);
	CHECK(strstr(status_of(t).problem, "message 2 did not arrive") != NULL);
	retry(t);
	read_from(t, 2, 9, "\"opt_start_seq\":2,");
	one(t, 2);
	one(t, 3);
	CHECK_INT(n_got, 3);
	CHECK_STR(status_of(t).problem, "");
	/* a message that really does not exist */
	for (i = 0; i < 3; i++) {
		one(t, 6);
		CHECK_INT(n_got, 3);
		retry(t);
		read_from(t, 4, 9, "\"opt_start_seq\":4,");
	}
	one(t, 6);
	CHECK_INT(n_got, 4);
	CHECK_INT(position, 6);
	CHECK_INT(status_of(t).expired, 2);
	stop(t);
}

/*
 * The last messages are read again, because another replica may have the same
 * messages at other numbers.  The position does not go back.
 */
static void
test_read_again(void)
{
	struct streams *t = started(100, 1, 200, "\"opt_start_seq\":37,");
	uint64_t i;

	CHECK_INT(status_of(t).taken, 100);
	for (i = 37; i < 50; i++)
		one(t, i);
	CHECK_INT(n_got, 13);
	CHECK_INT(n_positions, 0);
	/* a gap in these messages is skipped in the end, too */
	for (i = 0; i < 3; i++) {
		one(t, 52);
		retry(t);
		read_from(t, 1, 200, "\"opt_start_seq\":37,");
		n_got = 0;
		for (uint64_t k = 37; k < 50; k++)
			one(t, k);
		CHECK_INT(n_got, 0); /* they wait for the submitter */
	}
	one(t, 52);
	CHECK_INT(n_got, 1);
	CHECK_STR(status_of(t).problem, "");
	/* the numbers of the gap were read before */
	CHECK_INT(status_of(t).expired, 0);
	CHECK_STR(status_of(t).loss, "");
	for (i = 53; i <= 101; i++)
		one(t, i);
	CHECK_INT(n_positions, 1);
	CHECK_INT(position, 101);
	/* the next consumer begins before this position */
	streams_acked(t, frames);
	streams_link(t, 0);
	streams_link(t, 1);
	read_from(t, 1, 200, "\"opt_start_seq\":38,");
	n_got = 0;
	one(t, 38);
	CHECK_INT(n_got, 1);
	CHECK_INT(position, 101);
	stop(t);
	/* messages that have expired in this range are not lost */
	t = started(100, 90, 200, "\"opt_start_seq\":90,");
	CHECK_INT(status_of(t).expired, 0);
	/* another number of a message that waits for the submitter */
	one(t, 90);
	t->unacked.tqh_first->time++;
	streams_link(t, 0);
	streams_link(t, 1);
	read_from(t, 1, 200, "\"opt_start_seq\":37,");
	n_got = 0;
	for (i = 37; i <= 90; i++)
		one(t, i);
	CHECK_INT(n_got, 54);
	stop(t);
}

/* A gap begins in the messages that are read again: the others are lost. */
static void
test_gap_from_again(void)
{
	struct streams *t = started(100, 90, 200, "\"opt_start_seq\":90,");
	unsigned i;

	for (i = 0; i < 3; i++) {
		one(t, 104);
		CHECK_INT(n_got, 0);
		retry(t);
		read_from(t, 90, 200, "\"opt_start_seq\":90,");
	}
	one(t, 104);
	CHECK_INT(n_got, 1);
	CHECK_INT(position, 104);
	CHECK_INT(status_of(t).expired, 3);
	stop(t);
}

/* A new submitter begins with its own position. */
static void
test_submitter_lost(void)
{
	struct streams *t = started(0, 1, 9, "\"opt_start_seq\":1,");

	one(t, 1);
	one(t, 2);
	streams_reset(t);
	CHECK_INT(status_of(t).unacked, 0);
	CHECK(!status_of(t).ready);
	seen = n_sent;
	one(t, 3);
	CHECK_INT(n_got, 2);
	CHECK_INT(n_sent, seen);
	streams_position(t, "alpha", IDENTITY, 1);
	streams_begin(t);
	read_from(t, 2, 9, "\"opt_start_seq\":2,");
	one(t, 2);
	CHECK_INT(n_got, 3);
	CHECK_INT(count(0, "$JS.ACK."), 0);
	stop(t);
}

/* After a new connection what waits for the submitter is not sent again. */
static void
test_connection_lost(void)
{
	struct streams *t = started(0, 1, 9, "\"opt_start_seq\":1,");

	one(t, 1);
	streams_link(t, 0);
	up = 0;
	one(t, 2);
	CHECK_INT(n_got, 1);
	up = 1;
	streams_link(t, 1);
	read_from(t, 2, 9, "\"opt_start_seq\":2,");
	one(t, 2);
	CHECK_INT(n_got, 2);
	streams_acked(t, frames);
	CHECK_INT(position, 2);
	stop(t);
}

static void
test_pause(void)
{
	struct streams *t = started(0, 1, 9, "\"opt_start_seq\":1,");

	streams_pause(t, 1);
	one(t, 1);
	streams_acked(t, frames);
	CHECK(next("$JS.API.CONSUMER.MSG.NEXT") == NULL);
	seen = n_sent;
	streams_pause(t, 0);
	CHECK(next("$JS.API.CONSUMER.MSG.NEXT") != NULL);
	stop(t);
}

/* Statuses of pull requests. */
static void
test_status(void)
{
	struct streams *t = start();
	struct sent *s;

	up = 1;
	streams_link(t, 1);
	streams_begin(t);
	s = read_from(t, 1, 9, "\"opt_start_seq\":1,");
	CHECK(strstr(s->data, "\"batch\":1,\"max_bytes\":65536,") != NULL);
	status(t, s, 100, "Idle Heartbeat");
	CHECK(next("$JS.API.") == NULL);
	t->list[0]->failures = 9;
	status(t, s, 408, "Request Timeout");
	CHECK_INT(t->list[0]->failures, 0);
	s = next("$JS.API.CONSUMER.MSG.NEXT");
	CHECK(s != NULL);
	/* a long message gets a place of its own */
	status(t, s, 409, "Message Size Exceeds MaxBytes");
	s = next("$JS.API.CONSUMER.MSG.NEXT");
	CHECK(s != NULL &&
	    strstr(s->data, "\"batch\":1,\"max_bytes\":1114112,") != NULL);
	message(t, 1, 1, 50);
	streams_turn(t);
	s = next("$JS.API.CONSUMER.MSG.NEXT");
	CHECK(s != NULL && strstr(s->data, "\"batch\":50,") != NULL);
	/* before the messages, or late: the request is open */
	status(t, s, 409, "Batch Completed");
	CHECK(status_of(t).ready);
	CHECK(next("$JS.API.") == NULL);
	CHECK_INT(t->list[0]->pull.messages, 50);
	/* too long even then: from before or after a reload of the broker */
	status(t, s, 409, "Message Size Exceeds MaxBytes");
	s = next("$JS.API.CONSUMER.MSG.NEXT");
	status(t, s, 409, "Message Size Exceeds MaxBytes");
	CHECK(status_of(t).ready);
	s = next("$JS.API.CONSUMER.MSG.NEXT");
	CHECK(s != NULL &&
	    strstr(s->data, "\"batch\":1,\"max_bytes\":16711680,") != NULL);
	status(t, s, 409, "Message Size Exceeds MaxBytes");
	CHECK(!status_of(t).ready);
	CHECK(strstr(status_of(t).problem, "16 MiB") != NULL);
	stop(t);
}

/* The request has no space for the next message, and some are on their way. */
static void
test_full_before_messages(void)
{
	struct streams *t = started(0, 1, 99, "\"opt_start_seq\":1,");
	const struct stream *st = t->list[0];
	struct sent *s;
	unsigned i;

	message(t, 1, 1, 50);
	streams_turn(t);
	s = next("$JS.API.CONSUMER.MSG.NEXT");
	CHECK(s != NULL && strstr(s->data, "\"batch\":50,") != NULL);
	left = 47;
	status(t, s, 409, "Message Size Exceeds MaxBytes");
	CHECK(next("$JS.API.") == NULL);
	CHECK_INT(st->pull.messages, 3);
	for (i = 2; i <= 4; i++) {
		CHECK(next("$JS.API.") == NULL);
		message(t, i, 1, 54 - i);
		streams_turn(t);
	}
	s = next("$JS.API.CONSUMER.MSG.NEXT");
	CHECK(s != NULL && strstr(s->data, "\"batch\":50,") != NULL);
	/* Nothing is on its way: the next message is a long one. */
	left = 50;
	status(t, s, 409, "Message Size Exceeds MaxBytes");
	s = next("$JS.API.CONSUMER.MSG.NEXT");
	CHECK(s != NULL && strstr(s->data, "\"batch\":1,") != NULL);
	stop(t);
}

/* The messages use all bytes of the request, which ends without a status. */
static void
test_bytes_used(void)
{
	struct streams *t = started(0, 1, 99, "\"opt_start_seq\":1,");
	const struct stream *st = t->list[0];
	char reply[] = "$JS.ACK.CC_RECORD_alpha.centre.1.2.2."
		       "1795366806000000000.49";
	const char id[] = "alpha:4711:1795366800:1";
	const char header[] = "NATS/1.0\r\nNats-Msg-Id: \r\n\r\n";
	struct link_message m = { .subject = "cc.record.alpha",
		.reply = reply,
		.status_text = "",
		.id = id,
		.data = (const uint8_t *)"{}" };
	size_t rest = strlen(m.subject) + strlen(reply) + strlen(header) +
	    strlen(id);

	message(t, 1, 1, 50);
	streams_turn(t);
	CHECK(next("$JS.API.CONSUMER.MSG.NEXT") != NULL);
	m.len = st->pull.bytes - rest - 1;
	streams_receive(t, &m);
	CHECK_INT(st->pull.messages, 49);
	CHECK_INT(st->pull.bytes, 1);
	streams_acked(t, frames);
	CHECK(next("$JS.API.CONSUMER.MSG.NEXT") == NULL);
	fetch_end(t->list[0]);
	streams_turn(t);
	CHECK(next("$JS.API.CONSUMER.MSG.NEXT") != NULL);
	reply[strlen("$JS.ACK.CC_RECORD_alpha.centre.1.")] = '3';
	m.len = st->pull.bytes - rest;
	streams_receive(t, &m);
	streams_acked(t, frames);
	CHECK(next("$JS.API.CONSUMER.MSG.NEXT") != NULL);
	CHECK_INT(n_got, 3);
	stop(t);
}

/* The consumer is gone, or its leader. */
static void
test_consumer_lost(void)
{
	struct streams *t = started(0, 1, 9, "\"opt_start_seq\":1,");
	struct sent *s = &sent[n_sent - 1];

	one(t, 1);
	s = next("$JS.API.CONSUMER.MSG.NEXT");
	status(t, s, 409, "Consumer Deleted");
	CHECK(strstr(status_of(t).problem, "Consumer Deleted") != NULL);
	retry(t);
	s = read_from(t, 2, 9, "\"opt_start_seq\":2,");
	status(t, s, 503, "No Responders");
	retry(t);
	read_from(t, 2, 9, "\"opt_start_seq\":2,");
	stop(t);
}

/* Errors of the API: attempts continue, an answer of an old one is ignored. */
static void
test_api_errors(void)
{
	struct streams *t = start();
	struct sent *s;

	up = 1;
	streams_link(t, 1);
	streams_begin(t);
	s = next("$JS.API.STREAM.INFO");
	status(t, s, 503, "No Responders");
	CHECK(strstr(status_of(t).problem, "not available") != NULL);
	answer(t, s, info(1, 9));
	CHECK(next("$JS.API.") == NULL);
	retry(t);
	s = next("$JS.API.STREAM.INFO");
	answer(t, s, "{");
	CHECK(strstr(status_of(t).problem, "not valid") != NULL);
	retry(t);
	s = next("$JS.API.STREAM.INFO");
	answer(t, s,
	    "{\"error\":{\"code\":503,\"description\":\"no quorum\"}}");
	CHECK(strstr(status_of(t).problem, "no quorum") != NULL);
	retry(t);
	/* a problem remains until the stream is read */
	s = next("$JS.API.STREAM.INFO");
	answer(t, s, info(1, 9));
	CHECK(strstr(status_of(t).problem, "no quorum") != NULL);
	s = next("$JS.API.CONSUMER.DELETE");
	answer(t, s, "{\"success\":true}");
	s = next("$JS.API.CONSUMER.DURABLE.CREATE");
	answer(t, s, "{}");
	CHECK_STR(status_of(t).problem, "");
	stop(t);
}

/* The standby has no problem of a stream; it is found again when it is read. */
static void
test_problem_of_standby(void)
{
	struct streams *t = start();

	up = 1;
	streams_link(t, 1);
	streams_begin(t);
	status(t, next("$JS.API.STREAM.INFO"), 503, "No Responders");
	CHECK(strstr(status_of(t).problem, "not available") != NULL);
	streams_link(t, 0);
	CHECK_STR(status_of(t).problem, "");
	snprintf(t->list[0]->wrong, sizeof(t->list[0]->wrong), LIMITS_KEPT);
	streams_link(t, 0);
	CHECK_STR(status_of(t).problem, "");
	streams_link(t, 1);
	status(t, next("$JS.API.STREAM.INFO"), 503, "No Responders");
	CHECK(strstr(status_of(t).problem, "not available") != NULL);
	stop(t);
}

/* A broker does not answer what the login is not permitted to ask. */
static void
test_no_answer(void)
{
	struct streams *t = start();

	up = 1;
	streams_link(t, 1);
	streams_begin(t);
	CHECK(next("$JS.API.STREAM.INFO") != NULL);
	event_active(t->list[0]->timer, EV_TIMEOUT, 1);
	loop_settle(base);
	CHECK(strstr(status_of(t).problem, "_INBOX_centre") != NULL);
	retry(t);
	stop(t);
}

/* 200 streams with any number of messages stay within the budget. */
static void
test_fair(void)
{
	struct streams *t = streams_new(base, NULL, STREAM_OF_RUNS, &ops, NULL);
	char names[200 * 10] = "", name[10];
	unsigned i, sum = 0;

	seen = n_sent = 0;
	up = 1;
	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%s\"c%u\"", i > 0 ? "," : "[", i);
		strcat(names, name);
	}
	strcat(names, "]");
	streams_conf(t, names, &limits);
	CHECK_INT(t->n, 200);
	for (i = 0; i < 200; i++) {
		t->list[i]->step = STEP_READ;
		t->list[i]->waiting = 100000;
	}
	t->up = t->begun = 1;
	fetch_all(t);
	CHECK_INT(count(0, "$JS.API.CONSUMER.MSG.NEXT"), 200);
	for (i = 0; i < 200; i++)
		sum += t->list[i]->pull.messages;
	CHECK(sum <= BUDGET_MESSAGES);
	stop(t);
}

static void
test_conf(void)
{
	struct streams *t = started(0, 1, 9, "\"opt_start_seq\":1,");
	struct stream_status st;

	one(t, 1);
	streams_conf(t, "[\"beta\",\"alpha\"]", &limits);
	CHECK_INT(t->n, 2);
	/* the stream that is read goes on */
	CHECK(status_of(t).ready);
	CHECK(next("$JS.API.STREAM.INFO.CC_RECORD_beta") != NULL);
	streams_conf(t, "[\"beta\"]", &limits);
	CHECK_INT(t->n, 1);
	CHECK_STR(status_of(t).cluster, "beta");
	CHECK(TAILQ_EMPTY(&t->unacked));
	CHECK_INT(streams_status(t, 1, &st), 0);
	stop(t);
}

/* A cluster with a full share waits in its stream; the others do not. */
static void
test_hold(void)
{
	struct streams *t = started(0, 1, 500, "\"opt_start_seq\":1,");
	unsigned from;

	streams_hold(t, "alpha", 1);
	streams_hold(t, "unknown", 1);
	one(t, 1);
	CHECK_INT(n_got, 1); /* it was on its way */
	from = n_sent;
	streams_acked(t, frames);
	CHECK_INT(count(from, "$JS.ACK."), 1);
	CHECK_INT(count(from, "$JS.API.CONSUMER.MSG.NEXT."), 0);
	CHECK(!status_of(t).ready);
	CHECK(strstr(status_of(t).problem, "its share of the spool") != NULL);
	streams_hold(t, "alpha", 0);
	CHECK_INT(count(from, "$JS.API.CONSUMER.MSG.NEXT."), 1);
	CHECK(status_of(t).ready);
	CHECK_STR(status_of(t).problem, "");
	/* a new submitter tells it anew */
	streams_hold(t, "alpha", 1);
	streams_reset(t);
	CHECK_STR(status_of(t).problem, "");
	stop(t);
}

/* Like message(), of the states of a group of nodes. */
static void
states(struct streams *t, uint64_t sequence, unsigned group)
{
	char reply[128], subject[64];
	struct link_message m = { .subject = subject,
		.reply = reply,
		.status_text = "",
		.id = "",
		.data = (const uint8_t *)"{}",
		.len = 2 };

	snprintf(subject, sizeof(subject), "cc.nodes.alpha.%u", group);
	snprintf(reply, sizeof(reply),
	    "$JS.ACK.CC_NODES_alpha.centre.1.%llu.9.1795366806000000000.3",
	    (unsigned long long)sequence);
	streams_receive(t, &m);
	streams_turn(t);
}

/* The stream of the states of nodes: its limits, gaps, no position. */
static void
test_states(void)
{
	static const struct api_limits last = { 1, 3600, 1 << 24, 1 };
	struct streams *t = streams_new(base, NULL, STREAM_OF_STATES, &ops,
	    NULL);
	const struct sent *s;
	unsigned from;

	seen = n_sent = n_got = n_positions = 0;
	up = 1;
	streams_conf(t, "[\"alpha\"]", &last);
	streams_link(t, 1);
	streams_begin(t);
	s = next("$JS.API.STREAM.INFO.CC_NODES_alpha");
	CHECK(s != NULL && s->answer[0] == 'n');
	answer(t, s, "{\"error\":{\"code\":404,\"description\":\"none\"}}");
	s = next("$JS.API.STREAM.CREATE.CC_NODES_alpha");
	CHECK(s != NULL &&
	    strstr(s->data, "\"subjects\":[\"cc.nodes.alpha.*\"]") != NULL &&
	    strstr(s->data, "\"discard\":\"old\"") != NULL &&
	    strstr(s->data, "\"max_msgs_per_subject\":1,") != NULL);
	/* the first messages were replaced by newer ones */
	answer(t, s,
	    "{\"created\":\"" CREATED "\",\"config\":{\"retention\":"
	    "\"limits\",\"storage\":\"memory\"},\"state\":{\"first_seq\":40,"
	    "\"last_seq\":90}}");
	s = next("$JS.API.CONSUMER.DELETE.CC_NODES_alpha.centre");
	CHECK(s != NULL);
	answer(t, s, "{\"success\":true}");
	s = next("$JS.API.CONSUMER.DURABLE.CREATE.CC_NODES_alpha.centre");
	CHECK(s != NULL && strstr(s->data, "\"opt_start_seq\":1,") != NULL);
	answer(t, s, "{\"created\":\"" CREATED "\"}");
	CHECK(next("$JS.API.CONSUMER.MSG.NEXT.CC_NODES_alpha.centre") != NULL);
	from = n_sent;
	states(t, 40, 3);
	states(t, 55, 9);
	CHECK_INT(n_got, 2);
	CHECK_INT(count(from, "$JS.ACK.CC_NODES_alpha.centre."), 2);
	CHECK_INT(status_of(t).unacked, 0);
	CHECK_INT(status_of(t).expired, 0);
	CHECK_INT(n_positions, 0);
	CHECK(status_of(t).ready);
	/* The submitter does not read: nothing is fetched. */
	streams_pause(t, 1);
	from = n_sent;
	states(t, 56, 9);
	CHECK_INT(count(from, "$JS.API.CONSUMER.MSG.NEXT."), 0);
	streams_pause(t, 0);
	/* what is wrong in its configuration is asked for again */
	CHECK(strstr(status_of(t).problem, "kept in memory") != NULL);
	event_active(t->list[0]->check, EV_TIMEOUT, 1);
	loop_settle(base);
	s = next("$JS.API.STREAM.INFO.CC_NODES_alpha");
	CHECK(s != NULL && strncmp(s->answer, "nl", 2) == 0);
	answer(t, s, info(1, 5));
	CHECK(next("$JS.API.STREAM.UPDATE.CC_NODES_alpha") != NULL);
	CHECK(status_of(t).ready);
	/* a restarted receiver reads what the stream has */
	streams_link(t, 0);
	streams_link(t, 1);
	CHECK(next("$JS.API.STREAM.INFO.CC_NODES_alpha") != NULL);
	stop(t);
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	base = event_base_new();
	test_acknowledge();
	test_position();
	test_current();
	test_redelivery();
	test_newer();
	test_newer_many();
	test_window_end();
	test_create();
	test_update();
	test_update_denied();
	test_update_late();
	test_update_again();
	test_limits_right();
	test_update_again_denied();
	test_expired();
	test_read_elsewhere();
	test_other_stream();
	test_gap();
	test_read_again();
	test_gap_from_again();
	test_submitter_lost();
	test_connection_lost();
	test_pause();
	test_status();
	test_full_before_messages();
	test_bytes_used();
	test_consumer_lost();
	test_api_errors();
	test_problem_of_standby();
	test_no_answer();
	test_fair();
	test_conf();
	test_hold();
	test_states();
	event_base_free(base);
	return check_done();
}
