/* SPDX-License-Identifier: MIT */
/* See host.h. */
#include "config.h"

#include "tests/simulate/disk.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/host.h"
#include "tests/simulate/world.h"

static void
on_step(void *arg)
{
	struct prng *random = arg;

	if (faults_ended())
		return;
	world_wall_step(prng_between(random, -2 * HOUR_MS, 2 * HOUR_MS));
	world_after(PROCESS_NONE,
	    fault_wait("clock-step", faults()->step_every), on_step, random);
}

static void
on_disk_good(void *arg)
{
	(void)arg;
	disk_capacity(SIZE_MAX / 4);
	disk_broken(0);
	trace("the disk is good again");
}

static void
on_disk_full(void *arg)
{
	struct prng *random = arg;

	if (faults_ended())
		return;
	disk_capacity(disk_used() + prng_below(random, 100000));
	trace("the disk is full");
	world_after(PROCESS_NONE, prng_between(random, 1000, 2 * HOUR_MS),
	    on_disk_good, NULL);
	world_after(PROCESS_NONE, fault_wait("disk-full", faults()->full_every),
	    on_disk_full, random);
}

static void
on_disk_broken(void *arg)
{
	struct prng *random = arg;

	if (faults_ended())
		return;
	disk_broken(1);
	trace("the disk fails");
	world_after(PROCESS_NONE, prng_between(random, 1000, HOUR_MS / 4),
	    on_disk_good, NULL);
	world_after(PROCESS_NONE,
	    fault_wait("disk-broken", faults()->broken_every), on_disk_broken,
	    random);
}

void
host_begin(void)
{
	static struct prng random;
	const struct faults *f = faults();

	prng_init(&random, world_seed(), "host");
	if (f->step_every > 0)
		world_after(PROCESS_NONE,
		    fault_wait("clock-step", f->step_every), on_step, &random);
	if (f->full_every > 0)
		world_after(PROCESS_NONE,
		    fault_wait("disk-full", f->full_every), on_disk_full,
		    &random);
	if (f->broken_every > 0)
		world_after(PROCESS_NONE,
		    fault_wait("disk-broken", f->broken_every), on_disk_broken,
		    &random);
}

void
host_good(void)
{
	on_disk_good(NULL);
}
