/* SPDX-License-Identifier: MIT */
/* The rules in the order in which they exclude a job; the first one counts. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/explain_reason.h"
#include "collector/slurm/slurm.h"
#include "collector/track/track.h"
#include "common/text/time_text.h"

#define DAY_S 86400 /* the time that ccPollInterval reads again */

struct run_fact *
fact_new(struct job_facts *f, int of_ctld)
{
	unsigned i = 0;

	if (f->n == FACTS_MAX) {
		while (i < FACTS_MAX - 1 && f->runs[i].of_ctld)
			i++;
		f->n--;
		f->more = 1;
		memmove(&f->runs[i], &f->runs[i + 1],
		    (f->n - i) * sizeof(f->runs[0]));
	}
	f->runs[f->n] = (struct run_fact) { .of_ctld = of_ctld };
	return &f->runs[f->n++];
}

void
fact_text(const struct run_fact *run, char *buf, size_t size)
{
	char start[64] = "", end[64] = "", nodes[32] = "";

	if (run->start > 0 && run->state->phase != PHASE_PENDING)
		snprintf(start, sizeof(start), ", start %s",
		    time_text(run->start));
	if (run->end > 0)
		snprintf(end, sizeof(end), ", end %s", time_text(run->end));
	if (run->nodes > 0 && run->state->phase != PHASE_PENDING && !run->never)
		snprintf(nodes, sizeof(nodes), ", %u node%s", run->nodes,
		    run->nodes == 1 ? "" : "s");
	snprintf(buf, size, "%s%s%s%s",
	    run->state->word[0] != '\0' ? run->state->word : "unknown state",
	    start, end, nodes);
}

static void
say(struct explain_answer *a, const char *reason, const char *remedy)
{
	snprintf(a->reason, sizeof(a->reason), "%s", reason);
	snprintf(a->remedy, sizeof(a->remedy), "%s", remedy);
}

/* slurmctld's record is the present one; accounting may be late. */
static const struct run_fact *
last_run(const struct job_facts *f)
{
	const struct run_fact *last = NULL;
	unsigned i;

	for (i = 0; i < f->n; i++) {
		if (f->runs[i].of_ctld)
			return &f->runs[i];
		if (last == NULL || f->runs[i].start > last->start)
			last = &f->runs[i];
	}
	return last;
}

/* slurmctld shows that the job waits: its last record may be an older run. */
static int
is_pending(const struct job_facts *f)
{
	unsigned i;
	int pending = 0;

	for (i = 0; i < f->n; i++) {
		/* Accounting is late: slurmctld's record counts. */
		if (f->runs[i].of_ctld)
			return f->runs[i].state->phase == PHASE_PENDING;
		pending |= f->runs[i].state->phase == PHASE_PENDING;
	}
	return pending;
}

static void
unknown_reason(const struct cluster *c, const struct job_facts *f,
    struct explain_answer *a)
{
	int keeps_all = f->purge[0] == '\0' || strcmp(f->purge, "NONE") == 0;
	char oldest[128] = "";

	if (c->permission == PERMISSION_NONE) {
		snprintf(a->reason, sizeof(a->reason),
		    "the operator permission is missing: Slurm shows jobs of other "
		    "users only to operators, and does not show this job to "
		    "user %s",
		    c->slurm.user);
		if (c->slurm.accounting)
			snprintf(a->remedy, sizeof(a->remedy),
			    "run `sacctmgr modify user %s set "
			    "adminlevel=Operator`",
			    c->slurm.user);
		else /* operators exist only in slurmdbd */
			snprintf(a->remedy, sizeof(a->remedy),
			    "set slurmUser to %s", c->slurm.slurm_user);
		return;
	}
	if (f->array_tasks > 0) {
		snprintf(a->reason, sizeof(a->reason),
		    "no record has this job id, but %u records are tasks of "
		    "this array; each task has a job id of its own",
		    f->array_tasks);
		snprintf(a->remedy, sizeof(a->remedy),
		    "name the task: `cc-slurm-adapterctl explain %llu_N`",
		    (unsigned long long)f->job);
		return;
	}
	if (f->oldest_job != 0)
		snprintf(oldest, sizeof(oldest),
		    " (oldest job in accounting: %llu, submitted %s)",
		    (unsigned long long)f->oldest_job,
		    time_text(f->oldest_submit));
	snprintf(a->reason, sizeof(a->reason),
	    "unknown to Slurm: neither slurmctld nor %s has this job in "
	    "cluster %s%s%s%s",
	    c->slurm.accounting ? "accounting" :
				  "(without accounting) any other source",
	    c->slurm.cluster, oldest,
	    keeps_all ? "" : "; slurmdbd removes jobs after ",
	    keeps_all ? "" : f->purge);
}

static void
error_reason(const struct job_facts *f, struct explain_answer *a)
{
	int ctld = f->ctld_error[0] != '\0';

	snprintf(a->reason, sizeof(a->reason),
	    "not known: %s does not answer (%s)",
	    ctld ? "slurmctld" : "slurmdbd",
	    ctld ? f->ctld_error : f->dbd_error);
	snprintf(a->remedy, sizeof(a->remedy),
	    "none for the suite: it reads what it missed when Slurm answers "
	    "again");
}

