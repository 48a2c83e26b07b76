/* SPDX-License-Identifier: MIT */
/*
 * Pull requests and the messages that they bring.  Each stream has at most one
 * request open, which waits at the broker until there is a message.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "receiver/streams/streams_private.h"

#define EXPIRES_MS  20000 /* of a pull request at the broker */
#define GRACE_MS    5000  /* until the broker's answer must be here */
#define REQUEST_MAX 256	  /* bytes */
/*
 * A gap is a lost delivery until the consumer was made anew this often and the
 * messages are still missing.
 */
#define GAP_TRIES 3

void
fetch_end(struct stream *st)
{
	if (st->pull.messages == 0)
		return;
	budget_sub(&st->t->budget, &st->use, st->pull.messages, st->pull.bytes);
	memset(&st->pull, 0, sizeof(st->pull));
	evtimer_del(st->timer);
}

static void
fetch(struct stream *st, const struct budget_grant *grant, int is_long)
{
	char subject[API_SUBJECT_MAX + 64];
	struct writer w;
	int rc;

	snprintf(subject, sizeof(subject),
	    "$JS.API.CONSUMER.MSG.NEXT.%s." API_CONSUMER, st->name);
	wr_init(&w, REQUEST_MAX);
	api_pull(&w, grant->messages, grant->bytes, EXPIRES_MS);
	rc = wr_end(&w);
	if (rc == 0)
		rc = link_publish(st->t->link, subject, stream_token(st), w.buf,
		    w.len);
	wr_clear(&w);
	if (rc == -1) {
		stream_fail(st, "the request cannot be sent");
		return;
	}
	st->pull.messages = grant->messages;
	st->pull.bytes = grant->bytes;
	st->pull.came = 0;
	st->pull.is_long = is_long;
	budget_add(&st->t->budget, &st->use, grant->messages, grant->bytes);
	stream_timer(st, EXPIRES_MS + GRACE_MS);
}

/* Messages that the consumer may send and the window can note. */
static unsigned
room_of(const struct stream *st)
{
	unsigned used = st->unacked + st->window.held;
	unsigned room = window_room(&st->window);

	if (used >= ACK_PENDING)
		return 0;
	return room < ACK_PENDING - used ? room : ACK_PENDING - used;
}

static int
may_fetch(const struct stream *st)
{
	return st->step == STEP_READ && st->pull.messages == 0 &&
	    !st->on_hold && room_of(st) > 0;
}

/*
 * Bytes of a fetch for one long message: what the broker accepted when the link was
 * made, and after that, because the message may be from before or after a reload of
 * the broker, what the stream has at most.
 */
static size_t
long_bytes(const struct stream *st)
{
	size_t max = link_max_payload(st->t->link) + BUDGET_OWN_BYTES;

	return st->wants_long == LONG_PAYLOAD && max < BUDGET_LONGEST ?
	    max :
	    BUDGET_LONGEST;
}

static void
fetch_one(struct stream *st, unsigned busy, int own_only)
{
	struct budget_grant own = { 1, BUDGET_OWN_BYTES }, grant;

	if (st->wants_long != LONG_NO)
		grant = budget_grant_long(&st->t->budget, &st->use,
		    long_bytes(st));
	else if (own_only) {
		grant = own;
		if (st->use.messages != 0)
			grant.messages = 0;
	} else
		grant = budget_grant(&st->t->budget, &st->use, busy,
		    st->waiting);
	if (grant.messages > room_of(st))
		grant.messages = room_of(st);
	if (grant.messages != 0)
		fetch(st, &grant, st->wants_long != LONG_NO);
}

/*
 * A stream with a long message waits until the others have given back enough;
 * meanwhile these get their own share only.
 */
void
fetch_all(struct streams *t)
{
	unsigned i, busy = 0, n = t->n;
	int want_long = 0;
	struct stream *st;

	if (!t->up || !t->begun || t->paused)
		return;
	for (i = 0; i < n; i++) {
		st = t->list[i];
		if (st->on_hold)
			continue;
		busy += st->step == STEP_READ && st->waiting > 0;
		want_long |= st->wants_long != LONG_NO &&
		    st->pull.messages == 0;
	}
	for (i = 0; i < n; i++) {
		st = t->list[(t->next + i) % n];
		if (may_fetch(st))
			fetch_one(st, busy > 0 ? busy : 1, want_long);
	}
	t->next = n > 0 ? (t->next + 1) % n : 0;
}

void
fetch_timeout(struct stream *st)
{
	if (st->pull.messages != 0)
		stream_fail(st, "the broker has forgotten a request");
}

/*
 * The next message is longer than the rest of the request.  From a stream with
 * replicas the messages of the request may come after this: they end it.
 */
