/* SPDX-License-Identifier: MIT */
/*
 * The thread of nats_thread.h.  The thread logs nothing; its reasons go to the
 * event loop as text.
 */
#include "config.h"

#include <sys/eventfd.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/nats/nats_dial.h"
#include "common/record/ask_json.h"
#include "submitter/nats/nats_asks.h"
#include "submitter/nats/nats_records.h"
#include "submitter/nats/nats_thread.h"

/* Messages that one flush, a round trip, confirms. */
#define BATCH_MAX 256
/*
 * Questions of the centre that wait for the event loop: after a comparison, one
 * about each cluster comes at once.
 */
#define ASKED_MAX NATS_ASKS_MAX
/* Longest wait for the end of the thread. */
#define JOIN_SECONDS 1

struct nats_thread {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	pthread_t thread;
	int running; /* of the event loop: thread is valid */
	int fd;	     /* eventfd */
	/* protected by lock */
	struct nats_items in;
	struct nats_items out;
	struct nats_target *target; /* owned; NULL = none */
	int drop;		    /* close the connection */
	int asks_again;		    /* subscribe to the questions again */
	int quit;
	int closed; /* libnats has closed the connection */
	struct nats_state state;
	natsMsg *asked[ASKED_MAX]; /* owned, the oldest first */
	unsigned n_asked;
	/* of the thread; on_closed() reads session.nc under lock */
	struct nats_session session;
};

/*
 * libnats may call on_closed() after the connection was destroyed, so this
 * memory is never freed.  A process has one thread.
 */
static struct nats_thread *kept;

void
nats_item_free(struct nats_item *item)
{
	if (item != NULL)
		free(item->bytes);
	free(item);
}

static void
wake_loop(struct nats_thread *nt)
{
	uint64_t one = 1;

	/* A full eventfd is readable already. */
	if (write(nt->fd, &one, sizeof(one)) == -1)
		return;
}

/* Publishes a change of the connection's state to the event loop. */
static void
report(struct nats_thread *nt, enum nats_link_state state,
    enum nats_trouble trouble, const char *why)
{
	pthread_mutex_lock(&nt->lock);
	nt->state.state = state;
	nt->state.trouble = trouble;
	nt->state.serial++;
	snprintf(nt->state.why, sizeof(nt->state.why), "%s", why);
	pthread_mutex_unlock(&nt->lock);
	wake_loop(nt);
}

/* In a thread of libnats: the connection is closed and stays closed. */
static void
on_closed(natsConnection *nc, void *arg)
{
	struct nats_thread *nt = arg;

	pthread_mutex_lock(&nt->lock);
	if (nc == nt->session.nc) {
		nt->closed = 1;
		pthread_cond_signal(&nt->cond);
	}
	pthread_mutex_unlock(&nt->lock);
}

/* In a thread of libnats: a question of the centre. */
static void
on_ask(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *arg)
{
	struct nats_thread *nt = arg;
	int taken = 0;

	(void)sub;
	pthread_mutex_lock(&nt->lock);
	if (nc == nt->session.nc && nt->n_asked < ASKED_MAX &&
	    natsMsg_GetReply(msg) != NULL &&
	    natsMsg_GetDataLength(msg) <= (int)ASK_BYTES_MAX) {
		nt->asked[nt->n_asked++] = msg;
		taken = 1;
	}
	pthread_mutex_unlock(&nt->lock);
	if (taken)
		wake_loop(nt);
	else
		natsMsg_Destroy(msg);
}

natsMsg *
nats_thread_ask(struct nats_thread *nt)
{
	natsMsg *msg = NULL;

	pthread_mutex_lock(&nt->lock);
	if (nt->n_asked > 0) {
		msg = nt->asked[0];
		memmove(nt->asked, nt->asked + 1,
		    --nt->n_asked * sizeof(*nt->asked));
	}
	pthread_mutex_unlock(&nt->lock);
	return msg;
}

