/* SPDX-License-Identifier: MIT */
/*
 * The thread of link_thread.h.  The thread logs nothing; its reasons go to the
 * event loop as text.  Messages arrive in a thread of libnats, which puts them
 * into the queue.
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

#include <nats/nats.h>

#include "common/nats/nats_dial.h"
#include "receiver/link/link_thread.h"

/* Longest wait for the end of the thread. */
#define JOIN_SECONDS 1
/* ms; longest wait for the broker's answer to the subscription */
#define CONFIRM_MS 5000
/*
 * Messages and bytes that wait for the event loop.  The receiver requests
 * fewer, so only messages without a request can reach these limits.
 */
#define IN_MAX	     4096
#define IN_BYTES_MAX (64u * 1024 * 1024)
/*
 * ns that the first message after a pause waits for others: a message alone
 * wakes two threads and the event loop.  The loop takes at least so many at once
 * from a queue that does not become empty.
 */
#define GATHER_NS 5000000
#define IN_TURN	  64
/*
 * The permissions of the centre's NATS user have this prefix: no other user may
 * subscribe to its subjects.
 */
#define INBOX_PREFIX "_INBOX_centre"
#define INBOX_DENIED \
	"the broker does not permit the subscription to " INBOX_PREFIX ".>"
/* Used when the broker does not send its limit; the default of NATS. */
#define PAYLOAD_DEFAULT (1024u * 1024)

struct link_thread {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	pthread_t thread;
	int running; /* of the event loop: thread is valid */
	int fd;	     /* eventfd */
	/* protected by lock */
	struct link_outs out;
	struct link_ins in;
	unsigned n_in;
	size_t in_bytes;
	struct nats_target *target; /* owned; NULL = none */
	int drop;		    /* close the connection */
	int quit;
	int closed;  /* libnats has closed the connection */
	int flooded; /* the queue was full */
	int denied;  /* the broker has ended the subscription */
	struct link_report report;
	/* of the thread; callbacks of libnats compare nc under lock */
	natsConnection *nc;
	natsSubscription *sub;
};

/*
 * libnats may call the functions below after the connection was destroyed, so
 * this memory is never freed.  A process has one thread.
 */
static struct link_thread *kept;

void
link_in_free(struct link_in *in)
{
	if (in != NULL)
		natsMsg_Destroy(in->msg);
	free(in);
}

static void
ins_free(struct link_ins *ins)
{
	struct link_in *in;

	while ((in = STAILQ_FIRST(ins)) != NULL) {
		STAILQ_REMOVE_HEAD(ins, link);
		link_in_free(in);
	}
}

void
link_outs_free(struct link_outs *outs)
{
	struct link_out *out;

	while ((out = STAILQ_FIRST(outs)) != NULL) {
		STAILQ_REMOVE_HEAD(outs, link);
		free(out);
	}
}

static void
wake_loop(struct link_thread *lt)
{
	uint64_t one = 1;

	/* A full eventfd is readable already. */
	if (write(lt->fd, &one, sizeof(one)) == -1)
		return;
}

static void
report(struct link_thread *lt, enum link_state state, enum nats_trouble trouble,
    const char *why)
{
	pthread_mutex_lock(&lt->lock);
	lt->report.state = state;
	lt->report.trouble = trouble;
	lt->report.serial++;
	snprintf(lt->report.why, sizeof(lt->report.why), "%s", why);
	pthread_mutex_unlock(&lt->lock);
	wake_loop(lt);
}

/* In a thread of libnats: the connection is closed and stays closed. */
static void
on_closed(natsConnection *nc, void *arg)
{
	struct link_thread *lt = arg;

	pthread_mutex_lock(&lt->lock);
	if (nc == lt->nc) {
		lt->closed = 1;
		pthread_cond_signal(&lt->cond);
	}
	pthread_mutex_unlock(&lt->lock);
}

/* Is the text that of a violation of permissions for the inbox? */
static int
is_of_inbox(const char *text, const char *inbox)
{
	char quoted[sizeof(((struct link_report *)NULL)->inbox) + 3];

	snprintf(quoted, sizeof(quoted), "\"%s.", inbox);
	return text != NULL && strstr(text, quoted) != NULL;
}

/*
 * In a thread of libnats: an error that the broker has reported, which is the last
 * one of libnats in this thread.  That of the connection may be a later one already,
 * as for a question that is not permitted.
 * A broker that reloads its permissions keeps the connection and ends the
 * subscription.  Only a new connection subscribes again.
 */
