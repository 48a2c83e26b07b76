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

#include "common/crash.h"
#include "common/log.h"
#include "submitter/relay_int.h"

#define BEHIND_WAIT	500	/* ms until a stop looks again for starts before it */
#define HIT_WAIT	2000	/* ms until a stop that hit another run is repeated */
#define REPROBE_TRIES	3	/* then the field is unknown to every version */
#define RELEASE_TRIES	20	/* a start this hopeless does not hold up its sisters */

/* One request under way. */
struct item {
	struct relay	*r;
	int64_t		 id;
	struct run_key	 key;
	int		 first;		/* the first stop ever tried */
};

int
relay_open(const struct relay *r)
{
	return gate_width(&r->gate) > 0;
}

void
relay_told(struct relay *r, const struct verdict *v)
{
	gate_verdict(&r->gate, v, 0);
}

static void
row_save(struct relay *r, struct spool_run *run)
{
	/* Errors spoil the transaction, and the backlog sees them. */
	spool_save(r->s->spool, run);
	backlog_touch(r->s->backlog);
}

/* Starts behind this one may go; and it may be seen, or asked for. */
static void
start_settled(struct relay *r, const struct spool_run *run, enum dest dest)
{
	spool_release(r->s->spool, run, dest);
	backlog_touch(r->s->backlog);
	seen_kick(r->s->seen);
	relay_kick(r);
}

void
relay_taken(struct relay *r, struct spool_run *run, int seen)
{
	struct spool_run copy = *run;

	if (!spool_policy(r->s->spool)->commit_seen)
		seen = 1;
	if (run->end != 0)
		run->phase[DEST_REST] = seen ? PHASE_STOP : PHASE_WAIT;
	else
		run->phase[DEST_REST] = seen ? PHASE_SEEN : PHASE_OPEN;
	run->due[DEST_REST] = DUE_NOW;
	run->tries[DEST_REST] = 0;
	run->since[DEST_REST] = spool_now(r->s->spool);
	run->reason[0] = '\0';
	row_save(r, run);
	start_settled(r, &copy, DEST_REST);
}

void
relay_refuse(struct relay *r, struct spool_run *run, enum dest dest,
    const char *reason)
{
	struct spool_run copy = *run;
	int is_stop = run->phase[dest] == PHASE_STOP;
	unsigned held;

	r->s->n.rejected++;
	if (log_allowed(&r->said_refused, &held))
		log_warnx("%s of job %llu (%s, start %lld) is refused: %s; kept, "
		    "see `cc-slurm-adapterctl queue --rejected` (%u more since "
		    "the last such line)", is_stop ? "stop" : "start",
		    (unsigned long long)run->key.job, run->key.cluster,
		    (long long)run->key.start, reason, held);
	run->phase[dest] = is_stop ? PHASE_NO_STOP : PHASE_NO_START;
	run->due[dest] = DUE_NOW;
	snprintf(run->reason, sizeof(run->reason), "%s", reason);
	row_save(r, run);
	if (!is_stop)
		start_settled(r, &copy, dest);
}

static void
row_retry(struct relay *r, struct spool_run *run, const char *why)
{
	struct spool_run copy = *run;

	r->s->n.retries++;
	run->due[DEST_REST] = spool_now(r->s->spool) +
	    retry_wait(run->tries[DEST_REST]);
	run->tries[DEST_REST]++;
	snprintf(run->reason, sizeof(run->reason), "%s", why);
	row_save(r, run);
	if (run->tries[DEST_REST] == RELEASE_TRIES)
		start_settled(r, &copy, DEST_REST);
}

/* The request is to be repeated when the line is open again. */
static void
row_return(struct relay *r, struct spool_run *run)
{
	run->due[DEST_REST] = DUE_NOW;
	row_save(r, run);
}

static void
start_answered(struct relay *r, struct spool_run *run, struct verdict *v)
{
	switch (v->outcome) {
	case OUT_DONE:
		r->s->n.starts++;
		CRASH_POINT("start-answered");
		relay_taken(r, run, 0);
		break;
	case OUT_CACHED:
		relay_taken(r, run, 0);
		break;
	case OUT_ASK_BACK:
		run->phase[DEST_REST] = PHASE_ASK;
		run->due[DEST_REST] = DUE_NOW;
		snprintf(run->reason, sizeof(run->reason), "%s", v->text);
		row_save(r, run);
		seen_kick(r->s->seen);
		break;
	case OUT_REPROBE:
		if (run->tries[DEST_REST] < REPROBE_TRIES)
			row_retry(r, run, v->text);
		else
			relay_refuse(r, run, DEST_REST, v->text);
		break;
	case OUT_REJECTED:
		relay_refuse(r, run, DEST_REST, v->text);
		break;
	case OUT_STOP_LINE:
	case OUT_CONFIG:
		row_return(r, run);
		break;
	default:
		row_retry(r, run, v->text);
		break;
	}
}

static void
stop_done(struct relay *r, struct spool_run *run)
{
	run->phase[DEST_REST] = PHASE_DONE;
	run->tries[DEST_REST] = 0;
	run->reason[0] = '\0';
	CRASH_POINT("stop-answered");
	row_save(r, run);
}

/* cc-backend's race: it stopped another run, and this one still runs there. */
static void
stop_hit_other(struct relay *r, struct spool_run *run)
{
	log_errorx("cc-backend stopped another run in place of job %llu (%s, "
	    "start %lld); the next comparison tells which",
	    (unsigned long long)run->key.job, run->key.cluster,
	    (long long)run->key.start);
	run->due[DEST_REST] = spool_now(r->s->spool) + HIT_WAIT;
	row_save(r, run);
}

