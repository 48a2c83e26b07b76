/* SPDX-License-Identifier: MIT */
/*
 * See node_json.h.  The sender may be controlled by an attacker: each member is
 * checked, and unknown members are ignored.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/json_write.h"
#include "common/record/node_json.h"
#include "common/text/json_scan.h"
#include "common/text/text.h"

/* brackets around the values of each level */
#define IN_MESSAGE 1
#define IN_LIST	   2
#define IN_NODE	   3

#define STATE_MAX 32 /* bytes of the words with the NUL; "allocated" */
#define DEPTH_MAX 8

unsigned
node_group(const char *name)
{
	return (unsigned)(hash_bytes(HASH_START, name, strlen(name)) %
	    NODE_GROUPS_MAX);
}

void
node_json_begin(struct writer *w, const char *cluster)
{
	WR_TEXT(w, "{\"schema\":");
	wr_json_unsigned(w, RECORD_SCHEMA);
	WR_TEXT(w, ",\"cluster\":");
	wr_json_string(w, cluster);
	WR_TEXT(w, ",\"nodes\":[");
}

static void
number_write(struct writer *w, const char *name, uint64_t v)
{
	if (v == 0)
		return;
	WR_TEXT(w, ",\"");
	wr_mem(w, name, strlen(name));
	WR_TEXT(w, "\":");
	wr_json_unsigned(w, v);
}

static int
text_fits(const char *s, size_t size)
{
	size_t n = strlen(s);

	return n > 0 && n < size && text_is_clean(s, n);
}

void
node_json_add(struct writer *w, const struct node_state *node)
{
	if (!text_fits(node->host, HOST_MAX) ||
	    !text_fits(node->states, STATE_MAX))
		return;
	if (w->len != 0 && w->buf[w->len - 1] == '}')
		wr_u8(w, ',');
	WR_TEXT(w, "{\"name\":");
	wr_json_string(w, node->host);
	WR_TEXT(w, ",\"state\":");
	wr_json_string(w, node->states);
	number_write(w, "cpusAllocated", node->cpus);
	number_write(w, "memoryAllocated", node->memory);
	number_write(w, "gpusAllocated", node->gpus);
	number_write(w, "jobsRunning", node->jobs);
	wr_u8(w, '}');
}

void
node_json_end(struct writer *w)
{
	WR_TEXT(w, "]}");
}

enum member {
	M_SCHEMA,
	M_CLUSTER,
	M_NODES,
	M_NAME,
	M_STATE,
	M_CPUS,
	M_MEMORY,
	M_GPUS,
	M_JOBS,
	M_UNKNOWN
};

static const struct {
	unsigned depth;
	const char *name;
} members[M_UNKNOWN] = {
	[M_SCHEMA] = { IN_MESSAGE, "schema" },
	[M_CLUSTER] = { IN_MESSAGE, "cluster" },
	[M_NODES] = { IN_MESSAGE, "nodes" },
	[M_NAME] = { IN_NODE, "name" },
	[M_STATE] = { IN_NODE, "state" },
	[M_CPUS] = { IN_NODE, "cpusAllocated" },
	[M_MEMORY] = { IN_NODE, "memoryAllocated" },
	[M_GPUS] = { IN_NODE, "gpusAllocated" },
	[M_JOBS] = { IN_NODE, "jobsRunning" },
};

struct input {
	enum member member; /* of the value that comes */
	int in_nodes;	    /* in the list */
	uint64_t schema;
	char *cluster;
	struct node_state node;
	unsigned n;	 /* nodes */
	const char *why; /* the first error; the schema may still follow */
	node_json_fn *fn;
	void *arg;
};

static void
refuse(struct input *in, const char *why)
{
	if (in->why == NULL)
		in->why = why;
}

static uint64_t
number_read(struct input *in, const char *s, uint64_t max)
{
	char *end;
	unsigned long long v = strtoull(s, &end, 10);

	if (*s < '0' || *s > '9' || *end != '\0' || strlen(s) > 19 || v > max) {
		refuse(in, "a number is no whole number, or too large");
		return 0;
	}
	return v;
}

static void
text_read(struct input *in, const struct json_scan *s, char *to, size_t size)
{
	if (s->cut || s->len == 0 || s->len >= size ||
	    !text_is_clean(s->text, s->len))
		refuse(in, "a text is empty, too long or not clean");
	else
		memcpy(to, s->text, s->len + 1);
}

