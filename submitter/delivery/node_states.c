/* SPDX-License-Identifier: MIT */
/*
 * Node states for cc-backend.  A state describes only the present, so only the
 * last state of each node is kept, in memory, until it is delivered.  One
 * request is under way at a time.  A failure does not change the circuit
 * breaker.
 *
 * With deliver "stream", the states are published: for each node that has
 * changed, all nodes of its group, because the stream keeps the last message of
 * a group.  A cluster has as many groups as are necessary for messages that the
 * broker accepts.
 */
#include "config.h"

#include <search.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/permanent.h"
#include "common/record/node_json.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/nats/nats.h"
#include "submitter/net/http.h"

#define NODES_KEPT 100000 /* more nodes than any cluster has */
/* at the centre of a fan-in: nodes of one cluster, and of all */
#define CENTRE_CLUSTER_NODES 32768
#define CENTRE_NODES	     262144
#define NODES_BATCH	     1000 /* nodes of one request: about 150 KB */
#define CLUSTERS_KEPT	     CONF_CLUSTERS_MAX
#define WORDS_MAX	     32 /* of states; the collector sends one */
/* ms while cc-backend is unreachable; after a failure up to twice as long */
#define RETRY_WAIT   10000
#define UNKNOWN_WAIT 3600000 /* ms: an old cc-backend may be upgraded */
#define GATHER_WAIT  1000    /* ms until the rest of a poll has come */
/* A node that Slurm has not shown for so many refreshes does not exist. */
#define REFRESHES 3

struct queued_node {
	struct queued_node *next;
	uint64_t memory;
	uint32_t cpus;
	uint32_t gpus;
	uint32_t jobs;
	int64_t seen;	 /* spool_now() when it came last */
	int64_t sent;	 /* the same: it was delivered; 0 = never */
	uint8_t cluster; /* index into clusters[] */
	uint16_t group;	 /* node_group() */
	uint8_t due;
	uint8_t on_way; /* in the request under way */
	uint8_t unfit;	/* its last message was too long to be published */
	char states[WORDS_MAX];
	char name[];
};

struct node_states {
	struct submitter *s;
	struct event *timer;
	void *tree;		   /* by cluster and name */
	struct queued_node *first; /* owned, all of them */
	size_t n;
	size_t due;
	char clusters[CLUSTERS_KEPT][CLUSTER_MAX];
	size_t nodes_of[CLUSTERS_KEPT];
	unsigned groups[CLUSTERS_KEPT]; /* in the stream */
	unsigned n_clusters;
	/* cluster of the last request; of the last group that was refused */
	uint8_t last;
	uint8_t turn; /* cluster of the group under way */
	int busy;
	/* this cc-backend has no such request, or the broker permits none */
	int unknown;
	uint64_t sent;
	struct log_limit not_accepted;
	struct log_limit too_long;
};

static void nodes_send(struct node_states *n);

