/* SPDX-License-Identifier: MIT */
/*
 * A fan-in in one world: a stand-in for the collector, the product's submitter
 * of the cluster, a simulated NATS server, the product's receiver and submitter
 * of the centre, and cc-backend.  What ran at the cluster is compared with what
 * cc-backend has.  The options are those of tests/simulate/seeds.c.
 */
#include "config.h"

#include "tests/simulate/backend.h"
#include "tests/simulate/book.h"
#include "tests/simulate/broker.h"
#include "tests/simulate/check.h"
#include "tests/simulate/collector_side.h"
#include "tests/simulate/coverage.h"
#include "tests/simulate/disk.h"
#include "tests/simulate/fanin/workers.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/host.h"
#include "tests/simulate/others.h"
#include "tests/simulate/rest.h"
#include "tests/simulate/seeds.h"
#include "tests/simulate/submitter.h"
#include "tests/simulate/truth.h"

#define EPOCH	 1790000000
#define END_RUN	 (13 * HOUR_MS) /* until the longest run has ended */
#define END_REST (24 * HOUR_MS)

static struct supervised *centre, *receiver;

/* One of both is ready: a new socketpair if the other is, too. */
static void
centre_join(void)
{
	struct link *l;

	if (!supervised_serves(receiver) || !supervised_serves(centre))
		return;
	l = link_new(PROCESS_RECEIVER, PROCESS_SUBMITTER);
	supervised_peer(receiver, ROLE_SUBMITTER, l, 0);
	supervised_peer(centre, ROLE_RECEIVER, l, 1);
}

/* One after the other: the order of the random numbers is part of a seed. */
static void
site_begin(uint64_t seed, int no_faults)
{
	enum cc_version version;
	struct prng random;
	int64_t commit_ms;
	int history;

	prng_init(&random, seed, "site");
	version = prng_chance(&random, 700000) ?
	    CC_1_5_4 :
	    (enum cc_version)prng_below(&random, CC_1_5_4);
	commit_ms = prng_between(&random, 10, 180) * SECOND_MS;
	backend_begin(version, commit_ms);
	host_begin();
	broker_begin(no_faults);
	history = prng_chance(&random, 250000);
	centre = submitter_new("120", history);
	supervised_conf(centre, CONF_SOURCE, "stream");
	supervised_conf(centre, CONF_CLUSTERS, "[\"" TRUTH_CLUSTER "\"]");
	receiver = receiver_new(centre_join);
	collector_side_begin(cluster_new(collector_side_link));
	submitter_begin(centre_join);
	workers_begin(no_faults);
	others_begin();
	truth_begin((unsigned)prng_between(&random, 4, 60));
}

static void
faults_stop(void)
{
	truth_end();
	faults_end();
	broker_end();
	workers_end();
	host_good();
}

static void
verdict(void)
{
	check_end();
	workers_check();
	book_check();
}

static void
seed_run(uint64_t seed, int64_t hours, int no_faults, struct figures *f)
{
	world_begin(seed, EPOCH);
	faults_begin(no_faults);
	process_fault_set(workers_fault);
	disk_begin();
	site_begin(seed, no_faults);
	world_run(hours * HOUR_MS, NULL);
	faults_stop();
	rest_run(END_RUN + END_REST, verdict);
	verdict();
	f->hash = trace_hash();
	f->ms = world_ms();
	while (truth_run((unsigned)f->n[0]) != NULL)
		f->n[0]++;
	f->n[1] = check_absent();
	f->n[2] = backend_numbers()->requests;
	f->n[3] = submitter_starts();
	f->n[4] = workers_starts();
	f->n[5] = broker_numbers()->stored;
	f->n[6] = broker_numbers()->duplicates;
	f->n[7] = broker_numbers()->repeated;
}

static const struct simulation simulation = {
	.name = "fanin",
	.hours = 6,
	.words = { "runs", "refused by cc-backend", "requests",
	    "starts of the centre's submitter", "starts of the others",
	    "messages stored", "published again", "delivered again" },
	.run = seed_run,
	.coverage = coverage_print,
};

int
main(int argc, char **argv)
{
	coverage_begin();
	return seeds_main(&simulation, argc, argv);
}
