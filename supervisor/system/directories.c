/* SPDX-License-Identifier: MIT */
/*
 * Directories and the last-run file.  When the service runs as root, those of
 * the pid file and the sockets belong to root, because the owner of a directory
 * can put a symbolic link where the supervisor opens a file.  No open in them
 * follows a link.
 */
#include "config.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/system.h"

#define STATE_DIR	"/var/lib/cc-slurm-adapter" /* usual, the suite's */
#define RUN_DIR		"/run/cc-slurm-adapter"	    /* as STATE_DIR */
#define DIRECTORY_MODE	0750 /* SlurmUser's group: the hook enters it */
#define SPOOL_MODE	0700
#define EMPTY_MODE	0555
#define SPOOL_FILES_MAX 64	 /* of a spool that gets another owner */
#define SPOOL_PREFIX	"spool." /* of each file of a spool */
/* mkfs makes it: a spool may have a file system of its own */
#define FSCK_NAME "lost+found"

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

/* Makes the missing parents, with mode 0755. */
static int
parents_make(const char *path)
{
	char *copy = strdup(path), *p;
	int rc = 0, saved;

	if (copy == NULL)
		return -1;
	for (p = copy + 1; rc == 0 && (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		if (mkdir(copy, 0755) == -1 && errno != EEXIST)
			rc = -1;
		*p = '/';
	}
	saved = errno;
	free(copy);
	errno = saved;
	return rc;
}

int
directory_is_link(const char *path, char *why, size_t size)
{
	char target[PATH_MAX];
	struct stat st;

	if (lstat(path, &st) == -1 || !S_ISLNK(st.st_mode))
		return 0;
	snprintf(why, size,
	    "%s is a symbolic link, which the daemon does not follow: write "
	    "%s instead into the configuration",
	    path, realpath(path, target) != NULL ? target : "its target");
	return 1;
}

/*
 * Opens a directory; a missing one is made with mode and owner.  -1 with errno:
 * for a missing one, why it cannot be made.
 */
static int
directory_make(const char *path, mode_t mode, uid_t uid, gid_t gid)
{
	int made, saved, fd;

	made = mkdir(path, mode) == 0;
	if (!made && errno == ENOENT && parents_make(path) == 0)
		made = mkdir(path, mode) == 0;
	saved = errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1) {
		if (!made && errno == ENOENT)
			errno = saved;
		return -1;
	}
	if (made &&
	    (fchmod(fd, mode) == -1 ||
		(geteuid() == 0 && fchown(fd, uid, gid) == -1))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int
directory_open(const char *path, mode_t mode, uid_t uid, gid_t gid)
{
	int fd = directory_make(path, mode, uid, gid), saved = errno;
	char why[2 * PATH_MAX + 128];

	if (fd == -1 && directory_is_link(path, why, sizeof(why)))
		log_errorx("%s", why);
	errno = saved;
	return fd;
}

/*
 * A directory that exists can be opened on a read-only file system, and the
 * unit makes all paths read-only that are not in ReadWritePaths=.
 * 0, or -1 with errno.
 */
static int
writable_check(int fd)
{
	struct statvfs fs;

	if (fstatvfs(fd, &fs) == -1)
		return -1;
	if ((fs.f_flag & ST_RDONLY) == 0)
		return 0;
	errno = EROFS;
	return -1;
}

/* error: why path cannot be prepared, which is logged already. */
static void
read_only_explain(int error, const char *path)
{
	if (error != EROFS)
		return;
	/* ReadWritePaths= has no effect below a path that the unit hides. */
	if (strncmp(path, "/home/", 6) == 0 ||
	    strncmp(path, "/root/", 6) == 0 ||
	    strncmp(path, "/run/user/", 10) == 0)
		log_errorx(
		    "ProtectHome=yes of the unit hides %s: configure a path "
		    "elsewhere",
		    path);
	else
		log_errorx("the service can only read %s: make the directory "
			   "if it is missing, and add it to ReadWritePaths= "
			   "of the unit (systemctl edit cc-slurm-adapter)",
		    path);
}

static void
directory_fail(const char *path)
{
	int error = errno;

	log_error("cannot prepare directory %s", path);
	read_only_explain(error, path);
}

/* Write permission allows others to put a link there, too. */
static int
directory_restrict(const char *path, int fd, const struct stat *st,
    int is_owner)
{
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	if (is_owner)
		return fchmod(fd, st->st_mode & 07777 & ~(S_IWGRP | S_IWOTH));
	log_warnx("%s is writable by others than its owner (mode %04o); they "
		  "can replace the daemon's files there",
	    path, (unsigned)st->st_mode & 07777);
	return 0;
}

/* The entries of a directory from the first one on; NULL with errno. */
static DIR *
entries_open(int dir)
{
	int copy = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	DIR *d = copy != -1 ? fdopendir(copy) : NULL;

	if (d == NULL && copy != -1)
		close(copy);
	if (d != NULL)
		rewinddir(d);
	return d;
}

/*
 * 1 when the directory contains anything but sockets and the file name: another
 * program uses it too, as slurmctld uses /run/slurm.
 */
static int
directory_is_shared(int dir, const char *name)
{
	DIR *d = entries_open(dir);
	const struct dirent *e;
	struct stat st;
	int shared = 0;

	if (d == NULL)
		return 1;
	while (!shared && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0 ||
		    strcmp(e->d_name, name) == 0)
			continue;
		shared = fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
			-1 ||
		    !S_ISSOCK(st.st_mode);
	}
	closedir(d);
	return shared;
}

static int
has_group(const struct identity *id, gid_t gid)
{
	int i;

	for (i = 0; i < id->n_groups; i++)
		if (id->groups[i] == gid)
			return 1;
	return 0;
}

int
directory_admits_hook(const struct setup *setup, const struct stat *st)
{
	const struct identity *id = &setup->slurm_user;
	mode_t bit;

	/* The group of root has no user of a hook. */
	if (!setup->has_slurm_user)
		return st->st_gid != 0 || (st->st_mode & S_IXOTH) != 0;
	bit = st->st_uid == id->uid   ? S_IXUSR :
	    has_group(id, st->st_gid) ? S_IXGRP :
					S_IXOTH;
	return id->uid == 0 || (st->st_mode & bit) != 0;
}

int
directory_gets_group(const struct setup *setup, const char *path,
    const struct stat *st)
{
	return setup->as_root && strcmp(path, setup->run_dir) == 0 &&
	    S_ISDIR(st->st_mode) && st->st_uid == 0 &&
	    (st->st_mode & S_IXGRP) != 0 && !directory_admits_hook(setup, st);
}

/*
 * tmpfiles.d makes the usual directory, without the group of slurmctld's user,
 * which the file cannot know.  A group that admits the hooks stays.
 */
static int
group_set(const struct setup *setup, int fd, const char *path,
    const struct stat *st)
{
	if (!directory_gets_group(setup, path, st) ||
	    st->st_gid == setup->dir_gid)
		return 0;
	if (fchown(fd, (uid_t)-1, setup->dir_gid) == -1)
		return -1;
	log_notice("group of %s changed from %u to %u, for the hooks", path,
	    (unsigned)st->st_gid, (unsigned)setup->dir_gid);
	return 0;
}

/*
 * Gives the directory of a daemon that ran as slurmUser to root.  The group
 * stays, so that the hooks still find the socket.  name: the daemon's file there.
 */
static int
directory_take_over(const struct setup *setup, int fd, const char *path,
    const char *name)
{
	struct stat st;

	if (!setup->as_root)
		return 0;
	if (fstat(fd, &st) == -1)
		return -1;
	if (st.st_uid == 0 && group_set(setup, fd, path, &st) == -1)
		return -1;
	if (st.st_uid == 0)
		return directory_restrict(path, fd, &st, 0);
	if (st.st_uid != setup->identity[ROLE_RUNNER].uid ||
	    directory_is_shared(fd, name)) {
		log_warnx("%s belongs to user %u, who can replace the "
			  "daemon's files there",
		    path, (unsigned)st.st_uid);
		return 0;
	}
	if (fchown(fd, 0, (gid_t)-1) == -1)
		return -1;
	log_notice("owner of %s changed from user %u to root", path,
	    (unsigned)st.st_uid);
	return directory_restrict(path, fd, &st, 1);
}

static int
directory_prepare(const struct setup *setup, const char *path, const char *name)
{
	int fd = directory_open(path, DIRECTORY_MODE, 0, setup->dir_gid);
	int rc = -1;

	if (fd != -1 && writable_check(fd) == 0)
		rc = directory_take_over(setup, fd, path, name);
	if (rc == -1)
		directory_fail(path);
	if (fd != -1)
		close(fd);
	return rc;
}

int
directory_prepare_for(const struct setup *setup, const char *path)
{
	char *dir = parent_name(path);
	const char *slash = strrchr(path, '/');
	int rc = -1;

	if (dir != NULL)
		rc = directory_prepare(setup, dir,
		    slash != NULL ? slash + 1 : path);

	free(dir);
	return rc;
}

/* A name that the submitter gives to a file, or . or .. */
static int
is_spool_name(const char *name)
{
	return strncmp(name, SPOOL_PREFIX, sizeof(SPOOL_PREFIX) - 1) == 0 ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/*
 * A directory with other files than the spool's is not the spool's: spoolDir
 * may be a mistake, and its new owner could read and remove these files.
 * 0, or -1 with errno (logged when there is such a file).
 */
static int
spool_contents_check(const char *path, int dir)
{
	DIR *d = entries_open(dir);
	const struct dirent *e;
	int rc = 0;

	if (d == NULL)
		return -1;
	while (rc == 0 && (e = readdir(d)) != NULL) {
		if (is_spool_name(e->d_name) ||
		    strcmp(e->d_name, FSCK_NAME) == 0)
			continue;
		log_errorx("%s has another owner or mode than a spool, and "
			   "contains \"%s\", which is no file of a spool; the "
			   "directory is not changed: set spoolDir to an empty "
			   "directory or to one that does not exist",
		    path, e->d_name);
		errno = EPERM;
		rc = -1;
	}
	closedir(d);
	return rc;
}

/*
 * Changes no file that has a second name, because this name may be outside the
 * spool.
 */
static void
spool_file_chown(int dir, const char *name, uid_t uid, gid_t gid)
{
	struct stat st;
	int fd = openat(dir, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	    fchown(fd, uid, gid) == -1)
		log_warn("cannot change the owner of the spool's %s", name);
	close(fd);
}

static void
spool_files_chown(int dir, uid_t uid, gid_t gid)
{
	DIR *d = entries_open(dir);
	const struct dirent *e;
	int n = 0;

	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL && n++ < SPOOL_FILES_MAX)
		if (is_spool_name(e->d_name))
			spool_file_chown(dir, e->d_name, uid, gid);
	closedir(d);
}

/*
 * Sets the mode only.  The contents do not matter: the submitter, whose directory
 * this is, could make a file so that the daemon does not start again.  Root owns
 * the directory meanwhile, because the unit gives root no CAP_FOWNER.
 */
static int
spool_mode_set(const char *path, int fd, const struct stat *st)
{
	if (fchown(fd, 0, 0) == -1 || fchmod(fd, SPOOL_MODE) == -1 ||
	    fchown(fd, st->st_uid, st->st_gid) == -1)
		return -1;
	log_notice("mode of the spool %s changed from %04o to %04o", path,
	    (unsigned)st->st_mode & 07777, SPOOL_MODE);
	return 0;
}

/* A daemon of another user may have filled the spool: it stays in use. */
static int
spool_take_over(const struct setup *setup, int fd)
{
	const struct identity *own = &setup->identity[ROLE_SUBMITTER];
	struct stat st;

	if (fstat(fd, &st) == -1)
		return -1;
	if (st.st_uid == own->uid && (st.st_mode & 0777) == SPOOL_MODE)
		return 0;
	if (st.st_uid != own->uid &&
	    (!setup->as_root ||
		(st.st_uid != 0 &&
		    st.st_uid != setup->identity[ROLE_RUNNER].uid))) {
		log_errorx("%s belongs to user %u; if it is the spool of this "
			   "daemon, run: chown -R %u %s",
		    setup->spool_dir, (unsigned)st.st_uid, (unsigned)own->uid,
		    setup->spool_dir);
		errno = EPERM;
		return -1;
	}
	/* Slurm's user has other directories, which spoolDir may name. */
	if (setup->as_root && st.st_uid == own->uid &&
	    own->uid != setup->identity[ROLE_RUNNER].uid)
		return spool_mode_set(setup->spool_dir, fd, &st);
	if (spool_contents_check(setup->spool_dir, fd) == -1)
		return -1;
	if (!setup->as_root)
		return fchmod(fd, SPOOL_MODE);
	/*
	 * Root owns the directory first, so that no other user can change the
	 * files meanwhile.
	 */
	if (fchown(fd, 0, 0) == -1 || fchmod(fd, SPOOL_MODE) == -1)
		return -1;
	spool_files_chown(fd, own->uid, own->gid);
	log_notice("owner of the spool changed from user %u to user %u",
	    (unsigned)st.st_uid, (unsigned)own->uid);
	return fchown(fd, own->uid, own->gid);
}

/*
 * The lock keeps a second daemon from the same spool.  On a file system without
 * locks (some network file systems) the daemon starts without one.
 */
static int
spool_lock(struct setup *setup, int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK) {
		log_errorx(
		    "another daemon uses the spool %s and has locked it; "
		    "this one exits: set another lastRunPath or spoolDir",
		    setup->spool_dir);
		return -1;
	}
	setup->spool_lock = fd;
	return 0;
}

