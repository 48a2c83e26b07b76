/* SPDX-License-Identifier: MIT */
/* See faults.h.  A seed has some kinds of faults, each with its own rate. */
#include "config.h"

#include "tests/simulate/reduce.h"
#include "tests/simulate/site/faults.h"
#include "tests/simulate/site/runner.h"
#include "tests/simulate/site/slurm.h"
#include "tests/simulate/world.h"

#define CHANCE_OF_KIND 400000 /* of a million seeds have this kind */
#define CUTS	       20000  /* of a million answers */
#define FRAGILE	       15000  /* of a million records: the store crashes */
#define SCRIPT_FRAGILE 300000 /* of a million announced job scripts */
#define STEP_MAX_MS    (2 * HOUR_MS)

static const struct fault_ops *fault_ops;
static struct prng *dice; /* of the kind that happens */
static unsigned count;
static int64_t last; /* ms: see site_faults_last() */
static int over, hide;
static int has_right; /* the user of the commands is an operator */

static int64_t
some(int64_t most)
{
	return (int64_t)prng_below(dice, (uint64_t)most);
}

/* Mostly minutes, seldom hours, very seldom days. */
static int64_t
outage_ms(void)
{
	if (prng_chance(dice, 20000))
		return some(50 * HOUR_MS);
	if (prng_chance(dice, 150000))
		return some(5 * HOUR_MS);
	return some(20 * MINUTE_MS);
}

/* A fault begins or ends. */
static void
note(void)
{
	last = world_ms();
}

static void
ctld_back(void *arg)
{
	(void)arg;
	note();
	slurm_ctld_set(1);
}

static void
ctld_away(void)
{
	if (!slurm_ctld_is_up())
		return;
	slurm_ctld_set(0);
	/* A restart takes seconds. */
	world_after(PROCESS_NONE,
	    prng_chance(dice, 500000) ? some(5000) : outage_ms(), ctld_back,
	    NULL);
}

static void
dbd_back(void *arg)
{
	(void)arg;
	note();
	slurm_dbd_set(1);
}

static void
dbd_away(void)
{
	if (!slurm_dbd_is_up())
		return;
	slurm_dbd_set(0);
	world_after(PROCESS_NONE, outage_ms(), dbd_back, NULL);
}

static void
dbd_quick(void *arg)
{
	(void)arg;
	note();
	slurm_dbd_delay_set(0);
}

static void
dbd_slow(void)
{
	slurm_dbd_delay_set(some(10 * MINUTE_MS));
	world_after(PROCESS_NONE, some(HOUR_MS), dbd_quick, NULL);
}

static void
right_set(int has)
{
	has_right = has;
	slurm_operator_set(has);
	slurm_coordinates_set(0);
}

static void
right_back(void *arg)
{
	(void)arg;
	note();
	right_set(1);
}

static void
right_removed(void)
{
	right_set(0);
	world_after(PROCESS_NONE, outage_ms(), right_back, NULL);
}

/*
 * An operator that becomes a coordinator at once is noticed only when the right is
 * queried again, as the manual says.
 */
static void
coordinates(void *arg)
{
	if (over || has_right)
		return;
	dice = arg;
	if (!fault_ops->collector_lacks_right()) {
		world_after(PROCESS_NONE, MINUTE_MS, coordinates, arg);
		return;
	}
	slurm_coordinates_set(1);
	world_after(PROCESS_NONE, outage_ms(), right_back, NULL);
}

static void
right_limited(void)
{
	right_set(0);
	coordinates(dice);
}

static void
collector_back(void *arg)
{
	(void)arg;
	note();
	fault_ops->collector_away(0);
}

static void
collector_away(void)
{
	fault_ops->collector_away(1);
	world_after(PROCESS_NONE, outage_ms(), collector_back, NULL);
}

static void
room_again(void *arg)
{
	(void)arg;
	note();
	fault_ops->store_flow(0);
}

static void
store_full(void)
{
	if (fault_ops->store_flow == NULL)
		return;
	fault_ops->store_flow(1);
	world_after(PROCESS_NONE, outage_ms(), room_again, NULL);
}

static void
clock_step(void)
{
	world_wall_step(some(2 * STEP_MAX_MS) - STEP_MAX_MS);
}

