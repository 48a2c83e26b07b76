/* SPDX-License-Identifier: MIT */
/*
 * The command `sync`.  All requests that wait in the spool become due now, then
 * cc-backend's running jobs are compared.  The command waits for Slurm's
 * answers about the runs that are looked up, so the report shows what happened
 * to each run.  See sync_command.h.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/permanent.h"
#include "submitter/base/context.h"
#include "submitter/base/diff_row.h"
#include "submitter/base/sets.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/reconcile/sync_command.h"
#include "submitter/spool/commit.h"

/* runs whose answer is awaited; others are reported without it */
#define ASKED_MAX 20000
#define TICK_MS	  250
#define ANSWER_MS 60000 /* ms for Slurm: a poll, and accounting by id */
/* rows of the queue in the report; further ones are only counted */
#define ROWS_TOLD_MAX 10000
/*
 * Rows of the queue that one command takes: it does not return to the event loop
 * meanwhile.
 */
#define ROWS_TAKEN_MAX	100000
#define RUNS_OF_JOB_MAX 16 /* runs of one job that are reported */
/* runs of named jobs that have a row of the report */
#define NAMED_MAX (CTL_IDS_MAX * RUNS_OF_JOB_MAX)

struct sync_lookup {
	struct run_key key;
	const char *difference;
	enum sync_way way;
};

struct sync {
	struct submitter *s;
	struct event *timer;
	uint64_t request; /* 0 = no command is under way */
	struct ctl_request req;
	unsigned acted;
	unsigned beyond; /* runs left alone because of --limit */
	int unknown;	 /* runs that --force ends; -1 = without --force */
	unsigned told;
	struct diff_rows rows;
	unsigned wanted; /* rows of the queue that the command is for */
	struct sync_lookup *asked; /* owned */
	size_t n_asked;
	/* runs of named jobs that have a row of the report already */
	struct keyset named;
	int64_t until; /* spool_now() */
	char text[128];
};

static int
is_dry(const struct sync *y)
{
	return (y->req.flags & CTL_FLAG_DRY_RUN) != 0;
}

static void
sync_tell(struct sync *y, const struct run_key *key, const char *difference,
    const char *action)
{
	y->told++;
	if (y->req.n_ids > 0)
		keyset_add(&y->named, key, NAMED_MAX);
	diff_rows_add(y->s, &y->rows, key, difference, action);
}

static int
sync_wants(const struct sync *y, const struct run_key *key, enum sync_way way)
{
	uint32_t i, ways = y->req.flags & (CTL_FLAG_START | CTL_FLAG_STOP);

	if (ways != 0 &&
	    !(ways & (way == SYNC_START ? CTL_FLAG_START : CTL_FLAG_STOP)))
		return 0;
	if (y->req.text[0] != '\0' && strcmp(y->req.text, key->cluster) != 0)
		return 0;
	for (i = 0; i < y->req.n_ids; i++)
		if (y->req.ids[i] == key->job)
			return 1;
	return y->req.n_ids == 0;
}

/* A row of the queue: there may be a million. */
static void
queue_row(struct sync *y, const struct run_key *key, const char *difference,
    const char *action)
{
	if (y->told < ROWS_TOLD_MAX)
		sync_tell(y, key, difference, action);
	else
		y->rows.untold++;
}

static int
sync_takes(struct sync *y, const struct run_key *key, enum sync_way way,
    const char *difference)
{
	if (!sync_wants(y, key, way))
		return 0;
	if (y->req.limit != 0 && y->acted >= y->req.limit) {
		y->beyond++;
		queue_row(y, key, difference, "left alone because of --limit");
		return 0;
	}
	y->acted++;
	return 1;
}

static void
on_asks(void *arg, const struct run_key *key, enum sync_way way,
    const char *difference)
{
	struct sync *y = arg;

	if (y->asked == NULL)
		y->asked = calloc(ASKED_MAX, sizeof(*y->asked));
	if (y->asked == NULL || y->n_asked == ASKED_MAX) {
		sync_tell(y, key, difference, "looked up in Slurm");
		return;
	}
	y->asked[y->n_asked++] = (struct sync_lookup) { .key = *key,
		.difference = difference,
		.way = way };
}

/* --- jobs that were named --- */

/* Reports the run unless it has a row. */
static void
named_tell(struct sync *y, const struct run_key *key, const char *what)
{
	size_t i;

	for (i = 0; i < y->named.n; i++)
		if (run_key_equal(&y->named.keys[i], key))
			return;
	sync_tell(y, key, what, "none");
}