static void
on_error(natsConnection *nc, natsSubscription *sub, natsStatus s, void *arg)
{
	struct link_thread *lt = arg;
	const char *text = nats_GetLastError(NULL);

	(void)sub;
	if (s != NATS_NOT_PERMITTED)
		return;
	pthread_mutex_lock(&lt->lock);
	if (nc == lt->nc && is_of_inbox(text, lt->report.inbox)) {
		lt->denied = lt->closed = 1;
		pthread_cond_signal(&lt->cond);
	}
	pthread_mutex_unlock(&lt->lock);
}

/* The lock is held. */
static void
in_add(struct link_thread *lt, struct link_in *in)
{
	size_t len = (size_t)natsMsg_GetDataLength(in->msg);

	if (lt->n_in >= IN_MAX || lt->in_bytes + len > IN_BYTES_MAX) {
		lt->flooded = lt->closed = 1;
		pthread_cond_signal(&lt->cond);
		return;
	}
	STAILQ_INSERT_TAIL(&lt->in, in, link);
	lt->in_bytes += len;
	lt->n_in++;
}

/* Of the thread of libnats: there was no further message. */
static _Thread_local int rested;

static void
gather(void)
{
	static const struct timespec pause = { 0, GATHER_NS };

	if (rested)
		nanosleep(&pause, NULL);
	rested = 0;
}

/* Wakes the loop for the last message that libnats has for now. */
static void
in_added(struct link_thread *lt, natsSubscription *sub, unsigned n_in)
{
	int pending = 0;

	if (natsSubscription_GetPending(sub, &pending, NULL) != NATS_OK)
		pending = 0;
	rested = pending == 0;
	if (rested || n_in % IN_TURN == 0)
		wake_loop(lt);
}

/* In a thread of libnats: a message of the inbox. */
static void
on_message(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *arg)
{
	struct link_thread *lt = arg;
	struct link_in *in = malloc(sizeof(*in));
	unsigned n_in = 0;
	int taken = 0;

	gather();
	if (in != NULL) {
		in->msg = msg;
		pthread_mutex_lock(&lt->lock);
		if (nc == lt->nc && !lt->closed) {
			in_add(lt, in);
			taken = !lt->closed;
			n_in = lt->n_in;
		}
		pthread_mutex_unlock(&lt->lock);
	}
	if (!taken) {
		/* The broker sends the message again. */
		natsMsg_Destroy(msg);
		free(in);
	}
	in_added(lt, sub, n_in);
}

static void
connection_end(struct link_thread *lt)
{
	natsConnection *nc;

	pthread_mutex_lock(&lt->lock);
	nc = lt->nc;
	lt->nc = NULL;
	lt->closed = lt->flooded = lt->denied = 0;
	ins_free(&lt->in);
	lt->n_in = 0;
	lt->in_bytes = 0;
	link_outs_free(&lt->out);
	pthread_mutex_unlock(&lt->lock);
	natsSubscription_Destroy(lt->sub);
	lt->sub = NULL;
	natsConnection_Destroy(nc);
}

/*
 * libnats does not wait for the broker's answer to a subscription.  Without this one
 * each request stays without an answer, and a permission that the broker gets later
 * makes none: the connection fails, and the next one subscribes again.
 */
static natsStatus
inbox_subscribe(struct link_thread *lt, const char *inbox)
{
	char subject[sizeof(lt->report.inbox) + 2];
	const char *text = NULL;
	natsStatus s;

	snprintf(subject, sizeof(subject), "%s.>", inbox);
	s = natsConnection_Subscribe(&lt->sub, lt->nc, subject, on_message, lt);
	/* on_message() has limits of its own, which end the connection. */
	if (s == NATS_OK)
		s = natsSubscription_SetPendingLimits(lt->sub, -1, -1);
	if (s == NATS_OK)
		s = natsConnection_FlushTimeout(lt->nc, CONFIRM_MS);
	/* The broker reports a denied subscription before it answers the flush. */
	if (s == NATS_OK &&
	    natsConnection_GetLastError(lt->nc, &text) == NATS_NOT_PERMITTED &&
	    is_of_inbox(text, inbox))
		s = NATS_NOT_PERMITTED;
	return s;
}

/* Makes a random inbox and subscribes to all subjects below it. */
static natsStatus
inbox_open(struct link_thread *lt)
{
	char prefix[sizeof(lt->report.inbox)];
	natsInbox *inbox = NULL;
	natsStatus s = natsInbox_Create(&inbox);

	if (s != NATS_OK)
		return s;
	/* "_INBOX.RANDOM" */
	snprintf(prefix, sizeof(prefix), INBOX_PREFIX ".%s",
	    strchr(inbox, '.') != NULL ? strchr(inbox, '.') + 1 : inbox);
	natsInbox_Destroy(inbox);
	/* on_error() needs it during the subscription. */
	pthread_mutex_lock(&lt->lock);
	snprintf(lt->report.inbox, sizeof(lt->report.inbox), "%s", prefix);
	pthread_mutex_unlock(&lt->lock);
	return inbox_subscribe(lt, prefix);
}

