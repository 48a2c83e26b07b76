/* SPDX-License-Identifier: MIT */
/*
 * `spool check --file`: checks a spool whose daemon does not run. The check
 * runs with the rights of the caller, or of the file's owner if root calls,
 * and changes neither the file nor its directory: a VFS layer below SQLite opens
 * files only for reading, takes no locks and deletes nothing. The write-ahead log
 * (-wal) is read as well; a missing one counts as empty.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "submitter/spool/spool_private.h"

#define PAGES_STEP 4096
/* SQLite's locks; see "The File Locking Protocol" in its documentation. */
#define LOCK_FIRST 0x40000000
#define LOCK_BYTES 512

static sqlite3_vfs reader;
static sqlite3_vfs *system_files;

static int
read_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags,
    int *out)
{
	const int is_log = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;

	flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
	    SQLITE_OPEN_DELETEONCLOSE | SQLITE_OPEN_EXCLUSIVE);
	if ((flags & SQLITE_OPEN_WAL) != 0 && access(name, F_OK) == -1)
		name = "/dev/null";
	/* SQLite would give a log of root to the owner of the file. */
	if ((flags & is_log) != 0)
		flags = (flags & ~is_log) | SQLITE_OPEN_SUBJOURNAL;
	return system_files->xOpen(self, name, file,
	    flags | SQLITE_OPEN_READONLY, out);
}

static int
read_delete(sqlite3_vfs *self, const char *name, int sync)
{
	return SQLITE_READONLY;
}

/*
 * The name as it is: SQLite would look at each directory above the file, which
 * the owner of the file may not enter.
 */
static int
read_full_name(sqlite3_vfs *self, const char *name, int size, char *out)
{
	(void)self;
	return snprintf(out, (size_t)size, "%s", name) < size ? SQLITE_OK :
								SQLITE_CANTOPEN;
}

static int
look_prepare(void)
{
	system_files = sqlite3_vfs_find("unix-none");
	if (system_files == NULL)
		return -1;
	reader = *system_files;
	reader.pNext = NULL;
	reader.zName = "csa-read";
	reader.xOpen = read_open;
	reader.xDelete = read_delete;
	reader.xFullPathname = read_full_name;
	if (sqlite3_vfs_register(&reader, 1) != SQLITE_OK)
		return -1;
	spool_sum_prepare();
	return 0;
}

void
spool_run_check(struct spool *sp, const struct spool_run *run, char *text,
    size_t size)
{
	struct spool_run same;
	struct job job;

	text[0] = '\0';
	if (spool_find(sp, &run->key, &same) != 1 || same.id != run->id) {
		snprintf(text, size, "job %llu (%s) is not in the index",
		    (unsigned long long)run->key.job, run->key.cluster);
		return;
	}
	if (run->flags & (RUN_FROM_BACKEND | RUN_QUARANTINED))
		return;
	job_init(&job);
	if (spool_record(sp, run->id, &job) == -1)
		snprintf(text, size, "the record of job %llu (%s) is invalid",
		    (unsigned long long)run->key.job, run->key.cluster);
	job_clear(&job);
}

struct look {
	unsigned long long runs, open, rejected;
	char wrong[256];
};

static int
run_look(struct spool *sp, struct spool_run *run, void *arg)
{
	struct look *l = arg;
	int d, rejected = 0;

	for (d = 0; d < DEST__COUNT; d++)
		rejected |= run->state[d] == START_REJECTED ||
		    run->state[d] == STOP_REJECTED;
	l->runs++;
	l->open += run->end == 0;
	l->rejected += (unsigned)rejected;
	spool_run_check(sp, run, l->wrong, sizeof(l->wrong));
	return l->wrong[0] != '\0' ? -1 : 0;
}

/*
 * Checks all pages and all rows, and runs quick_check: 0, or -1 with l->wrong
 * set.
 */
