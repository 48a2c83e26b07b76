/* SPDX-License-Identifier: MIT */
/* Declarations for broker.c, broker_stream.c and broker_faults.c only. */
#ifndef TESTS_SIMULATE_BROKER_PRIVATE_H
#define TESTS_SIMULATE_BROKER_PRIVATE_H

#include "tests/simulate/broker.h"
#include "tests/simulate/world.h"

/* A connection, or what is left of it. */
struct broker_client {
	struct broker_client *next;
	const struct broker_ops *ops;
	void *arg;
	enum process_id process;
	unsigned incarnation;
	unsigned serial; /* of the connection; a broken one has another */
	int up;
	int64_t sent;	  /* world_ms(): the last message arrives then */
	int64_t received; /* the same, of messages to the process */
};

/* A message to the server, or to a process. */
struct broker_frame {
	struct broker_client *client;
	unsigned serial;
	char subject[512];
	char reply[512];
	char answer[64];
	int has_answer;
	unsigned status;
	const char *status_text;
	char id[256];
	size_t len;
	uint8_t data[];
};

/* --- broker.c --- */

/* A message to the process; data may be NULL.  Takes f. */
void frame_to_client(struct broker_frame *f);
struct broker_frame *frame_new(struct broker_client *c, unsigned serial,
    const char *subject, const char *answer, const void *data, size_t len);
/* 1 when the connection is the same one. */
int frame_is_valid(const struct broker_frame *f);
struct broker_numbers *numbers(void);
/* The n-th connection that is up, NULL = there are fewer. */
struct broker_client *client_up(unsigned n);
/* The connection breaks. */
void client_cut(struct broker_client *c);

/* --- broker_stream.c --- */

/* The server has received the message. */
void server_receive(const struct broker_frame *f);
/* Faults of the stream.  -1: it has none to which this may happen. */
int stream_full_set(int full);
int stream_purge(void);
int stream_delete(void);
int consumer_delete(void);

/* --- broker_faults.c --- */

/* The server is away: no connection is made. */
int broker_is_away(void);
/* 1: the message is lost between two servers. */
int broker_loses(void);
/* ms until a message arrives. */
int64_t broker_latency(void);

#endif
