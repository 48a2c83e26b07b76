/* SPDX-License-Identifier: MIT */
/* One query to Slurm; see query.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/slurm/query.h"
#include "collector/slurm/slurm.h"
#include "common/log.h"

/*
 * slurmctld's limit of requests (rl_enable, from 23.02 on): each user but root
 * and SlurmUser has a bucket of tokens, one for a request.  The collector
 * counts its requests and uses two thirds of the bucket, because others may
 * use the same user; a command that exceeds this starts later.  The polls may
 * use half of that, however short slurmPollInterval is.  Job scripts come
 * last: one a second, and only while enough tokens are left for the next poll
 * and a few hooks.
 */
/*
 * Requests that a command sends, counted by sdiag of 24.11; sacct sends none
 * to slurmctld.
 */
static const unsigned requests[CMD__COUNT] = {
	[CMD_SQUEUE] = 2,
	[CMD_SCONTROL] = 3, /* for one job; 2 for all jobs */
	[CMD_SDIAG] = 1,
};
#define OF_SCRIPT 1
#define OF_POLL	  3 /* squeue and sdiag */

/* Our share of the bucket: SHARE / SHARE_OF. */
#define SHARE	      2
#define SHARE_OF      3
#define SCRIPT_GAP_MS 1000

int
rate_limit_on(const struct cluster *c)
{
	return c->slurm.limit_bucket > 0 && c->slurm.limit_rate > 0 &&
	    c->slurm.limit_period > 0 && !slurm_permission_inherent(&c->slurm);
}

/* Thousandths of a token, because the refill of a millisecond is a fraction. */
static int64_t
bucket(const struct cluster *c)
{
	int64_t size = (int64_t)c->slurm.limit_bucket * 1000 * SHARE / SHARE_OF;

	return size > OF_POLL * 1000 ? size : OF_POLL * 1000;
}

static int64_t
refill(const struct cluster *c, int64_t ms)
{
	return ms * c->slurm.limit_rate * SHARE / SHARE_OF /
	    c->slurm.limit_period;
}

static int64_t
ms_until(const struct cluster *c, int64_t missing)
{
	return missing <= 0 ? 0 :
			      missing * SHARE_OF * c->slurm.limit_period /
		    SHARE / c->slurm.limit_rate +
		1;
}

int64_t
rate_limit_poll_ms(const struct cluster *c)
{
	return rate_limit_on(c) ? 2 * ms_until(c, OF_POLL * 1000) : 0;
}

unsigned
rate_limit_take(struct cluster *c, enum slurm_command cmd, int script)
{
	struct rate_limit *l = &c->rate_limit;
	int64_t now = now_ms(), wait, most;

	if (!rate_limit_on(c) || requests[cmd] == 0)
		return 0;
	most = bucket(c);
	if (l->at == 0)
		l->tokens = most;
	else
		l->tokens += refill(c, now - l->at);
	if (l->tokens > most)
		l->tokens = most;
	l->at = now;
	l->tokens -= (script ? OF_SCRIPT : requests[cmd]) * 1000;
	wait = ms_until(c, (script ? most / 3 : 0) - l->tokens);
	if (script) {
		if (wait < l->script_at - now)
			wait = l->script_at - now;
		l->script_at = now + wait + SCRIPT_GAP_MS;
	}
	return (unsigned)wait;
}

/* --- queries --- */

#define ID_ROOM	      24 /* bytes of one id, its comma and the NUL */
#define ID_LIST_FIRST 256

int
id_list_add(struct id_list *ids, uint64_t job)
{
	size_t cap = ids->cap != 0 ? ids->cap * 2 : ID_LIST_FIRST;
	char *text;

	if (ids->len + ID_ROOM > ID_LIST_BYTES)
		return -1;
	if (ids->len + ID_ROOM > ids->cap) {
		text = realloc(ids->text, cap);
		if (text == NULL)
			return -1;
		ids->text = text;
		ids->cap = cap;
	}
	ids->len += (size_t)snprintf(ids->text + ids->len, ids->cap - ids->len,
	    "%s%llu", ids->n > 0 ? "," : "", (unsigned long long)job);
	ids->n++;
	return 0;
}

