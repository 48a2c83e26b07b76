/* SPDX-License-Identifier: MIT */
/* The cluster that a request of the admin tool names. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/collector.h"

static const char *
name_of(const struct cluster *c)
{
	return c->slurm.cluster[0] != '\0' ? c->slurm.cluster : c->name;
}

int
ctl_cluster_missing(struct site *site, const char *name, char *buf, size_t size)
{
	size_t len;
	unsigned i;

	if (*name == '\0')
		return 0;
	for (i = 0; i < site->n; i++)
		if (strcmp(site->clusters[i]->slurm.cluster, name) == 0)
			return 0;
	/* Before Slurm's first answer, the name of the cluster is not known. */
	if (site_find(site, name) != NULL) {
		snprintf(buf, size,
		    "cluster %.*s is not known yet: Slurm has not been queried "
		    "yet",
		    CLUSTER_MAX - 1, name);
		return 1;
	}
	len = (size_t)snprintf(buf, size,
	    "another cluster: this daemon does not read cluster %.*s; it reads",
	    CLUSTER_MAX - 1, name);
	for (i = 0; i < site->n && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s %s",
		    i > 0 ? "," : "", name_of(site->clusters[i]));
	return 1;
}
