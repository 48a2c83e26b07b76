/* SPDX-License-Identifier: MIT */
/*
 * The submitter with a simulated disk, network, collector and cc-backend.  The
 * options are those of seeds.c.  Each seed runs for some hours with its faults
 * and a day and a half without; then cc-backend must have the truth.
 */
#include "config.h"

#include "tests/simulate/backend.h"
#include "tests/simulate/book.h"
#include "tests/simulate/check.h"
#include "tests/simulate/collector_side.h"
#include "tests/simulate/coverage.h"
#include "tests/simulate/disk.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/host.h"
#include "tests/simulate/others.h"
#include "tests/simulate/refusals.h"
#include "tests/simulate/rest.h"
#include "tests/simulate/seeds.h"
#include "tests/simulate/submitter.h"
#include "tests/simulate/truth.h"
#include "tests/simulate/twin.h"
#include "tests/simulate/world.h"

#define EPOCH	 1790000000
#define END_RUN	 (13 * HOUR_MS) /* until the longest run has ended */
#define END_REST (24 * HOUR_MS)

/* Rare settings. */
static struct supervised *
submitter_choose(uint64_t seed, int history)
{
	struct supervised *submitter = submitter_new("120", history);
	struct prng random;

	prng_init(&random, seed, "settings");
	if (prng_chance(&random, 250000)) {
		supervised_conf(submitter, CONF_REQUEUED_RUNS, "last");
		check_last_requeued();
	}
	return submitter;
}

/* One after the other: the order of the random numbers is part of a seed. */
static void
site_begin(uint64_t seed, int no_faults)
{
	struct supervised *submitter;
	enum cc_version version;
	struct prng random;
	int64_t commit_ms;
	int history;

	prng_init(&random, seed, "site");
	version = prng_chance(&random, 700000) ?
	    CC_1_5_4 :
	    (enum cc_version)prng_below(&random, CC_1_5_4);
	commit_ms = prng_between(&random, 10, 180) * SECOND_MS;
	refusals_begin(no_faults);
	backend_begin(version, commit_ms);
	host_begin();
	history = prng_chance(&random, 250000);
	submitter = submitter_choose(seed, history);
	collector_side_begin(submitter);
	twin_begin(submitter);
	submitter_begin(collector_side_link);
	others_begin();
	truth_begin((unsigned)prng_between(&random, 4, 60));
}

static void
verdict(void)
{
	check_end();
	book_check();
}

static void
seed_run(uint64_t seed, int64_t hours, int no_faults, struct figures *f)
{
	world_begin(seed, EPOCH);
	faults_begin(no_faults);
	disk_begin();
	site_begin(seed, no_faults);
	world_run(hours * HOUR_MS, NULL);
	truth_end();
	faults_end();
	host_good();
	twin_end();
	submitter_retry(refusals_end());
	rest_run(END_RUN + END_REST, verdict);
	verdict();
	f->hash = trace_hash();
	f->ms = world_ms();
	while (truth_run((unsigned)f->n[0]) != NULL)
		f->n[0]++;
	f->n[1] = check_absent();
	f->n[2] = backend_numbers()->requests;
	f->n[3] = submitter_starts();
	f->n[4] = backend_numbers()->restored;
}

static const struct simulation simulation = {
	.name = "simulate",
	.hours = 12,
	.words = { "runs", "refused by cc-backend", "requests",
	    "starts of the submitter", "databases restored" },
	.run = seed_run,
	.coverage = coverage_print,
};

int
main(int argc, char **argv)
{
	coverage_begin();
	return seeds_main(&simulation, argc, argv);
}
