/* SPDX-License-Identifier: MIT */
/* Changes of files by name; see path_watch.h. */
#include "config.h"

#include <sys/inotify.h>

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/log.h"
#include "supervisor/system/path_watch.h"

#define CHANGES \
	(IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | \
	    IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
#define READS_MAX 16
#define PAUSE_MS  200 /* between two reports, however many files change */
/* bytes of one read: some names of the greatest length */
#define READ_BYTES (16 * (sizeof(struct inotify_event) + NAME_MAX + 1))

struct path_watch {
	int fd;
	struct event *readable;
	struct event *pause; /* timer: read again */
	void (*fn)(void *arg);
	void *arg;
};

static void
on_pause(evutil_socket_t fd, short what, void *arg)
{
	struct path_watch *pw = arg;

	(void)fd;
	(void)what;
	if (event_add(pw->readable, NULL) == -1)
		fatalx("out of memory");
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct path_watch *pw = arg;
	struct timeval wait = clock_timeval(PAUSE_MS);
	char buf[READ_BYTES];
	int reads = 0;

	(void)what;
	/* Events that are left are read after the pause. */
	while (read(fd, buf, sizeof(buf)) > 0 && ++reads < READS_MAX)
		continue;
	event_del(pw->readable);
	if (event_add(pw->pause, &wait) == -1)
		fatalx("out of memory");
	pw->fn(pw->arg);
}

struct path_watch *
path_watch_new(struct event_base *base, void (*fn)(void *arg), void *arg)
{
	struct path_watch *pw = calloc(1, sizeof(*pw));

	if (pw == NULL)
		return NULL;
	pw->fn = fn;
	pw->arg = arg;
	pw->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (pw->fd != -1)
		pw->readable = event_new(base, pw->fd, EV_READ | EV_PERSIST,
		    on_readable, pw);
	pw->pause = evtimer_new(base, on_pause, pw);
	if (pw->readable == NULL || pw->pause == NULL ||
	    event_add(pw->readable, NULL) == -1) {
		path_watch_free(pw);
		return NULL;
	}
	return pw;
}

static int
directory_add(struct path_watch *pw, const char *path)
{
	char copy[PATH_MAX];
	size_t n = strlen(path);

	if (n >= sizeof(copy)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(copy, path, n + 1);
	return inotify_add_watch(pw->fd, dirname(copy), CHANGES) == -1 ? -1 : 0;
}

int
path_watch_add(struct path_watch *pw, const char *path)
{
	char *target;
	int rc;

	if (directory_add(pw, path) == -1)
		return -1;
	target = realpath(path, NULL);
	/* A file that does not exist yet: its directory shows its creation. */
	if (target == NULL)
		return errno == ENOENT ? 0 : -1;
	rc = directory_add(pw, target);
	free(target);
	return rc;
}

void
path_watch_free(struct path_watch *pw)
{
	if (pw == NULL)
		return;
	if (pw->readable != NULL)
		event_free(pw->readable);
	if (pw->pause != NULL)
		event_free(pw->pause);
	if (pw->fd != -1)
		close(pw->fd);
	free(pw);
}
