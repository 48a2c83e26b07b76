/* SPDX-License-Identifier: MIT */
/*
 * A job id that Slurm has given again, with a simulated clock: slurmctld has
 * forgotten an unconfirmed run, and the next run of the id waits for it.  The
 * collector is asked at once, and its first answer is enough.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "submitter/reconcile/reconcile.h"
#include "tests/unit/channel_pair.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"
#include "tests/unit/submitter/simulation.h"

static struct channel_pair pair;
static unsigned n_lookups, n_keys;
static struct run_key asked;		 /* the first key of the last lookup */
static const char *cluster_of = "alpha"; /* of each lookup; NULL = any */
static unsigned n_rows;			 /* of all walks */

int __real_spool_each(struct spool *sp, enum dest dest, enum run_state state,
    struct spool_after *after, int max, spool_fn *fn, void *arg);
int __wrap_spool_each(struct spool *sp, enum dest dest, enum run_state state,
    struct spool_after *after, int max, spool_fn *fn, void *arg);

int
__wrap_spool_each(struct spool *sp, enum dest dest, enum run_state state,
    struct spool_after *after, int max, spool_fn *fn, void *arg)
{
	int n = __real_spool_each(sp, dest, state, after, max, fn, arg);

	n_rows += n > 0 ? (unsigned)n : 0;
	return n;
}

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	char cluster[CLUSTER_MAX];

	(void)c;
	(void)fd;
	(void)arg;
	CHECK_INT(h->type, MSG_LOOKUP);
	n_lookups++;
	rd_name(r, cluster, sizeof(cluster));
	if (cluster_of != NULL)
		CHECK_STR(cluster, cluster_of);
	rd_u64(r);
	n_keys = rd_u32(r);
	rd_run_key(r, &asked);
	CHECK_STR(asked.cluster, cluster);
}

static const struct channel_ops channel_ops = { on_frame, channel_pair_broken,
	NULL };

static void
begin(void)
{
	sim_begin();
	channel_pair_open(&pair, sim.w->base, ROLE_SUBMITTER, ROLE_COLLECTOR,
	    &channel_ops);
	sim.w->peers[ROLE_COLLECTOR] = pair.ours;
	n_lookups = n_keys = 0;
}

static void
end(void)
{
	sim.w->peers[ROLE_COLLECTOR] = NULL;
	channel_pair_close(&pair);
	sim_end();
}

static void
pass(int64_t ms)
{
	sim_run(ms);
	loop_settle(sim.w->base);
}

static struct run_key
key_of(int64_t start)
{
	struct run_key key = { .cluster = "alpha", .job = 7, .start = start };

	return key;
}

/* Stores a record of job 7 and does what main.c does then. */
static void
record(int64_t submit, int64_t start, unsigned flags)
{
	struct job job;
	int64_t id;

	job_init(&job);
	job.key = key_of(start);
	job.submit = submit;
	job.flags = JOB_HAS_START | flags;
	CHECK(spool_put(sim.spool, &job, &id) <= PUT_KNOWN);
	slurm_lookup_record(sim.lookup, id);
	job_clear(&job);
	pass(0);
}

static void
not_found(int64_t start)
{
	struct run_key key = key_of(start);

	missing_report(sim.missing, &key);
	pass(0);
}

/* The id was given again: the run that Slurm shows does not wait. */
static void
test_reused(void)
{
	begin();
	record(990, 1000, JOB_UNCONFIRMED);
	record(1002, 1003, JOB_UNCONFIRMED);
	CHECK_INT(sim_state(7, 1003), START_BLOCKED);
	/* Slurm has not shown the second one yet. */
	CHECK_INT(n_lookups, 0);
	record(1002, 1003, JOB_LIVE);
	CHECK_INT(sim_state(7, 1003), START_BLOCKED);
	CHECK_INT(n_lookups, 1);
	CHECK_INT(n_keys, 1);
	CHECK_INT(asked.start, 1000);
	/* until Slurm has answered */
	record(1002, 1003, JOB_LIVE);
	CHECK_INT(n_lookups, 1);
	pass(30000);
	CHECK_INT(n_lookups, 2);
	not_found(1000);
	CHECK_INT(sim_state(7, 1000), START_REJECTED);
	CHECK_INT(sim_state(7, 1003), START_DUE);
	pass(60000);
	CHECK_INT(n_lookups, 2);
	end();
}

/* The lookup shows the first run: it is first. */
static void
test_known(void)
{
	begin();
	record(990, 1000, JOB_UNCONFIRMED);
	record(1002, 1003, JOB_LIVE);
	CHECK_INT(n_lookups, 1);
	record(990, 1000, JOB_LIVE);
	CHECK_INT(sim_state(7, 1000), START_DUE);
	CHECK_INT(sim_state(7, 1003), START_BLOCKED);
	pass(60000);
	CHECK_INT(n_lookups, 1);
	not_found(1000);
	CHECK_INT(sim_state(7, 1000), START_DUE);
	end();
}

