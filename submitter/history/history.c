/* SPDX-License-Identifier: MIT */
/*
 * Keeps events in memory and writes them in one transaction every few seconds;
 * assigns hooks to runs; adds up the counters.  See history.h.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/hash.h"
#include "common/log.h"
#include "common/model/msg.h"
#include "common/permanent.h"
#include "submitter/base/timer.h"
#include "submitter/history/file.h"
#include "submitter/history/history.h"
#include "submitter/history/hooks.h"

#define FLUSH_MS 5000 /* the longest time that an event is only in memory */
/* Events of one transaction: about 3 ms of processor time, 30 KiB. */
#define BATCH	  256
#define RUN_ITEMS 64 /* events of one run that are added together */
/* ms until a file that failed is begun anew */
#define ANEW_MS 60000
/* s: a hook at the end of a run is called after its start */
#define HOOK_BEFORE 60
/* ms; a longer latency is that of a backfill or of a clock that was set */
#define LATENCY_MAX (7 * 86400 * INT64_C(1000))

struct pending {
	struct run_key key;
	/* HISTORY_NONE: the start of the run has become a */
	struct history_item item;
	unsigned seq;
};

struct history {
	char path[64];
	struct history_file *file; /* owned; NULL = not open */
	int64_t days;		   /* 0 = off */
	int64_t max_bytes;
	int64_t anew_at; /* epoch ms: no open before */
	struct event *timer;
	int armed; /* the timer runs */
	struct pending pending[BATCH];
	unsigned n;
	struct hook_table hooks;
	struct history_counts minute;
	int64_t minute_at; /* epoch s: begin of the minute */
	int64_t aged_at;   /* epoch s: counters were removed */
	uint64_t lost;
	uint64_t begun_anew;
	char error[160];
	struct log_limit warned;
};

int64_t
history_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static uint64_t
cluster_hash(const char *cluster)
{
	return hash_bytes(HASH_START, cluster, strlen(cluster));
}

/* --- the file --- */

/* The file is not used any more: it is removed and begun anew later. */
static void
file_drop(struct history *h, const char *why)
{
	snprintf(h->error, sizeof(h->error), "%s", why);
	log_limited(&h->warned, log_warnx,
	    "the history %s is removed and begun anew: %s; no run is lost, but "
	    "`explain` does not know earlier runs",
	    h->path, why);
	history_file_close(h->file);
	h->file = NULL;
	history_file_remove(h->path);
	h->begun_anew++;
	h->anew_at = history_now() + ANEW_MS;
}

/* 1 when the file is open. */
static int
file_ready(struct history *h)
{
	char why[160];
	int tries;

	if (h->days == 0)
		return 0;
	for (tries = 0; h->file == NULL && tries < 2; tries++) {
		if (history_now() < h->anew_at)
			return 0;
		h->file = history_file_open(h->path, h->max_bytes, why,
		    sizeof(why));
		if (h->file != NULL)
			break;
		file_drop(h, why);
		if (tries == 0)
			h->anew_at = 0;
	}
	return h->file != NULL;
}

/* The events of a job stay in their order: the start of a run may move. */
static int
pending_order(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;
	int rc;

	if (x->key.job != y->key.job)
		return x->key.job < y->key.job ? -1 : 1;
	if ((rc = strcmp(x->key.cluster, y->key.cluster)) != 0)
		return rc;
	return x->seq < y->seq ? -1 : 1;
}

/* Adds the events of one run, which begin at i; *end: behind the last one. */
static int
run_add(struct history *h, unsigned i, unsigned *end)
{
	const struct pending *p = &h->pending[i];
	struct history_item items[RUN_ITEMS];
	size_t n = 0;
	unsigned k;

	*end = i + 1;
	if (p->item.event == HISTORY_NONE)
		return history_file_move(h->file, &p->key, (int64_t)p->item.a);
	for (k = i; k < h->n && n < RUN_ITEMS &&
	     h->pending[k].item.event != HISTORY_NONE &&
	     run_key_equal(&h->pending[k].key, &p->key);
	     k++)
		items[n++] = h->pending[k].item;
	*end = k;
	return history_file_add(h->file, &p->key, items, n);
}

