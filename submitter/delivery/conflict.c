/* SPDX-License-Identifier: MIT */
/*
 * Lists jobs of cc-backend when its answer alone does not show what happened to
 * a run: a start was refused as a duplicate (the refusal may name a wrong run),
 * or a stop found a stopped run.  Runs with near starts are listed together:
 * first running jobs, which need no files in cc-backend, then all jobs.  If a
 * list fails because of a damaged row, the range is halved down to one second.
 * The runs of that second are requested one by one.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/permanent.h"
#include "submitter/backend/breaker.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/net/http.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"

/* ms until the first list, so that it serves several runs */
#define CONFLICT_GATHER 200
#define CONFLICT_RETRY	2000 /* ms after a request that failed */
#define CONFLICT_TRIES	3    /* of one second; then edit_meta is used */
/* ms until a run without a result is requested again */
#define CONFLICT_LATER 60000
/*
 * Tries until the end is no longer awaited.  The waits are doubled, so the last
 * try is 1.5 to 3 hours after the first: a centre may have to read days of a
 * stream.
 */
#define END_TRIES     8
#define END_LATER_MAX 3600000 /* ms */
#define GROUP_MAX     512     /* runs listed together */
/*
 * s from the start of the first run to that of any other: cc-backend reads one file
 * per stopped job
 */
#define GROUP_SPAN 3600
/* ranges that wait: two hours are halved 13 times */
#define HALVES_MAX 16

/* One run of the group. */
struct conflict_run {
	int64_t id;
	uint64_t job;
	int64_t start;
	enum {
		NOT_SHOWN,
		SHOWN_RUNNING,
		SHOWN_STOPPED,
		SETTLED
	} shown;
	struct backend_job row; /* its row in the list */
};

struct start_range {
	int64_t from, to;
};

struct conflict {
	struct submitter *s;
	struct event *timer;
	struct job_list job_list;
	struct conflict_run *runs; /* by start; GROUP_MAX */
	unsigned n_runs;
	char cluster[CLUSTER_MAX];
	/* the list of running jobs comes first */
	int running;
	struct start_range now; /* the range that is listed */
	struct start_range later[HALVES_MAX];
	unsigned n_later;
	unsigned tries; /* of this range */
	/* index of the next run that is requested alone */
	unsigned single;
	int singly;
	int meta;    /* an edit_meta is under way */
	int waiting; /* the timer repeats a request */
	int armed;   /* the timer begins a group */
};

static void conflict_step(struct conflict *k);

/* --- rows --- */