static void
pull_full(struct stream *st, unsigned left)
{
	int came = st->pull.came != 0, is_long = st->pull.is_long;
	size_t bytes = st->pull.bytes;

	if (left < st->pull.messages) {
		st->pull.messages -= left;
		budget_sub(&st->t->budget, &st->use, left, 0);
		return;
	}
	fetch_end(st);
	if (is_long && bytes < BUDGET_LONGEST)
		st->wants_long = LONG_STREAM;
	else if (is_long)
		stream_fail(st, "the next message is longer than 16 MiB");
	else if (!came)
		st->wants_long = LONG_PAYLOAD;
}

void
fetch_status(struct stream *st, const struct link_message *m)
{
	char why[160];

	if (m->status == 100)
		return; /* a heartbeat of the broker */
	/*
	 * nats-server sends this since 2.10 at the end of a request.  With replicas
	 * it can come before the last messages, or after the next request.  So the
	 * messages end a request, not this.
	 */
	if (m->status == 409 && strcmp(m->status_text, "Batch Completed") == 0)
		return;
	if (st->pull.messages == 0)
		return;
	if (m->status == 408 || m->status == 404) {
		fetch_end(st);
		st->waiting = 0;
		st->wants_long = LONG_NO;
		st->failures = 0;
	} else if (m->status == 409 &&
	    strstr(m->status_text, "MaxBytes") != NULL)
		pull_full(st, m->left);
	else {
		snprintf(why, sizeof(why),
		    "the broker ends a request: %u %.100s", m->status,
		    m->status_text);
		stream_fail(st, why);
	}
}

/* --- messages --- */

static struct unacked *
unacked_find(struct stream *st, uint64_t sequence)
{
	struct unacked *u;

	if (st->unacked == 0)
		return NULL;
	TAILQ_FOREACH(u, &st->t->unacked, link)
	if (u->stream == st && u->sequence == sequence)
		return u;
	return NULL;
}

static void
unacked_drop(struct unacked *u)
{
	struct stream *st = u->stream;

	TAILQ_REMOVE(&st->t->unacked, u, link);
	st->unacked--;
	budget_sub(&st->t->budget, &st->use, 1, u->bytes);
	free(u->ack);
	free(u);
}

void
fetch_forget(struct streams *t, const struct stream *st)
{
	struct unacked *u, *next;

	for (u = TAILQ_FIRST(&t->unacked); u != NULL; u = next) {
		next = TAILQ_NEXT(u, link);
		if (st == NULL || u->stream == st)
			unacked_drop(u);
	}
}

/*
 * Notes that the message waits for the submitter.  When out of memory, the
 * message is not acknowledged; the broker sends it again, and known_again()
 * acknowledges it.
 */
static void
unacked_add(struct stream *st, uint64_t frame, const struct api_ack *ack,
    const struct link_message *m)
{
	struct unacked *u = malloc(sizeof(*u));

	if (u == NULL)
		return;
	u->ack = strdup(m->reply);
	if (u->ack == NULL) {
		free(u);
		return;
	}
	u->stream = st;
	u->frame = frame;
	u->sequence = ack->sequence;
	u->time = ack->time;
	u->bytes = m->len;
	TAILQ_INSERT_TAIL(&st->t->unacked, u, link);
	st->unacked++;
	budget_add(&st->t->budget, &st->use, 1, m->len);
}

static void
acknowledge(struct stream *st, const char *subject)
{
	/* An acknowledgement that is lost is repeated with the message. */
	(void)link_publish(st->t->link, subject, NULL, NULL, 0);
}

/* A message that arrived before. */
static void
known_again(struct stream *st, uint64_t sequence, const struct link_message *m)
{
	struct unacked *u = unacked_find(st, sequence);
	char *ack;

	if (u == NULL) {
		acknowledge(st, m->reply);
		return;
	}
	ack = strdup(m->reply);
	if (ack == NULL)
		return;
	free(u->ack);
	u->ack = ack;
}

/* The next message of the stream: the owner decides. */
static void
message_new(struct stream *st, const struct api_ack *ack,
    const struct link_message *m)
{
	struct stream_message sm = { .cluster = st->cluster,
		.subject = m->subject,
		.id = m->id,
		.sequence = ack->sequence,
		.times = ack->delivered,
		.data = m->data,
		.len = m->len };
	struct unacked *u = unacked_find(st, ack->sequence);
	uint64_t frame = 0;

	/* The message is read again, and waits for the submitter. */
	if (u != NULL && u->time == ack->time) {
		known_again(st, ack->sequence, m);
		window_take(&st->window);
		return;
	}
	st->received++;
	st->last = (int64_t)(ack->time / 1000000000);
	if (ack->sequence > st->again) {
		st->gap_times = 0;
		st->failures = 0;
	}
	switch (st->t->ops->message(&sm, &frame, st->t->arg)) {
	case STREAM_SENT:
		unacked_add(st, frame, ack, m);
		window_take(&st->window);
		break;
	case STREAM_DONE:
		acknowledge(st, m->reply);
		window_take(&st->window);
		break;
	case STREAM_HELD:
		window_hold(&st->window);
		break;
	}
}

