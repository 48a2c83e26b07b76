/* SPDX-License-Identifier: MIT */
/*
 * The neighbour of a worker: the target itself.  Its messages go to the dispatch of
 * the worker directly; from its end of the channel the target reads what the worker
 * sends.
 */
#ifndef TESTS_FUZZ_NEIGHBOUR_H
#define TESTS_FUZZ_NEIGHBOUR_H

#include <sys/socket.h>

#include <unistd.h>

#include "common/ipc/channel.h"
#include "tests/fuzz/frames.h"

static int broken; /* the worker has broken a channel */

static inline void
neighbour_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	HOLDS(0);
}

static inline void
neighbour_broken(struct channel *c, const char *why, void *arg)
{
	broken = 1;
}

/* Returns the channel of the worker `self` (owned), and in *far the other end. */
static inline struct channel *
neighbour_open(struct event_base *base, enum role self, enum role peer,
    int *far)
{
	static const struct channel_ops ops = { .on_frame = neighbour_frame,
		.on_broken = neighbour_broken };
	struct channel *c;
	int fds[2];

	HOLDS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	c = channel_new(base, fds[0], self, peer, &ops, NULL);
	HOLDS(c != NULL);
	*far = fds[1];
	return c;
}

#endif
