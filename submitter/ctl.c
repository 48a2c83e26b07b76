/* SPDX-License-Identifier: MIT */
/*
 * Commands of the admin tool: status, queue, retry, drop, sync, repair.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/text/time_text.h"
#include "submitter/backend/breaker.h"
#include "submitter/backend/token_watch.h"
#include "submitter/base/context.h"
#include "submitter/base/diff_row.h"
#include "submitter/ctl.h"
#include "submitter/delivery/delivery.h"
#include "submitter/explain.h"
#include "submitter/history/history.h"
#include "submitter/intake/intake.h"
#include "submitter/nats/nats.h"
#include "submitter/reconcile/backfill.h"
#include "submitter/reconcile/centre_asks.h"
#include "submitter/reconcile/failover.h"
#include "submitter/reconcile/first_list.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/reconcile/sync_command.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"

#define QUEUE_ROWS 1000 /* without --limit */
/*
 * Bytes of rows in one answer, which is made in one turn of the event loop: the
 * channel to the supervisor breaks above 64 MiB, and there are up to 16 clients.
 */
#define QUEUE_BYTES (2u << 20)
#define NAMES_SIZE  192 /* bytes of a list of clusters in an error */

/* A command that walks over rows. */
struct walk {
	struct submitter *s;
	const struct ctl_request *req;
	uint64_t request;
	uint32_t left;
	size_t bytes; /* of the rows */
	unsigned done;
	uint64_t more; /* rows beyond the limit, once the walk is over */
	/* the walk goes on after the limit, to count the rows */
	int counts;
	enum dest dest; /* of the rows */
	/* a reload retries the runs, no admin */
	int by_itself;
};

static unsigned long long
count(const struct submitter *s, enum run_state state)
{
	return (unsigned long long)spool_count(s->spool, DEST_REST, state);
}

static unsigned long long
nats_waiting(const struct submitter *s)
{
	return (
	    unsigned long long)(spool_count(s->spool, DEST_NATS, START_DUE) +
	    spool_count(s->spool, DEST_NATS, START_DUE_ENDED) +
	    spool_count(s->spool, DEST_NATS, STOP_DUE));
}

static unsigned long long
start_due(const struct submitter *s)
{
	return count(s, START_DUE) + count(s, START_DUE_ENDED) +
	    count(s, START_BLOCKED) + count(s, START_CONFLICT);
}

static unsigned long long
rejected(const struct submitter *s)
{
	static const enum run_state states[] = { START_REJECTED,
		STOP_REJECTED };

	return (unsigned long long)states_count(s, states, 2);
}

struct status_count {
	const char *key;
	unsigned long long value;
};

static void
counts_send(struct submitter *s, uint64_t request, const struct status_count *n,
    size_t rows)
{
	for (; rows > 0; rows--, n++)
		worker_status(s->w, request, n->key, "%llu", n->value);
}

/* Runs on their way to cc-backend. */
static void
status_backend_counts(struct submitter *s, uint64_t request)
{
	const struct status_count rows[] = {
		{ "start_due", start_due(s) },
		{ "open", count(s, STARTED) + count(s, START_COMMITTED) },
		{ "stop_waiting", count(s, STOP_BLOCKED) },
		{ "stop_due", count(s, STOP_DUE) },
		{ "rejected", rejected(s) },
		{ "closed_wrongly", count(s, STOPPED_BY_OTHERS) },
		{ "mending", count(s, DELETE_DUE) },
		{ "delivered_starts", s->n.starts },
		{ "delivered_stops", s->n.stops },
		{ "retries", s->n.retries },
		{ "repeated_starts", s->n.repeated },
		{ "closed_by_others", s->n.closed },
		{ "victims", s->n.victims },
		{ "late_due", spool_meta_count(s->spool) },
		{ "late_given_up",
		    s->n.meta_dropped + spool_meta_refused(s->spool) },
	};

	counts_send(s, request, rows, sizeof(rows) / sizeof(rows[0]));
}

