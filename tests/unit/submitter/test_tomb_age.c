/* SPDX-License-Identifier: MIT */
/* A delivered run is not new while its record may come again. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "submitter/base/tomb_age.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/simulation.h"

#define DAY   86400
#define BYTES (64 << 20)

/* Stores the run of one job, which ended at this time. */
static enum spool_put
record_comes(int64_t end)
{
	struct job job;
	enum spool_put put;
	int64_t row;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = 1;
	job.key.start = end - 60;
	job.submit = end - 90;
	job.end = end;
	job.state = END_COMPLETED;
	job.flags = JOB_HAS_START;
	job.user = strdup("u1");
	job.nodes = 1;
	job_add_host(&job, "n1");
	put = spool_put(sim.spool, &job, &row);
	job_clear(&job);
	return put;
}

/* The run was delivered; its record comes again when it is days old. */
static enum spool_put
comes_again(const char *source, int days)
{
	int64_t now = time(NULL), end = now - (int64_t)days * DAY;
	struct spool_run run;
	struct run_key key = { "alpha", 1, end - 60 };
	enum spool_put put;

	sim_begin();
	conf_set(&sim.w->conf, CONF_SOURCE, source);
	spool_policy(sim.spool)->from_stream = strcmp(source, "stream") == 0;
	spool_set_limits(sim.spool, BYTES, tomb_age(&sim.w->conf));
	CHECK_INT(record_comes(end), PUT_NEW);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(spool_finish(sim.spool, &run), 0);
	CHECK(spool_age(sim.spool, now, 512) >= 0);
	put = record_comes(end);
	conf_set(&sim.w->conf, CONF_SOURCE, "slurm");
	sim_end();
	return put;
}

int
main(void)
{
	CHECK(comes_again("slurm", 7) != PUT_NEW);
	CHECK_INT(comes_again("slurm", 10), PUT_NEW);
	/* the stream has the record for 14 days */
	CHECK(comes_again("stream", 10) != PUT_NEW);
	CHECK(comes_again("stream", 14) != PUT_NEW);
	CHECK_INT(comes_again("stream", 16), PUT_NEW);
	return check_done();
}
