/* SPDX-License-Identifier: MIT */
/*
 * The time of the last-run file: a collector that an attacker controls cannot
 * set a time in the future, nor stop that the next time is set.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "runner/runner.h"
#include "tests/unit/check.h"

#define NOW 1790000000

int
main(void)
{
	char path[] = "/tmp/test_lastrun.XXXXXX";
	const struct timespec odd[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = -5 } };
	struct lastrun l = { .fd = -1 };

	CHECK_INT(lastrun_time(&l), 0);
	CHECK_INT(lastrun_set(&l, NOW, NOW), 0);
	lastrun_take(&l, mkstemp(path));
	CHECK(l.fd != -1);
	CHECK_INT(lastrun_set(&l, NOW - 60, NOW), 0);
	CHECK_INT(lastrun_time(&l), NOW - 60);
	/* slurmdbd's clock may be ahead by less than a day. */
	CHECK_INT(lastrun_set(&l, NOW + 86400, NOW), 0);
	CHECK_INT(lastrun_time(&l), NOW + 86400);
	errno = 0;
	CHECK_INT(lastrun_set(&l, NOW + 86401, NOW), -1);
	CHECK_INT(errno, ERANGE);
	CHECK_INT(lastrun_time(&l), NOW + 86400);
	CHECK_INT(lastrun_set(&l, NOW, NOW), 0);
	CHECK_INT(lastrun_time(&l), NOW);
	/* A time before 1970, which an admin can set, is no time. */
	CHECK_INT(futimens(l.fd, odd), 0);
	CHECK_INT(lastrun_time(&l), 0);
	unlink(path);
	lastrun_take(&l, -1);
	return check_done();
}
