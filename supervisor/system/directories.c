/* SPDX-License-Identifier: MIT */
/*
 * Folders and the last-run file.  As root they belong to root, for whoever
 * owns a folder can put a link where the supervisor opens a file; nothing in
 * them is opened by following one.
 */
#include "config.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/system.h"

#define DIRECTORY_MODE	0750	/* root and SlurmUser's group, who call the hook */
#define SPOOL_MODE	0700
#define EMPTY_MODE	0555
#define SPOOL_FILES_MAX	64	/* of a spool that changes hands */

static char *
parent_name(const char *path)
{
	char *copy = strdup(path), *dir;

	if (copy == NULL)
		return NULL;
	dir = strdup(dirname(copy));
	free(copy);
	return dir;
}

/* All that is missing above it, plain and open to look through. */
static int
parents_make(const char *path)
{
	char *copy = strdup(path), *p;
	int rc = 0;

	if (copy == NULL)
		return -1;
	for (p = copy + 1; rc == 0 && (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		if (mkdir(copy, 0755) == -1 && errno != EEXIST)
			rc = -1;
		*p = '/';
	}
	free(copy);
	return rc;
}

/* The descriptor of a folder, made with mode and owner when it is missing. */
static int
directory_open(const char *path, mode_t mode, uid_t uid, gid_t gid)
{
	int made, fd;

	made = mkdir(path, mode) == 0;
	if (!made && errno == ENOENT && parents_make(path) == 0)
		made = mkdir(path, mode) == 0;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (made && (fchmod(fd, mode) == -1 ||
	    (geteuid() == 0 && fchown(fd, uid, gid) == -1))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Who may write to it could put a link where a file is expected, too. */
static int
directory_restrict(const char *path, int fd, const struct stat *st, int is_ours)
{
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	if (is_ours)
		return fchmod(fd, st->st_mode & 07777 & ~(S_IWGRP | S_IWOTH));
	log_warnx("others than its owner may write to %s (mode %04o) and could "
	    "replace the daemon's files there", path,
	    (unsigned)st->st_mode & 07777);
	return 0;
}

/*
 * The folder of a daemon that ran as slurmUser is given to root: its group
 * stays, so the hooks go on finding the socket.
 */
static int
directory_take_over(const struct setup *setup, int fd, const char *path)
{
	struct stat st;

	if (!setup->as_root)
		return 0;
	if (fstat(fd, &st) == -1)
		return -1;
	if (st.st_uid == 0)
		return directory_restrict(path, fd, &st, 0);
	if (st.st_uid != setup->identity[ROLE_COLLECTOR].uid) {
		log_warnx("%s belongs to user %u, who could replace the "
		    "daemon's files there", path, (unsigned)st.st_uid);
		return 0;
	}
	if (fchown(fd, 0, (gid_t)-1) == -1)
		return -1;
	log_notice("%s belonged to user %u and is root's now", path,
	    (unsigned)st.st_uid);
	return directory_restrict(path, fd, &st, 1);
}

static int
directory_prepare(const struct setup *setup, const char *path)
{
	int fd = directory_open(path, DIRECTORY_MODE, 0, setup->dir_gid);
	int rc = -1;

	if (fd != -1)
		rc = directory_take_over(setup, fd, path);
	if (rc == -1)
		log_error("folder %s", path);
	if (fd != -1)
		close(fd);
	return rc;
}

int
directory_prepare_for(const struct setup *setup, const char *path)
{
	char *dir = parent_name(path);
	int rc = dir != NULL ? directory_prepare(setup, dir) : -1;

	free(dir);
	return rc;
}

/* A file of a spool that changes hands; never one with another name outside. */
static void
spool_file_chown(int dir, const char *name, uid_t uid, gid_t gid)
{
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);

	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	    fchown(fd, uid, gid) == -1)
		log_warn("owner of the spool's %s", name);
	close(fd);
}

static void
spool_files_chown(int dir, uid_t uid, gid_t gid)
{
	int copy = fcntl(dir, F_DUPFD_CLOEXEC, 0), n = 0;
	DIR *d = copy != -1 ? fdopendir(copy) : NULL;
	const struct dirent *e;

	if (d == NULL) {
		if (copy != -1)
			close(copy);
		return;
	}
	while ((e = readdir(d)) != NULL && n++ < SPOOL_FILES_MAX)
		spool_file_chown(dir, e->d_name, uid, gid);
	closedir(d);
}

/* A spool that a plain user's daemon has filled goes on being used. */
static int
spool_take_over(const struct setup *setup, int fd)
{
	const struct identity *own = &setup->identity[ROLE_SUBMITTER];
	struct stat st;

	if (fstat(fd, &st) == -1)
		return -1;
	if (st.st_uid == own->uid && (st.st_mode & 077) == 0)
		return 0;
	if (!setup->as_root) {
		if (st.st_uid == own->uid)
			return fchmod(fd, SPOOL_MODE);
		errno = EPERM;
		return -1;
	}
	if (st.st_uid != own->uid &&
	    st.st_uid != 0 && st.st_uid != setup->identity[ROLE_COLLECTOR].uid) {
		errno = EPERM;
		return -1;
	}
	/* Ours first: then nobody else changes what is given away below. */
	if (fchown(fd, 0, 0) == -1 || fchmod(fd, SPOOL_MODE) == -1)
		return -1;
	spool_files_chown(fd, own->uid, own->gid);
	log_notice("the spool belonged to user %u and is user %u's now",
	    (unsigned)st.st_uid, (unsigned)own->uid);
	return fchown(fd, own->uid, own->gid);
}

static int
spool_prepare(struct setup *setup, const struct conf *conf)
{
	const char *named = conf_str(conf, CONF_SPOOL_DIR);
	int fd = -1, rc = -1;

	if (named[0] != '\0')
		setup->spool_dir = strdup(named);
	else if (asprintf(&setup->spool_dir, "%s/spool", setup->state_dir) == -1)
		setup->spool_dir = NULL;
	if (setup->spool_dir != NULL)
		fd = directory_open(setup->spool_dir, SPOOL_MODE,
		    setup->identity[ROLE_SUBMITTER].uid, setup->identity[ROLE_SUBMITTER].gid);
	if (fd != -1) {
		rc = spool_take_over(setup, fd);
		close(fd);
	}
	if (rc == -1)
		log_error("spool folder %s", setup->spool_dir);
	return rc;
}

static int
empty_dir_prepare(struct setup *setup)
{
	int fd = -1;

	if (asprintf(&setup->empty_dir, "%s/empty", setup->state_dir) == -1)
		setup->empty_dir = NULL;
	else
		fd = directory_open(setup->empty_dir, EMPTY_MODE, 0, 0);
	if (fd == -1) {
		log_error("empty folder for the listener");
		return -1;
	}
	close(fd);
	return 0;
}

/* Nothing but a plain file of slurmUser's with one name gets to the collector. */
static int
lastrun_check(const struct setup *setup, int fd)
{
	struct stat st;
	uid_t owner = setup->identity[ROLE_COLLECTOR].uid;

	if (fstat(fd, &st) == -1)
		return -1;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1) {
		errno = EINVAL;
		return -1;
	}
	if (st.st_uid == owner || !setup->as_root)
		return 0;
	if (st.st_uid != 0) {
		log_warnx("the last-run file belongs to user %u, not to the "
		    "one who asks Slurm (%u); it is given to that one",
		    (unsigned)st.st_uid, (unsigned)owner);
	}
	return fchown(fd, owner, setup->identity[ROLE_COLLECTOR].gid);
}

