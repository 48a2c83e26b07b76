/* SPDX-License-Identifier: MIT */
/*
 * States of nodes: two queries every nodeStatePollInterval, one about all
 * nodes and, unless no job runs, one about where jobs run.  A change is sent to
 * the submitter; all nodes are sent at nodeStateRefresh and to a new submitter.
 * A node that Slurm does not show any more is sent as down, once: cc-backend
 * shows the last state of a node without a limit of its age.
 */
#include "config.h"

#include <search.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/wake.h"
#include "collector/query/query_lanes.h"
#include "collector/slurm/query.h"
#include "collector/slurm/slurm.h"
#include "collector/track/outbox.h"
#include "common/log.h"
#include "common/permanent.h"

#define NODES_KEPT  100000 /* nodes; no cluster has more */
#define FRAME_NODES 4096   /* of one message */
#define WORD_MAX    16	   /* "allocated" is the longest */

struct values {
	uint64_t memory;
	uint32_t cpus;
	uint32_t gpus;
	char word[WORD_MAX]; /* "" = not known yet */
};

struct tracked_node {
	struct tracked_node *next;
	struct values values; /* to be sent */
	struct values shown;  /* by the answer that is being read */
	uint32_t jobs;	      /* as sent */
	uint32_t jobs_now;    /* while they are counted */
	uint32_t cycle;	      /* of the query that showed it */
	int doubtful;	      /* the answer has it twice, with other values */
	int unsent;
	int gone; /* Slurm does not show it; removed when it was sent */
	char name[];
};

struct node_states {
	struct cluster *c;
	const struct accounting *accounting;
	struct query query;
	void *tree;		    /* by name */
	struct tracked_node *first; /* owned, all of them */
	size_t n;
	uint32_t cycle;
	int valid; /* this answer has a node, or says that there is none */
	enum permission permission; /* at the last answer */
	int busy;
	int again;	   /* a new submitter: send all nodes */
	int64_t polled;	   /* monotonic s; 0 = never */
	int64_t refreshed; /* the same: all were sent */
	uint64_t sent;
};

struct node_states *
node_states_new(struct cluster *c, const struct accounting *accounting)
{
	struct node_states *n = permanent_new(sizeof(*n));

	n->c = c;
	n->accounting = accounting;
	return n;
}

size_t
node_states_count(const struct node_states *n)
{
	return n->n;
}

uint64_t
node_states_sent(const struct node_states *n)
{
	return n->sent;
}

void
node_states_peer(struct node_states *n)
{
	n->again = 1;
}