static int
events_write(struct history *h)
{
	unsigned i, end;

	qsort(h->pending, h->n, sizeof(h->pending[0]), pending_order);
	for (i = 0; i < h->n; i = end)
		if (run_add(h, i, &end) == -1)
			return -1;
	return 0;
}

/* Rows of counters that are older than a day or a month. */
static int
counts_age(struct history *h, int64_t now)
{
	if (now - h->aged_at < 3600)
		return 0;
	h->aged_at = now;
	return history_file_count_age(h->file, SPAN_MINUTE,
		   now - COUNT_MINUTES * 60) == -1 ||
		history_file_count_age(h->file, SPAN_HOUR,
		    now - COUNT_HOURS * 3600) == -1 ?
	    -1 :
	    0;
}

/* The counters since the last write, into their minute and hour. */
static int
counts_write_all(struct history *h)
{
	int64_t at = h->minute_at;

	if (counts_empty(&h->minute))
		return 0;
	if (history_file_count(h->file, SPAN_MINUTE, at, &h->minute) == -1 ||
	    history_file_count(h->file, SPAN_HOUR, at - at % 3600,
		&h->minute) == -1)
		return -1;
	memset(&h->minute, 0, sizeof(h->minute));
	return 0;
}

/* Writes all that is in memory: in one transaction, without a wait. */
static void
flush(struct history *h)
{
	int64_t now = history_now();
	int bad;

	if (!file_ready(h)) {
		h->lost += h->n;
		h->n = 0;
		memset(&h->minute, 0, sizeof(h->minute));
		return;
	}
	/* Old rows first: a lower historyMaxBytes leaves no space for new ones. */
	bad = history_file_begin(h->file) == -1 ||
	    history_file_age(h->file, now - h->days * 86400000) == -1 ||
	    events_write(h) == -1 || counts_write_all(h) == -1 ||
	    counts_age(h, now / 1000) == -1 ||
	    history_file_commit(h->file) == -1;
	if (bad) {
		h->lost += h->n;
		file_drop(h, history_file_error(h->file));
	}
	h->n = 0;
}

static void
on_flush(evutil_socket_t fd, short what, void *arg)
{
	struct history *h = arg;

	h->armed = 0;
	if (h->n > 0 || !counts_empty(&h->minute))
		flush(h);
}

/* There is something to write. */
static void
flush_soon(struct history *h)
{
	if (h->armed)
		return;
	h->armed = 1;
	timer_after(h->timer, FLUSH_MS);
}

/* --- counters --- */

void
history_count(struct history *h, enum history_counter which, uint64_t value)
{
	int64_t now;

	if (h == NULL || h->days == 0 || value == 0)
		return;
	now = (int64_t)time(NULL);
	now -= now % 60;
	if (now != h->minute_at && !counts_empty(&h->minute))
		flush(h);
	h->minute_at = now;
	counts_add(&h->minute, which, value);
	flush_soon(h);
}

static void
latency_count(struct history *h, int64_t since_ms, enum history_counter sum,
    enum history_counter n, enum history_counter max)
{
	int64_t ms = history_now() - since_ms;

	if (since_ms <= 0 || ms < 0 || ms > LATENCY_MAX)
		return;
	history_count(h, n, 1);
	history_count(h, sum, (uint64_t)ms);
	history_count(h, max, (uint64_t)ms);
}

/* A start may be accepted again; the first one counts for the latency. */
static void
start_count(struct history *h, const struct run_key *key)
{
	struct hook_entry *hook = hook_of_run(&h->hooks,
	    cluster_hash(key->cluster), key->job, key->start);

	history_count(h, COUNT_STARTS, 1);
	if (hook == NULL || hook->counted)
		return;
	hook->counted = 1;
	latency_count(h, hook->ms, COUNT_HOOK_MS, COUNT_HOOK_N,
	    COUNT_HOOK_MS_MAX);
}

/* end: of the run, epoch; 0 = not known */
static void
stop_count(struct history *h, uint64_t end)
{
	history_count(h, COUNT_STOPS, 1);
	latency_count(h, (int64_t)end * 1000, COUNT_END_MS, COUNT_END_N,
	    COUNT_END_MS_MAX);
}

