/* SPDX-License-Identifier: MIT */
/* The subscriptions of nats_asks.h. */
#include "config.h"

#include "common/model/conf.h"
#include "submitter/nats/nats_asks.h"

/* messages and bytes that libnats keeps; the broker may send anything */
#define PENDING_MAX	  16
#define PENDING_BYTES_MAX (4 * 1024 * 1024)

natsStatus
nats_asks_begin(struct nats_session *ns, natsConnection *nc,
    const struct nats_conf *conf, natsMsgHandler fn, void *arg)
{
	char cluster[CLUSTER_MAX], subject[STREAM_NAME_MAX];
	natsStatus s = NATS_OK;
	natsSubscription **sub;

	while (s == NATS_OK && ns->n_asks < NATS_ASKS_MAX &&
	    conf_list_item(conf->clusters, ns->n_asks, cluster,
		sizeof(cluster)) == 1 &&
	    stream_name(SUBJECT_OF_ASKS, cluster, subject, sizeof(subject)) ==
		0) {
		sub = &ns->asks[ns->n_asks];
		s = natsConnection_Subscribe(sub, nc, subject, fn, arg);
		if (s == NATS_OK) {
			ns->n_asks++;
			s = natsSubscription_SetPendingLimits(*sub, PENDING_MAX,
			    PENDING_BYTES_MAX);
		}
	}
	return s;
}

void
nats_asks_end(struct nats_session *ns)
{
	while (ns->n_asks > 0)
		natsSubscription_Destroy(ns->asks[--ns->n_asks]);
}