static int
spool_prepare(struct setup *setup, const struct conf *conf, int is_first_start)
{
	const char *named = conf_str(conf, CONF_SPOOL_DIR);
	int fd;

	setup->spool_dir = named[0] != '\0' ?
	    strdup(named) :
	    spool_path_choose(conf_str(conf, CONF_LAST_RUN), is_first_start);
	if (setup->spool_dir == NULL) {
		log_errorx("no directory for the spool: set spoolDir");
		return -1;
	}
	fd = directory_open(setup->spool_dir, SPOOL_MODE,
	    setup->identity[ROLE_SUBMITTER].uid,
	    setup->identity[ROLE_SUBMITTER].gid);
	if (fd == -1) {
		directory_fail(setup->spool_dir);
		return -1;
	}
	if (spool_lock(setup, fd) == -1) {
		close(fd);
		return -1;
	}
	if (writable_check(fd) == 0 && spool_take_over(setup, fd) == 0)
		return 0;
	directory_fail(setup->spool_dir);
	return -1;
}

static int
empty_dir_prepare(struct setup *setup)
{
	int fd = -1, error;

	if (asprintf(&setup->empty_dir, "%s/empty", setup->state_dir) == -1)
		setup->empty_dir = NULL;
	else
		fd = directory_open(setup->empty_dir, EMPTY_MODE, 0, 0);
	if (fd == -1) {
		error = errno;
		log_error("cannot prepare the empty directory for the workers "
			  "without files");
		read_only_explain(error, setup->state_dir);
		return -1;
	}
	close(fd);
	return 0;
}

