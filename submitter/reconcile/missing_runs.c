/* SPDX-License-Identifier: MIT */
/*
 * Runs that are open in the spool and unknown to Slurm.  One answer proves
 * nothing: only two answers an hour apart count.  An unconfirmed run whose job
 * id Slurm shows with a later submission needs one.  Many unknown runs have
 * another cause, such as a lost database, and they may be reported in small
 * groups.  So the number of runs that are ended within an hour is limited to
 * what a site may lose by accident.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

#include "common/log.h"
#include "common/permanent.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool.h"

#define NOT_FOUND_GAP 3600000 /* ms between two answers that count */
/* ms from an answer to the decision: more answers may follow */
#define NOT_FOUND_WAIT 3000
/* ms until unknown runs are counted again: Slurm may show them, or their end */
#define COUNT_AGAIN 600000
/* runs ended within the gap without evidence, or */
#define NOT_FOUND_MAX 20
/* % of the open runs, if that is more */
#define NOT_FOUND_PERCENT 2

struct missing_runs {
	struct submitter *s;
	struct event *timer;
	struct event *count; /* while a run is unknown */
	int64_t since;	     /* spool_now() when lately was 0 */
	/* runs ended without evidence within the gap */
	unsigned lately;
	int64_t asked; /* spool_now() of the last lookup; 0 = none */
	/* counts of the last walk */
	unsigned once;
	unsigned twice; /* and still open because they are too many */
};

void
missing_asked(struct missing_runs *k)
{
	k->asked = spool_now(k->s->spool);
}

/*
 * At the centre of a fan-in the answers come from other hosts: only a run that
 * is looked up there counts, and only while an answer may come.
 */
static int
is_asked(const struct missing_runs *k, const struct spool_run *run)
{
	return !spool_policy(k->s->spool)->from_stream ||
	    (((run->flags & RUN_IN_DOUBT) || spool_is_unsent(run)) &&
		k->asked != 0 &&
		spool_now(k->s->spool) - k->asked < NOT_FOUND_GAP);
}

struct unknown_scan {
	struct missing_runs *k;
	const char *cluster; /* of the runs that are ended; "" = all */
	unsigned once;
	unsigned n; /* twice */
	int end;    /* end them; else only count */
};

/*
 * The time of the first report, epoch.  The daemon may have been stopped since
 * then, and the wall clock may have been set back.
 */
static int64_t
first_report(const struct spool *sp, const struct spool_run *run)
{
	int64_t latest = time(NULL) -
	    (spool_now(sp) - run->not_found_at) / 1000;

	return run->not_found_time > 0 && run->not_found_time < latest ?
	    run->not_found_time :
	    latest;
}

/*
 * Slurm has reported the run as unknown twice.  The run ended at the time of
 * the first report, at the latest.
 */
static int
unknown_end(struct spool *sp, struct spool_run *run)
{
	struct writer w;
	struct job job;
	int rc = -1, unread;

	job_init(&job);
	if ((run->flags & RUN_FROM_BACKEND) ||
	    spool_record(sp, run->id, &job) == -1) {
		/* The record may be valid: the next comparison reads it again. */
		unread = !(run->flags & RUN_FROM_BACKEND) && errno != EINVAL;
		job_clear(&job);
		if (unread)
			return 0;
		job.key = run->key;
		job.flags = JOB_HAS_START;
	}
	job.end = first_report(sp, run);
	if (job.end < run->key.start)
		job.end = run->key.start;
	job.state = END_FAILED;
	spool_revision(sp, &job);
	wr_init(&w, MSG_PAYLOAD_MAX);
	job_write(&w, &job);
	if (wr_end(&w) == 0)
		rc = spool_end(sp, run, &job, w.buf, w.len);
	wr_clear(&w);
	job_clear(&job);
	return rc;
}

static int
unknown_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct unknown_scan *d = arg;

	if (d->cluster[0] != '\0' && strcmp(d->cluster, run->key.cluster) != 0)
		return 0;
	if (run->not_found_count < 2) {
		d->once += run->not_found_count;
		return 0;
	}
	d->n++;
	if (!d->end)
		return 0;
	log_warnx("%s: Slurm has reported the run as unknown twice: the run is "
		  "ended as failed",
	    run_key_text(&run->key));
	return unknown_end(sp, run);
}

