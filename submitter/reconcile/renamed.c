/* SPDX-License-Identifier: MIT */
/*
 * Clusters of the spool whose name another cluster has in cc-backend now.  When
 * a cluster is renamed in Slurm and clusterNames keeps its name in cc-backend,
 * the spool has both names.
 */
#include "config.h"

#include <string.h>

#include "submitter/base/context.h"
#include "submitter/payload/payload.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/spool.h"

int
cluster_is_renamed(const struct submitter *s, const char *cluster)
{
	struct run_key name;
	int64_t cursor;
	unsigned i;

	if (strcmp(payload_cluster(s->payload, cluster), cluster) != 0)
		return 0;
	for (i = 0; spool_cluster(s->spool, i, &name, &cursor); i++)
		if (strcmp(name.cluster, cluster) != 0 &&
		    strcmp(payload_cluster(s->payload, name.cluster),
			cluster) == 0)
			return 1;
	return 0;
}
