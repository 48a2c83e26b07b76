/* SPDX-License-Identifier: MIT */
/* Elements of jobs[] of sacct --json; see json_read.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/parse/json_read.h"

#define USER_SHOWN	64	/* bytes of a user's name */

static int
on_name(const char *name, void *arg)
{
	return job_add_host(arg, name) != NULL ? 0 : -1;
}

/* What a TRES of this type is called and how many there are; 0, or -1. */
static int
tres_read(struct span item, struct span *type, int64_t *n)
{
	struct span count;

	if (json_get(item, "type", type) != JSON_STRING ||
	    json_get(item, "count", &count) == JSON_NONE)
		return -1;
	/* Energy is -2 where nobody measures it; a count may be null. */
	return json_number(count, n) == JSON_NUMBER_BAD ? -1 : 0;
}

/* "gpu", or "gpu:a100" of a type: how many of those, and of all. */
static void
gres_add(struct span gres, struct json_job *j, uint32_t n, uint32_t *all,
    uint32_t *named)
{
	const char *colon = memchr(gres.p, ':', gres.n);

	if (colon != NULL)
		gres.n = (size_t)(colon - gres.p);
	if (gres_is_gpu(j->how->how->gpus, gres) && !gres_is_part(gres))
		*(colon != NULL ? named : all) += n;
}

/* One of tres.allocated[]. */
static int
tres_add(struct span item, struct json_job *j, uint32_t *all, uint32_t *named)
{
	struct span type, name, gres;
	int64_t n = 0;

	if (tres_read(item, &type, &n) == -1)
		return -1;
	if (n < 0 || n > UINT32_MAX)
		return 0;
	if (json_is(type, "cpu"))
		j->s->job.cpus = (uint32_t)n;
	else if (json_is(type, "node"))
		j->s->job.nodes = (uint32_t)n;
	else if (json_is(type, "gres")) {
		if (json_get(item, "name", &name) != JSON_STRING)
			return -1;
		json_raw(name, &gres);
		gres_add(gres, j, (uint32_t)n, all, named);
	}
	return 0;
}

/* gres/gpu counts all; without it (not accounted for) the types are added up. */
static int
get_allocated(struct span v, struct json_job *j)
{
	struct json_iter it;
	struct span item;
	uint32_t all = 0, named = 0;
	int rc = 0;

	json_iter_array(&it, v);
	while (json_item(&it, &item))
		if (tres_add(item, j, &all, &named) == -1)
			rc = -1;
	j->s->job.accels = all != 0 ? all : named;
	return it.err ? -1 : rc;
}

/* Memory alone: required.memory of 22.05 does not say of what it is. */
static int
get_requested(struct span v, struct json_job *j)
{
	struct json_iter it;
	struct span item, type;
	int64_t mb = 0;
	int rc = 0;

	json_iter_array(&it, v);
	while (json_item(&it, &item)) {
		if (tres_read(item, &type, &mb) == -1)
			rc = -1;
		else if (json_is(type, "mem") && mb > 0)
			j->s->job.memory = (uint64_t)mb;
	}
	return it.err ? -1 : rc;
}

static int
get_killer(struct span v, struct json_job *j)
{
	if (json_kind(v) != JSON_STRING && json_kind(v) != JSON_NULL)
		return -1;
	j->killer = v;
	return 0;
}

/* As text has it, "CANCELLED by 1001", but by name. */
static void
reason_finish(struct json_job *j)
{
	char *who = json_text(j->killer, USER_SHOWN), text[USER_SHOWN + 32];
	int n;

	if (who != NULL && j->s->state->end == END_CANCELLED) {
		n = snprintf(text, sizeof(text), "CANCELLED by %s", who);
		free(j->s->job.reason);
		j->s->job.reason = span_text((struct span){ text, (size_t)n },
		    TEXT_MAX);
	}
	free(who);
}

static const struct json_field array_rows[] = {
	{ "job_id", json_get_array_job, NULL, 0, 0 },
	{ "task_id", json_get_array_task, NULL, 0, 0 },
	{ NULL, NULL, NULL, 0, 0 }
};

