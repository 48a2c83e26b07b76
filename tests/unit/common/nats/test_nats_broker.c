/* SPDX-License-Identifier: MIT */
/* The choice of the broker: each is tried, and a cause is logged once for each. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/log_line.h"
#include "common/nats/nats_broker.h"
#include "common/nats/nats_options.h"
#include "common/net/resolver.h"
#include "tests/unit/check.h"

static struct event_base *base;
static struct nats_target *target; /* of the last attempt */
static unsigned attempts[2];	   /* at each broker */
static unsigned lines;		   /* of the log: no connection */

static int
on_connect(struct nats_target *t, void *arg)
{
	(void)arg;
	nats_target_free(target);
	target = t;
	attempts[t->server.port - 4222]++;
	event_base_loopbreak(base);
	return 0;
}

static void
on_disconnect(void *arg)
{
	(void)arg;
}

static void
on_up(int up, void *arg)
{
	(void)up;
	(void)arg;
}

static void
on_log(const struct log_line *line)
{
	lines += strstr(line->text, "not connected: broker") != NULL;
}

static struct nats_conf *
two_brokers(void)
{
	struct nats_conf *nc = calloc(1, sizeof(*nc));
	unsigned i;

	if (nc == NULL)
		abort();
	nc->refs = 1;
	nc->n_servers = 2;
	for (i = 0; i < 2; i++) {
		snprintf(nc->servers[i].host, sizeof(nc->servers[i].host),
		    "127.0.0.1");
		nc->servers[i].port = (uint16_t)(4222 + i);
	}
	return nc;
}

/* The next attempt begins. */
static void
attempt(void)
{
	struct timeval tv = clock_timeval(10000);

	event_base_loopexit(base, &tv);
	event_base_dispatch(base);
}

static void
attempt_fails(struct nats_broker *b)
{
	char why[32];

	attempt();
	snprintf(why, sizeof(why), "broker %d is away", target->server.port);
	nats_broker_failed(b, target->generation, TROUBLE_AWAY, why);
}

static void
test_away(void)
{
	static const struct nats_broker_ops ops = {
		.connect = on_connect,
		.disconnect = on_disconnect,
		.up = on_up,
	};
	struct resolver *names = resolver_new(base);
	struct nats_broker *b = nats_broker_new(base, names, &ops, NULL);
	int i;

	nats_broker_use(b, two_brokers());
	for (i = 0; i < 4; i++)
		attempt_fails(b);
	CHECK_INT(attempts[0], 2);
	CHECK_INT(attempts[1], 2);
	CHECK_INT(lines, 2);
	CHECK_INT(nats_broker_is_up(b), 0);
	/* The end of a connection is logged, and then each cause again. */
	attempt();
	nats_broker_connected(b, target->generation, "a broker");
	CHECK_INT(nats_broker_is_up(b), 1);
	nats_broker_failed(b, target->generation, TROUBLE_AWAY,
	    "broker 4222 is away");
	CHECK_INT(lines, 3);
	attempt_fails(b);
	attempt_fails(b);
	CHECK_INT(lines, 4);
	nats_broker_free(b);
	nats_target_free(target);
	resolver_free(names);
}

int
main(void)
{
	base = event_base_new();
	log_set_level(LOG_LEVEL_WARN);
	log_sink_set(on_log);
	test_away();
	log_sink_set(log_line_send);
	event_base_free(base);
	return check_done();
}
