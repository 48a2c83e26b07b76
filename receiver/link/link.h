/* SPDX-License-Identifier: MIT */
/*
 * The receiver's connection to NATS for the event loop: chooses the broker,
 * makes a new connection when one breaks, publishes, and passes on what
 * arrives in the inbox of the connection.  An answer never arrives on a later
 * connection than its question.
 */
#ifndef RECEIVER_LINK_LINK_H
#define RECEIVER_LINK_LINK_H

#include <stddef.h>
#include <stdint.h>

struct event_base;
struct link;
struct nats_conf;
struct resolver;

/* A message that arrived; all members are borrowed for the call. */
struct link_message {
	const char *subject;
	const char *reply; /* "" = none */
	/* the inbox and subject without it: "N.SERIAL", or NULL */
	const char *tail;
	unsigned status; /* of a message of the server without data; 0 = none */
	const char *status_text; /* "" = none */
	const char *id;		 /* header Nats-Msg-Id; "" = none */
	const uint8_t *data;
	size_t len;
	unsigned left; /* of a status: messages that do not come, or UINT_MAX */
};

struct link_ops {
	void (*message)(const struct link_message *m, void *arg);
	/* All messages that had arrived were passed on. */
	void (*turn)(void *arg);
	/* The connection was made (up = 1) or ended (up = 0). */
	void (*changed)(int up, void *arg);
};

/* Borrows base, names and ops.  NULL when memory is short. */
struct link *link_new(struct event_base *base, struct resolver *names,
    const struct link_ops *ops, void *arg);
/* For the end of the process only.  NULL is fine. */
void link_free(struct link *l);
/* Takes nc.  Makes a new connection if the configuration was changed. */
void link_use(struct link *l, struct nats_conf *nc);
int link_is_up(const struct link *l);
/* The longest message that the broker accepts, bytes; valid when up. */
size_t link_max_payload(const struct link *l);
/*
 * Publishes; answer: the part of the reply subject behind the inbox, NULL = no
 * answer is asked for.  Returns 0, or -1 with errno ENOTCONN or ENOMEM.  A
 * message may be lost without a notice: the caller waits for an answer with a
 * limit, or may send it again.
 */
int link_publish(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len);
/*
 * The same; JetStream refuses the message unless the last one of its subject has
 * this sequence (0 = there is none).
 */
int link_publish_expect(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len, uint64_t expect);

/* The connection has done its work: back-off begins anew. */
void link_worked(struct link *l);
struct nats_broker_status;
void link_status(const struct link *l, struct nats_broker_status *st);

#endif
