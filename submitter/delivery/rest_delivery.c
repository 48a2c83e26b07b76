/* SPDX-License-Identifier: MIT */
/*
 * What is due goes to cc-backend, and what it answers moves the run's row.
 * Rows are leased in one commit before anything of them leaves, so that the
 * key under which a run is known there is fixed on disk first.  Nothing else
 * of this is durable at once: a repeated request is harmless.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "submitter/delivery/delivery.h"

#define BEHIND_WAIT	500	/* ms until a stop looks again for starts before it */

/* One request under way. */
struct item {
	struct relay	*r;
	int64_t		 id;
	struct run_key	 key;
	int		 first;		/* the first stop ever tried */
};

/* How the request of a phase is made. */
static const struct form {
	enum what	 what;
	const char	*method;
	const char	*path;
} forms[PHASE__COUNT] = {
	[PHASE_START] = { WHAT_START, "POST", "jobs/start_job/" },
	[PHASE_START_ENDED] = { WHAT_START, "POST", "jobs/start_job/" },
	[PHASE_STOP] = { WHAT_STOP, "POST", "jobs/stop_job/" },
	[PHASE_DELETE] = { WHAT_DELETE, "DELETE", "jobs/delete_job/" },
};

int
relay_reaches(const struct relay *r)
{
	return r->gate.state == GATE_OPEN || r->gate.state == GATE_HALF;
}

int
relay_open(const struct relay *r)
{
	return gate_width(&r->gate) > 0;
}

int
relay_idle(const struct relay *r)
{
	return r->gate.state == GATE_OPEN && r->in_flight == 0 &&
	    r->at == r->n_queue && !r->lost;
}

void
relay_told(struct relay *r, const struct verdict *v)
{
	gate_verdict(&r->gate, v, 0);
}

static void
on_answer(const struct answer *a, void *arg)
{
	struct item *it = arg;
	struct relay *r = it->r;
	struct spool_run run;
	struct answer known = *a;
	struct verdict v;

	r->in_flight--;
	r->s->n.requests++;
	known.backend = r->s->backend;
	outcome_judge(&known, &v);
	log_debug("%s of job %llu (%s, start %lld): %s: %s", what_name(a->what),
	    (unsigned long long)it->key.job, it->key.cluster,
	    (long long)it->key.start, outcome_name(v.outcome), v.text);
	if (spool_get(r->s->spool, it->id, &run) == 1 &&
	    run.due[DEST_REST] == DUE_LEASED) {
		gate_verdict(&r->gate, &v, run.tries[DEST_REST]);
		relay_answered(r, &run, &v, a, it->first);
	} else
		gate_verdict(&r->gate, &v, 0);
	free(it);
	relay_kick(r);
}

/* The body of what is due for a row; 0, or -1 when none can be made. */
static int
body_make(struct relay *r, const struct spool_run *run, enum what what,
    struct writer *body, char *why, size_t size)
{
	struct submitter *s = r->s;
	const char *wrong = "the stored record cannot be read";
	struct payload_how how;
	struct job job;
	int rc = -1;

	if (what == WHAT_DELETE) {
		payload_delete(s->payload, &run->key, body);
		return wr_end(body);
	}
	job_init(&job);
	inflight_set(s->w->inflight, &run->key);
	if (spool_record(s->spool, run->id, &job) == 0) {
		job.key = run->key;
		payload_how_init(&how, s->backend, s->topology);
		how.tags = (run->flags & RUN_TAGGED) != 0;
		rc = what == WHAT_STOP ? payload_stop(s->payload, s->backend,
		    &job, body, &wrong) : payload_start(s->payload, &how,
		    &job, body, &wrong);
	}
	inflight_clear(s->w->inflight);
	job_clear(&job);
	if (rc == -1)
		snprintf(why, size, "no body can be made of it: %s", wrong);
	return rc;
}

