/* SPDX-License-Identifier: MIT */
/*
 * libnats on a thread of its own, for every call of it may block.  Nothing
 * is logged here: what there is to say goes to the event loop as text.  Each
 * batch is confirmed by the connection that took it: by a flush, in which
 * the broker answers behind whatever it refused, or by the stream's
 * acknowledgements.
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

#include "submitter/nats_link.h"

/* Confirmed together; a flush costs a round trip. */
#define BATCH_MAX	256
/* A flush or an acknowledgement that takes longer does not come. */
#define CONFIRM_MS	5000
/* How long the end of the process waits for the thread. */
#define JOIN_SECONDS	1

struct nats_link {
	pthread_mutex_t		 lock;
	pthread_cond_t		 cond;
	pthread_t		 thread;
	int			 running;	/* the loop's: there is a thread */
	int			 fd;		/* eventfd */
	/* under the lock */
	struct nats_items	 in;
	struct nats_items	 out;
	struct nats_target	*target;	/* owned; NULL = none given */
	int			 drop;		/* end the connection */
	int			 quit;
	int			 closed;	/* nc was closed by libnats */
	struct nats_state	 state;
	/* the thread's own */
	natsConnection		*nc;
	jsCtx			*js;
	struct nats_conf	*conf;		/* held while nc is there */
	int			 window_asked;
};

/*
 * A closed connection may call back after it was destroyed, so what it calls
 * back with is never freed; there is one of them in a process.
 */
static struct nats_link *kept;

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
wake_loop(struct nats_link *l)
{
	uint64_t one = 1;

	/* Full means that it is awake already. */
	if (write(l->fd, &one, sizeof(one)) == -1)
		return;
}

/* The thread tells what became of the connection. */
static void
report(struct nats_link *l, enum nats_phase phase, enum nats_trouble trouble,
    const char *why)
{
	pthread_mutex_lock(&l->lock);
	l->state.phase = phase;
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
	struct nats_link *l = arg;

	pthread_mutex_lock(&l->lock);
	if (nc == l->nc) {
		l->closed = 1;
		pthread_cond_signal(&l->cond);
	}
	pthread_mutex_unlock(&l->lock);
}

/* What the connection or, without one, the library said last. */
static void
last_words(natsConnection *nc, natsStatus s, char *buf, size_t size)
{
	const char *text = NULL;

	if (nc != NULL)
		natsConnection_GetLastError(nc, &text);
	if (text == NULL || *text == '\0')
		text = nats_GetLastError(NULL);
	if (text == NULL || *text == '\0')
		text = natsStatus_GetText(s);
	snprintf(buf, size, "%s", text);
}

static enum nats_trouble
trouble_of(natsStatus s)
{
	return s == NATS_CONNECTION_AUTH_FAILED || s == NATS_NOT_PERMITTED ?
	    TROUBLE_DENIED : TROUBLE_AWAY;
}

