/* SPDX-License-Identifier: MIT */
/*
 * Bodies of start_job, stop_job and the smaller requests for each version of
 * cc-backend.  Strings of a record are not trusted: they are checked and
 * escaped here.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_write.h"
#include "submitter/payload/payload.h"
#include "submitter/payload/payload_conf.h"
#include "submitter/payload/tags.h"
#include "submitter/payload/topology.h"

/* cc-backend reads counts as int32. */
#define COUNT_MAX 2147483647u

static void
field_name(struct writer *w, const char *name)
{
	WR_TEXT(w, ",\"");
	wr_mem(w, name, strlen(name));
	WR_TEXT(w, "\":");
}

static void
field_number(struct writer *w, const char *name, int64_t v)
{
	field_name(w, name);
	wr_json_number(w, v);
}

static void
field_string(struct writer *w, const char *name, const char *s)
{
	field_name(w, name);
	wr_json_string(w, s);
}

/* A count, at most COUNT_MAX; omitted when 0. */
static void
field_count(struct writer *w, const char *name, uint64_t v)
{
	if (v != 0)
		field_number(w, name, v <= COUNT_MAX ? (int64_t)v : COUNT_MAX);
}

void
payload_how_init(struct payload_how *how, enum backend backend,
    struct topology *topology)
{
	how->backend = backend;
	how->topology = topology;
	how->script_max = JSON_UNLIMITED;
	how->info_max = JSON_UNLIMITED;
	how->bare = 0;
	how->tags = 0;
}

/* {"jobId":1,"cluster":"c","startTime":2 begins most bodies. */
static void
key_open(const struct payload *p, const struct run_key *key, struct writer *w)
{
	WR_TEXT(w, "{\"jobId\":");
	wr_json_number(w, (int64_t)key->job);
	field_string(w, "cluster", payload_cluster(p, key->cluster));
	field_number(w, "startTime", key->start);
}

/* Bytes of a number and a comma. */
static unsigned
number_length(uint32_t v)
{
	unsigned n = 2;

	while ((v /= 10) != 0)
		n++;
	return n;
}

/* Bytes of hwthreads, at least, with Slurm's ids. */
static uint64_t
threads_least(const struct job *job)
{
	const struct cpu_range *r;
	uint64_t n = 0;
	uint32_t i, k;

	for (i = 0; i < job->n_hosts; i++)
		for (k = 0; k < job->hosts[i].n_cpus; k++) {
			r = &job->hosts[i].cpus[k];
			n += number_length(r->first) *
			    (1 + (uint64_t)r->last - r->first);
		}
	return n;
}

/* 1 when the threads of all hosts are known; a part would be misleading. */
static int
threads_known(const struct job *job)
{
	uint32_t i;

	if ((job->flags & JOB_HAS_THREADS) == 0)
		return 0;
	for (i = 0; i < job->n_hosts; i++)
		if (job->hosts[i].n_cpus == 0)
			return 0;
	/* Of a forged record: writing them would take seconds. */
	return threads_least(job) <= PAYLOAD_MAX;
}

/* One number of a list and a comma. */
static void
list_number(struct writer *w, uint32_t v)
{
	char buf[12], *p = buf + sizeof(buf);

	*--p = ',';
	do
		*--p = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	wr_mem(w, p, (size_t)(buf + sizeof(buf) - p));
}

/* The host's threads; -1 when there are none or too many. */
static int
write_threads(const struct payload *p, struct topology *topology,
    const char *cluster, const struct job_host *host, struct thread_ids *ids,
    struct writer *w)
{
	uint32_t i;

	if (topology_map(topology, p->cpumap, cluster, host, ids) == -1 ||
	    ids->n == 0)
		return -1;
	WR_TEXT(w, ",\"hwthreads\":[");
	for (i = 0; i < ids->n; i++)
		list_number(w, ids->ids[i]);
	if (w->err == 0)
		w->buf[w->len - 1] = ']'; /* replaces the last comma */
	return 0;
}

static void
write_accels(const struct job_host *host, struct writer *w)
{
	uint32_t i;

	if (host->n_accels == 0)
		return;
	WR_TEXT(w, ",\"accelerators\":");
	for (i = 0; i < host->n_accels; i++) {
		wr_u8(w, i == 0 ? '[' : ',');
		wr_json_string(w, host->accels[i]);
	}
	wr_u8(w, ']');
}

