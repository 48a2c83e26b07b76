/* SPDX-License-Identifier: MIT */
/*
 * The clusters and their lanes.  By default there is one cluster: the local
 * cluster, whose name is in Slurm's configuration.  The key `clusters` names
 * other clusters of the same slurmdbd.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/collector.h"
#include "common/log.h"
#include "common/permanent.h"

static void
names_set(struct cluster *c)
{
	int several = c->site->n > 1;

	snprintf(c->suffix, sizeof(c->suffix), "%s%s", several ? " of " : "",
	    several ? c->name : "");
	snprintf(c->ctld.name, sizeof(c->ctld.name), "slurmctld%s", c->suffix);
	snprintf(c->dbd.name, sizeof(c->dbd.name), "slurmdbd%s%s",
	    several ? ", queried for " : "", several ? c->name : "");
}

static void
on_answered(void *arg, uint64_t job, int ended, int known)
{
	struct lanes *l = arg;

	hook_events_answered(l->hook_events, job, ended, known);
}

static const struct accounting_ops accounting_ops = {
	.answered = on_answered,
};

static void
cluster_add(struct collector *col)
{
	struct site *site = &col->site;
	struct lanes *l = &col->lanes[site->n];
	struct cluster *c = permanent_new(sizeof(*c));

	site->clusters[site->n++] = c;
	c->site = site;
	c->set = col->set;
	c->outbox = col->outbox;
	c->synced = site->synced;
	c->ctld.daemon = "slurmctld";
	c->dbd.daemon = "slurmdbd";
	c->lookups = lookup_new(c);
	c->began = now_s();
	worklist_init(&c->work);
	l->collector = col;
	l->c = c;
	l->accounting = acct_new(c, &accounting_ops, l);
	l->poll = poll_new(c, l->accounting);
	l->hook_events = hook_events_new(c);
	l->scripts = scripts_new(c);
	l->confirm = confirm_new(c);
	l->node_states = node_states_new(c, l->accounting);
	l->startup = startup_new(c, l->poll);
	names_set(c);
}

/* New runs that were found go on, if they need not wait any more. */
static void
details_continue(struct collector *col, struct lanes *l)
{
	if (outbox_behind(col->outbox))
		return;
	poll_resume(l->poll);
	hook_events_resume(l->hook_events);
}

/* Records became durable, and the queue may have room again. */
static void
on_stored(void *arg)
{
	struct collector *col = arg;
	struct lanes *l;
	unsigned i;

	for (i = 0; i < col->site.n; i++) {
		l = &col->lanes[i];
		hook_events_durable(l->hook_events);
		details_continue(col, l);
		if (!outbox_full(col->outbox))
			acct_pause(l->accounting, 0);
	}
}

static void
on_flow(void *arg)
{
	struct collector *col = arg;
	unsigned i;

	for (i = 0; i < col->site.n; i++) {
		details_continue(col, &col->lanes[i]);
		acct_pause(col->lanes[i].accounting, outbox_full(col->outbox));
	}
}

static const struct outbox_ops outbox_ops = {
	.stored = on_stored,
	.flow = on_flow,
	.advanced = resume_advanced,
};

/* Another user, replaced commands, or the first message of the runner. */
static void
on_runner_info(void *arg)
{
	struct collector *col = arg;
	unsigned i;

	for (i = 0; i < col->site.n; i++)
		wake(col->site.clusters[i]);
}

void
clusters_init(struct collector *col, struct worker *w)
{
	col->site.w = w;
	col->site.runner = runner_new(w->base, on_runner_info, col);
	if (col->site.runner == NULL)
		fatalx("out of memory");
	col->outbox = outbox_new(&outbox_ops, col);
	cluster_add(col);
}

void
clusters_configure(struct collector *col)
{
	struct site *site = &col->site;
	const char *list = conf_str(&site->w->conf, CONF_CLUSTERS);
	char name[CLUSTER_MAX];
	unsigned i, n;

	for (n = 0; n < SITE_CLUSTERS &&
	     conf_list_item(list, n, name, sizeof(name)) == 1;
	     n++) {
		if (n == site->n)
			cluster_add(col);
		memcpy(site->clusters[n]->name, name, sizeof(name));
		site->clusters[n]->number = (uint8_t)(n + 1);
	}
	runner_clusters(site->runner, site->n);
	for (i = 0; i < site->n; i++)
		names_set(site->clusters[i]);
}

struct lanes *
lanes_of(struct collector *col, const struct cluster *c)
{
	unsigned i = 0;

	while (col->site.clusters[i] != c)
		i++;
	return &col->lanes[i];
}