static void
status_counts(struct submitter *s, uint64_t request)
{
	const struct status_count rows[] = {
		{ "spool_runs", spool_runs(s->spool) },
		{ "spool_bytes", spool_bytes(s->spool) },
		{ "records", s->n.records },
		{ "records_refused", s->n.records_refused },
		{ "clusters_refused", s->n.clusters_refused },
		{ "watermarks_refused", s->n.watermarks_refused },
		{ "nats_waiting", nats_waiting(s) },
	};

	counts_send(s, request, rows, sizeof(rows) / sizeof(rows[0]));
}

static void
status_history(struct submitter *s, uint64_t request)
{
	struct history_status h;

	history_status(s->history, &h);
	if (!h.on)
		worker_status(s->w, request, "history", "off");
	else
		worker_status(s->w, request, "history",
		    "%llu runs, %llu bytes, %llu events lost, begun anew %llu "
		    "times%s%s",
		    (unsigned long long)h.runs, (unsigned long long)h.bytes,
		    (unsigned long long)h.lost,
		    (unsigned long long)h.begun_anew,
		    h.error[0] != '\0' ? ": " : "", h.error);
}

/* deliver "stream": whether the stream of each cluster accepts records. */
static void
status_streams(struct submitter *s, uint64_t request)
{
	const struct stream_hold *hold;
	unsigned i, held = 0;

	if (!spool_policy(s->spool)->whole)
		return;
	for (i = 0; (hold = nats_delivery_hold(s->nats_delivery, i)) != NULL;
	     i++) {
		if (hold->until == 0)
			continue;
		held++;
		worker_status(s->w, request, "stream_refuses",
		    "cluster %s since %s: %s", hold->cluster,
		    time_text(hold->since), hold->why);
	}
	worker_status(s->w, request, "deliver", "stream, %s",
	    held != 0 ? "not accepted" : "accepted");
}

/* Without cc-backend, what was delivered is what NATS has confirmed. */
static void
status_published(struct submitter *s, uint64_t request)
{
	if (spool_policy(s->spool)->to[DEST_REST])
		return;
	worker_status(s->w, request, "published_starts", "%llu",
	    (unsigned long long)s->n.nats_starts);
	worker_status(s->w, request, "published_ends", "%llu",
	    (unsigned long long)s->n.nats_stops);
}

/* With deliver "stream" there is no cc-backend. */
static void
status_backend(struct submitter *s, uint64_t request)
{
	static const char *const versions[] = {
		[BACKEND_1_3] = "1.3 or older",
		[BACKEND_1_4_0] = "1.4.2 or older",
		[BACKEND_1_4_3] = "1.4",
		[BACKEND_1_5] = "1.5",
	};

	breaker_status(s->breaker, request);
	token_watch_status(s, request, time(NULL));
	rest_delivery_status(s->rest, request);
	worker_status(s->w, request, "backend_version", "%s",
	    !breaker_knows_version(s->breaker) ?
		"not known yet" :
		versions[breaker_version(s->breaker)]);
	status_backend_counts(s, request);
	reconcile_status(s->reconcile, request);
}

static void
status_nats(struct submitter *s, uint64_t request)
{
	struct nats_status ns;

	if (s->nats == NULL)
		return;
	nats_status(s->nats, &ns);
	worker_status(s->w, request, "nats", "%s", ns.broker.text);
	if (ns.broker.clear[0] != '\0')
		worker_status(s->w, request, "nats_in_clear",
		    "the login is readable in the network to %s: set "
		    "natsTls",
		    ns.broker.clear);
	worker_status(s->w, request, "nats_sent", "%llu",
	    (unsigned long long)ns.sent);
	worker_status(s->w, request, "nats_unsure", "%llu",
	    (unsigned long long)ns.unsure);
	status_streams(s, request);
	status_published(s, request);
}

static void
on_status(struct submitter *s, uint64_t request)
{
	worker_status(s->w, request, "layers", "%s", s->w->layers);
	status_counts(s, request);
	if (!spool_policy(s->spool)->whole)
		status_backend(s, request);
	intake_status(s->intake, request);
	status_history(s, request);
	node_states_status(s->nodes, request);
	status_nats(s, request);
	centre_asks_status(s->centre_asks, request);
	backfill_status(s->backfill, request);
	failover_status(s->failover, request);
	first_list_status(s->first_list, request);
	missing_runs_status(s->missing, request);
	if (spool_forbidden(s->spool) > 0)
		worker_status(s->w, request, "forbidden_events", "%llu",
		    (unsigned long long)spool_forbidden(s->spool));
	if (spool_failed(s->spool))
		worker_status(s->w, request, "spool_error", "%s",
		    spool_error(s->spool));
	worker_ctl_end(s->w, request, CTL_OK, "");
}

