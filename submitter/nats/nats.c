/* SPDX-License-Identifier: MIT */
/*
 * NATS for the event loop: passes messages to the thread and results to the
 * caller.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/log.h"
#include "common/nats/nats_options.h"
#include "common/record/stream_name.h"
#include "common/text/time_text.h"
#include "submitter/nats/nats.h"
#include "submitter/nats/nats_thread.h"
#include "submitter/payload/record_message.h"

/* The broker counts JetStream's header with the message id as payload. */
#define HEADER_BYTES (MESSAGE_ID_MAX + 64)
/*
 * Bytes of messages without a result.  One page of the delivery may be above
 * it: its rows are marked as sent before their messages are made.
 */
#define BYTES_MAX (16 * 1024 * 1024)
/* ns; after an outage longer than the window the stream stores duplicates. */
#define WINDOW_LEAST (3600 * (int64_t)1000000000)

struct nats {
	nats_done_fn *done;
	nats_up_fn *on_up;
	void *arg;
	nats_ask_fn *on_ask; /* NULL = questions are dropped */
	void *ask_arg;
	struct nats_broker *broker; /* owned, as the next two */
	struct nats_thread *thread;
	struct event *readable;	 /* of the thread's eventfd */
	struct nats_state state; /* last copy of the thread's */
	unsigned in_flight;
	size_t bytes;	      /* of these messages */
	char host[HOST_MAX];  /* tag of line protocol */
	struct nats_status n; /* counters */
};

static int
on_connect(struct nats_target *t, void *arg)
{
	struct nats *n = arg;

	return nats_thread_connect(n->thread, t);
}

static void
on_disconnect(void *arg)
{
	struct nats *n = arg;

	nats_thread_disconnect(n->thread);
}

static void
on_up(int up, void *arg)
{
	struct nats *n = arg;

	n->on_up(up, n->arg);
}

static const struct nats_broker_ops broker_ops = {
	.connect = on_connect,
	.disconnect = on_disconnect,
	.up = on_up,
};

static void
check_window(struct nats *n, int64_t before)
{
	if (n->state.window == before || n->state.window == 0 ||
	    n->state.window >= WINDOW_LEAST)
		return;
	log_warnx("NATS: the duplicate window of the stream is %s: after a "
		  "longer outage the stream may store a message twice; set the "
		  "window to an hour or more",
	    duration_text(n->state.window / 1000000));
}

static void
count(struct nats *n, const struct nats_item *item)
{
	switch (item->result) {
	case NATS_SENT:
		n->n.sent++;
		n->n.duplicates += item->duplicate != 0;
		nats_broker_worked(n->broker);
		break;
	case NATS_UNSURE:
		n->n.unsure++;
		break;
	case NATS_AWAY:
	case NATS_IN_PROCESS:
	case NATS_NO_STREAM:
		n->n.away++;
		break;
	case NATS_DENIED:
	case NATS_REFUSED:
	case NATS_TOO_LONG:
		n->n.refused++;
		break;
	}
}

/*
 * The broker or the stream has a lower limit than when the message was made: the
 * owner makes a shorter one.
 */
static void
limit_check(const struct nats *n, struct nats_item *item)
{
	if (item->result == NATS_TOO_LONG && n->state.max_payload < item->limit)
		item->result = NATS_AWAY;
}

static void
asks_pass_on(struct nats *n)
{
	struct nats_ask ask;
	natsMsg *msg;

	while ((msg = nats_thread_ask(n->thread)) != NULL) {
		ask.subject = natsMsg_GetSubject(msg);
		ask.reply = natsMsg_GetReply(msg);
		ask.data = natsMsg_GetData(msg);
		ask.len = (size_t)natsMsg_GetDataLength(msg);
		if (n->on_ask != NULL && ask.data != NULL)
			n->on_ask(&ask, n->ask_arg);
		natsMsg_Destroy(msg);
	}
}

