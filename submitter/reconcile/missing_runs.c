/* SPDX-License-Identifier: MIT */
/*
 * Slurm denies that it knows a run that is open.  One denial proves nothing,
 * and many at once prove that something else is wrong: only two an hour apart
 * count, and never more of them within an hour than a site loses by accident,
 * for many can come in small parts.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

#include "common/log.h"
#include "submitter/base/submitter.h"

#define DENIED_GAP	3600000	/* ms between two denials that count */
#define DENIED_WAIT	3000	/* ms from a denial until all are judged: they come in parts */
#define DENIED_MAX	20	/* runs ended within the gap without evidence, or: */
#define DENIED_PERCENT	2	/* of the open ones, if that is more */

struct denial {
	struct submitter *s;
	struct event	*timer;
	int		 force;	/* an admin says that it is right */
	int64_t		 since;	/* spool_now() of the first of these: */
	unsigned	 lately;	/* ended without evidence, within the gap */
	/* of the last walk */
	unsigned	 once;
	unsigned	 twice;	/* and still open, for they are too many */
};

void
denial_take(struct denial *k, const struct run_key *key)
{
	struct spool *sp = k->s->spool;
	struct spool_run run;

	if (spool_find(sp, key, &run) != 1 || run.end != 0)
		return;
	if (run.denials == 0) {
		run.denied = spool_now(sp);
		run.denials = 1;
	} else if (spool_now(sp) - run.denied >= DENIED_GAP)
		run.denials = 2;
	spool_save(sp, &run);
	/* Denied again and again, they are judged all the same. */
	if (!evtimer_pending(k->timer, NULL))
		submitter_after(k->timer, DENIED_WAIT);
}

struct denials {
	struct denial	*k;
	unsigned	 once;
	unsigned	 n;	/* twice */
	int		 end;	/* end them; else count */
};

/* Slurm denied it twice: it ended when it was denied first, at the latest. */
static int
denied_end(struct spool *sp, struct spool_run *run)
{
	struct writer w;
	struct job job;
	int rc = -1;

	job_init(&job);
	if ((run->flags & RUN_FOREIGN) || spool_record(sp, run->id, &job) == -1) {
		job_clear(&job);
		job.key = run->key;
		job.flags = JOB_HAS_START;
	}
	job.end = time(NULL) - (spool_now(sp) - run->denied) / 1000;
	if (job.end < run->key.start)
		job.end = run->key.start;
	job.state = END_FAILED;
	wr_init(&w, MSG_PAYLOAD_MAX);
	job_write(&w, &job);
	if (wr_end(&w) == 0)
		rc = spool_end(sp, run, &job, w.buf, w.len);
	wr_clear(&w);
	job_clear(&job);
	return rc;
}

static int
denied_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct denials *d = arg;

	if (run->denials < 2) {
		d->once += run->denials;
		return 0;
	}
	d->n++;
	if (!d->end)
		return 0;
	log_warnx("job %llu (%s, start %lld) is unknown to Slurm, twice asked: "
	    "ended as failed", (unsigned long long)run->key.job,
	    run->key.cluster, (long long)run->key.start);
	return denied_end(sp, run);
}

/*
 * Nobody saw this one running, and nothing was sent of it: nothing has to be
 * ended, but what it was is kept where an admin sees it.
 */
static int
denied_held(struct spool *sp, struct spool_run *run, void *arg)
{
	struct denials *d = arg;

	if (run->denials < 2) {
		d->once += run->denials;
		return 0;
	}
	log_warnx("job %llu (%s, start %lld) was about to run and is unknown to "
	    "Slurm, twice asked: its start is not sent; kept, see "
	    "`cc-slurm-adapterctl queue --rejected`",
	    (unsigned long long)run->key.job, run->key.cluster,
	    (long long)run->key.start);
	d->k->s->n.rejected++;
	return spool_set_forgotten(sp, run, "nobody saw it running, and Slurm "
	    "has forgotten it: neither squeue nor accounting knows it");
}

static void
held_walk(struct denials *d)
{
	/* They are due after all others. */
	struct spool_after after = { .due = DUE_HELD };

	while (spool_each(d->k->s->spool, DEST_REST, PHASE_START, &after,
	    SPOOL_PAGE, denied_held, d) == SPOOL_PAGE)
		continue;
}

static void
denied_walk(struct denials *d)
{
	struct spool_after after = { 0 };

	d->n = d->once = 0;
	while (spool_each(d->k->s->spool, DEST_REST, PHASE_SEEN, &after,
	    SPOOL_PAGE, denied_one, d) == SPOOL_PAGE)
		continue;
}

/* May so many be ended, with those that were ended lately? */
static int
is_few(struct denial *k, unsigned n)
{
	uint64_t open = spool_count(k->s->spool, DEST_REST, PHASE_SEEN) +
	    spool_count(k->s->spool, DEST_REST, PHASE_OPEN);
	int64_t now = spool_now(k->s->spool);
	uint64_t max;

	if (k->since == 0 || now - k->since >= DENIED_GAP) {
		k->since = now;
		k->lately = 0;
	}
	max = (open + k->lately) * DENIED_PERCENT / 100;
	if (max < DENIED_MAX)
		max = DENIED_MAX;
	if (k->lately + n <= max)
		return 1;
	log_errorx("SLURM DENIES %u OF %llu OPEN RUNS, %u more were ended for "
	    "that within the hour: none of them is ended; if that is right, "
	    "`cc-slurm-adapterctl sync --force`", n, (unsigned long long)open,
	    k->lately);
	return 0;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct denial *k = arg;
	struct denials d = { .k = k };
	int force = k->force;

	(void)fd;
	(void)what;
	/* The admin spoke of those that are denied now, of no later ones. */
	k->force = 0;
	denied_walk(&d);
	held_walk(&d);
	backlog_touch(k->s->backlog);
	relay_kick(k->s->relay);
	k->once = d.once;
	k->twice = d.n;
	if (d.n == 0 || (!force && !is_few(k, d.n)))
		return;
	d.end = 1;
	denied_walk(&d);
	k->twice = 0;
	if (!force)
		k->lately += d.n;
}

void
denial_force(struct denial *k)
{
	k->force = 1;
	submitter_after(k->timer, 0);
}

void
denial_status(struct denial *k, uint64_t request)
{
	worker_status(k->s->w, request, "denied", "%u once, %u twice%s",
	    k->once, k->twice, k->twice > 0 ?
	    ": too many to be ended without `sync --force`" : "");
}

struct denial *
denial_new(struct submitter *s)
{
	struct denial *k = calloc(1, sizeof(*k));

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
denial_free(struct denial *k)
{
	if (k == NULL)
		return;
	event_free(k->timer);
	free(k);
}
