/* SPDX-License-Identifier: MIT */
/*
 * Publishes a batch of messages on one connection.  Each call may block for
 * seconds, so only the thread of nats_thread.c calls these functions.
 */
#ifndef SUBMITTER_NATS_NATS_PUBLISH_H
#define SUBMITTER_NATS_NATS_PUBLISH_H

#include <sys/queue.h>

#include <stddef.h>
#include <stdint.h>

#include "common/nats/nats_broker.h"
#include "common/nats/nats_options.h"
#include "common/record/stream_name.h"
#include "submitter/nats/nats.h"
#include "submitter/payload/nats_message.h"

/* How the broker confirms a message. */
enum nats_ack_by {
	ACK_BY_STREAM, /* a record */
	ACK_BY_FLUSH,  /* states of nodes: no stream is asked to answer */
	ACK_BY_NOBODY  /* the answer to a question; its owner gets no result */
};

/* One message. */
struct nats_item {
	STAILQ_ENTRY(nats_item) link;
	uint64_t token; /* of nats_send() */
	uint8_t *bytes; /* owned */
	size_t len;
	char id[MESSAGE_ID_MAX];
	char subject[STREAM_NAME_MAX]; /* of a record; else natsSubject */
	size_t limit;		       /* bytes; for which it was made */
	uint64_t serial;	       /* of a record: names its answer */
	enum nats_ack_by ack_by;
	int answered;
	enum nats_result result;
	int duplicate; /* the stream already had the id */
	char why[160]; /* reason of the result; "" = none */
};
STAILQ_HEAD(nats_items, nats_item);

/* Reasons of NATS_TOO_LONG. */
#define TOO_LONG_FOR_BROKER \
	"the message is longer than max_payload of the broker"
#define TOO_LONG_FOR_STREAM \
	"the message is longer than max_msg_size of the stream"

#define NATS_ASKS_MAX 16 /* clusters of one host that publishes */

/* An open connection. */
struct nats_session {
	natsConnection *nc;	/* owned; NULL = not connected */
	jsCtx *js;		/* owned; NULL = core NATS */
	struct nats_conf *conf; /* a reference */
	/* of the stream of JetStream; 0 = unknown */
	int stream_read; /* the stream was asked for */
	int64_t window;	 /* ns of duplicate detection */
	size_t msg_max;	 /* bytes of a message; 0 = also no limit */
	/* records: answers of the streams, and their subject without number */
	natsSubscription *acks; /* owned; NULL = other messages */
	char inbox[STREAM_NAME_MAX + 64];
	uint64_t serial;		       /* of the last record */
	natsSubscription *asks[NATS_ASKS_MAX]; /* owned */
	unsigned n_asks;
};

/* Sets the result and its reason in this item and in all behind it. */
void nats_items_end(struct nats_item *item, enum nats_result result,
    const char *why);
/*
 * Asks JetStream which stream has the subject, how long it detects duplicates
 * and how long a message can be.  window and msg_max keep their values when
 * the login does not permit the question.
 */
void nats_stream_ask(struct nats_session *ns);
/*
 * Publishes the batch and sets the result of each item.  Returns TROUBLE_NONE,
 * or why the caller must close the connection, with the reason in why.
 */
enum nats_trouble nats_publish(struct nats_session *ns,
    struct nats_items *batch, char *why, size_t size);

#endif
