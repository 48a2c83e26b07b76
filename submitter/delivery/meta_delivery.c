/* SPDX-License-Identifier: MIT */
/*
 * Late knowledge goes to cc-backend by edit_meta (from 1.5): what only the
 * end of a run has told, and on a run that is shown, that another run of its
 * job is not.  One at a time, and only while no start and no stop is on its
 * way or due; a few tries, for a run may be hidden for minutes or gone.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "submitter/base/submitter.h"

#define LATE_TRIES	10	/* the waits add up to 40 minutes */
#define LATE_WAIT	5000	/* ms after the first that failed */
#define LATE_FIRST	2000	/* ms from the stop: it is being archived, and has no file yet */
#define LATE_AGAIN	2000	/* ms when it could not be sent at all */

struct late {
	struct submitter *s;
	struct event	*timer;
	int		 busy;
	int64_t		 id;		/* under way */
	unsigned	 tries;
};

static void late_step(struct late *l);

static int64_t
wait_after(unsigned tries)
{
	int64_t ms = LATE_WAIT;

	while (tries-- > 0)
		ms *= 2;
	return submitter_jitter(ms);
}

static void
give_up(struct late *l, const struct verdict *v)
{
	log_debug("late knowledge is given up: %s", v->text);
	l->s->n.late_lost++;
	spool_late_drop(l->s->spool, l->id);
}

static void
on_answer(const struct answer *a, void *arg)
{
	struct late *l = arg;
	struct spool *sp = l->s->spool;
	struct answer known = *a;
	struct verdict v;

	l->busy = 0;
	known.backend = l->s->backend;
	outcome_judge(&known, &v);
	/* One that fails for itself says nothing of starts and stops. */
	if (v.outcome != OUT_RETRY)
		relay_told(l->s->relay, &v);
	switch (v.outcome) {
	case OUT_DONE:
		l->s->n.late++;
		spool_late_drop(sp, l->id);
		break;
	case OUT_NO_RUN:
	case OUT_RETRY:
		if (l->tries + 1 < LATE_TRIES)
			spool_late_wait(sp, l->id, spool_now(sp) +
			    wait_after(l->tries), l->tries + 1);
		else
			give_up(l, &v);
		break;
	case OUT_REJECTED:
		give_up(l, &v);
		break;
	default:
		/* It is away: the gate opens again, and nothing was tried. */
		submitter_after(l->timer, LATE_AGAIN);
		return;
	}
	backlog_touch(l->s->backlog);
	late_step(l);
}

static int
late_send(struct late *l, const struct spool_late *late)
{
	struct rest_request req = { .what = WHAT_META, .method = "PATCH",
		.path = "jobs/edit_meta/", .done = on_answer, .arg = l };
	struct writer body;
	int rc;

	wr_init(&body, PAYLOAD_MAX);
	payload_edit_meta(l->s->payload, &late->key, late->field, late->value,
	    &body);
	req.body = &body;
	l->id = late->id;
	l->tries = late->tries;
	rc = wr_end(&body) == 0 && relay_open(l->s->relay) ? rest_send(l->s->rest, &req) : -1;
	wr_clear(&body);
	return rc;
}

static void
late_step(struct late *l)
{
	struct spool_late late;
	int64_t wait;

	if (l->busy || !relay_idle(l->s->relay) ||
	    spool_late_count(l->s->spool) == 0 ||
	    spool_late_next(l->s->spool, &late) != 1)
		return;
	wait = late.due - spool_now(l->s->spool);
	if (wait > 0)
		submitter_after(l->timer, wait);
	else if (late_send(l, &late) == 0)
		l->busy = 1;
	else
		submitter_after(l->timer, LATE_AGAIN);
	spool_late_clear(&late);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	late_step(arg);
}

void
late_kick(struct late *l)
{
	late_step(l);
}

/* --- what is owed --- */

struct owing {
	struct late	*l;
	const struct run_key *key;
	unsigned	 n;		/* that will be sent */
};

static void
owe(const char *field, const char *value, void *arg)
{
	struct owing *o = arg;
	struct spool *sp = o->l->s->spool;

	int rc = spool_late_add(sp, o->key, field, value, spool_now(sp) +
	    LATE_FIRST);

	o->l->s->n.late_lost += rc == 0;
	o->n += rc == 1;
}

/* A spool that fills up has better uses for its room. */
static int
is_wanted(struct late *l)
{
	struct spool *sp = l->s->spool;

	return l->s->backend == BACKEND_1_5 &&
	    spool_bytes(sp) < spool_bytes_max(sp) / 2;
}

void
late_end(struct late *l, const struct spool_run *run)
{
	struct owing o = { .l = l, .key = &run->key };
	struct job job;

	if ((run->flags & (RUN_TOLD_END | RUN_SKIPPED)) || !is_wanted(l))
		return;
	job_init(&job);
	inflight_set(l->s->w->inflight, &run->key);
	if (spool_record(l->s->spool, run->id, &job) == 0)
		payload_meta_late(l->s->payload, &job,
		    (run->flags & RUN_INFO) != 0, owe, &o);
	inflight_clear(l->s->w->inflight);
	job_clear(&job);
}

static void
time_text(int64_t when, char *buf, size_t size)
{
	time_t t = (time_t)when;
	struct tm tm;

	if (gmtime_r(&t, &tm) == NULL ||
	    strftime(buf, size, "%Y-%m-%d %H:%M:%S UTC", &tm) == 0)
		snprintf(buf, size, "%lld", (long long)when);
}

void
late_sister(struct late *l, struct spool_run *refused)
{
	char text[256], start[64], end[64];
	struct run_key sister;
	struct owing o = { .l = l, .key = &sister };

	/* Each reload tries the start again, and it is refused again. */
	if ((refused->flags & RUN_SISTER) ||
	    refused->phase[DEST_REST] != PHASE_NO_START || !is_wanted(l) ||
	    !payload_has_message(l->s->payload) ||
	    spool_sister(l->s->spool, refused, &sister) != 1)
		return;
	time_text(refused->key.start, start, sizeof(start));
	time_text(refused->end, end, sizeof(end));
	snprintf(text, sizeof(text), "This job ran again from %s%s%s; that run "
	    "is not shown: cc-backend takes no second run of a job within a "
	    "day.", start, refused->end != 0 ? " to " : "",
	    refused->end != 0 ? end : "");
	owe("message", text, &o);
	if (o.n == 0)
		return;
	refused->flags |= RUN_SISTER;
	spool_save(l->s->spool, refused);
	backlog_touch(l->s->backlog);
}

struct late *
late_new(struct submitter *s)
{
	struct late *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->s = s;
	l->timer = submitter_timer(s, on_timer, l);
	if (l->timer == NULL) {
		free(l);
		return NULL;
	}
	return l;
}

void
late_free(struct late *l)
{
	if (l == NULL)
		return;
	event_free(l->timer);
	free(l);
}
