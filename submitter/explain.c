/* SPDX-License-Identifier: MIT */
/*
 * Prints each run of a job: the events of the history, then the present state
 * from the spool.  Reads only; the number of runs and rows is bounded.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/text.h"
#include "common/text/time_text.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/explain.h"
#include "submitter/history/history.h"
#include "submitter/nats/nats.h"

#define RUNS_MAX  64  /* runs of one job that are printed */
#define RUNS_READ 512 /* runs of one job that are sorted */
/* Runs of one job in the history that are looked through. */
#define HISTORY_RUNS   16384
#define ITEMS_MAX      256 /* events of one run: more do not fit into its bytes */
#define TEXT_SIZE      1024
#define LINE_STATE_MAX 384 /* of the line for another host */
/*
 * Of one answer, in bytes: it waits in the channel, which fails beyond
 * CHANNEL_OUTPUT_MAX.  A job with RUNS_MAX runs needs JOB_BYTES at most: for each
 * run ITEMS_MAX events of 150 bytes, and some texts.
 */
#define ANSWER_BYTES (8u * 1024 * 1024)
#define JOB_BYTES    (3u * 1024 * 1024)

/* A run that the history, the spool or a tombstone has. */
struct known_run {
	struct run_key key;
	struct history_events events;
	int done; /* it has a tombstone */
};

struct explain {
	struct submitter *s;
	uint64_t request;
	const struct ctl_request *req;
	struct known_run *runs; /* owned, RUNS_READ */
	unsigned n;
	int earlier;  /* the job has runs before the time of --from */
	size_t bytes; /* of the answer */
};

/* time: epoch, ms; 0 = now. */
static void
row(struct explain *x, const struct run_key *key, int64_t ms, const char *event,
    const char *text)
{
	char job[24], start[24] = "", when[32] = "";
	struct writer w;

	snprintf(job, sizeof(job), "%llu", (unsigned long long)key->job);
	if (key->start != 0)
		snprintf(start, sizeof(start), "%lld", (long long)key->start);
	if (ms > 0)
		snprintf(when, sizeof(when), "%lld.%03d",
		    (long long)(ms / 1000), (int)(ms % 1000));
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_EXPLAIN, key->cluster, job, start, when, event, text,
	    NULL);
	x->bytes += w.len;
	worker_ctl_row(x->s->w, x->request, &w);
	wr_clear(&w);
}

/* NULL: the run began before the time of --from, or there are too many. */
static struct known_run *
run_of(struct explain *x, const struct run_key *key)
{
	struct known_run *r;
	unsigned i;

	for (i = 0; i < x->n; i++)
		if (run_key_equal(&x->runs[i].key, key))
			return &x->runs[i];
	if (key->start != 0 && key->start < x->req->a) {
		x->earlier = 1;
		return NULL;
	}
	if (x->n == RUNS_READ)
		return NULL;
	r = &x->runs[x->n++];
	memset(r, 0, sizeof(*r));
	r->key = *key;
	return r;
}

static void
on_history(const struct run_key *key, const struct history_events *events,
    void *arg)
{
	struct explain *x = arg;
	struct known_run *r = run_of(x, key);

	if (r != NULL)
		r->events = *events;
}

/* Adds the runs of one cluster that the spool has, and those that are done. */
static void
spool_runs_add(struct explain *x, const char *cluster, uint64_t job)
{
	struct spool_run *rows = calloc(RUNS_READ, sizeof(*rows));
	struct run_key key = { .job = job };
	int64_t starts[RUNS_READ];
	struct known_run *r;
	int i, n;

	if (rows == NULL)
		return;
	n = spool_job_runs(x->s->spool, cluster, job, rows, RUNS_READ);
	for (i = 0; i < n; i++)
		(void)run_of(x, &rows[i].key);
	free(rows);
	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	n = spool_job_done(x->s->spool, cluster, job, starts, RUNS_READ);
	for (i = 0; i < n; i++) {
		key.start = starts[i];
		if ((r = run_of(x, &key)) != NULL)
			r->done = 1;
	}
}

static int
run_order(const void *a, const void *b)
{
	const struct known_run *x = a, *y = b;
	int rc = strcmp(x->key.cluster, y->key.cluster);

	if (rc != 0)
		return rc;
	return x->key.start < y->key.start ? -1 : x->key.start > y->key.start;
}

static int
item_order(const void *a, const void *b)
{
	const struct history_item *x = a, *y = b;

	if (x->ms != y->ms)
		return x->ms < y->ms ? -1 : 1;
	return (int)x->event - (int)y->event;
}

