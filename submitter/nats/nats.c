/* SPDX-License-Identifier: MIT */
/*
 * NATS for the event loop: chooses the next broker and the time of the next
 * attempt, passes messages to the thread and results to the caller.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>
#include <openssl/crypto.h>

#include "common/backoff.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/net/system_ca.h"
#include "common/text/time_text.h"
#include "submitter/nats/nats.h"
#include "submitter/nats/nats_thread.h"

/* The broker counts JetStream's header with the message id as payload. */
#define HEADER_BYTES (MESSAGE_ID_MAX + 64)
/* Wait before the next broker of the list. */
#define NEXT_MS 50
/* ns; after an outage longer than the window the stream stores duplicates. */
#define WINDOW_LEAST (3600 * (int64_t)1000000000)
/* A connection that lasted this long resets the back-off. */
#define GOOD_MS 30000

/* First and longest wait in ms.  Doubled after each round of all brokers. */
static const struct {
	int first, most;
} waits[] = {
	[TROUBLE_NONE] = { 250, 30000 },
	[TROUBLE_AWAY] = { 250, 30000 },
	[TROUBLE_DENIED] = { 5000, 60000 }, /* an administrator must act */
	[TROUBLE_STREAM] = { 1000, 30000 }, /* also while a broker starts */
};

struct nats {
	struct event_base *base; /* borrowed */
	struct resolver *names;	 /* borrowed */
	nats_done_fn *done;
	nats_up_fn *on_up;
	void *arg;
	struct nats_conf *conf;	      /* a reference; NULL = none yet */
	struct nats_thread *thread;   /* owned */
	struct event *readable;	      /* of the thread's eventfd */
	struct event *timer;	      /* the next attempt */
	struct resolver_query *query; /* name resolution under way */
	struct nats_state state;      /* last copy of the thread's */
	unsigned generation;	      /* of conf */
	unsigned server;	      /* attempts; modulo n_servers */
	unsigned rounds;	      /* failed since the last success */
	unsigned in_flight;
	int up;
	time_t since;	      /* epoch: of up, or of its end */
	long long up_at;      /* clock_ms() */
	char why[256];	      /* of the failure; "" = none */
	char host[HOST_MAX];  /* tag of line protocol */
	struct nats_status n; /* counters */
};

/* 1 when natsServer is set. */
static int
is_used(const struct nats *n)
{
	return n->conf != NULL && n->conf->n_servers != 0;
}

void
nats_prepare(void)
{
	/* Reads openssl.cnf, which the chroot does not have. */
	OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG |
		OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
	    NULL);
	system_ca_load();
}

static void
retry_in(struct nats *n, int ms)
{
	struct timeval tv = clock_timeval(ms);

	evtimer_add(n->timer, &tv);
}

/* ms until the next attempt. */
static int
retry_ms(struct nats *n, enum nats_trouble trouble)
{
	n->server++;
	if (n->server % n->conf->n_servers != 0)
		return NEXT_MS;
	return (int)backoff_jitter(backoff_wait(n->rounds++,
	    waits[trouble].first, waits[trouble].most));
}

/* An attempt failed, or the connection broke. */
static void
failed(struct nats *n, enum nats_trouble trouble, const char *why)
{
	int was_up = n->up;

	if (was_up || n->why[0] == '\0' || n->since == 0)
		n->since = time(NULL);
	/* Log a cause once; the attempts continue. */
	if (was_up || strcmp(n->why, why) != 0)
		log_warnx("NATS: not connected: %s; %s", why,
		    trouble == TROUBLE_DENIED ?
			"check the login and its permission to publish" :
			"attempts continue");
	if (was_up && clock_ms() - n->up_at >= GOOD_MS)
		n->rounds = 0;
	n->up = 0;
	snprintf(n->why, sizeof(n->why), "%s", why);
	retry_in(n, retry_ms(n, trouble));
	if (was_up)
		n->on_up(0, n->arg);
}

static const struct destination *
server_now(const struct nats *n)
{
	return &n->conf->servers[n->server % n->conf->n_servers];
}

