/* SPDX-License-Identifier: MIT */
/* See others.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/backend_private.h"
#include "tests/simulate/cc_box.h"
#include "tests/simulate/faults.h"
#include "tests/simulate/others.h"
#include "tests/simulate/truth.h"

static struct {
	struct prng random;
	unsigned n; /* running rows so far */
	int64_t job, start;
} others;

/* Chooses one of the running rows. */
static void
on_row(const struct cc_row *row, void *arg)
{
	(void)arg;
	if (row->cached || strcmp(row->state, "running") != 0 ||
	    prng_below(&others.random, ++others.n) != 0)
		return;
	others.job = row->job;
	others.start = row->start;
}

static void
stop_send(struct truth_run *t)
{
	struct cc_answer answer = { 0 };
	char body[256];
	int n;

	n = snprintf(body, sizeof(body),
	    "{\"jobId\":%lld,\"cluster\":\"" TRUTH_CLUSTER
	    "\",\"startTime\":%lld,\"stopTime\":%lld,\"jobState\":\"failed\"}",
	    (long long)others.job, (long long)others.start,
	    (long long)truth_now() + 1);
	cc_box_request("POST", "/api/jobs/stop_job/", body, (size_t)n, &answer);
	trace("another client stops job %lld: %d", (long long)others.job,
	    answer.status);
	if (answer.status == 200)
		t->foreign = 1;
	free(answer.body);
}

static void
on_stop(void *arg)
{
	struct truth_run *t;

	(void)arg;
	if (faults_ended())
		return;
	others.n = 0;
	if (!backend_is_away())
		cc_box_rows(on_row, NULL);
	t = others.n > 0 ? truth_find((uint64_t)others.job, others.start) :
			   NULL;
	if (t != NULL)
		stop_send(t);
	world_after(PROCESS_NONE,
	    fault_wait("other-stop", faults()->stopped_every), on_stop, NULL);
}

void
others_begin(void)
{
	prng_init(&others.random, world_seed(), "other clients");
	if (faults()->stopped_every > 0)
		world_after(PROCESS_NONE,
		    fault_wait("other-stop", faults()->stopped_every), on_stop,
		    NULL);
}
