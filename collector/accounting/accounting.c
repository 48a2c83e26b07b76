/* SPDX-License-Identifier: MIT */
/*
 * The common parts of all queries to sacct: the arguments, the watermark that a
 * complete answer earns, and the sentinel.  The sentinel is an ended run of an
 * earlier answer that the next answer must contain.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/accounting/accounting_private.h"
#include "collector/slurm/slurm.h"
#include "collector/track/outbox.h"
#include "common/log.h"
#include "common/text/time_text.h"

void
acct_question(struct accounting *l, const struct query_type *type,
    int (*row)(struct job_snapshot *s, void *arg))
{
	sacct_query_begin(&l->query, &l->reader, l->c, type, row, l);
}

int
acct_question_feed(const char *p, size_t n, void *arg)
{
	struct accounting *l = arg;
	int rc = sacct_feed(&l->reader, p, n);

	if (outbox_full(l->c->outbox))
		query_pause(&l->query, 1);
	return rc;
}

/* If the version of Slurm is unknown, all columns are requested. */
int
acct_column_missing(struct accounting *l, const struct command_end *end)
{
	struct slurm *slurm = &l->c->slurm;
	const char *column;

	if (end->outcome != COMMAND_FAILED)
		return 0;
	column = sacct_lacks(end->err, &slurm->sacct_lacking);
	if (column == NULL)
		return 0;
	if ((slurm->sacct_lacking & ~slurm->sacct_reported) != 0)
		log_warnx("sacct%s of Slurm %s has no column %s: records "
			  "lack that value unless slurmctld shows it",
		    cluster_suffix(l->c), slurm->version_text, column);
	slurm->sacct_reported |= slurm->sacct_lacking;
	return 1;
}

int
acct_may_be_size(enum command_outcome outcome)
{
	return outcome != COMMAND_SPAWN && outcome != COMMAND_STALE;
}

/*
 * ms without an answer, besides two polls: more than the queries for a few jobs that
 * cannot be read
 */
#define OUTAGE_MS 600000

void
acct_outage_note(struct accounting *l)
{
	const struct health *dbd = &l->c->dbd;

	if (dbd->away &&
	    now_ms() - dbd->answered_ms > OUTAGE_MS + 2000 * l->c->set->poll)
		l->outage_at = now_s();
}

uint32_t
acct_unread_age(struct accounting *l, struct idmap *unread, uint64_t job)
{
	uint32_t now = (uint32_t)now_s(), *since;
	int added;

	since = idmap_put(unread, job, &added);
	if (since == NULL)
		return 0;
	if (added || *since < l->outage_at)
		*since = now;
	return now - *since;
}

int
acct_is_lost(const struct accounting *l, uint32_t age)
{
	return age >= LOST_AFTER_S && l->c->dbd.fails <= 1;
}

/* What finds no room in the outbox waits for the next call. */
void
acct_backfill_answer(struct accounting *l)
{
	struct cluster *c = l->c;

	while (l->ended > 0 &&
	    outbox_backfilled(c->outbox, c->slurm.cluster, 0) != 0)
		l->ended--;
	if (l->ended == 0 && l->backfilled != 0 && l->n_step_rows == 0 &&
	    outbox_backfilled(c->outbox, c->slurm.cluster, l->backfilled) != 0)
		l->backfilled = 0;
}

/*
 * Rows that wait for details or steps delay the watermark.  A range that begins
 * after the resume point earns none: a new submitter has an older spool, and the
 * time between was not read.
 */
void
acct_watermark(struct accounting *l)
{
	struct cluster *c = l->c;

	acct_backfill_answer(l);
	if (l->mark_from > c->resume.point)
		l->mark = 0;
	if (l->mark <= c->resume.point || l->n_kept > 0 || l->n_step_rows > 0)
		return;
	c->resume.point = l->mark;
	l->mark = 0;
	outbox_watermark(c->outbox, c, c->resume.point);
}

/*
 * The sentinel: an ended run of an earlier answer that the next answer must
 * contain.  An answer without the sentinel comes from a slurmdbd that was
 * restored from an older copy, that belongs to another cluster, or that hides
 * jobs of other users.  Rows of such an answer may be right, but a missing row
 * proves nothing.
 */

/* Only runs of other users: our own runs are visible without a permission. */
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
	return slurm_permission_inherent(&l->c->slurm) ||
	    (job->user != NULL && strcmp(job->user, l->c->slurm.user) != 0);
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
		    cluster_run_text(l->c, l->sentinel.job, l->sentinel.start));
		if (now_s() - l->missed_at < LOST_AFTER_S) {
			log_limited(&l->sentinel_log, log_warnx,
			    "%s: accounting is not used until an answer has "
			    "the run, for %s more at most; then the run counts "
			    "as removed",
			    l->c->last_error,
			    duration_text(
				(l->missed_at + LOST_AFTER_S - now_s()) *
				1000));
			return 1;
		}
		log_warnx("%s, for %s: the run counts as removed from slurmdbd",
		    l->c->last_error, duration_text(LOST_AFTER_S * 1000));
		l->sentinel.job = 0;
	}
	if (due)
		l->missed_at = 0;
	sentinel_adopt(l);
	return 0;
}
