/* SPDX-License-Identifier: MIT */
/*
 * Compares cc-backend's running jobs with the spool: at the start, every
 * ccPollInterval and on request.  A difference alone changes nothing: the
 * collector looks up in Slurm each run that is open in cc-backend and unknown
 * here.  Only a record with an end, or two answers of Slurm an hour apart that
 * the run is unknown, end it.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "common/permanent.h"
#include "common/text/time_text.h"
#include "submitter/backend/breaker.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/context.h"
#include "submitter/base/diff_row.h"
#include "submitter/base/sets.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/payload/topology.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/commit.h"

#define FOREIGN_MAX 20000 /* runs of one cluster, of one round */
/* runs shown although they are done; more wait for the next round */
#define SUSPECTS_MAX 4096
#define FAILED_WAIT  60000 /* ms after a failed round, before a good one */
/* ms until the clusters of this site are known */
#define EARLY_WAIT  5000
#define CATCHUP_MAX 60000 /* ms; the first round waits no longer */
/* commit intervals after which a run must be in the list */
#define LOST_COMMITS 3

struct reconcile {
	struct submitter *s;
	struct event *timer; /* the next round */
	struct job_list job_list;
	unsigned cluster;	/* the n-th, in this round */
	char only[CLUSTER_MAX]; /* the cluster of this round; "" = all */
	struct idset listed;	/* rows that cc-backend shows */
	/* spool_now() when the first list was requested */
	int64_t asked;
	int missing; /* cc-backend does not show a row */
	/* shown although done here: listed twice */
	struct keyset suspects;
	int second; /* the second list is under way */
	unsigned n_foreign;
	/* rows beyond FOREIGN_MAX and SUSPECTS_MAX, left for the next round */
	unsigned beyond;
	int busy, dry, repair, failed;
	struct diff_rows answer;	       /* to an admin */
	const struct reconcile_filter *filter; /* NULL = all runs */
	void *filter_arg;
	unsigned diffs; /* of the round under way */
	/* of the last whole round */
	time_t at;	  /* wall clock; 0 = never */
	int64_t compared; /* spool_now() of that */
	unsigned last_diffs;
	unsigned last_rows;
	unsigned rows;
	struct log_limit differs;
};

static void round_next(struct reconcile *r);

static void
diff_tell(struct reconcile *r, const struct run_key *key, const char *what,
    const char *action)
{
	r->diffs++;
	if (r->filter != NULL)
		r->filter->tell(r->filter_arg, key, what, action);
	else if (r->answer.request != 0)
		diff_rows_add(r->s, &r->answer, key, what, action);
	else
		log_limited(&r->differs, log_info, "%s: %s; %s",
		    run_key_text(key), what, action);
}

/* Makes a row for a run that is open in cc-backend. */
static void
from_backend_put(struct reconcile *r, const struct run_key *key)
{
	struct spool_run run;

	spool_put_from_backend(r->s->spool, key);
	/* cc-backend shows the run: without this it would count as missing. */
	if (spool_find(r->s->spool, key, &run) == 1)
		idset_add(&r->listed, run.id);
	commit_soon(r->s->commit);
}

/*
 * The run is open in cc-backend although its stop was delivered: cc-backend's
 * stop race with another run.
 */
static void
row_victim(struct reconcile *r, const struct run_key *key)
{
	if (r->filter != NULL &&
	    !r->filter->wants(r->filter_arg, key, SYNC_STOP))
		return;
	if (!r->dry && !r->repair) {
		r->s->n.victims++;
		log_warnx("%s runs in cc-backend although its stop was "
			  "delivered; run `cc-slurm-adapterctl repair`",
		    run_key_text(key));
	}
	/*
	 * As a new row it gets its record from Slurm, and its stop is sent
	 * again.
	 */
	if (r->repair && !r->dry) {
		spool_reopen(r->s->spool, key);
		from_backend_put(r, key);
		CRASH_POINT("repair-exhumed");
	}
	diff_tell(r, key, "open in cc-backend, ended and delivered here",
	    !r->repair ? "reported" :
		r->dry ? "would be stopped again" :
			 "stopped again");
}

