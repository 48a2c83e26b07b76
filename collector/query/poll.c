/* SPDX-License-Identifier: MIT */
/*
 * The poll.  One poll runs at most three commands, whatever the number of jobs:
 * the periodic squeue; accounting, in its own lane; and the details of new runs
 * or, when there are none, slurmctld's clock.  Ambiguous records, unknown hosts and
 * the check of a run without slurmdbd need more.  Accounting, and without slurmdbd all
 * jobs, are not queried when slurmctld's counters prove that no run can have ended.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/wake.h"
#include "collector/details/details.h"
#include "collector/query/query_lanes.h"
#include "collector/slurm/query.h"
#include "collector/slurm/slurm.h"
#include "collector/track/track.h"
#include "common/log.h"
#include "common/permanent.h"
#include "common/text/time_text.h"

#define COMMANDS_MAX 3 /* of one poll */
/*
 * Jobs in slurmctld; below this number one query for all jobs costs as much as
 * a query for one job.
 */
#define SINGLY_FROM 200
/* polls; after so many the clock is read before accounting */
#define CLOCK_EVERY 5
/*
 * Accounting is queried after this number of polls or this time, also without a
 * change of the counters: the answer shows that slurmdbd works.
 */
#define QUIET_POLLS 10
#define QUIET_MAX_S 600
/*
 * Answers of accounting after the counters have changed: slurmdbd may complete
 * a row some seconds after slurmctld has sent all.
 */
#define QUIET_AFTER 2
/*
 * s after the start of slurmctld.  Until then slurmdbd may lack records of the
 * outage, also with an empty queue.
 */
#define SETTLE_S 60
/* s; somebody who resets the counters each minute does not delay watermarks */
#define SETTLE_MAX_S 300
/* s before the start, if this process does not know when the outage began */
#define OUTAGE_MAX_S 86400
/* An answer with a malformed row is invalid; after more the command is ended. */
#define BAD_ROWS_MAX 10

enum poll_step {
	POLL_IDLE,
	POLL_LIST,
	POLL_DETAILS,
	POLL_CLOCK
};

struct poll {
	struct cluster *c;
	enum poll_step step;
	struct accounting *accounting;
	struct query query;
	struct details *details;
	unsigned bad;
	size_t listed; /* rows of this answer */
	/* of these, rows of runs that were known before */
	size_t known;
	int64_t asked_at;	/* Slurm's clock */
	int64_t began;		/* monotonic ms: this poll, or poll_kick() */
	unsigned commands;	/* of this poll, with those of accounting */
	unsigned without_clock; /* polls since the clock was read */
	int clock_due;		/* read the clock after the details */
	int clock_new;		/* the clock was read after the last poll */
	size_t wanting;		/* rows of runs whose details were not sent */
	/* the same of the round before; 0 = this poll is the first round */
	size_t wanted_before;
	size_t later; /* of these, records that did not fit */
	/* rows of COMPLETING runs, and open runs that have left squeue */
	size_t ending;
	/* the counters before the last query to accounting, and its time */
	struct sdiag read;
	int64_t read_at;    /* monotonic s */
	uint32_t read_poll; /* number of that poll */
	unsigned unchanged; /* queries in a row with the same counters */
	struct sdiag sdiag; /* of this answer; 0, -1, 0 = not shown */
	/* without slurmdbd: see counted_more() */
	struct sdiag all_asked; /* the counters before the query under way */
	struct sdiag all_read;	/* the same of the last one that was answered */
	int all_due;
	int asks_all; /* the query under way is for all jobs */
};

static void on_details(struct details *d, int ok, void *arg);

struct poll *
poll_new(struct cluster *c, struct accounting *accounting)
{
	struct poll *y = permanent_new(sizeof(*y));

	y->c = c;
	y->accounting = accounting;
	c->listing.number = 1;
	y->details = details_new(c, on_details, y);
	return y;
}

static void
step_set(struct poll *y, enum poll_step step)
{
	y->step = step;
	y->c->listing.busy = step != POLL_IDLE;
}

static void
poll_idle(struct poll *y)
{
	step_set(y, POLL_IDLE);
	wake(y->c);
}

