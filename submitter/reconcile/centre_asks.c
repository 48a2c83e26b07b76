/* SPDX-License-Identifier: MIT */
/*
 * The answers of centre_asks.h.  The centre sends one question at a time about a
 * cluster: a newer question replaces an older one about the same cluster.  The
 * collector has one lookup at a time; lookups of other clusters wait.  They share
 * the time: a cluster whose Slurm does not answer must not delay the others.  A run
 * of which the collector tells nothing in time is in neither part of the answer:
 * that is no evidence.
 *
 * A run that has a row here is never reported as unknown.  This host ends it, with
 * the evidence of its own collector, and publishes the end.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/permanent.h"
#include "common/record/ask_json.h"
#include "common/record/stream_name.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/reconcile/backfill.h"
#include "submitter/reconcile/centre_asks.h"
#include "submitter/spool/spool.h"

/* ms for the collector */
#define ANSWER_MS 45000
/* least ms for the collector while another lookup waits, before LATEST_MS */
#define SHARE_MS 15000
/* ms from a question to its answer; the centre waits 60000 */
#define LATEST_MS 55000
/* ms between two questions: the centre, or who has its login, may ask at will */
#define QUESTION_MS 2000
/* ms between two polls that a question causes */
#define POLL_MS 10000
/* ms between the beginnings of two backfills: each fills the stream */
#define BACKFILL_MS 60000
/* ms between two subscriptions: a later permission of the broker makes none */
#define SUBSCRIBE_MS 3600000
/* questions that wait, one for each cluster; more clusters get an error */
#define HELD_MAX 16
/* of the numbers of lookups: those of the reconciliation count from 1 */
#define LOOKUP_BIT (UINT64_C(1) << 63)

enum asked {
	ASKED_WAITS,
	ASKED_KNOWN,  /* the collector has sent its record */
	ASKED_UNKNOWN /* the collector has evidence */
};

/* A question and where its answer goes. */
struct question {
	struct ask ask;
	char cluster[CLUSTER_MAX];
	char reply[STREAM_NAME_MAX];
	int64_t arrived; /* spool_now() */
};

struct centre_asks {
	struct submitter *s;
	centre_explain_fn *explain;
	struct event *timer;
	struct event *subscribe;
	struct question q;		/* a lookup */
	enum asked runs[ASK_RUNS_MAX];	/* of q */
	unsigned waiting;		/* of them ASKED_WAITS */
	int under_way;			/* q waits for the collector */
	int64_t looked;			/* spool_now() of its beginning */
	struct question held[HELD_MAX]; /* not begun, the oldest first */
	unsigned n_held;
	int64_t began;	/* spool_now() of the last question; 0 = none */
	int64_t polled; /* spool_now(); 0 = never */
	int poll_due;	/* q needs a poll that waits for POLL_MS */
	/* spool_now() of the last backfill of the centre; 0 = none */
	int64_t filled;
	uint64_t lookup;
	/* for status */
	uint64_t n_questions, n_known, n_unknown;
};

/* Sends the answer; without a connection there is none. */
static void
answer_send(struct centre_asks *a, const struct question *q,
    const struct ask_answer *answer)
{
	struct writer w;

	wr_init(&w, ASK_BYTES_MAX);
	ask_answer_write(&w, answer);
	if (wr_end(&w) == 0 && a->s->nats != NULL)
		(void)nats_answer(a->s->nats, q->reply, w.buf, w.len);
	wr_clear(&w);
}

static void
answer_init(struct ask_answer *answer, const struct question *q)
{
	memset(answer, 0, sizeof(*answer));
	memcpy(answer->nonce, q->ask.nonce, sizeof(answer->nonce));
	memcpy(answer->cluster, q->cluster, sizeof(answer->cluster));
	answer->asked = q->ask.n;
}

static void
answer_error(struct centre_asks *a, const struct question *q, const char *why)
{
	struct ask_answer answer;

	answer_init(&answer, q);
	snprintf(answer.error, sizeof(answer.error), "%s", why);
	answer_send(a, q, &answer);
}

static void
key_of(const struct question *q, unsigned i, struct run_key *key)
{
	memset(key, 0, sizeof(*key));
	memcpy(key->cluster, q->cluster, sizeof(key->cluster));
	key->job = q->ask.runs[i].job;
	key->start = q->ask.runs[i].start;
}

