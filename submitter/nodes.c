/* SPDX-License-Identifier: MIT */
/*
 * Node states on their way to cc-backend.  They are no history: what cannot
 * go out at once is dropped, for the collector's slow refresh brings it again.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "submitter/submitter.h"

#define NODES_BATCH	1000	/* nodes of one request: some 200 KB */
#define NODES_BUSY	4	/* requests under way; more are dropped */

struct nodes {
	struct submitter *s;
	unsigned	 busy;
	int		 unknown;	/* this cc-backend has no such door */
	uint64_t	 sent;
	uint64_t	 dropped;
	struct log_limit said;
};

static void
on_done(const struct answer *a, void *arg)
{
	struct nodes *n = arg;
	struct verdict v;
	unsigned held;

	n->busy--;
	outcome_judge(a, &v);
	if (v.outcome == OUT_DONE)
		return;
	if (a->code == 404 || a->code == 405) {
		if (!n->unknown)
			log_notice("this cc-backend takes no node states");
		n->unknown = 1;
	} else if (log_allowed(&n->said, &held))
		log_warnx("node states were not taken: %s (%u more such since "
		    "the last line)", v.text, held);
	relay_told(n->s->relay, &v);
}

static void
batch_send(struct nodes *n, const char *cluster,
    const struct node_state *states, size_t count)
{
	struct rest_request req = { .what = WHAT_NODES, .method = "POST",
		.path = "nodestate/", .done = on_done, .arg = n };
	struct writer body;

	if (count == 0)
		return;
	if (n->busy >= NODES_BUSY || n->unknown || !relay_open(n->s->relay)) {
		n->dropped += count;
		return;
	}
	wr_init(&body, PAYLOAD_MAX);
	payload_nodes(n->s->payload, cluster, states, count, &body);
	req.body = &body;
	if (wr_end(&body) == 0 && rest_send(n->s->rest, &req) == 0) {
		n->busy++;
		n->sent += count;
	}
	wr_clear(&body);
}

void
nodes_frame(struct nodes *n, struct channel *c, struct reader *r)
{
	struct node_state *states = calloc(NODES_BATCH, sizeof(*states));
	char cluster[CLUSTER_MAX];
	size_t have = 0;
	uint32_t left;

	if (states == NULL)
		return;
	rd_name(r, cluster, sizeof(cluster));
	for (left = rd_u32(r); left > 0 && !r->err; left--) {
		node_read(r, &states[have]);
		if (r->err)
			break;
		if (++have == NODES_BATCH) {
			batch_send(n, cluster, states, have);
			have = 0;
		}
	}
	if (rd_end(r) == -1)
		channel_broken(c, "nodes");
	else
		batch_send(n, cluster, states, have);
	free(states);
}

void
nodes_kick(struct nodes *n)
{
	n->unknown = 0;
}

struct nodes *
nodes_new(struct submitter *s)
{
	struct nodes *n = calloc(1, sizeof(*n));

	if (n != NULL)
		n->s = s;
	return n;
}

void
nodes_free(struct nodes *n)
{
	free(n);
}
