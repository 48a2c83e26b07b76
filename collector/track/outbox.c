/* SPDX-License-Identifier: MIT */
/*
 * Messages to the submitter.  The outbox keeps each message until `record-ack`.
 * A new submitter gets all kept messages again, in the same order, with new
 * numbers.  Order numbers belong to the collector and never change; the numbers
 * of messages begin at one for every submitter.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/track/outbox.h"
#include "common/clock.h"
#include "common/crash_point.h"
#include "common/log.h"
#include "common/permanent.h"

/* Unacknowledged records; above this limit ended runs wait */
#define WINDOW_ITEMS 512
#define WINDOW_BYTES (8u * 1024 * 1024)
/*
 * New runs may exceed the window up to this limit, because their details exist
 * in Slurm only for minutes.
 */
#define HARD_BYTES (64u * 1024 * 1024)

struct outbox_item {
	struct outbox_item *next;
	struct cluster *c; /* of a watermark */
	uint64_t order;
	long long queued_ms; /* clock_ms() */
	int64_t until;	     /* of a watermark */
	uint32_t len;
	uint16_t type;
	uint8_t payload[]; /* begins with the number of the message */
};

struct outbox {
	const struct outbox_ops *ops;
	void *arg;
	struct channel *peer;
	int released;
	int flow_paused;
	struct outbox_item *first;
	struct outbox_item **tail;
	struct outbox_item *unsent;
	uint64_t order; /* of the last item */
	uint64_t base;	/* order number of message number 0 */
	uint64_t durable;
	unsigned n;
	size_t bytes;
	uint64_t records; /* since the start */
	struct log_limit unqueued;
};

struct outbox *
outbox_new(const struct outbox_ops *ops, void *arg)
{
	struct outbox *o = permanent_new(sizeof(*o));

	o->ops = ops;
	o->arg = arg;
	o->tail = &o->first;
	return o;
}

static void
outbox_flush(struct outbox *o)
{
	struct writer w;
	uint64_t seq;

	while (o->unsent != NULL && o->peer != NULL && o->released &&
	    !channel_full(o->peer)) {
		seq = o->unsent->order - o->base;
		memcpy(o->unsent->payload, &seq, sizeof(seq));
		w = (struct writer) { .buf = o->unsent->payload,
			.len = o->unsent->len,
			.cap = o->unsent->len,
			.max = o->unsent->len };
		if (channel_send(o->peer, (enum msg_type)o->unsent->type, 0, &w,
			-1) == -1)
			return;
		CRASH_POINT("collector.sent");
		o->unsent = o->unsent->next;
	}
}

/* Copies the content of w, which begins with a number to be filled in. */
static uint64_t
outbox_queue(struct outbox *o, enum msg_type type, const struct writer *w,
    struct cluster *c, int64_t until)
{
	struct outbox_item *item;

	if (wr_end(w) == -1 || o->bytes + w->len > HARD_BYTES) {
		log_limited(&o->unqueued, log_errorx,
		    "a %s message cannot be queued: %s", msg_name(type),
		    wr_end(w) == -1 ? "it is too long" :
				      "the queue to the submitter is full");
		return 0;
	}
	item = malloc(sizeof(*item) + w->len);
	if (item == NULL)
		return 0;
	item->next = NULL;
	item->order = ++o->order;
	item->queued_ms = clock_ms();
	item->c = c;
	item->until = until;
	item->len = (uint32_t)w->len;
	item->type = (uint16_t)type;
	memcpy(item->payload, w->buf, w->len);
	*o->tail = item;
	o->tail = &item->next;
	if (o->unsent == NULL)
		o->unsent = item;
	o->n++;
	o->bytes += w->len;
	CRASH_POINT("collector.queued");
	outbox_flush(o);
	return item->order;
}

uint64_t
outbox_record(struct outbox *o, const struct job *job)
{
	struct writer w;
	uint64_t order;

	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_u64(&w, 0);
	job_write(&w, job);
	order = outbox_queue(o, MSG_RECORD, &w, NULL, 0);
	wr_clear(&w);
	if (order != 0)
		o->records++;
	return order;
}

uint64_t
outbox_watermark(struct outbox *o, struct cluster *c, int64_t until)
{
	struct writer w;
	uint64_t order;

	wr_init(&w, 256);
	wr_u64(&w, 0);
	wr_str(&w, c->slurm.cluster);
	wr_u8(&w, WATERMARK_ACCOUNTING);
	wr_i64(&w, until);
	order = outbox_queue(o, MSG_WATERMARK, &w, c, until);
	wr_clear(&w);
	return order;
}