static int
is_wanted(const struct walk *k, const struct spool_run *run)
{
	uint32_t i;

	if (k->req->text[0] != '\0' &&
	    strcmp(k->req->text, run->key.cluster) != 0)
		return 0;
	for (i = 0; i < k->req->n_ids; i++)
		if (k->req->ids[i] == run->key.job)
			return 1;
	return k->req->n_ids == 0;
}

static const char *
what_of(enum run_state state)
{
	switch (state) {
	case STOP_DUE:
	case STOP_BLOCKED:
	case STOP_REJECTED:
	case STOP_CONFLICT:
		return "stop";
	case DELETE_DUE:
		return "delete";
	case STOPPED_BY_OTHERS:
		return "repair";
	default:
		return "start";
	}
}

/* Seconds since the start or end that is to be delivered. */
static int64_t
queue_age(const struct spool_run *run, enum dest dest)
{
	int64_t from = run->key.start, now = time(NULL);

	if (strcmp(what_of(run->state[dest]), "stop") == 0 && run->end != 0)
		from = run->end;
	return now > from ? now - from : 0;
}

/*
 * Sends the row, or counts it when the limit is reached or the answer is full; -1
 * ends the walk.
 */
static int
queue_row(struct walk *k, const struct spool_run *run, enum dest dest)
{
	int64_t due = run->due[dest] - spool_now(k->s->spool);
	char job[24], start[24], tries[16], wait[24], age[24];
	struct writer w;

	if (k->left == 0) {
		k->more += k->counts != 0;
		return k->counts ? 0 : -1;
	}
	k->left--;
	k->done++;
	snprintf(job, sizeof(job), "%llu", (unsigned long long)run->key.job);
	snprintf(start, sizeof(start), "%lld", (long long)run->key.start);
	snprintf(tries, sizeof(tries), "%u", run->tries[dest]);
	snprintf(wait, sizeof(wait), "%lld",
	    run->due[dest] == DUE_NOW || run->due[dest] >= DUE_LEASED ||
		    due < 0 ?
		0 :
		(long long)(due + 999) / 1000);
	snprintf(age, sizeof(age), "%lld", (long long)queue_age(run, dest));
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_QUEUE, run->key.cluster, job, start,
	    what_of(run->state[dest]), dest == DEST_REST ? "rest" : "nats",
	    tries, wait, run_state_text(run, dest), run_reason(run, dest), age,
	    NULL);
	worker_ctl_row(k->s->w, k->request, &w);
	k->bytes += w.len;
	if (k->bytes >= QUEUE_BYTES)
		k->left = 0;
	wr_clear(&w);
	return 0;
}

static int
queue_rest(struct spool *sp, struct spool_run *run, void *arg)
{
	struct walk *k = arg;

	if (!is_wanted(k, run))
		return 0;
	return queue_row(k, run, DEST_REST);
}

static int
queue_nats(struct spool *sp, struct spool_run *run, void *arg)
{
	struct walk *k = arg;

	if (!is_wanted(k, run))
		return 0;
	return queue_row(k, run, DEST_NATS);
}

/*
 * Returns 1 when all rows are wanted: then the spool knows how many there are,
 * and the walk ends with the limit.
 */
static int
wants_all(const struct walk *k)
{
	return k->req->n_ids == 0 && k->req->text[0] == '\0';
}

static void
state_walk(struct walk *k, enum dest dest, enum run_state state, spool_fn *fn)
{
	struct spool_after after = { 0 };

	while ((k->left > 0 || k->counts) &&
	    spool_each(k->s->spool, dest, state, &after, SPOOL_PAGE, fn, k) ==
		SPOOL_PAGE)
		continue;
}

