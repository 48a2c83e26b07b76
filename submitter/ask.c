/* SPDX-License-Identifier: MIT */
/*
 * cc-backend refused a start as a double.  Of which run it does not say
 * truly, so the listing of that very second is asked: is it there, the run is
 * delivered; is it not, another run bars it and it is refused for good.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "submitter/paging.h"
#include "submitter/submitter.h"

#define ASK_RETRY	2000	/* ms after a question that failed */
#define ASK_TRIES	3	/* then edit_meta tells, or nobody */
#define SHOWN_MAX	1024	/* runs of one second that are remembered */

struct ask {
	struct submitter *s;
	struct event	*timer;
	struct paging	 paging;
	int		 meta;		/* an edit_meta is under way */
	int64_t		 id;		/* the row that is asked for */
	struct run_key	 key;
	int		 running;	/* first the running ones, which need no file there */
	unsigned	 tries;
	struct {
		uint64_t job;
		int	 running;
	} shown[SHOWN_MAX];
	unsigned	 n_shown;
};

static void ask_next(struct ask *k);

static void
on_row(const struct listed *row, void *arg)
{
	struct ask *k = arg;

	if (row->key.start != k->key.start || k->n_shown == SHOWN_MAX)
		return;
	k->shown[k->n_shown].job = row->key.job;
	k->shown[k->n_shown].running = strcmp(row->state, "running") == 0;
	k->n_shown++;
}

/* 1 running, 0 stopped, -1 not shown. */
static int
is_shown(const struct ask *k, uint64_t job)
{
	unsigned i;

	for (i = 0; i < k->n_shown; i++)
		if (k->shown[i].job == job)
			return k->shown[i].running;
	return -1;
}

static void
run_there(struct ask *k, struct spool_run *run, int running)
{
	struct submitter *s = k->s;
	struct spool_run copy = *run;

	if (running) {
		relay_taken(s->relay, run, 1);
		return;
	}
	/* Stopped already: by us, before a crash, or by another hand. */
	log_info("job %llu (%s, start %lld) is in cc-backend, and stopped",
	    (unsigned long long)run->key.job, run->key.cluster,
	    (long long)run->key.start);
	s->n.closed++;
	run->flags |= RUN_CLOSED;
	run->phase[DEST_REST] = PHASE_DONE;
	spool_save(s->spool, run);
	spool_release(s->spool, &copy, DEST_REST);
	backlog_touch(s->backlog);
	relay_kick(s->relay);
}

struct same {
	struct ask	*k;
	int		 last;	/* nothing more is asked: not shown is not there */
	int		 left;
};

/* Every run that waits for an answer about the same second gets it. */
static int
same_second(struct spool *sp, struct spool_run *run, void *arg)
{
	struct same *same = arg;
	struct ask *k = same->k;
	int shown;

	(void)sp;
	if (run->key.start != k->key.start ||
	    strcmp(run->key.cluster, k->key.cluster) != 0)
		return run->key.start > k->key.start ? -1 : 0;
	shown = is_shown(k, run->key.job);
	if (shown >= 0)
		run_there(k, run, shown);
	else if (same->last) {
		char why[sizeof(run->reason)];

		snprintf(why, sizeof(why), "another run of this job is in the "
		    "way (%.300s)", run->reason);
		relay_refuse(k->s->relay, run, DEST_REST, why);
	} else
		same->left++;
	return 0;
}

/* How many of that second are still unanswered. */
static int
answers_take(struct ask *k, int last)
{
	struct spool_after after = { .start = k->key.start - 1 };
	struct same same = { .k = k, .last = last };

	while (spool_each(k->s->spool, DEST_REST, PHASE_ASK, &after,
	    SPOOL_PAGE, same_second, &same) == SPOOL_PAGE)
		continue;
	return same.left;
}

static void
on_meta(const struct answer *a, void *arg)
{
	struct ask *k = arg;
	struct spool_run run;
	struct verdict v;

	k->meta = 0;
	outcome_judge(a, &v);
	relay_told(k->s->relay, &v);
	if (spool_get(k->s->spool, k->id, &run) == 1 &&
	    run.phase[DEST_REST] == PHASE_ASK) {
		if (v.outcome == OUT_DONE)
			run_there(k, &run, 1);
		else if (v.outcome == OUT_NO_RUN || v.outcome == OUT_REJECTED)
			relay_refuse(k->s->relay, &run, DEST_REST, run.reason);
	}
	k->tries = 0;
	submitter_after(k->timer, 0);
}

/* The listing of one second is broken there: edit_meta knows each run alone. */
static void
meta_send(struct ask *k)
{
	struct rest_request req = { .what = WHAT_META, .method = "PATCH",
		.path = "jobs/edit_meta/", .done = on_meta, .arg = k };
	struct writer body;
	struct job job;

	job_init(&job);
	wr_init(&body, PAYLOAD_MAX);
	if (spool_record(k->s->spool, k->id, &job) == 0) {
		payload_edit_meta(k->s->payload, &k->key, "jobName",
		    job.name != NULL ? job.name : "", &body);
		req.body = &body;
		if (rest_send(k->s->rest, &req) == 0)
			k->meta = 1;
	}
	if (!k->meta)
		submitter_after(k->timer, ASK_RETRY);
	job_clear(&job);
	wr_clear(&body);
}

static void on_listed(const struct verdict *v, void *arg);

static void
list_send(struct ask *k)
{
	if (paging_start(&k->paging, k->s, k->key.cluster, k->running,
	    k->key.start, k->key.start, on_row, on_listed, k) == -1)
		submitter_after(k->timer, ASK_RETRY);
}

static void
on_listed(const struct verdict *v, void *arg)
{
	struct ask *k = arg;

	if (v->outcome != OUT_DONE) {
		relay_told(k->s->relay, v);
		if (v->outcome == OUT_RETRY && ++k->tries >= ASK_TRIES)
			meta_send(k);
		else
			submitter_after(k->timer, ASK_RETRY);
		return;
	}
	if (k->running && answers_take(k, 0) > 0) {
		k->running = 0;
		list_send(k);
		return;
	}
	/* A second with more runs than are remembered proves no absence. */
	if (!k->running && answers_take(k, k->n_shown < SHOWN_MAX) > 0) {
		meta_send(k);
		return;
	}
	k->tries = 0;
	ask_next(k);
}

static int
first_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct ask *k = arg;

	(void)sp;
	k->id = run->id;
	k->key = run->key;
	return -1;
}

static void
ask_next(struct ask *k)
{
	struct spool_after after = { 0 };

	if (k->paging.busy || k->meta)
		return;
	k->id = 0;
	if (spool_each(k->s->spool, DEST_REST, PHASE_ASK, &after, 1, first_one,
	    k) <= 0 || k->id == 0)
		return;
	k->running = 1;
	k->n_shown = 0;
	list_send(k);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	ask_next(arg);
}

void
ask_kick(struct ask *k)
{
	if (!k->paging.busy && !k->meta && !evtimer_pending(k->timer, NULL))
		submitter_after(k->timer, 0);
}

struct ask *
ask_new(struct submitter *s)
{
	struct ask *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->s = s;
	k->timer = submitter_timer(s, on_timer, k);
	if (k->timer == NULL) {
		free(k);
		return NULL;
	}
	return k;
}

void
ask_free(struct ask *k)
{
	if (k == NULL)
		return;
	event_free(k->timer);
	free(k);
}
