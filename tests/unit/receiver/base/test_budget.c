/* SPDX-License-Identifier: MIT */
/* The budget of messages and bytes. */
#include "config.h"

#include "receiver/base/budget.h"
#include "tests/unit/check.h"

static void
test_one_stream(void)
{
	struct budget b = { .streams = 1 };
	struct budget_use use = { 0 };
	struct budget_grant g = budget_grant(&b, &use, 1, 0);

	CHECK_INT(g.messages, 1);
	CHECK_INT(g.bytes, BUDGET_OWN_BYTES);
	g = budget_grant(&b, &use, 1, 3);
	CHECK_INT(g.messages, 3);
	/* half is fetched while the other half is made durable */
	g = budget_grant(&b, &use, 1, 1000000);
	CHECK_INT(g.messages, 128);
	budget_add(&b, &use, g.messages, g.bytes);
	CHECK_INT(budget_grant(&b, &use, 1, 1000000).messages, 128);
	budget_add(&b, &use, 128, g.bytes - BUDGET_OWN_BYTES);
	CHECK_INT(budget_grant(&b, &use, 1, 1000000).messages, 0);
	budget_sub(&b, &use, 256, BUDGET_BYTES);
	CHECK_INT(b.extra_messages, 0);
	CHECK_INT(b.extra_bytes, 0);
	CHECK_INT(use.messages, 0);
}

/* A stream with any number of messages leaves the others their share. */
static void
test_fair(void)
{
	struct budget b = { .streams = 200 };
	struct budget_use use[200] = { 0 };
	struct budget_grant g;
	unsigned i, sum = 0;
	size_t bytes = 0;

	while ((g = budget_grant(&b, &use[0], 1, 1000000)).messages != 0)
		budget_add(&b, &use[0], g.messages, g.bytes);
	CHECK(use[0].messages > 1);
	for (i = 1; i < 200; i++) {
		g = budget_grant(&b, &use[i], 200, 1000000);
		CHECK(g.messages >= 1);
		budget_add(&b, &use[i], g.messages, g.bytes);
	}
	for (i = 0; i < 200; i++) {
		sum += use[i].messages;
		bytes += use[i].bytes;
	}
	CHECK(sum <= BUDGET_MESSAGES);
	CHECK(bytes <= BUDGET_BYTES);
}

static void
test_many(void)
{
	struct budget b = { .streams = BUDGET_MESSAGES };
	struct budget_use use = { 0 };
	struct budget_grant g = budget_grant(&b, &use, BUDGET_MESSAGES, 1000);

	CHECK_INT(g.messages, 1);
	CHECK_INT(g.bytes >= BUDGET_OWN_BYTES, 1);
	budget_add(&b, &use, g.messages, BUDGET_OWN_BYTES);
	CHECK_INT(budget_grant(&b, &use, 1, 1000).messages, 0);
}

/* The longest message has a place as soon as the others have given theirs back. */
static void
test_long(void)
{
	struct budget b = { .streams = BUDGET_MESSAGES };
	struct budget_use one = { 0 }, other = { 0 };

	CHECK_INT(budget_grant_long(&b, &one, BUDGET_LONGEST).messages, 1);
	budget_add(&b, &other, 1, 8 * BUDGET_OWN_BYTES);
	CHECK_INT(budget_grant_long(&b, &one, BUDGET_LONGEST).messages, 0);
	budget_sub(&b, &other, 1, 8 * BUDGET_OWN_BYTES);
	CHECK_INT(budget_grant_long(&b, &one, BUDGET_LONGEST).messages, 1);
	budget_add(&b, &one, 1, BUDGET_LONGEST);
	CHECK_INT(budget_grant_long(&b, &other, BUDGET_LONGEST).messages, 0);
	CHECK_INT(budget_grant(&b, &other, 1, 1).messages, 1);
}

int
main(void)
{
	test_one_stream();
	test_fair();
	test_many();
	test_long();
	return check_done();
}
