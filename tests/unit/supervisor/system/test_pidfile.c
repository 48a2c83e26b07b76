/* SPDX-License-Identifier: MIT */
/* The pid file: content, lock, and files that are not changed. */
#include "config.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"

static char dir[] = "/tmp/test_pidfile.XXXXXX";
static char path[64], other[64];

static void
content_check(const char *want)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY);

	CHECK(fd != -1 && read(fd, text, sizeof(text) - 1) >= 0);
	CHECK_STR(text, want);
	close(fd);
}

/* Another process tries to lock the file: 1 when it has the lock. */
static int
other_locks(void)
{
	int status = 0, fd;
	pid_t pid = fork();

	if (pid == 0) {
		fd = pidfile_lock(path);
		if (fd != -1)
			pidfile_remove(fd, path);
		_exit(fd != -1);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WEXITSTATUS(status);
}

static void
test_held(void)
{
	int fd = pidfile_lock(path);

	CHECK(fd != -1);
	CHECK_INT(pidfile_write(fd, 4711), 0);
	content_check("4711");
	CHECK_INT(other_locks(), 0);
	content_check("4711");
	/* The file has another pid: it stays. */
	pidfile_remove(fd, path);
	CHECK_INT(access(path, F_OK), 0);
	fd = pidfile_lock(path);
	CHECK_INT(pidfile_write(fd, getpid()), 0);
	pidfile_remove(fd, path);
	CHECK_INT(access(path, F_OK), -1);
}

/* A file that a crash has left is locked; its content stays until the write. */
static void
test_stale(void)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	CHECK(fd != -1 && write(fd, "99999", 5) == 5);
	close(fd);
	fd = pidfile_lock(path);
	CHECK(fd != -1);
	content_check("99999");
	CHECK_INT(pidfile_write(fd, getpid()), 0);
	/* Another file has replaced it: that file is not removed. */
	CHECK(unlink(path) == 0);
	CHECK(close(open(path, O_WRONLY | O_CREAT, 0644)) == 0);
	pidfile_remove(fd, path);
	CHECK_INT(access(path, F_OK), 0);
	unlink(path);
}

/* A process that may only read the file cannot keep the daemon from starting. */
static void
test_reader(void)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_WRONLY | O_CREAT, 0644), reader, other_fd;

	close(fd);
	reader = open(path, O_RDONLY);
	CHECK_INT(flock(reader, LOCK_EX | LOCK_NB), 0);
	fd = pidfile_lock(path);
	CHECK(fd != -1);
	CHECK_INT(pidfile_write(fd, getpid()), 0);
	pidfile_remove(fd, path);
	close(reader);

	fd = open(path, O_WRONLY | O_CREAT, 0644);
	close(fd);
	reader = open(path, O_RDONLY);
	CHECK_INT(fcntl(reader, F_OFD_SETLK, &lock), 0);
	fd = pidfile_lock(path);
	CHECK(fd != -1);
	CHECK_INT(pidfile_write(fd, getpid()), 0);
	CHECK_INT(other_locks(), 0); /* a second instance is still refused */
	/* The new file cannot get a read lock any more. */
	other_fd = open(path, O_RDONLY);
	CHECK_INT(fcntl(other_fd, F_OFD_SETLK, &lock), -1);
	close(other_fd);
	close(reader);
	pidfile_remove(fd, path);
	CHECK_INT(access(path, F_OK), -1);
}

static void
test_links(void)
{
	struct stat st;
	int fd = open(other, O_WRONLY | O_CREAT, 0644);

	CHECK(fd != -1 && write(fd, "keep", 4) == 4);
	close(fd);
	CHECK(symlink(other, path) == 0);
	CHECK_INT(pidfile_lock(path), -1);
	CHECK(stat(other, &st) == 0 && st.st_size == 4);
	unlink(path);
	unlink(other);
	pidfile_remove(-1, path);
}

int
main(void)
{
	CHECK(mkdtemp(dir) != NULL);
	log_init("test", LOG_LEVEL_FATAL);
	snprintf(path, sizeof(path), "%s/daemon.pid", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	test_held();
	test_stale();
	test_reader();
	test_links();
	CHECK(rmdir(dir) == 0);
	return check_done();
}
