/* SPDX-License-Identifier: MIT */
/*
 * Runs that nobody asked for: without accounting one that began and ended
 * between two polls is found in the answer about all jobs.  A line of that
 * answer may be a part of somebody's job name and tell of a run that never was.
 * In squeue's rows no byte is a user's: only what it shows as ended counts.
 */
#include "config.h"

#include "collector/details/details.h"

static int
on_row(struct span line, void *arg)
{
	struct details *d = arg;
	struct squeue_job row;
	struct detail_result *r;

	if (squeue_row(line, &row) == -1)
		return 0;	/* a pending job has no start */
	r = row.state->phase == PHASE_ENDED ? details_result(d, row.job) : NULL;
	if (r != NULL)
		r->shown = 1;
	return 0;
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct details *d = arg;

	return lines_feed(&d->lines, p, n, on_row, d);
}

static void
on_end(const struct command_end *end, void *arg)
{
	struct details *d = arg;
	struct detail_result *r;
	size_t i;

	d->cmd = NULL;
	for (i = 0; i < d->n; i++) {
		r = &d->results[i];
		if (!r->wanted && !r->shown)
			details_result_drop(r, DETAIL_UNKNOWN);
	}
	details_verified(d, end);
}

void
verify_start(struct details *d)
{
	struct query query = { .cmd = CMD_SQUEUE, .deadline_ms = QUERY_LONG_MS,
	    .args = { "-h", "-a", "-t", "all", "-o", SQUEUE_FORMAT },
	    .on_output = on_output, .on_end = on_end, .arg = d };

	lines_clear(&d->lines);
	d->cmd = query_start(d->c, &query);
	if (d->cmd == NULL)
		details_verified(d, NULL);
}
