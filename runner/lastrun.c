/* SPDX-License-Identifier: MIT */
/*
 * The last-run file: its modification time is the time up to which accounting
 * was read.  The collector sends this time; a collector that an attacker
 * controls can send any.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <unistd.h>

#include "common/codec.h"
#include "runner/runner.h"

#define AHEAD_MAX 86400 /* s; slurmdbd's clock may be ahead of ours */

void
lastrun_take(struct lastrun *l, int fd)
{
	if (l->fd != -1)
		close(l->fd);
	l->fd = fd;
}

int64_t
lastrun_time(const struct lastrun *l)
{
	struct stat st;

	if (l->fd == -1 || fstat(l->fd, &st) == -1 || st.st_mtime < 0 ||
	    st.st_mtime > TIME_S_MAX)
		return 0;
	return st.st_mtime;
}

int
lastrun_set(struct lastrun *l, int64_t epoch, int64_t now)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = epoch } };

	if (l->fd == -1)
		return 0;
	if (epoch > now + AHEAD_MAX) {
		errno = ERANGE;
		return -1;
	}
	return futimens(l->fd, times);
}
