/* SPDX-License-Identifier: MIT */
/* Changes of files by name. */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "supervisor/system/path_watch.h"
#include "tests/unit/check.h"

static struct event_base *base;
static struct path_watch *watch;
static int changes;
static int paused; /* a report was the last event */

static void
on_change(void *arg)
{
	CHECK(arg == &changes);
	changes++;
}

/* 1 when there was a change since the last call; the kernel reports it at once. */
static int
is_changed(void)
{
	int n;

	/* The pause after the last report. */
	if (paused)
		event_base_loop(base, EVLOOP_ONCE);
	event_base_loop(base, EVLOOP_NONBLOCK);
	n = changes;
	changes = 0;
	paused = n > 0;
	CHECK(n <= 1);
	return n;
}

static void
file_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd != -1);
	CHECK_INT(write(fd, "x", 1), 1);
	close(fd);
}

static void
test_file(void)
{
	CHECK_INT(path_watch_add(watch, "a/file"), 0);
	CHECK_INT(is_changed(), 0);
	file_write("a/file");
	CHECK_INT(is_changed(), 1);
	CHECK_INT(path_watch_add(watch, "a/file"), 0);
	file_write("a/file");
	CHECK_INT(is_changed(), 1);
	CHECK_INT(access("a/file", R_OK), 0);
	CHECK_INT(is_changed(), 0);
	CHECK_INT(rename("a/file", "b/file"), 0);
	CHECK_INT(is_changed(), 1);
	CHECK_INT(rename("b/file", "a/file"), 0);
	CHECK_INT(is_changed(), 1);
	CHECK_INT(unlink("a/file"), 0);
	CHECK_INT(is_changed(), 1);
	/* Another directory. */
	file_write("b/file");
	CHECK_INT(is_changed(), 0);
}

static void
test_link(void)
{
	CHECK_INT(symlink("../b/file", "a/link"), 0);
	CHECK_INT(is_changed(), 1);
	CHECK_INT(path_watch_add(watch, "a/link"), 0);
	file_write("b/file");
	CHECK_INT(is_changed(), 1);
}

static void
test_directory(void)
{
	CHECK_INT(rename("a", "c"), 0);
	CHECK_INT(is_changed(), 1);
	CHECK_INT(path_watch_add(watch, "a/file"), -1);
	CHECK_INT(mkdir("a", 0700), 0);
	CHECK_INT(path_watch_add(watch, "a/file"), 0);
	file_write("a/file");
	CHECK_INT(is_changed(), 1);
}

int
main(void)
{
	char folder[] = "/tmp/test_path_watch.XXXXXX", command[64];

	CHECK(mkdtemp(folder) != NULL);
	CHECK_INT(chdir(folder), 0);
	CHECK_INT(mkdir("a", 0700), 0);
	CHECK_INT(mkdir("b", 0700), 0);
	base = event_base_new();
	watch = path_watch_new(base, on_change, &changes);
	CHECK(watch != NULL);
	test_file();
	test_link();
	test_directory();
	path_watch_free(watch);
	path_watch_free(NULL);
	event_base_free(base);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	CHECK_INT(system(command), 0);
	return check_done();
}