static void
events_print(struct explain *x, const struct known_run *r)
{
	struct history_item items[ITEMS_MAX], item = { .ms = 0 };
	char text[TEXT_SIZE];
	size_t at = 0, n = 0, i;

	while (
	    n < ITEMS_MAX && history_events_next(&r->events, &at, &item) == 1)
		items[n++] = item;
	if (n > 1)
		qsort(items, n, sizeof(items[0]), item_order);
	for (i = 0; i < n; i++) {
		event_text(&items[i], r->key.start, text, sizeof(text));
		row(x, &r->key, items[i].ms, event_word(items[i].event), text);
	}
}

/* Replaces each occurrence of what in text, unless what is a part of by. */
static void
text_replace(char *text, size_t size, const char *what, const char *by)
{
	char copy[TEXT_SIZE], *found;
	size_t len = what != NULL ? strlen(what) : 0;

	while (len > 0 && strcmp(what, by) != 0 && strstr(by, what) == NULL &&
	    (found = strstr(text, what)) != NULL) {
		snprintf(copy, sizeof(copy), "%s", found + len);
		snprintf(found, size - (size_t)(found - text), "%s%s", by,
		    copy);
	}
}

static int
is_anonymous(const struct explain *x)
{
	return (x->req->flags & CTL_FLAG_ANONYMIZE) != 0;
}

/* Replaces what a user wrote in a text of cc-backend. */
static void
text_anonymize(const struct explain *x, const struct job *job, char *text,
    size_t size)
{
	if (!is_anonymous(x))
		return;
	text_replace(text, size, job->name, "NAME");
	text_replace(text, size, job->user, "USER");
	text_replace(text, size, job->account, "ACCOUNT");
}

static const char *
or_none(const char *s)
{
	return s != NULL && *s != '\0' ? s : "-";
}

static void
job_print(struct explain *x, const struct run_key *key, const struct job *job)
{
	int hide = is_anonymous(x);
	char text[TEXT_SIZE], array[64] = "", het[64] = "";

	if (job->array_job != 0)
		snprintf(array, sizeof(array), ", task %u of array %llu",
		    job->array_task, (unsigned long long)job->array_job);
	if (job->het_job != 0)
		snprintf(het, sizeof(het),
		    ", component %u of heterogeneous job %llu", job->het_offset,
		    (unsigned long long)job->het_job);
	snprintf(text, sizeof(text),
	    "user %.100s, account %.100s, partition %.100s, name %.200s, %u "
	    "node%s%s%s",
	    hide ? "USER" : or_none(job->user),
	    hide ? "ACCOUNT" : or_none(job->account), or_none(job->partition),
	    hide ? "NAME" : or_none(job->name), job->nodes,
	    job->nodes == 1 ? "" : "s", array, het);
	row(x, key, 0, "job", text);
}

/* Nothing is sent at all: why. */
static void
outage_print(struct explain *x, const struct spool_run *run, enum dest dest)
{
	struct submitter *s = x->s;
	char text[TEXT_SIZE];

	if (run->state[dest] == RUN_NONE || run->state[dest] == RUN_DONE ||
	    run->state[dest] == START_REJECTED ||
	    run->state[dest] == STOP_REJECTED ||
	    run->state[dest] == KEPT_REPLACEABLE)
		return;
	if (role_is_passive(s))
		row(x, &run->key, 0, "waits",
		    "this daemon sends nothing now: another daemon is active, or "
		    "the first list of cc-backend's jobs is awaited");
	if (dest == DEST_REST && !breaker_reaches(s->breaker)) {
		snprintf(text, sizeof(text), "cc-backend: %s",
		    breaker_problem(s->breaker));
		row(x, &run->key, 0, "waits", text);
	}
	if (dest == DEST_NATS && s->nats != NULL && !nats_is_up(s->nats))
		row(x, &run->key, 0, "waits",
		    "the NATS server does not answer");
}

static int
is_refused(const struct spool_run *run, enum dest dest)
{
	return run->state[dest] == START_REJECTED ||
	    run->state[dest] == STOP_REJECTED;
}

/* A reason of the run may be that of both destinations: print it once. */
static enum dest
reason_dest(const struct spool_run *run)
{
	int rest_is_done = run->state[DEST_REST] == RUN_NONE ||
	    run->state[DEST_REST] == RUN_DONE;

	return rest_is_done ||
		(is_refused(run, DEST_NATS) && !is_refused(run, DEST_REST) &&
		    run->nats_reason[0] == '\0') ?
	    DEST_NATS :
	    DEST_REST;
}

