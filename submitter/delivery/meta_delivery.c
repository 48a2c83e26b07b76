/* SPDX-License-Identifier: MIT */
/*
 * Sends metadata updates with edit_meta (cc-backend 1.5): values that are known
 * only at the end of a run, and the message that cc-backend does not show
 * another run of the job.  Updates are sent one at a time, and only while no
 * start and no stop is due or under way.  An update is tried a few times,
 * because cc-backend may hide the run for minutes, or may have deleted it, and
 * because a proxy may refuse the update.  An outage counts as one try at most:
 * the breaker probes cc-backend before another update is sent.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/permanent.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/net/http.h"
#include "submitter/history/history.h"
#include "submitter/spool/commit.h"

#define META_TRIES    10   /* the waits add up to 40 minutes */
#define META_WAIT     5000 /* ms after the first failure */
#define META_WAIT_MAX (META_WAIT << META_TRIES)
/* ms after the stop: cc-backend archives the run and has no file yet */
#define META_FIRST 2000
#define META_AGAIN 2000 /* ms when the request could not be sent */
/*
 * ms after the stop in which the job script may come; more than all tries of
 * the collector take
 */
#define META_SCRIPT_WAIT 600000

struct meta_delivery {
	struct submitter *s;
	struct event *timer;
	int busy;
	int64_t id; /* under way */
	struct run_key key;
	unsigned tries;
};

static void meta_delivery_step(struct meta_delivery *l);

static void
give_up(struct meta_delivery *l, const struct result *v)
{
	log_debug("a metadata update is given up: %s", v->text);
	l->s->n.meta_dropped++;
	spool_meta_drop(l->s->spool, l->id);
}

static void
on_answer(const struct http_answer *a, void *arg)
{
	struct meta_delivery *l = arg;
	struct spool *sp = l->s->spool;
	struct http_answer known = *a;
	struct result v;

	l->busy = 0;
	known.backend = breaker_version(l->s->breaker);
	response_classify(&known, &v);
	/* A failure of this update shows nothing about starts and stops. */
	if (v.code != RESULT_RETRY)
		breaker_meta_result(l->s->breaker, &v);
	switch (v.code) {
	case RESULT_DONE:
		l->s->n.meta++;
		history_note(l->s->history, &l->key, HISTORY_META_SENT, 0, 0);
		spool_meta_drop(sp, l->id);
		break;
	case RESULT_REJECTED:
		give_up(l, &v);
		break;
	default:
		if (l->tries + 1 < META_TRIES)
			spool_meta_wait(sp, l->id,
			    spool_now(sp) +
				timer_backoff(l->tries, META_WAIT,
				    META_WAIT_MAX),
			    l->tries + 1);
		else
			give_up(l, &v);
		break;
	}
	commit_soon(l->s->commit);
	meta_delivery_step(l);
}

static int
meta_delivery_send(struct meta_delivery *l, const struct spool_meta *late)
{
	struct http_request req = { .what = REQUEST_META,
		.method = "PATCH",
		.path = "jobs/edit_meta/",
		.done = on_answer,
		.arg = l };
	struct writer body;
	int rc;

	wr_init(&body, PAYLOAD_MAX);
	payload_edit_meta(l->s->payload, &late->key, late->field, late->value,
	    &body);
	req.body = &body;
	l->id = late->id;
	l->key = late->key;
	l->tries = late->tries;
	rc = wr_end(&body) == 0 && breaker_allows(l->s->breaker) ?
	    http_send(l->s->http, &req) :
	    -1;
	wr_clear(&body);
	return rc;
}

/* The update that is due first: 1, 0 = none, -1.  Drops those without a value. */
static int
meta_next(struct meta_delivery *l, struct spool_meta *late)
{
	struct spool *sp = l->s->spool;
	int rc = 0;

	while (spool_meta_count(sp) > 0 &&
	    (rc = spool_meta_next(sp, late)) == 1 && *late->value == '\0' &&
	    late->due <= spool_now(sp)) {
		spool_meta_drop(sp, late->id);
		spool_meta_clear(late);
		commit_soon(l->s->commit);
		rc = 0;
	}
	return rc;
}