/*
 * The text for a run that needs no request; NULL: the run has a row, or another
 * step prints it.
 */
static const char *
state_text(const struct sync *y, const struct spool_run *run, char *buf,
    size_t size)
{
	switch (run->state[DEST_REST]) {
	case START_DUE:
	case START_DUE_ENDED:
	case STOP_DUE:
	case STOP_BLOCKED:
		return NULL;
	case STARTED:
	case START_COMMITTED:
		return run->flags & RUN_FROM_BACKEND ? NULL :
						       "runs, its start is "
						       "delivered";
	case STOPPED_BY_OTHERS:
		/* With a dry run, `sync` shows what `repair` would do. */
		return is_dry(y) ? NULL : run_state_text(run, DEST_REST);
	case RUN_NONE:
		return "not reported";
	case START_REJECTED:
	case STOP_REJECTED:
		snprintf(buf, size, "rejected: %.300s", run->reason);
		return buf;
	default:
		return run_state_text(run, DEST_REST);
	}
}

static int
job_tell(struct sync *y, const char *cluster, uint64_t job)
{
	struct run_key key = { .job = job };
	struct spool_run rows[RUNS_OF_JOB_MAX];
	int64_t starts[RUNS_OF_JOB_MAX];
	char buf[400];
	const char *text;
	int i, n, done;

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	n = spool_job_runs(y->s->spool, cluster, job, rows, RUNS_OF_JOB_MAX);
	for (i = 0; i < n; i++) {
		text = state_text(y, &rows[i], buf, sizeof(buf));
		if (text != NULL)
			named_tell(y, &rows[i].key, text);
	}
	done = spool_job_done(y->s->spool, cluster, job, starts,
	    RUNS_OF_JOB_MAX);
	for (i = 0; i < done; i++) {
		key.start = starts[i];
		named_tell(y, &key, "delivered in full");
	}
	return n + done;
}

/* Has a run of the job a row of the report? */
static int
is_told(const struct sync *y, uint64_t job)
{
	size_t i;

	for (i = 0; i < y->named.n; i++)
		if (y->named.keys[i].job == job)
			return 1;
	return 0;
}

/* Reports the runs of the named jobs that no other row of the report has. */
static void
jobs_tell(struct sync *y)
{
	struct run_key name, key;
	int64_t cursor;
	unsigned c;
	uint32_t i;
	int n;

	for (i = 0; i < y->req.n_ids; i++) {
		n = 0;
		for (c = 0; spool_cluster(y->s->spool, c, &name, &cursor); c++)
			if (y->req.text[0] == '\0' ||
			    strcmp(y->req.text, name.cluster) == 0)
				n += job_tell(y, name.cluster, y->req.ids[i]);
		if (n > 0 || is_told(y, y->req.ids[i]))
			continue;
		memset(&key, 0, sizeof(key));
		key.job = y->req.ids[i];
		memcpy(key.cluster, y->req.text, CLUSTER_MAX - 1);
		sync_tell(y, &key, "unknown here", "none");
	}
}

/* The end of the report about --force. */
static void
forced_text(const struct sync *y, char *buf, size_t size)
{
	if (y->unknown == -1)
		buf[0] = '\0';
	else
		snprintf(buf, size,
		    "; %d runs that Slurm has reported as unknown twice %s",
		    y->unknown, is_dry(y) ? "would be ended" : "are ended");
}

/* Ends the command. */
static void
finish(struct sync *y, enum ctl_status status, const char *text)
{
	char end[512], untold[64], forced[96];

	jobs_tell(y);
	keyset_clear(&y->named);
	diff_rows_untold(&y->rows, untold, sizeof(untold));
	forced_text(y, forced, sizeof(forced));
	snprintf(end, sizeof(end), "%s; %u runs %s%s%s%s%s", text, y->acted,
	    is_dry(y) ? "would be touched" : "touched", forced,
	    y->beyond > 0 ? ", more are left because of --limit" : "", untold,
	    y->wanted > ROWS_TAKEN_MAX ?
		"; more runs wait than one sync takes" :
		"");
	worker_ctl_end(y->s->w, y->request, status, end);
	y->request = 0;
	y->n_asked = 0;
	free(y->asked);
	y->asked = NULL;
	timer_after(y->timer, -1);
}