/* Delivers results first: they belong to the connection that ends. */
static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct nats *n = arg;
	unsigned serial = n->state.serial;
	int64_t window = n->state.window;
	struct nats_items out;
	struct nats_item *item;

	nats_thread_take(n->thread, &out, &n->state);
	while ((item = STAILQ_FIRST(&out)) != NULL) {
		STAILQ_REMOVE_HEAD(&out, link);
		n->in_flight--;
		n->bytes -= item->len;
		limit_check(n, item);
		if (item->ack_by != ACK_BY_NOBODY) {
			count(n, item);
			n->done(item->token, item->result,
			    item->why[0] != '\0' ? item->why : NULL, n->arg);
		}
		nats_item_free(item);
	}
	asks_pass_on(n);
	check_window(n, window);
	if (n->state.serial == serial)
		return;
	if (n->state.state == NATS_LINK_UP)
		nats_broker_connected(n->broker, n->state.generation,
		    n->state.where);
	else if (n->state.state == NATS_LINK_DOWN &&
	    n->state.trouble != TROUBLE_NONE)
		nats_broker_failed(n->broker, n->state.generation,
		    n->state.trouble, n->state.why);
}

struct nats *
nats_new(struct event_base *base, struct resolver *names, nats_done_fn *done,
    nats_up_fn *up, void *arg)
{
	struct nats *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->done = done;
	n->on_up = up;
	n->arg = arg;
	if (gethostname(n->host, sizeof(n->host) - 1) == -1)
		snprintf(n->host, sizeof(n->host), "localhost");
	n->thread = nats_thread_new();
	n->broker = nats_broker_new(base, names, &broker_ops, n);
	if (n->thread != NULL)
		n->readable = event_new(base, nats_thread_fd(n->thread),
		    EV_READ | EV_PERSIST, on_readable, n);
	if (n->broker == NULL || n->readable == NULL ||
	    event_add(n->readable, NULL) == -1) {
		nats_free(n);
		return NULL;
	}
	return n;
}

void
nats_free(struct nats *n)
{
	if (n == NULL)
		return;
	if (n->readable != NULL)
		event_free(n->readable);
	nats_thread_free(n->thread);
	nats_broker_free(n->broker);
	free(n);
}

void
nats_use(struct nats *n, struct nats_conf *nc)
{
	nats_broker_use(n->broker, nc);
}

int
nats_is_up(const struct nats *n)
{
	return nats_broker_is_up(n->broker);
}

/* Fills an item with the message of a run; errno and *why as nats_send(). */
static int
item_make(struct nats *n, const struct payload *p,
    const struct payload_how *how, const struct job *job, enum message kind,
    int64_t again, struct nats_item *item, const char **why)
{
	const struct nats_conf *nc = nats_broker_conf(n->broker);
	struct message_how mh = { nc->json ? MESSAGE_JSON : MESSAGE_LINE,
		n->host, n->state.max_payload };
	struct writer w;
	int rc;

	if (nc->jetstream)
		mh.max = mh.max > HEADER_BYTES ? mh.max - HEADER_BYTES : 0;
	wr_init(&w, PAYLOAD_MAX);
	rc = message_make(p, how, &mh, job, kind, &w, why);
	if (rc == -1) {
		if (errno == E2BIG)
			errno = EMSGSIZE;
		wr_clear(&w);
		return -1;
	}
	n->n.shortened += rc == 1;
	item->bytes = w.buf; /* takes the writer's memory */
	item->len = w.len;
	message_id(&job->key, kind, again, item->id, sizeof(item->id));
	return 0;
}

/* The record as a message to the stream of its cluster. */
static int
item_make_record(struct nats *n, struct job *job, int64_t again,
    struct nats_item *item, const char **why)
{
	size_t max = n->state.max_payload;
	struct writer w;
	int rc;

	if (stream_name(SUBJECT_OF_RECORDS, job->key.cluster, item->subject,
		sizeof(item->subject)) == -1) {
		*why = "the name of the cluster makes no subject";
		errno = EINVAL;
		return -1;
	}
	wr_init(&w, PAYLOAD_MAX);
	rc = record_message_make(job,
	    max > HEADER_BYTES ? max - HEADER_BYTES : 0, &w, why);
	if (rc == -1) {
		wr_clear(&w);
		return -1;
	}
	n->n.shortened += rc == 1;
	item->bytes = w.buf; /* takes the writer's memory */
	item->len = w.len;
	record_message_id(job, again, item->id, sizeof(item->id));
	return 0;
}

