/* SPDX-License-Identifier: MIT */
/* The connections of processes to the simulated NATS server; see broker.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/broker_private.h"

#define CONNECT_MS 50	/* at most */
#define RETRY_MS   2000 /* until the next attempt */

static struct broker_client *clients;
static struct broker_numbers counts;

struct broker_numbers *
numbers(void)
{
	return &counts;
}

const struct broker_numbers *
broker_numbers(void)
{
	return &counts;
}

static int
client_lives(const struct broker_client *c)
{
	return process_runs(c->process) &&
	    process_incarnation(c->process) == c->incarnation;
}

int
broker_is_up(const struct broker_client *c)
{
	return c->up;
}

struct broker_client *
client_up(unsigned n)
{
	struct broker_client *c;

	for (c = clients; c != NULL; c = c->next)
		if (c->up && client_lives(c) && n-- == 0)
			return c;
	return NULL;
}

/* --- connections --- */

static void on_connect(void *arg);

static void
on_cut(void *arg)
{
	struct broker_client *c = arg;

	c->ops->changed(0, c->arg);
	world_after(c->process, RETRY_MS, on_connect, c);
}

void
client_cut(struct broker_client *c)
{
	if (!c->up || !client_lives(c))
		return;
	c->up = 0;
	c->serial++;
	counts.cuts++;
	trace("the connection to NATS of process %d breaks", (int)c->process);
	world_after(c->process, 0, on_cut, c);
}

static void
on_connect(void *arg)
{
	struct broker_client *c = arg;

	if (broker_is_away()) {
		world_after(c->process, RETRY_MS, on_connect, c);
		return;
	}
	c->up = 1;
	c->serial++;
	trace("connected to NATS");
	c->ops->changed(1, c->arg);
}

struct broker_client *
broker_connect(const struct broker_ops *ops, void *arg)
{
	struct broker_client *c = world_alloc(sizeof(*c));

	c->ops = ops;
	c->arg = arg;
	c->process = process_current();
	c->incarnation = process_incarnation(c->process);
	c->next = clients;
	clients = c;
	world_after(c->process, CONNECT_MS, on_connect, c);
	return c;
}

/* --- messages --- */

struct broker_frame *
frame_new(struct broker_client *c, unsigned serial, const char *subject,
    const char *answer, const void *data, size_t len)
{
	struct broker_frame *f = world_alloc(sizeof(*f) + len);

	f->client = c;
	f->serial = serial;
	f->status_text = "";
	invariant((size_t)snprintf(f->subject, sizeof(f->subject), "%s",
		      subject) < sizeof(f->subject),
	    "a long subject: %s", subject);
	f->has_answer = answer != NULL;
	if (answer != NULL)
		snprintf(f->answer, sizeof(f->answer), "%s", answer);
	f->len = len;
	if (len > 0)
		memcpy(f->data, data, len);
	return f;
}

int
frame_is_valid(const struct broker_frame *f)
{
	return f->serial == f->client->serial;
}

/* In the process. */
static void
on_deliver(void *arg)
{
	struct broker_frame *f = arg;
	struct broker_client *c = f->client;
	struct broker_message m = { .subject = f->subject,
		.reply = f->reply,
		.answer = f->has_answer ? f->answer : NULL,
		.status = f->status,
		.status_text = f->status_text,
		.id = f->id,
		.data = f->data,
		.len = f->len };

	if (frame_is_valid(f)) {
		process_fault("NATS message");
		c->ops->message(&m, c->arg);
	}
	free(f);
}

void
frame_to_client(struct broker_frame *f)
{
	struct broker_client *c = f->client;
	int64_t at = world_ms() + broker_latency();

	if (!frame_is_valid(f) || !client_lives(c) || broker_loses()) {
		free(f);
		return;
	}
	if (at < c->received)
		at = c->received;
	c->received = at;
	world_after(c->process, at - world_ms(), on_deliver, f);
}

static void
on_arrival(void *arg)
{
	struct broker_frame *f = arg;

	if (frame_is_valid(f) && !broker_is_away() && !broker_loses())
		server_receive(f);
	free(f);
}

int
broker_publish(struct broker_client *c, const char *subject, const char *answer,
    const char *id, const void *data, size_t len)
{
	int64_t at = world_ms() + broker_latency();
	struct broker_frame *f;

	if (!c->up)
		return -1;
	process_fault("NATS publish");
	f = frame_new(c, c->serial, subject, answer, data, len);
	snprintf(f->id, sizeof(f->id), "%s", id);
	if (at < c->sent)
		at = c->sent;
	c->sent = at;
	world_after(PROCESS_NONE, at - world_ms(), on_arrival, f);
	return 0;
}