/* The effect of Slurm's answer on the run; NULL = no answer yet. */
static const char *
answer_of(struct sync *y, const struct run_key *key, int started)
{
	struct spool *sp = y->s->spool;
	struct spool_run run;

	if (spool_find(sp, key, &run) != 1)
		return spool_is_done(sp, key) ? "has ended in Slurm: stopped" :
						"gone";
	if (run.end != 0)
		return "has ended in Slurm: its stop is due";
	if (!(run.flags & (RUN_FROM_BACKEND | RUN_MISSING_IN_BACKEND)))
		return started ? "runs in Slurm: started again" :
				 "runs in Slurm: stored";
	if (run.not_found_count > 0)
		return "unknown to Slurm: ended only when Slurm says so twice, "
		       "an hour apart";
	return NULL;
}

/* Reports the runs with an answer; returns how many have none. */
static size_t
answers_tell(struct sync *y)
{
	const char *action;
	size_t i, left = 0;

	for (i = 0; i < y->n_asked; i++) {
		action = answer_of(y, &y->asked[i].key,
		    y->asked[i].way == SYNC_START);
		if (action != NULL)
			sync_tell(y, &y->asked[i].key, y->asked[i].difference,
			    action);
		else
			y->asked[left++] = y->asked[i];
	}
	return y->n_asked = left;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct sync *y = arg;
	size_t i;

	if (y->request == 0)
		return;
	if (answers_tell(y) > 0 && spool_now(y->s->spool) < y->until) {
		timer_after(y->timer, TICK_MS);
		return;
	}
	for (i = 0; i < y->n_asked; i++)
		sync_tell(y, &y->asked[i].key, y->asked[i].difference,
		    "looked up in Slurm, no answer yet");
	finish(y, CTL_OK, y->text);
}

/* The collector polls Slurm now. */
static void
poll_ask(struct submitter *s)
{
	struct channel *c = submitter_feeder(s);

	if (c != NULL)
		channel_send(c, MSG_POLL_NOW, 0, NULL, -1);
}

static void
on_compared(void *arg, int failed, const char *text)
{
	struct sync *y = arg;

	if (y->request == 0)
		return;
	if (failed || y->n_asked == 0) {
		finish(y, failed ? CTL_ERROR : CTL_OK, text);
		return;
	}
	snprintf(y->text, sizeof(y->text), "%s", text);
	poll_ask(y->s);
	y->until = spool_now(y->s->spool) + ANSWER_MS;
	timer_after(y->timer, TICK_MS);
}

static int
on_wants(void *arg, const struct run_key *key, enum sync_way way)
{
	return sync_wants(arg, key, way);
}

static int
on_takes(void *arg, const struct run_key *key, enum sync_way way,
    const char *difference)
{
	return sync_takes(arg, key, way, difference);
}

static void
on_tell(void *arg, const struct run_key *key, const char *difference,
    const char *action)
{
	sync_tell(arg, key, difference, action);
}

static const struct reconcile_filter filter = {
	.wants = on_wants,
	.takes = on_takes,
	.tell = on_tell,
	.asks = on_asks,
	.done = on_compared,
};

/* --- what waits in the spool --- */

/* The start waits for Slurm, and no command sends it. */
static void
unconfirmed_tell(struct sync *y, const struct spool_run *run)
{
	if (sync_wants(y, &run->key, SYNC_START))
		queue_row(y, &run->key, run->reason, "none");
}

static const char *
waits_text(const struct spool_run *run, char *buf, size_t size)
{
	const char *what = run->state[DEST_REST] == STOP_DUE ? "stop" : "start";

	if (run->due[DEST_REST] == DUE_LEASED)
		snprintf(buf, size, "%s under way", what);
	else if (run->tries[DEST_REST] > 0)
		snprintf(buf, size, "%s waits after %u tries: %.300s", what,
		    run->tries[DEST_REST], run->reason);
	else
		snprintf(buf, size, "%s is due", what);
	return buf;
}

/* A stop of the run may be under way in cc-backend; see stop_no_run(). */
static int
waits_for_stop(struct spool *sp, const struct spool_run *run)
{
	return (run->flags & RUN_RESTARTED) && run->tries[DEST_REST] == 0 &&
	    run->due[DEST_REST] > spool_now(sp) &&
	    run->due[DEST_REST] < DUE_LEASED;
}

/* The report prints this text for a request that becomes due. */
static const char *
send_text(const struct sync *y)
{
	if (role_is_passive(y->s))
		return is_dry(y) ?
		    "would be due, but this daemon sends nothing now" :
		    "due, but this daemon sends nothing now";
	return is_dry(y) ? "would be sent now" : "sent now";
}

