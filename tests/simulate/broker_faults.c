/* SPDX-License-Identifier: MIT */
/* The faults of the simulated NATS server, chosen by the seed. */
#include "config.h"

#include "tests/simulate/broker_private.h"
#include "tests/simulate/reduce.h"

#define LATENCY_MS 20
#define LATE_MS	   (3 * MINUTE_MS) /* above the wait for an acknowledgement */

static struct {
	struct prng choices, random;
	int ended;
	int away;
	unsigned lost, late; /* of a million messages */
	int64_t cut_every;   /* ms, mean, as the next ones */
	int64_t away_every;
	int64_t full_every;
	int64_t purged_every;
	int64_t deleted_every;
	int64_t consumer_every;
} f = { .ended = 1 };

int
broker_is_away(void)
{
	return f.away;
}

int
broker_loses(void)
{
	return !f.ended && f.lost > 0 && prng_chance(&f.random, f.lost);
}

int64_t
broker_latency(void)
{
	if (!f.ended && f.late > 0 && prng_chance(&f.random, f.late))
		return prng_between(&f.random, 1, LATE_MS);
	return prng_between(&f.random, 1, LATENCY_MS);
}

/* One of both, or 0 for half of the seeds. */
static int64_t
choose(const char *kind, int64_t a, int64_t b)
{
	uint64_t v = prng_below(&f.choices, 4);

	if (v > 1)
		return 0;
	return reduce_allows(kind) ? v == 0 ? a : b : 0;
}

/* Between nothing and twice the mean. */
static void
later(int64_t mean, world_fn *fn)
{
	int64_t ms = prng_between(&f.random, 1, 2 * mean);

	if (mean > 0 && !f.ended)
		world_after(PROCESS_NONE, ms, fn, NULL);
}

static void
on_cut(void *arg)
{
	struct broker_client *c;

	(void)arg;
	if (f.ended)
		return;
	c = client_up((unsigned)prng_below(&f.random, 2));
	if (c != NULL)
		client_cut(c);
	later(f.cut_every, on_cut);
}

static void
on_back(void *arg)
{
	(void)arg;
	f.away = 0;
	trace("NATS is back");
}

static void
on_away(void *arg)
{
	struct broker_client *c;

	(void)arg;
	if (f.ended)
		return;
	trace("NATS is away");
	f.away = 1;
	while ((c = client_up(0)) != NULL)
		client_cut(c);
	world_after(PROCESS_NONE,
	    prng_between(&f.random, SECOND_MS, HOUR_MS / 2), on_back, NULL);
	later(f.away_every, on_away);
}

static void
on_room(void *arg)
{
	(void)arg;
	stream_full_set(0);
}

static void
on_full(void *arg)
{
	(void)arg;
	if (f.ended)
		return;
	stream_full_set(1);
	world_after(PROCESS_NONE, prng_between(&f.random, SECOND_MS, HOUR_MS),
	    on_room, NULL);
	later(f.full_every, on_full);
}

static void
on_purge(void *arg)
{
	(void)arg;
	if (f.ended)
		return;
	stream_purge();
	later(f.purged_every, on_purge);
}

static void
on_delete(void *arg)
{
	(void)arg;
	if (f.ended)
		return;
	stream_delete();
	later(f.deleted_every, on_delete);
}

static void
on_consumer(void *arg)
{
	(void)arg;
	if (f.ended)
		return;
	consumer_delete();
	later(f.consumer_every, on_consumer);
}

void
broker_begin(int none)
{
	prng_init(&f.choices, world_seed(), "NATS faults");
	prng_init(&f.random, world_seed(), "NATS");
	if (none)
		return;
	f.ended = 0;
	f.lost = (unsigned)choose("nats-lost", 1000, 50000);
	f.late = (unsigned)choose("nats-late", 1000, 20000);
	f.cut_every = choose("nats-cut", 5 * MINUTE_MS, HOUR_MS);
	f.away_every = choose("nats-away", HOUR_MS, 4 * HOUR_MS);
	f.full_every = choose("nats-full", HOUR_MS, 3 * HOUR_MS);
	f.purged_every = choose("nats-purge", HOUR_MS / 4, 2 * HOUR_MS);
	f.deleted_every = choose("nats-delete", HOUR_MS / 2, 2 * HOUR_MS);
	f.consumer_every = choose("nats-consumer", HOUR_MS / 4, 2 * HOUR_MS);
	later(f.cut_every, on_cut);
	later(f.away_every, on_away);
	later(f.full_every, on_full);
	later(f.purged_every, on_purge);
	later(f.deleted_every, on_delete);
	later(f.consumer_every, on_consumer);
}

void
broker_end(void)
{
	f.ended = 1;
	f.away = 0;
	stream_full_set(0);
}