static void
row_from_backend(struct reconcile *r, const struct run_key *key)
{
	static const char text[] = "open in cc-backend, unknown here";

	if (r->n_foreign >= FOREIGN_MAX) {
		r->beyond++;
		return;
	}
	if (r->filter != NULL &&
	    !r->filter->takes(r->filter_arg, key, SYNC_STOP, text))
		return;
	r->n_foreign++;
	if (!r->dry)
		from_backend_put(r, key);
	if (r->filter != NULL && !r->dry) {
		r->diffs++;
		r->filter->asks(r->filter_arg, key, SYNC_STOP, text);
	} else
		diff_tell(r, key, text,
		    r->dry ? "would be looked up in "
			     "Slurm, and stopped if it has ended" :
			     "looked up in Slurm");
}

static void
on_row(const struct backend_job *row, void *arg)
{
	struct reconcile *r = arg;
	struct spool_run run;
	int found = spool_find(r->s->spool, &row->key, &run);

	r->rows++;
	if (found == 1) {
		idset_add(&r->listed, run.id);
		if ((r->dry || r->filter != NULL) &&
		    (run.flags & RUN_FROM_BACKEND))
			row_from_backend(r, &row->key);
		if (r->dry)
			return;
		if (run.state[DEST_REST] == START_REJECTED ||
		    (run.state[DEST_REST] == STOPPED_BY_OTHERS &&
			run.since[DEST_REST] < r->job_list.asked))
			run_start_listed(r->s, &run);
		else
			commit_seen(r->s->commit_check, &run,
			    r->job_list.asked);
	} else if (found == 0) {
		if (spool_is_done(r->s->spool, &row->key)) {
			/* Its stop may have been delivered in the meantime. */
			r->beyond += r->suspects.n >= SUSPECTS_MAX;
			keyset_add(&r->suspects, &row->key, SUSPECTS_MAX);
		} else
			row_from_backend(r, &row->key);
	}
}

/*
 * The second list was requested after the run was done here, so a run in it is
 * open in cc-backend. It also shows rows that the first list missed between two
 * pages.
 */
static void
on_second(const struct backend_job *row, void *arg)
{
	struct reconcile *r = arg;
	struct spool_run run;

	if (spool_find(r->s->spool, &row->key, &run) == 1)
		idset_add(&r->listed, run.id);
	else if (keyset_has(&r->suspects, &row->key))
		row_victim(r, &row->key);
}

/* The start was accepted long ago, but cc-backend does not show the run. */
static int
is_missing(struct reconcile *r, const struct spool_run *run)
{
	int64_t margin = LOST_COMMITS * 1000 *
	    conf_int(&r->s->w->conf, CONF_CC_COMMIT_INTERVAL);

	return run->since[DEST_REST] + margin <= r->asked &&
	    !idset_has(&r->listed, run->id);
}

static int
missing_any(struct spool *sp, struct spool_run *run, void *arg)
{
	struct reconcile *r = arg;

	r->missing |= is_missing(r, run);
	return r->missing ? -1 : 0;
}

static int
missing_one(struct spool *sp, struct spool_run *run, void *arg)
{
	static const char unshown[] = "open here, not in cc-backend";
	struct reconcile *r = arg;

	if (!is_missing(r, run))
		return 0;
	if (run->flags & RUN_FROM_BACKEND)
		return r->dry ? 0 : spool_forget(sp, run);
	if (r->filter != NULL &&
	    !r->filter->takes(r->filter_arg, &run->key, SYNC_START, unshown))
		return 0;
	if (r->filter != NULL && !r->dry) {
		r->diffs++;
		r->filter->asks(r->filter_arg, &run->key, SYNC_START, unshown);
	} else
		diff_tell(r, &run->key, unshown,
		    r->dry ? "would be looked "
			     "up in Slurm, and started again if it runs" :
			     "started again if Slurm shows it");
	if (r->dry || (run->flags & RUN_MISSING_IN_BACKEND))
		return 0;
	run->flags |= RUN_MISSING_IN_BACKEND;
	return spool_save(sp, run);
}

static void
missing_walk(struct reconcile *r, spool_fn *fn)
{
	struct spool_after after = { 0 };

	r->missing = 0;
	r->failed |= r->listed.lacking;
	while (!r->listed.lacking && !r->missing &&
	    spool_each_of(r->s->spool, r->job_list.cluster, START_COMMITTED,
		&after, SPOOL_PAGE, fn, r) == SPOOL_PAGE)
		continue;
}

static int
is_off(const struct reconcile *r)
{
	return !conf_sends_rest(&r->s->w->conf);
}

void
reconcile_peer(struct reconcile *r)
{
	slurm_lookup_in_doubt(r->s->lookup);
	/* Without cc-backend there are no comparisons that look runs up. */
	if (is_off(r))
		timer_after(r->timer,
		    1000 * conf_int(&r->s->w->conf, CONF_CC_POLL_INTERVAL));
}

