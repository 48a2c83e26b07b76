/* SPDX-License-Identifier: MIT */
/*
 * Runs that Slurm took back soon: did they run, or did a prolog fail?  Their
 * steps tell.  A batch script that was begun left a step with an exit status;
 * where slurmctld's prolog failed there is no step, where a node's did the
 * step has none.  Such rows wait until accounting was asked about them.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/accounting/accounting.h"

#define IDS_BYTES	(STEP_ROWS_MAX * 12)	/* ten digits each */

int
steps_waiting(const struct accounting *l, uint64_t job)
{
	unsigned i;

	for (i = 0; i < l->n_step_rows; i++)
		if (l->step_rows[i]->job.key.job == job)
			return 1;
	return 0;
}

int
steps_keep(struct accounting *l, struct job_snapshot *s)
{
	struct job_snapshot *copy;
	unsigned i;

	for (i = 0; i < l->n_step_rows; i++)
		if (run_key_equal(&l->step_rows[i]->job.key, &s->job.key))
			return 0;
	/* What does not fit comes again, when these have gone. */
	if (l->n_step_rows == STEP_ROWS_MAX ||
	    (copy = malloc(sizeof(*copy))) == NULL)
		return -1;
	*copy = *s;
	copy->ran = RAN_UNKNOWN;
	snapshot_init(s);
	l->step_rows[l->n_step_rows++] = copy;
	return 0;
}

/* A step that began and ended in a run's time, and has a status: that one ran. */
static int
on_line(struct span line, void *arg)
{
	struct accounting *l = arg;
	struct job_step step;
	unsigned i;

	if (step_row(line, &step) == -1)
		return 0;
	for (i = 0; i < l->n_step_asked; i++)
		if (l->step_rows[i]->job.key.job == step.job &&
		    step.start >= l->step_rows[i]->job.key.start &&
		    step.end <= l->step_rows[i]->job.end)
			l->step_rows[i]->ran = RAN_YES;
	return 0;
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct accounting *l = arg;

	return lines_feed(&l->lines, p, n, on_line, l);
}

/* Those that were asked about go on; the others wait for the next question. */
static void
steps_answered(struct accounting *l)
{
	struct job_snapshot *s;
	unsigned i, n = l->n_step_asked;

	l->n_step_asked = 0;
	for (i = 0; i < n; i++) {
		s = l->step_rows[i];
		if (s->ran == RAN_UNKNOWN)
			s->ran = RAN_NEVER;
		track_accounting_row(l->c, s, 0);
	}
	for (i = 0; i < n; i++) {
		idmap_remove(&l->c->earlier, l->step_rows[i]->job.key.job);
		confirm_want(l->c->confirm, l->step_rows[i]->job.key.job);
		snapshot_clear(l->step_rows[i]);
		free(l->step_rows[i]);
	}
	l->n_step_rows -= n;
	memmove(l->step_rows, l->step_rows + n, l->n_step_rows *
	    sizeof(*l->step_rows));
	acct_watermark(l);
}

static void
on_end(const struct command_end *end, void *arg)
{
	struct accounting *l = arg;
	unsigned i;

	l->cmd = NULL;
	free(l->ids);
	l->ids = NULL;
	if (end->outcome == COMMAND_OK && l->lines.len == 0) {
		health_good(&l->c->dbd);
		steps_answered(l);
	} else {
		for (i = 0; i < l->n_step_asked; i++)
			l->step_rows[i]->ran = RAN_UNKNOWN;
		l->n_step_asked = 0;
		query_failed(l->c, &l->c->dbd, "sacct", end);
	}
	lines_clear(&l->lines);
	acct_kick(l);
	wake(l->c);
}

int
steps_query(struct accounting *l)
{
	static const char delimiter[] = "--delimiter=" STEP_DELIMITER;
	struct query query = { .cmd = CMD_SACCT, .deadline_ms = QUERY_LONG_MS,
	    .on_output = on_output, .on_end = on_end, .arg = l };
	size_t len = 0;
	unsigned i;

	if (l->n_step_rows == 0)
		return 0;
	l->ids = malloc(IDS_BYTES);
	if (l->ids == NULL)
		return 0;
	for (i = 0; i < l->n_step_rows; i++)
		len += (size_t)snprintf(l->ids + len, IDS_BYTES - len, "%s%llu",
		    i > 0 ? "," : "",
		    (unsigned long long)l->step_rows[i]->job.key.job);
	l->n_step_asked = l->n_step_rows;
	lines_clear(&l->lines);
	memcpy(query.args, ((const char *[]){ "-D", "-a", "-P", "-n",
	    delimiter, "-o", STEP_FIELDS, "-j", l->ids, NULL }),
	    10 * sizeof(query.args[0]));
	l->cmd = query_start(l->c, &query);
	return 1;
}