/* Returns 0, or -1 when a host's threads could not be written. */
static int
write_hosts(const struct payload *p, const struct payload_how *how,
    const struct job *job, int threads, struct writer *w)
{
	const char *cluster = payload_cluster(p, job->key.cluster);
	struct thread_ids ids = { NULL, 0, 0 };
	int rc = 0;
	uint32_t i;

	WR_TEXT(w, ",\"resources\":");
	for (i = 0; i < job->n_hosts && w->err == 0; i++) {
		const struct job_host *host = &job->hosts[i];

		wr_u8(w, i == 0 ? '[' : ',');
		WR_TEXT(w, "{\"hostname\":");
		wr_json_string(w, host->name);
		if (threads &&
		    write_threads(p, how->topology, cluster, host, &ids, w) ==
			-1) {
			rc = -1;
			break;
		}
		if (host->n_accels != 0 && how->topology != NULL)
			topology_check_accels(how->topology, cluster, host);
		write_accels(host, w);
		wr_u8(w, '}');
	}
	wr_u8(w, ']');
	thread_ids_clear(&ids);
	return rc;
}

/* Writes resources; returns 1 when they contain hwthreads. */
static int
write_resources(const struct payload *p, const struct payload_how *how,
    const struct job *job, struct writer *w)
{
	size_t mark = w->len;

	if (threads_known(job)) {
		if (write_hosts(p, how, job, 1, w) == 0)
			return 1;
		if (w->err == 0)
			w->len = mark;
	}
	write_hosts(p, how, job, 0, w);
	return 0;
}

static uint64_t
count_accels(const struct job *job)
{
	uint64_t n = 0;
	uint32_t i;

	if (job->accels != 0)
		return job->accels;
	/* Slurm does not count shared GPUs; their devices are in the record. */
	for (i = 0; i < job->n_hosts; i++)
		n += job->hosts[i].n_accels;
	return n;
}

/* How the nodes are shared: a number before 1.5, else a text. */
static void
write_shared(enum backend backend, enum job_shared shared, struct writer *w)
{
	static const int exclusive[SHARED__COUNT] = {
		[SHARED_UNKNOWN] = 0,
		[SHARED_NONE] = 1,
		[SHARED_SINGLE_USER] = 2,
		[SHARED_MULTI_USER] = 0,
	};

	if ((unsigned)shared >= SHARED__COUNT)
		shared = SHARED_UNKNOWN;
	if (backend >= BACKEND_1_5)
		field_string(w, "shared", job_shared_name(shared));
	else
		field_number(w, "exclusive", exclusive[shared]);
}

int
payload_tags(const struct payload *p)
{
	return tags_any(p->tags);
}

int
payload_tagged(const struct payload *p, const struct job *job)
{
	return tags_write(p->tags, job, 0, NULL) > 0;
}

static void
write_tags(const struct payload *p, enum backend backend, const struct job *job,
    struct writer *w)
{
	if (!payload_tagged(p, job))
		return;
	WR_TEXT(w, ",\"tags\":");
	tags_write(p->tags, job, backend >= BACKEND_1_4_0, w);
}

/* NULL, or why cc-backend would reject a start of this record. */
static const char *
start_flaw(const struct job *job)
{
	if (job->key.job == 0 || job->key.job > INT64_MAX)
		return "the record has no job id";
	if (job->key.start <= 0)
		return "the record has no start time";
	if (job->n_hosts == 0)
		return "the record has no host";
	if (job->user == NULL || *job->user == '\0')
		return "the record has no user";
	return NULL;
}

int
payload_start(const struct payload *p, const struct payload_how *how,
    const struct job *job, struct writer *w, const char **why)
{
	int threads;

	*why = start_flaw(job);
	if (*why != NULL)
		return -1;
	key_open(p, &job->key, w);
	if (job->array_job != 0 && job->array_job <= INT64_MAX)
		field_number(w, "arrayJobId", (int64_t)job->array_job);
	if (job->partition != NULL && *job->partition != '\0')
		field_string(w, "partition", job->partition);
	field_string(w, "user", job->user);
	field_string(w, "project", job->account != NULL ? job->account : "");
	write_shared(how->backend, job->shared, w);
	field_count(w, "numNodes", job->n_hosts);
	field_count(w, "numHwthreads", job->cpus);
	field_count(w, "numAcc", count_accels(job));
	if (job->walltime > 0)
		field_number(w, "walltime", job->walltime);
	if (how->backend >= BACKEND_1_5 && job->submit > 0)
		field_number(w, "submitTime", job->submit);
	if (how->backend >= BACKEND_1_5 && job->memory > 0 &&
	    job->memory <= INT64_MAX)
		field_number(w, "requestedMemory", (int64_t)job->memory);
	threads = write_resources(p, how, job, w);
	if (how->tags)
		write_tags(p, how->backend, job, w);
	if (!how->bare)
		payload_meta_write(p, how, job, threads, w);
	wr_u8(w, '}');
	if (wr_end(w) == -1)
		*why = "the body is too long";
	return wr_end(w);
}