static void
rounds_stop(struct poll *y)
{
	y->wanted_before = 0;
	y->c->work.more_runs = 0;
}

static void
poll_fail(struct poll *y, const char *what, const struct command_end *end)
{
	query_failed(y->c, &y->c->ctld, what, end);
	idmap_clear(&y->c->work.details);
	rounds_stop(y);
	poll_idle(y);
}

/* slurmctld's clock, and its queue to slurmdbd. */
static int
on_clock_line(struct span line, void *arg)
{
	struct poll *y = arg;

	sdiag_line(&y->sdiag, line);
	return 0;
}

/*
 * slurmctld's counters begin with its start, also when it was away so briefly
 * that no command failed, and each night.  Then nodes may have another shape.
 */
static void
restart_check(struct cluster *c, int64_t since)
{
	if (since <= 0)
		return;
	if (c->clock.since != 0 && since != c->clock.since) {
		log_debug("slurmctld%s counts since %s: it was restarted, or "
			  "its counters were",
		    cluster_suffix(c), time_text(since));
		c->work.restarted = 1;
	}
	c->clock.since = since;
}

/* s; the next range must not begin before slurmQueryMaxSpan. */
static int64_t
quiet_max(const struct poll *y)
{
	int64_t most = y->c->set->max_span / 2;

	return most < QUIET_MAX_S ? most : QUIET_MAX_S;
}

/*
 * slurmctld has just started; its clock may have been set back since then.  In
 * the first second sdiag prints 0 as the time of the start.
 */
static int
is_settling(const struct sdiag *s)
{
	return s->since <= 0 ||
	    (s->clock >= s->since && s->clock - s->since < SETTLE_S);
}

/* Notes since when each answer is of a slurmctld that has just started. */
static void
settling_note(struct slurm_clock *k, const struct sdiag *s)
{
	if (!is_settling(s))
		k->settles = 0;
	else if (k->settles == 0)
		k->settles = now_s();
}

/*
 * The queue to slurmdbd is empty.  After a start of slurmctld, slurmdbd may
 * still lack records from before the outage.
 */
static void
queue_drained(struct slurm_clock *k, const struct sdiag *s)
{
	if (k->settles == 0 || now_s() - k->settles >= SETTLE_MAX_S)
		k->drained = s->clock;
	else if (k->drained == 0)
		k->drained = (s->since > 0 ? s->since : s->clock) -
		    OUTAGE_MAX_S;
}

/*
 * Accounting was read up to the counters of y->read, with the permission
 * proved, and squeue shows each open run.
 */
static int
is_settled(const struct poll *y)
{
	const struct cluster *c = y->c;

	return c->caught_up && !c->dbd.away && y->ending == 0 &&
	    y->unchanged >= QUIET_AFTER && y->read.clock > 0 &&
	    !is_settling(&y->read) && c->resume.point >= y->read.clock &&
	    now_s() - y->read_at < quiet_max(y) &&
	    c->listing.number - y->read_poll < QUIET_POLLS &&
	    !acct_waits(y->accounting);
}

/*
 * slurmctld has counted no job since then, so that no run has begun or ended.
 * Each run, also one that squeue never showed, changes a counter at its start
 * and another one at its end.
 */
static int
is_quiet(const struct poll *y)
{
	const struct sdiag *now = &y->sdiag, *then = &y->read;

	return is_settled(y) && now->queue == 0 &&
	    now->counters == SDIAG_COUNTERS && now->since != 0 &&
	    now->since == then->since && now->events == then->events &&
	    now->clock >= then->clock;
}

/*
 * The answer will contain all that the counters of y->sdiag have counted.  A
 * run without details is no open run, so that nobody would miss it in squeue.
 */
static void
accounting_query(struct poll *y, int may_check)
{
	if (y->sdiag.clock > 0 && y->sdiag.clock != y->read.clock) {
		y->unchanged = y->wanting == 0 &&
			y->sdiag.since == y->read.since &&
			y->sdiag.events == y->read.events ?
		    y->unchanged + 1 :
		    0;
		y->read = y->sdiag;
		y->read_at = now_s();
		y->read_poll = y->c->listing.number;
	}
	acct_poll(y->accounting, may_check);
}

