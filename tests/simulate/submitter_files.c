/* SPDX-License-Identifier: MIT */
/*
 * The calls on files that the submitter makes without SQLite: the reserve, the
 * header of the spool, damaged files.  A descriptor is the number of the file
 * on the simulated disk and FD_FIRST.  The linker puts
 * __wrap_sqlite3_vfs_register() in front of sqlite3_vfs_register().
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulate/disk.h"

#define FD_FIRST 50000

static int
result(int rc)
{
	if (rc >= 0)
		return rc;
	errno = -rc;
	return -1;
}

int
open(const char *path, int flags, ...)
{
	int rc = disk_open(path, (flags & O_CREAT) != 0);

	return rc >= 0 ? FD_FIRST + rc : result(rc);
}

int
close(int fd)
{
	(void)fd;
	return 0;
}

ssize_t
pread(int fd, void *buf, size_t n, off_t at)
{
	return disk_pread(fd - FD_FIRST, buf, n, at);
}

int
fstat(int fd, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_size = disk_size(fd - FD_FIRST);
	st->st_blocks = (st->st_size + 511) / 512;
	st->st_mode = S_IFREG | 0600;
	return 0;
}

int
ftruncate(int fd, off_t size)
{
	return result(disk_resize(fd - FD_FIRST, size));
}

int
posix_fallocate(int fd, off_t at, off_t size)
{
	return -disk_resize(fd - FD_FIRST, at + size);
}

int
rename(const char *from, const char *to)
{
	return result(disk_rename(from, to));
}

int
unlink(const char *path)
{
	return result(disk_unlink(path));
}

int
fchmod(int fd, mode_t mode)
{
	(void)fd;
	(void)mode;
	return 0;
}

int
access(const char *path, int mode)
{
	int rc = disk_find(path);

	(void)mode;
	return rc >= 0 ? 0 : result(rc);
}

int __wrap_sqlite3_vfs_register(sqlite3_vfs *vfs, int is_default);

int
__wrap_sqlite3_vfs_register(sqlite3_vfs *vfs, int is_default)
{
	(void)is_default;
	disk_vfs_above(vfs);
	return SQLITE_OK;
}