static int
conflict_run_cmp(const void *a, const void *b)
{
	const struct conflict_run *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

static void
on_row(const struct backend_job *row, void *arg)
{
	struct conflict *k = arg;
	struct conflict_run key = { .job = row->key.job,
		.start = row->key.start };
	struct conflict_run *a = bsearch(&key, k->runs, k->n_runs, sizeof(key),
	    conflict_run_cmp);

	if (a == NULL || a->shown == SETTLED)
		return;
	a->row = *row;
	a->shown = strcmp(row->state, "running") == 0 ? SHOWN_RUNNING :
							SHOWN_STOPPED;
}

static void
refuse_double(struct conflict *k, struct spool_run *run)
{
	char why[sizeof(run->reason)];

	snprintf(why, sizeof(why),
	    "cc-backend has another run of this job (%.300s)", run->reason);
	run_reject(k->s, run, DEST_REST, REJECT_DUPLICATE, why);
	meta_note_sibling(k->s->meta, run);
}

/*
 * cc-backend refused the start and does not have the run.  It may have accepted
 * an earlier request and lost the run since, with its cache or at a restore.  So
 * the start is repeated once, unless a later run replaces the run.
 */
static void
refused_settle(struct conflict *k, struct spool_run *run)
{
	if (run->flags & (RUN_REFUSED_ONCE | RUN_SUPERSEDED)) {
		refuse_double(k, run);
		return;
	}
	run->flags |= RUN_REFUSED_ONCE;
	run_move(k->s->spool, run, DEST_REST, RUN_EVENT_OVERDUE, DUE_NOW, NULL);
	run_save(k->s, run);
	wake(k->s, WAKE_DELIVERY);
}

/* Looks at the run again in ms; later runs of its job wait no longer. */
static void
run_postpone(struct conflict *k, struct spool_run *run, int64_t ms)
{
	run->due[DEST_REST] = spool_now(k->s->spool) + ms;
	run->tries[DEST_REST]++;
	run_save(k->s, run);
	if (spool_start_fails(run)) {
		spool_release(k->s->spool, run, DEST_REST);
		wake(k->s, WAKE_DELIVERY);
	}
}

/*
 * cc-backend has the run as stopped.  A centre that reads a stream again has the
 * start of a run before its end, and cc-backend may have both from an earlier
 * reading.  So the end is awaited before another client is suspected; the end
 * makes the run due at once.
 */
static void
stopped_settle(struct conflict *k, struct spool_run *run,
    const struct backend_job *row)
{
	unsigned tries = run->tries[DEST_REST];

	if (run->end == 0 && tries < END_TRIES &&
	    conf_reads_stream(&k->s->w->conf))
		run_postpone(k, run,
		    timer_backoff(tries, CONFLICT_LATER, END_LATER_MAX));
	else
		foreign_stop_compare(k->s, run, row);
}

/*
 * Applies the list to one run; last: a run that is not in it is not in
 * cc-backend.
 */
static void
conflict_settle(struct conflict *k, struct conflict_run *a, int last)
{
	struct submitter *s = k->s;
	struct spool_run run;
	int is_stop;

	if (a->shown == SETTLED || (a->shown == NOT_SHOWN && !last))
		return;
	if (spool_get(s->spool, a->id, &run) == 1 &&
	    (run.state[DEST_REST] == START_CONFLICT ||
		run.state[DEST_REST] == STOP_CONFLICT)) {
		is_stop = run.state[DEST_REST] == STOP_CONFLICT;
		if (a->shown == SHOWN_RUNNING)
			run_start_listed(s, &run);
		else if (a->shown == SHOWN_STOPPED)
			stopped_settle(k, &run, &a->row);
		else if (is_stop)
			foreign_stop_unknown(s, &run);
		else
			refused_settle(k, &run);
	}
	a->shown = SETTLED;
}

/* Applies the list to the runs in its range. */
static void
range_settle(struct conflict *k, int last)
{
	unsigned i;

	for (i = 0; i < k->n_runs; i++)
		if (k->runs[i].start >= k->now.from &&
		    k->runs[i].start <= k->now.to)
			conflict_settle(k, &k->runs[i], last);
}

/* --- runs one by one --- */

/*
 * edit_meta shows only whether cc-backend has the run.  The run counts as
 * running then: the answer to its stop shows more.
 */
static void
single_settle(struct conflict *k, int there)
{
	struct conflict_run *a = &k->runs[k->single++];
	struct spool_run run;

	if (spool_get(k->s->spool, a->id, &run) == 1 &&
	    run.state[DEST_REST] == STOP_CONFLICT) {
		foreign_stop_unknown(k->s, &run);
		a->shown = SETTLED;
		return;
	}
	a->shown = there ? SHOWN_RUNNING : NOT_SHOWN;
	conflict_settle(k, a, 1);
}

/*
 * edit_meta of one run failed several times.  A run whose archive file is
 * missing is stopped and damaged in cc-backend: deleting it repairs the lists,
 * too.  The state of any other run stays unknown, and the run blocks no later
 * run.
 */
static void
single_failed(struct conflict *k, const char *why)
{
	struct conflict_run *a = &k->runs[k->single++];
	struct spool_run run;

	k->tries = 0;
	a->shown = SETTLED;
	if (spool_get(k->s->spool, a->id, &run) != 1 ||
	    (run.state[DEST_REST] != START_CONFLICT &&
		run.state[DEST_REST] != STOP_CONFLICT))
		return;
	if (strstr(why, "meta.json") != NULL) {
		foreign_stop_damaged(k->s, &run, why);
		return;
	}
	run_postpone(k, &run, CONFLICT_LATER);
}

static void
on_meta(const struct http_answer *a, void *arg)
{
	struct conflict *k = arg;
	struct result v;

	k->meta = 0;
	response_classify(a, &v);
	if (v.code != RESULT_RETRY)
		breaker_meta_result(k->s->breaker, &v);
	/*
	 * Rejected: this cc-backend has no edit_meta; the answer to the stop
	 * shows the state.
	 */
	if (v.code == RESULT_DONE || v.code == RESULT_REJECTED)
		single_settle(k, 1);
	else if (v.code == RESULT_NO_RUN)
		single_settle(k, 0);
	else if (++k->tries >= CONFLICT_TRIES)
		single_failed(k, v.text);
	else {
		k->waiting = 1;
		timer_after(k->timer, CONFLICT_RETRY);
		return;
	}
	k->tries = 0;
	conflict_step(k);
}

/* A body that changes nothing in cc-backend: 0, or -1 when there is none. */
static int
meta_body(struct conflict *k, const struct conflict_run *a, struct writer *body)
{
	struct run_key key = { .job = a->job, .start = a->start };
	struct job job;
	int rc;

	memcpy(key.cluster, k->cluster, sizeof(key.cluster));
	job_init(&job);
	inflight_set(k->s->w->inflight, &key);
	rc = spool_record(k->s->spool, a->id, &job);
	if (rc == 0) {
		job.key = key;
		rc = payload_edit_meta_same(k->s->payload, &job, body);
	}
	inflight_clear(k->s->w->inflight);
	job_clear(&job);
	return rc;
}

/* Sends the edit_meta, or arms the timer to try again. */
static void
meta_send(struct conflict *k, struct writer *body)
{
	struct http_request req = { .what = REQUEST_META,
		.method = "PATCH",
		.path = "jobs/edit_meta/",
		.body = body,
		.done = on_meta,
		.arg = k };

	k->meta = breaker_allows(k->s->breaker) &&
	    http_send(k->s->http, &req) == 0;
	if (k->meta)
		return;
	k->waiting = 1;
	timer_after(k->timer, CONFLICT_RETRY);
}

/*
 * Requests the next run of the second that cannot be listed.  Returns 1, or 0
 * when there is none.
 */
static int
single_next(struct conflict *k)
{
	const struct conflict_run *a;
	struct writer body;
	int rc;

	while (k->single < k->n_runs) {
		a = &k->runs[k->single];
		if (a->shown == SETTLED || a->start != k->now.from) {
			k->single++;
			continue;
		}
		wr_init(&body, PAYLOAD_MAX);
		rc = meta_body(k, a, &body);
		if (rc == 0)
			meta_send(k, &body);
		else /* as without edit_meta */
			single_settle(k, 1);
		wr_clear(&body);
		if (rc == 0)
			return 1;
	}
	k->singly = 0;
	return 0;
}

/* --- lists --- */

static void on_listed(const struct result *v, void *arg);

static void
list_send(struct conflict *k)
{
	if (job_list_start(&k->job_list, k->s, k->cluster, k->running,
		k->now.from, k->now.to, on_row, on_listed, k) == -1) {
		k->waiting = 1;
		timer_after(k->timer, CONFLICT_RETRY);
	}
}

/* Takes the next range with unsettled runs and narrows it to them; 0 = none. */
static int
range_next(struct conflict *k)
{
	struct start_range next;
	unsigned i;
	int any = 0;

	while (!any && k->n_later > 0) {
		next = k->later[--k->n_later];
		for (i = 0; i < k->n_runs; i++) {
			if (k->runs[i].shown == SETTLED ||
			    k->runs[i].start < next.from ||
			    k->runs[i].start > next.to)
				continue;
			if (!any)
				k->now.from = k->runs[i].start;
			k->now.to = k->runs[i].start;
			any = 1;
		}
	}
	k->tries = 0;
	return any;
}

/* Keeps both halves of the range, the earlier one on top. */
static void
range_split(struct conflict *k)
{
	int64_t mid = k->now.from + (k->now.to - k->now.from) / 2;

	k->later[k->n_later++] = (struct start_range) { mid + 1, k->now.to };
	k->later[k->n_later++] = (struct start_range) { k->now.from, mid };
}

/* A damaged row makes the list fail with 500: lists each half. */
static void
range_halve(struct conflict *k)
{
	if (k->now.from < k->now.to) {
		range_split(k);
		range_next(k);
	} else if (++k->tries >= CONFLICT_TRIES) {
		k->singly = 1;
		k->single = 0;
		k->tries = 0;
	} else {
		k->waiting = 1;
		timer_after(k->timer, CONFLICT_RETRY);
		return;
	}
	conflict_step(k);
}

/*
 * cc-backend or a proxy closes the connection when the list takes too long: a
 * shorter range may be listed in time.  An outage looks the same, so the runs of
 * a single second are not asked one by one: edit_meta shows less than a list.
 */
static void
range_shorten(struct conflict *k)
{
	if (k->now.from == k->now.to || ++k->tries < CONFLICT_TRIES)
		return;
	range_split(k);
	range_next(k);
}

static void
on_listed(const struct result *v, void *arg)
{
	struct conflict *k = arg;
	int last;

	if (v->code == RESULT_RETRY) {
		range_halve(k);
		return;
	}
	if (v->code != RESULT_DONE) {
		breaker_request_result(k->s->breaker, v);
		if (v->code == RESULT_UNREACHABLE)
			range_shorten(k);
		k->waiting = 1;
		timer_after(k->timer, CONFLICT_RETRY);
		return;
	}
	/*
	 * Between two pages a row may be missed: absence proves nothing then.
	 */
	last = !k->running &&
	    (k->job_list.rows < JOB_LIST_ROWS || k->now.from == k->now.to);
	range_settle(k, last);
	if (k->running)
		k->later[k->n_later++] = k->now;
	else if (!last)
		range_split(k);
	k->running = 0;
	if (!range_next(k))
		k->n_runs = 0;
	conflict_step(k);
}

/* --- groups --- */

/* Rows come when they are due; a group ends where the starts are too far apart. */
static int
group_add(struct spool *sp, struct spool_run *run, void *arg)
{
	struct conflict *k = arg;
	struct conflict_run *a;

	if (k->n_runs == 0)
		snprintf(k->cluster, sizeof(k->cluster), "%s",
		    run->key.cluster);
	if (strcmp(run->key.cluster, k->cluster) != 0)
		return 0;
	if (run->due[DEST_REST] > spool_now(sp))
		return -1; /* all rows that follow are due later */
	if (k->n_runs > 0 && run->key.start < k->runs[0].start - GROUP_SPAN)
		return 0;
	if (k->n_runs == GROUP_MAX ||
	    (k->n_runs > 0 && run->key.start > k->runs[0].start + GROUP_SPAN))
		return -1;
	a = &k->runs[k->n_runs++];
	memset(a, 0, sizeof(*a));
	a->id = run->id;
	a->job = run->key.job;
	a->start = run->key.start;
	return 0;
}

/* Waits until a run that was postponed is due again. */
static void
rest(struct conflict *k)
{
	struct spool *sp = k->s->spool;
	int64_t a = spool_next_due(sp, DEST_REST, START_CONFLICT);
	int64_t b = spool_next_due(sp, DEST_REST, STOP_CONFLICT);

	if (b >= 0 && (a < 0 || b < a))
		a = b;
	if (a >= 0) {
		a -= spool_now(sp);
		timer_after(k->timer, a > CONFLICT_RETRY ? a : CONFLICT_RETRY);
	}
}

static void
group_begin(struct conflict *k)
{
	static const enum run_state states[] = { START_CONFLICT,
		STOP_CONFLICT };
	struct spool_after after;
	unsigned i;

	for (i = 0; i < 2; i++) {
		memset(&after, 0, sizeof(after));
		while (k->n_runs < GROUP_MAX &&
		    spool_each(k->s->spool, DEST_REST, states[i], &after,
			SPOOL_PAGE, group_add, k) == SPOOL_PAGE)
			continue;
	}
	if (k->n_runs == 0) {
		rest(k);
		return;
	}
	qsort(k->runs, k->n_runs, sizeof(*k->runs), conflict_run_cmp);
	k->now.from = k->runs[0].start;
	k->now.to = k->runs[k->n_runs - 1].start;
	k->n_later = 0;
	k->tries = 0;
	k->singly = 0;
	k->running = 1;
}

/* Does the next step, unless a request is under way. */
static void
conflict_step(struct conflict *k)
{
	if (k->job_list.busy || k->meta)
		return;
	if (k->n_runs > 0 && k->singly) {
		if (single_next(k))
			return;
		if (!range_next(k))
			k->n_runs = 0;
	}
	if (k->n_runs == 0)
		group_begin(k);
	if (k->n_runs > 0)
		list_send(k);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct conflict *k = arg;

	k->waiting = 0;
	k->armed = 0;
	conflict_step(k);
}

void
conflict_kick(struct conflict *k)
{
	if (k->n_runs > 0 || k->waiting || k->armed)
		return;
	k->armed = 1;
	timer_after(k->timer, CONFLICT_GATHER);
}

struct conflict *
conflict_new(struct submitter *s)
{
	struct conflict *k = permanent_new(sizeof(*k));

	k->s = s;
	k->runs = permanent_new(GROUP_MAX * sizeof(*k->runs));
	k->timer = timer_new(s, on_timer, k);
	return k;
}