static void
asked_drop(struct nats_thread *nt)
{
	natsMsg *msg;

	while ((msg = nats_thread_ask(nt)) != NULL)
		natsMsg_Destroy(msg);
}

static void
connection_end(struct nats_thread *nt)
{
	natsConnection *nc = nt->session.nc;

	pthread_mutex_lock(&nt->lock);
	nt->session.nc = NULL;
	nt->closed = 0;
	pthread_mutex_unlock(&nt->lock);
	asked_drop(nt);
	nats_asks_end(&nt->session);
	jsCtx_Destroy(nt->session.js);
	nt->session.js = NULL;
	natsSubscription_Destroy(nt->session.acks);
	nt->session.acks = NULL;
	natsConnection_Destroy(nc);
	nats_conf_free(nt->session.conf);
	nt->session.conf = NULL;
}

/* why: as where of nats_dial(). */
static natsStatus
connection_begin(struct nats_thread *nt, struct nats_target *t, char *why,
    size_t size)
{
	natsConnection *nc;
	natsStatus s = nats_dial(t, on_closed, NULL, nt, t->conf->inbox, &nc,
	    why, size);
	char text[160];

	if (s == NATS_OK && t->conf->records)
		s = nats_asks_begin(&nt->session, nc, t->conf, on_ask, nt);
	if (s == NATS_OK && t->conf->records)
		s = nats_records_begin(&nt->session, nc, t->conf->inbox);
	else if (s == NATS_OK && t->conf->jetstream)
		s = natsConnection_JetStream(&nt->session.js, nc, NULL);
	else if (s != NATS_OK)
		return s;
	if (s != NATS_OK) {
		/* Of the subscriptions, only that of the records is checked. */
		if (s == NATS_NOT_PERMITTED)
			nats_acks_denied(t->conf, text, sizeof(text));
		else
			nats_error_text(nc, s, text, sizeof(text));
		snprintf(why, size, "%.60s:%u: %s", t->server.host,
		    t->server.port, text);
		nats_asks_end(&nt->session);
		natsConnection_Destroy(nc);
		return s;
	}
	pthread_mutex_lock(&nt->lock);
	nt->session.nc = nc;
	/* on_closed() may have run before session.nc was set. */
	nt->closed = natsConnection_IsClosed(nc);
	pthread_mutex_unlock(&nt->lock);
	return s;
}

/* The smaller limit of the broker and the stream. */
static size_t
payload_max(const struct nats_session *ns)
{
	int64_t broker = natsConnection_GetMaxPayload(ns->nc);
	size_t max = broker > 0 ? (size_t)broker : 1024 * 1024;

	return ns->msg_max != 0 && ns->msg_max < max ? ns->msg_max : max;
}

static void
connected(struct nats_thread *nt, struct nats_target *t, const char *where)
{
	nt->session.conf = nats_conf_ref(t->conf);
	nt->session.stream_read = 0;
	nt->session.window = 0;
	nt->session.msg_max = 0;
	nats_stream_ask(&nt->session);
	pthread_mutex_lock(&nt->lock);
	nt->state.max_payload = payload_max(&nt->session);
	nt->state.window = nt->session.window;
	snprintf(nt->state.where, sizeof(nt->state.where), "%s", where);
	pthread_mutex_unlock(&nt->lock);
	report(nt, NATS_LINK_UP, TROUBLE_NONE, "");
}

static void
connect_to(struct nats_thread *nt, struct nats_target *t)
{
	char where[256];
	natsStatus s;

	pthread_mutex_lock(&nt->lock);
	nt->state.generation = t->generation;
	pthread_mutex_unlock(&nt->lock);
	s = connection_begin(nt, t, where, sizeof(where));
	if (s == NATS_OK)
		connected(nt, t, where);
	else
		report(nt, NATS_LINK_DOWN, nats_trouble_of(s), where);
}

