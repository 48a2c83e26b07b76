/* SPDX-License-Identifier: MIT */
/*
 * The receiver's connection in the simulation: the functions of
 * receiver/link/link.h on the simulated NATS server.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/nats/nats_broker.h"
#include "receiver/link/link.h"
#include "tests/simulate/broker.h"
#include "tests/simulate/world.h"

#define PAYLOAD_MAX (1024 * 1024)

struct link {
	const struct link_ops *ops;
	void *arg;
	struct broker_client *client; /* NULL before link_use() */
	struct world_call *turn;
};

static void
on_turn(void *arg)
{
	struct link *l = arg;

	l->turn = NULL;
	l->ops->turn(l->arg);
}

static void
on_changed(int up, void *arg)
{
	struct link *l = arg;

	l->ops->changed(up, l->arg);
}

static void
on_message(const struct broker_message *m, void *arg)
{
	struct link *l = arg;
	struct link_message lm = { .subject = m->subject,
		.reply = m->reply,
		.tail = m->answer,
		.status = m->status,
		.status_text = m->status_text,
		.id = m->id,
		.data = m->data,
		.len = m->len };

	l->ops->message(&lm, l->arg);
	/* Messages of one moment are one turn. */
	if (l->turn == NULL)
		l->turn = world_after(process_current(), 0, on_turn, l);
}

static const struct broker_ops ops = {
	.changed = on_changed,
	.message = on_message,
};

struct link *
link_new(struct event_base *base, struct resolver *names,
    const struct link_ops *link_ops, void *arg)
{
	struct link *l = world_alloc(sizeof(*l));

	(void)base;
	(void)names;
	l->ops = link_ops;
	l->arg = arg;
	return l;
}

void
link_free(struct link *l)
{
	free(l);
}

void
link_use(struct link *l, struct nats_conf *nc)
{
	nats_conf_free(nc);
	if (l->client == NULL)
		l->client = broker_connect(&ops, l);
}

int
link_is_up(const struct link *l)
{
	return l->client != NULL && broker_is_up(l->client);
}

size_t
link_max_payload(const struct link *l)
{
	(void)l;
	return PAYLOAD_MAX;
}

int
link_publish(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len)
{
	if (l->client != NULL &&
	    broker_publish(l->client, subject, answer, "", data, len) == 0)
		return 0;
	errno = ENOTCONN;
	return -1;
}

void
link_worked(struct link *l)
{
	(void)l;
}

void
link_status(const struct link *l, struct nats_broker_status *st)
{
	(void)l;
	memset(st, 0, sizeof(*st));
	snprintf(st->text, sizeof(st->text), "simulated");
}
