/* SPDX-License-Identifier: MIT */
/*
 * The questions of asks.h.  The reply subject has the numbers of the cluster
 * and of the question, and the question has a random nonce.  So an answer is
 * accepted once, from the cluster that was asked, and only about the runs of
 * the question.
 */
#include "config.h"

#include <sys/random.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/model/conf.h"
#include "common/permanent.h"
#include "common/record/stream_name.h"
#include "receiver/asks/asks.h"

/* ms; above the time in which a cluster answers: it may ask slurmdbd */
#define ANSWER_MS 60000
#define ORDER_MS  30000 /* a cluster answers an order at once */
/* ms between two questions to one cluster; a cluster answers one in 2 s */
#define PAUSE_MS   3000
#define ASKERS_MAX 256 /* clusters of a centre */
/*
 * A list up to this length is searched.  For a longer one a bit notes each run;
 * with 8 bits for each run, few runs share one.
 */
#define SEARCHED_MAX 1024
#define NOTED_BITS   (8 * ASKS_RUNS_MAX)
#define TAIL_PREFIX  "ask."
#define NO_RESPONDER 503 /* status of the broker */

/* Texts for the admin, with the name of the cluster and a reason. */
#define ORDER_TEXT_MAX (2 * CLUSTER_MAX + ASK_LINE_MAX + 128)

static const char not_up[] =
    "NATS has no connection, or this centre is the standby";

/* One cluster. */
struct asker {
	struct asks *a;
	char cluster[CLUSTER_MAX];
	char subject[STREAM_NAME_MAX];
	unsigned index;	      /* of the reply subjects */
	unsigned serial;      /* of the last question */
	struct ask_run *runs; /* owned; the first ones are under way */
	size_t n, cap;
	/*
	 * Owned, NULL for a short list: a run whose bit is not set is not in
	 * the list.
	 */
	uint8_t *noted;
	unsigned under_way; /* 0 = no lookup */
	struct asks_order order;
	int has_order;
	int order_sent; /* it is under way */
	char nonce[ASK_NONCE_MAX];
	struct event *timer; /* of the question, or of the pause behind it */
};

struct asks {
	struct event_base *base;
	struct link *link;
	const struct asks_ops *ops;
	void *arg;
	struct asker *list[ASKERS_MAX];
	unsigned n;
	unsigned next_index;
	int up;
	struct asks_status st;
	struct log_limit silent;
	struct log_limit wrong;
};

static void
timer_set(struct asker *q, int ms)
{
	struct timeval tv = clock_timeval(ms);

	evtimer_add(q->timer, &tv);
}

static void
nonce_make(char nonce[ASK_NONCE_MAX])
{
	unsigned char bytes[(ASK_NONCE_MAX - 1) / 2];
	size_t i;

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		fatal("no random numbers");
	for (i = 0; i < sizeof(bytes); i++)
		snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
}

/*
 * Makes the next question: the order before the lookups, because an admin waits
 * for the order.
 */
static void
ask_make(struct asker *q, struct ask *ask)
{
	memset(ask, 0, sizeof(*ask));
	nonce_make(q->nonce);
	memcpy(ask->nonce, q->nonce, sizeof(ask->nonce));
	if (q->has_order) {
		ask->kind = q->order.kind;
		ask->from = q->order.from;
		ask->to = q->order.to;
		ask->job = q->order.job;
		return;
	}
	ask->kind = ASK_LOOKUP;
	ask->n = q->n < ASK_RUNS_MAX ? (unsigned)q->n : ASK_RUNS_MAX;
	memcpy(ask->runs, q->runs, ask->n * sizeof(*ask->runs));
}

