/* SPDX-License-Identifier: MIT */
/* Attempts on files, and on the memory of the submitter by way of files. */
#include "config.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/breakout/attempts.h"

#define FDS_TRIED 64

static int64_t
try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);

	if (fd != -1)
		close(fd);
	return fd;
}

static int64_t
proc_open(const char *name)
{
	char path[64];

	if (targets.submitter == getpid()) {
		errno = EPERM; /* its own memory */
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)targets.submitter,
	    name);
	return try_open(path, O_RDONLY);
}

static int64_t
read_mem(void)
{
	return proc_open("mem");
}

static int64_t
read_maps(void)
{
	return proc_open("maps");
}

static int64_t
read_pagemap(void)
{
	return proc_open("pagemap");
}

static int64_t
read_environ(void)
{
	return proc_open("environ");
}

static int64_t
read_kcore(void)
{
	return try_open("/proc/kcore", O_RDONLY);
}

/* Also the memfd of the secrets, in the submitter and in the supervisor. */
static int64_t
read_fds(void)
{
	char path[64];
	int64_t found = -1;
	int i;

	for (i = 0; i < FDS_TRIED; i++) {
		snprintf(path, sizeof(path), "fd/%d", i);
		if (proc_open(path) != -1)
			found = i;
		snprintf(path, sizeof(path), "/proc/%d/fd/%d",
		    (int)targets.supervisor, i);
		if (try_open(path, O_RDONLY) != -1)
			found = i;
	}
	return found;
}

static int64_t
read_config(void)
{
	return try_open(targets.config, O_RDONLY);
}

static int64_t
read_secret(void)
{
	return try_open(targets.secret, O_RDONLY);
}

static int64_t
read_nats(void)
{
	return try_open(targets.nats, O_RDONLY);
}

static int64_t
read_spool(void)
{
	return try_open(targets.spool, O_RDONLY);
}

static int64_t
read_own(void)
{
	return try_open(targets.file, O_RDONLY);
}

static int64_t
read_shadow(void)
{
	return try_open("/etc/shadow", O_RDONLY);
}

static int64_t
read_by_parent(void)
{
	return try_open("../../../../../../../../etc/shadow", O_RDONLY);
}

/* A path beside the file of this user. */
static const char *
beside(const char *suffix)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s.%s", targets.file, suffix);
	return path;
}

static int64_t
create_file(void)
{
	return try_open(beside("new"), O_WRONLY | O_CREAT);
}

static int64_t
create_tmp(void)
{
	return try_open("/tmp/csa-breakout.new", O_WRONLY | O_CREAT);
}

static int64_t
write_own(void)
{
	return try_open(targets.file, O_WRONLY);
}

static int64_t
truncate_own(void)
{
	return truncate(targets.file, 1);
}

/* These modes do not need the right to write of Landlock. */
static int64_t
truncate_readable(void)
{
	return try_open(targets.file, O_RDONLY | O_TRUNC);
}

static int64_t
truncate_for_ioctl(void)
{
	return try_open(targets.file, O_WRONLY | O_RDWR | O_TRUNC);
}

static int64_t
make_link(void)
{
	return link(targets.file, beside("link"));
}

static int64_t
make_symlink(void)
{
	return symlink("/etc/shadow", beside("symlink"));
}

static int64_t
make_directory(void)
{
	return mkdir(beside("directory"), 0700);
}

static int64_t
make_fifo(void)
{
	return mkfifo(beside("fifo"), 0600);
}

static int64_t
rename_own(void)
{
	char to[4096];

	snprintf(to, sizeof(to), "%s", beside("renamed"));
	if (rename(targets.file, to) == -1)
		return -1;
	return rename(to, targets.file);
}

static int64_t
chmod_own(void)
{
	return chmod(targets.file, 0666);
}

static int64_t
chown_own(void)
{
	return chown(targets.file, getuid(), getgid());
}

static int64_t
set_attribute(void)
{
	return setxattr(targets.file, "user.breakout", "x", 1, 0);
}

/* In the root or the directory of the process. */
static int64_t
write_here(void)
{
	return try_open("breakout.new", O_WRONLY | O_CREAT);
}

/* By descriptor, as SQLite does. */
static int64_t
chmod_here(void)
{
	int fd = open("breakout.mode", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int rc = fd == -1 ? -1 : fchmod(fd, 0666);

	if (fd != -1)
		close(fd);
	return rc;
}

static int64_t
chgrp_here(void)
{
	int fd = open("breakout.mode", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int rc = fd == -1 ? -1 : fchown(fd, (uid_t)-1, getegid());

	if (fd != -1)
		close(fd);
	return rc;
}

/* To a user that is neither root nor its own. */
static int64_t
chown_here(void)
{
	int fd = open("breakout.mode", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int rc = fd == -1 ? -1 : fchown(fd, geteuid() + 1, (gid_t)-1);

	if (fd != -1)
		close(fd);
	return rc;
}

static int64_t
read_here(void)
{
	return try_open("spool.db", O_RDONLY);
}

static int64_t
set_times(void)
{
	return utimensat(AT_FDCWD, targets.file, NULL, 0);
}

static int64_t
symlink_here(void)
{
	return symlink("/etc/shadow", "breakout.symlink");
}

static int64_t
write_device(void)
{
	return try_open("/dev/kmsg", O_WRONLY);
}

static int64_t
write_null(void)
{
	return try_open("/dev/null", O_WRONLY);
}

const struct attempt attempts_files[] = {
	{ "read-mem", read_mem },
	{ "read-maps", read_maps },
	{ "read-pagemap", read_pagemap },
	{ "read-environ", read_environ },
	{ "read-kcore", read_kcore },
	{ "read-fds", read_fds },
	{ "read-config", read_config },
	{ "read-secret", read_secret },
	{ "read-nats-secret", read_nats },
	{ "read-spool", read_spool },
	{ "read-own", read_own },
	{ "read-shadow", read_shadow },
	{ "read-by-parent", read_by_parent },
	{ "create", create_file },
	{ "create-tmp", create_tmp },
	{ "write-own", write_own },
	{ "truncate", truncate_own },
	{ "truncate-readable", truncate_readable },
	{ "truncate-for-ioctl", truncate_for_ioctl },
	{ "link", make_link },
	{ "symlink", make_symlink },
	{ "mkdir", make_directory },
	{ "mkfifo", make_fifo },
	{ "rename", rename_own },
	{ "chmod", chmod_own },
	{ "chown", chown_own },
	{ "setxattr", set_attribute },
	{ "set-times", set_times },
	{ "read-here", read_here },
	{ "write-here", write_here },
	{ "chmod-here", chmod_here },
	{ "chgrp-here", chgrp_here },
	{ "chown-here", chown_here },
	{ "symlink-here", symlink_here },
	{ "write-device", write_device },
	{ "write-null", write_null },
	{ NULL, NULL },
};
