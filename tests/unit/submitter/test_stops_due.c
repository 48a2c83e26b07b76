/* SPDX-License-Identifier: MIT */
/*
 * The metrics of waiting and rejected runs count each state in which a start or
 * a stop waits, for cc-backend or for NATS.
 */
#include "config.h"

#include "submitter/ctl.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

static long long starts_due = -1, stops_due = -1, rejected = -1;

static void
on_row(const struct writer *row)
{
	struct reader r;
	char field[5][256];
	unsigned i;

	rd_init(&r, row->buf, row->len);
	rd_u8(&r); /* the table */
	rd_u8(&r); /* the number of fields */
	for (i = 0; i < 5; i++)
		rd_name(&r, field[i], sizeof(field[i]));
	if (strcmp(field[0], "cc_slurm_adapter_stops_due") == 0)
		stops_due = atoll(field[4]);
	if (strcmp(field[0], "cc_slurm_adapter_starts_due") == 0)
		starts_due = atoll(field[4]);
	if (strcmp(field[0], "cc_slurm_adapter_rejected_runs") == 0)
		rejected = atoll(field[4]);
}

static void
run_put(uint64_t job, enum dest dest, enum run_state state)
{
	struct run_key key = { .cluster = "alpha", .job = job, .start = 1000 };
	struct spool_run run;

	sim_put(job, 1000, 2000);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.state[dest] = state;
	CHECK_INT(spool_save(sim.spool, &run), 0);
}

static void
backend(void)
{
	sim_begin();
	sim_on_row = on_row;
	run_put(1, DEST_REST, STOP_DUE);
	run_put(2, DEST_REST, STOP_BLOCKED);
	run_put(3, DEST_REST, STOP_CONFLICT);
	run_put(4, DEST_REST, START_DUE_ENDED);
	run_put(5, DEST_REST, START_REJECTED);
	metrics_send(&sim, 1);
	CHECK_INT(starts_due, 1);
	CHECK_INT(stops_due, 3);
	CHECK_INT(rejected, 1);
	sim_on_row = NULL;
	sim_end();
}

/* With NATS only, the runs wait for the broker. */
static void
nats_only(void)
{
	sim_begin();
	spool_policy(sim.spool)->to[DEST_REST] = 0;
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	sim_on_row = on_row;
	run_put(1, DEST_NATS, STOP_DUE);
	run_put(2, DEST_NATS, START_DUE);
	run_put(3, DEST_NATS, START_DUE_ENDED);
	run_put(4, DEST_NATS, START_REJECTED);
	metrics_send(&sim, 1);
	CHECK_INT(starts_due, 2);
	CHECK_INT(stops_due, 1);
	CHECK_INT(rejected, 1);
	sim_on_row = NULL;
	sim_end();
}

int
main(void)
{
	backend();
	nats_only();
	return check_done();
}
