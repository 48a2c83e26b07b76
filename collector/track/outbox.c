/* SPDX-License-Identifier: MIT */
/*
 * What goes to the submitter.  Everything is kept until it says `stored`; a
 * new submitter gets all of that again, in the same order, under new numbers.
 * Order numbers are ours and never change; numbers on the wire count from
 * one for every submitter.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/base/cluster.h"
#include "common/crash_point.h"
#include "common/log.h"

#define WINDOW_ITEMS	512	/* records under way: then ended runs wait */
#define WINDOW_BYTES	(8u * 1024 * 1024)
/* New runs go beyond the window, for their resources cannot wait; to here. */
#define HARD_BYTES	(64u * 1024 * 1024)

struct item {
	struct item	*next;
	struct collector *c;		/* whose mark it is */
	uint64_t	 order;
	int64_t		 until;		/* of a mark */
	uint32_t	 len;
	uint16_t	 type;
	uint8_t		 payload[];	/* begins with the number on the wire */
};

struct out {
	struct site	*site;
	struct channel	*peer;
	int		 released;
	int		 flow_held;
	struct item	*first;
	struct item	**tail;
	struct item	*unsent;
	uint64_t	 order;		/* of the last item */
	uint64_t	 base;		/* order of the wire's number 0 */
	uint64_t	 durable;
	unsigned	 n;
	size_t		 bytes;
	uint64_t	 records;	/* since the beginning */
};

struct out *
out_new(struct site *site)
{
	struct out *o = calloc(1, sizeof(*o));

	if (o == NULL)
		fatal("no memory");
	o->site = site;
	o->tail = &o->first;
	return o;
}

static void
out_flush(struct out *o)
{
	struct writer w;
	uint64_t seq;

	while (o->unsent != NULL && o->peer != NULL && o->released &&
	    !channel_full(o->peer)) {
		seq = o->unsent->order - o->base;
		memcpy(o->unsent->payload, &seq, sizeof(seq));
		w = (struct writer){ .buf = o->unsent->payload,
		    .len = o->unsent->len, .cap = o->unsent->len,
		    .max = o->unsent->len };
		if (channel_send(o->peer, (enum msg_type)o->unsent->type, 0,
		    &w, -1) == -1)
			return;
		CRASH_POINT("collector.sent");
		o->unsent = o->unsent->next;
	}
}

/* Takes over what w holds; it begins with a number to be filled in. */
static uint64_t
out_queue(struct out *o, enum msg_type type, const struct writer *w,
    struct collector *c, int64_t until)
{
	struct item *item;

	if (wr_end(w) == -1 || o->bytes + w->len > HARD_BYTES) {
		log_errorx("a %s message cannot be queued: %s", msg_name(type),
		    wr_end(w) == -1 ? "too long" : "the submitter is behind");
		return 0;
	}
	item = malloc(sizeof(*item) + w->len);
	if (item == NULL)
		return 0;
	item->next = NULL;
	item->order = ++o->order;
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
	out_flush(o);
	return item->order;
}

uint64_t
out_record(struct out *o, const struct job *job)
{
	struct writer w;
	uint64_t order;

	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_u64(&w, 0);
	job_write(&w, job);
	order = out_queue(o, MSG_RECORD, &w, NULL, 0);
	wr_clear(&w);
	if (order != 0)
		o->records++;
	return order;
}

uint64_t
out_mark(struct out *o, struct collector *c, int64_t until)
{
	struct writer w;
	uint64_t order;

	wr_init(&w, 256);
	wr_u64(&w, 0);
	wr_str(&w, c->slurm.cluster);
	wr_u8(&w, WATERMARK_ACCOUNTING);
	wr_i64(&w, until);
	order = out_queue(o, MSG_WATERMARK, &w, c, until);
	wr_clear(&w);
	return order;
}

uint64_t
out_backfilled(struct out *o, const struct collector *c, int64_t until)
{
	struct writer w;
	uint64_t order;

	wr_init(&w, 256);
	wr_u64(&w, 0);
	wr_str(&w, c->slurm.cluster);
	wr_u8(&w, WATERMARK_BACKFILL);
	wr_i64(&w, until);
	order = out_queue(o, MSG_WATERMARK, &w, NULL, 0);
	wr_clear(&w);
	return order;
}

uint64_t
out_denied(struct out *o, const struct collector *c, uint64_t ask,
    const struct run_key *keys, uint32_t n)
{
	struct writer w;
	uint64_t order;
	uint32_t i;

	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_u64(&w, 0);
	wr_str(&w, c->slurm.cluster);
	wr_u64(&w, ask);
	wr_u32(&w, n);
	for (i = 0; i < n; i++)
		wr_run_key(&w, &keys[i]);
	order = out_queue(o, MSG_NOT_FOUND, &w, NULL, 0);
	wr_clear(&w);
	return order;
}

int
out_nodes(struct out *o, const struct writer *w)
{
	/* Before it is released the submitter is not ready for them. */
	if (o->peer == NULL || !o->released || channel_full(o->peer))
		return -1;
	return channel_send(o->peer, MSG_NODES, 0, w, -1);
}

void
out_peer(struct out *o, struct channel *peer)
{
	o->peer = peer;
	o->released = 0;
	o->flow_held = 0;
	o->unsent = o->first;
}

void
out_release(struct out *o)
{
	o->released = 1;
	o->unsent = o->first;
	o->base = o->first != NULL ? o->first->order - 1 : o->order;
	out_flush(o);
}

void
out_drained(struct out *o)
{
	out_flush(o);
}

/* Something became durable, and there may be room again. */
static void
stored_tell(struct out *o, struct collector *c)
{
	events_stored(c->events);
	if (!out_behind(o)) {
		cycle_resume(c->cycle);
		events_resume(c->events);
	}
	if (!out_full(o))
		ledger_hold(c->ledger, 0);
}

void
out_stored(struct out *o, uint64_t seq)
{
	struct item *item;
	unsigned i;

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
			resume_cursor(item->c, item->until);
		free(item);
	}
	for (i = 0; i < o->site->n; i++)
		stored_tell(o, o->site->clusters[i]);
}

void
out_flow(struct out *o, int hold)
{
	unsigned i;

	o->flow_held = hold;
	for (i = 0; i < o->site->n; i++)
		ledger_hold(o->site->clusters[i]->ledger, out_full(o));
}

int
out_behind(const struct out *o)
{
	return o->n >= WINDOW_ITEMS || o->bytes >= WINDOW_BYTES;
}

int
out_full(const struct out *o)
{
	return o->flow_held || out_behind(o);
}

uint64_t
out_durable(const struct out *o)
{
	return o->durable;
}

unsigned
out_waiting(const struct out *o)
{
	return o->n;
}

uint64_t
out_records(const struct out *o)
{
	return o->records;
}

uint64_t
out_order(const struct out *o)
{
	return o->order;
}