/*
 * The run was never seen running and none of its requests was sent, so nothing
 * has to be ended.  The run is kept for an admin.
 */
static int
unconfirmed_reject(struct missing_runs *k, struct spool_run *run,
    const char *reason)
{
	k->s->n.rejected++;
	k->s->n.rejected_by[REJECT_UNKNOWN]++;
	return spool_set_unknown(k->s->spool, run, reason);
}

static int
unknown_unconfirmed(struct spool *sp, struct spool_run *run, void *arg)
{
	struct unknown_scan *d = arg;

	if (run->not_found_count < 2) {
		d->once += run->not_found_count;
		return 0;
	}
	log_about(LOG_ID_RUN_REJECTED, run->key.cluster, run->key.job);
	log_warnx(
	    "%s: the run was never seen running, and Slurm has reported "
	    "it as unknown twice: its start is not sent; the run is kept, "
	    "see `cc-slurm-adapterctl queue --rejected`",
	    run_key_text(&run->key));
	return unconfirmed_reject(d->k, run,
	    "the run was never seen running, and neither squeue nor accounting "
	    "has it");
}

static void
unconfirmed_walk(struct unknown_scan *d)
{
	/* Unconfirmed runs are due after all others. */
	struct spool_after after = { .due = DUE_UNCONFIRMED };

	while (spool_each(d->k->s->spool, spool_first_dest(d->k->s->spool),
		   START_DUE, &after, SPOOL_PAGE, unknown_unconfirmed,
		   d) == SPOOL_PAGE)
		continue;
}

/* A run without an end whose start is delivered. */
static enum run_state
open_state(enum dest dest)
{
	return dest == DEST_REST ? START_COMMITTED : STARTED;
}

/* 0, or -1 when the spool cannot be read or refuses a write. */
static int
unknown_walk(struct unknown_scan *d)
{
	struct spool_after after = { 0 };
	struct spool *sp = d->k->s->spool;
	enum dest dest = spool_first_dest(sp);
	int n;

	d->n = d->once = 0;
	do
		n = spool_each(sp, dest, open_state(dest), &after, SPOOL_PAGE,
		    unknown_one, d);
	while (n == SPOOL_PAGE);
	return n == -1 ? -1 : 0;
}

/* May n more runs be ended within this hour? */
static int
is_few(struct missing_runs *k, unsigned n)
{
	enum dest dest = spool_first_dest(k->s->spool);
	uint64_t open = spool_count(k->s->spool, dest, START_COMMITTED) +
	    spool_count(k->s->spool, dest, STARTED);
	int64_t now = spool_now(k->s->spool);
	uint64_t max;

	if (k->since == 0 || now - k->since >= NOT_FOUND_GAP) {
		k->since = now;
		k->lately = 0;
	}
	max = (open + k->lately) * NOT_FOUND_PERCENT / 100;
	if (max < NOT_FOUND_MAX)
		max = NOT_FOUND_MAX;
	if (k->lately + n <= max)
		return 1;
	log_about(LOG_ID_MANY_MISSING, NULL, 0);
	log_errorx(
	    "%u of %llu open runs are unknown to Slurm, and %u were ended for "
	    "that within the hour: none of them is ended now; if they have "
	    "ended, run `cc-slurm-adapterctl sync --force`",
	    n, (unsigned long long)open, k->lately);
	return 0;
}

static void
counts_set(struct missing_runs *k, unsigned once, unsigned twice)
{
	k->once = once;
	k->twice = twice;
	timer_after(k->count, once + twice > 0 ? COUNT_AGAIN : -1);
}

/* Counts the unknown runs.  Unconfirmed ones are rejected. */
static void
unknown_count(struct missing_runs *k, struct unknown_scan *d)
{
	unknown_walk(d);
	unconfirmed_walk(d);
	commit_soon(k->s->commit);
	wake(k->s, WAKE_DELIVERY);
	counts_set(k, d->once, d->n);
}

