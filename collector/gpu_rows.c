/* SPDX-License-Identifier: MIT */
/*
 * The collector's part of `cc-slurm-adapterctl gpus`: a row for each node with
 * GPUs, with Slurm's Gres= and the addresses of gpuPciAddrs.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/collector.h"

#define ADDRESSES_MAX 2048 /* bytes of the addresses of one node */

struct gpu_rows {
	struct cluster *c;
	uint64_t request;
};

/* "-" for a slot without an address, "..." when there is no space for more. */
static void
addresses_write(char *buf, size_t size, char *const *addresses, size_t n)
{
	const char *text;
	size_t i, used = 0;

	buf[0] = '\0';
	for (i = 0; i < n; i++) {
		text = addresses[i] != NULL ? addresses[i] : "-";
		if (used + strlen(text) + sizeof(",...") > size)
			text = "...";
		used += (size_t)snprintf(buf + used, size - used, "%s%s",
		    i > 0 ? "," : "", text);
		if (strcmp(text, "...") == 0)
			return;
	}
}

static void
on_node(const char *name, unsigned gpus, const char *gres, void *arg)
{
	const struct gpu_rows *r = arg;
	char map[ADDRESSES_MAX], count[16];
	char *const *addresses;
	size_t n = gpu_addresses(r->c->set->gpus, name, &addresses);
	struct writer row;

	addresses_write(map, sizeof(map), addresses, n);
	snprintf(count, sizeof(count), "%u", gpus);
	wr_init(&row, ADDRESSES_MAX + 1024);
	ctl_row(&row, CTL_T_GPUS, r->c->slurm.cluster, name, count, gres, map,
	    "", NULL);
	worker_ctl_row(r->c->site->w, r->request, &row);
	wr_clear(&row);
}

void
gpu_rows(struct collector *col, uint64_t request)
{
	struct gpu_rows r = { .request = request };
	unsigned i;

	for (i = 0; i < col->site.n; i++) {
		r.c = col->site.clusters[i];
		if (r.c->hosts == NULL) {
			worker_ctl_end(col->site.w, request, CTL_ERROR,
			    "Slurm's nodes are not known yet; run "
			    "cc-slurm-adapterctl status");
			return;
		}
		hosts_each_gpu(r.c->hosts, on_node, &r);
	}
	worker_ctl_end(col->site.w, request, CTL_OK, NULL);
}