/* The result for the log and for an admin. */
static void
result_write(const struct reconcile *r, char *text, size_t size)
{
	char more[64] = "", untold[64];

	if (r->beyond > 0)
		snprintf(more, sizeof(more),
		    ", %u more are left for the next "
		    "comparison",
		    r->beyond);
	diff_rows_untold(&r->answer, untold, sizeof(untold));
	snprintf(text, size, "%u runs in cc-backend, %u differences%s%s",
	    r->rows, r->diffs, more, untold);
}

/* Are all runs compared? */
static int
is_full(const struct reconcile *r)
{
	return r->filter == NULL && r->only[0] == '\0';
}

static void
round_end(struct reconcile *r)
{
	const struct reconcile_filter *filter;
	char text[192];

	result_write(r, text, sizeof(text));
	r->busy = 0;
	if (!r->failed && !r->dry && is_full(r)) {
		r->at = time(NULL);
		r->compared = spool_now(r->s->spool);
		r->last_diffs = r->diffs;
		r->last_rows = r->rows;
		log_info("compared with cc-backend: %s", text);
	}
	if (!r->dry)
		reconcile_peer(r);
	if (r->answer.request != 0) {
		worker_ctl_end(r->s->w, r->answer.request,
		    r->failed ? CTL_ERROR : CTL_OK,
		    r->failed ? "cc-backend did not answer" : text);
		r->answer = (struct diff_rows) { 0 };
	}
	/* A partial comparison or a dry run does not delay the next full one. */
	if ((is_full(r) && !r->dry) || !evtimer_pending(r->timer, NULL))
		timer_after(r->timer,
		    r->failed && r->at == 0 ?
			FAILED_WAIT :
			conf_int(&r->s->w->conf, CONF_CC_POLL_INTERVAL) * 1000);
	wake(r->s, WAKE_DELIVERY);
	filter = r->filter;
	r->filter = NULL;
	if (filter != NULL)
		filter->done(r->filter_arg, r->failed,
		    r->failed ? "cc-backend did not answer" : text);
}

static void on_listed(const struct result *v, void *arg);

/* Did the first list miss rows between its pages? */
static int
is_shifted(struct reconcile *r)
{
	if (r->job_list.page == 1)
		return 0; /* a single page is consistent */
	missing_walk(r, missing_any);
	return r->missing;
}

/*
 * Lists again when runs are shown although they are done, or rows may have been
 * missed between two pages; 0 = requested, 1 = the first list suffices, -1 = no
 * list can be requested.
 */
static int
second_look(struct reconcile *r)
{
	char cluster[CLUSTER_MAX];

	r->asked = r->job_list.asked;
	if (r->suspects.n == 0 && !is_shifted(r))
		return 1;
	memcpy(cluster, r->job_list.cluster, sizeof(cluster));
	r->second = 1;
	return job_list_start(&r->job_list, r->s, cluster, 1, 0, 0, on_second,
	    on_listed, r);
}

static void
on_listed(const struct result *v, void *arg)
{
	struct reconcile *r = arg;
	int look = 1;

	if (v->code == RESULT_DONE) {
		if (!r->second && (look = second_look(r)) == 0)
			return;
		/*
		 * A list that needs a second one proves neither that a run is
		 * missing nor that a run shown although done is not open.
		 */
		if (look == -1)
			r->failed = 1;
		else
			missing_walk(r, missing_one);
		commit_soon(r->s->commit);
	} else {
		r->failed = 1;
		breaker_request_result(r->s->breaker, v);
		log_warnx(
		    "the running jobs of %s in cc-backend cannot be listed: "
		    "%s",
		    r->job_list.cluster, v->text);
	}
	r->second = 0;
	idset_clear(&r->listed);
	keyset_clear(&r->suspects);
	round_next(r);
}

/* The next cluster of this round: 1, or 0 after the last. */
static int
cluster_next(struct reconcile *r, struct run_key *name)
{
	int64_t cursor;

	while (spool_cluster(r->s->spool, r->cluster, name, &cursor)) {
		r->cluster++;
		if ((r->only[0] == '\0' ||
			strcmp(r->only, name->cluster) == 0) &&
		    !cluster_is_renamed(r->s, name->cluster))
			return 1;
	}
	return 0;
}