/* A new one says "never", as the Go adapter's did: 1970. */
static int
lastrun_open(const char *path)
{
	static const struct timespec never[2];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd != -1 || errno != ENOENT)
		return fd;
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0644);
	if (fd != -1 && futimens(fd, never) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

static int
lastrun_prepare(struct setup *setup, const struct conf *conf)
{
	const char *path = conf_str(conf, CONF_LAST_RUN);

	setup->lastrun = lastrun_open(path);
	if (setup->lastrun != -1 &&
	    lastrun_check(setup, setup->lastrun) == 0)
		return 0;
	log_error("last-run file %s", path);
	return -1;
}

/*
 * With the sandbox off the submitter stands in no root folder of its own and
 * comes to its spool through this one, as a user that it lets nobody be.
 */
static int
state_dir_permit(const struct setup *setup)
{
	const char *path = setup->state_dir;
	struct stat st;
	int fd, rc = 0;

	if (!setup->as_root || setup->mode != SANDBOX_OFF)
		return 0;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 || fstat(fd, &st) == -1 ||
	    fchmod(fd, (st.st_mode & 07777) | S_IXOTH) == -1) {
		log_error("folder %s", path);
		rc = -1;
	}
	if (fd != -1)
		close(fd);
	return rc;
}

int
directories_prepare(struct setup *setup, const struct conf *conf)
{
	setup->state_dir = parent_name(conf_str(conf,
	    CONF_LAST_RUN));
	if (setup->state_dir == NULL ||
	    directory_prepare(setup, setup->state_dir) == -1 ||
	    state_dir_permit(setup) == -1 ||
	    lastrun_prepare(setup, conf) == -1 || empty_dir_prepare(setup) == -1)
		return -1;
	return spool_prepare(setup, conf);
}

void
setup_init(struct setup *setup)
{
	memset(setup, 0, sizeof(*setup));
	setup->lastrun = setup->listen_fd = setup->ctl_fd = setup->kmsg = -1;
}

void
setup_clear(struct setup *setup)
{
	free(setup->program_dir);
	free(setup->state_dir);
	free(setup->spool_dir);
	free(setup->empty_dir);
	if (setup->lastrun != -1)
		close(setup->lastrun);
	if (setup->kmsg != -1)
		close(setup->kmsg);
	setup_init(setup);
}
