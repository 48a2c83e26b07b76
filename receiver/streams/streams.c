/* SPDX-License-Identifier: MIT */
/*
 * The list of streams and the calls from outside.  A lost connection or a lost
 * submitter halts all streams; when both are there, each stream begins with
 * its position.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/model/conf.h"
#include "common/permanent.h"
#include "common/record/stream_name.h"
#include "receiver/streams/streams_private.h"

#define ON_HOLD \
	"its runs fill its share of the spool, its messages wait in the " \
	"stream: see `cc-slurm-adapterctl queue`, or raise spoolMaxBytes"
#define NEWER_WAIT \
	"messages of a newer version wait, the others wait behind them: " \
	"upgrade the centre"

void
stream_timer(struct stream *st, int ms)
{
	struct timeval tv = clock_timeval(ms);

	evtimer_add(st->timer, &tv);
}

const char *
stream_token(struct stream *st)
{
	static char token[32];

	snprintf(token, sizeof(token), "%s%u.%u",
	    st->t->kind == STREAM_OF_STATES ? STATES_TOKEN : "", st->index,
	    ++st->serial);
	return token;
}

uint64_t
stream_read_up_to(const struct stream *st)
{
	return st->window.taken > st->again ? st->window.taken : st->again;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct stream *st = arg;

	if (st->step == STEP_READ) {
		fetch_timeout(st);
		fetch_all(st->t);
	} else if (st->step == STEP_WAIT) {
		st->step = STEP_IDLE;
		stream_start(st);
	} else if (st->step != STEP_IDLE)
		stream_no_answer(st);
}

static int
by_cluster(const void *a, const void *b)
{
	const struct stream *const *x = a, *const *y = b;

	return strcmp((*x)->cluster, (*y)->cluster);
}

static struct stream *
by_name(const struct streams *t, const char *cluster)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		if (strcmp(t->list[i]->cluster, cluster) == 0)
			return t->list[i];
	return NULL;
}

static struct stream *
by_stream(const struct streams *t, const char *name, size_t len)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		if (strncmp(t->list[i]->name, name, len) == 0 &&
		    t->list[i]->name[len] == '\0')
			return t->list[i];
	return NULL;
}

static struct stream *
by_index(const struct streams *t, unsigned index)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		if (t->list[i]->index == index)
			return t->list[i];
	return NULL;
}

static int
names_make(struct stream *st)
{
	int states = st->t->kind == STREAM_OF_STATES;
	size_t n;

	if (stream_name(states ? STREAM_OF_NODES : STREAM_OF_RECORDS,
		st->cluster, st->name, sizeof(st->name)) == -1 ||
	    stream_name(states ? SUBJECT_OF_NODES : SUBJECT_OF_RECORDS,
		st->cluster, st->subject, sizeof(st->subject) - 2) == -1)
		return -1;
	n = strlen(st->subject);
	if (states)
		memcpy(st->subject + n, ".*", 3); /* of each group */
	return 0;
}

static void
stream_new(struct streams *t, const char *cluster)
{
	struct stream *st;

	if (t->n == STREAMS_MAX || by_name(t, cluster) != NULL)
		return;
	st = calloc(1, sizeof(*st));
	if (st == NULL)
		fatalx("out of memory");
	st->t = t;
	st->index = t->next_index++;
	snprintf(st->cluster, sizeof(st->cluster), "%.*s", CLUSTER_MAX - 1,
	    cluster);
	if (names_make(st) == -1)
		fatalx("cluster name %s is too long", cluster);
	st->timer = evtimer_new(t->base, on_timer, st);
	if (st->timer == NULL)
		fatalx("out of memory");
	limits_init(st);
	t->list[t->n++] = st;
	t->budget.streams = t->n;
}

static void
stream_free(struct stream *st)
{
	stream_halt(st);
	fetch_forget(st->t, st);
	event_free(st->timer);
	event_free(st->check);
	free(st);
}

/* Removes the streams whose cluster is not in the list of names. */
static void
streams_keep(struct streams *t, char (*names)[CLUSTER_MAX], unsigned n)
{
	unsigned i, k, kept = 0;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < n; k++)
			if (strcmp(names[k], t->list[i]->cluster) == 0)
				break;
		if (k < n)
			t->list[kept++] = t->list[i];
		else
			stream_free(t->list[i]);
	}
	t->n = t->budget.streams = kept;
}

static void
start_all(struct streams *t)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		stream_start(t->list[i]);
}

static void
halt_all(struct streams *t)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		stream_halt(t->list[i]);
}

void
streams_conf(struct streams *t, const char *clusters,
    const struct api_limits *limits)
{
	char names[STREAMS_MAX][CLUSTER_MAX];
	unsigned i, n = 0;
	int changed = t->limits.replicas != limits->replicas ||
	    t->limits.max_age != limits->max_age ||
	    t->limits.max_bytes != limits->max_bytes;

	t->limits = *limits;
	while (n < STREAMS_MAX &&
	    conf_list_item(clusters, n, names[n], CLUSTER_MAX) == 1)
		n++;
	streams_keep(t, names, n);
	for (i = 0; i < n; i++)
		stream_new(t, names[i]);
	qsort(t->list, t->n, sizeof(struct stream *), by_cluster);
	/*
	 * Each stream is checked against the new limits, and one with other
	 * limits also after a reload without a change: the admin may have
	 * permitted the update meanwhile.
	 */
	for (i = 0; i < t->n; i++) {
		t->list[i]->unanswered = 0;
		if (changed || t->list[i]->wrong[0] != '\0')
			stream_halt(t->list[i]);
	}
	start_all(t);
}

