/* SPDX-License-Identifier: MIT */
/* See workers.h. */
#include "config.h"

#include <sqlite3.h>
#include <string.h>

#include "submitter/spool/spool.h"
#include "tests/simulate/broker.h"
#include "tests/simulate/coverage.h"
#include "tests/simulate/disk.h"
#include "tests/simulate/fanin/workers.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/process.h"
#include "tests/simulate/reduce.h"
#include "tests/simulate/truth.h"

#define RESTART_MS 500
#define STREAM	   "CC_RECORD_" TRUTH_CLUSTER
#define SPOOL_NAME "spool.db" /* submitter/main.c */

extern char __start_cluster_data[], __stop_cluster_data[];
extern char __start_cluster_bss[], __stop_cluster_bss[];
int cluster_main(int argc, char **argv);
void cluster_process_main(int (*product_main)(int, char **), int fd);

extern char __start_receiver_data[], __stop_receiver_data[];
extern char __start_receiver_bss[], __stop_receiver_bss[];
int receiver_main(int argc, char **argv);
void receiver_process_main(int (*product_main)(int, char **), int fd);

struct side {
	struct supervised *sv;
	void (*ready)(void);
	const char *kind;    /* of the fault */
	int64_t crash_every; /* fault points, mean; 0 = none */
	int64_t points_left; /* until the next crash; -1 = none */
	int power;	     /* the crash is a power cut */
};

static struct side cluster = { .kind = "cluster-crash", .points_left = -1 };
static struct side receiver = { .kind = "receiver-crash", .points_left = -1 };
static struct prng random_choices;
static unsigned power_share; /* of a million crashes of the cluster */
static unsigned starts;

unsigned
workers_starts(void)
{
	return starts;
}

static void
on_restart(void *arg)
{
	struct side *side = arg;

	starts++;
	supervised_start(side->sv);
}

static void
side_ended(struct side *side, enum process_id id)
{
	link_process_ended(id);
	supervised_ended(side->sv);
	world_after(PROCESS_NONE, RESTART_MS, on_restart, side);
}

/* --- the cluster's submitter --- */

static void
cluster_start(void)
{
	cluster_process_main(cluster_main, supervised_fd(cluster.sv));
}

static void
cluster_ended(const char *why)
{
	(void)why;
	disk_choose(DISK_OF_CLUSTER);
	if (cluster.power)
		disk_power_cut();
	cluster.power = 0;
	disk_process_ended();
	disk_choose(0);
	side_ended(&cluster, PROCESS_CLUSTER);
}

static const struct process_ops cluster_ops = {
	.name = "cluster",
	.memory = { { __start_cluster_data, __stop_cluster_data },
	    { __start_cluster_bss, __stop_cluster_bss } },
	.start = cluster_start,
	.ended = cluster_ended,
};

/* --- the receiver --- */

static void
receiver_start(void)
{
	receiver_process_main(receiver_main, supervised_fd(receiver.sv));
}

static void
receiver_ended(const char *why)
{
	(void)why;
	side_ended(&receiver, PROCESS_RECEIVER);
}

static const struct process_ops receiver_ops = {
	.name = "receiver",
	.memory = { { __start_receiver_data, __stop_receiver_data },
	    { __start_receiver_bss, __stop_receiver_bss } },
	.start = receiver_start,
	.ended = receiver_ended,
};

/* --- both --- */

static void
on_ready(struct supervised *sv)
{
	if (sv == cluster.sv)
		cluster.ready();
	else
		receiver.ready();
}

static void
on_reloaded(struct supervised *sv, const char *reason)
{
	(void)sv;
	invariant(reason == NULL, "the configuration is refused: %s", reason);
}

static const struct supervisor_ops supervisor_ops = {
	.ready = on_ready,
	.reloaded = on_reloaded,
};

