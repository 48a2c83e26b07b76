/* SPDX-License-Identifier: MIT */
/*
 * Rows of ended runs that were not seen running.  slurmctld keeps the hardware
 * threads of an ended run for a while, so the rows wait until slurmctld was
 * queried.
 */
#include "config.h"

#include <stdlib.h>

#include "collector/accounting/accounting_private.h"
#include "collector/track/track.h"

int
acct_row_keep(struct accounting *l, struct job_snapshot *s)
{
	uint64_t number = run_number(s->job.key.job, s->job.key.start);
	struct job_snapshot *copy;
	int added;

	if (number == 0) /* the map cannot contain the run */
		return track_accounting_row(l->c, s, 0) == ROW_FAILED ? -1 : 0;
	/* A range that is read twice may return the row twice. */
	if (idmap_get(&l->kept_runs, number) != NULL)
		return 0;
	if (l->n_kept == KEPT_ROWS_MAX) {
		l->left_out++;
		return 0;
	}
	copy = malloc(sizeof(*copy));
	if (copy == NULL || idmap_put(&l->kept_runs, number, &added) == NULL) {
		free(copy);
		return -1;
	}
	*copy = *s;
	snapshot_init(s);
	l->kept[l->n_kept++] = copy;
	return 0;
}

int
acct_row_is_kept(struct accounting *l, const struct run_key *key)
{
	return idmap_get(&l->kept_runs, run_number(key->job, key->start)) !=
	    NULL;
}

int
acct_job_is_kept(const struct accounting *l, uint64_t job)
{
	unsigned i;

	for (i = 0; i < l->n_kept; i++)
		if (l->kept[i]->job.key.job == job)
			return 1;
	return 0;
}

int
acct_row_overtakes(const struct accounting *l, const struct job_snapshot *s)
{
	uint64_t job = s->job.key.job;

	return s->state->phase == PHASE_ENDED &&
	    idmap_get(&l->c->earlier, job) != NULL && acct_job_is_kept(l, job);
}

void
acct_details_wanted(struct accounting *l, struct details *d)
{
	unsigned i;

	for (i = 0; i < l->n_kept; i++)
		if (details_want(d, l->kept[i]->job.key.job) == -1)
			return;
}

/* These jobs have no kept row any more, unless they have another one. */
static void
kept_done(struct accounting *l, const struct idmap *jobs)
{
	uint64_t job;
	size_t at = 0;

	while ((job = idmap_next(jobs, &at, NULL)) != 0)
		/* Accounting may have more runs of a job that is to be queried. */
		if (idmap_get(&l->c->work.accounting, job) == NULL &&
		    idmap_get(&l->asked, job) == NULL)
			acct_earlier_read(l, job);
}

/*
 * If slurmctld had the run, the run was sent with its end or is open now, and
 * the row supplies at most the end.  If slurmctld did not have the run, the
 * run is sent from the row alone.
 */
void
acct_details_done(struct accounting *l, const struct details *d)
{
	struct job_snapshot *s;
	struct idmap jobs = { 0 };
	uint64_t number;
	unsigned i, n = 0;

	for (i = 0; i < l->n_kept; i++) {
		s = l->kept[i];
		number = run_number(s->job.key.job, s->job.key.start);
		switch (details_verdict(d, s->job.key.job)) {
		case DETAIL_UNSEEN:
		case DETAIL_LATER:
			l->kept[n++] = s;
			continue;
		default:
			break;
		}
		if (track_accounting_row(l->c, s, 0) == ROW_WANTS_STEPS &&
		    steps_keep(l, s) == -1) {
			l->kept[n++] = s;
			continue;
		}
		idmap_remove(&l->kept_runs, number);
		if (idmap_get(&l->c->earlier, s->job.key.job) != NULL)
			(void)idmap_put(&jobs, s->job.key.job, NULL);
		snapshot_clear(s);
		free(s);
	}
	l->n_kept = n;
	kept_done(l, &jobs);
	idmap_clear(&jobs);
	acct_watermark(l);
}
