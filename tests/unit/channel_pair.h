/* SPDX-License-Identifier: MIT */
/*
 * Two connected channels in one process: the end of the code under test, and
 * the end of the test, which stands for the other process.
 */
#ifndef TESTS_UNIT_CHANNEL_PAIR_H
#define TESTS_UNIT_CHANNEL_PAIR_H

#include <sys/socket.h>

#include "common/ipc/channel.h"
#include "tests/unit/check.h"

struct channel_pair {
	struct channel *ours;	/* of the process under test */
	struct channel *theirs; /* of the process that the test stands for */
};

static inline void
channel_pair_open(struct channel_pair *p, struct event_base *base, enum role us,
    enum role them, const struct channel_ops *ops)
{
	int fds[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	p->ours = channel_new(base, fds[0], us, them, ops, NULL);
	p->theirs = channel_new(base, fds[1], them, us, ops, NULL);
}

static inline void
channel_pair_close(struct channel_pair *p)
{
	channel_free(p->ours);
	channel_free(p->theirs);
	p->ours = p->theirs = NULL;
}

/* on_broken of a test whose channels never break. */
static inline void
channel_pair_broken(struct channel *c, const char *why, void *arg)
{
	(void)c;
	(void)arg;
	check_that(0, why, __FILE__, __LINE__);
}

#endif