/*
 * Without slurmdbd a run that began and ended between two polls is found only in an
 * answer about all jobs, for MinJobAge.  slurmctld has counted jobs since the last
 * one, or does not show its counters.
 */
static int
counted_more(const struct poll *y)
{
	const struct sdiag *now = &y->sdiag, *then = &y->all_read;

	return now->counters != SDIAG_COUNTERS || now->since == 0 ||
	    now->since != then->since || now->events != then->events;
}

static void
on_clock_end(const struct command_end *end, int complete, void *arg)
{
	struct poll *y = arg;
	struct cluster *c = y->c;

	y->without_clock = 0;
	c->clock.tried = 1;
	if (end->outcome == COMMAND_OK && y->sdiag.clock > 0) {
		slurm_clock_set(&c->clock, y->sdiag.clock, now_s());
		acct_clock(y->accounting, y->sdiag.clock);
		settling_note(&c->clock, &y->sdiag);
		restart_check(c, y->sdiag.since);
	}
	if (end->outcome == COMMAND_OK && y->sdiag.clock > 0 &&
	    y->sdiag.queue >= 0) {
		c->clock.works = 1;
		if (y->sdiag.queue == 0)
			queue_drained(&c->clock, &y->sdiag);
		else
			log_debug("slurmctld has %lld messages left for "
				  "slurmdbd",
			    (long long)y->sdiag.queue);
	} else
		c->clock.works = 0;
	y->all_due = !c->slurm.accounting && counted_more(y);
	c->work.rows_wait |= y->all_due; /* poll_kick() */
	if (c->ready && c->synced && y->commands < COMMANDS_MAX &&
	    !is_quiet(y)) {
		y->commands += (unsigned)c->slurm.accounting;
		accounting_query(y, 0);
	}
	poll_idle(y);
}

static const struct query_type clock_query = {
	.kind = QUESTION_CLOCK,
	.on_line = on_clock_line,
	.on_end = on_clock_end,
};

static void
clock_query_start(struct poll *y)
{
	step_set(y, POLL_CLOCK);
	y->commands++;
	y->sdiag = (struct sdiag) { .queue = -1 };
	y->clock_due = 0;
	query_begin(&y->query, y->c, &clock_query, y);
	if (query_start(&y->query) == -1)
		poll_idle(y);
}

void
poll_clock(struct poll *y)
{
	/* The first poll reads accounting. */
	y->commands = COMMANDS_MAX;
	y->clock_new = 1;
	if (y->step == POLL_IDLE)
		clock_query_start(y);
}

/* Accounting is queried for jobs whose details are ambiguous or unknown. */
static void
leave_to_accounting(struct poll *y)
{
	struct cluster *c = y->c;
	uint64_t job;
	size_t at = 0;

	while ((job = idmap_next(&y->c->work.details, &at, NULL)) != 0) {
		switch (details_verdict(y->details, job)) {
		case DETAIL_AMBIGUOUS:
			(void)idmap_put(&c->ambiguous, job, NULL);
			(void)idmap_put(&c->work.accounting, job, NULL);
			break;
		case DETAIL_UNKNOWN:
			(void)idmap_put(&c->work.accounting, job, NULL);
			break;
		case DETAIL_LATER:
			y->later++;
			break;
		default:
			break;
		}
	}
}

/*
 * One answer has room for some tens of thousands of new runs.  The next round
 * follows at once, unless the last one brought nothing.
 */
static void
round_end(struct poll *y)
{
	struct worklist *work = &y->c->work;
	int more = y->wanting > work->details.n || y->later > 0;

	more = more && (y->wanted_before == 0 || y->wanting < y->wanted_before);
	y->wanted_before = more ? y->wanting : 0;
	work->more_runs = more;
}

static void
on_details(struct details *d, int ok, void *arg)
{
	struct poll *y = arg;

	if (ok && y->asks_all && !details_skipped(d)) {
		y->all_read = y->all_asked;
		y->all_due = 0;
	}
	if (ok) {
		y->later = 0;
		leave_to_accounting(y);
		round_end(y);
		acct_details_done(y->accounting, d);
		lookup_detailed(y->c->lookups);
	} else
		rounds_stop(y);
	details_forget(d);
	idmap_clear(&y->c->work.details);
	if (y->clock_due)
		clock_query_start(y);
	else
		poll_idle(y);
}

