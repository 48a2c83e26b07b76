/* SPDX-License-Identifier: MIT */
/*
 * The simulated NATS server with JetStream, and the connections of processes to
 * it.  Messages of one connection arrive in their order, or are lost.  It has
 * one account, streams with "limits" retention, one pull consumer for each
 * stream.  The API is that of nats-server 2.10 as far as the product uses it.
 */
#ifndef TESTS_SIMULATE_BROKER_H
#define TESTS_SIMULATE_BROKER_H

#include <stddef.h>
#include <stdint.h>

struct broker_client;

/* All members are borrowed for the call. */
struct broker_message {
	const char *subject;
	const char *reply;  /* "" = none */
	const char *answer; /* as in broker_publish(); NULL = no answer */
	unsigned status;    /* of a message without data; 0 = none */
	const char *status_text;
	const char *id; /* header Nats-Msg-Id; "" = none */
	const uint8_t *data;
	size_t len;
};

/* Called in the process of the connection. */
struct broker_ops {
	void (*changed)(int up, void *arg);
	void (*message)(const struct broker_message *m, void *arg);
};

/* Before the processes; chooses the faults of the seed.  none: none at all. */
void broker_begin(int none);
/* No fault from now on. */
void broker_end(void);

/*
 * From a process: makes a connection, and another one when it breaks, until the
 * process ends.  Borrows ops.
 */
struct broker_client *broker_connect(const struct broker_ops *ops, void *arg);
int broker_is_up(const struct broker_client *c);
/*
 * Copies all.  answer: names the answer, NULL = none is asked for; id: "" =
 * none.  0, or -1: not connected.
 */
int broker_publish(struct broker_client *c, const char *subject,
    const char *answer, const char *id, const void *data, size_t len);

/* Messages of the stream: 0 = there is no such stream. */
uint64_t broker_last(const char *stream);
/* How many faults of each kind happened, for the figures of a run. */
struct broker_numbers {
	uint64_t stored, duplicates, delivered, repeated, cuts;
};
const struct broker_numbers *broker_numbers(void);

#endif