static void
string_value(struct input *in, const struct json_scan *s)
{
	if (in->member == M_CLUSTER)
		text_read(in, s, in->cluster, CLUSTER_MAX);
	else if (in->member == M_NAME)
		text_read(in, s, in->node.host, HOST_MAX);
	else if (in->member == M_STATE)
		text_read(in, s, in->node.states, STATE_MAX);
	else if (in->member != M_UNKNOWN)
		refuse(in, "a member has another type");
}

static void
scalar_value(struct input *in, const struct json_scan *s)
{
	if (in->member == M_SCHEMA)
		in->schema = number_read(in, s->text, INT64_MAX);
	else if (in->member == M_CPUS)
		in->node.cpus = (uint32_t)number_read(in, s->text, UINT32_MAX);
	else if (in->member == M_MEMORY)
		in->node.memory = number_read(in, s->text, INT64_MAX);
	else if (in->member == M_GPUS)
		in->node.gpus = (uint32_t)number_read(in, s->text, UINT32_MAX);
	else if (in->member == M_JOBS)
		in->node.jobs = (uint32_t)number_read(in, s->text, UINT32_MAX);
	else if (in->member != M_UNKNOWN)
		refuse(in, "a member has another type");
}

static void
name_value(struct input *in, const struct json_scan *s)
{
	int m;

	in->member = M_UNKNOWN;
	for (m = 0; m < M_UNKNOWN; m++)
		if (members[m].depth == s->depth &&
		    (s->depth == IN_MESSAGE || in->in_nodes) &&
		    strcmp(members[m].name, s->text) == 0)
			in->member = (enum member)m;
}

static void
node_end(struct input *in)
{
	if (in->node.host[0] == '\0' || in->node.states[0] == '\0')
		refuse(in, "a node has no name or no state");
	else if (in->n++ == NODE_JSON_MAX)
		refuse(in, "too many nodes");
	else if (in->why == NULL)
		in->fn(&in->node, in->arg);
}

static const char *
on_event(struct json_scan *s, enum json_event ev, void *arg)
{
	struct input *in = arg;

	switch (ev) {
	case JSON_EV_NAME:
		name_value(in, s);
		return NULL;
	case JSON_EV_ARRAY:
		if (s->depth == IN_MESSAGE)
			in->in_nodes = in->member == M_NODES;
		else if (in->member != M_UNKNOWN)
			refuse(in, "a member has another type");
		break;
	case JSON_EV_OBJECT:
		if (s->depth == IN_LIST && in->in_nodes)
			memset(&in->node, 0, sizeof(in->node));
		else if (s->depth > 0 && in->member != M_UNKNOWN)
			refuse(in, "a member has another type");
		break;
	case JSON_EV_OBJECT_END:
		if (s->depth == IN_LIST && in->in_nodes)
			node_end(in);
		break;
	case JSON_EV_ARRAY_END:
		if (s->depth == IN_MESSAGE)
			in->in_nodes = 0;
		break;
	case JSON_EV_STRING:
		string_value(in, s);
		break;
	case JSON_EV_SCALAR:
		scalar_value(in, s);
		break;
	}
	in->member = M_UNKNOWN;
	return NULL;
}

enum record_json
node_json_read(const char *text, size_t len, char cluster[CLUSTER_MAX],
    node_json_fn *fn, void *arg, char *why, size_t size)
{
	struct input in = { .member = M_UNKNOWN,
		.cluster = cluster,
		.fn = fn,
		.arg = arg };
	char value[HOST_MAX];
	struct json_scan s;
	const char *error;

	*cluster = '\0';
	json_scan_init(&s, '{', value, sizeof(value), on_event, &in);
	json_scan_set_depth(&s, DEPTH_MAX);
	error = json_scan_feed(&s, text, len);
	if (error == NULL)
		error = json_scan_end(&s);
	if (error == NULL && in.schema > RECORD_SCHEMA) {
		snprintf(why, size, "its schema is %llu",
		    (unsigned long long)in.schema);
		return RECORD_JSON_NEWER;
	}
	if (error == NULL && (in.schema == 0 || *cluster == '\0'))
		refuse(&in, "schema or cluster is missing");
	if (error == NULL)
		error = in.why;
	if (error == NULL)
		return RECORD_JSON_OK;
	snprintf(why, size, "%s", error);
	return RECORD_JSON_INVALID;
}
