/* SPDX-License-Identifier: MIT */
/*
 * slurm.conf and the files that it includes, which may include each other: the rules
 * for Slurm's commands, and SlurmUser for the supervisor.  The input is up to 20
 * files with a line "@" between two; the n-th, from 0, has the name /conf/sub/fN.
 * Every walk ends within its limits and allows only absolute paths, and no
 * descriptor stays open.
 */
#include "config.h"

#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "runner/confine/confine_private.h"
#include "supervisor/system/system.h"
#include "tests/fuzz/fuzz.h"

#define FILES_MAX   20
#define DIRECTORY   "/conf/sub"
#define ALLOWED_MAX 2000 /* rules of one walk: 16 files with 32 paths each */
#define OPENED_MAX  200	 /* files that one walk reads */

static struct {
	const char *text;
	size_t len;
} files[FILES_MAX];
static unsigned n_files, n_allowed, n_opened, changes;

/* The number of the file, or -1. */
static int
file_of(const char *path)
{
	unsigned i;
	char name[64];

	for (i = 0; i < n_files; i++) {
		snprintf(name, sizeof(name), DIRECTORY "/f%u", i);
		if (strcmp(path, name) == 0)
			return (int)i;
	}
	return -1;
}

int __wrap_open(const char *path, int flags, ...);

int
__wrap_open(const char *path, int flags, ...)
{
	int i = file_of(path), fd;

	if (i == -1) {
		errno = ENOENT;
		return -1;
	}
	HOLDS(++n_opened <= OPENED_MAX);
	fd = memfd_create("slurm.conf", MFD_CLOEXEC);
	HOLDS(fd != -1);
	HOLDS(pwrite(fd, files[i].text, files[i].len, 0) ==
	    (ssize_t)files[i].len);
	return fd;
}

int
file_stamp(const char *path, struct file_stamp *stamp)
{
	int i = file_of(path);

	if (i == -1)
		return -1;
	memset(stamp, 0, sizeof(*stamp));
	stamp->ino = (ino_t)i + 1;
	/* Each second file changes. */
	stamp->ctime.tv_sec = i % 2 != 0 ? (time_t)changes : 0;
	return 0;
}

int
file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
	return !a->is_fresh && a->ino == b->ino &&
	    a->ctime.tv_sec == b->ctime.tv_sec;
}

/* The directory of slurm.conf, or a path of a file. */
void
ruleset_allow_named(struct ruleset *rs, const char *path)
{
	size_t n = strlen(path);

	HOLDS(++n_allowed <= ALLOWED_MAX);
	HOLDS(n > 0 && n < PATH_MAX && path[0] == '/');
	HOLDS(strcspn(path, "\"#\r\n \t") == n);
}

/* A line that begins with "@" ends a file. */
static void
files_make(const char *p, size_t n)
{
	const char *at = p, *end = p + n, *nl;

	memset(files, 0, sizeof(files));
	for (n_files = 0; n_files < FILES_MAX && at < end; n_files++) {
		files[n_files].text = at;
		do {
			nl = memchr(at, '\n', (size_t)(end - at));
			at = nl != NULL ? nl + 1 : end;
		} while (at < end && *at != '@');
		files[n_files].len = (size_t)(at - files[n_files].text);
		/* The rest of its line is of the next one. */
		if (at < end)
			at++;
	}
}

static void
walk_holds(struct includes *in, struct ruleset *rs)
{
	n_allowed = n_opened = 0;
	includes_allow(in, rs);
	if (rs == NULL)
		HOLDS(n_allowed == 0);
}

static void
user_holds(void)
{
	char name[SLURM_USER_MAX] = "";

	n_opened = 0;
	if (slurm_conf_user(DIRECTORY "/f0", name, sizeof(name)))
		HOLDS(name[0] != '\0' &&
		    strcspn(name, "\"#\r\n \t") == strlen(name));
	else
		HOLDS(name[0] == '\0');
	HOLDS(n_opened <= 32);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct ruleset rs = { .fd = -1 };
	struct includes *in;
	uint64_t before;
	char *text = exact(bytes, n);
	int lowest = dup(0);

	close(lowest);
	fuzz_quiet();
	files_make(text, n);
	changes = 0;
	in = includes_new(DIRECTORY "/f0");
	HOLDS(in != NULL);
	walk_holds(in, &rs);
	before = includes_changes(in);
	/* Nothing has changed: no file is read again. */
	walk_holds(in, NULL);
	HOLDS(includes_changes(in) == before);
	changes++;
	HOLDS(includes_changes(in) >= before);
	walk_holds(in, &rs);
	includes_free(in);
	user_holds();
	free(text);
	HOLDS(dup(0) == lowest && close(lowest) == 0);
	return 0;
}