/* where: as of nats_dial(). */
static natsStatus
connection_begin(struct link_thread *lt, struct nats_target *t, char *where,
    size_t size)
{
	natsConnection *nc;
	natsStatus s = nats_dial(t, on_closed, on_error, lt, INBOX_PREFIX, &nc,
	    where, size);
	char why[160] = INBOX_DENIED;

	if (s != NATS_OK)
		return s;
	pthread_mutex_lock(&lt->lock);
	lt->nc = nc;
	/* on_closed() may have run before nc was set. */
	lt->closed = natsConnection_IsClosed(nc);
	pthread_mutex_unlock(&lt->lock);
	s = inbox_open(lt);
	if (s == NATS_OK)
		return s;
	if (s != NATS_NOT_PERMITTED)
		nats_error_text(nc, s, why, sizeof(why));
	snprintf(where, size, "%.60s:%u: %s", t->server.host, t->server.port,
	    why);
	connection_end(lt);
	return s;
}

static void
connect_to(struct link_thread *lt, struct nats_target *t)
{
	char where[sizeof(lt->report.where)];
	natsStatus s;
	int64_t max;

	pthread_mutex_lock(&lt->lock);
	lt->report.generation = t->generation;
	pthread_mutex_unlock(&lt->lock);
	s = connection_begin(lt, t, where, sizeof(where));
	if (s != NATS_OK) {
		report(lt, LINK_DOWN, nats_trouble_of(s), where);
		return;
	}
	max = natsConnection_GetMaxPayload(lt->nc);
	pthread_mutex_lock(&lt->lock);
	lt->report.max_payload = max > 0 ? (size_t)max : PAYLOAD_DEFAULT;
	snprintf(lt->report.where, sizeof(lt->report.where), "%s", where);
	pthread_mutex_unlock(&lt->lock);
	report(lt, LINK_UP, TROUBLE_NONE, "");
}

#define EXPECT_HEADER "Nats-Expected-Last-Subject-Sequence"

static natsStatus
publish_expect(struct link_thread *lt, const struct link_out *out)
{
	natsMsg *msg = NULL;
	natsStatus s = natsMsg_Create(&msg, out->subject, out->reply,
	    (const char *)out->data, (int)out->len);

	if (s == NATS_OK)
		s = natsMsgHeader_Set(msg, EXPECT_HEADER, out->expect);
	if (s == NATS_OK)
		s = natsConnection_PublishMsg(lt->nc, msg);
	natsMsg_Destroy(msg);
	return s;
}

static natsStatus
publish(struct link_thread *lt, const struct link_out *out)
{
	if (out->expect != NULL)
		return publish_expect(lt, out);
	if (out->reply != NULL)
		return natsConnection_PublishRequest(lt->nc, out->subject,
		    out->reply, out->data, (int)out->len);
	return natsConnection_Publish(lt->nc, out->subject, out->data,
	    (int)out->len);
}

static void
publish_all(struct link_thread *lt, struct link_outs *outs)
{
	natsStatus s = lt->nc != NULL ? NATS_OK : NATS_CONNECTION_CLOSED;
	struct link_out *out;
	char why[160];

	for (out = STAILQ_FIRST(outs); out != NULL && s == NATS_OK;
	     out = STAILQ_NEXT(out, link)) {
		s = publish(lt, out);
		/*
		 * The message is dropped; its sender waits until its time
		 * limit.
		 */
		if (s == NATS_MAX_PAYLOAD || s == NATS_INVALID_SUBJECT)
			s = NATS_OK;
	}
	link_outs_free(outs);
	if (s == NATS_OK || lt->nc == NULL)
		return;
	nats_error_text(lt->nc, s, why, sizeof(why));
	connection_end(lt);
	report(lt, LINK_DOWN, TROUBLE_AWAY, why);
}

/* The lock is held before and after. */
static void
link_change(struct link_thread *lt, struct nats_target *target)
{
	int closed = lt->closed && !lt->drop && target == NULL;
	int denied = lt->denied;
	char why[160];

	lt->target = NULL;
	lt->drop = 0;
	snprintf(why, sizeof(why), "%s",
	    denied	    ? INBOX_DENIED :
		lt->flooded ? "the broker sends more than was asked for" :
			      "");
	pthread_mutex_unlock(&lt->lock);
	if (closed && why[0] == '\0')
		nats_error_text(lt->nc, NATS_CONNECTION_CLOSED, why,
		    sizeof(why));
	connection_end(lt);
	if (closed)
		report(lt, LINK_DOWN, denied ? TROUBLE_DENIED : TROUBLE_AWAY,
		    why);
	if (target != NULL)
		connect_to(lt, target);
	nats_target_free(target);
	pthread_mutex_lock(&lt->lock);
}

