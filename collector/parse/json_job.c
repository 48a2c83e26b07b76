/* SPDX-License-Identifier: MIT */
/* Elements of jobs[] of squeue --json and scontrol --json; see json_read.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/parse/json_read.h"

static int
get_batch(struct span v, struct json_job *j)
{
	int truth = json_truth(v);

	j->s->batch = truth == 1;
	return truth == -1 ? -1 : 0;
}

static int
get_user_id(struct span v, struct json_job *j)
{
	return json_get_count(v, &j->user_id);
}

static int
get_cpus(struct span v, struct json_job *j)
{
	int64_t n;

	if (json_get_count(v, &n) == -1 || n > UINT32_MAX)
		return -1;
	/* What was allocated, from tres_alloc_str, is truer. */
	if (j->s->job.cpus == 0)
		j->s->job.cpus = (uint32_t)n;
	return 0;
}

static int
get_node_count(struct span v, struct json_job *j)
{
	int64_t n;

	if (json_get_count(v, &n) == -1 || n > UINT32_MAX)
		return -1;
	j->s->job.nodes = (uint32_t)n;
	return 0;
}

static int
get_tasks(struct span v, struct json_job *j)
{
	return json_get_count(v, &j->cpus_asked);
}

static int
get_cpus_per_task(struct span v, struct json_job *j)
{
	return json_get_count(v, &j->cpus_per_task);
}

static int
get_tres(struct span v, struct json_job *j)
{
	struct job *job = &j->s->job;
	struct tres tres;
	char *text;

	if (json_kind(v) != JSON_STRING)
		return -1;
	/* Slurm writes gres\/gpu. */
	text = json_text(v, TEXT_MAX);
	tres_parse((struct span){ text, text != NULL ? strlen(text) : 0 },
	    j->how->how->gpus, &tres);
	free(text);
	job->accels = tres.gpus;
	job->memory = tres.memory;
	if (tres.cpus != 0)
		job->cpus = tres.cpus;
	return 0;
}

static int
get_resources(struct span v, struct json_job *j)
{
	if (json_kind(v) != JSON_OBJECT && json_kind(v) != JSON_NULL)
		return -1;
	j->resources = v;
	return 0;
}

static int
get_devices(struct span v, struct json_job *j)
{
	if (json_kind(v) != JSON_ARRAY)
		return -1;
	j->devices = v;
	return 0;
}

/* Each word that `shared` has had. */
static const struct {
	const char	*word;
	enum job_shared	 shared;
} sharings[] = {
	{ "none", SHARED_NONE },
	{ "user", SHARED_SINGLE_USER },
	{ "mcs", SHARED_MULTI_USER },
	{ "oversubscribe", SHARED_MULTI_USER },
	{ "shared", SHARED_MULTI_USER },
	{ "topo", SHARED_NONE },
};

/* A word or null (22.05), an array of at most one (later). */
static int
get_shared(struct span v, struct json_job *j)
{
	struct json_iter it;
	struct span word = v;
	size_t i;

	if (json_kind(v) == JSON_ARRAY) {
		json_iter_array(&it, v);
		if (!json_item(&it, &word))
			word.n = 0;
	}
	if (word.n == 0 || json_kind(word) == JSON_NULL) {
		j->s->job.shared = SHARED_MULTI_USER;
		j->s->whole_is_none = 1;
		return 0;
	}
	for (i = 0; i < sizeof(sharings) / sizeof(sharings[0]); i++) {
		if (json_is(word, sharings[i].word)) {
			j->s->job.shared = sharings[i].shared;
			return 0;
		}
	}
	return -1;
}