static int
compare(const void *a, const void *b)
{
	const struct tracked_node *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* A key has the layout of a node; only the name is compared. */
static struct tracked_node *
node_find(struct node_states *n, const char *name, int make)
{
	_Alignas(struct tracked_node) char
	    key[sizeof(struct tracked_node) + HOST_MAX];
	struct tracked_node *node, **at;
	size_t len = strlen(name) + 1;

	memcpy(key + offsetof(struct tracked_node, name), name, len);
	at = tfind(key, &n->tree, compare);
	if (at != NULL)
		return *at;
	if (!make || n->n >= NODES_KEPT)
		return NULL;
	node = calloc(1, sizeof(*node) + len);
	if (node == NULL)
		return NULL;
	memcpy(node->name, name, len);
	if (tsearch(node, &n->tree, compare) == NULL) {
		free(node);
		return NULL;
	}
	node->next = n->first;
	node->unsent = 1;
	n->first = node;
	n->n++;
	return node;
}

static int
is_ignored(const struct node_states *n, const char *name)
{
	const struct settings *set = n->c->set;

	return set->ignore != NULL && pattern_matches(set->ignore, name);
}

static int
is_same(const struct values *a, const struct values *b)
{
	return strcmp(a->word, b->word) == 0 && a->cpus == b->cpus &&
	    a->memory == b->memory && a->gpus == b->gpus;
}

/* Sets what is to be sent of the node.  1 when it has changed. */
static int
node_set(struct tracked_node *node, const struct values *now)
{
	int changed = !is_same(&node->values, now);

	node->values = *now;
	node->jobs_now = 0;
	return changed;
}

/* Removes nodes that are gone, and of which nothing is left to be sent. */
static void
node_states_remove(struct node_states *n)
{
	struct tracked_node **at = &n->first, *node;

	while ((node = *at) != NULL) {
		if (!node->gone || node->unsent) {
			at = &node->next;
			continue;
		}
		*at = node->next;
		tdelete(node, &n->tree, compare);
		free(node);
		n->n--;
	}
}

/* Takes the values of the answer, except of nodes that it has twice. */
static void
node_states_take(struct node_states *n)
{
	struct tracked_node *node;

	for (node = n->first; node != NULL; node = node->next) {
		if (node->cycle != n->cycle)
			continue;
		if (node->doubtful) {
			nodes_doubt(n->c, node->name);
			node->jobs_now = 0;
		} else if (node_set(node, &node->shown))
			node->unsent = 1;
	}
}

/*
 * Finds nodes that Slurm does not show any more: a cloud node that is powered
 * down, or a node that was deleted.  Slurm may show a node that is ignored now.
 * A user who has lost the operator permission does not see the nodes of hidden
 * partitions: they are forgotten, too.
 */
static void
node_states_sweep(struct node_states *n)
{
	static const struct values down = { .word = "down" };
	enum permission permission = n->c->permission;
	int doubt = permission == PERMISSION_NONE ||
	    permission != n->permission;
	struct tracked_node *node;

	n->permission = permission;
	for (node = n->first; node != NULL; node = node->next) {
		if (node->cycle == n->cycle)
			continue;
		node->gone = 1;
		if (doubt || is_ignored(n, node->name))
			node->unsent = 0;
		else if (node_set(node, &down) || node->jobs != 0)
			node->unsent = 1;
	}
	node_states_remove(n);
}

/*
 * Slurm prints each node once.  The MCS label of a job that has a node is a text of
 * the user: it can contain a newline and a line that looks like any other node.
 */
static void
node_show(struct node_states *n, struct tracked_node *node,
    const struct node_state *now)
{
	struct values values = { .memory = now->memory,
		.cpus = now->cpus,
		.gpus = now->gpus };

	snprintf(values.word, sizeof(values.word), "%.*s", WORD_MAX - 1,
	    now->states);
	if (node->cycle == n->cycle) {
		node->doubtful |= !is_same(&node->shown, &values);
		return;
	}
	node->shown = values;
	node->doubtful = 0;
	node->gone = 0;
	node->cycle = n->cycle;
}

static int
on_node(struct span line, void *arg)
{
	struct node_states *n = arg;
	struct node_state now;
	struct tracked_node *node;

	if (nodes_none(line))
		n->valid = 1;
	if (node_use(line, &n->c->set->names, &now) == -1)
		return 0;
	n->valid = 1;
	if (now.states[0] == '\0' || is_ignored(n, now.host))
		return 0;
	node = node_find(n, now.host, 1);
	if (node != NULL)
		node_show(n, node, &now);
	return 0;
}

static int
on_job_host(const char *name, void *arg)
{
	struct tracked_node *node = node_find(arg, name, 0);

	if (node != NULL && !node->gone)
		node->jobs_now++;
	return 0;
}

static int
on_job(struct span line, void *arg)
{
	(void)hostlist_each(line, on_job_host, arg);
	return 0;
}

/*
 * Sends up to FRAME_NODES nodes from *at on.  Returns 0 when no node was left.
 */
static int
frame_send(struct node_states *n, struct tracked_node **at)
{
	struct node_state state;
	struct writer body, w;
	struct tracked_node *node = *at, *begin = *at;
	uint32_t count = 0;
	int rc = 0;

	wr_init(&body, MSG_PAYLOAD_MAX / 2);
	wr_init(&w, MSG_PAYLOAD_MAX);
	for (; node != NULL && count < FRAME_NODES; node = node->next) {
		if (!node->unsent || node->values.word[0] == '\0')
			continue;
		memset(&state, 0, sizeof(state));
		snprintf(state.host, sizeof(state.host), "%s", node->name);
		snprintf(state.states, sizeof(state.states), "%s",
		    node->values.word);
		state.cpus = node->values.cpus;
		state.memory = node->values.memory;
		state.gpus = node->values.gpus;
		state.jobs = node->jobs;
		node_write(&body, &state);
		count++;
	}
	wr_str(&w, n->c->slurm.cluster);
	wr_u32(&w, count);
	if (count > 0)
		wr_mem(&w, body.buf, body.len);
	if (count > 0 && wr_end(&body) == 0 &&
	    outbox_nodes(n->c->outbox, &w) == 0) {
		for (; begin != node; begin = begin->next)
			begin->unsent = 0;
		n->sent += count;
		rc = 1;
	}
	wr_clear(&body);
	wr_clear(&w);
	*at = node;
	return rc;
}

static void
node_states_send(struct node_states *n)
{
	int64_t refresh = n->c->set->node_refresh;
	struct tracked_node *node;
	int all = n->again;

	if (refresh > 0 && now_s() - n->refreshed >= refresh)
		all = 1;
	for (node = n->first; node != NULL; node = node->next) {
		if (all || node->jobs != node->jobs_now)
			node->unsent = 1;
		node->jobs = node->jobs_now;
	}
	if (all)
		n->refreshed = now_s();
	n->again = 0;
	/* A node for which the channel has no room is sent the next time. */
	for (node = n->first; node != NULL && frame_send(n, &node);)
		;
	node_states_remove(n);
}

static void
node_states_fail(struct node_states *n, const char *what,
    const struct command_end *end)
{
	query_failed(n->c, &n->c->ctld, what, end);
	n->busy = 0;
	wake(n->c);
}

static void
on_jobs_end(const struct command_end *end, int complete, void *arg)
{
	struct node_states *n = arg;

	if (!complete) {
		node_states_fail(n, "squeue", end);
		return;
	}
	n->busy = 0;
	node_states_send(n);
}

static const struct query_type jobs_query = {
	.kind = QUESTION_BUSY_NODES,
	.on_line = on_job,
	.on_end = on_jobs_end,
};

/* The last poll, not long ago, showed no job, and no run was found since. */
static int
is_empty(const struct cluster *c)
{
	return c->listing.asked_at != 0 && c->listing.jobs == 0 &&
	    c->open.n == 0 &&
	    slurm_now(c) - c->listing.asked_at <= c->set->node_poll;
}

static void
on_nodes_end(const struct command_end *end, int complete, void *arg)
{
	struct node_states *n = arg;

	if (!complete || !n->valid) {
		node_states_fail(n, "scontrol show node", end);
		return;
	}
	health_good(&n->c->ctld);
	node_states_take(n);
	node_states_sweep(n);
	if (is_empty(n->c)) {
		n->busy = 0;
		node_states_send(n);
		return;
	}
	query_begin(&n->query, n->c, &jobs_query, n);
	n->busy = query_start(&n->query) == 0;
}

static const struct query_type nodes_query = {
	.kind = QUESTION_NODES,
	.on_line = on_node,
	.on_end = on_nodes_end,
};

int64_t
node_states_next(const struct node_states *n)
{
	const struct cluster *c = n->c;

	if (n->busy || c->set->node_poll == 0)
		return INT64_MAX;
	return n->polled == 0 || n->again ?
	    now_ms() :
	    (n->polled + c->set->node_poll) * 1000;
}

void
node_states_kick(struct node_states *n)
{
	struct cluster *c = n->c;

	/* The poll has priority: runs are more important than node states. */
	if (n->busy || c->set->node_poll == 0 || c->listing.busy ||
	    health_wait(&c->ctld) > 0)
		return;
	if (n->polled != 0 && !n->again &&
	    now_s() - n->polled < c->set->node_poll)
		return;
	/*
	 * A catch-up has priority over the first query too, for one interval.
	 */
	if (n->polled == 0 && acct_catching_up(n->accounting) &&
	    now_s() - c->began < c->set->node_poll)
		return;
	n->polled = now_s();
	n->cycle++;
	n->valid = 0;
	query_begin(&n->query, c, &nodes_query, n);
	n->busy = query_start(&n->query) == 0;
}
