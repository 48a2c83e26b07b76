/* SPDX-License-Identifier: MIT */
/*
 * Publishes to NATS, core or JetStream.  libnats may block when a broker does
 * not answer, so a thread of its own calls it, behind a bounded queue.  A
 * broken connection is not continued: the name is resolved again and a new
 * connection is made.  Each message is therefore confirmed by the connection
 * that it was published on, or not at all.
 */
#ifndef SUBMITTER_NATS_NATS_H
#define SUBMITTER_NATS_NATS_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/job.h"
#include "common/nats/nats_broker.h"
#include "common/nats/nats_conf.h"
#include "submitter/payload/nats_message.h"
#include "submitter/payload/payload.h"

struct event_base;
struct resolver;
struct nats;

/* Messages without a result; nats_send() refuses more. */
#define NATS_IN_FLIGHT 512

/* The result of a message. */
enum nats_result {
	NATS_SENT,   /* confirmed: flushed, or acknowledged by the stream */
	NATS_UNSURE, /* core: the connection broke before it confirmed */
	/* not confirmed: no connection, or no answer in time; send again later */
	NATS_AWAY,
	NATS_DENIED,	 /* the broker does not permit the subject */
	NATS_REFUSED,	 /* the stream is full, or not that of the cluster */
	NATS_IN_PROCESS, /* the stream has not yet stored it; send again later */
	NATS_NO_STREAM,	 /* no stream has the subject, or it does not answer */
	NATS_TOO_LONG	 /* exceeds the broker's limit without any text */
};

/* Called once for each message.  why is NULL or borrowed for the call. */
typedef void nats_done_fn(uint64_t token, enum nats_result result,
    const char *why, void *arg);
/* The connection was made (up = 1) or ended (up = 0). */
typedef void nats_up_fn(int up, void *arg);

/* A question of the centre; all is borrowed for the call. */
struct nats_ask {
	const char *subject; /* cc.ask.CLUSTER */
	const char *reply;   /* the subject of the answer */
	const char *data;
	size_t len; /* at most ASK_BYTES_MAX */
};
typedef void nats_ask_fn(const struct nats_ask *ask, void *arg);

/* Borrows base and names.  NULL when memory is short. */
struct nats *nats_new(struct event_base *base, struct resolver *names,
    nats_done_fn *done, nats_up_fn *up, void *arg);
/* Drops messages without a result.  For the end of the process only. */
void nats_free(struct nats *n);
/* Takes nc.  Makes a new connection if the configuration was changed. */
void nats_use(struct nats *n, struct nats_conf *nc);
/* 1 when connected. */
int nats_is_up(const struct nats *n);
/*
 * Publishes the start or stop of a run; shortens its texts to the broker's
 * limit.  again: see message_id().  The event loop calls done once with this
 * token.  Returns 0, or -1
 * with errno ENOTCONN (not connected), EAGAIN (NATS_IN_FLIGHT messages),
 * EINVAL or EMSGSIZE (no message is possible, reason in *why) or ENOMEM.
 */
int nats_send(struct nats *n, const struct payload *p,
    const struct payload_how *how, const struct job *job, enum message kind,
    int64_t again, uint64_t token, const char **why);
/*
 * Publishes the whole record of a run to the stream of its cluster; see
 * record_message_make(), which changes job.  The configuration delivers to a
 * stream.  Otherwise as nats_send(), also errno EMSGSIZE.
 */
int nats_send_record(struct nats *n, struct job *job, int64_t again,
    uint64_t token, const char **why);
/* Sets the function for questions of the centre; without it they are dropped. */
void nats_on_ask(struct nats *n, nats_ask_fn *fn, void *arg);
/*
 * Subscribes to the questions again.  The broker says nothing when it gets the
 * permission that a subscription lacked.
 */
void nats_asks_again(struct nats *n);
/*
 * Publishes the answer to a question, without an acknowledgement.  Returns 0, or
 * -1 with errno as nats_send().
 */
int nats_answer(struct nats *n, const char *reply, const void *data,
    size_t len);
/*
 * Publishes the states of a group of nodes; takes the memory of body.  NATS_SENT
 * then says that the broker had the message: no stream acknowledges it.
 * Otherwise as nats_send(), also errno EMSGSIZE.
 */
int nats_send_nodes(struct nats *n, const char *cluster, unsigned group,
    struct writer *body, uint64_t token);
/* Bytes of the longest message that the broker accepts; valid when connected. */
size_t nats_payload_max(const struct nats *n);
/* 0 while the messages without a result use too much memory. */
int nats_has_room(const struct nats *n);

struct nats_status {
	struct nats_broker_status broker;
	unsigned in_flight; /* messages without a result */
	uint64_t sent;
	uint64_t unsure;
	uint64_t away;	     /* not confirmed; sent again later */
	uint64_t refused;    /* by the broker or the stream, or too long */
	uint64_t shortened;  /* sent with shorter texts */
	uint64_t duplicates; /* the stream already had the id */
};
void nats_status(const struct nats *n, struct nats_status *st);

#endif
