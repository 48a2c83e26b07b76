/* SPDX-License-Identifier: MIT */
/*
 * Slurm denies that it knows a run that is open.  One denial proves nothing,
 * and many at once prove that something else is wrong: only two an hour apart
 * count, and never more of them at once than a site loses by accident.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "submitter/submitter.h"

#define DENIED_GAP	3600000	/* ms between two denials that count */
#define DENIED_WAIT	3000	/* ms after the last denial until they are judged */
#define DENIED_MAX	20	/* runs ended at once without evidence, or: */
#define DENIED_PERCENT	2	/* of the open ones, if that is more */

struct denial {
	struct submitter *s;
	struct event	*timer;
	int		 force;	/* an admin says that it is right */
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
	submitter_after(k->timer, DENIED_WAIT);
}

struct denials {
	struct denial	*k;
	unsigned	 n;
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

	if (run->denials < 2)
		return 0;
	d->n++;
	if (!d->end)
		return 0;
	log_warnx("job %llu (%s, start %lld) is unknown to Slurm, twice asked: "
	    "ended as failed", (unsigned long long)run->key.job,
	    run->key.cluster, (long long)run->key.start);
	return denied_end(sp, run);
}

static void
denied_walk(struct denials *d)
{
	struct spool_after after = { 0 };

	d->n = 0;
	while (spool_each(d->k->s->spool, DEST_REST, PHASE_SEEN, &after,
	    SPOOL_PAGE, denied_one, d) == SPOOL_PAGE)
		continue;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct denial *k = arg;
	struct denials d = { .k = k };
	uint64_t open = spool_count(k->s->spool, DEST_REST, PHASE_SEEN) +
	    spool_count(k->s->spool, DEST_REST, PHASE_OPEN);
	uint64_t max = open * DENIED_PERCENT / 100;

	(void)fd;
	(void)what;
	if (max < DENIED_MAX)
		max = DENIED_MAX;
	denied_walk(&d);
	if (d.n == 0)
		return;
	if (d.n > max && !k->force) {
		log_errorx("SLURM DENIES %u OF %llu OPEN RUNS: none of them is "
		    "ended; if that is right, `cc-slurm-adapterctl sync --force`",
		    d.n, (unsigned long long)open);
		return;
	}
	d.end = 1;
	denied_walk(&d);
	k->force = 0;
	backlog_touch(k->s->backlog);
	relay_kick(k->s->relay);
}

void
denial_force(struct denial *k)
{
	k->force = 1;
	submitter_after(k->timer, 0);
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
