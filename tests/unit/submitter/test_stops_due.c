/* SPDX-License-Identifier: MIT */
/* The metric stops_due counts each state in which a stop waits. */
#include "config.h"

#include "submitter/ctl.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

static long long stops_due = -1;

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
}

static void
run_put(uint64_t job, enum run_state state)
{
	struct run_key key = { .cluster = "alpha", .job = job, .start = 1000 };
	struct spool_run run;

	sim_put(job, 1000, 2000);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	run.state[DEST_REST] = state;
	CHECK_INT(spool_save(sim.spool, &run), 0);
}

int
main(void)
{
	sim_begin();
	sim_on_row = on_row;
	run_put(1, STOP_DUE);
	run_put(2, STOP_BLOCKED);
	run_put(3, STOP_CONFLICT);
	run_put(4, START_DUE_ENDED);
	metrics_send(&sim, 1);
	CHECK_INT(stops_due, 3);
	sim_on_row = NULL;
	sim_end();
	return check_done();
}
