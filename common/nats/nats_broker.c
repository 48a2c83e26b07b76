/* SPDX-License-Identifier: MIT */
/* See nats_broker.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

#include "common/backoff.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/nats/nats_broker.h"
#include "common/nats/nats_options.h"
#include "common/text/time_text.h"

/* Wait before the next broker of the list. */
#define NEXT_MS 50
/* A connection that lasted this long resets the back-off. */
#define GOOD_MS 30000
#define WHY_MAX 256 /* bytes of a cause */

/* First and longest wait in ms.  Doubled after each round of all brokers. */
static const struct {
	int first, most;
} waits[] = {
	[TROUBLE_NONE] = { 250, 30000 },
	[TROUBLE_AWAY] = { 250, 5000 },
	[TROUBLE_DENIED] = { 5000, 60000 }, /* an administrator must act */
	[TROUBLE_STREAM] = { 1000, 30000 }, /* also while a broker starts */
};

struct nats_broker {
	struct resolver *names;		   /* borrowed */
	const struct nats_broker_ops *ops; /* borrowed */
	void *arg;
	struct nats_conf *conf;	      /* a reference; NULL = none yet */
	struct event *timer;	      /* the next attempt */
	struct resolver_query *query; /* name resolution under way */
	unsigned generation;	      /* of conf */
	unsigned server;	      /* attempts; modulo n_servers */
	unsigned rounds;	      /* failed since the last success */
	int up;
	time_t since;	   /* epoch: of up, or of its end */
	long long up_at;   /* clock_ms() */
	char why[WHY_MAX]; /* of the failure; "" = none */
	/* The cause that was logged for each broker since the last success. */
	char logged[NATS_SERVERS_MAX][WHY_MAX];
	char where[HOST_MAX + 64]; /* "host:port (address)" */
};

void
nats_target_free(struct nats_target *t)
{
	if (t != NULL)
		nats_conf_free(t->conf);
	free(t);
}

/* 1 when natsServer is set. */
static int
is_used(const struct nats_broker *b)
{
	return b->conf != NULL && b->conf->n_servers != 0;
}

static void
retry_in(struct nats_broker *b, int ms)
{
	struct timeval tv = clock_timeval(ms);

	evtimer_add(b->timer, &tv);
}

/* ms until the next attempt. */
static int
retry_ms(struct nats_broker *b, enum nats_trouble trouble)
{
	b->server++;
	if (b->server % b->conf->n_servers != 0)
		return NEXT_MS;
	return (int)backoff_jitter(backoff_wait(b->rounds++,
	    waits[trouble].first, waits[trouble].most));
}

/* An attempt failed, or the connection broke. */
static void
failed(struct nats_broker *b, enum nats_trouble trouble, const char *why)
{
	char *logged = b->logged[b->server % b->conf->n_servers];
	int was_up = b->up;

	if (was_up || b->why[0] == '\0' || b->since == 0)
		b->since = time(NULL);
	snprintf(b->why, sizeof(b->why), "%s", why);
	if (was_up || strcmp(logged, b->why) != 0)
		log_warnx("NATS: not connected: %s; %s", b->why,
		    trouble == TROUBLE_DENIED ?
			"check the login and its permissions" :
			"attempts continue");
	if (was_up && clock_ms() - b->up_at >= GOOD_MS)
		b->rounds = 0;
	b->up = 0;
	snprintf(logged, WHY_MAX, "%s", b->why);
	retry_in(b, retry_ms(b, trouble));
	if (was_up)
		b->ops->up(0, b->arg);
}

static const struct destination *
server_now(const struct nats_broker *b)
{
	return &b->conf->servers[b->server % b->conf->n_servers];
}

