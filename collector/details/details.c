/* SPDX-License-Identifier: MIT */
/*
 * Resources of runs, from `scontrol show job -d -o`: all jobs in one query, or
 * a few jobs in one query each.  No part of an answer is used before its end:
 * a text of a user may contain a line that looks like the record of another
 * job, and only the complete answer shows that a job occurs twice.  Such a job
 * is queried again, exactly.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/wake.h"
#include "collector/details/details_private.h"
#include "collector/details/record_pack.h"
#include "collector/slurm/slurm.h"
#include "collector/track/outbox.h"
#include "collector/track/track.h"
#include "common/log.h"

/* Results: a record of these may exceed the submitter's window */
#define FEW	  64
#define TRIM_FROM 256 /* results: more give memory back */
/*
 * Between two queries for all jobs of a big cluster.  In a burst slurmctld
 * answers them for a fifth of its time at most.
 */
#define ALL_GAP_S    10
#define ALL_GAP_FROM 1000 /* jobs */
#define BURST_SHARE  5

/*
 * Jobs of one answer that are queried exactly, with two commands each.  The
 * others wait for the next answer, because no poll begins meanwhile.
 */
#define EXACT_MAX 256

static void details_next(struct details *d);

struct details *
details_new(struct cluster *c,
    void (*done)(struct details *d, int ok, void *arg), void *arg)
{
	struct details *d = calloc(1, sizeof(*d));

	if (d == NULL)
		fatalx("out of memory");
	d->c = c;
	d->done = done;
	d->arg = arg;
	return d;
}

void
details_forget(struct details *d)
{
	size_t i;
	int big;

	for (i = 0; i < d->n; i++)
		details_result_drop(&d->results[i], DETAIL_UNSEEN);
	free(d->results);
	big = d->n >= TRIM_FROM;
	d->results = NULL;
	d->n = d->cap = d->at = d->record_bytes = 0;
	d->delivering = 0;
	idmap_clear(&d->index);
	idmap_clear(&d->seen);
	disambiguate_free(d->disambiguate);
	d->disambiguate = NULL;
	pack_free(d->pack);
	d->pack = NULL;
	d->c->trim |= big;
}

int
details_busy(const struct details *d)
{
	return d->busy;
}

size_t
details_wanted(const struct details *d)
{
	return d->n;
}

int
details_all_waits(const struct details *d, int burst, int64_t begin)
{
	int64_t gap = ALL_GAP_S * 1000;

	if (burst && d->all_ms * BURST_SHARE < gap)
		gap = d->all_ms * BURST_SHARE;
	return d->c->listing.jobs >= ALL_GAP_FROM && d->all_at != 0 &&
	    begin - d->all_at < gap;
}

int
details_want(struct details *d, uint64_t job)
{
	return details_result_new(d, job, 1) != NULL ? 0 : -1;
}

int
details_want_run(struct details *d, uint64_t job, uint32_t start)
{
	struct detail_result *r = details_result_new(d, job, 1);

	if (r == NULL)
		return -1;
	r->start = start;
	return 0;
}

enum detail
details_verdict(const struct details *d, uint64_t job)
{
	struct detail_result *r = details_result(d, job);

	return r != NULL ? r->verdict : DETAIL_UNSEEN;
}

enum slurm_phase
details_phase(const struct details *d, uint64_t job)
{
	struct detail_result *r = details_result(d, job);

	return r != NULL ? r->phase : PHASE_UNKNOWN;
}

uint64_t
details_order(const struct details *d, uint64_t job)
{
	struct detail_result *r = details_result(d, job);

	return r != NULL ? r->order : 0;
}

static void
details_finish(struct details *d, int ok)
{
	d->busy = 0;
	if (ok && !d->hosts_failed)
		health_good(&d->c->ctld);
	d->done(d, ok, d->arg);
	wake(d->c);
}

static void
details_fail(struct details *d, const struct command_end *end)
{
	query_failed(d->c, &d->c->ctld, "scontrol", end);
	details_finish(d, 0);
}

/* slurmctld does not know a job that is not in the answer. */
static void
unseen_unknown(struct details *d, size_t from, size_t to)
{
	for (; from < to; from++)
		if (d->results[from].verdict == DETAIL_UNSEEN)
			d->results[from].verdict = DETAIL_UNKNOWN;
}

static void
on_verify_end(const struct command_end *end, int complete, void *arg)
{
	struct details *d = arg;
	struct detail_result *r;
	size_t i;

	(void)complete;
	for (i = 0; i < d->n; i++) {
		r = &d->results[i];
		if (!r->wanted && !r->shown)
			details_result_drop(r, DETAIL_UNKNOWN);
	}
	if (end->outcome != COMMAND_OK)
		details_fail(d, end);
	else
		details_next(d);
}

