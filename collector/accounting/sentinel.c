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

#include "collector/accounting/accounting.h"
#include "common/log.h"

/*
 * When it has been missing for so long, somebody has removed it (a purge, a
 * restored database that stays): another one is chosen, or nothing would ever
 * count again.  No shorter than the time between two denials that count.
 */
#define LOST_AFTER_S	3600

/* Of others' runs, for our own we see without any right. */
static int
is_fit(const struct ledger *l, const struct sighting *s)
{
	const struct job *job = &s->job;

	/* A row that is not whole yet may still change its start. */
	if (s->never || job->partition == NULL || job->key.start <= 0)
		return 0;
	/* Asked for by the base id, all tasks of the array would come. */
	if (job->array_job != 0 && job->array_job == job->key.job)
		return 0;
	return slurm_right_inherent(&l->c->slurm) || (job->user != NULL &&
	    strcmp(job->user, l->c->slurm.user) != 0);
}

void
witness_begin(struct ledger *l)
{
	l->witness_seen = 0;
	l->candidate_end = 0;
}

void
witness_row(struct ledger *l, const struct sighting *s)
{
	const struct job *job = &s->job;

	if (job->key.job == l->witness.job &&
	    job->key.start == l->witness.start)
		l->witness_seen = 1;
	if (job->end > l->candidate_end && is_fit(l, s)) {
		l->candidate_end = job->end;
		l->candidate = job->key;
	}
}

int
witness_spoke(const struct ledger *l)
{
	return l->witness.job != 0 && l->witness_seen;
}

void
witness_adopt(struct ledger *l)
{
	if (l->candidate_end == 0)
		return;
	l->witness = l->candidate;
	l->witness_end = l->candidate_end;
}

int
witness_missing(struct ledger *l)
{
	int due = l->witness.job != 0 && l->witness_end >= l->range.at &&
	    l->witness_end <= l->asked_to;
	unsigned held;

	if (due && !l->witness_seen) {
		if (l->missed_at == 0)
			l->missed_at = now_s();
		snprintf(l->c->last_error, sizeof(l->c->last_error),
		    "accounting's answer lacks job %llu, which was in it before",
		    (unsigned long long)l->witness.job);
		if (now_s() - l->missed_at < LOST_AFTER_S) {
			if (log_allowed(&l->forgetful, &held))
				log_warnx("%s: it does not count (%u more such "
				    "since the last line)", l->c->last_error,
				    held);
			return 1;
		}
		log_warnx("%s, for an hour: it is taken as removed",
		    l->c->last_error);
		l->witness.job = 0;
	}
	if (due)
		l->missed_at = 0;
	witness_adopt(l);
	return 0;
}