static const struct json_field comment_rows[] = {
	{ "administrator", json_get_admin_comment, NULL, 0, 0 },
	{ NULL, NULL, NULL, 0, 0 }
};

static const struct json_field het_rows[] = {
	{ "job_id", json_get_het_job, NULL, 0, 0 },
	{ "job_offset", json_get_het_offset, NULL, 0, 0 },
	{ NULL, NULL, NULL, 0, 0 }
};

static const struct json_field reservation_rows[] = {
	{ "name", json_get_reservation, NULL, 0, 0 },
	{ NULL, NULL, NULL, 0, 0 }
};

static const struct json_field state_rows[] = {
	{ "current", json_get_state, NULL, 1, 0 },
	{ NULL, NULL, NULL, 0, 0 }
};

static const struct json_field time_rows[] = {
	{ "end", json_get_end, NULL, 1, 0 },
	{ "limit", json_get_limit, NULL, 0, 0 },
	{ "start", json_get_start, NULL, 1, 0 },
	{ "submission", json_get_submit, NULL, 0, 0 },
	{ NULL, NULL, NULL, 0, 0 }
};

static const struct json_field tres_rows[] = {
	{ "allocated", get_allocated, NULL, 0, 0 },
	{ "requested", get_requested, NULL, 0, 0 },
	{ NULL, NULL, NULL, 0, 0 }
};

static const struct json_field rows[] = {
	{ "job_id", json_get_id, NULL, 1, 0 },
	{ "account", json_get_account, NULL, 0, 0 },
	{ "array", NULL, array_rows, 0, 0 },
	{ "comment", NULL, comment_rows, 0, 0 },
	{ "exit_code", json_get_exit, NULL, 0, 0 },
	{ "het", NULL, het_rows, 0, 0 },
	{ "kill_request_user", get_killer, NULL, 0, 1 },
	{ "name", json_get_name, NULL, 0, 0 },
	{ "nodes", json_get_nodes, NULL, 0, 0 },
	{ "partition", json_get_partition, NULL, 0, 0 },
	{ "qos", json_get_qos, NULL, 0, 0 },
	{ "reservation", NULL, reservation_rows, 0, 0 },
	{ "restart_cnt", json_get_restarts, NULL, 0, 1 },
	{ "state", NULL, state_rows, 1, 0 },
	{ "time", NULL, time_rows, 1, 0 },
	{ "tres", NULL, tres_rows, 0, 0 },
	{ "user", json_get_user, NULL, 0, 0 },
	{ NULL, NULL, NULL, 0, 0 }
};

static int
hosts_finish(struct json_job *j)
{
	/* Neither while it waits nor when it never ran. */
	if (j->nodes.n == 0 || span_is(j->nodes, "None assigned"))
		return 0;
	return hostlist_each(j->nodes, on_name, &j->s->job) == -1 ? -1 : 0;
}

enum record_verdict
json_acct(struct span element, const struct json_reading *how,
    struct job_snapshot *s)
{
	struct json_job j = { .how = how, .s = s, .user_id = -1 };
	struct job *job = &s->job;

	if (json_fields(element, rows, &j) == -1 || hosts_finish(&j) == -1)
		return RECORD_BAD;
	job->end = j.end;
	job->state = s->state->end;
	reason_finish(&j);
	if (job->array_job == 0)
		job->array_task = 0;
	if (job->het_job == 0)
		job->het_offset = 0;
	if (job->nodes == 0)
		job->nodes = job->n_hosts;
	s->never = s->state->phase == PHASE_ENDED &&
	    (job->n_hosts == 0 || job->key.start == 0);
	if (s->state->phase == PHASE_ENDED)
		job->exit_code = snapshot_exit(s,
		    json_exit_status(j.exit_code));
	job->flags |= JOB_HAS_START;
	if (how->how->opt_out_word != NULL && job->admin_comment != NULL &&
	    strstr(job->admin_comment, how->how->opt_out_word) != NULL)
		job->flags |= JOB_OPTED_OUT;
	return RECORD_GOOD;
}