/*
 * A stream that this centre does not read has no problem here: the standby must not
 * report one, and a lost connection has a problem of its own.  The next start finds
 * again what still exists.
 */
static void
problems_forget(struct streams *t)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		t->list[i]->problem[0] = t->list[i]->wrong[0] = '\0';
}

void
streams_link(struct streams *t, int up)
{
	t->up = up;
	if (up) {
		start_all(t);
		return;
	}
	halt_all(t);
	problems_forget(t);
}

void
streams_read_elsewhere(struct streams *t)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		t->list[i]->elsewhere = 1;
}

void
streams_reset(struct streams *t)
{
	unsigned i;

	t->begun = 0;
	halt_all(t);
	fetch_forget(t, NULL);
	for (i = 0; i < t->n; i++) {
		t->list[i]->identity = 0;
		t->list[i]->on_hold = 0;
		window_init(&t->list[i]->window, 0);
		t->list[i]->again = 0;
	}
}

void
streams_position(struct streams *t, const char *cluster, uint64_t identity,
    uint64_t sequence)
{
	struct stream *st = by_name(t, cluster);

	if (st == NULL || t->begun)
		return;
	st->identity = identity;
	window_init(&st->window, sequence);
	st->again = 0;
	st->told = sequence;
}

void
streams_begin(struct streams *t)
{
	if (t->begun)
		return;
	t->begun = 1;
	start_all(t);
}

void
streams_pause(struct streams *t, int pause)
{
	t->paused = pause;
	fetch_all(t);
}

void
streams_hold(struct streams *t, const char *cluster, int hold)
{
	struct stream *st = by_name(t, cluster);

	if (st == NULL)
		return;
	st->on_hold = hold;
	fetch_all(t);
}

/* An answer to a question of ours. */
static void
receive_answer(struct streams *t, const struct link_message *m)
{
	unsigned index, serial;
	struct stream *st;

	const char *tail = m->tail;

	if (t->kind == STREAM_OF_STATES) {
		if (strncmp(tail, STATES_TOKEN, sizeof(STATES_TOKEN) - 1) != 0)
			return; /* of the other streams */
		tail += sizeof(STATES_TOKEN) - 1;
	}
	if (sscanf(tail, LIMITS_TOKEN "%u.%u", &index, &serial) == 2) {
		st = by_index(t, index);
		if (st != NULL && limits_answer(st, serial, m)) {
			stream_halt(st);
			stream_start(st);
		}
		return;
	}
	if (sscanf(tail, "%u.%u", &index, &serial) != 2)
		return;
	st = by_index(t, index);
	if (st == NULL || st->serial != serial)
		return; /* too late */
	if (st->step == STEP_READ)
		fetch_status(st, m);
	else if (st->step != STEP_IDLE && st->step != STEP_WAIT)
		stream_answer(st, m);
}

void
streams_receive(struct streams *t, const struct link_message *m)
{
	struct api_ack ack;
	struct stream *st;

	if (m->tail != NULL) {
		receive_answer(t, m);
		return;
	}
	if (api_ack_read(&ack, m->reply) == -1)
		return;
	st = by_stream(t, ack.stream, ack.stream_len);
	/* The consumer that begins later sends the message again. */
	if (st != NULL && st->step == STEP_READ)
		fetch_message(st, &ack, m);
}

void
streams_turn(struct streams *t)
{
	unsigned i;

	for (i = 0; i < t->n; i++)
		fetch_position(t->list[i]);
	fetch_all(t);
}

struct streams *
streams_new(struct event_base *base, struct link *link, enum stream_kind kind,
    const struct streams_ops *ops, void *arg)
{
	struct streams *t = permanent_new(sizeof(*t));

	t->base = base;
	t->link = link;
	t->kind = kind;
	t->ops = ops;
	t->arg = arg;
	TAILQ_INIT(&t->unacked);
	return t;
}

int
streams_is_current(const struct streams *t, const char *cluster)
{
	const struct stream *st = by_name(t, cluster);

	return st != NULL && st->step == STEP_READ && !st->on_hold &&
	    st->window.highest >= st->end && st->waiting == 0 &&
	    st->window.held == 0 && !t->paused;
}

/*
 * Until the centre is upgraded, no message behind the held ones is fetched.  The short
 * waits for acknowledgements and for the budget are not meant.
 */
static int
newer_wait(const struct stream *st)
{
	return st->step == STEP_READ &&
	    (st->window.held >= ACK_PENDING || window_room(&st->window) == 0);
}

static const char *
problem_of(const struct stream *st)
{
	if (st->problem[0] != '\0')
		return st->problem;
	if (st->on_hold)
		return ON_HOLD;
	return newer_wait(st) ? NEWER_WAIT : st->wrong;
}

int
streams_status(const struct streams *t, unsigned i, struct stream_status *to)
{
	const struct stream *st;

	if (i >= t->n)
		return 0;
	st = t->list[i];
	to->cluster = st->cluster;
	to->stream = st->name;
	to->problem = problem_of(st);
	to->loss = st->loss;
	to->ready = st->step == STEP_READ && !st->on_hold && !newer_wait(st);
	to->taken = stream_read_up_to(st);
	to->waiting = st->waiting;
	to->unacked = st->unacked;
	to->held = st->window.held;
	to->received = st->received;
	to->expired = st->expired;
	to->renewed = st->renewed;
	to->last = st->last;
	return 1;
}