static void
queue_walk(struct walk *k, enum run_state state)
{
	unsigned sent = k->done;

	state_walk(k, DEST_REST, state, queue_rest);
	if (spool_count(k->s->spool, DEST_NATS, state) > 0)
		state_walk(k, DEST_NATS, state, queue_nats);
	if (wants_all(k))
		k->more += spool_count(k->s->spool, DEST_REST, state) +
		    spool_count(k->s->spool, DEST_NATS, state) -
		    (k->done - sent);
}

/* The reply says how many rows it has and how many it lacks. */
static void
queue_end(struct walk *k)
{
	char shown[24], not_shown[24], text[128] = "";
	struct writer w;

	snprintf(shown, sizeof(shown), "%u", k->done);
	snprintf(not_shown, sizeof(not_shown), "%llu",
	    (unsigned long long)k->more);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_ROWS, shown, not_shown, NULL);
	worker_ctl_row(k->s->w, k->request, &w);
	wr_clear(&w);
	if (k->more > 0)
		snprintf(text, sizeof(text),
		    "%s rows are shown, %s rows are not shown: %s", shown,
		    not_shown,
		    k->bytes >= QUEUE_BYTES ?
			"the answer is full, use --job or --cluster" :
			"use --limit");
	worker_ctl_end(k->s->w, k->request, CTL_OK, text);
}

static void
on_queue(struct submitter *s, uint64_t request, const struct ctl_request *req)
{
	static const enum run_state waiting[] = { START_DUE, STOP_DUE,
		STOP_BLOCKED, START_CONFLICT, STOP_CONFLICT, DELETE_DUE,
		START_BLOCKED, START_DUE_ENDED, STOPPED_BY_OTHERS };
	struct walk k = { .s = s,
		.req = req,
		.request = request,
		.left = req->limit != 0 ? req->limit : QUEUE_ROWS };
	size_t i;

	k.counts = !wants_all(&k);
	if (req->flags & CTL_FLAG_REJECTED) {
		queue_walk(&k, START_REJECTED);
		queue_walk(&k, STOP_REJECTED);
	} else {
		for (i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
			queue_walk(&k, waiting[i]);
	}
	queue_end(&k);
}

static int
retry_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct walk *k = arg;

	if (!is_wanted(k, run) || (run->flags & RUN_QUARANTINED))
		return 0;
	/* Only an admin may retry a run that was never seen running. */
	if (k->by_itself && (run->flags & RUN_UNCONFIRMED))
		return 0;
	run->flags &= ~(RUN_UNCONFIRMED | RUN_RESTARTED | RUN_REFUSED_ONCE);
	k->done++;
	/* The change would be in a later commit, or be lost. */
	if (commit_is_stuck(k->s->commit))
		return 0;
	return spool_retry(sp, run) == 0 && --k->left > 0 ? 0 : -1;
}

static int
drop_one(struct spool *sp, struct spool_run *run, void *arg)
{
	struct walk *k = arg;

	if (!is_wanted(k, run))
		return 0;
	log_notice("%s: an admin drops it; its state was \"%s\": %s",
	    run_key_text(&run->key), run_state_label(run->state[k->dest]),
	    run_reason(run, k->dest));
	k->done++;
	return spool_drop(sp, run, k->dest) == 0 && --k->left > 0 ? 0 : -1;
}

static void
rejected_walk(struct walk *k, spool_fn *fn)
{
	static const enum run_state states[] = { START_REJECTED,
		STOP_REJECTED };
	int d;
	size_t i;

	k->left = UINT32_MAX;
	for (d = 0; d < DEST__COUNT; d++) {
		k->dest = (enum dest)d;
		for (i = 0; i < 2; i++)
			state_walk(k, k->dest, states[i], fn);
	}
	k->dest = DEST_REST;
	if (fn == drop_one)
		state_walk(k, k->dest, STOPPED_BY_OTHERS, fn);
	commit_soon(k->s->commit);
	wake(k->s, WAKE_DELIVERY);
}

void
ctl_retry_all(struct submitter *s)
{
	struct ctl_request req;
	struct walk k = { .s = s, .req = &req, .by_itself = 1 };

	memset(&req, 0, sizeof(req));
	rejected_walk(&k, retry_one);
	if (k.done == 0)
		return;
	/* After a rollback the change is not made again. */
	if (commit_now(s->commit) == 0)
		log_notice("%u rejected runs are retried", k.done);
	else
		log_warnx("the rejected runs are not retried: the spool "
			  "refuses writes; run `cc-slurm-adapterctl retry "
			  "--all` when the spool accepts writes");
}