/* The event loop warns about a short window; see nats.c. */
static void
stream_report(struct nats_thread *nt)
{
	size_t max = nt->session.nc != NULL ? payload_max(&nt->session) : 0;

	pthread_mutex_lock(&nt->lock);
	if (max != 0)
		nt->state.max_payload = max;
	if (nt->state.window != nt->session.window) {
		nt->state.window = nt->session.window;
		nt->state.serial++;
	}
	pthread_mutex_unlock(&nt->lock);
}

static void
send_batch(struct nats_thread *nt, struct nats_items *batch)
{
	enum nats_trouble trouble;
	char why[160] = "";

	if (nt->session.nc == NULL) {
		nats_items_end(STAILQ_FIRST(batch), NATS_AWAY, "not connected");
		return;
	}
	trouble = nats_publish(&nt->session, batch, why, sizeof(why));
	stream_report(nt);
	if (trouble == TROUBLE_NONE)
		return;
	connection_end(nt);
	report(nt, NATS_LINK_DOWN, trouble, why);
}

/* Moves waiting messages to batch.  The lock is held. */
static void
take_batch(struct nats_thread *nt, struct nats_items *batch)
{
	struct nats_item *item;
	int n = 0;

	STAILQ_INIT(batch);
	while (n++ < BATCH_MAX && (item = STAILQ_FIRST(&nt->in)) != NULL) {
		STAILQ_REMOVE_HEAD(&nt->in, link);
		STAILQ_INSERT_TAIL(batch, item, link);
	}
}

/*
 * After an error the next call, or the next connection, subscribes.  A denied
 * subscription would hide that of the acknowledgements.
 */
static void
asks_again(struct nats_thread *nt)
{
	struct nats_session *ns = &nt->session;

	if (ns->nc == NULL || !ns->conf->records || nats_acks_lost(ns))
		return;
	nats_asks_end(ns);
	(void)nats_asks_begin(ns, ns->nc, ns->conf, on_ask, nt);
}

/* Does one step.  The lock is held before and after.  0 = nothing to do. */
static int
step(struct nats_thread *nt)
{
	struct nats_target *target = nt->target;
	struct nats_items batch;
	char why[160];

	if (nt->drop || target != NULL || nt->closed) {
		int closed = nt->closed && !nt->drop && target == NULL;

		nt->target = NULL;
		nt->drop = 0;
		pthread_mutex_unlock(&nt->lock);
		if (closed)
			nats_error_text(nt->session.nc, NATS_CONNECTION_CLOSED,
			    why, sizeof(why));
		connection_end(nt);
		if (closed)
			report(nt, NATS_LINK_DOWN, TROUBLE_AWAY, why);
		if (target != NULL)
			connect_to(nt, target);
		nats_target_free(target);
		pthread_mutex_lock(&nt->lock);
		return 1;
	}
	if (nt->asks_again) {
		nt->asks_again = 0;
		pthread_mutex_unlock(&nt->lock);
		asks_again(nt);
		pthread_mutex_lock(&nt->lock);
		return 1; /* something may have changed meanwhile */
	}
	if (STAILQ_EMPTY(&nt->in))
		return 0;
	take_batch(nt, &batch);
	pthread_mutex_unlock(&nt->lock);
	send_batch(nt, &batch);
	pthread_mutex_lock(&nt->lock);
	STAILQ_CONCAT(&nt->out, &batch);
	wake_loop(nt);
	return 1;
}

static void *
run(void *arg)
{
	struct nats_thread *nt = arg;

	pthread_mutex_lock(&nt->lock);
	while (!nt->quit)
		if (!step(nt))
			pthread_cond_wait(&nt->cond, &nt->lock);
	pthread_mutex_unlock(&nt->lock);
	connection_end(nt);
	return NULL;
}

