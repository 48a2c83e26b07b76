/* SPDX-License-Identifier: MIT */
/* The clock for deadlines; see clock.h. */
#include "config.h"

#include <limits.h>
#include <time.h>

#include "common/clock.h"

long long
clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
}

int
clock_left(long long end)
{
	long long left = end - clock_ms();

	if (left <= 0)
		return 0;
	return left < INT_MAX ? (int)left : INT_MAX;
}

struct timeval
clock_timeval(long long ms)
{
	return (struct timeval) { .tv_sec = (time_t)(ms / 1000),
		.tv_usec = (suseconds_t)(ms % 1000) * 1000 };
}
