/* SPDX-License-Identifier: MIT */
/*
 * The thread that calls libnats, because each of these calls may block.  The
 * event loop hands it messages and the broker to connect to, and takes results
 * and the state of the connection.  An eventfd wakes the loop.
 */
#ifndef SUBMITTER_NATS_NATS_THREAD_H
#define SUBMITTER_NATS_NATS_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include "common/nats/nats_broker.h"
#include "submitter/nats/nats_publish.h"

struct nats_thread;

/* State of the connection. */
enum nats_link_state {
	NATS_LINK_DOWN, /* not connected */
	NATS_LINK_BUSY, /* connecting to a target */
	NATS_LINK_UP
};

struct nats_state {
	unsigned generation; /* of the last target */
	enum nats_link_state state;
	enum nats_trouble trouble;
	unsigned serial;	   /* incremented by each change */
	size_t max_payload;	   /* bytes; valid when up */
	int64_t window;		   /* ns of duplicate detection; 0 = unknown */
	char where[HOST_MAX + 64]; /* "host:port (address)" */
	char why[256];
};

/* The thread starts with the first target.  NULL with errno. */
struct nats_thread *nats_thread_new(void);
/* Waits at most one second until the thread has ended. */
void nats_thread_free(struct nats_thread *nt);
/* Readable when nats_thread_take() has something new. */
int nats_thread_fd(const struct nats_thread *nt);
/*
 * Closes the connection and connects to t.  Takes t.  Returns 0, or -1 when the
 * thread cannot be started.
 */
int nats_thread_connect(struct nats_thread *nt, struct nats_target *t);
/* Closes the connection.  Unsent messages come back as NATS_AWAY. */
void nats_thread_disconnect(struct nats_thread *nt);
/* Takes the item. */
void nats_thread_put(struct nats_thread *nt, struct nats_item *item);
/*
 * The next question of the centre, owned by the caller; NULL = none.  Questions
 * beyond a few are dropped: the centre sends them again.
 */
natsMsg *nats_thread_ask(struct nats_thread *nt);
/* Subscribes to the questions again, when connected. */
void nats_thread_asks_again(struct nats_thread *nt);
/* Moves finished items to out, owned by the caller, and copies the state. */
void nats_thread_take(struct nats_thread *nt, struct nats_items *out,
    struct nats_state *state);
void nats_item_free(struct nats_item *item);

#endif
