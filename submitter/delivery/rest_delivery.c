/* SPDX-License-Identifier: MIT */
/*
 * Sends what is due to cc-backend.  The answer changes the row of the run.
 * Rows are leased in one commit before their requests are sent, so the key of a
 * run is durable first: in a commit of their own, or in the commit of the record
 * that makes them due.  An answer need not be durable at once, because a
 * repeated request is harmless.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "common/permanent.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/net/http.h"
#include "submitter/payload/topology.h"
#include "submitter/history/history.h"
#include "submitter/spool/commit.h"

/* ms until a stop checks again whether starts have priority */
#define BEHIND_WAIT 500
/* ms until another try after the HTTP client accepted no request */
#define UNSENT_WAIT 500

/*
 * Rows that are leased together: one commit for all of them. More rows are
 * cheaper, but rows that become due meanwhile wait longer: as many as are sent
 * in about QUEUE_MS, within these limits.
 */
#define QUEUE_MIN 128
#define QUEUE_MAX 1024
#define QUEUE_MS  100
/* ms in which only a change makes another row due; a timer looks for others */
#define COMPLETE_MS 10

struct rest_delivery {
	struct submitter *s;
	struct event *due; /* when the next row is due */
	int64_t queue[QUEUE_MAX];
	unsigned n_queue;
	unsigned want; /* rows to lease next time */
	/* spool_now() when the queue was filled */
	int64_t filled;
	unsigned at; /* index of the next row */
	unsigned in_flight;
	int lost;	/* after a rollback the leases are taken back */
	int filling;	/* the commit is that of queue_fill() */
	int all_leased; /* when the queue was filled, no other row was due */
	int paused; /* the HTTP client accepts no request; see UNSENT_WAIT */
};

/* A request under way. */
struct rest_item {
	struct rest_delivery *r;
	int64_t id;
	struct run_key key;
	enum backend backend; /* the request was made for this version */
	int first;	      /* of the first stop that was ever tried */
};

/* The request of a state. */
static const struct form {
	enum request_kind what;
	const char *method;
	const char *path;
} forms[RUN_STATE__COUNT] = {
	[START_DUE] = { REQUEST_START, "POST", "jobs/start_job/" },
	[START_DUE_ENDED] = { REQUEST_START, "POST", "jobs/start_job/" },
	[STOP_DUE] = { REQUEST_STOP, "POST", "jobs/stop_job/" },
	[DELETE_DUE] = { REQUEST_DELETE, "DELETE", "jobs/delete_job/" },
};

int
rest_delivery_idle(const struct rest_delivery *r)
{
	return breaker_is_up(r->s->breaker) && r->in_flight == 0 &&
	    r->at == r->n_queue && !r->lost;
}

/* The history gets the failures; run_move() reports what an answer changed. */
static void
failure_note(struct rest_delivery *r, const struct rest_item *it,
    const struct http_answer *a, enum result_code code)
{
	switch (code) {
	case RESULT_DONE:
	case RESULT_CHECK:
	case RESULT_ACCEPTED_BEFORE:
	case RESULT_ALREADY_STOPPED:
	case RESULT_NO_RUN:
	case RESULT_REJECTED:
		break;
	default:
		history_note(r->s->history, &it->key, HISTORY_RETRY,
		    (uint64_t)a->code, 1);
		break;
	}
}

/*
 * Does the row wait for an answer to such a request?  A list may have shown the
 * run while its start was under way, and its stop is under way now.
 */
static int
is_awaited(const struct spool_run *run, enum request_kind what)
{
	return run->due[DEST_REST] == DUE_LEASED &&
	    forms[run->state[DEST_REST]].what == what;
}

static void
on_answer(const struct http_answer *a, void *arg)
{
	struct rest_item *it = arg;
	struct rest_delivery *r = it->r;
	struct spool_run run;
	struct http_answer known = *a;
	struct result v;

	r->in_flight--;
	r->s->n.requests++;
	known.backend = it->backend;
	response_classify(&known, &v);
	failure_note(r, it, a, v.code);
	log_debug("%s: %s: %s: %s", run_key_text(&it->key),
	    request_kind_name(a->what), result_name(v.code), v.text);
	if (spool_get(r->s->spool, it->id, &run) == 1 &&
	    is_awaited(&run, a->what)) {
		breaker_result(r->s->breaker, &v, run.tries[DEST_REST]);
		run_answered(r->s, &run, &v, a, it->first);
	} else
		breaker_result(r->s->breaker, &v, 0);
	free(it);
	wake(r->s, WAKE_DELIVERY);
}

