/* SPDX-License-Identifier: MIT */
/* How long a daemon that does not answer is left alone. */
#include "config.h"

#include "collector/base/cluster.h"
#include "tests/unit/check.h"

static void
fail(struct health *h, int times)
{
	while (times-- > 0)
		health_bad(h, "no answer");
}

/* After an outage the next query is at most one poll interval away. */
static void
test_most(void)
{
	struct health h = { .daemon = "slurmctld", .name = "slurmctld" };

	h.wait_max_ms = 2000;
	CHECK_INT(health_wait(&h), 0);
	fail(&h, 1);
	CHECK(health_wait(&h) > 0 && health_wait(&h) <= 1000);
	fail(&h, 9);
	CHECK(health_wait(&h) > 1000 && health_wait(&h) <= 2000);
	/* A shorter interval takes effect with the next failure. */
	h.wait_max_ms = 1500;
	fail(&h, 1);
	CHECK(health_wait(&h) <= 1500);
	health_good(&h);
	CHECK_INT(health_wait(&h), 0);
}

static void
test_long_poll(void)
{
	struct health h = { .daemon = "slurmdbd", .name = "slurmdbd" };

	h.wait_max_ms = 600000;
	fail(&h, 12);
	CHECK(health_wait(&h) > 30000 && health_wait(&h) <= 60000);
}

int
main(void)
{
	test_most();
	test_long_poll();
	return check_done();
}