void
outbox_watermarks_void(struct outbox *o, const struct cluster *c)
{
	struct outbox_item *item;
	struct writer w;

	for (item = o->first; item != NULL; item = item->next) {
		if (item->type != MSG_WATERMARK || item->c != c)
			continue;
		/* Without the message, the numbers behind it would have a gap. */
		w = (struct writer) { .buf = item->payload,
			.len = item->len - sizeof(int64_t),
			.cap = item->len,
			.max = item->len };
		wr_i64(&w, RESUME_LOST);
		item->c = NULL;
	}
}

uint64_t
outbox_backfilled(struct outbox *o, const char *cluster, int64_t until)
{
	struct writer w;
	uint64_t order;

	wr_init(&w, 256);
	wr_u64(&w, 0);
	wr_str(&w, cluster);
	wr_u8(&w, WATERMARK_BACKFILL);
	wr_i64(&w, until);
	order = outbox_queue(o, MSG_WATERMARK, &w, NULL, 0);
	wr_clear(&w);
	return order;
}

uint64_t
outbox_not_found(struct outbox *o, const struct cluster *c, uint64_t lookup,
    const struct run_key *keys, uint32_t n)
{
	struct writer w;
	uint64_t order;
	uint32_t i;

	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_u64(&w, 0);
	wr_str(&w, c->slurm.cluster);
	wr_u64(&w, lookup);
	wr_u32(&w, n);
	for (i = 0; i < n; i++)
		wr_run_key(&w, &keys[i]);
	order = outbox_queue(o, MSG_NOT_FOUND, &w, NULL, 0);
	wr_clear(&w);
	return order;
}

int
outbox_nodes(struct outbox *o, const struct writer *w)
{
	/* Node states are not sent before outbox_release(). */
	if (o->peer == NULL || !o->released || channel_full(o->peer))
		return -1;
	return channel_send(o->peer, MSG_NODES, 0, w, -1);
}

void
outbox_peer(struct outbox *o, struct channel *peer)
{
	int paused = o->flow_paused;

	o->peer = peer;
	o->released = 0;
	o->flow_paused = 0;
	o->unsent = o->first;
	/* A new submitter sends `flow` only if it has no room. */
	if (paused)
		o->ops->flow(o->arg);
}

void
outbox_release(struct outbox *o)
{
	o->released = 1;
	o->unsent = o->first;
	o->base = o->first != NULL ? o->first->order - 1 : o->order;
	outbox_flush(o);
}

void
outbox_drained(struct outbox *o)
{
	outbox_flush(o);
}

void
outbox_acked(struct outbox *o, uint64_t seq)
{
	struct outbox_item *item;

	while ((item = o->first) != NULL && item != o->unsent &&
	    item->order <= o->base + seq) {
		o->first = item->next;
		if (o->first == NULL)
			o->tail = &o->first;
		o->n--;
		o->bytes -= item->len;
		o->durable = item->order;
		CRASH_POINT("collector.stored");
		if (item->type == MSG_WATERMARK && item->c != NULL)
			o->ops->advanced(item->c, item->until);
		free(item);
	}
	o->ops->stored(o->arg);
}

void
outbox_flow(struct outbox *o, int pause)
{
	o->flow_paused = pause;
	o->ops->flow(o->arg);
}

static int
window_is_full(const struct outbox *o)
{
	return o->n >= WINDOW_ITEMS || o->bytes >= WINDOW_BYTES;
}

int
outbox_behind(const struct outbox *o)
{
	return !o->flow_paused && window_is_full(o);
}

int
outbox_full(const struct outbox *o)
{
	return o->flow_paused || window_is_full(o);
}

int
outbox_scarce(const struct outbox *o)
{
	return o->bytes >= HARD_BYTES / 2;
}

uint64_t
outbox_durable(const struct outbox *o)
{
	return o->durable;
}

unsigned
outbox_waiting(const struct outbox *o)
{
	return o->n;
}

int64_t
outbox_oldest_ms(const struct outbox *o)
{
	return o->first != NULL ? clock_ms() - o->first->queued_ms : 0;
}

uint64_t
outbox_records(const struct outbox *o)
{
	return o->records;
}

uint64_t
outbox_order(const struct outbox *o)
{
	return o->order;
}