/*
 * Adds jobs to query slurmctld for: new runs, runs whose row waits for details,
 * and runs whose end accounting lacks, because slurmctld keeps an end for
 * minutes.
 */
static int
want_details(struct poll *y)
{
	uint64_t job;
	uint32_t start;
	size_t at = 0;

	details_forget(y->details);
	while ((job = idmap_next(&y->c->work.details, &at, &start)) != 0)
		if (details_want_run(y->details, job, start) == -1)
			break;
	for (at = 0; (job = idmap_next(&y->c->work.left, &at, NULL)) != 0;)
		if (details_want(y->details, job) == -1)
			break;
	acct_details_wanted(y->accounting, y->details);
	return details_wanted(y->details) > 0;
}

static void
details_query_start(struct poll *y)
{
	int all = details_wanted(y->details) > 1 || y->all_due ||
	    y->c->listing.jobs < SINGLY_FROM;

	/* The rounds of new runs follow each other at once. */
	if (all && y->wanted_before == 0 &&
	    details_all_waits(y->details, 0, y->began)) {
		details_forget(y->details);
		if (y->clock_due)
			clock_query_start(y);
		else
			poll_idle(y);
		return;
	}
	idmap_clear(&y->c->work.left);
	step_set(y, POLL_DETAILS);
	y->commands++;
	y->asks_all = all;
	y->all_asked = y->sdiag;
	details_start(y->details, all, y->began);
}

void
poll_kick(struct poll *y)
{
	struct cluster *c = y->c;

	if (!c->work.rows_wait)
		return;
	c->work.rows_wait = 0;
	if (y->step != POLL_IDLE || !c->ready || health_wait(&c->ctld) > 0)
		return;
	/*
	 * The query is started in this poll if a command is left, or if
	 * slurmctld might purge the job before the next poll.
	 */
	if (y->commands >= COMMANDS_MAX &&
	    c->set->poll * 2 < c->slurm.min_job_age)
		return;
	/* The next round follows at once and queries these, too. */
	if (c->work.more_runs || (!want_details(y) && !y->all_due))
		return;
	/* The answer is no round of new runs: no poll follows at once. */
	y->wanting = 0;
	y->began = now_ms();
	details_query_start(y);
}

void
poll_resume(struct poll *y)
{
	details_resume(y->details);
}

static void
row_listed(struct poll *y, const struct squeue_job *row)
{
	struct cluster *c = y->c;
	struct open_run *run;
	uint32_t *start;

	if ((row->state->phase != PHASE_CONFIGURING &&
		row->state->phase != PHASE_RUNNING &&
		row->state->phase != PHASE_COMPLETING) ||
	    run_number(row->job, row->start) == 0)
		return;
	y->ending += row->state->phase == PHASE_COMPLETING;
	lookup_shown(c->lookups, row->job, row->start);
	track_squeue_row(c, row);
	run = open_find(&c->open, row->job, row->start);
	if (run != NULL) {
		y->known++;
		run->seen = y->c->listing.number;
		if (run->flags & OPEN_LEFT)
			run->tries = 0;
		run->flags &= (uint8_t) ~(OPEN_LEFT | OPEN_RUNNING);
		if (row->state->phase == PHASE_RUNNING)
			run->flags |= OPEN_RUNNING;
		if ((run->flags & (OPEN_RESOURCES_SENT | OPEN_IGNORED)) != 0 &&
		    !lookup_has(c->lookups, row->job, row->start))
			return;
	} else if ((row->state->phase == PHASE_RUNNING ?
			   done_ran :
			   done_has)(&c->done, row->job, row->start) ||
	    track_quarantined(c, row->job, row->start))
		return;
	y->wanting++;
	if (c->work.details.n >= NEW_JOBS_MAX)
		return;
	start = idmap_put(&c->work.details, row->job, NULL);
	if (start != NULL)
		*start = (uint32_t)row->start;
}