static void
meta_delivery_step(struct meta_delivery *l)
{
	struct spool_meta late;
	int64_t wait;

	/* With deliver "stream", stream_update.c sends them. */
	if (l->busy || spool_policy(l->s->spool)->whole ||
	    !rest_delivery_idle(l->s->rest) || meta_next(l, &late) != 1)
		return;
	wait = late.due - spool_now(l->s->spool);
	if (wait > 0)
		timer_after(l->timer, wait);
	else if (meta_delivery_send(l, &late) == 0)
		l->busy = 1;
	else
		timer_after(l->timer, META_AGAIN);
	spool_meta_clear(&late);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	meta_delivery_step(arg);
}

void
meta_delivery_kick(struct meta_delivery *l)
{
	meta_delivery_step(l);
}

/* --- updates --- */

struct update_batch {
	struct meta_delivery *l;
	const struct run_key *key;
	unsigned n; /* that will be sent */
};

static void
owe(const char *field, const char *value, void *arg)
{
	struct update_batch *o = arg;
	struct spool *sp = o->l->s->spool;

	int rc = spool_meta_add(sp, o->key, field, value,
	    spool_now(sp) + META_FIRST);

	o->n += rc == 1;
}

static int
is_wanted(struct meta_delivery *l)
{
	return breaker_version(l->s->breaker) == BACKEND_1_5;
}

void
meta_after_stop(struct meta_delivery *l, const struct spool_run *run)
{
	struct update_batch o = { .l = l, .key = &run->key };
	struct spool *sp = l->s->spool;
	const char *script_key = spool_policy(sp)->script_key;
	struct job job;

	if ((run->flags & RUN_QUARANTINED) || !is_wanted(l))
		return;
	job_init(&job);
	inflight_set(l->s->w->inflight, &run->key);
	if (spool_record(sp, run->id, &job) == 0) {
		if ((run->flags & RUN_END_IN_START) == 0)
			payload_meta_late(l->s->payload, &job, owe, &o);
		if ((job.flags & JOB_MORE) && script_key != NULL)
			spool_meta_expect(sp, &run->key, script_key,
			    spool_now(sp) + META_SCRIPT_WAIT);
	}
	inflight_clear(l->s->w->inflight);
	job_clear(&job);
}

static void
utc_text(int64_t when, char *buf, size_t size)
{
	time_t t = (time_t)when;
	struct tm tm;

	if (gmtime_r(&t, &tm) == NULL ||
	    strftime(buf, size, "%Y-%m-%d %H:%M:%S UTC", &tm) == 0)
		snprintf(buf, size, "%lld", (long long)when);
}

void
meta_note_sibling(struct meta_delivery *l, struct spool_run *refused)
{
	char text[256], start[64], end[64];
	struct run_key previous;
	struct update_batch o = { .l = l, .key = &previous };

	/* Each reload retries the start, and it is rejected again. */
	if ((refused->flags & RUN_PREVIOUS_NOTED) ||
	    refused->state[DEST_REST] != START_REJECTED || !is_wanted(l) ||
	    !payload_has_message(l->s->payload) ||
	    spool_previous_run(l->s->spool, refused, &previous) != 1)
		return;
	utc_text(refused->key.start, start, sizeof(start));
	utc_text(refused->end, end, sizeof(end));
	snprintf(text, sizeof(text),
	    "This job ran again from %s%s%s; that run is not shown: cc-backend "
	    "accepts no second run of a job within a day.",
	    start, refused->end != 0 ? " to " : "",
	    refused->end != 0 ? end : "");
	owe("message", text, &o);
	if (o.n == 0)
		return;
	refused->flags |= RUN_PREVIOUS_NOTED;
	spool_save(l->s->spool, refused);
	commit_soon(l->s->commit);
}

struct meta_delivery *
meta_delivery_new(struct submitter *s)
{
	struct meta_delivery *l = permanent_new(sizeof(*l));

	l->s = s;
	l->timer = timer_new(s, on_timer, l);
	return l;
}
