/* SPDX-License-Identifier: MIT */
/*
 * States of nodes as one JSON object: what the submitter of a cluster publishes
 * and what the receiver at the centre reads.  The nodes of a cluster are divided
 * into groups by their names; a message has the states of one group, and the
 * stream keeps the last message of each.  The format is in
 * cc-slurm-adapter-protocol(7).
 */
#ifndef COMMON_RECORD_NODE_JSON_H
#define COMMON_RECORD_NODE_JSON_H

#include <stddef.h>

#include "common/codec.h"
#include "common/model/job.h"
#include "common/record/record_json.h"

/* Groups of a cluster, cc.nodes.CLUSTER.0 to .63 while each message fits. */
#define NODE_GROUPS 64
/*
 * The number of groups is doubled until each message fits, at most to this
 * number: 100,000 nodes with names of 255 bytes then need about 16 KB each.
 */
#define NODE_GROUPS_MAX 4096
/* Nodes of one message; a cluster with 100,000 nodes has 1,600 in a group. */
#define NODE_JSON_MAX 4096
/* Bytes of a message: 1,600 nodes need 150 KB. */
#define NODE_JSON_BYTES (512 * 1024)

/*
 * The group of a node, below NODE_GROUPS_MAX; depends on the name only.  With
 * fewer groups, a power of two, the group is the remainder of the division by
 * their number: each group is then divided into two by doubling the number.
 */
unsigned node_group(const char *name);

/*
 * Appends the object: begin, each node, end; wr_end() tells whether it fits.  A
 * node whose name or state the reader refuses is left out.
 */
void node_json_begin(struct writer *w, const char *cluster);
void node_json_add(struct writer *w, const struct node_state *node);
void node_json_end(struct writer *w);

typedef void node_json_fn(const struct node_state *node, void *arg);

/*
 * Reads one object of len bytes and calls fn for each node.  Nothing that was
 * passed is valid unless the result is RECORD_JSON_OK; cluster gets the name.
 * Otherwise why gets the reason, which quotes no text of the message.
 */
enum record_json node_json_read(const char *text, size_t len,
    char cluster[CLUSTER_MAX], node_json_fn *fn, void *arg, char *why,
    size_t size);

#endif
