/* SPDX-License-Identifier: MIT */
/*
 * The first list of each cluster. Its running jobs get rows as started and
 * committed, so that the records of Slurm make no starts of them, and the
 * collector looks up those that Slurm does not show. How many clusters were
 * listed is durable: the spool numbers clusters in the order in which it meets
 * them. With activeOnly beside slurmctld, failover.c lists before this suite
 * sends; at a centre both do. See first_list.h.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "common/permanent.h"
#include "submitter/backend/breaker.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/reconcile/first_list.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"

#define LISTED	 "listed" /* key of the value in the spool: u32 clusters */
#define RETRY_MS 1000	  /* until a list is requested again */
#define TELL_MS	 60000 /* without a list, until the log says that NATS waits */

struct first_list {
	struct submitter *s;
	struct event *timer;
	struct job_list job_list;
	uint32_t listed;		   /* clusters */
	struct job_list_failures failures; /* of this cluster */
	int stale;     /* the list under way was requested before */
	int64_t since; /* spool_now() when the delivery stopped */
	int told;      /* since then */
	/* of the list under way */
	unsigned rows;
	unsigned no_threads;
	unsigned no_gpus;
};

static int
is_off(const struct first_list *f)
{
	return !conf_sends_rest(&f->s->w->conf) || f->s->role.standby ||
	    (conf_bool(&f->s->w->conf, CONF_ACTIVE_ONLY) &&
		!conf_reads_stream(&f->s->w->conf));
}

/*
 * The next cluster to list: 1, or 0 = none.  The runs of a renamed cluster are
 * in the list of its new name.
 */
static int
cluster_next(struct first_list *f, struct run_key *name)
{
	int64_t cursor;

	while (!is_off(f) &&
	    spool_cluster(f->s->spool, f->listed, name, &cursor)) {
		/* `listed` is the number of the cluster of a list under way. */
		if (f->job_list.busy ||
		    !cluster_is_renamed(f->s, name->cluster))
			return 1;
		f->listed++;
	}
	return 0;
}

/* A run that has a row: its start is neither sent nor published. */
static void
known_listed(struct first_list *f, struct spool_run *run)
{
	struct spool_run copy = *run;

	if (run->state[DEST_REST] != START_DUE &&
	    run->state[DEST_REST] != START_DUE_ENDED &&
	    run->state[DEST_REST] != START_BLOCKED)
		return;
	run->flags |= RUN_KEY_FIXED | RUN_REST_STARTED;
	if (run_may_move(run, DEST_NATS, RUN_EVENT_LISTED))
		run_move(f->s->spool, run, DEST_NATS, RUN_EVENT_LISTED,
		    DUE_KEEP, NULL);
	run_start_listed(f->s, run);
	run_nats_listed(f->s, &copy, run);
}

/* The record of the run has not come yet. */
static void
unknown_listed(struct first_list *f, const struct run_key *key)
{
	struct spool_run run;

	if (spool_put_from_backend(f->s->spool, key) != 1 ||
	    spool_find(f->s->spool, key, &run) != 1)
		return;
	run.flags |= RUN_FIRST_LISTED;
	spool_save(f->s->spool, &run);
}

static void
on_row(const struct backend_job *row, void *arg)
{
	struct first_list *f = arg;
	struct spool *sp = f->s->spool;
	struct spool_run run;
	int found = spool_find(sp, &row->key, &run);

	f->rows++;
	f->no_threads += !row->has_threads;
	f->no_gpus += row->gpus > 0 && !row->has_gpus;
	if (found == 1)
		known_listed(f, &run);
	else if (found == 0 && !spool_is_done(sp, &row->key))
		unknown_listed(f, &row->key);
	commit_soon(f->s->commit);
}

static void
report(const struct first_list *f)
{
	if (f->rows == 0) {
		log_debug("first list of %s: no job runs in cc-backend",
		    f->job_list.cluster);
		return;
	}
	log_notice("first list of %s: %u jobs run in cc-backend and are not "
		   "started again; %u of them have no hardware threads, %u "
		   "have GPUs without addresses; cc-backend cannot add them "
		   "to a job that has begun",
	    f->job_list.cluster, f->rows, f->no_threads, f->no_gpus);
}