static void
dest_print(struct explain *x, const struct spool_run *run, enum dest dest,
    const struct job *job)
{
	const char *remedy = state_remedy(run, dest);
	const char *reason = run_reason(run, dest);
	char text[TEXT_SIZE], why[sizeof(run->reason) + 16];

	state_sentence(run, dest, spool_policy(x->s->spool)->whole,
	    spool_now(x->s->spool), text, sizeof(text));
	if (*text == '\0')
		return;
	row(x, &run->key, 0, "now", text);
	outage_print(x, run, dest);
	snprintf(why, sizeof(why), "%s", reason);
	text_anonymize(x, job, why, sizeof(why));
	if (*why != '\0' && (reason != run->reason || dest == reason_dest(run)))
		row(x, &run->key, 0,
		    is_refused(run, dest) ? "refused" : "reason", why);
	if (remedy != NULL)
		row(x, &run->key, 0, "remedy", remedy);
}

/* 1 when the spool has the run. */
static int
spool_print(struct explain *x, const struct run_key *key)
{
	struct spool_run run;
	struct job job;

	if (spool_find(x->s->spool, key, &run) != 1)
		return 0;
	job_init(&job);
	if (!(run.flags & (RUN_QUARANTINED | RUN_FROM_BACKEND)) &&
	    spool_record(x->s->spool, run.id, &job) == 0)
		job_print(x, key, &job);
	dest_print(x, &run, DEST_REST, &job);
	dest_print(x, &run, DEST_NATS, &job);
	if (spool_is_unsent(&run))
		row(x, key, 0, "now",
		    run.flags & RUN_DROPPED ?
			"the run is not sent: an admin has dropped it" :
			"the run is not sent");
	job_clear(&job);
	return 1;
}

static int
has_event(const struct known_run *r, enum history_event event)
{
	struct history_item item = { .ms = 0 };
	size_t at = 0;

	while (history_events_next(&r->events, &at, &item) == 1)
		if (item.event == event)
			return 1;
	return 0;
}

/* The state of a run that the spool does not have any more. */
static const char *
done_text(const struct explain *x, const struct known_run *r)
{
	if (has_event(r, HISTORY_OPTED_OUT))
		return "the run is not sent: the job has the word of "
		       "optOutWord";
	if (has_event(r, HISTORY_NEVER_RAN))
		return "the run is not sent: it never ran";
	if (r->events.len == 0)
		return "the run is done; the history has no events of it";
	if (!has_event(r, HISTORY_STOP_TAKEN) &&
	    !has_event(r, HISTORY_NATS_STOP) &&
	    !has_event(r, HISTORY_LISTED_STOPPED))
		return "the run is done: nothing is left to send";
	return spool_policy(x->s->spool)->whole ?
	    "the run is done: the stream has the record with its end" :
	    "the run is delivered";
}

/* Hooks of no run yet have a cluster when the spool has only one. */
static void
only_cluster_set(struct explain *x)
{
	struct run_key name, second;
	int64_t cursor;
	unsigned i;

	if (spool_cluster(x->s->spool, 0, &name, &cursor) != 1 ||
	    spool_cluster(x->s->spool, 1, &second, &cursor) == 1)
		return;
	for (i = 0; i < x->n; i++)
		if (x->runs[i].key.cluster[0] == '\0')
			memcpy(x->runs[i].key.cluster, name.cluster,
			    sizeof(name.cluster));
}

/* Says what is left out, and the command that prints it. */
static void
rest_print(struct explain *x, uint64_t job, int64_t from)
{
	struct run_key key = { .job = job };
	char text[192];

	if (from == 0)
		snprintf(text, sizeof(text),
		    "the answer is too long: run `cc-slurm-adapterctl explain "
		    "%llu` for this job",
		    (unsigned long long)job);
	else
		snprintf(text, sizeof(text),
		    "the job has more than %d runs: `cc-slurm-adapterctl "
		    "explain %llu --from %lld` prints the later ones",
		    RUNS_MAX, (unsigned long long)job, (long long)from);
	row(x, &key, 0, CTL_EVENT_NOT_SHOWN, text);
}

/* Finds the runs of the job in the history and in the spool. */
static void
runs_find(struct explain *x, uint64_t job)
{
	struct run_key name;
	int64_t cursor;
	unsigned i;

	x->n = 0;
	x->earlier = 0;
	history_job(x->s->history, x->req->text, job, on_history, x,
	    HISTORY_RUNS);
	for (i = 0; spool_cluster(x->s->spool, i, &name, &cursor) == 1; i++)
		if (*x->req->text == '\0' ||
		    strcmp(x->req->text, name.cluster) == 0)
			spool_runs_add(x, name.cluster, job);
	only_cluster_set(x);
	qsort(x->runs, x->n, sizeof(x->runs[0]), run_order);
}

/* The hooks of no run yet are in the list, but are no run. */
static unsigned
runs_count(const struct explain *x)
{
	unsigned i, n = 0;

	for (i = 0; i < x->n; i++)
		n += x->runs[i].key.start != 0;
	return n;
}