static void
on_count(evutil_socket_t fd, short what, void *arg)
{
	struct missing_runs *k = arg;
	struct unknown_scan d = { .k = k, .cluster = "" };

	unknown_count(k, &d);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct missing_runs *k = arg;
	struct unknown_scan d = { .k = k, .cluster = "" };

	unknown_count(k, &d);
	if (d.n == 0 || !is_few(k, d.n))
		return;
	d.end = 1;
	unknown_walk(&d);
	k->twice = 0;
	k->lately += d.n;
}

/*
 * Slurm shows the job id with a later submission, so the run is over.
 * Accounting gets the runs of a job in their order and has the later one, so it
 * will not get this one.
 */
static void
reused_report(struct missing_runs *k, struct spool_run *run)
{
	log_about(LOG_ID_RUN_REJECTED, run->key.cluster, run->key.job);
	log_warnx(
	    "%s: the run was never seen running, and its job id belongs to a "
	    "later submission: its start is not sent; the run is kept, see "
	    "`cc-slurm-adapterctl queue --rejected`",
	    run_key_text(&run->key));
	if (unconfirmed_reject(k, run,
		"the run was never seen running, and its job id belongs to a "
		"later submission") == -1)
		return;
	commit_soon(k->s->commit);
	wake(k->s, WAKE_DELIVERY);
}

/*
 * Slurm has reported the run as unknown twice, and no destination gets it: the
 * end, for which the row is kept, does not come.
 */
static void
unsent_end(struct missing_runs *k, struct spool_run *run)
{
	log_info("%s: Slurm has reported the run as unknown twice; the run is "
		 "not sent, and is removed from the spool",
	    run_key_text(&run->key));
	run->end = first_report(k->s->spool, run);
	spool_finish(k->s->spool, run);
	commit_soon(k->s->commit);
}

void
missing_report(struct missing_runs *k, const struct run_key *key)
{
	struct spool *sp = k->s->spool;
	struct spool_run run;

	if (spool_find(sp, key, &run) != 1 || run.end != 0 ||
	    !is_asked(k, &run))
		return;
	if (spool_is_reused(sp, &run)) {
		reused_report(k, &run);
		return;
	}
	if (run.not_found_count == 0) {
		run.not_found_at = spool_now(sp);
		run.not_found_time = time(NULL);
		run.not_found_count = 1;
	} else if (spool_now(sp) - run.not_found_at >= NOT_FOUND_GAP)
		run.not_found_count = 2;
	if (run.not_found_count == 2 && spool_is_unsent(&run)) {
		unsent_end(k, &run);
		return;
	}
	spool_save(sp, &run);
	/* Further answers do not delay the decision. */
	if (!evtimer_pending(k->timer, NULL))
		timer_after(k->timer, NOT_FOUND_WAIT);
}

int
missing_runs_force(struct missing_runs *k, const char *cluster, int dry)
{
	struct unknown_scan d = { .k = k, .cluster = cluster, .end = !dry },
			    rest = { .k = k, .cluster = "" };
	struct commit *c = k->s->commit;

	if (dry)
		return unknown_walk(&d) == -1 ? -1 : (int)d.n;
	if (commit_is_stuck(c))
		return -1;
	if (unknown_walk(&d) == -1) {
		commit_fail(c);
		return -1;
	}
	if (commit_now(c) == -1)
		return -1;
	unknown_walk(&rest);
	counts_set(k, rest.once, rest.n);
	wake(k->s, WAKE_DELIVERY);
	return (int)d.n;
}

void
missing_runs_status(struct missing_runs *k, uint64_t request)
{
	worker_status(k->s->w, request, "unknown", "%u once, %u twice%s",
	    k->once, k->twice,
	    k->twice > 0 ? ": too many to end without `sync --force`" : "");
}

void
missing_runs_summary(const struct missing_runs *k, struct summary *to)
{
	if (k->twice > 0)
		summary_add(to, PROBLEM_UNKNOWN, 0, 0,
		    "%u open runs are unknown to Slurm, too many to end "
		    "without `cc-slurm-adapterctl sync --force`",
		    k->twice);
}

struct missing_runs *
missing_runs_new(struct submitter *s)
{
	struct missing_runs *k = permanent_new(sizeof(*k));

	k->s = s;
	k->timer = timer_new(s, on_timer, k);
	k->count = timer_new(s, on_count, k);
	return k;
}