void
id_list_clear(struct id_list *ids)
{
	free(ids->text);
	memset(ids, 0, sizeof(*ids));
}

void
query_begin(struct query *q, struct cluster *c, const struct query_type *type,
    void *arg)
{
	q->c = c;
	q->type = type;
	q->arg = arg;
	q->n_args = 0;
	lines_clear(&q->lines);
	id_list_clear(&q->ids);
}

static void
arg_add(struct query *q, const char *word)
{
	if (q->n_args == RUNNER_ARGS_MAX)
		fatal("a question has more than %d arguments", RUNNER_ARGS_MAX);
	q->args[q->n_args++] = word;
}

void
query_args(struct query *q, ...)
{
	const char *word;
	va_list ap;

	va_start(ap, q);
	while ((word = va_arg(ap, const char *)) != NULL)
		arg_add(q, word);
	va_end(ap);
}

void
query_ids(struct query *q)
{
	arg_add(q, q->ids.text != NULL ? q->ids.text : "");
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct query *q = arg;

	if (q->type->on_output != NULL)
		return q->type->on_output(p, n, q->arg);
	return lines_feed(&q->lines, p, n, q->type->on_line, q->arg);
}

static void
on_end(const struct command_end *end, void *arg)
{
	struct query *q = arg;
	int complete = end->outcome == COMMAND_OK;

	if (q->type->flags & QUERY_LAST_LINE)
		complete &= lines_end(&q->lines, q->type->on_line, q->arg) == 0;
	else
		complete &= q->lines.len == 0;
	lines_clear(&q->lines);
	id_list_clear(&q->ids);
	q->cmd = NULL;
	q->type->on_end(end, complete, q->arg);
}

int
query_start(struct query *q)
{
	struct cluster *c = q->c;
	const char *argv[RUNNER_ARGS_MAX + 1];
	struct command_spec spec;
	size_t n = 0, i;

	argv[n++] = c->slurm.path[q->type->cmd];
	/*
	 * Users and their permissions are in slurmdbd, the same for all
	 * clusters.
	 */
	if (c->by_name && q->type->cmd != CMD_SACCTMGR) {
		argv[n++] = "-M";
		argv[n++] = c->name;
	}
	for (i = 0; n < RUNNER_ARGS_MAX && i < q->n_args; i++)
		argv[n++] = q->args[i];
	argv[n] = NULL;
	memset(&spec, 0, sizeof(spec));
	spec.argv = argv;
	spec.deadline_ms = q->type->deadline_ms != 0 ? q->type->deadline_ms :
						       QUERY_DEADLINE_MS;
	spec.max_bytes = spec.deadline_ms > QUERY_DEADLINE_MS ?
	    QUERY_LONG_BYTES_MAX :
	    QUERY_BYTES_MAX;
	spec.wait_ms = rate_limit_take(c, q->type->cmd,
	    (q->type->flags & QUERY_SCRIPT) != 0);
	spec.on_output = on_output;
	spec.on_end = on_end;
	spec.arg = q;
	log_debug("asks%s %s %s %s", cluster_suffix(c), argv[0],
	    q->n_args > 0 ? q->args[0] : "", q->n_args > 1 ? q->args[1] : "");
	q->cmd = runner_start(c->site->runner, &spec);
	return q->cmd != NULL ? 0 : -1;
}

int
query_busy(const struct query *q)
{
	return q->cmd != NULL;
}

void
query_pause(struct query *q, int pause)
{
	if (q->cmd != NULL)
		command_pause(q->cmd, pause);
}

void
query_failed(struct cluster *c, struct health *side, const char *what,
    const struct command_end *end)
{
	char why[512];

	command_why(end, why, sizeof(why));
	snprintf(c->last_error, sizeof(c->last_error), "%s: %.200s", what, why);
	if (side != NULL)
		health_bad(side, why);
}
