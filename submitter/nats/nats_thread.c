/* SPDX-License-Identifier: MIT */
/*
 * libnats on a thread of its own, for every call of it may block: the thread,
 * its connection, what goes in and comes out.  Nothing is logged here: what
 * there is to say goes to the event loop as text.
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

#include "submitter/nats/nats_private.h"

/* Confirmed together; a flush costs a round trip. */
#define BATCH_MAX	256
/* How long the end of the process waits for the thread. */
#define JOIN_SECONDS	1

/*
 * A closed connection may call back after it was destroyed, so what it calls
 * back with is never freed; there is one of them in a process.
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
target_free(struct nats_target *t)
{
	if (t != NULL)
		nats_conf_free(t->conf);
	free(t);
}

static void
wake_loop(struct nats_thread *l)
{
	uint64_t one = 1;

	/* Full means that it is awake already. */
	if (write(l->fd, &one, sizeof(one)) == -1)
		return;
}

/* The thread tells what became of the connection. */
static void
report(struct nats_thread *l, enum nats_link_state state, enum nats_trouble trouble,
    const char *why)
{
	pthread_mutex_lock(&l->lock);
	l->state.state = state;
	l->state.trouble = trouble;
	l->state.serial++;
	snprintf(l->state.why, sizeof(l->state.why), "%s", why);
	pthread_mutex_unlock(&l->lock);
	wake_loop(l);
}

/* libnats' thread: the connection is closed for good. */
static void
on_closed(natsConnection *nc, void *arg)
{
	struct nats_thread *l = arg;

	pthread_mutex_lock(&l->lock);
	if (nc == l->nc) {
		l->closed = 1;
		pthread_cond_signal(&l->cond);
	}
	pthread_mutex_unlock(&l->lock);
}

static enum nats_trouble
trouble_of(natsStatus s)
{
	return s == NATS_CONNECTION_AUTH_FAILED || s == NATS_NOT_PERMITTED ?
	    TROUBLE_DENIED : TROUBLE_AWAY;
}

static void
connection_end(struct nats_thread *l)
{
	natsConnection *nc = l->nc;

	pthread_mutex_lock(&l->lock);
	l->nc = NULL;
	l->closed = 0;
	pthread_mutex_unlock(&l->lock);
	jsCtx_Destroy(l->js);
	l->js = NULL;
	natsConnection_Destroy(nc);
	nats_conf_free(l->conf);
	l->conf = NULL;
}

/* One address; the text says why not. */
static natsStatus
try_address(struct nats_thread *l, const struct nats_target *t,
    const char *address, char *why, size_t size)
{
	natsConnection *nc = NULL;
	natsOptions *opts = NULL;
	natsStatus s;

	s = nats_conf_options(t->conf, &t->server, address, &opts);
	if (s == NATS_OK)
		s = natsOptions_SetClosedCB(opts, on_closed, l);
	if (s == NATS_OK)
		s = natsConnection_Connect(&nc, opts);
	if (s == NATS_OK && t->conf->jetstream)
		s = natsConnection_JetStream(&l->js, nc, NULL);
	if (s != NATS_OK) {
		nats_last_words(nc, s, why, size);
		natsConnection_Destroy(nc);
		nc = NULL;
	}
	natsOptions_Destroy(opts);
	pthread_mutex_lock(&l->lock);
	l->nc = nc;
	/* It may be gone already, before it could tell whose it is. */
	l->closed = nc != NULL && natsConnection_IsClosed(nc);
	pthread_mutex_unlock(&l->lock);
	return s;
}

/*
 * All addresses until one is taken, its number in *which.  Of several
 * reasons the first is kept that says more than that nobody is there.
 */
static natsStatus
try_addresses(struct nats_thread *l, struct nats_target *t, unsigned *which,
    char *why, size_t size)
{
	natsStatus s, kept_s = NATS_NO_SERVER;
	char text[160];
	unsigned i;

	for (i = 0; i < t->addresses.n; i++) {
		*which = i;
		s = try_address(l, t, t->addresses.addrs[i], text,
		    sizeof(text));
		if (s == NATS_SSL_ERROR && !t->server.tls) {
			/* The broker wants TLS: with certificates, then. */
			t->server.tls = 1;
			s = try_address(l, t, t->addresses.addrs[i], text,
			    sizeof(text));
		}
		if (s == NATS_OK)
			return s;
		if (i == 0 || kept_s == NATS_NO_SERVER) {
			snprintf(why, size, "%s", text);
			kept_s = s;
		}
	}
	return kept_s;
}

static void
connected(struct nats_thread *l, struct nats_target *t, const char *address)
{
	int64_t max = natsConnection_GetMaxPayload(l->nc);

	l->conf = nats_conf_ref(t->conf);
	l->window_asked = 0;
	pthread_mutex_lock(&l->lock);
	l->state.max_payload = max > 0 ? (size_t)max : 1024 * 1024;
	l->state.window = 0;
	snprintf(l->state.where, sizeof(l->state.where), "%s:%u (%s)",
	    t->server.host, t->server.port, address);
	pthread_mutex_unlock(&l->lock);
	report(l, NATS_LINK_UP, TROUBLE_NONE, "");
}

static void
connect_to(struct nats_thread *l, struct nats_target *t)
{
	char why[160] = "no address";
	char text[256];
	unsigned which = 0;
	natsStatus s;

	pthread_mutex_lock(&l->lock);
	l->state.generation = t->generation;
	pthread_mutex_unlock(&l->lock);
	s = try_addresses(l, t, &which, why, sizeof(why));
	if (s == NATS_OK)
		connected(l, t, t->addresses.addrs[which]);
	else {
		snprintf(text, sizeof(text), "%.60s:%u: %s", t->server.host,
		    t->server.port, why);
		report(l, NATS_LINK_DOWN, trouble_of(s), text);
	}
}

