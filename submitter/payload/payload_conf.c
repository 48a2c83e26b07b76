/* SPDX-License-Identifier: MIT */
/* Reads the configuration of request bodies. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "submitter/payload/cpumap.h"
#include "submitter/payload/payload.h"
#include "submitter/payload/payload_conf.h"
#include "submitter/payload/tags.h"

const char *const meta_field_names[META__COUNT] = {
	[META_JOB_NAME] = "jobName",
	[META_JOB_SCRIPT] = "jobScript",
	[META_SLURM_INFO] = "slurmInfo",
	[META_SUBMIT_TIME] = "submitTime",
	[META_ARRAY_TASK] = "arrayTaskId",
	[META_HET_JOB] = "hetJobId",
	[META_EXIT_CODE] = "exitCode",
	[META_REASON] = "reason",
	[META_MESSAGE] = "message",
};

enum backend
backend_of(const char *version)
{
	unsigned major, minor, patch = 0;
	int n;

	n = sscanf(version, "%3u.%3u.%3u", &major, &minor, &patch);
	if (n < 2 || major != 1 || minor >= 5)
		return BACKEND_1_5;
	if (minor < 4)
		return BACKEND_1_3;
	/* "1.4": all of 1.4 accept the body for 1.4.0. */
	return n == 3 && patch >= 3 ? BACKEND_1_4_3 : BACKEND_1_4_0;
}

static int
read_names(struct payload *p, const char *text, char *reason, size_t size)
{
	json_error_t err;
	json_t *root, *value;
	const char *key;
	int rc = -1;

	root = json_loads(text, JSON_REJECT_DUPLICATES, &err);
	if (!json_is_object(root)) {
		snprintf(reason, size, "clusterNames is not an object");
		goto done;
	}
	if (json_object_size(root) > CONF_CLUSTERS_MAX) {
		snprintf(reason, size, "clusterNames has more than %d names",
		    CONF_CLUSTERS_MAX);
		goto done;
	}
	json_object_foreach(root, key, value)
	{
		if (json_string_length(value) == 0) {
			snprintf(reason, size,
			    "clusterNames: the value of \"%s\" is not a name",
			    key);
			goto done;
		}
		p->names[p->n_names].slurm = strdup(key);
		p->names[p->n_names].cc = strdup(json_string_value(value));
		p->n_names++;
		if (p->names[p->n_names - 1].slurm == NULL ||
		    p->names[p->n_names - 1].cc == NULL) {
			snprintf(reason, size, "out of memory");
			goto done;
		}
	}
	rc = 0;
done:
	json_decref(root);
	return rc;
}

static int
read_fields(struct payload *p, const char *list, char *reason, size_t size)
{
	char item[64];
	unsigned i, f;
	int got;

	for (i = 0; (got = conf_list_item(list, i, item, sizeof(item))) == 1;
	     i++) {
		for (f = 0; f < META__COUNT; f++)
			if (strcmp(item, meta_field_names[f]) == 0)
				break;
		if (f == META__COUNT) {
			snprintf(reason, size,
			    "metaDataFields: \"%s\" is not a field", item);
			return -1;
		}
		p->fields |= 1u << f;
	}
	if (got == -1)
		snprintf(reason, size, "metaDataFields is not a list of names");
	return got;
}

/*
 * Accepts final states of cc-backend 1.5; payload_stop_state() replaces those that
 * an older version rejects.
 */
static int
read_requeued(struct payload *p, const char *word, char *reason, size_t size)
{
	int e;

	for (e = END_COMPLETED; e < END_REQUEUED; e++)
		if (strcmp(word, job_end_name((enum job_end)e)) == 0) {
			p->requeued = (enum job_end)e;
			return 0;
		}
	snprintf(reason, size,
	    "requeuedState: \"%s\" is not a final state of cc-backend", word);
	return -1;
}

struct payload *
payload_new(const struct conf *conf, char *reason, size_t size)
{
	struct payload *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		snprintf(reason, size, "out of memory");
		return NULL;
	}
	if (read_names(p, conf_str(conf, CONF_CLUSTER_NAMES), reason, size) ==
		-1 ||
	    read_fields(p, conf_str(conf, CONF_META_DATA_FIELDS), reason,
		size) == -1 ||
	    read_requeued(p, conf_str(conf, CONF_REQUEUED_STATE), reason,
		size) == -1)
		goto failed;
	p->cpumap = cpumap_new(conf_str(conf, CONF_CPU_MAP), reason, size);
	if (p->cpumap == NULL)
		goto failed;
	p->update_info = conf_bool(conf, CONF_CC_UPDATE_SLURM_INFO);
	p->tags = tags_new(conf_str(conf, CONF_TAGS), reason, size);
	if (p->tags == NULL)
		goto failed;
	return p;
failed:
	payload_free(p);
	return NULL;
}

void
payload_free(struct payload *p)
{
	unsigned i;

	if (p == NULL)
		return;
	for (i = 0; i < p->n_names; i++) {
		free(p->names[i].slurm);
		free(p->names[i].cc);
	}
	cpumap_free(p->cpumap);
	tags_free(p->tags);
	free(p);
}

const char *
payload_cluster(const struct payload *p, const char *slurm)
{
	unsigned i;

	for (i = 0; i < p->n_names; i++)
		if (strcmp(p->names[i].slurm, slurm) == 0)
			return p->names[i].cc;
	return slurm;
}