static void
question_end(struct centre_asks *a)
{
	struct ask_answer answer;
	struct spool_run run;
	struct run_key key;
	unsigned i;

	answer_init(&answer, &a->q);
	for (i = 0; i < a->q.ask.n; i++) {
		key_of(&a->q, i, &key);
		if (a->runs[i] == ASKED_UNKNOWN &&
		    spool_find(a->s->spool, &key, &run) == 0)
			answer.not_found[answer.n++] = a->q.ask.runs[i];
	}
	a->n_unknown += answer.n;
	a->under_way = 0;
	answer_send(a, &a->q, &answer);
}

/* ms until a question may cause the next poll */
static int64_t
poll_wait(const struct centre_asks *a)
{
	int64_t past = spool_now(a->s->spool) - a->polled;

	return a->polled == 0 || past >= POLL_MS ? 0 : POLL_MS - past;
}

/* Without it, the next poll of the collector may come after the end of q. */
static void
poll_send(struct centre_asks *a)
{
	struct channel *c = submitter_feeder(a->s);

	a->poll_due = 0;
	if (c == NULL)
		return;
	a->polled = spool_now(a->s->spool);
	channel_send(c, MSG_POLL_NOW, 0, NULL, -1);
}

static void
lookup_send(struct centre_asks *a, struct channel *c)
{
	struct run_key key;
	struct writer w;
	unsigned i;

	wr_init(&w, ASK_RUNS_MAX * (CLUSTER_MAX + 32) + 256);
	wr_str(&w, a->q.cluster);
	wr_u64(&w, LOOKUP_BIT | ++a->lookup);
	wr_u32(&w, a->q.ask.n);
	for (i = 0; i < a->q.ask.n; i++) {
		key_of(&a->q, i, &key);
		wr_run_key(&w, &key);
	}
	channel_send(c, MSG_LOOKUP, 0, &w, -1);
	wr_clear(&w);
	a->poll_due = 1;
	if (poll_wait(a) == 0)
		poll_send(a);
}

static void
lookup_begin(struct centre_asks *a, const struct question *q, struct channel *c)
{
	a->q = *q;
	memset(a->runs, 0, sizeof(a->runs));
	a->waiting = q->ask.n;
	a->under_way = 1;
	a->looked = spool_now(a->s->spool);
	lookup_send(a, c);
}

/* NULL, or why there is no backfill; one at a time, of whomever. */
static const char *
backfill_begin(struct centre_asks *a, const struct question *q)
{
	int64_t now = spool_now(a->s->spool);
	const char *wrong;

	if (a->filled != 0 && now - a->filled < BACKFILL_MS)
		return "a backfill of the centre began less than a minute ago";
	wrong = backfill_order(a->s->backfill, q->cluster, q->ask.from,
	    q->ask.to);
	if (wrong != NULL)
		return wrong;
	a->filled = now;
	log_notice("the centre has requested this backfill of %s", q->cluster);
	return NULL;
}

/* An order or question of an admin at the centre. */
static void
admin_answer(struct centre_asks *a, const struct question *q)
{
	struct ask_answer answer;
	const char *wrong = NULL;

	answer_init(&answer, q);
	if (q->ask.kind == ASK_BACKFILL)
		wrong = backfill_begin(a, q);
	else if (q->ask.kind == ASK_BACKFILL_CANCEL)
		wrong = backfill_cancel(a->s->backfill, q->cluster, answer.text,
		    sizeof(answer.text));
	else if (q->ask.kind == ASK_EXPLAIN)
		a->explain(a->s, q->cluster, q->ask.job, answer.text,
		    sizeof(answer.text));
	if (wrong != NULL)
		snprintf(answer.error, sizeof(answer.error), "%s", wrong);
	if (q->ask.kind == ASK_BACKFILL || q->ask.kind == ASK_BACKFILL_STATUS)
		backfill_progress(a->s->backfill, answer.text,
		    sizeof(answer.text));
	answer_send(a, q, &answer);
}

/* The progress of a backfill, and what is known of a job, are in this process. */
static int
needs_collector(enum ask_kind kind)
{
	return kind == ASK_LOOKUP || kind == ASK_BACKFILL;
}

