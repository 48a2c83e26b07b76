/* SPDX-License-Identifier: MIT */
/*
 * The connection of link.h: passes the choice of the broker to the thread, and
 * what arrives to the owner.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "receiver/link/link.h"
#include "receiver/link/link_thread.h"

/*
 * ms that a message to publish waits for others.  Each transfer wakes the thread
 * and a thread of libnats, and is one record of TLS and one packet: with a
 * thousand acknowledgements a second, a third of the processor time.
 */
#define GATHER_MS 5

struct link {
	const struct link_ops *ops;
	void *arg;
	struct nats_broker *broker; /* owned */
	struct link_thread *thread; /* owned */
	struct event *readable;	    /* of the thread's eventfd */
	struct event *gathered;	    /* timer: outs go to the thread */
	struct link_outs outs;	    /* of the present connection */
	struct link_report report;  /* last copy of the thread's */
};

static void
outs_drop(struct link *l)
{
	event_del(l->gathered);
	link_outs_free(&l->outs);
}

static void
on_gathered(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;

	(void)fd;
	(void)what;
	link_thread_put(l->thread, &l->outs);
}

static int
on_connect(struct nats_target *t, void *arg)
{
	struct link *l = arg;

	outs_drop(l);
	return link_thread_connect(l->thread, t);
}

static void
on_disconnect(void *arg)
{
	struct link *l = arg;

	outs_drop(l);
	link_thread_disconnect(l->thread);
}

static void
on_up(int up, void *arg)
{
	struct link *l = arg;

	l->ops->changed(up, l->arg);
}

static const struct nats_broker_ops broker_ops = {
	.connect = on_connect,
	.disconnect = on_disconnect,
	.up = on_up,
};

static const char *
header(natsMsg *msg, const char *name)
{
	const char *value = NULL;

	if (natsMsgHeader_Get(msg, name, &value) != NATS_OK || value == NULL)
		return "";
	return value;
}

static void
pass_on(struct link *l, natsMsg *msg)
{
	size_t n = strlen(l->report.inbox);
	struct link_message m = { .left = UINT_MAX };
	const char *left;

	m.subject = natsMsg_GetSubject(msg);
	m.reply = natsMsg_GetReply(msg);
	if (m.reply == NULL)
		m.reply = "";
	if (strncmp(m.subject, l->report.inbox, n) == 0 && m.subject[n] == '.')
		m.tail = m.subject + n + 1;
	m.data = (const uint8_t *)natsMsg_GetData(msg);
	m.len = (size_t)natsMsg_GetDataLength(msg);
	m.status_text = "";
	if (m.len == 0) {
		m.status = (unsigned)strtoul(header(msg, "Status"), NULL, 10);
		m.status_text = header(msg, "Description");
		left = header(msg, "Nats-Pending-Messages");
		if (*left != '\0')
			m.left = (unsigned)strtoul(left, NULL, 10);
	}
	m.id = header(msg, "Nats-Msg-Id");
	l->ops->message(&m, l->arg);
}

static void
on_report(struct link *l)
{
	outs_drop(l);
	if (l->report.state == LINK_UP)
		nats_broker_connected(l->broker, l->report.generation,
		    l->report.where);
	else if (l->report.state == LINK_DOWN &&
	    l->report.trouble != TROUBLE_NONE)
		nats_broker_failed(l->broker, l->report.generation,
		    l->report.trouble, l->report.why);
}

/*
 * The thread makes no connection by itself, so the messages are of the
 * connection that is reported.
 */
static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;
	unsigned serial = l->report.serial;
	struct link_ins ins;
	struct link_in *in;

	link_thread_take(l->thread, &ins, &l->report);
	if (l->report.serial != serial)
		on_report(l);
	while ((in = STAILQ_FIRST(&ins)) != NULL) {
		STAILQ_REMOVE_HEAD(&ins, link);
		if (link_is_up(l))
			pass_on(l, in->msg);
		link_in_free(in);
	}
	if (link_is_up(l))
		l->ops->turn(l->arg);
}

struct link *
link_new(struct event_base *base, struct resolver *names,
    const struct link_ops *ops, void *arg)
{
	struct link *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->ops = ops;
	l->arg = arg;
	STAILQ_INIT(&l->outs);
	l->gathered = evtimer_new(base, on_gathered, l);
	l->thread = link_thread_new();
	l->broker = nats_broker_new(base, names, &broker_ops, l);
	if (l->thread != NULL)
		l->readable = event_new(base, link_thread_fd(l->thread),
		    EV_READ | EV_PERSIST, on_readable, l);
	if (l->broker == NULL || l->readable == NULL || l->gathered == NULL ||
	    event_add(l->readable, NULL) == -1) {
		link_free(l);
		return NULL;
	}
	return l;
}

void
link_free(struct link *l)
{
	if (l == NULL)
		return;
	if (l->readable != NULL)
		event_free(l->readable);
	link_outs_free(&l->outs);
	link_thread_free(l->thread);
	nats_broker_free(l->broker);
	if (l->gathered != NULL)
		event_free(l->gathered);
	free(l);
}

void
link_use(struct link *l, struct nats_conf *nc)
{
	nats_broker_use(l->broker, nc);
}

int
link_is_up(const struct link *l)
{
	return nats_broker_is_up(l->broker);
}

size_t
link_max_payload(const struct link *l)
{
	return l->report.max_payload;
}

/* expect: NULL = no header. */
static int
publish(struct link *l, const char *subject, const char *answer,
    const char *expect, const void *data, size_t len)
{
	size_t ns = strlen(subject) + 1;
	size_t nr = answer != NULL ?
	    strlen(l->report.inbox) + 1 + strlen(answer) + 1 :
	    0;
	size_t ne = expect != NULL ? strlen(expect) + 1 : 0;
	static const struct timeval gather = { 0, 1000 * GATHER_MS };
	struct link_out *out;

	if (!link_is_up(l)) {
		errno = ENOTCONN;
		return -1;
	}
	out = malloc(sizeof(*out) + ns + nr + ne + len);
	if (out == NULL)
		return -1;
	memcpy(out->bytes, subject, ns);
	out->subject = out->bytes;
	out->reply = out->expect = NULL;
	if (answer != NULL) {
		snprintf(out->bytes + ns, nr, "%s.%s", l->report.inbox, answer);
		out->reply = out->bytes + ns;
	}
	if (expect != NULL) {
		memcpy(out->bytes + ns + nr, expect, ne);
		out->expect = out->bytes + ns + nr;
	}
	if (len > 0)
		memcpy(out->bytes + ns + nr + ne, data, len);
	out->data = (const uint8_t *)out->bytes + ns + nr + ne;
	out->len = len;
	STAILQ_INSERT_TAIL(&l->outs, out, link);
	if (!evtimer_pending(l->gathered, NULL))
		evtimer_add(l->gathered, &gather);
	return 0;
}

int
link_publish(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len)
{
	return publish(l, subject, answer, NULL, data, len);
}

int
link_publish_expect(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len, uint64_t expect)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)expect);
	return publish(l, subject, answer, text, data, len);
}

void
link_worked(struct link *l)
{
	nats_broker_worked(l->broker);
}

void
link_status(const struct link *l, struct nats_broker_status *st)
{
	nats_broker_status(l->broker, st);
}