/* The counters that an event of a run changes. */
static void
event_count(struct history *h, const struct run_key *key,
    enum history_event event, uint64_t a)
{
	switch (event) {
	case HISTORY_STORED:
	case HISTORY_BACKFILL:
		history_count(h, COUNT_JOBS_IN, 1);
		break;
	case HISTORY_NATS_START:
		if (a != 0)
			start_count(h, key);
		break;
	case HISTORY_START_TAKEN:
		start_count(h, key);
		break;
	case HISTORY_NATS_STOP:
		if (a != 0)
			stop_count(h, a);
		break;
	case HISTORY_STOP_TAKEN:
		stop_count(h, a);
		break;
	case HISTORY_NATS_REJECTED:
		history_count(h, COUNT_REJECTED, a != 0);
		break;
	case HISTORY_REJECTED:
		history_count(h, COUNT_REJECTED, 1);
		break;
	case HISTORY_RETRY:
		history_count(h, COUNT_RETRIES, 1);
		break;
	default:
		break;
	}
}

/* --- events --- */

static void
pending_add(struct history *h, const struct run_key *key,
    const struct history_item *item)
{
	struct pending *p;

	if (h->n == BATCH)
		flush(h);
	p = &h->pending[h->n];
	p->key = *key;
	p->item = *item;
	p->seq = h->n++;
	flush_soon(h);
}

/* The run gets the hooks of its job that were called before. */
static void
hooks_take(struct history *h, const struct run_key *key,
    enum history_event event)
{
	uint64_t cluster = cluster_hash(key->cluster);
	int at_start = event == HISTORY_STORED;
	struct history_item item = { .event = HISTORY_HOOK };
	struct hook_entry *hook;

	if (!at_start && event != HISTORY_ENDED)
		return;
	while ((hook = hook_find(&h->hooks, cluster, key->job, at_start)) !=
	    NULL) {
		hook->start = key->start;
		if (hook->ms < (key->start - HOOK_BEFORE) * 1000)
			continue;
		item.ms = hook->ms;
		item.a = hook->kind;
		pending_add(h, key, &item);
	}
}

void
history_note_at(struct history *h, int64_t ms, const struct run_key *key,
    enum history_event event, uint64_t a, uint64_t b)
{
	struct history_item item = { .ms = ms, .event = event, .a = a, .b = b };

	if (h == NULL || h->days == 0)
		return;
	hooks_take(h, key, event);
	event_count(h, key, event, a);
	pending_add(h, key, &item);
}

void
history_note(struct history *h, const struct run_key *key,
    enum history_event event, uint64_t a, uint64_t b)
{
	if (h != NULL && h->days != 0)
		history_note_at(h, history_now(), key, event, a, b);
}

void
history_moved(struct history *h, const struct run_key *key, int64_t start)
{
	struct history_item item = { .event = HISTORY_NONE,
		.a = (uint64_t)start };
	struct hook_entry *hook;

	if (h == NULL || h->days == 0)
		return;
	hook = hook_of_run(&h->hooks, cluster_hash(key->cluster), key->job,
	    key->start);
	if (hook != NULL)
		hook->start = start;
	pending_add(h, key, &item);
}

void
history_hook(struct history *h, const char *cluster, uint64_t job,
    unsigned kind, int64_t ms)
{
	if (h != NULL && h->days != 0)
		hook_put(&h->hooks, cluster_hash(cluster), job, kind, ms);
}

/* --- questions of an admin --- */

static int
has_hook(const struct history_events *events, unsigned kind)
{
	struct history_item item = { .ms = 0 };
	size_t at = 0;

	while (history_events_next(events, &at, &item) == 1)
		if (item.event == HISTORY_HOOK && item.a == kind)
			return 1;
	return 0;
}

/*
 * The last run of the job that began before the hook: 1, or 0 when there is
 * none, or it has a hook of this kind.
 */
static int
late_hook_run(struct history *h, const struct hook_entry *hook, int max,
    struct run_key *last)
{
	struct history_events events;
	struct run_key key;
	int64_t after = -1;
	int found = 0;

	last->start = 0;
	for (; h->file != NULL && max > 0 &&
	     history_file_next(h->file, "", hook->job, &after, &key, &events) ==
		 1;
	     max--) {
		if (cluster_hash(key.cluster) != hook->cluster ||
		    key.start > hook->ms / 1000 || key.start <= last->start)
			continue;
		*last = key;
		found = !has_hook(&events, hook->kind);
	}
	return found;
}

