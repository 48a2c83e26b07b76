/* SPDX-License-Identifier: MIT */
/* Names of clusters; see cluster.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/base/cluster.h"

const char *
cluster_suffix(const struct cluster *c)
{
	return c->suffix;
}

const char *
cluster_run_text(const struct cluster *c, uint64_t job, int64_t start)
{
	struct run_key key = { .job = job, .start = start };

	snprintf(key.cluster, sizeof(key.cluster), "%s", c->slurm.cluster);
	return run_key_text(&key);
}

static int
is_called(const struct cluster *c, const char *cluster)
{
	return strcmp(c->name, cluster) == 0 ||
	    (c->slurm.known && strcmp(c->slurm.cluster, cluster) == 0);
}

struct cluster *
site_find(struct site *site, const char *cluster)
{
	struct cluster *c;
	unsigned i;

	for (i = 0; i < site->n; i++) {
		c = site->clusters[i];
		if (*cluster == '\0' ? !c->by_name : is_called(c, cluster))
			return c;
	}
	c = site->clusters[0];
	return *cluster == '\0' || (c->name[0] == '\0' && !c->slurm.known) ?
	    c :
	    NULL;
}

void
site_local(struct site *site, const char *cluster)
{
	struct cluster *c;
	unsigned i;

	snprintf(site->local, sizeof(site->local), "%s", cluster);
	for (i = 0; i < site->n; i++) {
		c = site->clusters[i];
		c->by_name = c->name[0] != '\0' &&
		    strcmp(c->name, cluster) != 0;
	}
}
