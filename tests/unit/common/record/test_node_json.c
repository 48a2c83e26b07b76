/* SPDX-License-Identifier: MIT */
/* States of nodes as JSON: there and back, each bound, what is refused. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/record/node_json.h"
#include "tests/unit/check.h"

#define ROOM (16 << 20)

static struct node_state got;
static unsigned n_got;
static char cluster[CLUSTER_MAX], why[RECORD_WHY_MAX];

static void
on_node(const struct node_state *node, void *arg)
{
	got = *node;
	n_got++;
}

static enum record_json
read_text(const char *text)
{
	n_got = 0;
	why[0] = '\0';
	return node_json_read(text, strlen(text), cluster, on_node, NULL, why,
	    sizeof(why));
}

static void
test_round(void)
{
	struct node_state one = { "n1", "allocated", 128, 1 << 20, 4, 3 };
	struct node_state idle = { .host = "n\"2", .states = "idle" };
	struct node_state none = { .host = "n3" };
	struct writer w;

	wr_init(&w, ROOM);
	node_json_begin(&w, "al pha");
	node_json_add(&w, &one);
	node_json_add(&w, &none); /* it has no state */
	node_json_add(&w, &idle);
	node_json_end(&w);
	wr_u8(&w, 0);
	CHECK_INT(wr_end(&w), 0);
	CHECK_INT(read_text((char *)w.buf), RECORD_JSON_OK);
	CHECK_STR(cluster, "al pha");
	CHECK_INT(n_got, 2);
	CHECK_STR(got.host, "n\"2");
	CHECK_STR(got.states, "idle");
	CHECK_INT(got.cpus, 0);
	wr_reset(&w);
	node_json_begin(&w, "alpha");
	node_json_add(&w, &one);
	node_json_end(&w);
	wr_u8(&w, 0);
	CHECK_INT(read_text((char *)w.buf), RECORD_JSON_OK);
	CHECK_STR(got.host, "n1");
	CHECK_STR(got.states, "allocated");
	CHECK_INT(got.cpus, 128);
	CHECK_INT(got.memory, 1 << 20);
	CHECK_INT(got.gpus, 4);
	CHECK_INT(got.jobs, 3);
	wr_clear(&w);
}

#define HEAD "{\"schema\":1,\"cluster\":\"a\",\"nodes\":["

static void
test_refused(void)
{
	static const char *const invalid[] = { "", "[]", "{}", HEAD "]",
		"{\"schema\":1,\"nodes\":[]}",
		"{\"schema\":\"1\",\"cluster\":\"a\"}",
		"{\"cluster\":\"a\",\"nodes\":[]}",
		"{\"schema\":1,\"cluster\":\"a\",\"nodes\":{}}",
		HEAD "{\"name\":\"n1\"}]}", HEAD "{\"state\":\"idle\"}]}",
		HEAD "{\"name\":\"n\\u0001\",\"state\":\"idle\"}]}",
		HEAD "{\"name\":7,\"state\":\"idle\"}]}",
		HEAD "{\"name\":\"n1\",\"state\":[\"idle\"]}]}",
		HEAD
		"{\"name\":\"n1\",\"state\":\"idle\",\"jobsRunning\":-1}]}",
		HEAD
		"{\"name\":\"n1\",\"state\":\"idle\",\"cpusAllocated\":4294967296}]}",
		HEAD "{\"name\":\"n1\",\"state\":"
		     "\"idleidleidleidleidleidleidleidle\"}]}" };
	size_t i;

	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		CHECK_INT(read_text(invalid[i]), RECORD_JSON_INVALID);
		CHECK(why[0] != '\0');
	}
	/* A newer schema may change any type; a new member may be ignored. */
	CHECK_INT(read_text("{\"nodes\":7,\"schema\":2}"), RECORD_JSON_NEWER);
	CHECK_INT(read_text("{\"schema\":1,\"x\":[{\"name\":1}],\"cluster\":"
			    "\"a\",\"nodes\":[{\"y\":{\"name\":[]},\"name\":"
			    "\"n1\",\"state\":\"idle\"}]}"),
	    RECORD_JSON_OK);
	CHECK_INT(n_got, 1);
	CHECK_STR(got.host, "n1");
}

/* 20,000 nodes: each group is far below the limits of a message. */
static void
test_many(void)
{
	struct node_state node = { .states = "allocated",
		.cpus = 128,
		.memory = 1 << 20,
		.gpus = 8,
		.jobs = 3 };
	unsigned in[NODE_GROUPS] = { 0 }, i, g, most = 0;
	struct writer w;

	wr_init(&w, NODE_JSON_BYTES);
	node_json_begin(&w, "alpha");
	for (i = 0; i < 20000; i++) {
		snprintf(node.host, sizeof(node.host), "node%05u.example.org",
		    i);
		CHECK(node_group(node.host) < NODE_GROUPS_MAX);
		g = node_group(node.host) % NODE_GROUPS;
		in[g]++;
		if (g == 7)
			node_json_add(&w, &node);
	}
	node_json_end(&w);
	CHECK_INT(wr_end(&w), 0);
	CHECK(w.len < NODE_JSON_BYTES / 8);
	for (g = 0; g < NODE_GROUPS; g++) {
		CHECK(in[g] > 0);
		most = in[g] > most ? in[g] : most;
	}
	CHECK(most < 2 * 20000 / NODE_GROUPS);
	n_got = 0;
	CHECK_INT(node_json_read((char *)w.buf, w.len, cluster, on_node, NULL,
		      why, sizeof(why)),
	    RECORD_JSON_OK);
	CHECK_INT(n_got, in[7]);
	wr_clear(&w);
}

static void
test_too_many(void)
{
	struct node_state node = { .host = "n1", .states = "idle" };
	struct writer w;
	unsigned i;

	wr_init(&w, ROOM);
	node_json_begin(&w, "alpha");
	for (i = 0; i <= NODE_JSON_MAX; i++)
		node_json_add(&w, &node);
	node_json_end(&w);
	wr_u8(&w, 0);
	CHECK_INT(read_text((char *)w.buf), RECORD_JSON_INVALID);
	CHECK_STR(why, "too many nodes");
	wr_clear(&w);
}

int
main(void)
{
	test_round();
	test_refused();
	test_many();
	test_too_many();
	return check_done();
}
