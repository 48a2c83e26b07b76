/* SPDX-License-Identifier: MIT */
/*
 * Connects to one broker.  The calls block for seconds, so only the thread that
 * owns the connection makes them.
 */
#ifndef COMMON_NATS_NATS_DIAL_H
#define COMMON_NATS_NATS_DIAL_H

#include <stddef.h>

#include "common/nats/nats_broker.h"
#include "common/nats/nats_options.h"

/*
 * The last error of the connection, else of this thread in libnats, else the
 * text of s.  nc may be NULL.
 */
void nats_error_text(natsConnection *nc, natsStatus s, char *buf, size_t size);

/*
 * Tries the addresses of t until one accepts; with TLS, too, when the broker
 * requires it.  closed is called by a thread of libnats when a connection has
 * ended, also after it was destroyed; so is error (NULL = libnats') for each error
 * that the broker reports on a connection that continues; inbox is the prefix of the subjects of
 * answers (NULL = libnats').  Returns NATS_OK with *nc owned and the place
 * ("host:port (address)") in where; else the first error that is not "no server
 * available", *nc NULL, and its text with host and port in where.
 */
natsStatus nats_dial(struct nats_target *t, natsConnectionHandler closed,
    natsErrHandler error, void *arg, const char *inbox, natsConnection **nc,
    char *where, size_t size);
/* Why the connection could not be made. */
enum nats_trouble nats_trouble_of(natsStatus s);

#endif