static void
crash(void)
{
	fault_ops->collector_crash();
}

static void
store_crashes(void)
{
	fault_ops->store_crash();
}

static void
listener_crashes(void)
{
	fault_ops->listener_crash();
}

static void
reload(void)
{
	fault_ops->reload();
}

static const struct fault_kind {
	void (*happen)(void);
	int64_t gap_ms; /* the mean time between two of them */
	int hides;	/* runs may end unseen meanwhile */
	const char *name;
} kinds[] = {
	{ crash, 20 * MINUTE_MS, 1, "collector-crash" },
	{ store_crashes, 30 * MINUTE_MS, 1, "store-crash" },
	{ listener_crashes, HOUR_MS, 0, "listener-crash" },
	{ ctld_away, 2 * HOUR_MS, 1, "slurmctld-away" },
	{ dbd_away, 3 * HOUR_MS, 0, "slurmdbd-away" },
	{ dbd_slow, 3 * HOUR_MS, 0, "slurmdbd-slow" },
	{ right_removed, 4 * HOUR_MS, 1, "right-removed" },
	{ store_full, 4 * HOUR_MS, 1, "store-full" },
	{ clock_step, HOUR_MS, 0, "clock-step" },
	{ reload, HOUR_MS, 0, "reload" },
	{ right_limited, 6 * HOUR_MS, 1, "coordinator" },
	{ collector_away, 6 * HOUR_MS, 1, "collector-away" },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct prng dices[KINDS];

static void
on_fault(void *arg)
{
	const struct fault_kind *kind = arg;

	if (over)
		return;
	dice = &dices[kind - kinds];
	count++;
	note();
	kind->happen();
	world_after(PROCESS_NONE, some(2 * kind->gap_ms), on_fault, arg);
}

/* With random numbers of its own: the other kinds stay as they are. */
static void
script_fragile_choose(void)
{
	struct prng choices;

	prng_init(&choices, world_seed(), "collector-fragile");
	if (fault_ops->collector_fragile != NULL &&
	    prng_chance(&choices, CHANCE_OF_KIND) &&
	    reduce_allows("collector-fragile")) {
		hide = 1;
		fault_ops->collector_fragile(SCRIPT_FRAGILE);
	}
}

void
site_faults_begin(const struct fault_ops *ops, int none)
{
	struct prng choices;
	size_t i;

	fault_ops = ops;
	has_right = 1;
	prng_init(&choices, world_seed(), "site faults");
	/* One seed of eight has no fault. */
	if (prng_below(&choices, 8) == 0 || none)
		return;
	if (prng_chance(&choices, CHANCE_OF_KIND) &&
	    reduce_allows("answer-cut")) {
		hide = 1;
		runner_faults_set(CUTS, CUTS);
	}
	if (prng_chance(&choices, CHANCE_OF_KIND) &&
	    fault_ops->store_fragile != NULL &&
	    reduce_allows("store-fragile")) {
		hide = 1;
		fault_ops->store_fragile(FRAGILE);
	}
	script_fragile_choose();
	for (i = 0; i < KINDS; i++) {
		if (!prng_chance(&choices, CHANCE_OF_KIND) ||
		    !reduce_allows(kinds[i].name))
			continue;
		hide |= kinds[i].hides;
		dice = &dices[i];
		prng_init(dice, world_seed(), kinds[i].name);
		world_after(PROCESS_NONE, some(2 * kinds[i].gap_ms), on_fault,
		    (void *)(uintptr_t)&kinds[i]);
	}
}

void
site_faults_end(void)
{
	over = 1;
	runner_faults_set(0, 0);
	if (fault_ops->store_fragile != NULL)
		fault_ops->store_fragile(0);
	if (fault_ops->collector_fragile != NULL)
		fault_ops->collector_fragile(0);
	slurm_ctld_set(1);
	slurm_dbd_set(1);
	slurm_dbd_delay_set(0);
	right_set(1);
	fault_ops->collector_away(0);
	if (fault_ops->store_flow != NULL)
		fault_ops->store_flow(0);
}

unsigned
site_faults_count(void)
{
	return count;
}

int64_t
site_faults_last(void)
{
	return last;
}

int
site_faults_hide_runs(void)
{
	return hide;
}