static void
connection_end(struct nats_link *l)
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
try_address(struct nats_link *l, const struct nats_target *t,
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
		last_words(nc, s, why, size);
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

static void
connected(struct nats_link *l, struct nats_target *t, const char *address)
{
	int64_t max = natsConnection_GetMaxPayload(l->nc);

	l->conf = nats_conf_hold(t->conf);
	l->window_asked = 0;
	pthread_mutex_lock(&l->lock);
	l->state.max_payload = max > 0 ? (size_t)max : 1024 * 1024;
	l->state.window = 0;
	snprintf(l->state.where, sizeof(l->state.where), "%s:%u (%s)",
	    t->server.host, t->server.port, address);
	pthread_mutex_unlock(&l->lock);
	report(l, PHASE_UP, TROUBLE_NONE, "");
}

static void
connect_to(struct nats_link *l, struct nats_target *t)
{
	natsStatus s = NATS_NO_SERVER;
	char why[160] = "no address";
	char text[256];
	unsigned i;

	pthread_mutex_lock(&l->lock);
	l->state.generation = t->generation;
	pthread_mutex_unlock(&l->lock);
	for (i = 0; i < t->addresses.n && s != NATS_OK; i++)
		s = try_address(l, t, t->addresses.addrs[i], why, sizeof(why));
	if (s == NATS_OK)
		connected(l, t, t->addresses.addrs[i - 1]);
	else {
		snprintf(text, sizeof(text), "%.60s:%u: %s", t->server.host,
		    t->server.port, why);
		report(l, PHASE_DOWN, trouble_of(s), text);
	}
}

static void
item_end(struct nats_item *item, enum nats_result result, const char *why)
{
	item->result = result;
	snprintf(item->why, sizeof(item->why), "%s", why);
}

/* From this item on: the result for all that have none yet. */
static void
items_end(struct nats_item *item, enum nats_result result, const char *why)
{
	for (; item != NULL; item = STAILQ_NEXT(item, link))
		item_end(item, result, why);
}

/*
 * Gives the batch to the connection.  Returns the first item that it did not
 * take (and those behind it were not tried), NULL when it took all.
 */
static struct nats_item *
core_publish(struct nats_link *l, struct nats_items *batch, natsStatus *s)
{
	struct nats_item *item;

	*s = NATS_OK;
	STAILQ_FOREACH(item, batch, link) {
		*s = natsConnection_Publish(l->nc, l->conf->subject,
		    item->bytes, (int)item->len);
		if (*s == NATS_MAX_PAYLOAD)
			item_end(item, NATS_TOO_LONG,
			    "longer than the broker takes");
		else if (*s == NATS_OK)
			item_end(item, NATS_SENT, "");
		else
			return item;
	}
	*s = NATS_OK;
	return NULL;
}

/* What was given to the connection is not confirmed. */
static void
core_undo(struct nats_items *batch, const struct nats_item *end,
    enum nats_result result, const char *why)
{
	struct nats_item *item;

	STAILQ_FOREACH(item, batch, link) {
		if (item == end)
			break;
		if (item->result == NATS_SENT)
			item_end(item, result, why);
	}
}

static enum nats_trouble
core_batch(struct nats_link *l, struct nats_items *batch, char *why,
    size_t size)
{
	struct nats_item *rest;
	natsStatus s, flushed, denied;

	rest = core_publish(l, batch, &s);
	flushed = natsConnection_FlushTimeout(l->nc, CONFIRM_MS);
	/* Set before the flush was answered, when it was set by this batch. */
	denied = natsConnection_GetLastError(l->nc, NULL);
	if (denied == NATS_NOT_PERMITTED) {
		last_words(l->nc, denied, why, size);
		items_end(STAILQ_FIRST(batch), NATS_DENIED, why);
		return TROUBLE_DENIED;
	}
	if (rest == NULL && flushed == NATS_OK)
		return TROUBLE_NONE;
	last_words(l->nc, s != NATS_OK ? s : flushed, why, size);
	if (flushed != NATS_OK)
		core_undo(batch, rest, NATS_UNSURE, why);
	if (rest != NULL) {
		items_end(rest, NATS_AWAY, why);
		/* It may have gone out in part, or whole. */
		if (s != NATS_CONNECTION_CLOSED)
			item_end(rest, NATS_UNSURE, why);
	}
	return TROUBLE_AWAY;
}

/* How long the stream drops doubles: asked once, where we may ask. */
static void
ask_window(struct nats_link *l, const char *stream)
{
	jsStreamInfo *si = NULL;
	int64_t window = 0;

	l->window_asked = 1;
	if (js_GetStreamInfo(&si, l->js, stream, NULL, NULL) == NATS_OK &&
	    si->Config != NULL)
		window = si->Config->Duplicates;
	jsStreamInfo_Destroy(si);
	if (window <= 0)
		return;
	pthread_mutex_lock(&l->lock);
	l->state.window = window;
	l->state.serial++;
	pthread_mutex_unlock(&l->lock);
}

static enum nats_trouble
stream_one(struct nats_link *l, struct nats_item *item, char *why,
    size_t size)
{
	jsErrCode code = 0;
	jsPubAck *ack = NULL;
	jsPubOptions po;
	natsStatus s;

	jsPubOptions_Init(&po);
	po.MaxWait = CONFIRM_MS;
	po.MsgId = item->id;
	s = js_Publish(&ack, l->js, l->conf->subject, item->bytes,
	    (int)item->len, &po, &code);
	if (s == NATS_OK) {
		item_end(item, NATS_SENT, "");
		item->duplicate = ack != NULL && ack->Duplicate;
		if (!l->window_asked && ack != NULL && ack->Stream != NULL)
			ask_window(l, ack->Stream);
		jsPubAck_Destroy(ack);
		return TROUBLE_NONE;
	}
	jsPubAck_Destroy(ack);
	if (s == NATS_MAX_PAYLOAD || code == JSStreamMessageExceedsMaximumErr) {
		item_end(item, NATS_TOO_LONG, "longer than the stream takes");
		return TROUBLE_NONE;
	}
	if (natsConnection_GetLastError(l->nc, NULL) == NATS_NOT_PERMITTED) {
		last_words(l->nc, NATS_NOT_PERMITTED, why, size);
		return TROUBLE_DENIED;
	}
	if (s == NATS_NO_RESPONDERS) {
		snprintf(why, size, "no stream takes subject %.100s",
		    l->conf->subject);
		return TROUBLE_STREAM;
	}
	last_words(code != 0 ? NULL : l->nc, s, why, size);
	return code != 0 ? TROUBLE_STREAM : TROUBLE_AWAY;
}

static enum nats_trouble
stream_batch(struct nats_link *l, struct nats_items *batch, char *why,
    size_t size)
{
	enum nats_trouble trouble;
	struct nats_item *item;

	STAILQ_FOREACH(item, batch, link) {
		trouble = stream_one(l, item, why, size);
		if (trouble == TROUBLE_NONE)
			continue;
		items_end(item, trouble == TROUBLE_DENIED ? NATS_DENIED :
		    NATS_AWAY, why);
		return trouble;
	}
	return TROUBLE_NONE;
}

static void
send_batch(struct nats_link *l, struct nats_items *batch)
{
	enum nats_trouble trouble;
	char why[160] = "";

	if (l->nc == NULL) {
		items_end(STAILQ_FIRST(batch), NATS_AWAY, "not connected");
		return;
	}
	trouble = l->js != NULL ? stream_batch(l, batch, why, sizeof(why)) :
	    core_batch(l, batch, why, sizeof(why));
	if (trouble == TROUBLE_NONE)
		return;
	connection_end(l);
	report(l, PHASE_DOWN, trouble, why);
}

/* The next of what waits, under the lock. */
static void
take_batch(struct nats_link *l, struct nats_items *batch)
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
do_one(struct nats_link *l)
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
			last_words(l->nc, NATS_CONNECTION_CLOSED, why,
			    sizeof(why));
		connection_end(l);
		if (closed)
			report(l, PHASE_DOWN, TROUBLE_AWAY, why);
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
	struct nats_link *l = arg;

	pthread_mutex_lock(&l->lock);
	while (!l->quit)
		if (!do_one(l))
			pthread_cond_wait(&l->cond, &l->lock);
	pthread_mutex_unlock(&l->lock);
	connection_end(l);
	return NULL;
}