static int
on_verify_row(struct span line, void *arg)
{
	struct details *d = arg;
	struct squeue_job row;
	struct detail_result *r;

	if (squeue_row(line, &row) == -1)
		return 0; /* a malformed row */
	r = row.state->phase == PHASE_ENDED ? details_result(d, row.job) : NULL;
	if (r != NULL)
		r->shown = 1;
	return 0;
}

static const struct query_type verify_query = {
	.kind = QUESTION_LIST_ALL,
	.on_line = on_verify_row,
	.on_end = on_verify_end,
};

/*
 * Without accounting a run that began and ended between two polls is found
 * only in the answer about all jobs.  A line of that answer may be part of a
 * job name and describe a run that never existed.  squeue's rows have no text
 * of users: only a job that squeue shows as ended counts.
 */
static void
verify_query_start(struct details *d)
{
	query_begin(&d->query, d->c, &verify_query, d);
	if (query_start(&d->query) == -1)
		details_finish(d, 0);
}

static void
on_all_end(const struct command_end *end, int complete, void *arg)
{
	struct details *d = arg;

	if (!complete) {
		details_fail(d, end);
		return;
	}
	unseen_unknown(d, 0, d->n);
	d->all_ms = end->ms;
	d->c->listing.records = d->seen.n;
	/* For 100,000 jobs these are 3 MiB, while records fill the queue. */
	idmap_clear(&d->seen);
	d->at = 0;
	if (d->found)
		verify_query_start(d);
	else
		details_next(d);
}

static const struct query_type all_query = {
	.kind = QUESTION_JOBS,
	.on_line = details_text_line,
	.on_end = on_all_end,
};

static void
all_query_start(struct details *d)
{
	query_begin(&d->query, d->c, &all_query, d);
	if (query_start(&d->query) == -1)
		details_finish(d, 0);
}

static void
on_one_end(const struct command_end *end, int complete, void *arg)
{
	struct details *d = arg;
	int unknown = end->outcome == COMMAND_FAILED &&
	    strstr(end->err, "Invalid job id") != NULL;

	if (end->outcome == COMMAND_TOO_LONG) {
		/* slurmctld answers, and the other jobs must not wait. */
		query_failed(d->c, NULL, "scontrol", end);
		details_result_drop(&d->results[d->at], DETAIL_AMBIGUOUS);
	} else if (!complete && !unknown) {
		details_fail(d, end);
		return;
	}
	unseen_unknown(d, d->at, d->at + 1);
	d->at++;
	details_next(d);
}

static const struct query_type one_query = {
	.kind = QUESTION_JOB,
	.on_line = details_text_line,
	.on_end = on_one_end,
};

static void
one_query_start(struct details *d, uint64_t job)
{
	details_text_begin(d);
	query_begin(&d->query, d->c, &one_query, d);
	if (query_start_job(&d->query, job) == -1)
		details_finish(d, 0);
}

/* Reads a kept record again.  0, or -1: it has to be queried again. */
static int
line_read(const struct details *d, const struct detail_result *r,
    struct job_snapshot *s)
{
	struct span line = details_line(d, r);

	if (line.n == 0)
		return -1;
	return scontrol_record(line, NULL, &d->c->set->how, s) == RECORD_GOOD ?
	    0 :
	    -1;
}

static void
result_use(struct details *d, struct detail_result *r)
{
	struct job_snapshot read, *s = r->s;

	snapshot_init(&read);
	if (s == NULL) {
		s = &read;
		if (line_read(d, r, s) == -1)
			r->verdict = DETAIL_LATER;
	}
	if (r->verdict == DETAIL_GOOD) {
		hosts_apply(d->c->hosts, s);
		r->phase = s->state->phase;
		r->order = track_snapshot(d->c, s);
	}
	snapshot_clear(&read);
	details_result_drop(r, r->verdict);
}

/* The answer is complete: its records may be used now. */
static void
deliver(struct details *d)
{
	struct detail_result *r;

	d->delivering = 1;
	for (; d->at < d->n; d->at++) {
		r = &d->results[d->at];
		if (r->verdict != DETAIL_GOOD ||
		    (r->s == NULL && r->line == NULL))
			continue;
		/* A few records may exceed the window of the submitter. */
		if (d->n > FEW && outbox_behind(d->c->outbox))
			return;
		result_use(d, r);
	}
	d->delivering = 0;
	details_finish(d, 1);
}

void
details_resume(struct details *d)
{
	if (d->delivering)
		deliver(d);
}

static void
deliver_begin(struct details *d)
{
	d->at = 0;
	deliver(d);
}

/*
 * Time without a query for the shapes of nodes after an answer that lacked a
 * host: slurmctld shows jobs on nodes that it does not know any more.
 */
