/* SPDX-License-Identifier: MIT */
/* Compares the end of a run in cc-backend with that of Slurm; see delivery.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/delivery/delivery.h"

/*
 * 1 when the row has the end that a stop has, of any version: cc-backend may have
 * been upgraded since, and older versions know fewer states.
 */
static int
end_matches(const struct submitter *s, const struct job *job,
    const struct backend_job *row)
{
	const char *state;
	unsigned version;

	for (version = 0; version <= BACKEND_1_5; version++) {
		state = payload_stop_state(s->payload, version, job->state);
		if (state != NULL && strcmp(state, row->state) == 0 &&
		    payload_stop_time(version, job) - job->key.start ==
			row->duration)
			return 1;
	}
	return 0;
}

int
end_agrees(struct submitter *s, const struct spool_run *run,
    const struct backend_job *row, char *how, size_t size)
{
	enum backend now = breaker_version(s->breaker);
	const char *state = NULL;
	int64_t stop = 0;
	struct job job;
	int same = 0;

	job_init(&job);
	inflight_set(s->w->inflight, &run->key);
	if (run->end != 0 && spool_record(s->spool, run->id, &job) == 0) {
		job.key = run->key;
		state = payload_stop_state(s->payload, now, job.state);
		stop = payload_stop_time(now, &job);
		same = end_matches(s, &job, row);
	}
	inflight_clear(s->w->inflight);
	if (state == NULL)
		snprintf(how, size,
		    "cc-backend has it as %s after %lld s, Slurm runs it",
		    row->state, (long long)row->duration);
	else
		snprintf(how, size,
		    "cc-backend has it as %s after %lld s, "
		    "Slurm as %s after %lld s",
		    row->state, (long long)row->duration, state,
		    (long long)(stop - run->key.start));
	job_clear(&job);
	return same;
}
