/* SPDX-License-Identifier: MIT */
/*
 * Publishing to NATS, core or JetStream.  libnats may block (a stopped
 * broker), so it lives on a thread of its own behind a bounded queue; the
 * event loop hands messages in and gets results back.  A connection has one
 * life: when it breaks, it is made anew with the name asked anew, so that a
 * message is confirmed by the very connection that took it, or not at all.
 */
#ifndef SUBMITTER_NATS_NATS_H
#define SUBMITTER_NATS_NATS_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/job.h"
#include "submitter/payload/nats_message.h"
#include "submitter/payload/payload.h"

struct event_base;
struct resolver;
struct nats;
struct nats_conf;

/* Messages handed in and not yet answered; nats_send() refuses more. */
#define NATS_IN_FLIGHT	512

/* What became of a message. */
enum nats_result {
	NATS_SENT,	/* confirmed: flushed, or acknowledged by the stream */
	NATS_UNSURE,	/* core: given to a connection that broke before it confirmed */
	NATS_AWAY,	/* not taken: no connection, no stream, no answer; again later */
	NATS_DENIED,	/* the broker does not permit the subject: again much later */
	NATS_TOO_LONG	/* over the broker's limit even without any text */
};

/* A message's end; why is NULL or borrowed for the call. */
typedef void nats_done_fn(uint64_t token, enum nats_result result,
    const char *why, void *arg);
/* The connection came (up = 1) or went. */
typedef void nats_up_fn(int up, void *arg);

/* Before the sandbox closes: TLS, the system's certificates, the host's name. */
void nats_prepare(void);

/*
 * Servers, way to log in, certificates, built aside; secrets are copied.
 * NULL with a reason.  Without natsServer it is a conf that reaches nobody.
 */
struct nats_conf *nats_conf_new(const struct conf *conf,
    const uint8_t *secrets, size_t len, char *reason, size_t size);
/* Wipes the secrets; NULL is fine. */
void nats_conf_free(struct nats_conf *nc);

/* names is borrowed.  NULL on memory. */
struct nats *nats_new(struct event_base *base, struct resolver *names,
    nats_done_fn *done, nats_up_fn *up, void *arg);
/* Does not wait for what is under way: for the end of the process only. */
void nats_free(struct nats *n);
/* Takes nc; a new connection only when something of it changed. */
void nats_use(struct nats *n, struct nats_conf *nc);
/* 1 when connected. */
int nats_is_up(const struct nats *n);
/*
 * Publishes the start or stop of a run; texts are shortened to the broker's
 * limit.  done comes later, from the loop, once, with this token.  0, or -1
 * with errno ENOTCONN (away), EAGAIN (enough in flight), EINVAL or EMSGSIZE
 * (no message can be made: *why says it) or ENOMEM.
 */
int nats_send(struct nats *n, const struct payload *p,
    const struct payload_how *how, const struct job *job, enum message kind,
    uint64_t token, const char **why);
struct nats_status {
	char		text[256];	/* "off", "connected to X", "away since ...: why" */
	int		up;
	unsigned	in_flight;	/* handed in and not yet answered */
	uint64_t	sent;
	uint64_t	unsure;
	uint64_t	away;		/* given back unsent */
	uint64_t	refused;	/* subject not permitted, or too long */
	uint64_t	shortened;	/* sent with less text, for the broker's limit */
	uint64_t	duplicates;	/* the stream had it already */
};
void nats_status(const struct nats *n, struct nats_status *st);

#endif
