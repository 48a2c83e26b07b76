/* SPDX-License-Identifier: MIT */
/*
 * The pid file: decimal, no newline, as the Go adapter wrote it.  The lock on
 * the file refuses a second instance, so that a file that is left after a crash
 * does no harm.  A write lock needs a descriptor that is open for writing; who
 * may only read the file can get a read lock, which no instance has.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/system.h"

#define TRIES 10 /* the owner may remove the file meanwhile */

/* The pid in a file that another process has locked, for the log only. */
static long
pid_read(int fd)
{
	char text[24];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return strtol(text, NULL, 10);
}

/* 1 when path still names the file that fd has open. */
static int
is_same_file(int fd, const char *path)
{
	struct stat ours, theirs;

	return fstat(fd, &ours) == 0 && lstat(path, &theirs) == 0 &&
	    ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* A file with a second name may be any file: it is not written to. */
static int
is_plain(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink <= 1;
}

enum lock_result {
	LOCK_OURS,
	LOCK_READER,   /* another process has a read lock */
	LOCK_INSTANCE, /* another process has a write lock */
	LOCK_ERROR     /* with errno */
};

static enum lock_result
write_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return LOCK_OURS;
	if ((errno != EAGAIN && errno != EACCES) ||
	    fcntl(fd, F_OFD_GETLK, &lock) == -1)
		return LOCK_ERROR;
	return lock.l_type == F_RDLCK ? LOCK_READER : LOCK_INSTANCE;
}

/*
 * Another process holds the lock: -1 (logged).  No instance holds a read lock:
 * then the file is replaced, -2.
 */
static int
locked_by_other(int fd, const char *path, enum lock_result result)
{
	if (result == LOCK_READER && is_same_file(fd, path) &&
	    unlink(path) == 0) {
		log_warnx("another process has a read lock on pid file %s; the "
			  "file is made again",
		    path);
		return -2;
	}
	if (result == LOCK_ERROR)
		log_error("cannot lock pid file %s", path);
	else
		log_errorx("another instance is running (pid %ld has "
			   "locked %s); this one exits",
		    pid_read(fd), path);
	return -1;
}

/* The descriptor, -1 on error (logged), -2 when the file was just removed. */
static int
lock_once(const char *path)
{
	int fd = open(path,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	enum lock_result result;
	int rc;

	if (fd == -1) {
		log_error("cannot open pid file %s", path);
		return -1;
	}
	if (!is_plain(fd)) {
		log_errorx("pid file %s is not a regular file with one name; "
			   "it is not changed",
		    path);
		close(fd);
		return -1;
	}
	result = write_lock(fd);
	if (result != LOCK_OURS) {
		rc = locked_by_other(fd, path, result);
		close(fd);
		return rc;
	}
	if (is_same_file(fd, path))
		return fd;
	close(fd);
	return -2;
}

int
pidfile_lock(const char *path)
{
	int i, fd = -2;

	for (i = 0; i < TRIES && fd == -2; i++)
		fd = lock_once(path);
	if (fd == -2)
		log_errorx("pid file %s is removed again and again", path);
	return fd < 0 ? -1 : fd;
}

int
pidfile_write(int fd, pid_t pid)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%jd", (intmax_t)pid);

	if (ftruncate(fd, 0) == -1)
		return -1;
	return pwrite(fd, text, (size_t)n, 0) == n ? 0 : -1;
}

/* A failed start must not remove the file of a daemon without a lock. */
static int
is_ours(int fd)
{
	struct stat st;

	return pid_read(fd) == (long)getpid() ||
	    (fstat(fd, &st) == 0 && st.st_size == 0);
}

void
pidfile_remove(int fd, const char *path)
{
	if (fd == -1)
		return;
	if (is_ours(fd) && is_same_file(fd, path) && unlink(path) == -1)
		log_warn("cannot remove pid file %s", path);
	close(fd);
}

/* No instance holds a read lock; see write_lock(). */
long
pidfile_holder(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	long pid = 0;

	if (fd == -1)
		return 0;
	if (fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK) {
		pid = pid_read(fd);
		if (pid <= 0)
			pid = -1;
	}
	close(fd);
	return pid;
}
