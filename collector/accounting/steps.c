/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a run that was requeued early ran, or whether its prolog
 * failed.  The steps of the run prove it.  A batch script that was started has
 * a step with an exit status.  When slurmctld's prolog failed, there is no
 * step.  When a node's prolog failed, the step has no status.  The rows of such
 * runs wait until the steps were queried.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/accounting/accounting_private.h"
#include "collector/base/wake.h"
#include "collector/track/track.h"

static struct idmap *
sent_map(struct accounting *l, const struct job *job)
{
	return &l->steps_sent[(job->flags & JOB_BACKFILL) != 0];
}

int
steps_keep(struct accounting *l, struct job_snapshot *s)
{
	const struct run_key *key = &s->job.key;
	struct job_snapshot *copy;
	unsigned i;

	if (idmap_get(sent_map(l, &s->job), run_number(key->job, key->start)) !=
	    NULL)
		return 0;
	for (i = 0; i < l->n_step_rows; i++)
		if (run_key_equal(&l->step_rows[i]->job.key, key))
			return 0;
	/* The row is read again when there is room. */
	if (l->n_step_rows == STEP_ROWS_MAX) {
		l->steps_full = 1;
		return -1;
	}
	copy = malloc(sizeof(*copy));
	if (copy == NULL)
		return -1;
	*copy = *s;
	copy->ran = RAN_UNKNOWN;
	snapshot_init(s);
	l->step_rows[l->n_step_rows++] = copy;
	(void)idmap_put(&l->c->work.steps, copy->job.key.job, NULL);
	return 0;
}

int
steps_ended_query(struct accounting *l, const struct command_end *end)
{
	if (!l->steps_full || end->outcome != COMMAND_REFUSED)
		return 0;
	log_limited(&l->steps_log, log_notice,
	    "accounting%s has more than %d runs that were requeued early: "
	    "their steps are read, %d runs at a time, and the query is "
	    "repeated",
	    cluster_suffix(l->c), STEP_ROWS_MAX, STEP_ROWS_MAX);
	return 1;
}

/* A step with a status within the time of a run proves that the run ran. */
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

/*
 * Sends a row.  A repeated query skips the row only if a record was sent.
 * Returns -1, with the row as it was, when the row must be sent later.
 */
static int
step_row_send(struct accounting *l, struct job_snapshot *s)
{
	/* The record may get another start. */
	int64_t start = s->job.key.start;
	uint32_t flags = s->job.flags;
	enum row_result result;

	if (s->ran == RAN_UNKNOWN)
		s->ran = RAN_NEVER;
	result = track_accounting_row(l->c, s, 0);
	if (result == ROW_SENT && l->steps_full)
		(void)idmap_put(sent_map(l, &s->job),
		    run_number(s->job.key.job, start), NULL);
	if (result != ROW_FAILED)
		return 0;
	s->job.key.start = start;
	s->job.flags = flags;
	return -1;
}

/*
 * The rows of the query are sent; later rows wait for the next query, and so do
 * the rows from the first one that the queue to the submitter did not take.
 */
static void
steps_answered(struct accounting *l)
{
	unsigned i, n = l->n_step_asked;

	l->n_step_asked = 0;
	for (i = 0; i < n; i++)
		if (step_row_send(l, l->step_rows[i]) == -1)
			break;
	n = i;
	for (i = n; i < l->n_step_rows; i++)
		l->step_rows[i]->ran = RAN_UNKNOWN;
	for (i = 0; i < n; i++) {
		idmap_remove(&l->c->earlier, l->step_rows[i]->job.key.job);
		worklist_confirm(l->c, l->step_rows[i]->job.key.job);
		snapshot_clear(l->step_rows[i]);
		free(l->step_rows[i]);
	}
	idmap_clear(&l->c->work.steps);
	l->n_step_rows -= n;
	memmove(l->step_rows, l->step_rows + n,
	    l->n_step_rows * sizeof(*l->step_rows));
	for (i = 0; i < l->n_step_rows; i++)
		(void)idmap_put(&l->c->work.steps, l->step_rows[i]->job.key.job,
		    NULL);
	acct_watermark(l);
}

static void
on_end(const struct command_end *end, int complete, void *arg)
{
	struct accounting *l = arg;
	unsigned i;

	if (complete) {
		health_good(&l->c->dbd);
		steps_answered(l);
	} else {
		for (i = 0; i < l->n_step_asked; i++)
			l->step_rows[i]->ran = RAN_UNKNOWN;
		l->n_step_asked = 0;
		query_failed(l->c, &l->c->dbd, "sacct", end);
	}
	l->steps_full = 0;
	wake(l->c);
}

static const struct query_type step_query = {
	.kind = QUESTION_STEPS,
	.on_line = on_line,
	.on_end = on_end,
};

int
steps_query(struct accounting *l)
{
	unsigned i;

	if (l->n_step_rows == 0)
		return 0;
	query_begin(&l->query, l->c, &step_query, l);
	for (i = 0; i < l->n_step_rows; i++)
		(void)id_list_add(&l->query.question.ids,
		    l->step_rows[i]->job.key.job);
	l->n_step_asked = l->n_step_rows;
	if (query_start(&l->query) == -1)
		l->n_step_asked = 0;
	return 1;
}
