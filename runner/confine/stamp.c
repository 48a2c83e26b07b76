/* SPDX-License-Identifier: MIT */
/* Whether a file is still the one that was read. */
#include "config.h"

#include <sys/stat.h>

#include <time.h>

#include "runner/confine/confine_private.h"

#define FRESH_S 2 /* seconds since its ctime in which a file is fresh */

int
file_stamp(const char *path, struct file_stamp *stamp)
{
	struct stat st;

	if (stat(path, &st) == -1)
		return -1;
	stamp->dev = st.st_dev;
	stamp->ino = st.st_ino;
	stamp->ctime = st.st_ctim;
	/*
	 * A file that changes twice within one tick of the kernel's clock keeps
	 * its ctime: the stamp of a fresh file equals no other stamp.
	 */
	stamp->is_fresh = time(NULL) - st.st_ctim.tv_sec < FRESH_S;
	return 0;
}

int
file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
	return !a->is_fresh && a->dev == b->dev && a->ino == b->ino &&
	    a->ctime.tv_sec == b->ctime.tv_sec &&
	    a->ctime.tv_nsec == b->ctime.tv_nsec;
}