static void
not_yet(const struct job_facts *f, const char *what, struct explain_answer *a)
{
	snprintf(a->reason, sizeof(a->reason),
	    "not read yet: %s; the next poll is in %s", what,
	    duration_text(f->next_poll_ms));
	a->remedy[0] = '\0';
}

/* Reasons that a running and an ended job can have.  1 = told. */
static int
excluded(struct cluster *c, const struct job_facts *f,
    const struct run_fact *run, struct explain_answer *a)
{
	if (track_quarantined(c, f->job, run->start))
		say(a,
		    "in quarantine: a process died while it handled this run",
		    "report the crash with the log; a restart of the service "
		    "ends the quarantine");
	else if (run->never)
		say(a, "the job ended before it had a node: it has no run", "");
	else if (run->opted_out)
		say(a,
		    "the job has the word of optOutWord in its comment: it is "
		    "not sent",
		    "");
	else if (run->ignored)
		say(a, "all its hosts match ignoreHosts: it is not sent",
		    "change ignoreHosts, then run `cc-slurm-adapterctl "
		    "backfill` for the time of the job");
	else
		return 0;
	return 1;
}

/* The job ended before the time from which accounting was read. */
static void
old_reason(struct cluster *c, const struct job_facts *f,
    const struct run_fact *run, struct explain_answer *a)
{
	if (run->end > slurm_now(c) - DAY_S) {
		snprintf(a->reason, sizeof(a->reason),
		    "not read yet: it ended at %s, before %s, from which "
		    "accounting was read at the start; the last day is read "
		    "again in %s (ccPollInterval)",
		    time_text(run->end), time_text(c->resume.oldest),
		    duration_text(f->next_day_ms));
		snprintf(a->remedy, sizeof(a->remedy),
		    "`cc-slurm-adapterctl sync` reads it now");
		return;
	}
	snprintf(a->reason, sizeof(a->reason),
	    "it ended at %s, before %s, the oldest time from which accounting "
	    "was read (last-run file, resume point or slurmQueryMaxSpan); if "
	    "it was delivered earlier, the history does not have it any more",
	    time_text(run->end), time_text(c->resume.oldest));
	snprintf(a->remedy, sizeof(a->remedy),
	    "run `cc-slurm-adapterctl backfill --from %lld --to %lld`",
	    (long long)run->end - 1, (long long)run->end + 1);
}

static void
ended_reason(struct cluster *c, const struct job_facts *f,
    const struct run_fact *run, struct explain_answer *a)
{
	if (excluded(c, f, run, a))
		return;
	if (c->resume.oldest > 0 && run->end < c->resume.oldest)
		old_reason(c, f, run, a);
	else if (done_has(&c->done, f->job, run->start))
		say(a,
		    "its end was sent to the spool by this process; the spool "
		    "refused the record or has removed the run",
		    "run `cc-slurm-adapterctl sync --job ID`");
	else if (run->end >= c->resume.point || c->resume.point == 0)
		not_yet(f, "the job ended after accounting was read", a);
	else
		say(a, "no rule excludes the job, but it was not read",
		    "run `cc-slurm-adapterctl sync --job ID`");
}

static void
running_reason(struct cluster *c, const struct job_facts *f,
    const struct run_fact *run, struct explain_answer *a)
{
	struct open_run *open = open_find(&c->open, f->job, run->start);

	if (excluded(c, f, run, a))
		return;
	if (run->of_ctld == 0)
		say(a,
		    "slurmctld does not have the job any more, and accounting "
		    "has no end of it: a runaway job is not sent",
		    "run `sacctmgr show runawayjobs` to correct slurmdbd");
	else if (open != NULL)
		say(a,
		    "the run is known, its record is on the way to the spool",
		    "");
	else
		not_yet(f, "the job has started since the last poll", a);
}

void
explain_reason(struct cluster *c, const struct job_facts *f,
    struct explain_answer *a)
{
	const struct run_fact *run = last_run(f);

	a->reason[0] = a->remedy[0] = '\0';
	if (f->not_ready) {
		snprintf(a->reason, sizeof(a->reason),
		    "Slurm was not queried yet since the start; last error: %s",
		    c->last_error[0] != '\0' ? c->last_error : "none");
		return;
	}
	if (is_pending(f))
		say(a, "the job is pending: it is sent when it has started",
		    "");
	else if (run == NULL && f->ambiguous)
		say(a,
		    "slurmctld's record of the job cannot be read with "
		    "certainty, because a text of the job looks like a field; "
		    "the job is read when accounting has it",
		    "");
	else if (run == NULL &&
	    (f->ctld_error[0] != '\0' || f->dbd_error[0] != '\0'))
		error_reason(f, a);
	else if (run == NULL)
		unknown_reason(c, f, a);
	else if (run->state->phase == PHASE_ENDED)
		ended_reason(c, f, run, a);
	else if (run->state->phase == PHASE_NEVER)
		say(a, "another cluster of the federation runs the job", "");
	else
		running_reason(c, f, run, a);
}