static void
stop_no_run(struct relay *r, struct spool_run *run, const char *why)
{
	if (run->flags & RUN_AGAIN) {
		relay_refuse(r, run, DEST_REST, why);
		return;
	}
	run->flags |= RUN_AGAIN;
	run->phase[DEST_REST] = PHASE_START_ENDED;
	run->due[DEST_REST] = DUE_NOW;
	row_save(r, run);
}

static void
say_closed(struct relay *r, const struct spool_run *run, const char *why)
{
	unsigned held;

	r->s->n.closed++;
	if (log_allowed(&r->said_closed, &held))
		log_warnx("job %llu (%s, start %lld) had been stopped by another "
		    "hand: %s (%u more since the last such line)",
		    (unsigned long long)run->key.job, run->key.cluster,
		    (long long)run->key.start, why, held);
}

static void
stop_answered(struct relay *r, struct spool_run *run, struct verdict *v,
    const struct answer *a, int first)
{
	switch (v->outcome) {
	case OUT_DONE:
		if (outcome_hit_other(a->body, a->len, run->key.job,
		    run->key.start)) {
			stop_hit_other(r, run);
			break;
		}
		r->s->n.stops++;
		stop_done(r, run);
		break;
	case OUT_CLOSED:
		if (first)
			say_closed(r, run, v->text);
		stop_done(r, run);
		break;
	case OUT_NO_RUN:
		stop_no_run(r, run, v->text);
		break;
	case OUT_OLDER:
		if (!r->s->backend_pinned)
			r->s->backend = v->backend;
		row_retry(r, run, v->text);
		break;
	case OUT_REJECTED:
		relay_refuse(r, run, DEST_REST, v->text);
		break;
	case OUT_STOP_LINE:
	case OUT_CONFIG:
		row_return(r, run);
		break;
	default:
		row_retry(r, run, v->text);
		break;
	}
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
		if (a->what == WHAT_START)
			start_answered(r, &run, &v);
		else
			stop_answered(r, &run, &v, a, it->first && a->sends <= 1);
	} else
		gate_verdict(&r->gate, &v, 0);
	free(it);
	relay_kick(r);
}

/* The body of what is due for a row; 0, or -1 when none can be made. */
static int
body_make(struct relay *r, const struct spool_run *run, int is_stop,
    struct writer *body, char *why, size_t size)
{
	struct submitter *s = r->s;
	const char *wrong = "the stored record cannot be read";
	struct payload_how how;
	struct job job;
	int rc = -1;

	job_init(&job);
	slate_write(s->w->slate, &run->key);
	if (spool_record(s->spool, run->id, &job) == 0) {
		job.key = run->key;
		payload_how_init(&how, s->backend, s->topology);
		rc = is_stop ? payload_stop(s->payload, s->backend, &job, body,
		    &wrong) : payload_start(s->payload, &how, &job, body,
		    &wrong);
	}
	slate_wipe(s->w->slate);
	job_clear(&job);
	if (rc == -1)
		snprintf(why, size, "no body can be made of it: %s", wrong);
	return rc;
}

/* Sends what is due for a leased row. */
static void
row_send(struct relay *r, struct spool_run *run, int first)
{
	int is_stop = run->phase[DEST_REST] == PHASE_STOP;
	struct rest_request req = {
		.what = is_stop ? WHAT_STOP : WHAT_START, .method = "POST",
		.path = is_stop ? "jobs/stop_job/" : "jobs/start_job/",
		.done = on_answer };
	struct item *it = calloc(1, sizeof(*it));
	struct writer body;
	char why[256];

	wr_init(&body, PAYLOAD_MAX);
	if (it == NULL) {
		row_return(r, run);
		goto done;
	}
	if (body_make(r, run, is_stop, &body, why, sizeof(why)) == -1) {
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
	CRASH_POINT(is_stop ? "stop-send" : "start-send");
	if (rest_send(r->s->rest, &req) == -1) {
		free(it);
		row_return(r, run);
	} else
		r->in_flight++;
done:
	wr_clear(&body);
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
		row_save(r, &run);
		return 0;
	}
	run.due[DEST_REST] = DUE_LEASED;
	run.flags |= RUN_SENT;
	row_save(r, &run);
	return 1;
}

/*
 * Fills the queue: runs that run, newest first, for the live view; then
 * stops; then what has begun and ended meanwhile.
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
		{ PHASE_START_ENDED, ORDER_DUE },
	};
	int64_t ids[RELAY_QUEUE];
	unsigned i;
	int n, k;

	r->n_queue = r->at = 0;
	for (i = 0; i < 3 && r->n_queue < RELAY_QUEUE; i++) {
		n = spool_pick(r->s->spool, DEST_REST, turns[i].phase,
		    turns[i].order, ids, (int)(RELAY_QUEUE - r->n_queue));
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
		row_save(r, &run);
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
			row_return(r, &run);
	r->n_queue = r->at = 0;
}

static void
due_timer(struct relay *r)
{
	static const enum phase phases[] = { PHASE_START, PHASE_STOP,
		PHASE_START_ENDED };
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
	if (r->in_flight == 0)
		due_timer(r);
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
	long long since = g->down != 0 ? (long long)(time(NULL) - g->down) : 0;

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
