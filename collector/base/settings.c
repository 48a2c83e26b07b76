/* SPDX-License-Identifier: MIT */
/* The collector's configuration; see settings.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/settings.h"

static int
device(const char *host, uint32_t index, char address[ACCEL_MAX], void *arg)
{
	struct settings *set = arg;

	return gpu_address(set->gpus, host, index, address);
}

static void
numbers_set(struct settings *set, const struct conf *conf)
{
	set->poll = conf_int(conf, CONF_POLL_INTERVAL);
	set->query_delay = conf_int(conf, CONF_QUERY_DELAY);
	set->max_span = conf_int(conf, CONF_QUERY_MAX_SPAN);
	set->long_poll = conf_int(conf, CONF_CC_POLL_INTERVAL);
	set->lag = conf_int(conf, CONF_ACCOUNTING_LAG);
	set->node_poll = conf_int(conf, CONF_NODE_STATE_POLL);
	set->node_refresh = conf_int(conf, CONF_NODE_STATE_REFRESH);
	set->retries = (unsigned)conf_int(conf, CONF_QUERY_MAX_RETRIES);
	set->script_max = (size_t)conf_int(conf, CONF_JOB_SCRIPT_MAX);
}

struct settings *
settings_new(const struct conf *conf, char *reason, size_t size)
{
	struct settings *set = calloc(1, sizeof(*set));
	const char *ignore = conf_str(conf, CONF_IGNORE_HOSTS);

	if (set == NULL)
		goto memory;
	numbers_set(set, conf);
	if (set->script_max != 0 && set->script_max < JOB_SCRIPT_MIN)
		set->script_max = JOB_SCRIPT_MIN;
	set->gpus = gpu_map_new(conf_str(conf, CONF_GPU_PCI_ADDRS), reason,
	    size);
	if (set->gpus == NULL)
		goto fail;
	if (*ignore != '\0') {
		set->ignore = pattern_new(ignore, reason, size);
		if (set->ignore == NULL)
			goto fail;
	}
	if (gres_names_set(&set->names, conf_str(conf, CONF_GPU_GRES_NAMES)) ==
	    -1) {
		snprintf(reason, size, "gpuGresNames: a name is too long");
		goto fail;
	}
	set->opt_out = strdup(conf_str(conf, CONF_OPT_OUT_WORD));
	set->bin_dir = strdup(conf_str(conf, CONF_SLURM_BIN_DIR));
	if (set->opt_out == NULL || set->bin_dir == NULL)
		goto memory;
	set->how = (struct read_options) { .gpus = &set->names,
		.opt_out_word = set->opt_out,
		.device = device,
		.arg = set };
	return set;
memory:
	snprintf(reason, size, "out of memory");
fail:
	settings_free(set);
	return NULL;
}

void
settings_free(struct settings *set)
{
	if (set == NULL)
		return;
	gpu_map_free(set->gpus);
	pattern_free(set->ignore);
	free(set->opt_out);
	free(set->bin_dir);
	free(set);
}

int
settings_ignores(const struct settings *set, const struct job *job)
{
	uint32_t i;

	if (set->ignore == NULL || job->n_hosts == 0)
		return 0;
	for (i = 0; i < job->n_hosts; i++)
		if (!pattern_matches(set->ignore, job->hosts[i].name))
			return 0;
	return 1;
}