static void
send_batch(struct nats_thread *l, struct nats_items *batch)
{
	enum nats_trouble trouble;
	char why[160] = "";

	if (l->nc == NULL) {
		nats_items_end(STAILQ_FIRST(batch), NATS_AWAY, "not connected");
		return;
	}
	trouble = nats_publish(l, batch, why, sizeof(why));
	if (trouble == TROUBLE_NONE)
		return;
	connection_end(l);
	report(l, NATS_LINK_DOWN, trouble, why);
}

/* The next of what waits, under the lock. */
static void
take_batch(struct nats_thread *l, struct nats_items *batch)
{
	struct nats_item *item;
	int n = 0;

	STAILQ_INIT(batch);
	while (n++ < BATCH_MAX && (item = STAILQ_FIRST(&l->in)) != NULL) {
		STAILQ_REMOVE_HEAD(&l->in, link);
		STAILQ_INSERT_TAIL(batch, item, link);
	}
}

/* One thing to do, with the lock held before and after.  0: nothing. */
static int
do_one(struct nats_thread *l)
{
	struct nats_target *target = l->target;
	struct nats_items batch;
	char why[160];

	if (l->drop || target != NULL || l->closed) {
		int closed = l->closed && !l->drop && target == NULL;

		l->target = NULL;
		l->drop = 0;
		pthread_mutex_unlock(&l->lock);
		if (closed)
			nats_last_words(l->nc, NATS_CONNECTION_CLOSED, why,
			    sizeof(why));
		connection_end(l);
		if (closed)
			report(l, NATS_LINK_DOWN, TROUBLE_AWAY, why);
		if (target != NULL)
			connect_to(l, target);
		target_free(target);
		pthread_mutex_lock(&l->lock);
		return 1;
	}
	if (STAILQ_EMPTY(&l->in))
		return 0;
	take_batch(l, &batch);
	pthread_mutex_unlock(&l->lock);
	send_batch(l, &batch);
	pthread_mutex_lock(&l->lock);
	STAILQ_CONCAT(&l->out, &batch);
	wake_loop(l);
	return 1;
}

static void *
run(void *arg)
{
	struct nats_thread *l = arg;

	pthread_mutex_lock(&l->lock);
	while (!l->quit)
		if (!do_one(l))
			pthread_cond_wait(&l->cond, &l->lock);
	pthread_mutex_unlock(&l->lock);
	connection_end(l);
	return NULL;
}

struct nats_thread *
nats_thread_new(void)
{
	struct nats_thread *l = kept;

	if (l == NULL)
		l = calloc(1, sizeof(*l));
	else if (l->running)
		errno = EBUSY;	/* its thread did not end in time */
	if (l == NULL || l->running)
		return NULL;
	kept = l;
	memset(l, 0, sizeof(*l));
	l->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (l->fd == -1)
		return NULL;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->cond, NULL);
	STAILQ_INIT(&l->in);
	STAILQ_INIT(&l->out);
	return l;
}

/* Signals are for the main thread, which has the event loop. */
static int
thread_start(struct nats_thread *l)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	errno = pthread_create(&l->thread, NULL, run, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (errno != 0)
		return -1;
	l->running = 1;
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
nats_thread_free(struct nats_thread *l)
{
	struct timespec until;

	if (l == NULL)
		return;
	pthread_mutex_lock(&l->lock);
	l->quit = 1;
	pthread_cond_signal(&l->cond);
	pthread_mutex_unlock(&l->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_SECONDS;
	if (l->running && pthread_timedjoin_np(l->thread, NULL, &until) != 0) {
		pthread_detach(l->thread);
		return;		/* it still uses all of it */
	}
	l->running = 0;
	items_free(&l->in);
	items_free(&l->out);
	target_free(l->target);
	l->target = NULL;
	close(l->fd);
}

int
nats_thread_fd(const struct nats_thread *l)
{
	return l->fd;
}

int
nats_thread_connect(struct nats_thread *l, struct nats_target *t)
{
	if (!l->running && thread_start(l) == -1) {
		target_free(t);
		return -1;
	}
	pthread_mutex_lock(&l->lock);
	target_free(l->target);
	l->target = t;
	l->state.state = NATS_LINK_BUSY;
	pthread_cond_signal(&l->cond);
	pthread_mutex_unlock(&l->lock);
	return 0;
}

void
nats_thread_disconnect(struct nats_thread *l)
{
	pthread_mutex_lock(&l->lock);
	nats_items_end(STAILQ_FIRST(&l->in), NATS_AWAY, "other settings came");
	STAILQ_CONCAT(&l->out, &l->in);
	wake_loop(l);
	target_free(l->target);
	l->target = NULL;
	l->drop = 1;
	l->state.state = NATS_LINK_DOWN;
	l->state.trouble = TROUBLE_NONE;
	pthread_cond_signal(&l->cond);
	pthread_mutex_unlock(&l->lock);
}

void
nats_thread_put(struct nats_thread *l, struct nats_item *item)
{
	pthread_mutex_lock(&l->lock);
	STAILQ_INSERT_TAIL(&l->in, item, link);
	pthread_cond_signal(&l->cond);
	pthread_mutex_unlock(&l->lock);
}

void
nats_thread_take(struct nats_thread *l, struct nats_items *out,
    struct nats_state *state)
{
	uint64_t n;

	if (read(l->fd, &n, sizeof(n)) == -1 && errno != EAGAIN)
		n = 0;
	STAILQ_INIT(out);
	pthread_mutex_lock(&l->lock);
	STAILQ_CONCAT(out, &l->out);
	*state = l->state;
	pthread_mutex_unlock(&l->lock);
}