static void
refusal_send(struct submitter *s, uint64_t request)
{
	char text[512];

	snprintf(text, sizeof(text),
	    "nothing is changed: the spool refuses writes: %.400s",
	    spool_error(s->spool));
	worker_ctl_end(s->w, request, CTL_ERROR, text);
}

/*
 * Called before a change by an admin: 1 when the disk refuses writes; the
 * request is answered.  A change would be in a later commit.
 */
static int
is_refused(struct submitter *s, uint64_t request)
{
	if (!commit_is_stuck(s->commit))
		return 0;
	refusal_send(s, request);
	return 1;
}

/*
 * The change must be durable before the answer says so: after a rollback it is
 * not made again.  0, or -1 and the request is answered.
 */
static int
change_commit(struct submitter *s, uint64_t request)
{
	if (commit_now(s->commit) == 0)
		return 0;
	refusal_send(s, request);
	return -1;
}

static void
rejected_change(struct submitter *s, uint64_t request,
    const struct ctl_request *req, spool_fn *fn, const char *what)
{
	struct walk k = { .s = s, .req = req, .request = request };
	char text[64];

	if (is_refused(s, request))
		return;
	rejected_walk(&k, fn);
	if (change_commit(s, request) == -1)
		return;
	snprintf(text, sizeof(text), "%u runs %s", k.done, what);
	worker_ctl_end(s->w, request, CTL_OK, text);
}

static void
on_retry(struct submitter *s, uint64_t request, const struct ctl_request *req)
{
	rejected_change(s, request, req, retry_one, "are due again");
}

static void
on_drop(struct submitter *s, uint64_t request, const struct ctl_request *req)
{
	rejected_change(s, request, req, drop_one, "were dropped");
}

static void
on_sync(struct submitter *s, uint64_t request, const struct ctl_request *req)
{
	sync_begin(s->sync, request, req);
}

/* At the centre, the receiver passes the command to the cluster. */
static void
on_backfill(struct submitter *s, uint64_t request,
    const struct ctl_request *req)
{
	if (conf_reads_stream(&s->w->conf))
		worker_ctl_end(s->w, request, CTL_OK, "");
	else
		backfill_ctl(s->backfill, request, req);
}

/*
 * First the runs that other clients stopped, then the runs that are open in
 * cc-backend after their stop. With job ids, only the runs of these jobs that
 * other clients stopped.
 */
static void
on_repair(struct submitter *s, uint64_t request, const struct ctl_request *req)
{
	struct diff_rows rows = { .request = request };
	int dry = (req->flags & CTL_FLAG_DRY_RUN) != 0;
	const char *why = NULL;
	char text[64];
	unsigned n;

	/* An answer with an error must not have changed a run. */
	if (!dry && req->n_ids == 0)
		why = reconcile_error(s->reconcile);
	if (why != NULL) {
		worker_ctl_end(s->w, request, CTL_ERROR, why);
		return;
	}
	if (!dry && is_refused(s, request))
		return;
	n = foreign_stop_repair(s, &rows, req);
	if (!dry && change_commit(s, request) == -1)
		return;
	if (req->n_ids == 0) {
		reconcile_begin(s->reconcile, &rows, req->text, dry, 1);
		return;
	}
	snprintf(text, sizeof(text), "%u runs %s repaired", n,
	    dry ? "would be" : "are being");
	worker_ctl_end(s->w, request, CTL_OK, text);
}

static void
on_status_request(struct submitter *s, uint64_t request,
    const struct ctl_request *req)
{
	on_status(s, request);
}

static void
on_metrics(struct submitter *s, uint64_t request, const struct ctl_request *req)
{
	metrics_send(s, request);
}

static void
on_gpus(struct submitter *s, uint64_t request, const struct ctl_request *req)
{
	ctl_gpus(s, request);
}

static void
on_history(struct submitter *s, uint64_t request, const struct ctl_request *req)
{
	counts_begin(s, request);
}

