/* SPDX-License-Identifier: MIT */
/* The receiver logs the begin and the end of its lease.  The test replaces the link. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/nats/nats_broker.h"
#include "receiver/lease/bucket.h"
#include "receiver/link/link.h"
#include "tests/unit/check.h"

static int64_t lease_until; /* of the lease */
static char said[256];
static unsigned n_said;

static int64_t
test_until(const struct bucket *b)
{
	return lease_until;
}

static void __attribute__((format(printf, 1, 2)))
test_notice(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
	n_said++;
}

/* on_lease_until() */
int receiver_main(int argc, char **argv);
#define main	     receiver_main
#define bucket_until test_until
#define log_notice   test_notice
#include "receiver/main.c"
#undef main

struct link *
link_new(struct event_base *base, struct resolver *names,
    const struct link_ops *to, void *arg)
{
	return NULL;
}

void
link_use(struct link *l, struct nats_conf *nc)
{
}

int
link_is_up(const struct link *l)
{
	return 0;
}

size_t
link_max_payload(const struct link *l)
{
	return 0;
}

int
link_publish(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len)
{
	return -1;
}

int
link_publish_expect(struct link *l, const char *subject, const char *answer,
    const void *data, size_t len, uint64_t expect)
{
	return -1;
}

void
link_worked(struct link *l)
{
}

void
link_status(const struct link *l, struct nats_broker_status *st)
{
}

static void
lease_set(struct receiver *v, int64_t to)
{
	lease_until = to;
	on_lease_until(to, v);
}

static void
test_lease(void)
{
	struct receiver v = { .active_only = 1 };

	lease_set(&v, 1000);
	CHECK_STR(said, "this centre is active: it has the lease");
	lease_set(&v, 2000);
	CHECK_INT(n_said, 1);
	lease_set(&v, 0);
	CHECK_STR(said, "this centre is not active: it has no lease");
	CHECK_INT(n_said, 2);
	/* A reload without activeOnly ends the lease: the centre sends. */
	lease_set(&v, 3000);
	v.active_only = 0;
	lease_set(&v, 0);
	CHECK_INT(n_said, 3);
	/* and with it again */
	v.active_only = 1;
	lease_set(&v, 4000);
	CHECK_INT(n_said, 4);
}

int
main(void)
{
	test_lease();
	return check_done();
}