/*
 * A hook may be called after its run was stored, or has ended: the poll was
 * faster.
 */
static void
late_hooks_take(struct history *h, uint64_t job, int max)
{
	struct history_item item = { .event = HISTORY_HOOK };
	struct hook_entry *hook;
	struct run_key key;
	unsigned at = 0;

	while ((hook = hook_next(&h->hooks, 0, job, &at)) != NULL) {
		if (!late_hook_run(h, hook, max, &key))
			continue;
		hook->start = key.start;
		item.ms = hook->ms;
		item.a = hook->kind;
		pending_add(h, &key, &item);
	}
	flush(h);
}

static void
hooks_tell(struct history *h, const char *cluster, uint64_t job, history_fn *fn,
    void *arg)
{
	struct history_item item = { .event = HISTORY_HOOK };
	struct history_events events = { .len = 0 };
	struct run_key key = { .job = job };
	struct hook_entry *hook;
	unsigned at = 0;

	snprintf(key.cluster, sizeof(key.cluster), "%s", cluster);
	while ((hook = hook_next(&h->hooks,
		    *cluster != '\0' ? cluster_hash(cluster) : 0, job, &at)) !=
	    NULL) {
		item.ms = hook->ms;
		item.a = hook->kind;
		history_events_add(&events, &item);
	}
	if (events.len > 0)
		fn(&key, &events, arg);
}

int
history_job(struct history *h, const char *cluster, uint64_t job,
    history_fn *fn, void *arg, int max)
{
	struct history_events events;
	struct run_key key;
	int64_t after = -1;
	int n = 0, rc = 0;

	if (h == NULL || h->days == 0)
		return 0;
	flush(h);
	late_hooks_take(h, job, max);
	while (h->file != NULL && n < max &&
	    (rc = history_file_next(h->file, cluster, job, &after, &key,
		 &events)) == 1) {
		fn(&key, &events, arg);
		n++;
	}
	if (rc == -1)
		file_drop(h, history_file_error(h->file));
	hooks_tell(h, cluster, job, fn, arg);
	return n;
}

static void
counts_span(struct history *h, enum history_span span, history_count_fn *fn,
    void *arg)
{
	struct history_counts counts;
	int64_t t = -1;
	int rc = 0;

	while (h->file != NULL &&
	    (rc = history_file_count_next(h->file, span, &t, &counts)) == 1)
		fn(span, t, &counts, arg);
	if (rc == -1)
		file_drop(h, history_file_error(h->file));
}

void
history_counts_each(struct history *h, history_count_fn *fn, void *arg)
{
	if (h == NULL || h->days == 0)
		return;
	flush(h);
	counts_span(h, SPAN_MINUTE, fn, arg);
	counts_span(h, SPAN_HOUR, fn, arg);
}

void
history_status(struct history *h, struct history_status *status)
{
	memset(status, 0, sizeof(*status));
	if (h == NULL)
		return;
	status->on = h->days != 0;
	status->lost = h->lost;
	status->begun_anew = h->begun_anew;
	snprintf(status->error, sizeof(status->error), "%s", h->error);
	if (h->file != NULL) {
		status->bytes = history_file_bytes(h->file);
		status->runs = history_file_runs(h->file);
	}
}

/* --- life --- */

void
history_conf(struct history *h, int64_t days, int64_t max_bytes)
{
	if (h == NULL)
		return;
	h->days = days;
	h->max_bytes = max_bytes;
	if (days == 0) {
		history_file_close(h->file);
		h->file = NULL;
		h->n = 0;
		history_file_remove(h->path);
		timer_after(h->timer, -1);
		h->armed = 0;
		return;
	}
	if (h->file != NULL)
		history_file_limit(h->file, max_bytes);
}

void
history_close(struct history *h)
{
	if (h == NULL)
		return;
	if (h->days != 0)
		flush(h);
	history_file_close(h->file);
	h->file = NULL;
}

struct history *
history_new(struct submitter *s, const char *path)
{
	struct history *h = permanent_new(sizeof(*h));

	snprintf(h->path, sizeof(h->path), "%s", path);
	h->timer = timer_new(s, on_flush, h);
	return h;
}