struct supervised *
cluster_new(void (*ready)(void))
{
	process_define(PROCESS_CLUSTER, &cluster_ops);
	cluster.ready = ready;
	cluster.sv = supervised_new(PROCESS_CLUSTER, ROLE_SUBMITTER,
	    &supervisor_ops);
	supervised_conf(cluster.sv, CONF_DELIVER, "stream");
	supervised_conf(cluster.sv, CONF_NATS_SERVER, "nats");
	supervised_conf(cluster.sv, CONF_CLUSTERS, "[\"" TRUTH_CLUSTER "\"]");
	return cluster.sv;
}

struct supervised *
receiver_new(void (*ready)(void))
{
	process_define(PROCESS_RECEIVER, &receiver_ops);
	receiver.ready = ready;
	receiver.sv = supervised_new(PROCESS_RECEIVER, ROLE_RECEIVER,
	    &supervisor_ops);
	supervised_conf(receiver.sv, CONF_SOURCE, "stream");
	supervised_conf(receiver.sv, CONF_NATS_SERVER, "nats");
	supervised_conf(receiver.sv, CONF_CLUSTERS, "[\"" TRUTH_CLUSTER "\"]");
	return receiver.sv;
}

static void
crash_plan(struct side *side)
{
	side->points_left = side->crash_every == 0 ?
	    -1 :
	    fault_wait(side->kind, side->crash_every) + 1;
}

static void
crash_choose(struct side *side)
{
	static const int64_t every[] = { 0, 0, 100, 1000, 10000 };

	side->crash_every = every[prng_below(&random_choices, 5)];
	if (!reduce_allows(side->kind))
		side->crash_every = 0;
	crash_plan(side);
}

void
workers_begin(int none)
{
	prng_init(&random_choices, world_seed(), "workers");
	if (!none) {
		crash_choose(&cluster);
		crash_choose(&receiver);
		if (prng_chance(&random_choices, 500000) &&
		    reduce_allows("cluster-power-cut"))
			power_share = 500000;
	}
	on_restart(&cluster);
	on_restart(&receiver);
}

void
workers_end(void)
{
	cluster.points_left = receiver.points_left = -1;
}

void
workers_fault(const char *where)
{
	enum process_id id = process_current();
	struct side *side = id == PROCESS_CLUSTER ? &cluster : &receiver;

	if (id == PROCESS_SUBMITTER) {
		fault_point(where);
		return;
	}
	coverage_point(where, 0);
	if (side->points_left < 0 || side->points_left-- > 0)
		return;
	coverage_point(where, 1);
	crash_plan(side);
	side->power = prng_chance(&random_choices, power_share);
	process_die(where);
}

/* --- the end --- */

/* The first value of the answer: a number, or the second number of a blob. */
static uint64_t
spool_number(const char *sql)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;
	uint64_t n = 0;
	int rc;

	invariant(sqlite3_open(SPOOL_NAME, &db) == SQLITE_OK &&
		sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL,
		    NULL) == SQLITE_OK &&
		sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK,
	    "the spool: %s", sqlite3_errmsg(db));
	rc = sqlite3_step(st);
	invariant(rc == SQLITE_ROW || rc == SQLITE_DONE, "the spool: %s",
	    sqlite3_errmsg(db));
	if (rc == SQLITE_ROW && sqlite3_column_bytes(st, 0) == 16 &&
	    sqlite3_column_type(st, 0) == SQLITE_BLOB)
		memcpy(&n, (const char *)sqlite3_column_blob(st, 0) + 8, 8);
	else if (rc == SQLITE_ROW)
		n = (uint64_t)sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return n;
}

void
workers_check(void)
{
	uint64_t left, position;

	process_kill(PROCESS_CLUSTER, "the end");
	process_kill(PROCESS_SUBMITTER, "the end");
	disk_choose(DISK_OF_CLUSTER);
	left = spool_number("SELECT count(*) FROM run WHERE nphase > 0");
	disk_choose(0);
	invariant(left == 0, "%llu runs at the cluster are not published",
	    (unsigned long long)left);
	position = spool_number(
	    "SELECT value FROM meta WHERE name = 'stream:" TRUTH_CLUSTER "'");
	invariant(position == broker_last(STREAM),
	    "the centre's position is %llu, the stream ends at %llu",
	    (unsigned long long)position,
	    (unsigned long long)broker_last(STREAM));
}
