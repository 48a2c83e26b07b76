/* SPDX-License-Identifier: MIT */
/*
 * The submitter's NATS client in the simulation: the functions of
 * submitter/nats/nats.h on the simulated server, for records only.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/record/stream_name.h"
#include "submitter/nats/nats.h"
#include "submitter/nats/nats_ack.h"
#include "submitter/payload/record_message.h"
#include "tests/simulate/broker.h"
#include "tests/simulate/world.h"

#define CONFIRM_MS	5000 /* as submitter/nats/nats_publish.c */
#define MESSAGE_LONGEST (1024 * 1024)

/* A message without a result. */
struct item {
	struct item *next;
	struct nats *n;
	uint64_t token;
	uint64_t serial; /* names the answer */
	struct world_call *timeout;
};

struct nats {
	nats_done_fn *done;
	nats_up_fn *up;
	void *arg;
	struct broker_client *client; /* NULL before nats_use() */
	struct item *items;
	unsigned in_flight;
	uint64_t serial;
	struct nats_status status;
};

static void
item_end(struct item *item, enum nats_result result, const char *why)
{
	struct nats *n = item->n;
	struct item **p;

	for (p = &n->items; *p != item; p = &(*p)->next)
		continue;
	*p = item->next;
	n->in_flight--;
	world_cancel(item->timeout);
	n->done(item->token, result, why, n->arg);
	free(item);
}

static void
on_timeout(void *arg)
{
	struct item *item = arg;

	item->timeout = NULL;
	item_end(item, NATS_NO_STREAM, "the stream does not answer in time");
}

static void
on_changed(int up, void *arg)
{
	struct nats *n = arg;

	while (!up && n->items != NULL)
		item_end(n->items, NATS_AWAY, "the connection broke");
	n->up(up, n->arg);
}

/* As answer_read() of submitter/nats/nats_records.c. */
static void
on_message(const struct broker_message *m, void *arg)
{
	uint64_t serial = m->answer != NULL ? strtoull(m->answer, NULL, 10) : 0;
	struct nats *n = arg;
	struct item *item;
	struct nats_ack ack;

	for (item = n->items; item != NULL && item->serial != serial;)
		item = item->next;
	if (item == NULL)
		return; /* too late */
	if (m->status != 0)
		item_end(item, NATS_NO_STREAM, "no stream has the subject");
	else if (nats_ack_read((const char *)m->data, m->len, &ack) == -1)
		item_end(item, NATS_NO_STREAM,
		    "the answer is not that of a stream");
	else if (ack.stored)
		item_end(item, NATS_SENT, NULL);
	else if (ack.in_process)
		item_end(item, NATS_IN_PROCESS, NULL);
	else
		item_end(item, NATS_REFUSED, ack.text);
}

static const struct broker_ops ops = {
	.changed = on_changed,
	.message = on_message,
};

struct nats *
nats_new(struct event_base *base, struct resolver *names, nats_done_fn *done,
    nats_up_fn *up, void *arg)
{
	struct nats *n = world_alloc(sizeof(*n));

	(void)base;
	(void)names;
	n->done = done;
	n->up = up;
	n->arg = arg;
	return n;
}

void
nats_free(struct nats *n)
{
	free(n);
}

void
nats_use(struct nats *n, struct nats_conf *nc)
{
	nats_conf_free(nc);
	if (n->client == NULL)
		n->client = broker_connect(&ops, n);
}

int
nats_is_up(const struct nats *n)
{
	return n->client != NULL && broker_is_up(n->client);
}

int
nats_send(struct nats *n, const struct payload *p,
    const struct payload_how *how, const struct job *job, enum message kind,
    int64_t again, uint64_t token, const char **why)
{
	(void)n;
	(void)p;
	(void)how;
	(void)job;
	(void)kind;
	(void)again;
	(void)token;
	(void)why;
	invariant_fail("a start or stop is published");
}

/* 0 with the message in w, or -1 as nats_send_record(). */
static int
record_publish(struct nats *n, struct job *job, int64_t again,
    const char *answer, struct writer *w, const char **why)
{
	char subject[STREAM_NAME_MAX], id[RECORD_ID_MAX];

	invariant(stream_name(SUBJECT_OF_RECORDS, job->key.cluster, subject,
		      sizeof(subject)) == 0,
	    "a cluster without a subject");
	if (record_message_make(job, MESSAGE_LONGEST, w, why) == -1)
		return -1;
	record_message_id(job, again, id, sizeof(id));
	if (broker_publish(n->client, subject, answer, id, w->buf, w->len) == 0)
		return 0;
	errno = ENOTCONN;
	return -1;
}

int
nats_send_record(struct nats *n, struct job *job, int64_t again, uint64_t token,
    const char **why)
{
	char answer[32];
	struct item *item;
	struct writer w;
	int rc;

	*why = NULL;
	if (!nats_is_up(n) || n->in_flight >= NATS_IN_FLIGHT) {
		errno = nats_is_up(n) ? EAGAIN : ENOTCONN;
		return -1;
	}
	snprintf(answer, sizeof(answer), "%llu",
	    (unsigned long long)++n->serial);
	wr_init(&w, PAYLOAD_MAX);
	rc = record_publish(n, job, again, answer, &w, why);
	wr_clear(&w);
	if (rc == -1)
		return -1;
	item = world_alloc(sizeof(*item));
	item->n = n;
	item->token = token;
	item->serial = n->serial;
	item->timeout = world_after(process_current(), CONFIRM_MS, on_timeout,
	    item);
	item->next = n->items;
	n->items = item;
	n->in_flight++;
	return 0;
}

/* The simulated clusters get no questions. */
void
nats_on_ask(struct nats *n, nats_ask_fn *fn, void *arg)
{
	(void)n;
	(void)fn;
	(void)arg;
}

void
nats_asks_again(struct nats *n)
{
	(void)n;
}

int
nats_answer(struct nats *n, const char *reply, const void *data, size_t len)
{
	(void)n;
	(void)reply;
	(void)data;
	(void)len;
	errno = ENOTCONN;
	return -1;
}

/* The stand-in for the collector tells no states. */
int
nats_send_nodes(struct nats *n, const char *cluster, unsigned group,
    struct writer *body, uint64_t token)
{
	(void)n;
	(void)cluster;
	(void)group;
	(void)body;
	(void)token;
	invariant_fail("states of nodes are published");
}

size_t
nats_payload_max(const struct nats *n)
{
	(void)n;
	return 1024 * 1024;
}

int
nats_has_room(const struct nats *n)
{
	(void)n;
	return 1;
}

void
nats_status(const struct nats *n, struct nats_status *st)
{
	*st = n->status;
	st->in_flight = n->in_flight;
	snprintf(st->broker.text, sizeof(st->broker.text), "simulated");
}