/* Sends what is due for a leased row. */
static void
row_send(struct relay *r, struct spool_run *run, int first)
{
	const struct form *form = &forms[run->phase[DEST_REST]];
	struct rest_request req = { .what = form->what,
		.method = form->method, .path = form->path, .done = on_answer };
	struct item *it = calloc(1, sizeof(*it));
	struct writer body;
	char why[256];

	wr_init(&body, PAYLOAD_MAX);
	if (it == NULL) {
		relay_row_return(r, run);
		goto done;
	}
	if (body_make(r, run, form->what, &body, why, sizeof(why)) == -1) {
		relay_refuse(r, run, DEST_REST, why);
		free(it);
		goto done;
	}
	it->r = r;
	it->id = run->id;
	it->key = run->key;
	it->first = first;
	req.arg = it;
	req.body = &body;
	if (form->what == WHAT_STOP)
		CRASH_POINT("stop-send");
	if (form->what == WHAT_START)
		CRASH_POINT("start-send");
	if (form->what == WHAT_DELETE)
		CRASH_POINT("delete-send");
	if (rest_send(r->s->rest, &req) == -1) {
		free(it);
		relay_row_return(r, run);
	} else
		r->in_flight++;
done:
	wr_clear(&body);
}

/*
 * The first start of a run leaves: is it one with tags?  That is settled for
 * good, for cc-backend takes a repeat with tags as another run while the
 * first, without, is in its cache.
 */
