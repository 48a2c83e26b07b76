/* SPDX-License-Identifier: MIT */
/*
 * The clusters whose data the submitter accepts.  The collector reads the
 * output of Slurm's commands, so what it sends is not trusted.
 */
#ifndef SUBMITTER_BASE_CLUSTER_NAMES_H
#define SUBMITTER_BASE_CLUSTER_NAMES_H

#include "common/log.h"
#include "common/model/conf.h"
#include "common/model/job.h"

struct submitter;

/* Without the key there is one cluster; an admin may rename it. */
#define CLUSTER_NAMES_LEARNED 4

/* Zero-initialise. */
struct cluster_names {
	char names[CONF_CLUSTERS_MAX][CLUSTER_MAX];
	unsigned n;
	int configured; /* the names of the key clusters, else reported ones */
	struct log_limit refused;
};

/* Reads the key clusters of the configuration in force. */
void cluster_names_conf(struct submitter *s);
/*
 * 1 when data of this cluster may be stored and sent, else 0 (logged and
 * counted).  A name that the collector reports is accepted if the key clusters
 * has it or, if the key is empty, if it is one of the first few names.
 */
int cluster_name_allowed(struct submitter *s, const char *name);
/* 1 when the key clusters has this name, or the collector has reported it. */
int cluster_name_known(const struct submitter *s, const char *name);
/* 1 when the key clusters names other clusters only. */
int cluster_name_excluded(const struct submitter *s, const char *name);

#endif
