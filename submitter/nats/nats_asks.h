/* SPDX-License-Identifier: MIT */
/*
 * Questions of the centre on the subjects cc.ask.CLUSTER of this host's
 * clusters.  A login without the permission to read them publishes nevertheless.
 */
#ifndef SUBMITTER_NATS_NATS_ASKS_H
#define SUBMITTER_NATS_NATS_ASKS_H

#include "submitter/nats/nats_publish.h"

/*
 * Subscribes; fn is called in a thread of libnats with arg.  Returns NATS_OK or
 * an error.  A subject that the broker does not permit is no error: the broker
 * says that later.
 */
natsStatus nats_asks_begin(struct nats_session *ns, natsConnection *nc,
    const struct nats_conf *conf, natsMsgHandler fn, void *arg);
void nats_asks_end(struct nats_session *ns);

#endif
