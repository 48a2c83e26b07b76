/* SPDX-License-Identifier: MIT */
/*
 * Accounting asked by job id: for hooks, for runs that left squeue without an
 * end, for what the submitter asks.  Many ids make one question, and no list
 * outgrows an argument.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/accounting/accounting.h"
#include "common/log.h"

#define IDS_BYTES	(64u * 1024)	/* one argument; the kernel takes 128 KiB */
#define ID_ROOM		24		/* bytes of one id and its comma */
#define IDS_MAX		4000		/* jobs in one question */
#define WAIT_FIRST_S	10		/* for an end that accounting has not yet */
#define WAIT_MAX_S	3600
#define SLURMCTLD_TRIES	4		/* it remembers an end for minutes */
#define RUNAWAY_TRIES	9		/* about an hour after it left */

static const char range_states[] = "CD,F,TO,CA,NF,PR,OOM,BF,DL,RQ,RS";

void
acct_query(struct accounting *l, int (*row)(struct job_snapshot *s, void *arg),
    int (*on_output)(const char *p, size_t n, void *arg),
    void (*on_end)(const struct command_end *end, void *arg), const char *ids)
{
	struct query query = { .cmd = CMD_SACCT, .deadline_ms = QUERY_LONG_MS,
	    .on_output = on_output, .on_end = on_end, .arg = l };
	size_t n = 0;

	sacct_begin(&l->reader, l->c->slurm.sacct_lacking, l->columns,
	    l->delimiter);
	l->reader.how = &l->c->set->how;
	l->reader.each = row;
	l->reader.arg = l;
	query.args[n++] = "-X";
	query.args[n++] = "-D";
	query.args[n++] = "-a";
	query.args[n++] = "-P";
	query.args[n++] = "-n";
	query.args[n++] = "--noconvert";
	query.args[n++] = l->delimiter;
	query.args[n++] = "-o";
	query.args[n++] = l->columns;
	if (ids != NULL) {
		query.args[n++] = "-j";
		query.args[n++] = ids;
	} else {
		query.args[n++] = "-S";
		query.args[n++] = l->from_text;
		query.args[n++] = "-E";
		query.args[n++] = l->to_text;
		query.args[n++] = "-s";
		query.args[n++] = range_states;
	}
	l->cmd = query_start(l->c, &query);
}

/* A Slurm that nobody has seen yet is asked for what it has. */
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
	if ((slurm->sacct_lacking & ~l->c->sacct_reported) != 0)
		log_warnx("sacct%s of Slurm %s has no %s: what it says of a "
		    "job stays unknown where slurmctld does not tell it",
		    cluster_suffix(l->c), slurm->version_text, column);
	l->c->sacct_reported |= slurm->sacct_lacking;
	return 1;
}

void
acct_want(struct accounting *l, uint64_t job)
{
	(void)idmap_put(&l->wanted, job, NULL);
}

void
acct_want_left(struct accounting *l)
{
	struct open_run *run;
	size_t at = 0;
	uint32_t now = (uint32_t)now_s();

	while (l->wanted.n < IDS_MAX &&
	    (run = open_next(&l->c->open, &at)) != NULL)
		if ((run->flags & OPEN_LEFT) && run->seen <= now)
			acct_want(l, run->job);
}

/* Ids are used again: another job's run, done and forgotten long ago. */
static int
is_history(struct cluster *c, const struct job_snapshot *s)
{
	const struct job *job = &s->job;

	return job->end != 0 && job->end < slurm_now(c) - c->set->max_span &&
	    !lookup_has(c->lookups, job->key.job, job->key.start) &&
	    open_find(&c->open, job->key.job, job->key.start) == NULL;
}

static int
on_row(struct job_snapshot *s, void *arg)
{
	struct accounting *l = arg;
	struct cluster *c = l->c;
	uint32_t *asked = idmap_get(&l->asked, s->job.key.job);

	c->rows_read++;
	/* An array's base id brings all its tasks. */
	if (asked != NULL)
		*asked |= ASKED_ROW;
	sentinel_row(l, s);
	lookup_row(c->lookups, s);
	if (s->state->phase == PHASE_RUNNING) {
		if (idmap_get(&c->ambiguous, s->job.key.job) != NULL)
			track_ambiguous(c, s);
		return 0;
	}
	if (s->state->phase == PHASE_ENDED && asked != NULL)
		*asked |= ASKED_ENDED;
	/* A row that waits for slurmctld's word on its threads goes then. */
	if (is_history(c, s) || acct_row_is_kept(l, &s->job.key))
		return 0;
	if (track_accounting_row(c, s, 0) == ROW_WANTS_STEPS)
		return steps_keep(l, s);
	return 0;
}

