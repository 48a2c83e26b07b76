/* SPDX-License-Identifier: MIT */
/*
 * The sentinel of accounting's answers: an ended run that was in one answer
 * and must be in the next.  An answer without it comes from a slurmdbd that
 * was restored from an older copy, that is another cluster's, or that hides
 * jobs of other users.  Rows of such an answer may be right; a missing row
 * means nothing.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/accounting/accounting_private.h"
#include "collector/slurm/slurm.h"
#include "common/log.h"
#include "common/time_text.h"

/*
 * After this time the run counts as removed (a purge, a restored database):
 * another sentinel is chosen, because otherwise no answer would count again.
 * Not shorter than the time between two denials that count.
 */
#define LOST_AFTER_S	3600

/* The run of another user, because we see our own runs without a permission. */
static int
is_fit(const struct accounting *l, const struct job_snapshot *s)
{
	const struct job *job = &s->job;

	/* The start of an incomplete row may still change. */
	if (s->never || job->partition == NULL || job->key.start <= 0)
		return 0;
	/* A query for the base id would return all tasks of the array. */
	if (job->array_job != 0 && job->array_job == job->key.job)
		return 0;
	return slurm_permission_inherent(&l->c->slurm) || (job->user != NULL &&
	    strcmp(job->user, l->c->slurm.user) != 0);
}

void
sentinel_begin(struct accounting *l)
{
	l->sentinel_seen = 0;
	l->candidate_end = 0;
}

void
sentinel_row(struct accounting *l, const struct job_snapshot *s)
{
	const struct job *job = &s->job;

	if (job->key.job == l->sentinel.job &&
	    job->key.start == l->sentinel.start)
		l->sentinel_seen = 1;
	if (job->end > l->candidate_end && is_fit(l, s)) {
		l->candidate_end = job->end;
		l->candidate = job->key;
	}
}

int
sentinel_present(const struct accounting *l)
{
	return l->sentinel.job != 0 && l->sentinel_seen;
}

void
sentinel_adopt(struct accounting *l)
{
	if (l->candidate_end == 0)
		return;
	l->sentinel = l->candidate;
	l->sentinel_end = l->candidate_end;
}

int
sentinel_missing(struct accounting *l)
{
	int due = l->sentinel.job != 0 && l->sentinel_end >= l->range.at &&
	    l->sentinel_end <= l->asked_to;

	if (due && !l->sentinel_seen) {
		if (l->missed_at == 0)
			l->missed_at = now_s();
		snprintf(l->c->last_error, sizeof(l->c->last_error),
		    "accounting's answer lacks %s, which an earlier answer had",
		    cluster_run_text(l->c, l->sentinel.job,
		    l->sentinel.start));
		if (now_s() - l->missed_at < LOST_AFTER_S) {
			log_limited(&l->sentinel_log, log_warnx,
			    "%s: the answer is ignored", l->c->last_error);
			return 1;
		}
		log_warnx("%s, for %s: the run counts as removed from "
		    "slurmdbd", l->c->last_error,
		    duration_text(LOST_AFTER_S * 1000));
		l->sentinel.job = 0;
	}
	if (due)
		l->missed_at = 0;
	sentinel_adopt(l);
	return 0;
}
