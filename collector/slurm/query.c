/* SPDX-License-Identifier: MIT */
/* One query to Slurm; see query.h. */
#include "config.h"

#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/wake.h"
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
	[CMD_SCONTROL] = 2,
	[CMD_SDIAG] = 1,
};
#define OF_SCRIPT 1
#define OF_POLL	  3 /* squeue and sdiag */

/* Our share of the bucket: SHARE / SHARE_OF. */
#define SHARE	      2
#define SHARE_OF      3
#define SCRIPT_GAP_MS 1000
/* After a command every lane runs, also one that does not ask for it. */
#define ENDED_MS 500

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

/* Takes the tokens of one more command; returns the ms that it has to wait. */
static unsigned
rate_limit_take(struct cluster *c, enum question_kind kind)
{
	enum slurm_command cmd = question_type(kind)->command;
	int script = kind == QUESTION_SCRIPT;
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

void
query_begin(struct query *q, struct cluster *c, const struct query_type *type,
    void *arg)
{
	q->c = c;
	q->type = type;
	q->arg = arg;
	question_clear(&q->question);
	q->question.kind = type->kind;
	lines_clear(&q->lines);
}

void
sacct_query_begin(struct query *q, struct sacct_reader *reader,
    struct cluster *c, const struct query_type *type,
    int (*row)(struct job_snapshot *s, void *arg), void *arg)
{
	query_begin(q, c, type, arg);
	sacct_begin(reader, c->slurm.sacct_lacking);
	reader->how = &c->set->how;
	reader->each = row;
	reader->arg = arg;
	q->question.lacking = reader->lacking;
	memcpy(q->question.delimiter, reader->delimiter,
	    sizeof(q->question.delimiter));
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
	struct site *site = q->c->site;
	int complete = end->outcome == COMMAND_OK;

	if (q->type->flags & QUERY_LAST_LINE)
		complete &= lines_end(&q->lines, q->type->on_line, q->arg) == 0;
	else
		complete &= q->lines.len == 0;
	lines_clear(&q->lines);
	question_clear(&q->question);
	q->cmd = NULL;
	q->type->on_end(end, complete, q->arg);
	/* on_end() may have freed q. */
	wake_in(site, ENDED_MS);
}

int
query_start(struct query *q)
{
	struct cluster *c = q->c;
	const struct question_type *type = question_type(q->type->kind);
	struct command_spec spec = {
		.question = &q->question,
		.wait_ms = rate_limit_take(c, q->type->kind),
		.max_bytes = type->deadline_ms > QUERY_SHORT_MS ?
		    QUERY_LONG_BYTES_MAX :
		    QUERY_BYTES_MAX,
		.on_output = on_output,
		.on_end = on_end,
		.arg = q,
	};

	q->question.cluster = c->by_name ? c->number : 0;
	log_debug("asks%s %s", cluster_suffix(c),
	    slurm_command_name(type->command));
	q->cmd = runner_start(c->site->runner, &spec);
	return q->cmd != NULL ? 0 : -1;
}

int
query_start_job(struct query *q, uint64_t job)
{
	return id_list_add(&q->question.ids, job) == 0 ? query_start(q) : -1;
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

const char *
command_why(const struct command_end *end, char *buf, size_t size)
{
	const char *err = end->err, *between = *err != '\0' ? ": " : "";

	switch (end->outcome) {
	case COMMAND_TIMEOUT:
		snprintf(buf, size, "no answer within %ld s, killed",
		    end->ms / 1000);
		break;
	case COMMAND_TOO_LONG:
		snprintf(buf, size,
		    "killed after %llu bytes, more than expected",
		    (unsigned long long)end->bytes);
		break;
	case COMMAND_REFUSED:
		snprintf(buf, size, "its answer is not valid");
		break;
	case COMMAND_SPAWN:
		snprintf(buf, size, "cannot be started: %s", err);
		break;
	case COMMAND_STALE:
		snprintf(buf, size, "%s", err);
		break;
	case COMMAND_FAILED:
		if (WIFSIGNALED(end->status))
			snprintf(buf, size, "killed by signal %d%s%s",
			    WTERMSIG(end->status), between, err);
		else
			snprintf(buf, size, "exit status %d%s%s",
			    WEXITSTATUS(end->status), between, err);
		break;
	case COMMAND_OK:
		snprintf(buf, size, "its answer is incomplete%s%s", between,
		    err);
		break;
	}
	return buf;
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