/* Removes the question number i of those that wait, and begins it. */
static void
question_begin(struct centre_asks *a, unsigned i)
{
	struct channel *c = submitter_feeder(a->s);
	struct question q = a->held[i];

	memmove(&a->held[i], &a->held[i + 1],
	    (--a->n_held - i) * sizeof(a->held[0]));
	a->began = spool_now(a->s->spool);
	a->n_questions++;
	if (c == NULL && needs_collector(q.ask.kind))
		answer_error(a, &q, "its collector is not running");
	else if (role_is_passive(a->s))
		answer_error(a, &q, "its daemon is the standby");
	else if (q.ask.kind != ASK_LOOKUP)
		admin_answer(a, &q);
	else
		lookup_begin(a, &q, c);
}

/* The oldest question that may begin, or n_held: a second lookup waits. */
static unsigned
held_next(const struct centre_asks *a)
{
	unsigned i;

	for (i = 0; i < a->n_held; i++)
		if (!a->under_way || a->held[i].ask.kind != ASK_LOOKUP)
			break;
	return i;
}

/* ms until the next question may begin */
static int64_t
held_wait(const struct centre_asks *a)
{
	int64_t past = spool_now(a->s->spool) - a->began;

	return a->began == 0 || past >= QUESTION_MS ? 0 : QUESTION_MS - past;
}

/* ms that the collector gets for the lookup */
static int64_t
lookup_share(const struct centre_asks *a)
{
	int64_t share;
	unsigned i, n = 1;

	for (i = 0; i < a->n_held; i++)
		n += a->held[i].ask.kind == ASK_LOOKUP;
	share = ANSWER_MS / n;
	return share < SHARE_MS ? SHARE_MS : share;
}

/* ms until the lookup ends */
static int64_t
lookup_wait(const struct centre_asks *a)
{
	int64_t until = a->looked + lookup_share(a), left;

	if (until > a->q.arrived + LATEST_MS)
		until = a->q.arrived + LATEST_MS;
	left = until - spool_now(a->s->spool);
	return a->waiting == 0 || left < 0 ? 0 : left;
}

/* Sets the timer for the end of the lookup or for the next question. */
static void
timer_next(struct centre_asks *a)
{
	int64_t ms = -1;

	if (a->under_way)
		ms = lookup_wait(a);
	if (a->under_way && a->poll_due && poll_wait(a) < ms)
		ms = poll_wait(a);
	if (held_next(a) < a->n_held && (ms == -1 || held_wait(a) < ms))
		ms = held_wait(a);
	timer_after(a->timer, ms);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct centre_asks *a = arg;
	unsigned i;

	if (a->under_way && lookup_wait(a) == 0)
		question_end(a);
	if (a->under_way && a->poll_due && poll_wait(a) == 0)
		poll_send(a);
	i = held_next(a);
	if (i < a->n_held && held_wait(a) == 0)
		question_begin(a, i);
	timer_next(a);
}

static void
on_subscribe(evutil_socket_t fd, short what, void *arg)
{
	struct centre_asks *a = arg;

	if (a->s->nats != NULL)
		nats_asks_again(a->s->nats);
	timer_after(a->subscribe, SUBSCRIBE_MS);
}

/* The cluster that the subject names; 0, or -1 when it is none of ours. */
static int
cluster_of(const struct submitter *s, const char *subject,
    char name[CLUSTER_MAX])
{
	char own[STREAM_NAME_MAX];
	unsigned i;

	for (i = 0; i < s->clusters.n; i++)
		if (stream_name(SUBJECT_OF_ASKS, s->clusters.names[i], own,
			sizeof(own)) == 0 &&
		    strcmp(own, subject) == 0) {
			snprintf(name, CLUSTER_MAX, "%s", s->clusters.names[i]);
			return 0;
		}
	return -1;
}

/* Keeps the question until it begins. */
static void
question_hold(struct centre_asks *a, const struct question *q)
{
	unsigned i;

	if (a->under_way && strcmp(a->q.cluster, q->cluster) == 0)
		a->under_way = 0;
	for (i = 0; i < a->n_held; i++)
		if (strcmp(a->held[i].cluster, q->cluster) == 0)
			break;
	if (i == HELD_MAX) {
		answer_error(a, q, "its daemon has too many questions");
		return;
	}
	a->held[i] = *q;
	if (i == a->n_held)
		a->n_held++;
	timer_next(a);
}

