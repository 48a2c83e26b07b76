/* SPDX-License-Identifier: MIT */
/*
 * slurmctld's limit of requests (rl_enable, from 23.02 on): a bucket of tokens
 * for each user but root and SlurmUser, one for a request.  We count along and
 * use two thirds of it, for others may ask as the same user; what has to wait
 * is started later.  The polls may have half of that, however short
 * slurmPollInterval is.  Job scripts come last: one a second, and only while
 * enough is left for the next poll and a few hooks.
 */
#include "config.h"

#include "collector/slurm/query.h"
#include "collector/slurm/slurm.h"

/* That a command sends, counted by sdiag of 24.11; sacct asks slurmctld nothing. */
static const unsigned requests[CMD__COUNT] = {
	[CMD_SQUEUE] = 2,
	[CMD_SCONTROL] = 3,	/* about one job; about all of them 2 */
	[CMD_SDIAG] = 1,
};
#define OF_SCRIPT	1
#define OF_POLL		3	/* squeue and sdiag */

/* Ours are so many parts of so many. */
#define SHARE		2
#define SHARE_OF	3
#define SCRIPT_GAP_MS	1000

int
rate_limit_on(const struct cluster *c)
{
	return c->slurm.limit_bucket > 0 && c->slurm.limit_rate > 0 &&
	    c->slurm.limit_period > 0 && !slurm_permission_inherent(&c->slurm);
}

/* Tokens by the thousand, for what comes back in a millisecond is a part of one. */
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
