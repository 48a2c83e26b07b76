/* SPDX-License-Identifier: MIT */
/* What nats_thread.c and nats_publish.c share: the thread's side of a link. */
#ifndef SUBMITTER_NATS_NATS_PRIVATE_H
#define SUBMITTER_NATS_NATS_PRIVATE_H

#include <pthread.h>

#include "submitter/nats/nats_thread.h"

struct nats_thread {
	pthread_mutex_t		 lock;
	pthread_cond_t		 cond;
	pthread_t		 thread;
	int			 running;	/* the loop's: there is a thread */
	int			 fd;		/* eventfd */
	/* under the lock */
	struct nats_items	 in;
	struct nats_items	 out;
	struct nats_target	*target;	/* owned; NULL = none given */
	int			 drop;		/* end the connection */
	int			 quit;
	int			 closed;	/* nc was closed by libnats */
	struct nats_state	 state;
	/* the thread's own */
	natsConnection		*nc;
	jsCtx			*js;
	struct nats_conf	*conf;		/* held while nc is there */
	int			 window_asked;
};

/* From this item on: the result, and why. */
void nats_items_end(struct nats_item *item, enum nats_result result,
    const char *why);
/* What the connection or, without one, the library said last. */
void nats_last_words(natsConnection *nc, natsStatus s, char *buf,
    size_t size);
/*
 * Publishes a batch and gives each item its result.  TROUBLE_NONE, or what
 * ails the connection, which then must be ended, with the reason.
 */
enum nats_trouble nats_publish(struct nats_thread *l, struct nats_items *batch,
    char *why, size_t size);

#endif