/* The body of a start or a stop, from the stored record; as body_make(). */
static int
record_body(struct rest_delivery *r, const struct spool_run *run,
    enum request_kind what, struct writer *body, const char **wrong)
{
	struct submitter *s = r->s;
	struct payload_how how;
	struct job job;
	int rc, error;

	job_init(&job);
	inflight_set(s->w->inflight, &run->key);
	rc = spool_record(s->spool, run->id, &job);
	error = rc == -1 ? errno : EINVAL;
	if (rc == 0) {
		job.key = run->key;
		payload_how_init(&how, breaker_version(s->breaker),
		    s->topology);
		how.tags = (run->flags & RUN_TAGGED) != 0;
		rc = what == REQUEST_STOP ?
		    payload_stop(s->payload, breaker_version(s->breaker), &job,
			body, wrong) :
		    payload_start(s->payload, &how, &job, body, wrong);
	}
	inflight_clear(s->w->inflight);
	job_clear(&job);
	errno = error;
	return rc;
}

/*
 * Builds the body of the due request.  0, or -1 with the reason in why and errno:
 * EINVAL when the record makes no request, else a later try may succeed.
 */
static int
body_make(struct rest_delivery *r, const struct spool_run *run,
    enum request_kind what, struct writer *body, char *why, size_t size)
{
	const char *wrong = "the stored record is invalid";
	int rc, error = EINVAL;

	if (what == REQUEST_DELETE) {
		payload_delete(r->s->payload, &run->key, body);
		rc = wr_end(body);
	} else if ((rc = record_body(r, run, what, body, &wrong)) == -1)
		error = errno;
	if (rc == 0)
		return 0;
	if (wr_no_memory(body))
		error = ENOMEM;
	if (error == EINVAL)
		snprintf(why, size, "the record makes no request: %s", wrong);
	else
		snprintf(why, size, "the request cannot be made now: %s",
		    error == ENOMEM ? "out of memory" :
				      spool_error(r->s->spool));
	errno = error;
	return -1;
}

static void
send_crash_point(enum request_kind what)
{
	if (what == REQUEST_STOP)
		CRASH_POINT("stop-send");
	if (what == REQUEST_START)
		CRASH_POINT("start-send");
	if (what == REQUEST_DELETE)
		CRASH_POINT("delete-send");
}

/*
 * Sends the due request of a leased row, or changes the row when there is no
 * such request.  0, or -1 when the HTTP client accepts no request now: the row is
 * due.
 */
static int
row_send(struct rest_delivery *r, struct spool_run *run, int first)
{
	const struct form *form = &forms[run->state[DEST_REST]];
	struct http_request req = { .what = form->what,
		.method = form->method,
		.path = form->path,
		.done = on_answer };
	struct rest_item *it = calloc(1, sizeof(*it));
	struct writer body;
	char why[256];
	int rc = 0;

	wr_init(&body, PAYLOAD_MAX);
	if (it == NULL) {
		run_retry(r->s, run, "out of memory");
		goto done;
	}
	if (body_make(r, run, form->what, &body, why, sizeof(why)) == -1) {
		if (errno == EINVAL)
			run_reject(r->s, run, DEST_REST, REJECT_RECORD, why);
		else
			run_retry(r->s, run, why);
		free(it);
		goto done;
	}
	it->r = r;
	it->id = run->id;
	it->key = run->key;
	it->backend = breaker_version(r->s->breaker);
	it->first = first;
	req.arg = it;
	req.body = &body;
	send_crash_point(form->what);
	if (http_send(r->s->http, &req) == -1) {
		free(it);
		run_requeue(r->s, run);
		rc = -1;
		goto done;
	}
	r->in_flight++;
	if (form->what != REQUEST_DELETE)
		history_note(r->s->history, &run->key,
		    form->what == REQUEST_START ? HISTORY_START_SENT :
						  HISTORY_STOP_SENT,
		    0, 0);
done:
	wr_clear(&body);
	return rc;
}