/* Tells the admin. */
static void __attribute__((format(printf, 3, 4)))
order_end(struct asker *q, int ok, const char *fmt, ...)
{
	char text[ORDER_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	q->has_order = q->order_sent = 0;
	q->a->ops->ordered(&q->order, ok, text, q->a->arg);
}

/* The order may have reached the cluster, or not. */
static void
order_lost(struct asker *q, const char *why)
{
	if (q->order.kind == ASK_BACKFILL && q->order_sent)
		order_end(q, 0,
		    "cluster %s: %s; if the backfill has begun, `backfill "
		    "--status --cluster %s` shows the progress",
		    q->cluster, why, q->cluster);
	else if (q->order.kind == ASK_BACKFILL_CANCEL && q->order_sent)
		order_end(q, 0,
		    "cluster %s: %s; `backfill --status --cluster %s` shows "
		    "whether the backfill was cancelled",
		    q->cluster, why, q->cluster);
	else
		order_end(q, 0, "cluster %s: %s", q->cluster, why);
}

/* Sends the next question when there is one and none is under way. */
static void
ask_next(struct asker *q)
{
	struct ask ask;
	struct writer w;
	char tail[32];
	int rc;

	if (!q->a->up || (q->n == 0 && !q->has_order) || q->under_way != 0 ||
	    q->order_sent || evtimer_pending(q->timer, NULL))
		return;
	ask_make(q, &ask);
	snprintf(tail, sizeof(tail), TAIL_PREFIX "%u.%u", q->index,
	    ++q->serial);
	wr_init(&w, ASK_BYTES_MAX);
	ask_write(&w, &ask);
	rc = wr_end(&w);
	if (rc == 0)
		rc = link_publish(q->a->link, q->subject, tail, w.buf, w.len);
	wr_clear(&w);
	if (rc == -1) {
		/* asks_link() asks again about runs */
		if (q->has_order)
			order_lost(q, "the request cannot be sent");
		return;
	}
	q->under_way = ask.n;
	q->order_sent = q->has_order;
	q->a->st.asked++;
	timer_set(q, q->order_sent ? ORDER_MS : ANSWER_MS);
}

/* The question is over: its runs are removed; an order has none. */
static void
question_end(struct asker *q)
{
	if (q->under_way != 0) {
		q->n -= q->under_way;
		memmove(q->runs, q->runs + q->under_way,
		    q->n * sizeof(*q->runs));
		q->under_way = 0;
	}
	timer_set(q, PAUSE_MS);
}

static void
trouble_note(struct asker *q, const char *why)
{
	struct asks_status *st = &q->a->st;

	snprintf(st->trouble, sizeof(st->trouble), "cluster %s: %s", q->cluster,
	    why);
}

/*
 * The cluster is away or cannot answer.  All its lookups are dropped: the
 * submitter sends them again with its next comparison.
 */
static void
unanswered(struct asker *q, const char *why)
{
	trouble_note(q, why);
	if (q->order_sent) {
		order_end(q, 0, "cluster %s does not answer: %s", q->cluster,
		    why);
		question_end(q);
		return;
	}
	log_limited(&q->a->silent, log_warnx,
	    "cluster %s does not answer which of %zu runs Slurm knows: %s; the "
	    "runs stay open, and the cluster is asked again",
	    q->cluster, q->n, why);
	q->under_way = (unsigned)q->n;
	question_end(q);
}

/* Refuses an answer that no cluster of this version sends. */
static void
refused(struct asker *q, const char *why)
{
	q->a->st.refused++;
	trouble_note(q, why);
	log_limited(&q->a->wrong, log_errorx,
	    "an answer of cluster %s about its runs is refused: %s; check its "
	    "version, and who has its NATS credentials",
	    q->cluster, why);
	if (q->order_sent)
		order_lost(q, "its answer is not valid");
	question_end(q);
}

/* Is each run one of the question, and none twice? */
static int
runs_fit(const struct asker *q, const struct ask_answer *answer)
{
	unsigned char seen[ASK_RUNS_MAX] = { 0 };
	unsigned i, k;

	for (i = 0; i < answer->n; i++) {
		for (k = 0; k < q->under_way; k++)
			if (q->runs[k].job == answer->not_found[i].job &&
			    q->runs[k].start == answer->not_found[i].start)
				break;
		if (k == q->under_way || seen[k])
			return 0;
		seen[k] = 1;
	}
	return 1;
}

static const char *
misfit(const struct asker *q, const struct ask_answer *answer)
{
	if (strcmp(answer->nonce, q->nonce) != 0)
		return "it is of another question";
	if (strcmp(answer->cluster, q->cluster) != 0)
		return "it names another cluster";
	if (*answer->error == '\0' && answer->asked != q->under_way)
		return "it has another number of runs";
	return runs_fit(q, answer) ? NULL : "it has other runs";
}

static void
order_answered(struct asker *q, const struct ask_answer *answer)
{
	q->a->st.answered++;
	if (*answer->error != '\0')
		order_end(q, 0, "cluster %s refuses: %s", q->cluster,
		    answer->error);
	else if (q->order.kind == ASK_BACKFILL)
		order_end(q, 1,
		    "cluster %s has begun; `backfill --status --cluster %s` "
		    "shows the progress",
		    q->cluster, q->cluster);
	else
		order_end(q, 1, "cluster %s: %s", q->cluster, answer->text);
	question_end(q);
}

static void
answer_use(struct asker *q, const struct ask_answer *answer)
{
	struct asks *a = q->a;

	/*
	 * A message that was not read may have a record of such a run.  The
	 * submitter asks again.
	 */
	if (answer->n > 0 && !a->ops->is_current(q->cluster, a->arg)) {
		trouble_note(q, "its stream has messages that are not read");
		question_end(q);
		return;
	}
	a->st.answered++;
	a->st.unknown += answer->n;
	if (answer->n > 0)
		a->ops->not_found(q->cluster, answer->not_found, answer->n,
		    a->arg);
	question_end(q);
}

static void
answer_read(struct asker *q, const struct link_message *m)
{
	struct ask_answer answer = { .n = 0 };
	char why[ASK_TEXT_MAX];
	const char *wrong;

	if (m->status != 0) {
		unanswered(q,
		    m->status == NO_RESPONDER ?
			"it is not connected, or its broker does not permit it" :
			"the broker refuses the question");
		return;
	}
	if (ask_answer_read(&answer, (const char *)m->data, m->len, why,
		sizeof(why)) == -1) {
		refused(q, why);
		return;
	}
	wrong = misfit(q, &answer);
	if (wrong != NULL)
		refused(q, wrong);
	else if (q->order_sent)
		order_answered(q, &answer);
	else if (*answer.error != '\0')
		unanswered(q, answer.error);
	else
		answer_use(q, &answer);
}

static struct asker *
by_index(const struct asks *a, unsigned index)
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (a->list[i]->index == index)
			return a->list[i];
	return NULL;
}