/* Does one step.  The lock is held before and after.  0 = nothing to do. */
static int
step(struct link_thread *lt)
{
	struct link_outs outs = STAILQ_HEAD_INITIALIZER(outs);

	if (lt->drop || lt->target != NULL || lt->closed) {
		link_change(lt, lt->target);
		return 1;
	}
	if (STAILQ_EMPTY(&lt->out))
		return 0;
	STAILQ_CONCAT(&outs, &lt->out);
	pthread_mutex_unlock(&lt->lock);
	publish_all(lt, &outs);
	pthread_mutex_lock(&lt->lock);
	return 1;
}

static void *
run(void *arg)
{
	struct link_thread *lt = arg;

	pthread_mutex_lock(&lt->lock);
	while (!lt->quit)
		if (!step(lt))
			pthread_cond_wait(&lt->cond, &lt->lock);
	pthread_mutex_unlock(&lt->lock);
	connection_end(lt);
	return NULL;
}

struct link_thread *
link_thread_new(void)
{
	struct link_thread *lt = kept;

	if (lt == NULL)
		lt = calloc(1, sizeof(*lt));
	else if (lt->running)
		errno = EBUSY; /* the old thread has not ended yet */
	if (lt == NULL || lt->running)
		return NULL;
	kept = lt;
	memset(lt, 0, sizeof(*lt));
	lt->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (lt->fd == -1)
		return NULL;
	pthread_mutex_init(&lt->lock, NULL);
	pthread_cond_init(&lt->cond, NULL);
	STAILQ_INIT(&lt->in);
	STAILQ_INIT(&lt->out);
	return lt;
}

/* The thread blocks all signals: the event loop handles them. */
static int
thread_start(struct link_thread *lt)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	errno = pthread_create(&lt->thread, NULL, run, lt);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (errno != 0)
		return -1;
	lt->running = 1;
	return 0;
}

void
link_thread_free(struct link_thread *lt)
{
	struct timespec until;

	if (lt == NULL)
		return;
	pthread_mutex_lock(&lt->lock);
	lt->quit = 1;
	pthread_cond_signal(&lt->cond);
	pthread_mutex_unlock(&lt->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_SECONDS;
	if (lt->running &&
	    pthread_timedjoin_np(lt->thread, NULL, &until) != 0) {
		pthread_detach(lt->thread);
		return; /* the thread still uses lt */
	}
	lt->running = 0;
	ins_free(&lt->in);
	link_outs_free(&lt->out);
	nats_target_free(lt->target);
	lt->target = NULL;
	close(lt->fd);
}

int
link_thread_fd(const struct link_thread *lt)
{
	return lt->fd;
}

int
link_thread_connect(struct link_thread *lt, struct nats_target *t)
{
	if (!lt->running && thread_start(lt) == -1) {
		nats_target_free(t);
		return -1;
	}
	pthread_mutex_lock(&lt->lock);
	nats_target_free(lt->target);
	lt->target = t;
	lt->report.state = LINK_BUSY;
	pthread_cond_signal(&lt->cond);
	pthread_mutex_unlock(&lt->lock);
	return 0;
}

void
link_thread_disconnect(struct link_thread *lt)
{
	pthread_mutex_lock(&lt->lock);
	link_outs_free(&lt->out);
	nats_target_free(lt->target);
	lt->target = NULL;
	lt->drop = 1;
	lt->report.state = LINK_DOWN;
	lt->report.trouble = TROUBLE_NONE;
	pthread_cond_signal(&lt->cond);
	pthread_mutex_unlock(&lt->lock);
}

void
link_thread_put(struct link_thread *lt, struct link_outs *outs)
{
	pthread_mutex_lock(&lt->lock);
	STAILQ_CONCAT(&lt->out, outs);
	pthread_mutex_unlock(&lt->lock);
	pthread_cond_signal(&lt->cond);
}

void
link_thread_take(struct link_thread *lt, struct link_ins *in,
    struct link_report *to)
{
	uint64_t n;

	if (read(lt->fd, &n, sizeof(n)) == -1 && errno != EAGAIN)
		n = 0;
	STAILQ_INIT(in);
	pthread_mutex_lock(&lt->lock);
	STAILQ_CONCAT(in, &lt->in);
	lt->n_in = 0;
	lt->in_bytes = 0;
	*to = lt->report;
	pthread_mutex_unlock(&lt->lock);
}