/*
 * The first start of a run fixes whether its starts have tags: while a start
 * without tags is in cc-backend's cache, cc-backend stores a repeated start
 * with tags as another run.
 */
static void
first_start(struct rest_delivery *r, struct spool_run *run)
{
	struct submitter *s = r->s;
	struct job job;

	run->flags |= RUN_REST_STARTED;
	if (run->end != 0)
		run->flags |= RUN_END_IN_START;
	if (!payload_tags(s->payload))
		return;
	job_init(&job);
	inflight_set(s->w->inflight, &run->key);
	if (spool_record(s->spool, run->id, &job) == 0 &&
	    payload_tagged(s->payload, &job))
		run->flags |= RUN_TAGGED;
	inflight_clear(s->w->inflight);
	job_clear(&job);
}

/* Leases a row; 1 when it is to be sent now. */
static int
row_lease(struct rest_delivery *r, int64_t id)
{
	struct spool_run run;

	if (spool_get(r->s->spool, id, &run) != 1)
		return 0;
	if (run.state[DEST_REST] == STOP_DUE &&
	    spool_has_starts(r->s->spool, &run, DEST_REST)) {
		run.due[DEST_REST] = spool_now(r->s->spool) + BEHIND_WAIT;
		run_save(r->s, &run);
		return 0;
	}
	if (!(run.flags & RUN_REST_STARTED) &&
	    forms[run.state[DEST_REST]].what == REQUEST_START)
		first_start(r, &run);
	run.due[DEST_REST] = DUE_LEASED;
	run.flags |= RUN_KEY_FIXED;
	run_save(r->s, &run);
	return 1;
}

/* Takes twice as many rows when the last ones were sent soon. */
static void
queue_pace(struct rest_delivery *r)
{
	int64_t now = spool_now(r->s->spool), took = now - r->filled;

	r->filled = now;
	if (r->n_queue == r->want && took < QUEUE_MS)
		r->want *= 2;
	else if (took > 2 * QUEUE_MS)
		r->want /= 2;
	if (r->want < QUEUE_MIN)
		r->want = QUEUE_MIN;
	if (r->want > QUEUE_MAX)
		r->want = QUEUE_MAX;
}

/*
 * Fills the queue: first running jobs, newest first, for the live view; then
 * stops; then deletions; then jobs that have ended in the meantime.
 */
static int
queue_lease(struct rest_delivery *r)
{
	static const struct {
		enum run_state state;
		enum spool_order order;
	} turns[] = {
		{ START_DUE, ORDER_NEWEST },
		{ STOP_DUE, ORDER_DUE },
		{ DELETE_DUE, ORDER_DUE },
		{ START_DUE_ENDED, ORDER_DUE },
	};
	int64_t ids[QUEUE_MAX];
	unsigned i;
	int n, k;

	queue_pace(r);
	r->n_queue = r->at = 0;
	for (i = 0;
	     i < sizeof(turns) / sizeof(turns[0]) && r->n_queue < r->want;
	     i++) {
		n = spool_pick(r->s->spool, DEST_REST, turns[i].state,
		    turns[i].order, ids, (int)(r->want - r->n_queue));
		for (k = 0; k < n; k++)
			if (row_lease(r, ids[k]))
				r->queue[r->n_queue++] = ids[k];
	}
	r->all_leased = r->n_queue < r->want;
	return r->n_queue > 0;
}

/* The queue was filled a moment ago: another search would find nothing. */
static int
queue_is_complete(const struct rest_delivery *r)
{
	return r->all_leased && !spool_dirty(r->s->spool) &&
	    spool_now(r->s->spool) - r->filled < COMPLETE_MS;
}

/* 1 when the queue has rows whose lease is durable. */
static int
queue_fill(struct rest_delivery *r)
{
	int rc;

	if (queue_is_complete(r) || !queue_lease(r))
		return 0;
	r->filling = 1;
	rc = commit_now(r->s->commit);
	r->filling = 0;
	if (rc == -1)
		r->n_queue = 0;
	return rc == 0;
}

