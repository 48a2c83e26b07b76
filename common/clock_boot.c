/* SPDX-License-Identifier: MIT */
/* The clock of a lease, in a file of its own: tests replace it. */
#include "config.h"

#include <time.h>

#include "common/clock.h"

long long
clock_boot_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
}
