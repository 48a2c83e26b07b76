/* SPDX-License-Identifier: MIT */
/*
 * The choice of the broker, for the event loop: which broker of natsServer is
 * tried next and when, the resolution of its name, the state of the connection
 * as a text.  The caller makes the connection in a thread of its own, because
 * each call of libnats may block.  A broken connection is not continued: the
 * name is resolved again and a new connection is made.
 */
#ifndef COMMON_NATS_NATS_BROKER_H
#define COMMON_NATS_NATS_BROKER_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/destination.h"
#include "common/nats/nats_conf.h"
#include "common/net/resolver.h"

struct event_base;
struct nats_broker;

/* The broker to connect to. */
struct nats_target {
	unsigned generation;	/* of the configuration */
	struct nats_conf *conf; /* a reference */
	struct destination server;
	struct resolver_answer addresses;
};

/* NULL is fine. */
void nats_target_free(struct nats_target *t);

/* Why a connection ended; decides how soon the next attempt is made. */
enum nats_trouble {
	TROUBLE_NONE,
	TROUBLE_AWAY,	/* refused, broken or no answer */
	TROUBLE_DENIED, /* login or subject not permitted */
	TROUBLE_STREAM	/* no stream accepts the subject, or JetStream is off */
};

/* Functions of the caller; all are required. */
struct nats_broker_ops {
	/* Makes a connection.  Takes t.  0, or -1 when no thread can start. */
	int (*connect)(struct nats_target *t, void *arg);
	/* Ends the connection: the configuration was changed. */
	void (*disconnect)(void *arg);
	/* The connection was made (up = 1) or ended (up = 0). */
	void (*up)(int up, void *arg);
};

/* Borrows base, names and ops.  NULL when memory is short. */
struct nats_broker *nats_broker_new(struct event_base *base,
    struct resolver *names, const struct nats_broker_ops *ops, void *arg);
void nats_broker_free(struct nats_broker *b);
/*
 * Takes nc.  Makes a new connection if the configuration was changed.
 */
void nats_broker_use(struct nats_broker *b, struct nats_conf *nc);
/* The configuration in use, borrowed; NULL before nats_broker_use(). */
const struct nats_conf *nats_broker_conf(const struct nats_broker *b);
/* 1 when connected. */
int nats_broker_is_up(const struct nats_broker *b);
/*
 * The thread reports the state of the connection to a target of this
 * generation: connected to where, or ended with a reason.  An old generation
 * has no effect.
 */
void nats_broker_connected(struct nats_broker *b, unsigned generation,
    const char *where);
void nats_broker_failed(struct nats_broker *b, unsigned generation,
    enum nats_trouble trouble, const char *why);
/* The connection has done its work: the next wait is the first one again. */
void nats_broker_worked(struct nats_broker *b);

struct nats_broker_status {
	char clear[128]; /* gets a password without TLS; "" = none */
	char text[256];	 /* "off", "connected to X", ... */
	/* epoch: no connection since; 0 = connected, off, or connecting */
	int64_t away_since;
	char why[200]; /* there is no connection */
};
void nats_broker_status(const struct nats_broker *b,
    struct nats_broker_status *st);

#endif