static void
on_name(const struct resolver_answer *a, void *arg)
{
	struct nats *n = arg;
	const struct destination *server = server_now(n);
	struct nats_target *t;
	char why[256];

	n->query = NULL;
	if (a->n == 0) {
		snprintf(why, sizeof(why), "%.100s: %s", server->host,
		    a->why != NULL ? a->why : "no address");
		failed(n, TROUBLE_AWAY, why);
		return;
	}
	t = calloc(1, sizeof(*t));
	if (t == NULL) {
		failed(n, TROUBLE_AWAY, "out of memory");
		return;
	}
	t->generation = n->generation;
	t->conf = nats_conf_ref(n->conf);
	t->server = *server;
	t->addresses = *a;
	t->addresses.why = NULL;
	if (nats_thread_connect(n->thread, t) == -1)
		failed(n, TROUBLE_AWAY, "the thread cannot be started");
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct nats *n = arg;
	struct resolver_query *q;

	if (n->query != NULL || !is_used(n))
		return;
	q = resolver_resolve(n->names, server_now(n)->host, on_name, n);
	if (q != NULL)
		n->query = q;
}

static void
came_up(struct nats *n)
{
	if (n->why[0] != '\0' || n->since == 0)
		log_notice("NATS: connected to %s", n->state.where);
	n->up = 1;
	n->up_at = clock_ms();
	n->since = time(NULL);
	n->why[0] = '\0';
	n->on_up(1, n->arg);
}

static void
check_window(struct nats *n, int64_t before)
{
	if (n->state.window == before || n->state.window == 0 ||
	    n->state.window >= WINDOW_LEAST)
		return;
	log_warnx("NATS: the duplicate window of the stream is %s: after a "
		  "longer outage the stream may store a message twice; set the "
		  "window to an hour or more",
	    duration_text(n->state.window / 1000000));
}

static void
count(struct nats *n, const struct nats_item *item)
{
	switch (item->result) {
	case NATS_SENT:
		n->n.sent++;
		n->n.duplicates += item->duplicate != 0;
		n->rounds = 0;
		break;
	case NATS_UNSURE:
		n->n.unsure++;
		break;
	case NATS_AWAY:
		n->n.away++;
		break;
	case NATS_DENIED:
	case NATS_TOO_LONG:
		n->n.refused++;
		break;
	}
}

/* Delivers results first: they belong to the connection that ends. */
static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct nats *n = arg;
	unsigned serial = n->state.serial;
	int64_t window = n->state.window;
	struct nats_items out;
	struct nats_item *item;

	nats_thread_take(n->thread, &out, &n->state);
	while ((item = STAILQ_FIRST(&out)) != NULL) {
		STAILQ_REMOVE_HEAD(&out, link);
		n->in_flight--;
		count(n, item);
		n->done(item->token, item->result,
		    item->why[0] != '\0' ? item->why : NULL, n->arg);
		nats_item_free(item);
	}
	check_window(n, window);
	if (n->state.serial == serial || !is_used(n) ||
	    n->state.generation != n->generation)
		return; /* no change, or of an old configuration */
	if (n->state.state == NATS_LINK_UP && !n->up)
		came_up(n);
	else if (n->state.state == NATS_LINK_DOWN &&
	    n->state.trouble != TROUBLE_NONE) {
		resolver_forget(n->names, server_now(n)->host);
		failed(n, n->state.trouble, n->state.why);
	}
}

struct nats *
nats_new(struct event_base *base, struct resolver *names, nats_done_fn *done,
    nats_up_fn *up, void *arg)
{
	struct nats *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->base = base;
	n->names = names;
	n->done = done;
	n->on_up = up;
	n->arg = arg;
	if (gethostname(n->host, sizeof(n->host) - 1) == -1)
		snprintf(n->host, sizeof(n->host), "localhost");
	n->thread = nats_thread_new();
	n->timer = evtimer_new(base, on_timer, n);
	if (n->thread != NULL)
		n->readable = event_new(base, nats_thread_fd(n->thread),
		    EV_READ | EV_PERSIST, on_readable, n);
	if (n->timer == NULL || n->readable == NULL ||
	    event_add(n->readable, NULL) == -1) {
		nats_free(n);
		return NULL;
	}
	return n;
}