#define HOSTS_AGAIN_S 60

/*
 * Failed queries for the shapes of nodes, one after the other, for which the
 * records wait.  Slurm that never answers this query must not block new runs.
 */
#define HOSTS_FAILS_MAX 3

/*
 * Has the job an unknown host?  Its shape would be missing in the record.  The
 * flag is from the time when the record was read, or from lacks_update().
 */
static int
lacks_host(const struct detail_result *r)
{
	return r->lacks && r->verdict == DETAIL_GOOD;
}

/* More hosts are known now. */
static void
lacks_update(struct details *d)
{
	struct detail_result *r;
	struct job_snapshot read;
	size_t i;

	for (i = 0; i < d->n; i++) {
		r = &d->results[i];
		if (!lacks_host(r))
			continue;
		if (r->s != NULL) {
			r->lacks = details_lacks_host(d, r->s) != 0;
			continue;
		}
		snapshot_init(&read);
		r->lacks = line_read(d, r, &read) == 0 &&
		    details_lacks_host(d, &read);
		snapshot_clear(&read);
	}
}

/* Is there an unknown host of the jobs that are CONFIGURING, or of the others? */
static int
host_is_missing(const struct details *d, int configuring)
{
	const struct detail_result *r;
	size_t i;

	for (i = 0; i < d->n; i++) {
		r = &d->results[i];
		if ((r->phase == PHASE_CONFIGURING) == configuring &&
		    lacks_host(r))
			return 1;
	}
	return 0;
}

/* A record without shapes would not be repaired; the other jobs do not wait. */
static void
hosts_wait(struct details *d)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (lacks_host(&d->results[i]))
			details_result_drop(&d->results[i], DETAIL_LATER);
}

static int
was_absent(int64_t at)
{
	return at != 0 && now_s() - at < HOSTS_AGAIN_S;
}

/*
 * slurmctld hides a cloud node until it is being powered up: its absence while a
 * job is CONFIGURING must not delay the query when the job runs.
 */
static int
hosts_query_is_due(const struct details *d)
{
	const struct cluster *c = d->c;

	if (c->hosts == NULL)
		return 0;
	return (!was_absent(c->host_absent_at) && host_is_missing(d, 0)) ||
	    (!was_absent(c->host_hidden_at) && host_is_missing(d, 1));
}

static void
on_hosts(void *arg, int failed)
{
	struct details *d = arg;

	lacks_update(d);
	if (failed && d->hosts_fails < HOSTS_FAILS_MAX) {
		d->hosts_fails++;
		hosts_wait(d);
	} else
		d->hosts_fails = 0;
	d->hosts_failed = failed;
	/* Jobs of the other kind, which are not in d, keep their time. */
	if (host_is_missing(d, 0))
		d->c->host_absent_at = now_s();
	if (host_is_missing(d, 1))
		d->c->host_hidden_at = now_s();
	deliver_begin(d);
}

static void
on_disambiguated(struct details *d, int answered)
{
	disambiguate_free(d->disambiguate);
	d->disambiguate = NULL;
	if (!answered) {
		details_finish(d, 0);
		return;
	}
	d->at++;
	details_next(d);
}

/* Starts the next exact query.  Returns 0 when there is none. */
static int
exact_query_start(struct details *d)
{
	struct detail_result *r;

	for (; d->at < d->n; d->at++) {
		r = &d->results[d->at];
		if (r->verdict != DETAIL_AMBIGUOUS || (!r->wanted && !r->shown))
			continue;
		if (d->exact++ < EXACT_MAX) {
			disambiguate_start(d, r, on_disambiguated);
			return 1;
		}
		r->verdict = DETAIL_LATER;
	}
	return 0;
}

/* The next single query, then the exact ones, then the end. */
static void
details_next(struct details *d)
{
	if (!d->all) {
		if (d->at < d->n) {
			one_query_start(d, d->results[d->at].job);
			return;
		}
		d->all = 1; /* from here on the results of this answer */
		d->at = 0;
	}
	if (exact_query_start(d))
		return;
	if (hosts_query_is_due(d))
		hosts_query(d->c, on_hosts, d);
	else
		deliver_begin(d);
}

int
details_skipped(const struct details *d)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (!d->results[i].wanted &&
		    d->results[i].verdict == DETAIL_LATER)
			return 1;
	return d->skipped;
}

void
details_start(struct details *d, int all, int64_t begin)
{
	d->busy = 1;
	d->all = all;
	d->at = 0;
	d->exact = 0;
	d->record_bytes = 0;
	details_text_begin(d);
	d->found = d->skipped = 0;
	d->hosts_failed = 0;
	if (all) {
		d->all_at = begin;
		all_query_start(d);
	} else
		details_next(d);
}