int
asks_receive(struct asks *a, const struct link_message *m)
{
	unsigned index, serial;
	struct asker *q;

	if (m->tail == NULL ||
	    strncmp(m->tail, TAIL_PREFIX, sizeof(TAIL_PREFIX) - 1) != 0)
		return 0;
	if (sscanf(m->tail, TAIL_PREFIX "%u.%u", &index, &serial) != 2)
		return 1;
	q = by_index(a, index);
	/* An answer with another number is late or was sent twice. */
	if (q != NULL && q->serial == serial &&
	    (q->under_way != 0 || q->order_sent))
		answer_read(q, m);
	return 1;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct asker *q = arg;

	(void)fd;
	(void)what;
	if (q->order_sent) {
		trouble_note(q, "no answer in time");
		order_lost(q, "no answer in time");
		question_end(q);
	} else if (q->under_way != 0)
		unanswered(q, "no answer in time");
	else
		ask_next(q);
}

static struct asker *
by_name(const struct asks *a, const char *cluster)
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (strcmp(a->list[i]->cluster, cluster) == 0)
			return a->list[i];
	return NULL;
}

static void
asker_new(struct asks *a, const char *cluster)
{
	struct asker *q;

	if (a->n == ASKERS_MAX || by_name(a, cluster) != NULL)
		return;
	q = calloc(1, sizeof(*q));
	if (q == NULL)
		fatalx("out of memory");
	q->a = a;
	q->index = a->next_index++;
	snprintf(q->cluster, sizeof(q->cluster), "%.*s", CLUSTER_MAX - 1,
	    cluster);
	if (stream_name(SUBJECT_OF_ASKS, cluster, q->subject,
		sizeof(q->subject)) == -1)
		fatalx("cluster name %s is too long", cluster);
	q->timer = evtimer_new(a->base, on_timer, q);
	if (q->timer == NULL)
		fatalx("out of memory");
	a->list[a->n++] = q;
}

static void
asker_free(struct asker *q)
{
	if (q->has_order)
		order_lost(q, "it was removed from clusters");
	event_free(q->timer);
	free(q->noted);
	free(q->runs);
	free(q);
}

static int
is_listed(const char *clusters, const char *cluster)
{
	char name[CLUSTER_MAX];
	unsigned i;

	for (i = 0; conf_list_item(clusters, i, name, sizeof(name)) == 1; i++)
		if (strcmp(name, cluster) == 0)
			return 1;
	return 0;
}

void
asks_conf(struct asks *a, const char *clusters)
{
	char name[CLUSTER_MAX];
	unsigned i, kept = 0;

	for (i = 0; i < a->n; i++) {
		if (is_listed(clusters, a->list[i]->cluster))
			a->list[kept++] = a->list[i];
		else
			asker_free(a->list[i]);
	}
	a->n = kept;
	for (i = 0; conf_list_item(clusters, i, name, sizeof(name)) == 1; i++)
		asker_new(a, name);
}

