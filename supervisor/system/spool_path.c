/* SPDX-License-Identifier: MIT */
/*
 * The directory of the spool when spoolDir does not name it.  Version 0.1.0 put
 * the spool of every daemon into "spool" beside the last-run file.  A daemon
 * whose last-run file has another name than "lastrun" and "last_run" now has
 * "NAME.spool" there.  Such a daemon keeps the spool of 0.1.0 if this spool can
 * only be its own, and writes its name into "spool.owner", so that no other
 * daemon uses the spool, also while the owner does not run.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/system.h"

struct choice {
	int dir;		  /* the state directory; descriptor, or -1 */
	char path[PATH_MAX];	  /* of the state directory */
	const char *name;	  /* of the last-run file in it */
	int is_test;		  /* nothing is written or logged */
	int is_taken;		  /* another daemon has kept the usual spool */
	char owner[NAME_MAX + 2]; /* the name of its last-run file */
};

static int
is_directory(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode);
}

/* Reads the owner's name into buf: 1, or 0 when there is no owner file. */
static int
owner_read(const struct choice *c, char *buf, size_t size)
{
	int fd = openat(c->dir, SPOOL_OWNER,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n;

	if (fd == -1)
		return 0;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		n = 0;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 1;
}

static int
owner_write(const struct choice *c)
{
	int fd = openat(c->dir, SPOOL_OWNER,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	int ok;

	if (fd == -1)
		return -1;
	ok = dprintf(fd, "%s\n", c->name) > 0 && fsync(fd) == 0;
	close(fd);
	if (ok)
		return 0;
	unlinkat(c->dir, SPOOL_OWNER, 0);
	return -1;
}

/* A last-run file with a usual name belongs to another daemon. */
static int
usual_daemon_exists(const struct choice *c)
{
	return faccessat(c->dir, "lastrun", F_OK, 0) == 0 ||
	    faccessat(c->dir, "last_run", F_OK, 0) == 0;
}

/* 1 when the spool of version 0.1.0 is the spool of this daemon. */
static int
old_spool_is_ours(const struct choice *c, int is_first_start)
{
	char owner[NAME_MAX + 2];

	if (!is_directory(c->dir, SPOOL_USUAL))
		return 0;
	if (owner_read(c, owner, sizeof(owner)))
		return strcmp(owner, c->name) == 0;
	if (is_first_start)
		return 0;
	if (usual_daemon_exists(c)) {
		if (c->is_test)
			return 0;
		log_warnx("%s/" SPOOL_USUAL " is not used: it is the spool of "
			  "the daemon whose last-run file is lastrun or "
			  "last_run there; if it is the spool of this daemon, "
			  "set spoolDir",
		    c->path);
		return 0;
	}
	if (c->is_test)
		return 1;
	if (owner_write(c) == -1) {
		log_warn("cannot write %s/" SPOOL_OWNER, c->path);
		return 0;
	}
	log_notice("%s/" SPOOL_USUAL
		   " of an earlier version stays the spool of "
		   "this daemon (%s/" SPOOL_OWNER " has the name %s)",
	    c->path, c->path, c->name);
	return 1;
}

/* 0, or -1 when last_run has no directory. */
static int
choice_begin(struct choice *c, const char *last_run)
{
	const char *slash = strrchr(last_run, '/');

	if (slash == NULL)
		return -1;
	snprintf(c->path, sizeof(c->path), "%.*s", (int)(slash - last_run),
	    last_run);
	c->name = slash + 1;
	c->dir = open(c->path[0] != '\0' ? c->path : "/",
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

/* Closes the choice.  Returns owned, or NULL. */
static char *
choice_end(struct choice *c, const char *last_run, int is_first_start)
{
	char path[PATH_MAX], *chosen = NULL;
	int is_usual = conf_is_usual_last_run(last_run);

	c->is_taken = is_usual && owner_read(c, c->owner, sizeof(c->owner)) &&
	    strcmp(c->owner, c->name) != 0;
	if (c->is_taken || conf_spool_path(last_run, path, sizeof(path)) == -1)
		goto done;
	if (is_usual || is_directory(c->dir, strrchr(path, '/') + 1) ||
	    !old_spool_is_ours(c, is_first_start))
		chosen = strdup(path);
	else if (asprintf(&chosen, "%s/" SPOOL_USUAL, c->path) == -1)
		chosen = NULL;
done:
	if (c->dir != -1)
		close(c->dir);
	return chosen;
}

char *
spool_path_choose(const char *last_run, int is_first_start)
{
	struct choice c = { .dir = -1 };
	char *chosen;

	if (choice_begin(&c, last_run) == -1 || c.dir == -1)
		return NULL;
	chosen = choice_end(&c, last_run, is_first_start);
	if (c.is_taken)
		log_errorx("%s/" SPOOL_USUAL " is the spool of the daemon "
			   "whose last-run file is %.255s (%s/" SPOOL_OWNER
			   "): set spoolDir or lastRunPath",
		    c.path, c.owner, c.path);
	return chosen;
}

char *
spool_path_look(const char *last_run, char *why, size_t size)
{
	struct choice c = { .dir = -1, .is_test = 1 };
	char *chosen;

	why[0] = '\0';
	if (choice_begin(&c, last_run) == -1)
		return NULL;
	chosen = choice_end(&c, last_run, access(last_run, F_OK) == -1);
	if (c.is_taken)
		snprintf(why, size,
		    "%s/" SPOOL_USUAL " is the spool of the daemon whose "
		    "last-run file is %s (%s/" SPOOL_OWNER "); set spoolDir "
		    "or lastRunPath",
		    c.path, c.owner, c.path);
	return chosen;
}