/* No end yet: again later, and later still. */
static void
left_again(struct cluster *c, uint64_t job)
{
	struct open_run *run;
	size_t at = 0;
	uint32_t wait = WAIT_FIRST_S;
	unsigned i;

	while ((run = open_of_job(&c->open, job, &at)) != NULL) {
		if (!(run->flags & OPEN_LEFT))
			continue;
		for (i = 0; i < run->tries && wait < WAIT_MAX_S; i++)
			wait *= 2;
		if (wait > WAIT_MAX_S)
			wait = WAIT_MAX_S;
		/* Perhaps accounting never will; slurmctld may know by now. */
		if (run->tries < SLURMCTLD_TRIES)
			poll_want_left(c->poll, job);
		if (run->tries < UINT8_MAX)
			run->tries++;
		run->seen = (uint32_t)now_s() + wait;
		if (run->tries == RUNAWAY_TRIES && !c->slurm.accounting)
			log_warnx("job %llu: slurmctld has forgotten it, and "
			    "there is no accounting that knows how it ended: "
			    "in cc-backend it stays as it is",
			    (unsigned long long)job);
		else if (run->tries == RUNAWAY_TRIES)
			log_warnx("job %llu: slurmctld does not know it any "
			    "more and accounting has no end of it; "
			    "`sacctmgr show runawayjobs` mends that",
			    (unsigned long long)job);
	}
}

static void
asked_done(struct accounting *l)
{
	struct cluster *c = l->c;
	struct idmap asked = l->asked;
	uint64_t job;
	uint32_t bits;
	size_t at = 0;
	int trusted = sentinel_present(l);

	l->asked = (struct idmap){ 0 };
	while ((job = idmap_next(&asked, &at, &bits)) != 0) {
		left_again(c, job);
		idmap_remove(&c->ambiguous, job);
		if (idmap_get(&c->earlier, job) != NULL &&
		    !steps_waiting(l, job)) {
			idmap_remove(&c->earlier, job);
			confirm_want(c->confirm, job);
		}
		lookup_accounted(c->lookups, job, trusted);
		hook_events_answered(c->hook_events, job, (bits &
		    ASKED_ENDED) != 0,
		    (bits & ASKED_ROW) != 0);
	}
	idmap_clear(&asked);
}

/* They are asked for again, with whatever has come since. */
static void
asked_failed(struct accounting *l)
{
	uint64_t job;
	size_t at = 0;

	while ((job = idmap_next(&l->asked, &at, NULL)) != 0)
		acct_want(l, job);
	idmap_clear(&l->asked);
}

static void
on_end(const struct command_end *end, void *arg)
{
	struct accounting *l = arg;
	int ok = end->outcome == COMMAND_OK && sacct_end(&l->reader) == 0;

	l->cmd = NULL;
	sacct_clear(&l->reader);
	free(l->ids);
	l->ids = NULL;
	if (ok) {
		health_good(&l->c->dbd);
		asked_done(l);
	} else {
		if (!acct_column_missing(l, end))
			query_failed(l->c, &l->c->dbd, "sacct", end);
		asked_failed(l);
	}
	acct_kick(l);
	wake(l->c);
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct accounting *l = arg;

	return sacct_feed(&l->reader, p, n);
}

int
acct_ids_query(struct accounting *l)
{
	struct idmap rest = { 0 };
	uint64_t job;
	size_t at = 0, len = 0, n = 0;

	if (l->wanted.n == 0)
		return 0;
	l->ids = malloc(IDS_BYTES);
	if (l->ids == NULL)
		return 0;
	idmap_clear(&l->asked);
	while ((job = idmap_next(&l->wanted, &at, NULL)) != 0) {
		if (len + 2 * ID_ROOM > IDS_BYTES || n == IDS_MAX) {
			(void)idmap_put(&rest, job, NULL);
			continue;
		}
		len += (size_t)snprintf(l->ids + len, IDS_BYTES - len,
		    "%s%llu", n > 0 ? "," : "", (unsigned long long)job);
		(void)idmap_put(&l->asked, job, NULL);
		n++;
	}
	idmap_clear(&l->wanted);
	l->wanted = rest;
	/* Whoever is not known counts only where its witness is. */
	if (l->sentinel.job != 0 && idmap_get(&l->asked, l->sentinel.job) ==
	    NULL)
		snprintf(l->ids + len, IDS_BYTES - len, ",%llu",
		    (unsigned long long)l->sentinel.job);
	sentinel_begin(l);
	acct_query(l, on_row, on_output, on_end, l->ids);
	return 1;
}

/*
 * Hooks' events end, sooner or later: their runs were sent, or the poll finds
 * them.  A run that slurmctld has forgotten as well stays open for ever, which
 * is said; that nobody knows of an end is no end.
 */
void
acct_ids_none(struct accounting *l)
{
	struct cluster *c = l->c;
	struct idmap wanted = l->wanted;
	uint64_t job;
	size_t at = 0;

	l->wanted = (struct idmap){ 0 };
	while ((job = idmap_next(&wanted, &at, NULL)) != 0) {
		left_again(c, job);
		idmap_remove(&c->ambiguous, job);
		hook_events_answered(c->hook_events, job, 0, 0);
	}
	idmap_clear(&wanted);
}
