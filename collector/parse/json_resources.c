/* SPDX-License-Identifier: MIT */
/*
 * Threads and devices of a job by host, from job_resources and gres_detail.
 * Slurm prints cores by socket; an abstract thread id is (socket * cores of a
 * socket + core) * threads of a core, and on: the same ids as CPU_IDs=.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/parse/json_read.h"

#define CORES_MAX	65536	/* of one host */

struct hosts {
	struct json_job	*j;
	struct json_iter devices;	/* of gres_detail, one a host */
	uint32_t	 counted;	/* devices so far */
	int		 unread;	/* a device list that cannot be read */
	int		 threads;	/* hosts whose threads are known */
	struct node_shape	 shape;
	uint32_t	*cores;		/* of the host under way, owned */
	uint32_t	 n_cores;
	struct job_host	*host;
};

static int
core_add(struct hosts *h, uint32_t socket, uint32_t core)
{
	uint32_t *more;

	if (h->n_cores == CORES_MAX || core >= h->shape.cores ||
	    socket >= h->shape.sockets)
		return -1;
	if ((h->n_cores & (h->n_cores - 1)) == 0) {
		more = realloc(h->cores, (h->n_cores != 0 ? 2 * h->n_cores : 1) *
		    sizeof(*more));
		if (more == NULL)
			return -1;
		h->cores = more;
	}
	h->cores[h->n_cores++] = socket * h->shape.cores + core;
	return 0;
}

static int
index_get(struct span v, uint32_t *n)
{
	int64_t i;

	if (json_get_count(v, &i) == -1 || i >= CORES_MAX)
		return -1;
	*n = (uint32_t)i;
	return 0;
}

/* "status": ["ALLOCATED", "IN_USE"], or the word itself. */
static int
is_allocated(struct span status)
{
	struct json_iter it;
	struct span item;

	if (json_kind(status) == JSON_STRING)
		return json_is(status, "allocated") ||
		    json_is(status, "allocated_and_in_use");
	json_iter_array(&it, status);
	while (json_item(&it, &item))
		if (json_is(item, "ALLOCATED"))
			return 1;
	return 0;
}

/* From 23.02 on: sockets[] of {index, cores[] of {index, status[]}}. */
static int
sockets_array(struct hosts *h, struct span sockets)
{
	struct json_iter outer, inner;
	struct span socket, cores, core, v, status;
	uint32_t s, c;

	json_iter_array(&outer, sockets);
	while (json_item(&outer, &socket)) {
		if (json_get(socket, "index", &v) == JSON_NONE ||
		    index_get(v, &s) == -1 ||
		    json_get(socket, "cores", &cores) != JSON_ARRAY)
			return -1;
		json_iter_array(&inner, cores);
		while (json_item(&inner, &core)) {
			if (json_get(core, "status", &status) == JSON_NONE)
				return -1;
			if (!is_allocated(status))
				continue;
			if (json_get(core, "index", &v) == JSON_NONE ||
			    index_get(v, &c) == -1 || core_add(h, s, c) == -1)
				return -1;
		}
		if (inner.err)
			return -1;
	}
	return outer.err ? -1 : 0;
}

