/* SPDX-License-Identifier: MIT */
/*
 * The submitter's part of `cc-slurm-adapterctl gpus`: a row for each subcluster
 * of cc-backend with accelerators.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/text/text.h"
#include "submitter/base/context.h"
#include "submitter/ctl.h"
#include "submitter/payload/payload.h"
#include "submitter/payload/topology.h"

#define IDS_MAX	  16384 /* bytes of the ids of one subcluster */
#define NODES_MAX 32768 /* bytes of a node list */

struct gpu_rows {
	struct submitter *s;
	uint64_t request;
	unsigned left_out; /* node lists or ids that are too long */
};

/* Slurm's name of cc-backend's cluster, or the same name. */
static const char *
slurm_name(const struct submitter *s, const char *cluster)
{
	const char *name;
	unsigned i;

	for (i = 0; i < s->clusters.n; i++) {
		name = s->clusters.names[i];
		if (strcmp(payload_cluster(s->payload, name), cluster) == 0)
			return name;
	}
	return cluster;
}

static void
on_accels(const char *cluster, const char *nodes, char *const *ids, size_t n,
    void *arg)
{
	struct gpu_rows *r = arg;
	char text[IDS_MAX] = "", count[16];
	struct writer row;
	size_t i, used = 0;

	for (i = 0; i < n && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		    "%s%s", i > 0 ? "," : "", ids[i]);
	if (used >= sizeof(text) || strlen(nodes) > NODES_MAX) {
		r->left_out++;
		return;
	}
	snprintf(count, sizeof(count), "%zu", n);
	wr_init(&row, CTL_REPLY_MAX);
	ctl_row(&row, CTL_T_GPUS, slurm_name(r->s, cluster), nodes, count, "",
	    "", text, NULL);
	worker_ctl_row(r->s->w, r->request, &row);
	wr_clear(&row);
}

/* A row without a node list: there is no topology to compare with. */
static void
row_not_known(struct submitter *s, uint64_t request)
{
	struct writer row;

	wr_init(&row, CTL_REPLY_MAX);
	ctl_row(&row, CTL_T_GPUS, "", "", "0", "", "", "-", NULL);
	worker_ctl_row(s->w, request, &row);
	wr_clear(&row);
}

void
ctl_gpus(struct submitter *s, uint64_t request)
{
	struct gpu_rows r = { .s = s, .request = request };
	char text[128] = "";

	if (conf_reads_stream(&s->w->conf)) {
		worker_ctl_end(s->w, request, CTL_ERROR,
		    "a centre has no nodes of Slurm: run the command at the "
		    "cluster");
		return;
	}
	topology_each_accel(s->topology, on_accels, &r);
	if (topology_clusters(s->topology) == 0)
		row_not_known(s, request);
	if (conf_delivers_to_stream(&s->w->conf))
		snprintf(text, sizeof(text),
		    "this host has no cc-backend: the centre compares the "
		    "addresses with its topology");
	else if (topology_clusters(s->topology) == 0)
		snprintf(text, sizeof(text),
		    "the topology of cc-backend is not known yet; run "
		    "cc-slurm-adapterctl status");
	else if (r.left_out > 0)
		snprintf(text, sizeof(text),
		    "%u subclusters of cc-backend are left out: too long",
		    r.left_out);
	worker_ctl_end(s->w, request, CTL_OK, text);
}