void
rest_delivery_lease(struct rest_delivery *r)
{
	if (r->filling)
		return;
	/* The commit may make other rows due. */
	r->all_leased = 0;
	if (r->at < r->n_queue || r->lost || r->paused || r->s->w->stopping ||
	    r->in_flight >= breaker_width(r->s->breaker) ||
	    !conf_sends_rest(&r->s->w->conf))
		return;
	if (queue_lease(r))
		wake(r->s, WAKE_REST);
}

/* Sends the next row of the queue; as row_send(). */
static int
queue_next(struct rest_delivery *r)
{
	struct spool_run run;
	int first;

	if (r->at == 0)
		CRASH_POINT("leased");
	if (spool_get(r->s->spool, r->queue[r->at++], &run) != 1 ||
	    run.due[DEST_REST] != DUE_LEASED)
		return 0;
	first = !(run.flags & RUN_STOP_ATTEMPTED);
	if (run.state[DEST_REST] == STOP_DUE && first) {
		run.flags |= RUN_STOP_ATTEMPTED;
		run_save(r->s, &run);
	}
	return row_send(r, &run, first);
}

/* Makes the leased rows due again that were not sent. */
static void
queue_return(struct rest_delivery *r)
{
	struct spool_run run;

	while (r->at < r->n_queue)
		if (spool_get(r->s->spool, r->queue[r->at++], &run) == 1 &&
		    run.due[DEST_REST] == DUE_LEASED)
			run_requeue(r->s, &run);
	r->n_queue = r->at = 0;
}

static void
due_timer(struct rest_delivery *r)
{
	static const enum run_state states[] = { START_DUE, STOP_DUE,
		DELETE_DUE, START_DUE_ENDED };
	int64_t due, next = -1;
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		due = spool_next_due(r->s->spool, DEST_REST, states[i]);
		if (due >= 0 && (next == -1 || due < next))
			next = due;
	}
	if (next == -1)
		timer_after(r->due, -1);
	else {
		next -= spool_now(r->s->spool);
		timer_after(r->due, next > 0 ? next : 0);
	}
}

void
rest_delivery_run(struct rest_delivery *r)
{
	unsigned width = breaker_width(r->s->breaker);
	int64_t until = spool_now(r->s->spool) + TURN_MS;

	if (r->lost && r->in_flight == 0) {
		r->n_queue = r->at = 0;
		if (spool_unlease(r->s->spool, DEST_REST) == 0)
			r->lost = 0;
		commit_soon(r->s->commit);
	}
	if (width == 0)
		queue_return(r);
	if (width == 0 || r->lost || r->paused ||
	    commit_is_stuck(r->s->commit) || !conf_sends_rest(&r->s->w->conf))
		return;
	while (r->in_flight < width) {
		if (r->at == r->n_queue && !queue_fill(r))
			break;
		if (queue_next(r) == -1) {
			queue_return(r);
			r->paused = 1;
			timer_after(r->due, UNSENT_WAIT);
			return;
		}
		if (spool_now(r->s->spool) >= until) {
			wake(r->s, WAKE_REST);
			return;
		}
	}
	/* No answer will come: the timer has to wake this lane. */
	if (r->in_flight == 0) {
		due_timer(r);
		breaker_no_request(r->s->breaker);
		wake(r->s, WAKE_META);
	}
	wake(r->s, WAKE_COMMIT_CHECK);
}

static void
on_due(evutil_socket_t fd, short what, void *arg)
{
	struct rest_delivery *r = arg;

	r->all_leased = r->paused = 0;
	wake(r->s, WAKE_REST);
}

void
rest_delivery_rolled_back(struct rest_delivery *r)
{
	r->lost = 1;
	r->all_leased = 0;
	wake(r->s, WAKE_REST);
}

struct rest_delivery *
rest_delivery_new(struct submitter *s)
{
	struct rest_delivery *r = permanent_new(sizeof(*r));

	r->s = s;
	r->due = timer_new(s, on_due, r);
	return r;
}

void
rest_delivery_status(struct rest_delivery *r, uint64_t request)
{
	worker_status(r->s->w, request, "in_flight", "%u", r->in_flight);
}
