/* SPDX-License-Identifier: MIT */
/*
 * The thread that talks to the broker.  All of it that the event loop sees
 * goes through here: items in, items out, one target to connect to, what is
 * known of the connection; an eventfd wakes the loop.
 */
#ifndef SUBMITTER_NATS_NATS_THREAD_H
#define SUBMITTER_NATS_NATS_THREAD_H

#include <sys/queue.h>

#include <stddef.h>
#include <stdint.h>

#include "submitter/nats/nats_conf.h"
#include "submitter/net/resolver.h"

struct nats_thread;

/* One message on its way. */
struct nats_item {
	STAILQ_ENTRY(nats_item)	 link;
	uint64_t		 token;
	uint8_t			*bytes;		/* owned */
	size_t			 len;
	char			 id[MESSAGE_ID_MAX];
	enum nats_result	 result;
	int			 duplicate;	/* the stream had it */
	char			 why[160];	/* "" = nothing to say */
};
STAILQ_HEAD(nats_items, nats_item);

/* Where to connect. */
struct nats_target {
	unsigned		 generation;	/* of the configuration */
	struct nats_conf	*conf;		/* held */
	struct nats_server	 server;
	struct resolver_answer	 addresses;
};

/* What became of the connection. */
enum nats_link_state {
	NATS_LINK_DOWN,	/* none, or it broke */
	NATS_LINK_BUSY,	/* a target was given, connecting */
	NATS_LINK_UP
};

/* Why it went: how soon to try again. */
enum nats_trouble {
	TROUBLE_NONE,
	TROUBLE_AWAY,	/* refused, broken, silent */
	TROUBLE_DENIED,	/* login or subject not permitted */
	TROUBLE_STREAM	/* JetStream does not take the subject, or is off */
};

struct nats_state {
	unsigned		 generation;	/* of the target it is about */
	enum nats_link_state		 state;
	enum nats_trouble	 trouble;
	unsigned		 serial;	/* changes with each change of phase */
	size_t			 max_payload;	/* bytes; when up */
	int64_t			 window;	/* of duplicates, ns; 0 = not known */
	char			 where[HOST_MAX + 64];	/* "host (address)" */
	char			 why[256];
};

/* Starts the thread at the first target.  NULL with errno. */
struct nats_thread *nats_thread_new(void);
/* Ends the thread, waiting no longer than a second for it. */
void nats_thread_free(struct nats_thread *l);
/* Readable when there is something to take. */
int nats_thread_fd(const struct nats_thread *l);
/* Connects anew; takes what t holds.  0, or -1 when there is no thread. */
int nats_thread_connect(struct nats_thread *l, struct nats_target *t);
/* Ends the connection; what was not yet sent comes back as NATS_AWAY. */
void nats_thread_disconnect(struct nats_thread *l);
/* Takes the item. */
void nats_thread_put(struct nats_thread *l, struct nats_item *item);
/* Moves what is done to out (the caller's, to be freed) and copies the state. */
void nats_thread_take(struct nats_thread *l, struct nats_items *out,
    struct nats_state *state);
void nats_item_free(struct nats_item *item);

#endif
