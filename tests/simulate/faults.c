/* SPDX-License-Identifier: MIT */
/* See faults.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/simulate/coverage.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/reduce.h"
#include "tests/simulate/world.h"

#define STREAMS_MAX 16

static struct {
	struct faults now;
	struct prng random;
	struct {
		const char *kind;
		struct prng random;
	} streams[STREAMS_MAX]; /* of the times of each kind */
	int64_t points_left;	/* until the next crash */
	int power;
	int ended;
} state;

static struct prng *
stream_of(const char *kind)
{
	unsigned i = 0;

	while (state.streams[i].kind != NULL &&
	    strcmp(state.streams[i].kind, kind) != 0)
		invariant(++i < STREAMS_MAX, "too many kinds of faults");
	if (state.streams[i].kind == NULL) {
		state.streams[i].kind = kind;
		prng_init(&state.streams[i].random, world_seed(), kind);
	}
	return &state.streams[i].random;
}

/* One of the values, or 0 for half of the seeds. */
static int64_t
choose(const char *kind, int64_t a, int64_t b, int64_t c)
{
	int64_t v;

	switch (prng_below(&state.random, 6)) {
	case 0:
		v = a;
		break;
	case 1:
		v = b;
		break;
	case 2:
		v = c;
		break;
	default:
		return 0;
	}
	return reduce_allows(kind) ? v : 0;
}

static void
crash_plan(void)
{
	state.points_left = state.now.crash_every == 0 ?
	    -1 :
	    fault_wait("crash", state.now.crash_every) + 1;
}

static unsigned
chance(const char *kind, unsigned a, unsigned b, unsigned c)
{
	return (unsigned)choose(kind, a, b, c);
}

static void
requests_choose(struct faults *f)
{
	f->crash_every = chance("crash", 200, 2000, 20000);
	f->power_share = chance("power-cut", 100000, 500000, 1000000);
	f->request_lost = chance("request-lost", 1000, 20000, 200000);
	f->answer_lost = chance("answer-lost", 1000, 20000, 200000);
	f->answer_late = chance("answer-late", 1000, 10000, 100000);
	f->repeated = chance("repeated", 1000, 10000, 100000);
	f->proxied = chance("proxy", 10000, 200000, 1000000);
}

/* With random numbers of its own: the other kinds stay as they are. */
static void
listings_choose(struct faults *f)
{
	struct prng *random = stream_of("listing-late");

	if (prng_chance(random, 300000) && reduce_allows("listing-late"))
		f->listing_late = 500000;
}

static void
times_choose(struct faults *f)
{
	f->outage_every = choose("outage", 15 * MINUTE_MS, HOUR_MS,
	    4 * HOUR_MS);
	f->outage_max = 1 +
	    choose("long-outage", MINUTE_MS, HOUR_MS, 6 * HOUR_MS);
	f->cache_lost = chance("cache-lost", 100000, 500000, 1000000);
	f->upgraded = chance("upgrade", 100000, 300000, 500000);
	f->restored = chance("restore", 50000, 200000, 500000);
	f->collector_every = choose("collector-crash", 10 * MINUTE_MS, HOUR_MS,
	    6 * HOUR_MS);
	f->reload_every = choose("reload", 10 * MINUTE_MS, HOUR_MS,
	    6 * HOUR_MS);
	f->step_every = choose("clock-step", HOUR_MS / 2, 2 * HOUR_MS,
	    6 * HOUR_MS);
	f->full_every = choose("disk-full", HOUR_MS / 2, 2 * HOUR_MS,
	    6 * HOUR_MS);
	f->broken_every = choose("disk-broken", HOUR_MS / 2, 2 * HOUR_MS,
	    6 * HOUR_MS);
	f->stopped_every = choose("other-stop", HOUR_MS, 4 * HOUR_MS,
	    12 * HOUR_MS);
}

void
faults_begin(int none)
{
	struct faults *f = &state.now;

	prng_init(&state.random, world_seed(), "faults");
	memset(f, 0, sizeof(*f));
	process_fault_set(fault_point);
	if (!none) {
		requests_choose(f);
		listings_choose(f);
		times_choose(f);
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

	if (process_current() != PROCESS_SUBMITTER)
		return;
	coverage_point(where, 0);
	if (state.points_left < 0 || state.points_left-- > 0)
		return;
	coverage_point(where, 1);
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

int64_t
fault_listing_ms(int64_t most)
{
	struct prng *random = stream_of("listing-late");

	return prng_chance(random, state.now.listing_late) ?
	    prng_between(random, 0, most) :
	    0;
}

/* A sum of halves: geometric, without floating point. */
int64_t
fault_wait(const char *kind, int64_t mean)
{
	struct prng *random = stream_of(kind);
	int64_t n = 0;

	while (n < 20 * mean && prng_chance(random, 500000))
		n += mean;
	return n + prng_between(random, 0, mean);
}
