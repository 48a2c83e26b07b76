/* SPDX-License-Identifier: MIT */
/* See faults.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/simulate/faults.h"
#include "tests/simulate/world.h"

static struct {
	struct faults now;
	struct prng random;
	int64_t points_left; /* until the next crash */
	int power;
	int ended;
} state;

/* One of the values, or 0 for half of the seeds. */
static int64_t
choose(int64_t a, int64_t b, int64_t c)
{
	switch (prng_below(&state.random, 6)) {
	case 0:
		return a;
	case 1:
		return b;
	case 2:
		return c;
	default:
		return 0;
	}
}

static void
crash_plan(void)
{
	state.points_left = state.now.crash_every == 0 ?
	    -1 :
	    fault_wait(state.now.crash_every) + 1;
}

void
faults_begin(int none)
{
	struct faults *f = &state.now;

	prng_init(&state.random, world_seed(), "faults");
	memset(f, 0, sizeof(*f));
	if (!none) {
		f->crash_every = (unsigned)choose(200, 2000, 20000);
		f->power_share = (unsigned)choose(100000, 500000, 1000000);
		f->request_lost = (unsigned)choose(1000, 20000, 200000);
		f->answer_lost = (unsigned)choose(1000, 20000, 200000);
		f->answer_late = (unsigned)choose(1000, 10000, 100000);
		f->repeated = (unsigned)choose(1000, 10000, 100000);
		f->outage_every = choose(HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS);
		f->outage_max = 1 + choose(MINUTE_MS, HOUR_MS, 6 * HOUR_MS);
		f->cache_lost = (unsigned)choose(100000, 500000, 1000000);
		f->upgraded = (unsigned)choose(100000, 300000, 500000);
		f->restored = (unsigned)choose(50000, 200000, 500000);
		f->collector_every = choose(10 * MINUTE_MS, HOUR_MS,
		    6 * HOUR_MS);
		f->reload_every = choose(10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS);
		f->step_every = choose(HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS);
		f->full_every = choose(HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS);
		f->broken_every = choose(HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS);
	}
	crash_plan();
}

const struct faults *
faults(void)
{
	return &state.now;
}

void
faults_end(void)
{
	memset(&state.now, 0, sizeof(state.now));
	state.ended = 1;
	crash_plan();
	trace("the faults end");
}

int
faults_ended(void)
{
	return state.ended;
}

void
fault_point(const char *where)
{
	char why[64];

	if (process_current() != PROCESS_SUBMITTER || state.points_left < 0 ||
	    state.points_left-- > 0)
		return;
	crash_plan();
	state.power = prng_chance(&state.random, state.now.power_share);
	snprintf(why, sizeof(why), "crash at %s", where);
	process_die(why);
}

int
fault_power_cut(void)
{
	int power = state.power;

	state.power = 0;
	return power;
}

/* A sum of halves: geometric, without floating point. */
int64_t
fault_wait(int64_t mean)
{
	int64_t n = 0;

	while (n < 20 * mean && prng_chance(&state.random, 500000))
		n += mean;
	return n + prng_between(&state.random, 0, mean);
}
