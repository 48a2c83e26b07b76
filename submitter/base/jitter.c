/* SPDX-License-Identifier: MIT */
/* Random waits; see timer.h. */
#include "config.h"

#include <time.h>
#include <unistd.h>

#include "submitter/base/timer.h"

int64_t
timer_jitter(int64_t ms)
{
	static uint64_t x;

	/* No secret: xorshift, seeded by the time and the process. */
	if (x == 0)
		x = ((uint64_t)time(NULL) << 20) ^ (uint64_t)getpid();
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return ms / 2 + (int64_t)(x % (uint64_t)(ms / 2 + 1));
}
