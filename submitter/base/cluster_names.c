/* SPDX-License-Identifier: MIT */
/* See cluster_names.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "submitter/base/cluster_names.h"
#include "submitter/base/context.h"

void
cluster_names_conf(struct submitter *s)
{
	struct cluster_names *c = &s->clusters;
	const char *list = conf_str(&s->w->conf, CONF_CLUSTERS);
	char name[CLUSTER_MAX];

	c->n = 0;
	while (c->n < CONF_CLUSTERS_MAX &&
	    conf_list_item(list, c->n, name, sizeof(name)) == 1)
		memcpy(c->names[c->n++], name, sizeof(name));
	c->configured = c->n != 0;
}

static int
is_named(const struct cluster_names *c, const char *name)
{
	unsigned i;

	for (i = 0; i < c->n; i++)
		if (strcmp(c->names[i], name) == 0)
			return 1;
	return 0;
}

int
cluster_name_known(const struct submitter *s, const char *name)
{
	return is_named(&s->clusters, name);
}

int
cluster_name_excluded(const struct submitter *s, const char *name)
{
	return s->clusters.configured && !is_named(&s->clusters, name);
}

int
cluster_name_allowed(struct submitter *s, const char *name)
{
	struct cluster_names *c = &s->clusters;

	if (is_named(c, name))
		return 1;
	if (!c->configured && c->n < CLUSTER_NAMES_LEARNED && name[0] != '\0') {
		snprintf(c->names[c->n++], CLUSTER_MAX, "%s", name);
		return 1;
	}
	s->n.clusters_refused++;
	log_limited(&c->refused, log_errorx,
	    "the collector reports data of cluster \"%s\": %s; the data is "
	    "ignored",
	    name,
	    c->configured ? "the key clusters does not name it" :
			    "too many names for one cluster");
	return 0;
}
