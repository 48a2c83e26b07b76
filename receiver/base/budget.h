/* SPDX-License-Identifier: MIT */
/*
 * How many messages and bytes may be requested from the broker and not durable
 * in the spool yet.  Each stream has a share of its own, so that no stream
 * waits for another one.  The rest is divided among the streams that have more
 * messages.
 */
#ifndef RECEIVER_BASE_BUDGET_H
#define RECEIVER_BASE_BUDGET_H

#include <stddef.h>

#define BUDGET_MESSAGES 256u
#define BUDGET_BYTES	(32u * 1024 * 1024)
/* bytes of each stream's own share; its other share is one message */
#define BUDGET_OWN_BYTES (64u * 1024)
/* The longest message that is fetched. */
#define BUDGET_LONGEST (16u * 1024 * 1024 - BUDGET_OWN_BYTES)

/* Messages of one stream that were requested, or received and not durable yet. */
struct budget_use {
	unsigned messages;
	size_t bytes;
};

struct budget {
	unsigned streams; /* that have an own share; <= BUDGET_MESSAGES */
	unsigned extra_messages; /* in use beyond the own shares */
	size_t extra_bytes;
};

/* Limits of the next pull request of a stream. */
struct budget_grant {
	unsigned messages; /* 0 = wait until messages are durable */
	size_t bytes;
};

/*
 * busy: streams that are known to have more messages, at least 1.  waiting:
 * messages of this stream at the broker, as far as known.
 */
struct budget_grant budget_grant(const struct budget *b,
    const struct budget_use *use, unsigned busy, unsigned long long waiting);
/* One message of at most this many bytes; grants nothing when it does not fit. */
struct budget_grant budget_grant_long(const struct budget *b,
    const struct budget_use *use, size_t bytes);
void budget_add(struct budget *b, struct budget_use *use, unsigned messages,
    size_t bytes);
/* Gives back at most what the stream uses. */
void budget_sub(struct budget *b, struct budget_use *use, unsigned messages,
    size_t bytes);

#endif
