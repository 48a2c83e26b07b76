/* SPDX-License-Identifier: MIT */
/* Waits between attempts; see backoff.h. */
#include "config.h"

#include <time.h>
#include <unistd.h>

#include "common/backoff.h"

int64_t
backoff_wait(unsigned tries, int64_t first, int64_t max)
{
	int64_t wait = first;

	for (; tries > 0 && wait < max; tries--)
		wait = wait <= max / 2 ? wait * 2 : max;
	return wait < max ? wait : max;
}

/* xorshift, seeded by the time and the process. */
int64_t
backoff_jitter(int64_t ms)
{
	static _Thread_local uint64_t x;

	if (x == 0)
		x = ((uint64_t)time(NULL) << 20) ^ (uint64_t)getpid();
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return ms - ms / 2 + (int64_t)(x % (uint64_t)(ms / 2 + 1));
}
