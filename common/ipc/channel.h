/* SPDX-License-Identifier: MIT */
/*
 * One end of a socketpair: frames in, frames out, descriptors with them, on
 * libevent.  A frame that breaks the rules of msg.c, or a neighbour that
 * hung up, ends the channel: its owner is told once, never the suite.
 */
#ifndef COMMON_IPC_CHANNEL_H
#define COMMON_IPC_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/ipc/frame.h"
#include "common/msg.h"

struct channel;
struct event_base;

/* What the owner of a channel does with it. */
struct channel_ops {
	/*
	 * A frame that the table allows.  fd is -1 or now the handler's.  The
	 * reader's bytes live until it returns.  It may close the channel.
	 */
	void	(*on_frame)(struct channel *c, const struct msg_header *h,
		    struct reader *r, int fd, void *arg);
	/* The channel is dead; why is a text.  The owner frees it, now or later. */
	void	(*on_broken)(struct channel *c, const char *why, void *arg);
	/* The output went below its low mark after being above the high one; may be NULL. */
	void	(*on_drained)(struct channel *c, void *arg);
};

/* Above this much unsent output, channel_full() says so (advice, not a limit). */
#define CHANNEL_HIGH_MARK	(1u * 1024 * 1024)
#define CHANNEL_LOW_MARK	(256u * 1024)
/* A neighbour that lets this much pile up is dead or deaf: the channel breaks. */
#define CHANNEL_OUTPUT_MAX	(64u * 1024 * 1024)

/*
 * Takes fd (made non-blocking, close-on-exec).  self and peer are the roles
 * that the table is checked with.  ops is borrowed.  NULL with errno on error.
 */
struct channel *channel_new(struct event_base *base, int fd, enum role self,
    enum role peer, const struct channel_ops *ops, void *arg);
/* Closes and frees; NULL is fine; safe inside its own handlers. */
void channel_free(struct channel *c);

enum role channel_peer(const struct channel *c);

/*
 * Queues a frame; never blocks.  w may be NULL (no payload) and stays the
 * caller's.  fd is -1, or is taken, also on error.  Returns 0, or -1 when the
 * frame breaks the table (our own fault: logged), w had an error, or the
 * channel is broken (on_broken comes later, from the loop).
 */
int channel_send(struct channel *c, enum msg_type type, uint64_t id,
    const struct writer *w, int fd);
/* 1 above the high mark, until below the low one. */
int channel_full(const struct channel *c);
/*
 * On the way out: writes what is queued, blocking for at most timeout_ms.
 * Never calls a handler; 0 when all is out, else -1.
 */
int channel_flush(struct channel *c, int timeout_ms);
/* A handler found the payload wrong: what names the field.  Ends the channel from the loop. */
void channel_broken(struct channel *c, const char *what);

#endif