static const struct json_field rows[] = {
	{ "job_id", json_get_id, NULL, 1, 0 },
	{ "account", json_get_account, NULL, 0, 0 },
	{ "admin_comment", json_get_admin_comment, NULL, 0, 0 },
	{ "array_job_id", json_get_array_job, NULL, 0, 0 },
	{ "array_task_id", json_get_array_task, NULL, 0, 0 },
	{ "batch_flag", get_batch, NULL, 0, 0 },
	{ "cpus", get_cpus, NULL, 0, 0 },
	{ "cpus_per_task", get_cpus_per_task, NULL, 0, 0 },
	{ "end_time", json_get_end, NULL, 1, 0 },
	{ "exit_code", json_get_exit, NULL, 0, 0 },
	{ "gres_detail", get_devices, NULL, 0, 0 },
	{ "het_job_id", json_get_het_job, NULL, 0, 0 },
	{ "het_job_offset", json_get_het_offset, NULL, 0, 0 },
	{ "job_resources", get_resources, NULL, 0, 1 },
	{ "job_state", json_get_state, NULL, 1, 0 },
	{ "memory_per_cpu", json_get_memory_cpu, NULL, 0, 0 },
	{ "memory_per_node", json_get_memory_node, NULL, 0, 0 },
	{ "name", json_get_name, NULL, 0, 0 },
	{ "node_count", get_node_count, NULL, 0, 0 },
	{ "nodes", json_get_nodes, NULL, 0, 0 },
	{ "partition", json_get_partition, NULL, 0, 0 },
	{ "qos", json_get_qos, NULL, 0, 0 },
	{ "restart_cnt", json_get_restarts, NULL, 0, 0 },
	{ "resv_name", json_get_reservation, NULL, 0, 0 },
	{ "shared", get_shared, NULL, 0, 0 },
	{ "start_time", json_get_start, NULL, 1, 0 },
	{ "state_reason", json_get_reason, NULL, 0, 0 },
	{ "submit_time", json_get_submit, NULL, 0, 0 },
	{ "tasks", get_tasks, NULL, 0, 0 },
	{ "time_limit", json_get_limit, NULL, 0, 0 },
	{ "tres_alloc_str", get_tres, NULL, 0, 0 },
	{ "user_id", get_user_id, NULL, 0, 0 },
	{ "user_name", json_get_user, NULL, 0, 0 },
	{ NULL, NULL, NULL, 0, 0 }
};

/* What was asked for in all, as the text reader counts it. */
static void
memory_finish(struct json_job *j)
{
	struct job *job = &j->s->job;
	int64_t per_task = j->cpus_per_task > 0 ? j->cpus_per_task : 1;
	int64_t each = j->memory_cpu > 0 ? j->memory_cpu : j->memory_node;
	int64_t n = job->nodes;

	if (j->memory_cpu > 0 && j->cpus_asked <= UINT32_MAX &&
	    per_task <= UINT32_MAX && j->cpus_asked * per_task > n)
		n = j->cpus_asked * per_task;
	if (each > 0 && n > 0 && each < INT64_MAX / n)
		job->memory = (uint64_t)(each * n);
}

static void
user_finish(struct json_job *j)
{
	char id[24];
	int n;

	if (j->s->job.user != NULL || j->user_id < 0)
		return;
	n = snprintf(id, sizeof(id), "%lld", (long long)j->user_id);
	j->s->job.user = span_text((struct span){ id, (size_t)n }, TEXT_MAX);
}

enum record_verdict
json_job(struct span element, const struct json_reading *how,
    struct job_snapshot *s)
{
	struct json_job j = { .how = how, .s = s, .user_id = -1 };
	struct job *job = &s->job;

	if (json_fields(element, rows, &j) == -1)
		return RECORD_BAD;
	user_finish(&j);
	if (job->array_job == 0)
		job->array_task = 0;
	if (job->het_job == 0)
		job->het_offset = 0;
	snapshot_end(s, j.end);
	if (s->state->phase == PHASE_ENDED)
		job->exit_code = snapshot_exit(s,
		    json_exit_status(j.exit_code));
	if (job->reason != NULL)
		s->state = state_with_reason(s->state, (struct span){
		    job->reason, strlen(job->reason) });
	if (s->state->phase == PHASE_PENDING)
		return RECORD_GOOD;
	if (json_resources(&j) != RECORD_GOOD)
		return RECORD_BAD;
	memory_finish(&j);
	s->no_nodes = j.nodes.n == 0;
	s->never = snapshot_never(s);
	s->opt_out_seen = how->how->opt_out_word != NULL &&
	    token_find(element, how->how->opt_out_word) != NULL;
	job->flags |= JOB_HAS_START;
	if (s->state->phase == PHASE_RUNNING)
		job->flags |= JOB_LIVE;
	return RECORD_GOOD;
}