static void
round_next(struct reconcile *r)
{
	struct run_key name;

	if (!cluster_next(r, &name)) {
		round_end(r);
		return;
	}
	r->n_foreign = 0;
	CRASH_POINT("resync");
	if (job_list_start(&r->job_list, r->s, name.cluster, 1, 0, 0, on_row,
		on_listed, r) == -1) {
		r->failed = 1;
		round_end(r);
	}
}

const char *
reconcile_error(const struct reconcile *r)
{
	return r->busy ? "a comparison is under way" :
	    conf_delivers_to_stream(&r->s->w->conf) ?
			 "this host publishes its runs to "
			 "a stream: run the command at the "
			 "centre" :
	    r->s->role.standby ? "this centre is the standby: run the command "
				 "at the active one" :
	    is_off(r)	       ? "ccRestSubmitJobs is off" :
	    !breaker_reaches(r->s->breaker) ? "cc-backend is unreachable" :
	    role_is_passive(r->s) ? "this daemon sends nothing now: another "
				    "daemon is active, or the first list of "
				    "cc-backend's jobs is awaited" :
				    NULL;
}

void
reconcile_begin(struct reconcile *r, const struct diff_rows *rows,
    const char *cluster, int dry, int repair)
{
	const char *why = reconcile_error(r);

	if (why != NULL) {
		if (rows != NULL)
			worker_ctl_end(r->s->w, rows->request, CTL_ERROR, why);
		return;
	}
	r->busy = 1;
	r->answer = rows != NULL ? *rows : (struct diff_rows) { 0 };
	r->dry = dry;
	r->repair = repair;
	r->failed = 0;
	r->diffs = r->rows = r->beyond = 0;
	r->cluster = 0;
	snprintf(r->only, sizeof(r->only), "%s", cluster);
	idset_clear(&r->listed);
	round_next(r);
}

const char *
reconcile_filtered(struct reconcile *r, const struct reconcile_filter *filter,
    void *arg, int dry)
{
	const char *why = reconcile_error(r);

	if (why != NULL)
		return why;
	r->filter = filter;
	r->filter_arg = arg;
	reconcile_begin(r, NULL, "", dry, 0);
	return NULL;
}

/*
 * Before the first watermark, a comparison would show differences only because
 * this suite has not read accounting yet.
 */
static int
is_early(const struct reconcile *r)
{
	struct spool *sp = r->s->spool;
	struct run_key name;
	int64_t cursor;

	if (!spool_cluster(sp, 0, &name, &cursor))
		return 1;
	return cursor <= 0 && spool_now(sp) - spool_opened(sp) < CATCHUP_MAX;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct reconcile *r = arg;

	if (is_off(r)) {
		reconcile_peer(r);
		return;
	}
	/* After a probe because of a refusal no wake-up follows. */
	if (r->busy || is_early(r) || !breaker_allows(r->s->breaker))
		timer_after(r->timer, EARLY_WAIT);
	else
		reconcile_begin(r, NULL, "", 0, 0);
}

void
reconcile_backend_up(struct reconcile *r)
{
	int64_t every = 1000 *
	    (int64_t)conf_int(&r->s->w->conf, CONF_CC_POLL_INTERVAL);

	if (!r->busy &&
	    (r->at == 0 || spool_now(r->s->spool) - r->compared > every))
		timer_after(r->timer, 1000);
}

void
reconcile_conf(struct reconcile *r)
{
	if (r->at != 0 && !r->busy)
		timer_after(r->timer,
		    1000 * conf_int(&r->s->w->conf, CONF_CC_POLL_INTERVAL));
}

void
reconcile_status(struct reconcile *r, uint64_t request)
{
	struct worker *w = r->s->w;
	unsigned devices, hosts;

	/* At the centre of a fan-in no Slurm is asked. */
	worker_status(w, request,
	    conf_reads_stream(&w->conf) ? "compared_records" : "compared", "%s",
	    r->at != 0 ? time_text(r->at) : "not yet");
	worker_status(w, request, "compared_runs", "%u", r->last_rows);
	worker_status(w, request, "differences", "%u", r->last_diffs);
	topology_unlisted(r->s->topology, &devices, &hosts);
	worker_status(w, request, "topology",
	    "%u clusters; %u devices of %u "
	    "hosts are not in it",
	    topology_clusters(r->s->topology), devices, hosts);
}

struct reconcile *
reconcile_new(struct submitter *s)
{
	struct reconcile *r = permanent_new(sizeof(*r));

	r->s = s;
	r->timer = timer_new(s, on_timer, r);
	return r;
}