/* An item without its message.  NULL with errno as nats_send(). */
static struct nats_item *
item_new(struct nats *n, uint64_t token)
{
	struct nats_item *item;

	if (!nats_broker_is_up(n->broker)) {
		errno = ENOTCONN;
		return NULL;
	}
	if (n->in_flight >= NATS_IN_FLIGHT) {
		errno = EAGAIN;
		return NULL;
	}
	item = calloc(1, sizeof(*item));
	if (item == NULL)
		return NULL;
	item->token = token;
	item->limit = n->state.max_payload;
	return item;
}

/* Passes the item to the thread when its message was made: rc. */
static int
item_put(struct nats *n, struct nats_item *item, int rc)
{
	if (rc == -1) {
		nats_item_free(item);
		return -1;
	}
	n->in_flight++;
	n->bytes += item->len;
	nats_thread_put(n->thread, item);
	return 0;
}

int
nats_send(struct nats *n, const struct payload *p,
    const struct payload_how *how, const struct job *job, enum message kind,
    int64_t again, uint64_t token, const char **why)
{
	struct nats_item *item = item_new(n, token);

	*why = NULL;
	if (item == NULL)
		return -1;
	return item_put(n, item,
	    item_make(n, p, how, job, kind, again, item, why));
}

int
nats_send_record(struct nats *n, struct job *job, int64_t again, uint64_t token,
    const char **why)
{
	struct nats_item *item = item_new(n, token);

	*why = NULL;
	if (item == NULL)
		return -1;
	return item_put(n, item, item_make_record(n, job, again, item, why));
}

void
nats_on_ask(struct nats *n, nats_ask_fn *fn, void *arg)
{
	n->on_ask = fn;
	n->ask_arg = arg;
}

void
nats_asks_again(struct nats *n)
{
	nats_thread_asks_again(n->thread);
}

int
nats_answer(struct nats *n, const char *reply, const void *data, size_t len)
{
	struct nats_item *item = item_new(n, 0);
	size_t size;

	if (item == NULL)
		return -1;
	size = sizeof(item->subject);
	item->ack_by = ACK_BY_NOBODY;
	item->bytes = malloc(len);
	if (item->bytes == NULL ||
	    (size_t)snprintf(item->subject, size, "%s", reply) >= size) {
		nats_item_free(item);
		errno = EINVAL;
		return -1;
	}
	memcpy(item->bytes, data, len);
	item->len = len;
	return item_put(n, item, 0);
}

int
nats_send_nodes(struct nats *n, const char *cluster, unsigned group,
    struct writer *body, uint64_t token)
{
	struct nats_item *item;
	size_t len;

	if (body->len > n->state.max_payload) {
		errno = EMSGSIZE;
		return -1;
	}
	item = item_new(n, token);
	if (item == NULL)
		return -1;
	item->ack_by = ACK_BY_FLUSH;
	if (stream_name(SUBJECT_OF_NODES, cluster, item->subject,
		sizeof(item->subject)) == -1) {
		nats_item_free(item);
		errno = EINVAL;
		return -1;
	}
	len = strlen(item->subject);
	snprintf(item->subject + len, sizeof(item->subject) - len, ".%u",
	    group);
	item->bytes = body->buf;
	item->len = body->len;
	body->buf = NULL;
	body->len = 0;
	return item_put(n, item, 0);
}

size_t
nats_payload_max(const struct nats *n)
{
	return n->state.max_payload;
}

int
nats_has_room(const struct nats *n)
{
	return n->bytes < BYTES_MAX;
}

void
nats_status(const struct nats *n, struct nats_status *st)
{
	*st = n->n;
	st->in_flight = n->in_flight;
	nats_broker_status(n->broker, &st->broker);
}
