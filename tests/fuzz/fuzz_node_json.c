/* SPDX-License-Identifier: MIT */
/*
 * States of nodes as JSON, as a cluster publishes them: what is read stays within
 * its bounds, and is the same after it was written and read again.
 */
#include "config.h"

#include "common/record/node_json.h"
#include "common/text/text.h"
#include "tests/fuzz/fuzz.h"

#define ROOM (4 << 20)

static struct writer out;
static unsigned n_read;

static void
on_node(const struct node_state *node, void *arg)
{
	HOLDS(node->host[0] != '\0' && node->states[0] != '\0');
	HOLDS(text_is_clean(node->host, strlen(node->host)));
	HOLDS(text_is_clean(node->states, strlen(node->states)));
	HOLDS(node_group(node->host) < NODE_GROUPS_MAX);
	HOLDS(++n_read <= NODE_JSON_MAX);
	node_json_add(arg, node);
}

static void
on_same(const struct node_state *node, void *arg)
{
	n_read--;
	on_node(node, arg);
	n_read--;
}

static void
again_holds(const char *cluster)
{
	char name[CLUSTER_MAX], why[RECORD_WHY_MAX];
	struct writer two;

	wr_init(&two, ROOM);
	node_json_begin(&two, cluster);
	HOLDS(node_json_read((char *)out.buf, out.len, name, on_same, &two, why,
		  sizeof(why)) == RECORD_JSON_OK);
	node_json_end(&two);
	HOLDS(n_read == 0 && strcmp(name, cluster) == 0);
	HOLDS(two.len == out.len && memcmp(two.buf, out.buf, two.len) == 0);
	wr_clear(&two);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char cluster[CLUSTER_MAX], why[RECORD_WHY_MAX] = "";
	struct writer nodes;
	char *text = exact(bytes, n);

	fuzz_quiet();
	n_read = 0;
	wr_init(&nodes, ROOM);
	wr_init(&out, ROOM);
	if (node_json_read(text, n, cluster, on_node, &nodes, why,
		sizeof(why)) == RECORD_JSON_OK) {
		HOLDS(*why == '\0');
		node_json_begin(&out, cluster);
		if (nodes.len > 0)
			wr_mem(&out, nodes.buf, nodes.len);
		node_json_end(&out);
		if (wr_end(&out) == 0)
			again_holds(cluster);
	} else
		HOLDS(*why != '\0' && text_is_clean(why, strlen(why)));
	wr_clear(&nodes);
	wr_clear(&out);
	free(text);
	return 0;
}