/* The cluster is done: stored with its rows in one transaction. */
static void
cluster_done(struct first_list *f)
{
	f->listed++;
	memset(&f->failures, 0, sizeof(f->failures));
	spool_value_set(f->s->spool, LISTED, &f->listed, sizeof(f->listed));
	CRASH_POINT("first-listed");
	commit_soon(f->s->commit);
	first_list_check(f);
	if (!f->s->role.unlisted)
		wake(f->s,
		    WAKE_DELIVERY | WAKE_COMMIT_CHECK | WAKE_CONFLICT |
			WAKE_RECONCILE);
}

static void
on_listed(const struct result *v, void *arg)
{
	struct first_list *f = arg;

	if (f->stale) {
		f->stale = 0;
		timer_after(f->timer, 0);
		return;
	}
	if (v->code == RESULT_DONE) {
		report(f);
		cluster_done(f);
		return;
	}
	breaker_request_result(f->s->breaker, v);
	if (job_list_gives_up(&f->failures, v)) {
		log_warnx("the jobs of %s in cc-backend cannot be listed: %s; "
			  "the starts are sent, and cc-backend refuses those "
			  "that it has",
		    f->job_list.cluster, v->text);
		cluster_done(f);
		return;
	}
	timer_after(f->timer, RETRY_MS);
}

/* The other messages about cc-backend do not say that NATS waits, too. */
static void
nats_tell(struct first_list *f, const char *cluster)
{
	struct spool *sp = f->s->spool;

	if (f->told || !spool_policy(sp)->to[DEST_NATS] ||
	    spool_now(sp) - f->since < TELL_MS)
		return;
	f->told = 1;
	log_warnx("cc-backend has not listed the running jobs of %s for a "
		  "minute: nothing is published on NATS before this list, as "
		  "it shows which jobs were started before",
	    cluster);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct first_list *f = arg;
	struct run_key name;

	(void)fd;
	(void)what;
	if (f->job_list.busy)
		return;
	/* Nothing is sent meanwhile, and the next commit may fail, too. */
	if (commit_is_stuck(f->s->commit)) {
		timer_after(f->timer, RETRY_MS);
		return;
	}
	first_list_check(f);
	if (!cluster_next(f, &name))
		return;
	nats_tell(f, name.cluster);
	f->rows = f->no_threads = f->no_gpus = 0;
	if (job_list_start(&f->job_list, f->s, name.cluster, 1, 0, 0, on_row,
		on_listed, f) == -1)
		timer_after(f->timer, RETRY_MS);
}

void
first_list_check(struct first_list *f)
{
	struct run_key name;
	int was = f->s->role.unlisted;

	f->s->role.unlisted = cluster_next(f, &name);
	if (!was) {
		f->since = spool_now(f->s->spool);
		f->told = 0;
	}
	if (f->s->role.unlisted && !f->job_list.busy &&
	    !evtimer_pending(f->timer, NULL))
		timer_after(f->timer, 0);
	else if (was && !f->s->role.unlisted)
		wake(f->s, WAKE_DELIVERY | WAKE_COMMIT_CHECK);
}

void
first_list_again(struct first_list *f)
{
	f->listed = 0;
	memset(&f->failures, 0, sizeof(f->failures));
	f->stale = f->job_list.busy;
	spool_value_set(f->s->spool, LISTED, &f->listed, sizeof(f->listed));
	commit_soon(f->s->commit);
	first_list_check(f);
}

/* The number in the spool; 0 = no cluster was listed. */
static uint32_t
listed_read(struct spool *sp)
{
	uint32_t listed = 0;
	size_t n;
	void *p = spool_value_get(sp, LISTED, &n);

	if (p != NULL && n == sizeof(listed))
		memcpy(&listed, p, sizeof(listed));
	free(p);
	return listed;
}

void
first_list_rolled_back(struct first_list *f)
{
	uint32_t listed = listed_read(f->s->spool);

	/* first_list_again() may be among the changes: the lower number. */
	if (listed < f->listed)
		f->listed = listed;
	f->stale = f->job_list.busy;
	first_list_check(f);
}

void
first_list_status(struct first_list *f, uint64_t request)
{
	if (f->s->role.unlisted)
		worker_status(f->s->w, request, "first_list", "%s",
		    "lists the running jobs of cc-backend; nothing is sent "
		    "before that");
}

struct first_list *
first_list_new(struct submitter *s)
{
	struct first_list *f = permanent_new(sizeof(*f));

	f->s = s;
	f->timer = timer_new(s, on_timer, f);
	f->listed = listed_read(s->spool);
	return f;
}