void
nats_free(struct nats *n)
{
	if (n == NULL)
		return;
	resolver_cancel(n->query);
	if (n->readable != NULL)
		event_free(n->readable);
	if (n->timer != NULL)
		event_free(n->timer);
	nats_thread_free(n->thread);
	nats_conf_free(n->conf);
	free(n);
}

void
nats_use(struct nats *n, struct nats_conf *nc)
{
	int was_up = n->up;

	if (n->conf != NULL && nats_conf_equal(n->conf, nc)) {
		nats_conf_free(nc);
		return;
	}
	resolver_cancel(n->query);
	n->query = NULL;
	evtimer_del(n->timer);
	nats_conf_free(n->conf);
	n->conf = nc;
	n->generation++;
	n->server = n->rounds = 0;
	n->up = 0;
	n->since = 0;
	n->why[0] = '\0';
	nats_thread_disconnect(n->thread);
	if (nc->n_servers != 0)
		retry_in(n, 0);
	if (was_up)
		n->on_up(0, n->arg);
}

int
nats_is_up(const struct nats *n)
{
	return n->up;
}

/* Fills an item with the message of a run; errno and *why as nats_send(). */
static int
item_make(struct nats *n, const struct payload *p,
    const struct payload_how *how, const struct job *job, enum message kind,
    int64_t again, struct nats_item *item, const char **why)
{
	struct message_how mh = { n->conf->json ? MESSAGE_JSON : MESSAGE_LINE,
		n->host, n->state.max_payload };
	struct writer w;
	int rc;

	if (n->conf->jetstream)
		mh.max = mh.max > HEADER_BYTES ? mh.max - HEADER_BYTES : 0;
	wr_init(&w, PAYLOAD_MAX);
	rc = message_make(p, how, &mh, job, kind, &w, why);
	if (rc == -1) {
		if (errno == E2BIG)
			errno = EMSGSIZE;
		wr_clear(&w);
		return -1;
	}
	n->n.shortened += rc == 1;
	item->bytes = w.buf; /* takes the writer's memory */
	item->len = w.len;
	message_id(&job->key, kind, again, item->id, sizeof(item->id));
	return 0;
}

int
nats_send(struct nats *n, const struct payload *p,
    const struct payload_how *how, const struct job *job, enum message kind,
    int64_t again, uint64_t token, const char **why)
{
	struct nats_item *item;

	*why = NULL;
	if (!n->up) {
		errno = ENOTCONN;
		return -1;
	}
	if (n->in_flight >= NATS_IN_FLIGHT) {
		errno = EAGAIN;
		return -1;
	}
	item = calloc(1, sizeof(*item));
	if (item == NULL)
		return -1;
	item->token = token;
	if (item_make(n, p, how, job, kind, again, item, why) == -1) {
		nats_item_free(item);
		return -1;
	}
	n->in_flight++;
	nats_thread_put(n->thread, item);
	return 0;
}

void
nats_status(const struct nats *n, struct nats_status *st)
{
	const char *clear;

	*st = n->n;
	st->in_flight = n->in_flight;
	clear = n->conf != NULL ? nats_conf_clear_host(n->conf) : NULL;
	snprintf(st->clear, sizeof(st->clear), "%s",
	    clear != NULL ? clear : "");
	if (!is_used(n))
		snprintf(st->text, sizeof(st->text), "off");
	else if (n->up)
		snprintf(st->text, sizeof(st->text), "connected to %.200s",
		    n->state.where);
	else if (n->why[0] == '\0')
		snprintf(st->text, sizeof(st->text), "connecting");
	else
		snprintf(st->text, sizeof(st->text),
		    "no connection since %s: %.200s", time_text(n->since),
		    n->why);
	st->away_since = 0;
	st->why[0] = '\0';
	if (!is_used(n) || n->up || n->why[0] == '\0')
		return;
	st->away_since = n->since;
	snprintf(st->why, sizeof(st->why), "%.199s", n->why);
}