static int
queue_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct sync *y = arg;
	char text[400];
	enum sync_way way = run->state[DEST_REST] == STOP_DUE ? SYNC_STOP :
								SYNC_START;

	if (sync_wants(y, &run->key, way) && ++y->wanted > ROWS_TAKEN_MAX)
		return -1;
	if (run->due[DEST_REST] == DUE_UNCONFIRMED) {
		unconfirmed_tell(y, run);
		return 0;
	}
	waits_text(run, text, sizeof(text));
	if (waits_for_stop(sp, run)) {
		queue_row(y, &run->key,
		    "start waits for a stop that may be under way",
		    "sent within a minute");
		return 0;
	}
	if (!sync_takes(y, &run->key, way, text))
		return 0;
	queue_row(y, &run->key, text, send_text(y));
	if (is_dry(y) || run->due[DEST_REST] == DUE_LEASED ||
	    run->due[DEST_REST] == DUE_NOW)
		return 0;
	run->due[DEST_REST] = DUE_NOW;
	return spool_save(sp, run);
}

static int
wait_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct sync *y = arg;

	if (!sync_wants(y, &run->key, SYNC_STOP))
		return 0;
	if (++y->wanted > ROWS_TAKEN_MAX)
		return -1;
	queue_row(y, &run->key,
	    "ended, its stop waits for the "
	    "commit",
	    "none: cc-backend is asked for it");
	return 0;
}

static void
state_walk(struct sync *y, enum run_state state, spool_fn *fn)
{
	struct spool_after after = { 0 };

	while (spool_each(y->s->spool, DEST_REST, state, &after, SPOOL_PAGE, fn,
		   y) == SPOOL_PAGE)
		continue;
}

static void
queue_tell(struct sync *y)
{
	state_walk(y, START_DUE, queue_one);
	state_walk(y, STOP_DUE, queue_one);
	state_walk(y, START_DUE_ENDED, queue_one);
	state_walk(y, STOP_BLOCKED, wait_one);
	if (!is_dry(y)) {
		commit_soon(y->s->commit);
		wake(y->s, WAKE_DELIVERY);
	}
}

/*
 * --force, before the walk over the queue: the report has the stops.  0, or -1
 * when the spool refuses the ends.
 */
static int
unknown_end(struct sync *y, const struct ctl_request *req)
{
	y->unknown = -1;
	if (!(req->flags & CTL_FLAG_FORCE) ||
	    (!spool_policy(y->s->spool)->whole &&
		reconcile_error(y->s->reconcile) != NULL))
		return 0;
	y->unknown = missing_runs_force(y->s->missing, req->text,
	    (req->flags & CTL_FLAG_DRY_RUN) != 0);
	return y->unknown == -1 ? -1 : 0;
}

/* deliver "stream": there is no cc-backend to compare with. */
static void
unknown_reply(struct sync *y, uint64_t request, int dry)
{
	char text[160];

	snprintf(text, sizeof(text),
	    "%d runs that Slurm has reported as unknown twice %s; the rest of "
	    "the command is for the centre",
	    y->unknown, dry ? "would be ended" : "are ended");
	worker_ctl_end(y->s->w, request, CTL_OK, text);
}

void
sync_begin(struct sync *y, uint64_t request, const struct ctl_request *req)
{
	const char *wrong;

	if (y->request != 0) {
		worker_ctl_end(y->s->w, request, CTL_ERROR,
		    "a sync is under "
		    "way");
		return;
	}
	if (unknown_end(y, req) == -1) {
		worker_ctl_end(y->s->w, request, CTL_ERROR,
		    spool_error(y->s->spool));
		return;
	}
	if (spool_policy(y->s->spool)->whole && (req->flags & CTL_FLAG_FORCE)) {
		unknown_reply(y, request, (req->flags & CTL_FLAG_DRY_RUN) != 0);
		return;
	}
	y->request = request;
	y->req = *req;
	y->rows = (struct diff_rows) { .request = request };
	y->acted = y->beyond = y->told = y->wanted = 0;
	y->n_asked = 0;
	if (is_dry(y))
		foreign_stop_repair(y->s, &y->rows, req);
	queue_tell(y);
	wrong = reconcile_filtered(y->s->reconcile, &filter, y, is_dry(y));
	if (wrong != NULL)
		finish(y, CTL_ERROR, wrong);
}

struct sync *
sync_new(struct submitter *s)
{
	struct sync *y = permanent_new(sizeof(*y));

	y->s = s;
	y->timer = timer_new(s, on_timer, y);
	return y;
}
