/* SPDX-License-Identifier: MIT */
/*
 * slurmctld's limit of requests (rl_enable, from 23.02 on): each user but root
 * and SlurmUser has a bucket of tokens, one for a request.  The collector
 * counts its requests and uses two thirds of the bucket, because others may
 * use the same user; a command that exceeds this starts later.  The polls may
 * use half of that, however short slurmPollInterval is.  Job scripts come
 * last: one a second, and only while enough tokens are left for the next poll
 * and a few hooks.
 */
#include "config.h"

#include "collector/slurm/query.h"
#include "collector/slurm/slurm.h"

/*
 * Requests that a command sends, counted by sdiag of 24.11; sacct sends none
 * to slurmctld.
 */
static const unsigned requests[CMD__COUNT] = {
	[CMD_SQUEUE] = 2,
	[CMD_SCONTROL] = 3,	/* for one job; 2 for all jobs */
	[CMD_SDIAG] = 1,
};
#define OF_SCRIPT	1
#define OF_POLL		3	/* squeue and sdiag */

/* Our share of the bucket: SHARE / SHARE_OF. */
#define SHARE		2
#define SHARE_OF	3
#define SCRIPT_GAP_MS	1000

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
	int64_t size = (int64_t)c->slurm.limit_bucket * 1000 * SHARE /
	    SHARE_OF;

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
	return missing <= 0 ? 0 : missing * SHARE_OF * c->slurm.limit_period /
	    SHARE / c->slurm.limit_rate + 1;
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
