/* SPDX-License-Identifier: MIT */
/* See choices.h. */
#include "config.h"

#include "tests/simulate/site/choices.h"
#include "tests/simulate/site/hooks.h"
#include "tests/simulate/site/slurm.h"

#define LOST_HOOKS   50000 /* of a million */
#define HOSTILE_RATE 60000 /* of a million names, in some seeds */
#define RESIZED_FEW  20	   /* of 1,000 jobs */
#define RESIZED_MANY 300

void
slurm_choose(struct prng *choices)
{
	static const unsigned versions[] = { 2011, 2205, 2411, 2605 };
	struct slurm_options o = {
		.version = versions[prng_below(choices, 4)],
		.jobs_hour = (unsigned)prng_between(choices, 10, 200),
		.hostile = prng_chance(choices, 300000) ? HOSTILE_RATE : 0,
		.min_job_age = prng_chance(choices, 300000) ? 60 : 300,
		.id_first = 1,
		.id_last = 60000000,
		.private_jobs = !prng_chance(choices, 250000),
		.is_operator = 1,
	};

	o.limited = o.version >= 2411 && prng_chance(choices, 250000);
	/* Above 200 live jobs the collector asks otherwise. */
	if (prng_chance(choices, 10000))
		o.jobs_hour *= 4;

	/* Ids begin again within the run, but not before jobs are purged. */
	if (prng_chance(choices, 200000)) {
		o.id_first = 1000;
		o.id_last = o.id_first + 200 + (uint32_t)o.jobs_hour * 8;
	}
	o.resized = prng_chance(choices, 200000) ? RESIZED_MANY : RESIZED_FEW;
	slurm_begin(&o, hooks_called);
}

void
reload_choose(struct supervised *collector, struct prng *choices)
{
	static const char *const polls[] = { "10", "30", "60", "120" };
	static const char *const lags[] = { "0", "60", "900" };

	supervised_conf(collector, CONF_POLL_INTERVAL,
	    polls[prng_below(choices, sizeof(polls) / sizeof(polls[0]))]);
	supervised_conf(collector, CONF_ACCOUNTING_LAG,
	    lags[prng_below(choices, sizeof(lags) / sizeof(lags[0]))]);
}

/* Of a million hooks; some sites have none. */
unsigned
lost_hooks_choose(struct prng *choices)
{
	static const unsigned lost[] = { LOST_HOOKS, LOST_HOOKS, 300000,
		1000000 };

	return lost[prng_below(choices, 4)];
}