/* Each handler ends its request, at once or later. */
static void (*const handlers[CTL__COUNT])(struct submitter *s, uint64_t request,
    const struct ctl_request *req) = {
	[CTL_STATUS] = on_status_request,
	[CTL_QUEUE] = on_queue,
	[CTL_RETRY] = on_retry,
	[CTL_DROP] = on_drop,
	[CTL_SYNC] = on_sync,
	[CTL_METRICS] = on_metrics,
	[CTL_BACKFILL] = on_backfill,
	[CTL_SPOOL] = ctl_spool_step,
	[CTL_REPAIR] = on_repair,
	[CTL_GPUS] = on_gpus,
	[CTL_EXPLAIN] = explain_begin,
	[CTL_HISTORY] = on_history,
};

/* --- the cluster of a request --- */

/*
 * Returns 1 when the spool has this cluster; names gets the clusters that the
 * spool has, or as many of them as fit and "...".
 */
static int
cluster_is_stored(struct submitter *s, const char *cluster, char *names,
    size_t size)
{
	struct run_key name;
	int64_t cursor;
	size_t len = 0;
	unsigned i;
	int full = 0, found = 0;

	names[0] = '\0';
	for (i = 0; spool_cluster(s->spool, i, &name, &cursor); i++) {
		found |= strcmp(name.cluster, cluster) == 0;
		if (full)
			continue;
		full = len + strlen(name.cluster) + sizeof(", , ...") > size;
		len += (size_t)snprintf(names + len, size - len, "%s%s",
		    len > 0 ? ", " : "", full ? "..." : name.cluster);
	}
	return found;
}

/* An empty answer is right for a cluster whose first data has not arrived. */
static int
may_be_empty(const struct ctl_request *req)
{
	return req->verb == CTL_QUEUE || req->verb == CTL_RETRY ||
	    req->verb == CTL_DROP;
}

/*
 * The history can have a cluster that the spool does not have; the collector or
 * the receiver refuses its name.  At a centre, the receiver does a backfill.
 */
static int
cluster_is_checked(const struct submitter *s, const struct ctl_request *req)
{
	return req->text[0] != '\0' && req->verb != CTL_EXPLAIN &&
	    (req->verb != CTL_BACKFILL || !conf_reads_stream(&s->w->conf));
}

/*
 * Without this check, a mistyped name selects no run, and the answer is that of
 * a cluster without a difference.  Returns 1 when it has refused the request.
 */
static int
cluster_refused(struct submitter *s, uint64_t request,
    const struct ctl_request *req)
{
	char names[NAMES_SIZE], text[NAMES_SIZE + CLUSTER_MAX + 128];
	const char *name = req->text;
	int configured;

	if (!cluster_is_checked(s, req) ||
	    cluster_is_stored(s, name, names, sizeof(names)))
		return 0;
	configured = cluster_name_known(s, name);
	if (configured && may_be_empty(req))
		return 0;
	if (configured)
		snprintf(text, sizeof(text),
		    "no data of cluster %.*s has arrived yet: run "
		    "cc-slurm-adapterctl status",
		    CLUSTER_MAX - 1, name);
	else if (!s->clusters.configured && s->clusters.n == 0)
		snprintf(text, sizeof(text),
		    "no data of cluster %.*s has arrived since the start: "
		    "Slurm has not answered yet, or the name is wrong",
		    CLUSTER_MAX - 1, name);
	else
		snprintf(text, sizeof(text),
		    "unknown cluster %.*s; the spool has %s", CLUSTER_MAX - 1,
		    name, names[0] != '\0' ? names : "no cluster");
	worker_ctl_end(s->w, request, CTL_ERROR, text);
	return 1;
}

void
ctl_on_request(struct worker *w, uint64_t request,
    const struct ctl_request *req)
{
	struct submitter *s = w->arg;

	if (s->spool == NULL)
		worker_ctl_end(w, request, CTL_ERROR,
		    "the submitter is starting");
	else if (req->verb >= CTL__COUNT || handlers[req->verb] == NULL)
		worker_ctl_end(w, request, CTL_ERROR,
		    "not a command of the submitter");
	else if (!cluster_refused(s, request, req))
		handlers[req->verb](s, request, req);
}