static void
first_start(struct relay *r, struct spool_run *run)
{
	struct submitter *s = r->s;
	struct job job;

	run->flags |= RUN_BEGUN;
	if (run->end != 0)
		run->flags |= RUN_TOLD_END;
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

/* Marks one picked row as ours; 1 when it shall go now. */
static int
row_lease(struct relay *r, int64_t id)
{
	struct spool_run run;

	if (spool_get(r->s->spool, id, &run) != 1)
		return 0;
	if (run.phase[DEST_REST] == PHASE_STOP &&
	    spool_has_starts(r->s->spool, &run, DEST_REST)) {
		run.due[DEST_REST] = spool_now(r->s->spool) + BEHIND_WAIT;
		relay_row_save(r, &run);
		return 0;
	}
	if (!(run.flags & RUN_BEGUN) &&
	    forms[run.phase[DEST_REST]].what == WHAT_START)
		first_start(r, &run);
	run.due[DEST_REST] = DUE_LEASED;
	run.flags |= RUN_SENT;
	relay_row_save(r, &run);
	return 1;
}

/* How many are taken: twice as many when the last ones were gone soon. */
static void
queue_pace(struct relay *r)
{
	int64_t now = spool_now(r->s->spool), took = now - r->filled;

	r->filled = now;
	if (r->n_queue == r->want && took < RELAY_QUEUE_MS)
		r->want *= 2;
	else if (took > 2 * RELAY_QUEUE_MS)
		r->want /= 2;
	if (r->want < RELAY_QUEUE_MIN)
		r->want = RELAY_QUEUE_MIN;
	if (r->want > RELAY_QUEUE)
		r->want = RELAY_QUEUE;
}

/*
 * Fills the queue: runs that run, newest first, for the live view; then
 * stops; then what cc-backend shall forget, and what has begun and ended
 * meanwhile.
 */
static int
queue_fill(struct relay *r)
{
	static const struct {
		enum phase phase;
		enum spool_order order;
	} turns[] = {
		{ PHASE_START, ORDER_NEWEST },
		{ PHASE_STOP, ORDER_DUE },
		{ PHASE_DELETE, ORDER_DUE },
		{ PHASE_START_ENDED, ORDER_DUE },
	};
	int64_t ids[RELAY_QUEUE];
	unsigned i;
	int n, k;

	queue_pace(r);
	r->n_queue = r->at = 0;
	for (i = 0; i < sizeof(turns) / sizeof(turns[0]) &&
	    r->n_queue < r->want; i++) {
		n = spool_pick(r->s->spool, DEST_REST, turns[i].phase,
		    turns[i].order, ids, (int)(r->want - r->n_queue));
		for (k = 0; k < n; k++)
			if (row_lease(r, ids[k]))
				r->queue[r->n_queue++] = ids[k];
	}
	if (r->n_queue == 0)
		return 0;
	if (backlog_flush(r->s->backlog) == -1) {
		r->n_queue = 0;
		return 0;
	}
	CRASH_POINT("leased");
	return 1;
}

static void
queue_next(struct relay *r)
{
	struct spool_run run;
	int first;

	if (spool_get(r->s->spool, r->queue[r->at++], &run) != 1 ||
	    run.due[DEST_REST] != DUE_LEASED)
		return;
	first = !(run.flags & RUN_STOP_SENT);
	if (run.phase[DEST_REST] == PHASE_STOP && first) {
		run.flags |= RUN_STOP_SENT;
		relay_row_save(r, &run);
	}
	row_send(r, &run, first);
}

/* What was leased and not sent goes back. */
static void
queue_return(struct relay *r)
{
	struct spool_run run;

	while (r->at < r->n_queue)
		if (spool_get(r->s->spool, r->queue[r->at++], &run) == 1 &&
		    run.due[DEST_REST] == DUE_LEASED)
			relay_row_return(r, &run);
	r->n_queue = r->at = 0;
}

static void
due_timer(struct relay *r)
{
	static const enum phase phases[] = { PHASE_START, PHASE_STOP,
		PHASE_DELETE, PHASE_START_ENDED };
	int64_t due, next = -1;
	size_t i;

	for (i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		due = spool_next_due(r->s->spool, DEST_REST, phases[i]);
		if (due >= 0 && (next == -1 || due < next))
			next = due;
	}
	if (next == -1)
		submitter_after(r->due, -1);
	else {
		next -= spool_now(r->s->spool);
		submitter_after(r->due, next > 0 ? next : 0);
	}
}

static void
on_run(evutil_socket_t fd, short what, void *arg)
{
	struct relay *r = arg;
	unsigned width = gate_width(&r->gate);

	(void)fd;
	(void)what;
	if (r->lost && r->in_flight == 0) {
		r->n_queue = r->at = 0;
		if (spool_unlease(r->s->spool, DEST_REST) == 0)
			r->lost = 0;
		backlog_touch(r->s->backlog);
	}
	if (width == 0)
		queue_return(r);
	if (width == 0 || r->lost || backlog_stuck(r->s->backlog) ||
	    !conf_bool(&r->s->w->conf, CONF_CC_REST_SUBMIT))
		return;
	while (r->in_flight < width) {
		if (r->at == r->n_queue && !queue_fill(r))
			break;
		queue_next(r);
	}
	/* Nothing in flight wakes us: the next due row must. */
	if (r->in_flight == 0) {
		due_timer(r);
		late_kick(r->s->late);
	}
	seen_kick(r->s->seen);
}

static void
on_due(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	relay_kick(arg);
}

void
relay_kick(struct relay *r)
{
	event_active(r->run, EV_TIMEOUT, 1);
	relay_nats_kick(r->s);
}

void
relay_rolled_back(struct relay *r)
{
	r->lost = 1;
	r->nats_lost = 1;
	relay_kick(r);
}

void
relay_conf(struct relay *r)
{
	gate_conf(&r->gate);
	relay_kick(r);
}

struct relay *
relay_new(struct submitter *s)
{
	struct relay *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->s = s;
	r->run = submitter_timer(s, on_run, r);
	r->due = submitter_timer(s, on_due, r);
	if (r->run == NULL || r->due == NULL || gate_init(&r->gate, s) == -1 ||
	    relay_nats_init(r) == -1) {
		relay_free(r);
		return NULL;
	}
	return r;
}

void
relay_free(struct relay *r)
{
	if (r == NULL)
		return;
	gate_clear(&r->gate);
	relay_nats_clear(r);
	if (r->run != NULL)
		event_free(r->run);
	if (r->due != NULL)
		event_free(r->due);
	free(r);
}

void
relay_status(struct relay *r, uint64_t request)
{
	struct worker *w = r->s->w;
	const struct gate *g = &r->gate;
	long long since = g->down == 0 ? 0 :
	    (long long)(spool_now(r->s->spool) - g->down) / 1000;

	if (g->down != 0)
		worker_status(w, request, "backend", "%s since %lld s: %s",
		    gate_name(g->state), since, g->why);
	else
		worker_status(w, request, "backend", "%s",
		    gate_name(g->state));
	worker_status(w, request, "backend_address", "%s",
	    rest_where(r->s->rest));
	worker_status(w, request, "last_answer", "%s", g->last);
	worker_status(w, request, "in_flight", "%u", r->in_flight);
}