/* An answer never arrives on a later connection than its question. */
void
asks_link(struct asks *a, int up)
{
	unsigned i;

	a->up = up;
	for (i = 0; i < a->n; i++) {
		a->list[i]->under_way = 0;
		evtimer_del(a->list[i]->timer);
		if (a->list[i]->has_order)
			order_lost(a->list[i], not_up);
		ask_next(a->list[i]);
	}
}

void
asks_reset(struct asks *a)
{
	unsigned i;

	for (i = 0; i < a->n; i++) {
		a->list[i]->n = a->list[i]->under_way = 0;
		if (a->list[i]->order_sent)
			continue;
		evtimer_del(a->list[i]->timer);
		ask_next(a->list[i]);
	}
}

/* Sets the bit of the run; returns whether it was set. */
static int
run_note(struct asker *q, const struct ask_run *run)
{
	uint64_t h = hash_bytes(HASH_START, &run->job, sizeof(run->job));
	uint8_t *byte, bit;
	int was;

	h = hash_bytes(h, &run->start, sizeof(run->start)) % NOTED_BITS;
	byte = &q->noted[h / 8];
	bit = (uint8_t)(1u << (h % 8));
	was = (*byte & bit) != 0;
	*byte |= bit;
	return was;
}

static int
has_run(const struct asker *q, const struct ask_run *run)
{
	size_t i;

	for (i = 0; i < q->n; i++)
		if (q->runs[i].job == run->job &&
		    q->runs[i].start == run->start)
			return 1;
	return 0;
}

static void
notes_free(struct asker *q)
{
	free(q->noted);
	q->noted = NULL;
}

/* Notes the runs of a list that has become long: 0, or -1 = out of memory. */
static int
runs_note(struct asker *q)
{
	size_t i;

	q->noted = calloc(1, NOTED_BITS / 8);
	for (i = 0; q->noted != NULL && i < q->n; i++)
		(void)run_note(q, &q->runs[i]);
	return q->noted != NULL ? 0 : -1;
}

static void
run_add(struct asker *q, const struct run_key *key)
{
	struct ask_run *runs, run = { key->job, key->start };

	if (q->n == ASKS_RUNS_MAX)
		return;
	if (q->n == 0)
		notes_free(q);
	/* Out of memory: the submitter asks again. */
	if (q->n >= SEARCHED_MAX && q->noted == NULL && runs_note(q) == -1)
		return;
	if ((q->noted == NULL || run_note(q, &run)) && has_run(q, &run))
		return;
	runs = array_reserve(q->runs, &q->cap, q->n + 1, sizeof(*runs));
	if (runs == NULL)
		return;
	q->runs = runs;
	q->runs[q->n++] = run;
}

int
asks_lookup(struct asks *a, struct reader *r)
{
	char cluster[CLUSTER_MAX];
	struct run_key key;
	struct asker *q;
	uint32_t i, n;

	rd_name(r, cluster, sizeof(cluster));
	rd_u64(r); /* the number of the lookup: the answers name the runs */
	n = rd_u32(r);
	q = by_name(a, cluster);
	for (i = 0; i < n && !r->err; i++) {
		rd_run_key(r, &key);
		if (!r->err && q != NULL && strcmp(key.cluster, cluster) == 0 &&
		    key.job != 0 && key.start > 0)
			run_add(q, &key);
	}
	if (rd_end(r) == -1)
		return -1;
	if (q != NULL)
		ask_next(q);
	return 0;
}

const char *
asks_order(struct asks *a, const struct asks_order *order)
{
	const char *cluster = order->cluster;
	struct asker *q;

	q = *cluster == '\0' && a->n == 1 ? a->list[0] : by_name(a, cluster);
	if (q == NULL)
		return *cluster == '\0' ?
		    "there are several clusters: use --cluster" :
		    "unknown cluster";
	if (!a->up)
		return not_up;
	if (q->has_order)
		return "another command for this cluster waits for its answer";
	q->order = *order;
	memcpy(q->order.cluster, q->cluster, sizeof(q->order.cluster));
	q->has_order = 1;
	ask_next(q);
	return NULL;
}

void
asks_status(const struct asks *a, struct asks_status *to)
{
	*to = a->st;
}

struct asks *
asks_new(struct event_base *base, struct link *link, const struct asks_ops *ops,
    void *arg)
{
	struct asks *a = permanent_new(sizeof(*a));

	a->base = base;
	a->link = link;
	a->ops = ops;
	a->arg = arg;
	return a;
}
