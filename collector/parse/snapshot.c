/* SPDX-License-Identifier: MIT */
/* Rules about one job that every reader of job records needs. */
#include "config.h"

#include <string.h>

#include "collector/parse/snapshot.h"

#define YEAR_S 31536000 /* Slurm's forecast for a job without a limit */

void
snapshot_init(struct job_snapshot *s)
{
	memset(s, 0, sizeof(*s));
	job_init(&s->job);
	s->job.exit_code = -1;
	s->state = state_word((struct span) { "", 0 });
}

void
snapshot_clear(struct job_snapshot *s)
{
	job_clear(&s->job);
}

void
snapshot_end(struct job_snapshot *s, int64_t end)
{
	struct job *job = &s->job;
	int64_t limit = job->walltime > 0 ? job->walltime : YEAR_S;

	if (s->state->phase == PHASE_ENDED) {
		job->end = end;
		job->state = s->state->end;
	} else if (s->state->phase == PHASE_COMPLETING && job->restarts > 0 &&
	    end - job->key.start == limit)
		s->state = state_word((struct span) { "PENDING", 7 });
}

int32_t
snapshot_exit(const struct job_snapshot *s, int32_t code)
{
	return code == 0 && s->state->end != END_COMPLETED ? -1 : code;
}

int
snapshot_never(const struct job_snapshot *s)
{
	const struct job *job = &s->job;

	return s->state->phase == PHASE_ENDED &&
	    (job->n_hosts == 0 || (s->no_nodes && job->end == job->key.start));
}