static void
on_name(const struct resolver_answer *a, void *arg)
{
	struct nats_broker *b = arg;
	const struct destination *server = server_now(b);
	struct nats_target *t;
	char why[WHY_MAX];

	b->query = NULL;
	if (a->n == 0) {
		snprintf(why, sizeof(why), "%.100s: %s", server->host,
		    a->why != NULL ? a->why : "no address");
		failed(b, TROUBLE_AWAY, why);
		return;
	}
	t = calloc(1, sizeof(*t));
	if (t == NULL) {
		failed(b, TROUBLE_AWAY, "out of memory");
		return;
	}
	t->generation = b->generation;
	t->conf = nats_conf_ref(b->conf);
	t->server = *server;
	t->addresses = *a;
	t->addresses.why = NULL;
	if (b->ops->connect(t, b->arg) == -1)
		failed(b, TROUBLE_AWAY, "the thread cannot be started");
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct nats_broker *b = arg;
	struct resolver_query *q;

	if (b->query != NULL || !is_used(b))
		return;
	q = resolver_resolve(b->names, server_now(b)->host, on_name, b);
	if (q != NULL)
		b->query = q;
}

struct nats_broker *
nats_broker_new(struct event_base *base, struct resolver *names,
    const struct nats_broker_ops *ops, void *arg)
{
	struct nats_broker *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->names = names;
	b->ops = ops;
	b->arg = arg;
	b->timer = evtimer_new(base, on_timer, b);
	if (b->timer == NULL) {
		free(b);
		return NULL;
	}
	return b;
}

void
nats_broker_free(struct nats_broker *b)
{
	if (b == NULL)
		return;
	resolver_cancel(b->query);
	event_free(b->timer);
	nats_conf_free(b->conf);
	free(b);
}

void
nats_broker_use(struct nats_broker *b, struct nats_conf *nc)
{
	int was_up = b->up;

	if (b->conf != NULL && nats_conf_equal(b->conf, nc)) {
		nats_conf_free(nc);
		return;
	}
	resolver_cancel(b->query);
	b->query = NULL;
	evtimer_del(b->timer);
	nats_conf_free(b->conf);
	b->conf = nc;
	b->generation++;
	b->server = b->rounds = 0;
	b->up = 0;
	b->since = 0;
	b->why[0] = '\0';
	memset(b->logged, 0, sizeof(b->logged));
	b->ops->disconnect(b->arg);
	if (nc->n_servers != 0)
		retry_in(b, 0);
	if (was_up)
		b->ops->up(0, b->arg);
}

const struct nats_conf *
nats_broker_conf(const struct nats_broker *b)
{
	return b->conf;
}

int
nats_broker_is_up(const struct nats_broker *b)
{
	return b->up;
}

static int
is_current(const struct nats_broker *b, unsigned generation)
{
	return is_used(b) && generation == b->generation;
}

void
nats_broker_connected(struct nats_broker *b, unsigned generation,
    const char *where)
{
	if (!is_current(b, generation) || b->up)
		return;
	snprintf(b->where, sizeof(b->where), "%s", where);
	if (b->why[0] != '\0' || b->since == 0)
		log_notice("NATS: connected to %s", b->where);
	b->up = 1;
	b->up_at = clock_ms();
	b->since = time(NULL);
	b->why[0] = '\0';
	memset(b->logged, 0, sizeof(b->logged));
	b->ops->up(1, b->arg);
}

void
nats_broker_failed(struct nats_broker *b, unsigned generation,
    enum nats_trouble trouble, const char *why)
{
	if (!is_current(b, generation))
		return;
	resolver_forget(b->names, server_now(b)->host);
	failed(b, trouble, why);
}

void
nats_broker_worked(struct nats_broker *b)
{
	b->rounds = 0;
}

static void
text_write(const struct nats_broker *b, char *buf, size_t size)
{
	if (!is_used(b))
		snprintf(buf, size, "off");
	else if (b->up)
		snprintf(buf, size, "connected to %.200s", b->where);
	else if (b->why[0] == '\0')
		snprintf(buf, size, "connecting");
	else
		snprintf(buf, size, "no connection since %s: %.200s",
		    time_text(b->since), b->why);
}

void
nats_broker_status(const struct nats_broker *b, struct nats_broker_status *st)
{
	const char *clear = NULL;

	memset(st, 0, sizeof(*st));
	if (b->conf != NULL)
		clear = nats_conf_clear_host(b->conf);
	snprintf(st->clear, sizeof(st->clear), "%s",
	    clear != NULL ? clear : "");
	text_write(b, st->text, sizeof(st->text));
	if (!is_used(b) || b->up || b->why[0] == '\0')
		return;
	st->away_since = b->since;
	snprintf(st->why, sizeof(st->why), "%.199s", b->why);
}
