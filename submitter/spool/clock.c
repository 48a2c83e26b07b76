/* SPDX-License-Identifier: MIT */
/* The clock of the spool, in a file of its own: tests replace it. */
#include "config.h"

#include <time.h>

#include "submitter/spool/spool_private.h"

int64_t
spool_boottime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