/* The runner gets only a regular file with one name; it becomes slurmUser's. */
static int
lastrun_check(const struct setup *setup, int fd)
{
	struct stat st;
	uid_t owner = setup->identity[ROLE_RUNNER].uid;

	if (fstat(fd, &st) == -1)
		return -1;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1) {
		errno = EINVAL;
		return -1;
	}
	if (st.st_uid == owner || !setup->as_root)
		return 0;
	if (st.st_uid != 0) {
		log_warnx("the last-run file belongs to user %u; slurmUser "
			  "(%u) becomes its owner",
		    (unsigned)st.st_uid, (unsigned)owner);
	}
	return fchown(fd, owner, setup->identity[ROLE_RUNNER].gid);
}

/* A new file has the time 1970, which means "never", as in the Go adapter. */
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
	int error;

	setup->lastrun = lastrun_open(path);
	if (setup->lastrun != -1 && writable_check(setup->lastrun) == 0 &&
	    lastrun_check(setup, setup->lastrun) == 0)
		return 0;
	error = errno;
	log_error("cannot prepare last-run file %s", path);
	read_only_explain(error, setup->state_dir);
	return -1;
}

/*
 * The directory may be the site's and have other files: its owner and its mode
 * stay.
 */
static void
state_dir_warn(const struct setup *setup, const struct stat *st)
{
	const char *path = setup->state_dir;

	if (!setup->as_root)
		return;
	if (st->st_uid != 0)
		log_warnx("%s belongs to user %u, who can replace the spool "
			  "there; if the directory is only for the daemon, run "
			  "chown root %s",
		    path, (unsigned)st->st_uid, path);
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		log_warnx("%s is writable by others than its owner (mode "
			  "%04o); they can replace the spool there; if the "
			  "directory is only for the daemon, run chmod go-w %s",
		    path, (unsigned)st->st_mode & 07777, path);
}

