/* SPDX-License-Identifier: MIT */
/*
 * The clock of the hook in a test.  The linker (--wrap) puts these functions
 * into the hook: its time passes only while poll() waits without a result, on
 * a busy machine too.
 */
#ifndef TESTS_UNIT_HOOK_HOOK_CLOCK_H
#define TESTS_UNIT_HOOK_HOOK_CLOCK_H

#include <poll.h>
#include <time.h>

#include "tests/unit/check.h"

static long waited_ms;	    /* the hook's clock */
static int poll_factor = 1; /* poll() waits so many times as long */

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
int __real_poll(struct pollfd *fds, nfds_t n, int ms);

int
__wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	CHECK_INT(id, CLOCK_MONOTONIC);
	ts->tv_sec = waited_ms / 1000;
	ts->tv_nsec = waited_ms % 1000 * 1000000;
	return 0;
}

int
__wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	int rc = __real_poll(fds, n, ms * poll_factor);

	if (rc == 0)
		waited_ms += ms;
	return rc;
}

#endif