void
centre_asks_question(struct centre_asks *a, const struct nats_ask *ask)
{
	struct question q;
	char why[ASK_TEXT_MAX];

	if (strlen(ask->reply) >= sizeof(q.reply) ||
	    cluster_of(a->s, ask->subject, q.cluster) == -1)
		return;
	memcpy(q.reply, ask->reply, strlen(ask->reply) + 1);
	q.arrived = spool_now(a->s->spool);
	if (ask_read(&q.ask, ask->data, ask->len, why, sizeof(why)) == 0)
		question_hold(a, &q);
	else if (*q.ask.nonce != '\0') {
		q.ask.n = 0;
		answer_error(a, &q, why);
	}
}

/* The run in the question, or its number of runs. */
static unsigned
run_of(const struct centre_asks *a, const struct run_key *key)
{
	unsigned i;

	if (!a->under_way || strcmp(key->cluster, a->q.cluster) != 0)
		return a->q.ask.n;
	for (i = 0; i < a->q.ask.n; i++)
		if (a->q.ask.runs[i].job == key->job &&
		    a->q.ask.runs[i].start == key->start)
			break;
	return i;
}

static void
answered(struct centre_asks *a, unsigned i, enum asked how)
{
	if (a->runs[i] == ASKED_WAITS)
		a->waiting--;
	a->runs[i] = how;
	timer_next(a);
}

/* May the centre have this record? */
static int
is_published(const struct job *job)
{
	return !(job->flags & (JOB_OPTED_OUT | JOB_PARTIAL | JOB_DRY_RUN)) &&
	    (job->end != 0 || !(job->flags & JOB_UNCONFIRMED)) &&
	    !(job->state == END_REQUEUED && (job->flags & JOB_NEVER_RAN));
}

/*
 * Publishes the run as it is stored, or the record of a run that is done here.
 * The centre must get a run that Slurm shows, although nothing of it is new.
 */
static void
publish(struct centre_asks *a, struct job *job, int64_t id)
{
	struct spool_run run;
	struct job stored;

	if (id == 0) {
		job->revision = (uint64_t)time(NULL) * 1000;
		nats_delivery_again(a->s->nats_delivery, job);
		return;
	}
	job_init(&stored);
	if (spool_get(a->s->spool, id, &run) == 1 &&
	    spool_record(a->s->spool, id, &stored) == 0) {
		stored.key = run.key;
		if (stored.end == 0)
			stored.flags |= job->flags & JOB_LIVE;
		if (is_published(&stored))
			nats_delivery_again(a->s->nats_delivery, &stored);
	}
	job_clear(&stored);
}

void
centre_asks_record(struct centre_asks *a, const struct run_key *key,
    struct job *job, int64_t id)
{
	unsigned i = run_of(a, key);

	if (!a->under_way || i == a->q.ask.n || a->runs[i] == ASKED_KNOWN)
		return;
	if (is_published(job)) {
		a->n_known++;
		publish(a, job, id);
	}
	answered(a, i, ASKED_KNOWN);
}

void
centre_asks_not_found(struct centre_asks *a, const struct run_key *key)
{
	unsigned i = run_of(a, key);

	if (a->under_way && i < a->q.ask.n && a->runs[i] == ASKED_WAITS)
		answered(a, i, ASKED_UNKNOWN);
}

void
centre_asks_status(const struct centre_asks *a, uint64_t request)
{
	if (a->n_questions > 0)
		worker_status(a->s->w, request, "questions",
		    "%llu of the centre; %llu runs published again, %llu "
		    "unknown to Slurm",
		    (unsigned long long)a->n_questions,
		    (unsigned long long)a->n_known,
		    (unsigned long long)a->n_unknown);
}

void
centre_asks_explain(struct centre_asks *a, centre_explain_fn *fn)
{
	a->explain = fn;
}

struct centre_asks *
centre_asks_new(struct submitter *s)
{
	struct centre_asks *a = permanent_new(sizeof(*a));

	a->s = s;
	a->timer = timer_new(s, on_timer, a);
	a->subscribe = timer_new(s, on_subscribe, a);
	timer_after(a->subscribe, SUBSCRIBE_MS);
	return a;
}