/*
 * Messages from first to last do not exist.  Those that are read again were read
 * before: nothing is lost with them.
 */
static void
deleted_note(struct stream *st, uint64_t first, uint64_t last)
{
	if (first <= st->again)
		first = st->again + 1;
	if (first > last)
		return;
	st->expired += last - first + 1;
	snprintf(st->loss, sizeof(st->loss),
	    "%" PRIu64 " messages were deleted before they were read",
	    st->expired);
	log_errorx("stream %s: messages %llu to %llu were deleted "
		   "before they were read; their runs are in the spool "
		   "of cluster %s or in its accounting",
	    st->name, (unsigned long long)first, (unsigned long long)last,
	    st->cluster);
}

/* Messages before this one did not arrive. */
static void
gap_found(struct stream *st, const struct api_ack *ack,
    const struct link_message *m)
{
	uint64_t first = st->window.highest + 1, last = ack->sequence - 1;
	char why[160];

	if (++st->gap_times > GAP_TRIES &&
	    window_skip(&st->window, last) == 0) {
		deleted_note(st, first, last);
		message_new(st, ack, m);
		return;
	}
	snprintf(why, sizeof(why), "message %" PRIu64 " did not arrive", first);
	stream_fail(st, why);
}

/*
 * The bytes of a message as the broker counts them for a pull request.  Unlike
 * libnats, a foreign publisher may add headers.
 */
static size_t
size_of(const struct link_message *m)
{
	static const char header[] = "NATS/1.0\r\nNats-Msg-Id: \r\n\r\n";
	size_t n = strlen(m->subject) + strlen(m->reply) + m->len;

	return *m->id != '\0' ? n + sizeof(header) - 1 + strlen(m->id) : n;
}

/*
 * One message of the pull request came.  The broker ends a request whose bytes
 * are used without a status.
 */
static void
pull_count(struct stream *st, const struct link_message *m)
{
	struct pull *p = &st->pull;
	size_t size = size_of(m), bytes = size < p->bytes ? size : p->bytes;

	if (p->messages == 0)
		return;
	p->came++;
	st->wants_long = LONG_NO;
	if (p->messages == 1 || bytes == p->bytes) {
		fetch_end(st);
		return;
	}
	p->messages--;
	p->bytes -= bytes;
	budget_sub(&st->t->budget, &st->use, 1, bytes);
}

/*
 * The states of a group of nodes.  A newer message of the group replaces one that
 * was not read: there are gaps, and nothing waits for the submitter.
 */
static void
states_take(struct stream *st, const struct api_ack *ack,
    const struct link_message *m)
{
	struct stream_message sm = { .cluster = st->cluster,
		.subject = m->subject,
		.id = m->id,
		.sequence = ack->sequence,
		.times = ack->delivered,
		.data = m->data,
		.len = m->len };
	uint64_t frame;

	st->received++;
	st->last = (int64_t)(ack->time / 1000000000);
	st->failures = 0;
	(void)st->t->ops->message(&sm, &frame, st->t->arg);
	acknowledge(st, m->reply);
}

void
fetch_message(struct stream *st, const struct api_ack *ack,
    const struct link_message *m)
{
	st->waiting = ack->pending;
	pull_count(st, m);
	if (st->t->kind == STREAM_OF_STATES) {
		states_take(st, ack, m);
		return;
	}
	switch (window_kind(&st->window, ack->sequence)) {
	case WINDOW_NEXT:
		message_new(st, ack, m);
		break;
	case WINDOW_KNOWN:
		known_again(st, ack->sequence, m);
		break;
	case WINDOW_HELD:
		break;
	case WINDOW_GAP:
		gap_found(st, ack, m);
		break;
	}
}

void
fetch_position(struct stream *st)
{
	uint64_t at = stream_read_up_to(st);

	if (st->step != STEP_READ || st->told == at)
		return;
	st->told = at;
	st->t->ops->position(st->cluster, st->identity, st->told, st->t->arg);
}

void
streams_acked(struct streams *t, uint64_t frame)
{
	struct unacked *u;

	while ((u = TAILQ_FIRST(&t->unacked)) != NULL && u->frame <= frame) {
		acknowledge(u->stream, u->ack);
		unacked_drop(u);
	}
	fetch_all(t);
}
