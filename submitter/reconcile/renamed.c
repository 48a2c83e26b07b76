/* SPDX-License-Identifier: MIT */
/*
 * Clusters of the spool whose name another cluster has in cc-backend now.  When
 * a cluster is renamed in Slurm and clusterNames keeps its name in cc-backend,
 * the spool has both names; the key clusters does not name the old one any more,
 * or the accounting of the new one is read further.  At the centre of a fan-in
 * no accounting is read: the key clusters tells alone.  An entry that stays
 * after the name was changed back has no effect.
 */
#include "config.h"

#include <string.h>

#include "submitter/base/cluster_names.h"
#include "submitter/base/context.h"
#include "submitter/payload/payload.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/spool.h"

/* The time up to which the accounting of a cluster has been read; 0 = none. */
static int64_t
cursor_of(struct spool *sp, const char *cluster)
{
	struct run_key name;
	int64_t cursor;
	unsigned i;

	for (i = 0; spool_cluster(sp, i, &name, &cursor); i++)
		if (strcmp(name.cluster, cluster) == 0)
			return cursor > 0 ? cursor : 0;
	return 0;
}

int
cluster_is_renamed(const struct submitter *s, const char *cluster)
{
	struct run_key name;
	int64_t cursor, own;
	unsigned i;

	if (strcmp(payload_cluster(s->payload, cluster), cluster) != 0)
		return 0;
	own = cursor_of(s->spool, cluster);
	for (i = 0; spool_cluster(s->spool, i, &name, &cursor); i++)
		if (strcmp(name.cluster, cluster) != 0 &&
		    (cursor > own || cluster_name_excluded(s, cluster)) &&
		    !cluster_name_excluded(s, name.cluster) &&
		    strcmp(payload_cluster(s->payload, name.cluster),
			cluster) == 0)
			return 1;
	return 0;
}