static int
all_look(struct spool *sp, struct look *l, int current)
{
	struct spool_after after = { 0 };
	int64_t at = 0;
	int rc;

	while ((rc = spool_check_pages(sp, &at, PAGES_STEP)) == 1)
		continue;
	if (rc == -1) {
		snprintf(l->wrong, sizeof(l->wrong),
		    "the checksum of page %lld is wrong", (long long)at);
		return -1;
	}
	if (spool_check(sp, l->wrong, sizeof(l->wrong)) != 0)
		return -1;
	l->wrong[0] = '\0';
	/*
	 * The rows of an older version lack columns that the statements select.
	 */
	while (current && l->wrong[0] == '\0' &&
	    (rc = spool_each(sp, DEST_REST, RUN_STATE__COUNT, &after,
		 SPOOL_PAGE, run_look, l)) == SPOOL_PAGE)
		continue;
	if (rc == -1 && l->wrong[0] == '\0')
		snprintf(l->wrong, sizeof(l->wrong), "%s", spool_error(sp));
	return l->wrong[0] != '\0' ? -1 : 0;
}

/* Is it a readable file that no process uses? 0, or -1 with the reason. */
static int
file_look(const char *path, char *text, size_t size)
{
	struct flock lock = { .l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = LOCK_FIRST,
		.l_len = LOCK_BYTES };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int rc = -1;

	if (fd == -1 || fstat(fd, &st) == -1)
		snprintf(text, size, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		snprintf(text, size, "%s is no regular file", path);
	else if (st.st_size == 0)
		snprintf(text, size, "%s is empty", path);
	else if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
		snprintf(text, size,
		    "%s is in use by process %ld: `spool check` "
		    "without --file asks the daemon",
		    path, (long)lock.l_pid);
	else
		rc = 0;
	if (fd != -1)
		close(fd);
	return rc;
}

/*
 * The owner may have written anything into the file, so SQLite must not read
 * it as root.  Enters the directory of the file, and becomes its owner.  *name
 * is the name of the file from then on.  0, or -1 with the reason.
 */
static int
owner_become(const char *path, const char **name, char *text, size_t size)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	struct stat st;

	*name = path;
	if (geteuid() != 0 || stat(path, &st) == -1 || st.st_uid == 0)
		return 0;
	if (slash != NULL) {
		*name = slash + 1;
		snprintf(dir, sizeof(dir), "%.*s/", (int)(slash - path), path);
		if (chdir(dir) == -1) {
			snprintf(text, size, "%s: %s", dir, strerror(errno));
			return -1;
		}
	}
	if (setgroups(0, NULL) == 0 &&
	    setresgid(st.st_gid, st.st_gid, st.st_gid) == 0 &&
	    setresuid(st.st_uid, st.st_uid, st.st_uid) == 0)
		return 0;
	snprintf(text, size, "cannot become user %u, who owns %s: %s",
	    (unsigned)st.st_uid, path, strerror(errno));
	return -1;
}

int
spool_check_file(const char *path, char *text, size_t size)
{
	struct look l = { .runs = 0 };
	struct spool *sp;
	const char *name;
	int64_t version = 0;
	int rc;

	if (owner_become(path, &name, text, size) == -1 ||
	    file_look(name, text, size) == -1)
		return 1;
	if (look_prepare() == -1) {
		snprintf(text, size, "this SQLite cannot open without locks");
		return 1;
	}
	sp = spool_open_read(name, &version, text, size);
	if (sp == NULL)
		return 1;
	rc = all_look(sp, &l, version == SPOOL_SCHEMA);
	if (rc == -1)
		snprintf(text, size,
		    "%s is damaged: %s; the daemon renames such "
		    "a file and recovers its valid rows",
		    path, l.wrong);
	else if (version < SPOOL_SCHEMA)
		snprintf(text, size,
		    "%s is valid, of version %lld; the daemon "
		    "migrates it to version %d",
		    path, (long long)version, SPOOL_SCHEMA);
	else
		snprintf(text, size,
		    "%s is valid: %llu runs, %llu of them without an end, %llu "
		    "rejected",
		    path, l.runs, l.open, l.rejected);
	spool_close(sp);
	return rc == 0 ? 0 : 1;
}