/* One submission, and a run that Slurm does not show yet, prove nothing. */
static void
test_one_answer(void)
{
	begin();
	record(990, 1000, JOB_UNCONFIRMED);
	not_found(1000);
	pass(5000);
	CHECK_INT(sim_state(7, 1000), START_DUE);
	record(1002, 1003, JOB_UNCONFIRMED);
	not_found(1000);
	pass(5000);
	CHECK_INT(sim_state(7, 1000), START_DUE);
	end();
	begin();
	record(0, 1000, JOB_UNCONFIRMED);
	record(1002, 1003, JOB_LIVE);
	not_found(1000);
	pass(60000);
	CHECK_INT(sim_state(7, 1000), START_DUE);
	CHECK_INT(n_lookups, 0);
	end();
}

#define CLUSTERS 40
#define RUNS	 400

/* Each row is read once, however many clusters there are. */
static void
test_clusters(void)
{
	struct run_key key = { .cluster = "" };
	unsigned i;

	begin();
	cluster_of = NULL;
	for (i = 0; i < RUNS; i++) {
		snprintf(key.cluster, sizeof(key.cluster), "c%u", i % CLUSTERS);
		key.job = i + 1;
		key.start = 1000 + i;
		CHECK(spool_put_from_backend(sim.spool, &key) != -1);
	}
	n_rows = 0;
	slurm_lookup_in_doubt(sim.lookup);
	pass(0);
	CHECK_INT(n_lookups, CLUSTERS);
	CHECK_INT(n_keys, RUNS / CLUSTERS);
	CHECK_INT(n_rows, RUNS);
	/* more runs than one message has */
	for (i = 0; i < RUNS; i++) {
		snprintf(key.cluster, sizeof(key.cluster), "c0");
		key.job = RUNS + i + 1;
		key.start = 1000 + i;
		CHECK(spool_put_from_backend(sim.spool, &key) != -1);
	}
	n_lookups = 0;
	slurm_lookup_in_doubt(sim.lookup);
	pass(0);
	CHECK_INT(n_lookups, CLUSTERS + 1);
	cluster_of = "alpha";
	end();
}

/*
 * The spool of an earlier version has a run of cc-backend whose start is in
 * milliseconds.  No reader accepts a lookup with this start.
 */
static void
test_far_start(void)
{
	struct run_key key = { .cluster = "alpha",
		.job = 7,
		.start = TIME_S_MAX + 1 };

	begin();
	CHECK_INT(spool_put_from_backend(sim.spool, &key), 1);
	slurm_lookup_in_doubt(sim.lookup);
	pass(0);
	CHECK_INT(n_lookups, 0);
	key.start = TIME_S_MAX;
	CHECK_INT(spool_put_from_backend(sim.spool, &key), 1);
	slurm_lookup_in_doubt(sim.lookup);
	pass(0);
	CHECK_INT(n_lookups, 1);
	CHECK_INT(n_keys, 1);
	CHECK_INT(asked.start, TIME_S_MAX);
	end();
}

/*
 * A centre asks about runs that are open for more than five minutes, also about
 * those that are not sent.
 */
static void
test_open_long(enum run_state state)
{
	int64_t now = time(NULL);
	struct spool_run run;
	struct run_key key;
	int from_stream, age;

	for (from_stream = 0; from_stream < 2; from_stream++)
		for (age = 200; age <= 400; age += 200) {
			begin();
			spool_policy(sim.spool)->from_stream = from_stream;
			record(now - age, now - age, 0);
			key = key_of(now - age);
			CHECK_INT(spool_find(sim.spool, &key, &run), 1);
			run.state[DEST_REST] = state;
			CHECK_INT(spool_save(sim.spool, &run), 0);
			slurm_lookup_in_doubt(sim.lookup);
			pass(0);
			CHECK_INT(n_lookups, from_stream && age == 400);
			spool_policy(sim.spool)->from_stream = 0;
			end();
		}
}

/*
 * Without cc-backend there are no comparisons: an unconfirmed run is looked up
 * as often as with them, and the second answer counts.
 */
static void
test_nats_only(void)
{
	int64_t every = 1000 *
	    (int64_t)conf_int(&sim.w->conf, CONF_CC_POLL_INTERVAL);
	struct run_key key = key_of(1000);
	struct spool_run run;

	begin();
	conf_set(&sim.w->conf, CONF_CC_REST_SUBMIT, "false");
	spool_policy(sim.spool)->to[DEST_REST] = 0;
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	record(990, 1000, JOB_UNCONFIRMED);
	reconcile_peer(sim.reconcile);
	pass(0);
	CHECK_INT(n_lookups, 1);
	not_found(1000);
	pass(every);
	CHECK_INT(n_lookups, 2);
	CHECK_INT(asked.start, 1000);
	not_found(1000);
	pass(5000);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.state[DEST_NATS], START_REJECTED);
	pass(every);
	CHECK_INT(n_lookups, 2);
	conf_set(&sim.w->conf, CONF_CC_REST_SUBMIT, "true");
	end();
}

int
main(void)
{
	test_reused();
	test_known();
	test_one_answer();
	test_clusters();
	test_far_start();
	test_open_long(START_COMMITTED);
	test_open_long(RUN_NONE);
	test_nats_only();
	return check_done();
}
