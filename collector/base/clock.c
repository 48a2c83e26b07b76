/* SPDX-License-Identifier: MIT */
/*
 * Clocks; see collector.h.  What is waited for is counted by the monotonic
 * clock, which nobody sets.  What Slurm dates is held against Slurm's own
 * clock, for ours may be set, or wrong.
 */
#include "config.h"

#include <time.h>

#include "collector/base/cluster.h"

int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t
now_s(void)
{
	return now_ms() / 1000;
}

int64_t
now_wall(void)
{
	return (int64_t)time(NULL);
}

void
slurm_clock_set(struct slurm_clock *k, int64_t said, int64_t at)
{
	k->said = said;
	k->at = at;
}

int64_t
slurm_clock_at(const struct slurm_clock *k, int64_t at, int64_t wall)
{
	return k->said != 0 ? k->said + (at - k->at) : wall;
}

int64_t
slurm_now(const struct cluster *c)
{
	return slurm_clock_at(&c->slurm_clock, now_s(), now_wall());
}
