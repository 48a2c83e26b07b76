/* SPDX-License-Identifier: MIT */
/*
 * The product's channels (common/ipc/channel.h) on simulated links.  The rules
 * of the table are those of the product.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/ipc/channel.h"
#include "tests/simulate/link.h"
#include "tests/simulate/process.h"

struct channel {
	struct link *link;
	const struct channel_ops *ops;
	void *arg;
	int end;
	enum role self;
	enum role peer;
	int broken;
	int above_high_mark;
	int busy;  /* inside a handler */
	int freed; /* free it when the handler returns */
	struct world_call *report;
	char why[128];
};

static void
channel_destroy(struct channel *c)
{
	world_cancel(c->report);
	link_close(c->link, c->end);
	free(c);
}

void
channel_free(struct channel *c)
{
	if (c == NULL)
		return;
	if (c->busy) {
		c->freed = 1;
		c->broken = 1;
	} else
		channel_destroy(c);
}

enum role
channel_peer(const struct channel *c)
{
	return c->peer;
}

static void
handler_leave(struct channel *c)
{
	c->busy--;
	if (c->busy == 0 && c->freed)
		channel_destroy(c);
	loop_turn_end();
}

static void
on_report(void *arg)
{
	struct channel *c = arg;

	c->report = NULL;
	if (c->freed)
		return;
	c->busy++;
	c->ops->on_broken(c, c->why, c->arg);
	handler_leave(c);
}

static void
channel_fail(struct channel *c, const char *why)
{
	if (c->broken)
		return;
	trace("channel to the %s: %s", role_name(c->peer), why);
	c->broken = 1;
	snprintf(c->why, sizeof(c->why), "%s", why);
	c->report = world_after(process_current(), 0, on_report, c);
}

void
channel_broken(struct channel *c, const char *what)
{
	char why[128];

	snprintf(why, sizeof(why), "malformed %s", what);
	channel_fail(c, why);
}

static void
on_frame(void *arg, const struct msg_header *h, const uint8_t *payload, int fd)
{
	struct channel *c = arg;
	const char *wrong = msg_check(h, c->peer, c->self);
	struct reader r;

	if (c->broken)
		return;
	if (wrong != NULL) {
		channel_fail(c, wrong);
		return;
	}
	process_fault("frame received");
	rd_init(&r, payload, h->length);
	c->busy++;
	c->ops->on_frame(c, h, &r, fd, c->arg);
	handler_leave(c);
}

static void
on_broken(void *arg, const char *why)
{
	channel_fail(arg, why);
}

static void
on_sent(void *arg)
{
	struct channel *c = arg;

	if (!c->above_high_mark || c->broken ||
	    link_waiting(c->link, c->end) >= CHANNEL_LOW_MARK)
		return;
	c->above_high_mark = 0;
	c->busy++;
	if (c->ops->on_drained != NULL)
		c->ops->on_drained(c, c->arg);
	handler_leave(c);
}

static const struct link_ops ops_of_link = {
	.frame = on_frame,
	.broken = on_broken,
	.sent = on_sent,
};

struct channel *
channel_new(struct event_base *base, int fd, enum role self, enum role peer,
    const struct channel_ops *ops, void *arg)
{
	struct channel *c = world_alloc(sizeof(*c));

	(void)base;
	c->link = link_of_fd(process_fd(fd), &c->end);
	invariant(c->link != NULL, "%d is no end of a link", fd);
	c->self = self;
	c->peer = peer;
	c->ops = ops;
	c->arg = arg;
	link_attach(c->link, c->end, &ops_of_link, c);
	return c;
}

int
channel_send(struct channel *c, enum msg_type type, uint64_t id,
    const struct writer *w, int fd)
{
	struct msg_header h;

	if (c->broken ||
	    frame_header(&h, c->self, c->peer, type, id, w, fd) == -1)
		return -1;
	if (link_waiting(c->link, c->end) > CHANNEL_OUTPUT_MAX) {
		channel_fail(c, "the peer does not read");
		return -1;
	}
	process_fault("frame");
	link_send(c->link, c->end, &h, w != NULL ? w->buf : NULL, fd);
	process_fault("frame sent");
	if (link_waiting(c->link, c->end) > CHANNEL_HIGH_MARK)
		c->above_high_mark = 1;
	return 0;
}

int
channel_full(const struct channel *c)
{
	return c->above_high_mark;
}

int
channel_flush(struct channel *c, int timeout_ms)
{
	(void)timeout_ms;
	return c->broken ? -1 : 0;
}