static int
compare(const void *a, const void *b)
{
	const struct queued_node *x = a, *y = b;

	if (x->cluster != y->cluster)
		return x->cluster < y->cluster ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
node_due(struct node_states *n, struct queued_node *node)
{
	if (!node->due)
		n->due++;
	node->due = 1;
}

/* At the centre, no cluster takes the places of the others. */
static int
has_place(const struct node_states *n, uint8_t cluster)
{
	if (!spool_policy(n->s->spool)->from_stream)
		return n->n < NODES_KEPT;
	return n->n < CENTRE_NODES &&
	    n->nodes_of[cluster] < CENTRE_CLUSTER_NODES;
}

static struct queued_node *
node_of(struct node_states *n, uint8_t cluster, const char *name)
{
	_Alignas(
	    struct queued_node) char key[sizeof(struct queued_node) + HOST_MAX];
	struct queued_node *node, **at;
	size_t len = strlen(name) + 1;

	memcpy(key + offsetof(struct queued_node, name), name, len);
	key[offsetof(struct queued_node, cluster)] = (char)cluster;
	at = tfind(key, &n->tree, compare);
	if (at != NULL)
		return *at;
	if (!has_place(n, cluster))
		return NULL;
	node = calloc(1, sizeof(*node) + len);
	if (node == NULL)
		return NULL;
	memcpy(node->name, name, len);
	node->cluster = cluster;
	node->group = (uint16_t)node_group(name);
	if (tsearch(node, &n->tree, compare) == NULL) {
		free(node);
		return NULL;
	}
	node->next = n->first;
	n->first = node;
	n->n++;
	n->nodes_of[cluster]++;
	return node;
}

static void
nodes_forget(struct node_states *n)
{
	struct queued_node *node;

	while ((node = n->first) != NULL) {
		n->first = node->next;
		tdelete(node, &n->tree, compare);
		free(node);
	}
	n->n = n->due = 0;
	memset(n->nodes_of, 0, sizeof(n->nodes_of));
}

/* The states of the request are delivered, or due again. */
static void
batch_end(struct node_states *n, int taken)
{
	struct queued_node *node;

	for (node = n->first; node != NULL; node = node->next) {
		if (!node->on_way)
			continue;
		node->on_way = 0;
		if (taken) {
			n->sent++;
			node->sent = spool_now(n->s->spool);
		} else
			node_due(n, node);
	}
}

static void
on_done(const struct http_answer *a, void *arg)
{
	struct node_states *n = arg;
	struct result v;

	n->busy = 0;
	response_classify(a, &v);
	batch_end(n, v.code == RESULT_DONE);
	if (v.code == RESULT_DONE) {
		n->unknown = 0;
		nodes_send(n);
		return;
	}
	if (a->code == 404 || a->code == 405) {
		if (!n->unknown)
			log_notice("this cc-backend accepts no node states");
		n->unknown = 1;
	} else
		log_limited(&n->not_accepted, log_warnx,
		    "cc-backend did not accept node states: %s; they are sent "
		    "again",
		    v.text);
	timer_after(n->timer,
	    n->unknown ? UNKNOWN_WAIT : timer_jitter(2 * RETRY_WAIT));
}

static void
state_copy(struct node_state *to, const struct queued_node *node)
{
	snprintf(to->host, HOST_MAX, "%s", node->name);
	snprintf(to->states, sizeof(to->states), "%s", node->states);
	to->cpus = node->cpus;
	to->memory = node->memory;
	to->gpus = node->gpus;
	to->jobs = node->jobs;
}

/* The next cluster behind the last one that has due states. */
static uint8_t
next_cluster(const struct node_states *n)
{
	const struct queued_node *node;
	uint8_t best = UINT8_MAX, behind;

	for (node = n->first; node != NULL; node = node->next) {
		behind = (uint8_t)(node->cluster - n->last - 1);
		if (node->due && behind < best)
			best = behind;
	}
	return (uint8_t)(n->last + 1 + best);
}

/*
 * Takes due states of one cluster, NODES_BATCH at most; returns their number.
 */
static size_t
batch_take(struct node_states *n, struct node_state *states, uint8_t *cluster)
{
	struct queued_node *node;
	size_t count = 0;

	*cluster = n->last = next_cluster(n);
	for (node = n->first; node != NULL && count < NODES_BATCH;
	     node = node->next) {
		if (!node->due || node->cluster != *cluster)
			continue;
		state_copy(&states[count], node);
		node->due = 0;
		node->on_way = 1;
		n->due--;
		count++;
	}
	return count;
}

static void
batch_send(struct node_states *n)
{
	struct http_request req = { .what = REQUEST_NODES,
		.method = "POST",
		.path = "nodestate/",
		.done = on_done,
		.arg = n };
	struct node_state *states = calloc(NODES_BATCH, sizeof(*states));
	struct writer body;
	uint8_t cluster = 0;
	size_t count;

	wr_init(&body, PAYLOAD_MAX);
	if (states != NULL) {
		count = batch_take(n, states, &cluster);
		payload_nodes(n->s->payload, n->clusters[cluster], states,
		    count, &body);
		req.body = &body;
		if (wr_end(&body) == 0 && http_send(n->s->http, &req) == 0)
			n->busy = 1;
	}
	if (!n->busy) {
		batch_end(n, 0);
		timer_after(n->timer, RETRY_WAIT);
	}
	wr_clear(&body);
	free(states);
}

/* ms; 0 = states are not refreshed. */
static int64_t
refresh_ms(const struct node_states *n)
{
	return 1000 * conf_int(&n->s->w->conf, CONF_NODE_STATE_REFRESH);
}

/* --- groups in the stream --- */

static unsigned
group_of(const struct node_states *n, const struct queued_node *node)
{
	return node->group % n->groups[node->cluster];
}

/*
 * Writes the group of a node; its due states are under way then.  Returns the
 * number of nodes in the message.
 */
static unsigned
group_take(struct node_states *n, const struct queued_node *of,
    struct writer *w)
{
	int64_t gone = refresh_ms(n) * REFRESHES, now = spool_now(n->s->spool);
	struct node_state state = { .host = "" };
	struct queued_node *node;
	unsigned count = 0;

	node_json_begin(w, n->clusters[of->cluster]);
	for (node = n->first; node != NULL; node = node->next) {
		if (node->cluster != of->cluster ||
		    group_of(n, node) != group_of(n, of))
			continue;
		n->due -= node->due != 0;
		node->on_way |= node->due;
		node->due = node->unfit = 0;
		if (gone > 0 && now - node->seen > gone)
			continue;
		state_copy(&state, node);
		node_json_add(w, &state);
		count++;
	}
	node_json_end(w);
	return count;
}

/* The nodes of the message are due again when their state comes again. */
static void
group_drop(struct node_states *n, const struct queued_node *of, size_t bytes)
{
	struct queued_node *node;

	for (node = n->first; node != NULL; node = node->next) {
		if (!node->on_way)
			continue;
		node->on_way = 0;
		node->unfit = 1;
	}
	log_limited(&n->too_long, log_warnx,
	    "NATS: the states of group %u of the nodes of cluster %s are not "
	    "published: the message has %zu bytes, and the broker accepts %zu; "
	    "raise max_payload of each nats-server",
	    group_of(n, of), n->clusters[of->cluster], bytes,
	    nats_payload_max(n->s->nats));
}

/*
 * The message of a group is too long.  With twice as many groups each message
 * has half of the nodes.  All of them are published again, because no old
 * message has the nodes of a new group.
 */
static void
group_divide(struct node_states *n, const struct queued_node *of, size_t bytes)
{
	struct queued_node *node;

	if (n->groups[of->cluster] == NODE_GROUPS_MAX) {
		group_drop(n, of, bytes);
		return;
	}
	n->groups[of->cluster] *= 2;
	for (node = n->first; node != NULL; node = node->next)
		if (node->cluster == of->cluster) {
			node->on_way = 0;
			node_due(n, node);
		}
}

static int
group_fits(const struct node_states *n, const struct writer *w, unsigned count)
{
	return w->len <= NODE_JSON_BYTES &&
	    w->len <= nats_payload_max(n->s->nats) && count <= NODE_JSON_MAX;
}

/*
 * The first node of the next group; NULL = none is due.  A cluster has its turn
 * until nothing of it is due or its stream refuses a group: the others do not wait
 * for that stream.
 */
static struct queued_node *
group_next(struct node_states *n)
{
	struct queued_node *node;

	if (n->due == 0)
		return NULL;
	n->turn = next_cluster(n);
	for (node = n->first; node != NULL; node = node->next)
		if (node->due && node->cluster == n->turn)
			break;
	return node;
}

/*
 * Publishes the group of the next state that is due.  Returns 1 when nothing was
 * sent and another group may be due.
 */
static int
group_send(struct node_states *n)
{
	struct queued_node *node = group_next(n);
	struct writer w;
	unsigned count;
	int again = 0;

	if (node == NULL)
		return 0;
	wr_init(&w, PAYLOAD_MAX);
	count = group_take(n, node, &w);
	if (!w.err && !group_fits(n, &w, count)) {
		group_divide(n, node, w.len);
		again = 1;
	} else if (!w.err &&
	    nats_send_nodes(n->s->nats, n->clusters[node->cluster],
		group_of(n, node), &w, NODES_TOKEN) == 0)
		n->busy = 1;
	else {
		n->last = n->turn;
		batch_end(n, 0);
		timer_after(n->timer, RETRY_WAIT);
	}
	wr_clear(&w);
	return again;
}

void
node_states_published(struct node_states *n, enum nats_result result,
    const char *why)
{
	n->busy = 0;
	batch_end(n, result == NATS_SENT);
	if (result == NATS_SENT) {
		nodes_send(n);
		return;
	}
	n->last = n->turn;
	if (result == NATS_DENIED || result == NATS_TOO_LONG) {
		log_limited(&n->not_accepted, log_warnx,
		    "NATS: the states of nodes are not published: %s; the next "
		    "try is in an hour",
		    why != NULL ? why : "no reason given");
		n->unknown = 1;
	}
	timer_after(n->timer, n->unknown ? UNKNOWN_WAIT : RETRY_WAIT);
}

static void
nodes_publish(struct node_states *n)
{
	if (role_is_passive(n->s) || n->s->nats == NULL ||
	    !nats_is_up(n->s->nats)) {
		timer_after(n->timer, RETRY_WAIT);
		return;
	}
	while (group_send(n))
		continue;
}

static void
nodes_send(struct node_states *n)
{
	if (n->busy || n->due == 0 || n->unknown)
		return;
	if (spool_policy(n->s->spool)->whole) {
		nodes_publish(n);
		return;
	}
	/* Older versions have no such request; the probe tells the version. */
	if (!breaker_allows(n->s->breaker) ||
	    breaker_version(n->s->breaker) != BACKEND_1_5)
		timer_after(n->timer, RETRY_WAIT);
	else
		batch_send(n);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct node_states *n = arg;

	n->unknown = 0;
	nodes_send(n);
}

/*
 * A stream has all nodes of a group when one has changed.  An unchanged state is
 * delivered again at nodeStateRefresh only.
 */
static int
is_known(const struct node_states *n, const struct queued_node *node,
    const struct node_state *now)
{
	return spool_policy(n->s->spool)->from_stream && node->sent != 0 &&
	    (refresh_ms(n) == 0 || node->seen - node->sent < refresh_ms(n)) &&
	    strcmp(node->states, now->states) == 0 && node->cpus == now->cpus &&
	    node->memory == now->memory && node->gpus == now->gpus &&
	    node->jobs == now->jobs;
}

static void
node_take(struct node_states *n, uint8_t cluster, const struct node_state *now)
{
	struct queued_node *node = node_of(n, cluster, now->host);

	if (node == NULL)
		return;
	node->seen = spool_now(n->s->spool);
	if (is_known(n, node, now))
		return;
	node->memory = now->memory;
	node->cpus = now->cpus;
	node->gpus = now->gpus;
	node->jobs = now->jobs;
	snprintf(node->states, sizeof(node->states), "%.*s", WORDS_MAX - 1,
	    now->states);
	node_due(n, node);
}

/* Forgets all clusters when there are more than the limit. */
static uint8_t
cluster_of(struct node_states *n, const char *name)
{
	unsigned i;

	for (i = 0; i < n->n_clusters; i++)
		if (strcmp(n->clusters[i], name) == 0)
			return (uint8_t)i;
	if (n->n_clusters == CLUSTERS_KEPT) {
		nodes_forget(n);
		i = n->n_clusters = 0;
	}
	n->groups[i] = NODE_GROUPS;
	snprintf(n->clusters[n->n_clusters++], CLUSTER_MAX, "%s", name);
	return (uint8_t)i;
}

void
node_states_frame(struct node_states *n, struct channel *c, struct reader *r)
{
	char name[CLUSTER_MAX];
	struct node_state now;
	uint32_t left;
	uint8_t cluster;

	rd_name(r, name, sizeof(name));
	if (!r->err && !cluster_name_allowed(n->s, name))
		return;
	cluster = r->err ? 0 : cluster_of(n, name);
	for (left = rd_u32(r); left > 0 && !r->err; left--) {
		node_read(r, &now);
		if (!r->err)
			node_take(n, cluster, &now);
	}
	if (rd_end(r) == -1)
		channel_broken(c, "nodes");
	/* A poll of many nodes comes in several messages. */
	if (!spool_policy(n->s->spool)->whole)
		nodes_send(n);
	else if (!n->busy && !n->unknown)
		timer_after(n->timer, GATHER_WAIT);
}

void
node_states_kick(struct node_states *n)
{
	struct queued_node *node;

	n->unknown = 0;
	for (node = n->first; node != NULL; node = node->next)
		node_due(n, node);
	nodes_send(n);
}

static size_t
unfit_count(const struct node_states *n)
{
	const struct queued_node *node;
	size_t count = 0;

	for (node = n->first; node != NULL; node = node->next)
		count += node->unfit;
	return count;
}

void
node_states_summary(const struct node_states *n, struct summary *to)
{
	size_t count = unfit_count(n);

	/* The number of the item: no cluster's stream has it. */
	if (count > 0)
		summary_add(to, PROBLEM_STREAM, UINT8_MAX, 0,
		    "the states of %zu node%s are not published: a message of "
		    "them is longer than max_payload of NATS",
		    count, count == 1 ? "" : "s");
}

void
node_states_status(struct node_states *n, uint64_t request)
{
	char unfit[96] = "";
	size_t count = unfit_count(n);

	if (count > 0)
		snprintf(unfit, sizeof(unfit),
		    ", %zu not published: their messages are above max_payload",
		    count);
	worker_status(n->s->w, request, "node_states",
	    "%zu nodes, %llu delivered, %zu due%s%s", n->n,
	    (unsigned long long)n->sent, n->due, unfit,
	    !n->unknown				 ? "" :
		spool_policy(n->s->spool)->whole ? ", not accepted by NATS" :
						   ", not accepted by this "
						   "cc-backend");
}

struct node_states *
node_states_new(struct submitter *s)
{
	struct node_states *n = permanent_new(sizeof(*n));

	n->s = s;
	n->timer = timer_new(s, on_timer, n);
	return n;
}
