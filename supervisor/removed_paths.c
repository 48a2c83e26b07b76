/* SPDX-License-Identifier: MIT */
/*
 * Paths that others use by name: the sockets and the spool.  After one of them
 * is removed, the open socket gets no hook, and the submitter writes to a file
 * that the next start does not find.  The service then ends with status 1, so
 * that systemd starts it again: the start makes the directories, and under the
 * unit's read-only mounts only a new process can write in a new directory.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "supervisor/supervisor.h"
#include "supervisor/system/path_watch.h"

/* A spool that is recovered has no database for a moment. */
#define ABSENT_MS 2000
#define CHECK_MS  2100 /* while a path is absent, or the kernel cannot watch */
/* The kernel does not report a directory that is renamed above these. */
#define CHECK_WATCHED_MS 20000
#define DATABASE_NAME	 "spool.db"

struct watched_path {
	char *path;
	struct stat seen;    /* st_ino 0 = not yet */
	long long absent_ms; /* clock_ms() when first missed; 0 = present */
	int any_inode;	     /* a new file of this name is accepted */
};

static struct {
	struct watched_path paths[5];
	size_t n;
	unsigned repairs; /* of the hook socket, whose path is the first */
	struct event *timer;
	struct path_watch *changes; /* NULL = the kernel cannot watch */
} watched;

/*
 * 1 when the path does not name the file that this service has opened.  ready:
 * the submitter has opened its database.
 */
static int
path_is_lost(struct watched_path *p, int ready)
{
	struct stat st;
	int found = lstat(p->path, &st) == 0;

	if (!found && errno != ENOENT && errno != ENOTDIR)
		return 0;
	if (found && (p->seen.st_ino == 0 || p->any_inode))
		p->seen = st;
	if (p->seen.st_ino == 0 && !ready)
		return 0;
	if (found && st.st_ino == p->seen.st_ino &&
	    st.st_dev == p->seen.st_dev) {
		p->absent_ms = 0;
		return 0;
	}
	/*
	 * The time of the absence counts, not the number of checks: each change
	 * of a file causes a check.
	 */
	if (p->absent_ms == 0)
		p->absent_ms = clock_ms();
	return clock_ms() - p->absent_ms >= ABSENT_MS;
}

/* ms until the next check. */
static unsigned
check_wait(void)
{
	size_t i;

	for (i = 0; i < watched.n; i++)
		if (watched.paths[i].absent_ms != 0)
			return CHECK_MS;
	return watched.changes != NULL ? CHECK_WATCHED_MS : CHECK_MS;
}

static void
timer_set(unsigned ms)
{
	struct timeval tv = clock_timeval(ms);

	if (event_add(watched.timer, &tv) == -1)
		fatalx("out of memory");
}

static void
on_check(evutil_socket_t fd, short what, void *arg)
{
	struct supervisor *sup = arg;
	size_t i;

	if (watched.repairs != sup->setup.listen_repairs) {
		watched.repairs = sup->setup.listen_repairs;
		memset(&watched.paths[0].seen, 0, sizeof(struct stat));
	}
	for (i = 0; i < watched.n && !sup->workers.stopping; i++) {
		if (!path_is_lost(&watched.paths[i], sup->ready_sent))
			continue;
		log_errorx("%s was removed or replaced while the service runs; "
			   "the service ends, so that it is started again",
		    watched.paths[i].path);
		shutdown_begin(sup, "a path was removed", 1);
	}
	timer_set(check_wait());
}

/* A path that is absent is checked again after CHECK_MS. */
static void
on_change(void *arg)
{
	size_t i;

	/*
	 * The directory of a path may be a new one: each path is watched again.
	 */
	for (i = 0; i < watched.n; i++)
		(void)path_watch_add(watched.changes, watched.paths[i].path);
	timer_set(0);
}

/* Without the watch of one path the timer checks all. */
static void
changes_watch(struct supervisor *sup)
{
	size_t i;

	watched.changes = path_watch_new(sup->base, on_change, sup);
	for (i = 0; i < watched.n && watched.changes != NULL; i++) {
		if (path_watch_add(watched.changes, watched.paths[i].path) == 0)
			continue;
		path_watch_free(watched.changes);
		watched.changes = NULL;
	}
}

/* Takes path; NULL is out of memory. */
static void
path_add(char *path, int any_inode)
{
	struct watched_path *p = &watched.paths[watched.n];

	if (path == NULL)
		fatalx("out of memory");
	p->path = path;
	p->any_inode = any_inode;
	watched.n++;
	path_is_lost(p, 0);
}

void
removed_paths_watch(struct supervisor *sup)
{
	const struct setup *setup = &sup->setup;
	char *database;

	if (setup->listen_path != NULL)
		path_add(strdup(setup->listen_path), 0);
	path_add(strdup(conf_str(&sup->conf, CONF_CTL_SOCK)), 0);
	if (setup->metrics_path != NULL)
		path_add(strdup(setup->metrics_path), 0);
	path_add(strdup(setup->spool_dir), 0);
	if (asprintf(&database, "%s/" DATABASE_NAME, setup->spool_dir) == -1)
		database = NULL;
	path_add(database, 1);
	watched.timer = evtimer_new(sup->base, on_check, sup);
	if (watched.timer == NULL)
		fatalx("out of memory");
	changes_watch(sup);
	timer_set(check_wait());
}

void
removed_paths_clear(void)
{
	while (watched.n > 0)
		free(watched.paths[--watched.n].path);
	if (watched.timer != NULL)
		event_free(watched.timer);
	watched.timer = NULL;
	path_watch_free(watched.changes);
	watched.changes = NULL;
}
