/* SPDX-License-Identifier: MIT */
/*
 * The clusters that are asked, one collector each, and what they share.  By
 * default there is one, the local one, whose name Slurm tells; the key
 * `clusters` names others that its slurmdbd knows.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/cluster.h"
#include "common/log.h"

static const char *const no_environment[] = { NULL };

static void
names_set(struct cluster *c)
{
	int several = c->site->n > 1;

	snprintf(c->of_name, sizeof(c->of_name), "%s%s",
	    several ? " of " : "", several ? c->name : "");
	snprintf(c->ctld.name, sizeof(c->ctld.name), "slurmctld%s",
	    c->of_name);
	snprintf(c->dbd.name, sizeof(c->dbd.name), "slurmdbd%s%s",
	    several ? ", asked about " : "", several ? c->name : "");
}

static void
site_add(struct site *site)
{
	struct cluster *c = calloc(1, sizeof(*c));

	if (c == NULL)
		fatal("no memory");
	site->clusters[site->n++] = c;
	c->site = site;
	c->w = site->w;
	c->runner = site->runner;
	c->set = site->set;
	c->outbox = site->outbox;
	c->synced = site->synced;
	c->ctld.daemon = "slurmctld";
	c->dbd.daemon = "slurmdbd";
	c->poll = poll_new(c);
	c->accounting = acct_new(c);
	c->hook_events = hook_events_new(c);
	c->lookups = lookup_new(c);
	c->scripts = scripts_new(c);
	c->confirm = confirm_new(c);
	c->began = now_s();
	c->node_states = node_states_new(c);
	names_set(c);
}

void
site_init(struct site *site, struct worker *w)
{
	site->w = w;
	site->lastrun = -1;
	site->runner = runner_new(w->base, no_environment);
	if (site->runner == NULL)
		fatal("no memory");
	site->outbox = outbox_new(site);
	site_add(site);
}

void
site_clusters(struct site *site)
{
	const char *list = conf_str(&site->w->conf, CONF_CLUSTERS);
	char name[CLUSTER_MAX];
	unsigned i, n;

	for (n = 0; n < SITE_CLUSTERS &&
	    conf_list_item(list, n, name, sizeof(name)) == 1; n++) {
		if (n == site->n)
			site_add(site);
		memcpy(site->clusters[n]->name, name, sizeof(name));
	}
	for (i = 0; i < site->n; i++)
		names_set(site->clusters[i]);
}

const char *
cluster_suffix(const struct cluster *c)
{
	return c->of_name;
}

static int
is_called(const struct cluster *c, const char *cluster)
{
	return strcmp(c->name, cluster) == 0 || (c->slurm.known &&
	    strcmp(c->slurm.cluster, cluster) == 0);
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
	    c : NULL;
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