const char *
payload_stop_state(const struct payload *p, enum backend backend,
    enum job_end end)
{
	if (end == END_NOT || (unsigned)end >= END__COUNT)
		return NULL;
	if (end == END_REQUEUED)
		end = p->requeued;
	if (backend < BACKEND_1_5) {
		if (end == END_NODE_FAIL || end == END_BOOT_FAIL)
			end = END_FAILED;
		else if (end == END_DEADLINE)
			end = END_TIMEOUT;
	}
	return job_end_name(end);
}

int64_t
payload_stop_time(enum backend backend, const struct job *job)
{
	int64_t first = job->key.start + (backend < BACKEND_1_4_3);

	return job->end < first ? first : job->end;
}

int
payload_stop(const struct payload *p, enum backend backend,
    const struct job *job, struct writer *w, const char **why)
{
	const char *state = payload_stop_state(p, backend, job->state);

	*why = NULL;
	if (state == NULL)
		*why = "the record has no end";
	else if (job->key.job == 0 || job->key.job > INT64_MAX ||
	    job->key.start <= 0)
		*why = "the record has no job id or start time";
	if (*why != NULL)
		return -1;
	key_open(p, &job->key, w);
	field_number(w, "stopTime", payload_stop_time(backend, job));
	field_string(w, "jobState", state);
	wr_u8(w, '}');
	if (wr_end(w) == -1)
		*why = "the body is too long";
	return wr_end(w);
}

void
payload_edit_meta(const struct payload *p, const struct run_key *key,
    const char *field, const char *value, struct writer *w)
{
	key_open(p, key, w);
	WR_TEXT(w, ",\"payload\":{\"key\":");
	wr_json_string(w, field);
	field_string(w, "value", value);
	WR_TEXT(w, "}}");
}

void
payload_delete(const struct payload *p, const struct run_key *key,
    struct writer *w)
{
	key_open(p, key, w);
	wr_u8(w, '}');
}

/* Writes a node's comma-separated states as a list. */
static void
write_states(const char *states, struct writer *w)
{
	char word[sizeof(((struct node_state *)0)->states)];
	size_t n;
	int some = 0;

	while (*states != '\0') {
		n = strcspn(states, ",");
		if (n != 0 && n < sizeof(word)) {
			memcpy(word, states, n);
			word[n] = '\0';
			wr_u8(w, some ? ',' : '[');
			wr_json_string(w, word);
			some = 1;
		}
		states += n + (states[n] == ',');
	}
	if (some)
		wr_u8(w, ']');
	else
		WR_TEXT(w, "[]");
}

void
payload_nodes(const struct payload *p, const char *cluster,
    const struct node_state *nodes, size_t n, struct writer *w)
{
	size_t i;

	WR_TEXT(w, "{\"cluster\":");
	wr_json_string(w, payload_cluster(p, cluster));
	WR_TEXT(w, ",\"nodes\":[");
	for (i = 0; i < n; i++) {
		if (i != 0)
			wr_u8(w, ',');
		WR_TEXT(w, "{\"hostname\":");
		wr_json_string(w, nodes[i].host);
		WR_TEXT(w, ",\"states\":");
		write_states(nodes[i].states, w);
		field_number(w, "cpusAllocated", nodes[i].cpus);
		field_number(w, "memoryAllocated",
		    nodes[i].memory <= INT64_MAX ? (int64_t)nodes[i].memory :
						   0);
		field_number(w, "gpusAllocated", nodes[i].gpus);
		field_number(w, "jobsRunning", nodes[i].jobs);
		wr_u8(w, '}');
	}
	WR_TEXT(w, "]}");
}
