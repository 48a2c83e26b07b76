/* SPDX-License-Identifier: MIT */
/* Slurm's clock. */
#include "config.h"

#include "collector/base/cluster.h"
#include "tests/unit/check.h"

/* Once slurmctld has said its time, no step of our clock is in it. */
static void
test_slurm_clock(void)
{
	static struct cluster c;
	struct slurm_clock k = { .shown = 0 };
	int64_t now = now_wall();

	CHECK_INT(slurm_clock_at(&k, 50, 1000), 1000);
	CHECK_INT(slurm_clock_at(&k, 90, 4600), 4600);
	slurm_clock_set(&k, 1700000000, 100);
	CHECK_INT(slurm_clock_at(&k, 100, 1000), 1700000000);
	CHECK_INT(slurm_clock_at(&k, 160, 1000), 1700000060);
	CHECK_INT(slurm_clock_at(&k, 160, 1800000000), 1700000060);
	/* Its own steps are. */
	slurm_clock_set(&k, 1699996400, 200);
	CHECK_INT(slurm_clock_at(&k, 210, 1800000000), 1699996410);

	CHECK(slurm_now(&c) >= now && slurm_now(&c) <= now_wall());
	slurm_clock_set(&c.clock, now - 3600, now_s());
	CHECK(slurm_now(&c) >= now - 3600 && slurm_now(&c) < now - 1800);
}

int
main(void)
{
	test_slurm_clock();
	return check_done();
}