/* All runs began before the time of --from: Slurm is not asked about the job. */
static void
earlier_print(struct explain *x, uint64_t job)
{
	struct run_key key = { .job = job };
	char text[160];

	snprintf(text, sizeof(text),
	    "the runs of the job began before the time of --from: run "
	    "`cc-slurm-adapterctl explain %llu`",
	    (unsigned long long)job);
	row(x, &key, 0, CTL_EVENT_NOT_SHOWN, text);
}

static void
job_explain(struct explain *x, uint64_t job)
{
	unsigned i;

	if (x->bytes > ANSWER_BYTES - JOB_BYTES) {
		rest_print(x, job, 0);
		return;
	}
	runs_find(x, job);
	for (i = 0; i < x->n && i < RUNS_MAX; i++) {
		events_print(x, &x->runs[i]);
		if (x->runs[i].key.start != 0 &&
		    !spool_print(x, &x->runs[i].key))
			row(x, &x->runs[i].key, 0, "now",
			    done_text(x, &x->runs[i]));
	}
	if (x->n > RUNS_MAX)
		rest_print(x, job, x->runs[RUNS_MAX].key.start);
	if (x->earlier && runs_count(x) == 0)
		earlier_print(x, job);
}

void
explain_begin(struct submitter *s, uint64_t request,
    const struct ctl_request *req)
{
	struct explain x = { .s = s, .request = request, .req = req };
	uint32_t i;

	x.runs = calloc(RUNS_READ, sizeof(*x.runs));
	if (x.runs == NULL || req->n_ids == 0) {
		worker_ctl_end(s->w, request, CTL_ERROR,
		    x.runs == NULL ? "out of memory" : "job ids are required");
		free(x.runs);
		return;
	}
	for (i = 0; i < req->n_ids; i++)
		job_explain(&x, req->ids[i]);
	free(x.runs);
	worker_ctl_end(s->w, request, CTL_OK, "");
}

/* The state of the last run of the job in this spool. */
static void
last_run_text(const struct explain *x, char *buf, size_t size)
{
	const struct known_run *r = &x->runs[x->n - 1];
	struct spool_run run;

	*buf = '\0';
	if (spool_find(x->s->spool, &r->key, &run) != 1) {
		snprintf(buf, size, "%s", done_text(x, r));
		return;
	}
	state_sentence(&run, DEST_NATS, spool_policy(x->s->spool)->whole,
	    spool_now(x->s->spool), buf, size);
	if (*buf == '\0')
		snprintf(buf, size, "the run is not sent");
}

void
explain_line(struct submitter *s, const char *cluster, uint64_t job, char *text,
    size_t size)
{
	struct ctl_request req = { .n_ids = 1 };
	struct explain x = { .s = s, .req = &req };
	char last[LINE_STATE_MAX], vis[LINE_STATE_MAX];
	unsigned n = 0;

	snprintf(req.text, sizeof(req.text), "%s", cluster);
	x.runs = calloc(RUNS_READ, sizeof(*x.runs));
	if (x.runs != NULL) {
		runs_find(&x, job);
		n = runs_count(&x);
	}
	if (x.runs == NULL)
		snprintf(text, size, "out of memory");
	else if (n == 0)
		snprintf(text, size, "its daemon has no run of this job");
	else {
		last_run_text(&x, last, sizeof(last));
		snprintf(text, size, "%u run%s, the last one started %s: %s", n,
		    n == 1 ? "" : "s", time_text(x.runs[x.n - 1].key.start),
		    text_vis(last, vis, sizeof(vis)));
	}
	free(x.runs);
}

static void
on_counts(enum history_span span, int64_t t,
    const struct history_counts *counts, void *arg)
{
	struct explain *x = arg;
	char when[24], value[24];
	struct writer w;
	unsigned i;

	snprintf(when, sizeof(when), "%lld", (long long)t);
	for (i = 0; i < COUNT__COUNT; i++) {
		if (counts->n[i] == 0)
			continue;
		snprintf(value, sizeof(value), "%llu",
		    (unsigned long long)counts->n[i]);
		wr_init(&w, CTL_REPLY_MAX);
		ctl_row(&w, CTL_T_HISTORY,
		    span == SPAN_MINUTE ? "minute" : "hour", when,
		    counter_name((enum history_counter)i), value, NULL);
		worker_ctl_row(x->s->w, x->request, &w);
		wr_clear(&w);
	}
}

void
counts_begin(struct submitter *s, uint64_t request)
{
	struct explain x = { .s = s, .request = request };

	history_counts_each(s->history, on_counts, &x);
	worker_ctl_end(s->w, request, CTL_OK, "");
}
