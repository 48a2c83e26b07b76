/* SPDX-License-Identifier: MIT */
/*
 * Publishes records to the streams of their clusters: all messages of a batch,
 * then one wait for their answers, so that the time between the sites counts
 * once.  Each call may block for seconds; see nats_publish.h.
 */
#ifndef SUBMITTER_NATS_NATS_RECORDS_H
#define SUBMITTER_NATS_NATS_RECORDS_H

#include "submitter/nats/nats_publish.h"

/* Subscribes to the answers, below prefix.  Returns NATS_OK or an error. */
natsStatus nats_records_begin(struct nats_session *ns, natsConnection *nc,
    const char *prefix);
/*
 * The reason when the broker does not permit that subscription: equal for each
 * attempt, as the broker's own text is not.
 */
void nats_acks_denied(const struct nats_conf *conf, char *why, size_t size);
/* The last error of the connection is that the broker does not permit it. */
int nats_acks_lost(const struct nats_session *ns);
/* As nats_publish().  A stream that refuses does not end the connection. */
enum nats_trouble nats_records_publish(struct nats_session *ns,
    struct nats_items *batch, char *why, size_t size);

#endif
