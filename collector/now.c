/* SPDX-License-Identifier: MIT */
/* Clocks; see collector.h. */
#include "config.h"

#include <time.h>

#include "collector/collector.h"

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
