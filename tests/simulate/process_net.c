/* SPDX-License-Identifier: MIT */
/*
 * Names of hosts, secrets and the configuration of NATS in a simulated process:
 * there is nothing to resolve and nothing secret.
 */
#include "config.h"

#include <event2/event.h>
#include <stdlib.h>

#include "common/nats/nats_conf.h"
#include "common/net/resolver.h"
#include "common/net/secret.h"
#include "tests/simulate/world.h"

struct nats_conf {
	int unused;
};

void
nats_prepare(void)
{
}

struct nats_conf *
nats_conf_new(const struct conf *conf, const uint8_t *secrets, size_t len,
    char *reason, size_t size)
{
	(void)conf;
	(void)secrets;
	(void)len;
	(void)reason;
	(void)size;
	return world_alloc(sizeof(struct nats_conf));
}

void
nats_conf_free(struct nats_conf *nc)
{
	free(nc);
}

void
resolver_prepare(void)
{
}

struct resolver *
resolver_new(struct event_base *base)
{
	(void)base;
	return world_alloc(1);
}

void
resolver_free(struct resolver *n)
{
	free(n);
}

void
resolver_file(struct resolver *n, enum msg_file which, const uint8_t *p,
    size_t len)
{
	(void)n;
	(void)which;
	(void)p;
	(void)len;
}

void
secret_wipe_all(void)
{
}

int
secret_is_unlocked(void)
{
	return 0;
}
