/* SPDX-License-Identifier: MIT */
/*
 * Slurm's clock.  Times that Slurm writes are compared with Slurm's own clock,
 * because the clock of our host may be set, or may be wrong.
 */
#include "config.h"

#include "collector/base/cluster.h"

void
slurm_clock_set(struct slurm_clock *k, int64_t shown, int64_t at)
{
	k->shown = shown;
	k->at = at;
}

int64_t
slurm_clock_at(const struct slurm_clock *k, int64_t at, int64_t wall)
{
	return k->shown != 0 ? k->shown + (at - k->at) : wall;
}

int64_t
slurm_now(const struct cluster *c)
{
	return slurm_clock_at(&c->clock, now_s(), now_wall());
}
