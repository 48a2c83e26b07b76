/* SPDX-License-Identifier: MIT */
/*
 * The thread that calls libnats, because each of these calls may block.  The
 * event loop hands it the broker to connect to and messages to publish.  What
 * arrives in the inbox of the connection comes back in a bounded queue; an
 * eventfd wakes the loop.
 */
#ifndef RECEIVER_LINK_LINK_THREAD_H
#define RECEIVER_LINK_LINK_THREAD_H

#include <sys/queue.h>

#include <stddef.h>
#include <stdint.h>

#include <nats/nats.h>

#include "common/nats/nats_broker.h"

struct link_thread;

/* A message to publish; one allocation. */
struct link_out {
	STAILQ_ENTRY(link_out) link;
	const char *subject; /* into bytes, as the others */
	const char *reply;   /* NULL = none */
	const char
	    *expect; /* Nats-Expected-Last-Subject-Sequence; NULL = none */
	const uint8_t *data;
	size_t len;
	char bytes[];
};
STAILQ_HEAD(link_outs, link_out);

/* A message that arrived. */
struct link_in {
	STAILQ_ENTRY(link_in) link;
	natsMsg *msg; /* owned */
};
STAILQ_HEAD(link_ins, link_in);

enum link_state {
	LINK_DOWN, /* not connected */
	LINK_BUSY, /* connecting */
	LINK_UP
};

struct link_report {
	unsigned generation; /* of the last target */
	enum link_state state;
	enum nats_trouble trouble;
	unsigned serial; /* incremented by each change */
	size_t max_payload;
	char inbox[64];		   /* prefix of reply subjects; valid when up */
	char where[HOST_MAX + 64]; /* "host:port (address)" */
	char why[256];
};

/* The thread starts with the first target.  NULL with errno. */
struct link_thread *link_thread_new(void);
/* Waits at most one second until the thread has ended. */
void link_thread_free(struct link_thread *lt);
/* Readable when link_thread_take() has something new. */
int link_thread_fd(const struct link_thread *lt);
/*
 * Closes the connection and connects to t.  Takes t.  Returns 0, or -1 when the
 * thread cannot be started.
 */
int link_thread_connect(struct link_thread *lt, struct nats_target *t);
void link_thread_disconnect(struct link_thread *lt);
/* Takes the messages.  They are dropped when the connection ends before. */
void link_thread_put(struct link_thread *lt, struct link_outs *outs);
void link_outs_free(struct link_outs *outs);
/*
 * Moves the messages of the present connection to in, owned by the caller, and
 * copies the state.
 */
void link_thread_take(struct link_thread *lt, struct link_ins *in,
    struct link_report *report);
void link_in_free(struct link_in *in);

#endif