/* 22.05: {"1": {"cores": {"0": "allocated"}}}, allocated ones only. */
static int
sockets_object(struct hosts *h, struct span sockets)
{
	struct json_iter outer, inner;
	struct span key, socket, cores, status;
	uint32_t s, c;

	json_iter_object(&outer, sockets);
	while (json_member(&outer, &key, &socket)) {
		if (number_u32(key, &s) == -1 ||
		    json_get(socket, "cores", &cores) != JSON_OBJECT)
			return -1;
		json_iter_object(&inner, cores);
		while (json_member(&inner, &key, &status))
			if (is_allocated(status) &&
			    (number_u32(key, &c) == -1 ||
			    core_add(h, s, c) == -1))
				return -1;
		if (inner.err)
			return -1;
	}
	return outer.err ? -1 : 0;
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Neighbouring cores become one range of threads. */
static int
ranges_add(struct hosts *h)
{
	uint32_t i, first, t = h->shape.threads;

	if (h->n_cores == 0)
		return -1;
	qsort(h->cores, h->n_cores, sizeof(*h->cores), compare);
	for (i = 0, first = 0; i < h->n_cores; i++) {
		if (i + 1 < h->n_cores && h->cores[i + 1] <= h->cores[i] + 1)
			continue;
		if (job_host_add_cpus(h->host, h->cores[first] * t,
		    h->cores[i] * t + t - 1) == -1)
			return -1;
		first = i + 1;
	}
	return 0;
}

static int
threads_read(struct hosts *h, struct span sockets)
{
	const struct json_reading *how = h->j->how;

	h->n_cores = 0;
	if (how->shape == NULL || how->shape(h->host->name, &h->shape,
	    how->arg) == -1 || h->shape.threads == 0)
		return -1;
	if (json_kind(sockets) == JSON_ARRAY ? sockets_array(h, sockets) == -1 :
	    sockets_object(h, sockets) == -1)
		return -1;
	return ranges_add(h);
}

static int
on_device(uint32_t index, void *arg)
{
	struct hosts *h = arg;
	const struct read_options *how = h->j->how->how;
	char address[ACCEL_MAX];
	uint32_t i;

	if (how->device == NULL ||
	    how->device(h->host->name, index, address, how->arg) == -1)
		return 0;
	for (i = 0; i < h->host->n_accels; i++)
		if (strcmp(h->host->accels[i], address) == 0)
			return 0;
	return job_host_add_accel(h->host, address);
}

/* The host's turn in gres_detail; shares have slashes, which Slurm escapes. */
static void
devices_read(struct hosts *h)
{
	struct span item;
	char *text;
	uint32_t n = 0;

	if (!json_item(&h->devices, &item))
		return;
	if (json_kind(item) != JSON_STRING) {
		json_lacks(h->j, "gres_detail: a host");
		h->unread = 1;
		return;
	}
	text = json_text(item, TEXT_MAX);
	if (gres_each((struct span){ text, text != NULL ? strlen(text) : 0 },
	    h->j->how->how->gpus, on_device, h, &n) == -1)
		h->unread = 1;
	free(text);
	h->counted += n;
}

static int
host_begin(struct hosts *h, struct span name)
{
	char text[HOST_MAX];
	struct span raw;

	json_raw(name, &raw);
	if (raw.n == 0 || raw.n >= sizeof(text))
		return -1;
	memcpy(text, raw.p, raw.n);
	text[raw.n] = '\0';
	h->host = job_add_host(&h->j->s->job, text);
	return h->host != NULL ? 0 : -1;
}

/* One host of either shape. */
static int
host_read(struct hosts *h, struct span node)
{
	struct span name, sockets;

	if (json_get(node, "name", &name) != JSON_STRING &&
	    json_get(node, "nodename", &name) != JSON_STRING)
		return -1;
	if (host_begin(h, name) == -1)
		return -1;
	if (json_get(node, "sockets", &sockets) != JSON_NONE &&
	    threads_read(h, sockets) == 0)
		h->threads++;
	else
		h->host->n_cpus = 0;
	devices_read(h);
	return 0;
}

/*
 * The array of hosts in job_resources, where each version keeps it.  A job that
 * has none yet, or no more, has no job_resources, or they are null or empty.
 */
static int
hosts_find(struct json_job *j, struct span *list)
{
	struct span nodes;

	if (json_get(j->resources, "allocated_nodes", list) == JSON_ARRAY)
		return 1;
	if (json_get(j->resources, "nodes", &nodes) == JSON_OBJECT &&
	    json_get(nodes, "allocation", list) == JSON_ARRAY)
		return 1;
	if (j->s->state->phase == PHASE_RUNNING ||
	    json_get(j->resources, "nodes", &nodes) != JSON_NONE)
		json_lacks(j, "job_resources: hosts");
	return 0;
}

static int
on_name(const char *name, void *arg)
{
	return job_add_host(arg, name) != NULL ? 0 : -1;
}

static void
flags_set(const struct hosts *h)
{
	struct job_snapshot *s = h->j->s;
	struct job *job = &s->job;

	if (job->n_hosts == 0)
		return;
	job->nodes = job->n_hosts;
	s->groups = job->n_hosts;
	if ((uint32_t)h->threads == job->n_hosts)
		job->flags |= JOB_HAS_THREADS;
	else
		json_lacks(h->j, "job_resources: sockets");
	/* Indices are there only while it runs. */
	if (!h->unread && (phase_has_devices(s->state->phase) ||
	    job->accels == 0) && (h->counted > 0 || job->accels == 0)) {
		job->flags |= JOB_HAS_ACCELS;
		job->accels = h->counted;
	}
}

enum record_verdict
json_resources(struct json_job *j)
{
	struct hosts h = { .j = j };
	struct job *job = &j->s->job;
	struct json_iter it;
	struct span list, node;
	enum record_verdict verdict = RECORD_GOOD;

	json_iter_array(&h.devices, j->devices);
	if (hosts_find(j, &list)) {
		json_iter_array(&it, list);
		while (json_item(&it, &node)) {
			if (host_read(&h, node) == -1) {
				json_lacks(j, "job_resources: a host");
				verdict = RECORD_BAD;
				break;
			}
		}
	}
	free(h.cores);
	if (verdict != RECORD_GOOD)
		return verdict;
	flags_set(&h);
	if (job->n_hosts == 0 && j->nodes.n > 0 &&
	    hostlist_each(j->nodes, on_name, job) == -1) {
		json_lacks(j, "nodes");
		return RECORD_BAD;
	}
	return RECORD_GOOD;
}
