/* SPDX-License-Identifier: MIT */
/*
 * The witness of accounting's answers: an ended run that was in one before and
 * so has to be in the next.  Without it the answer comes from a slurmdbd that
 * was restored from an older copy, from another cluster's, or hides others'
 * jobs from us: what is in it may be true, what is not in it means nothing.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/accounting/accounting_private.h"
#include "collector/slurm/slurm.h"
#include "common/log.h"
#include "common/time_text.h"

/*
 * When it has been missing for so long, somebody has removed it (a purge, a
 * restored database that stays): another one is chosen, or nothing would ever
 * count again.  No shorter than the time between two denials that count.
 */
#define LOST_AFTER_S	3600

/* Of others' runs, for our own we see without any right. */
static int
is_fit(const struct accounting *l, const struct job_snapshot *s)
{
	const struct job *job = &s->job;

	/* A row that is not whole yet may still change its start. */
	if (s->never || job->partition == NULL || job->key.start <= 0)
		return 0;
	/* Asked for by the base id, all tasks of the array would come. */
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
