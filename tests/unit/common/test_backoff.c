/* SPDX-License-Identifier: MIT */
/* Waits between attempts. */
#include "config.h"

#include "common/backoff.h"
#include "tests/unit/check.h"

static void
test_wait(void)
{
	CHECK_INT(backoff_wait(0, 500, 60000), 500);
	CHECK_INT(backoff_wait(1, 500, 60000), 1000);
	CHECK_INT(backoff_wait(6, 500, 60000), 32000);
	CHECK_INT(backoff_wait(7, 500, 60000), 60000);
	CHECK_INT(backoff_wait(UINT32_MAX, 500, 60000), 60000);
	CHECK_INT(backoff_wait(UINT32_MAX, 1, INT64_MAX), INT64_MAX);
	CHECK_INT(backoff_wait(0, 500, 100), 100);
}

static void
test_jitter(void)
{
	int64_t ms, least = INT64_MAX, most = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		ms = backoff_jitter(1001);
		least = ms < least ? ms : least;
		most = ms > most ? ms : most;
	}
	CHECK(least >= 501 && least < 550);
	CHECK(most <= 1001 && most > 950);
	CHECK_INT(backoff_jitter(0), 0);
	CHECK_INT(backoff_jitter(1), 1);
}

int
main(void)
{
	test_wait();
	test_jitter();
	return check_done();
}
