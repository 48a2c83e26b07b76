/* SPDX-License-Identifier: MIT */
/*
 * One end of a socketpair: reads and writes frames and descriptors on libevent.
 * A frame that breaks the rules of msg.c, or a peer that closes its end, breaks
 * the channel: on_broken() is called once.
 */
#ifndef COMMON_IPC_CHANNEL_H
#define COMMON_IPC_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/ipc/frame.h"
#include "common/model/msg.h"

struct channel;
struct event_base;

/* Callbacks of the owner. */
struct channel_ops {
	/*
	 * A frame that the table allows.  fd is -1 or owned by the handler.
	 * The reader is valid until the handler returns.  The handler may free
	 * the channel.
	 */
	void (*on_frame)(struct channel *c, const struct msg_header *h,
	    struct reader *r, int fd, void *arg);
	/* The channel is broken; the owner frees it, now or later. */
	void (*on_broken)(struct channel *c, const char *why, void *arg);
	/* The output was above the high mark and is below the low one.
	 * May be NULL. */
	void (*on_drained)(struct channel *c, void *arg);
};

/* Above this much unsent output, channel_full() returns 1; not a limit. */
#define CHANNEL_HIGH_MARK (1u * 1024 * 1024)
#define CHANNEL_LOW_MARK  (256u * 1024)
/* The channel breaks when the peer leaves this much unread. */
#define CHANNEL_OUTPUT_MAX (64u * 1024 * 1024)

/*
 * Takes fd (made non-blocking, close-on-exec).  self and peer are the roles
 * that the table is checked with.  ops is borrowed.  NULL with errno on error.
 */
struct channel *channel_new(struct event_base *base, int fd, enum role self,
    enum role peer, const struct channel_ops *ops, void *arg);
/* Closes and frees; NULL is allowed; a handler of c may call it. */
void channel_free(struct channel *c);

enum role channel_peer(const struct channel *c);

/*
 * Queues a frame; never blocks.  w may be NULL (no payload) and is borrowed.
 * fd is -1, or is taken, also on error.  Returns 0, or -1 when the table does
 * not allow the frame (logged), w had an error, or the channel is broken (the
 * event loop calls on_broken later).
 */
int channel_send(struct channel *c, enum msg_type type, uint64_t id,
    const struct writer *w, int fd);
/* 1 from above the high mark until below the low one. */
int channel_full(const struct channel *c);
/*
 * Before exit: writes the queued frames, blocking for at most timeout_ms.
 * Never calls a handler; 0 when all is written, else -1.
 */
int channel_flush(struct channel *c, int timeout_ms);
/*
 * A handler found a malformed payload; what names the message.  The event loop
 * calls on_broken later.
 */
void channel_broken(struct channel *c, const char *what);

#endif