struct nats_link *
nats_link_new(void)
{
	struct nats_link *l = kept;

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
thread_start(struct nats_link *l)
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
nats_link_free(struct nats_link *l)
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
nats_link_fd(const struct nats_link *l)
{
	return l->fd;
}

int
nats_link_connect(struct nats_link *l, struct nats_target *t)
{
	if (!l->running && thread_start(l) == -1) {
		target_free(t);
		return -1;
	}
	pthread_mutex_lock(&l->lock);
	target_free(l->target);
	l->target = t;
	l->state.phase = PHASE_BUSY;
	pthread_cond_signal(&l->cond);
	pthread_mutex_unlock(&l->lock);
	return 0;
}

void
nats_link_disconnect(struct nats_link *l)
{
	pthread_mutex_lock(&l->lock);
	items_end(STAILQ_FIRST(&l->in), NATS_AWAY, "other settings came");
	STAILQ_CONCAT(&l->out, &l->in);
	wake_loop(l);
	target_free(l->target);
	l->target = NULL;
	l->drop = 1;
	l->state.phase = PHASE_DOWN;
	l->state.trouble = TROUBLE_NONE;
	pthread_cond_signal(&l->cond);
	pthread_mutex_unlock(&l->lock);
}

void
nats_link_put(struct nats_link *l, struct nats_item *item)
{
	pthread_mutex_lock(&l->lock);
	STAILQ_INSERT_TAIL(&l->in, item, link);
	pthread_cond_signal(&l->cond);
	pthread_mutex_unlock(&l->lock);
}

void
nats_link_take(struct nats_link *l, struct nats_items *out,
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