struct nats_thread *
nats_thread_new(void)
{
	struct nats_thread *nt = kept;

	if (nt == NULL)
		nt = calloc(1, sizeof(*nt));
	else if (nt->running)
		errno = EBUSY; /* the old thread has not ended yet */
	if (nt == NULL || nt->running)
		return NULL;
	kept = nt;
	memset(nt, 0, sizeof(*nt));
	nt->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (nt->fd == -1)
		return NULL;
	pthread_mutex_init(&nt->lock, NULL);
	pthread_cond_init(&nt->cond, NULL);
	STAILQ_INIT(&nt->in);
	STAILQ_INIT(&nt->out);
	return nt;
}

/* The thread blocks all signals: the event loop handles them. */
static int
thread_start(struct nats_thread *nt)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	errno = pthread_create(&nt->thread, NULL, run, nt);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (errno != 0)
		return -1;
	nt->running = 1;
	return 0;
}

static void
items_free(struct nats_items *items)
{
	struct nats_item *item;

	while ((item = STAILQ_FIRST(items)) != NULL) {
		STAILQ_REMOVE_HEAD(items, link);
		nats_item_free(item);
	}
}

void
nats_thread_free(struct nats_thread *nt)
{
	struct timespec until;

	if (nt == NULL)
		return;
	pthread_mutex_lock(&nt->lock);
	nt->quit = 1;
	pthread_cond_signal(&nt->cond);
	pthread_mutex_unlock(&nt->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_SECONDS;
	if (nt->running &&
	    pthread_timedjoin_np(nt->thread, NULL, &until) != 0) {
		pthread_detach(nt->thread);
		return; /* the thread still uses nt */
	}
	nt->running = 0;
	asked_drop(nt);
	items_free(&nt->in);
	items_free(&nt->out);
	nats_target_free(nt->target);
	nt->target = NULL;
	close(nt->fd);
}

int
nats_thread_fd(const struct nats_thread *nt)
{
	return nt->fd;
}

int
nats_thread_connect(struct nats_thread *nt, struct nats_target *t)
{
	if (!nt->running && thread_start(nt) == -1) {
		nats_target_free(t);
		return -1;
	}
	pthread_mutex_lock(&nt->lock);
	nats_target_free(nt->target);
	nt->target = t;
	nt->state.state = NATS_LINK_BUSY;
	pthread_cond_signal(&nt->cond);
	pthread_mutex_unlock(&nt->lock);
	return 0;
}

void
nats_thread_disconnect(struct nats_thread *nt)
{
	pthread_mutex_lock(&nt->lock);
	nats_items_end(STAILQ_FIRST(&nt->in), NATS_AWAY,
	    "the configuration was changed");
	STAILQ_CONCAT(&nt->out, &nt->in);
	wake_loop(nt);
	nats_target_free(nt->target);
	nt->target = NULL;
	nt->drop = 1;
	nt->state.state = NATS_LINK_DOWN;
	nt->state.trouble = TROUBLE_NONE;
	pthread_cond_signal(&nt->cond);
	pthread_mutex_unlock(&nt->lock);
}

void
nats_thread_asks_again(struct nats_thread *nt)
{
	pthread_mutex_lock(&nt->lock);
	nt->asks_again = 1;
	pthread_cond_signal(&nt->cond);
	pthread_mutex_unlock(&nt->lock);
}

void
nats_thread_put(struct nats_thread *nt, struct nats_item *item)
{
	pthread_mutex_lock(&nt->lock);
	STAILQ_INSERT_TAIL(&nt->in, item, link);
	pthread_cond_signal(&nt->cond);
	pthread_mutex_unlock(&nt->lock);
}

void
nats_thread_take(struct nats_thread *nt, struct nats_items *out,
    struct nats_state *state)
{
	uint64_t n;

	if (read(nt->fd, &n, sizeof(n)) == -1 && errno != EAGAIN)
		n = 0;
	STAILQ_INIT(out);
	pthread_mutex_lock(&nt->lock);
	STAILQ_CONCAT(out, &nt->out);
	*state = nt->state;
	pthread_mutex_unlock(&nt->lock);
}