static int
on_row(struct span line, void *arg)
{
	struct poll *y = arg;
	struct squeue_job row;

	if (squeue_row(line, &row) == -1)
		return ++y->bad > BAD_ROWS_MAX ? -1 : 0;
	y->listed++;
	row_listed(y, &row);
	return 0;
}

/*
 * Marks open runs that squeue does not show any more.  Most of them have ended.
 */
static void
sweep(struct poll *y)
{
	struct cluster *c = y->c;
	struct open_run *run;
	size_t at = 0;
	unsigned n = 0;

	while ((run = open_next(&c->open, &at)) != NULL) {
		if (run->seen == c->listing.number &&
		    (run->flags & OPEN_LEFT) == 0)
			continue;
		y->ending++;
		if (run->flags & OPEN_LEFT)
			continue;
		run->flags |= OPEN_LEFT;
		run->tries = 0;
		/*
		 * The range queries of the next two polls usually show the
		 * ends.
		 */
		run->seen = (uint32_t)(now_s() + 2 * c->set->poll + 1);
		/*
		 * Without accounting only slurmctld has the end, for MinJobAge.
		 */
		if (!c->slurm.accounting || c->dbd.away)
			(void)idmap_put(&y->c->work.details, run->job, NULL);
		n++;
	}
	if (n > 0)
		log_debug("%u runs have left squeue", n);
}

/*
 * Nothing is new: queries accounting, or reads slurmctld's clock, which the
 * watermark needs.  Every second poll checks the permission instead, where it
 * must be proved.  A catch-up reads accounting up to the present itself and
 * does not need the clock before its end.
 */
static void
nothing_new(struct poll *y, int clock_new)
{
	struct cluster *c = y->c;
	int prove = c->slurm.accounting &&
	    !slurm_permission_inherent(&c->slurm) &&
	    y->c->listing.number % 2 == 1 && !is_settled(y);

	if (!prove && !clock_new && !acct_catching_up(y->accounting)) {
		clock_query_start(y);
		return;
	}
	y->without_clock++;
	if (!acct_catching_up(y->accounting)) {
		y->commands += 2;
		accounting_query(y, prove);
	}
	poll_idle(y);
}

/*
 * Something is new: queries its details, and the clock if the clock is overdue.
 * Without slurmdbd the counters are read in each poll.
 */
static void
poll_third(struct poll *y)
{
	int clock_new = y->clock_new;

	y->clock_new = y->clock_due = 0;
	if (!want_details(y) && !y->all_due) {
		rounds_stop(y);
		nothing_new(y, clock_new);
		return;
	}
	y->clock_due = ++y->without_clock > CLOCK_EVERY ||
	    !y->c->slurm.accounting;
	if (!y->clock_due || !y->c->slurm.accounting) {
		y->commands += (unsigned)y->c->slurm.accounting;
		accounting_query(y, 0);
	}
	details_query_start(y);
}

static void
on_list_end(const struct command_end *end, int complete, void *arg)
{
	struct poll *y = arg;

	if (!complete || y->bad > 0) {
		poll_fail(y, "squeue", end);
		return;
	}
	health_good(&y->c->ctld);
	y->c->listing.jobs = y->listed;
	y->c->listing.asked_at = y->asked_at;
	sweep(y);
	lookup_listed(y->c->lookups, y->known > 0);
	poll_third(y);
}

static const struct query_type list_query = {
	.kind = QUESTION_LIST,
	.on_line = on_row,
	.on_end = on_list_end,
};

void
poll_start(struct poll *y)
{
	struct cluster *c = y->c;

	if (y->step != POLL_IDLE)
		return;
	step_set(y, POLL_LIST);
	c->listing.number++;
	y->commands = 1;
	y->asked_at = slurm_now(c);
	y->began = now_ms();
	y->bad = 0;
	y->listed = 0;
	y->known = 0;
	y->ending = 0;
	y->wanting = 0;
	idmap_clear(&c->work.details);
	query_begin(&y->query, c, &list_query, y);
	if (query_start(&y->query) == -1) {
		rounds_stop(y);
		poll_idle(y);
	}
}
