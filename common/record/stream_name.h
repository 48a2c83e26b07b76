/* SPDX-License-Identifier: MIT */
/*
 * The names of a cluster's stream and subjects on NATS.  A byte of the cluster's
 * name that is no letter, digit, "_" or "-" becomes "=XX" in hexadecimal: a
 * subject's other bytes have a meaning, and two clusters never get one name.
 */
#ifndef COMMON_RECORD_STREAM_NAME_H
#define COMMON_RECORD_STREAM_NAME_H

#include <stddef.h>

#include "common/model/job.h"

#define STREAM_OF_RECORDS  "CC_RECORD_"
#define SUBJECT_OF_RECORDS "cc.record."
#define SUBJECT_OF_ASKS	   "cc.ask."
/* states of nodes; a group follows the subject: cc.nodes.CLUSTER.GROUP */
#define STREAM_OF_NODES	 "CC_NODES_"
#define SUBJECT_OF_NODES "cc.nodes."
/* bytes with the NUL that are enough for each name */
#define STREAM_NAME_MAX (3 * CLUSTER_MAX + 16)

/*
 * Writes the prefix and the cluster's name.  Returns 0, or -1 when the name is
 * empty or size is too small.
 */
int stream_name(const char *prefix, const char *cluster, char *buf,
    size_t size);

#endif
