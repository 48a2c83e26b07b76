/* SPDX-License-Identifier: MIT */
/*
 * Clocks.  Waiting times are counted by the monotonic clock, which cannot be
 * set.
 */
#include "config.h"

#include <time.h>

#include "collector/base/cluster.h"

int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t
now_s(void)
{
	return now_ms() / 1000;
}

int64_t
now_wall(void)
{
	return (int64_t)time(NULL);
}

int64_t
now_wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