/*
 * With sandbox off, the submitter has no chroot and reaches its spool through
 * the state directory, as a user without rights there.  Only the usual
 * directory, which is the suite's, gets this right.
 */
static int
state_dir_permit(const struct setup *setup, int fd, const struct stat *st)
{
	const char *path = setup->state_dir;

	if (!setup->as_root || setup->mode != SANDBOX_OFF ||
	    (st->st_mode & S_IXOTH) != 0)
		return 0;
	if (strcmp(path, STATE_DIR) == 0)
		return fchmod(fd, (st->st_mode & 07777) | S_IXOTH);
	log_errorx("with sandbox off, the submitter must be able to enter %s: "
		   "run chmod o+x %s",
	    path, path);
	errno = EACCES;
	return -1;
}

static int
state_dir_prepare(const struct setup *setup)
{
	int fd = directory_open(setup->state_dir, DIRECTORY_MODE, 0,
	    setup->dir_gid);
	struct stat st;
	int rc = -1;

	if (fd != -1 && fstat(fd, &st) == 0) {
		state_dir_warn(setup, &st);
		rc = state_dir_permit(setup, fd, &st);
	}
	if (rc == -1)
		directory_fail(setup->state_dir);
	if (fd != -1)
		close(fd);
	return rc;
}

int
directories_prepare(struct setup *setup, const struct conf *conf)
{
	const char *last_run = conf_str(conf, CONF_LAST_RUN);
	int is_first_start = access(last_run, F_OK) == -1;

	setup->state_dir = parent_name(last_run);
	if (setup->state_dir == NULL || state_dir_prepare(setup) == -1 ||
	    (worker_is_wanted(conf, ROLE_RUNNER) &&
		lastrun_prepare(setup, conf) == -1) ||
	    empty_dir_prepare(setup) == -1)
		return -1;
	return spool_prepare(setup, conf, is_first_start);
}

void
setup_init(struct setup *setup)
{
	memset(setup, 0, sizeof(*setup));
	setup->run_dir = RUN_DIR;
	setup->lastrun = setup->ctl_fd = setup->kmsg = -1;
	setup->metrics_fd = -1;
	setup->spool_lock = -1;
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
	if (setup->spool_lock != -1)
		close(setup->spool_lock);
	setup_init(setup);
}
