/* SPDX-License-Identifier: MIT */
/*
 * A Landlock ruleset of one command: all rights on files are denied but those
 * that a rule allows, binding of TCP ports, abstract sockets and signals to
 * processes outside are denied too where the kernel can.
 *
 * Slurm's commands make TCP connections.  When a connection fails because its
 * address is in use, Slurm binds another local port and ignores the result, so
 * that the commands work without this right.  connect() to a UNIX socket needs
 * no rule: Landlock does not check it.
 */
#include "config.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/worker/landlock.h"
#include "common/worker/landlock_abi.h"
#include "runner/confine/confine_private.h"

/* On memory, paths below it get rules of their own. */
static void
cover(struct ruleset *rs, const char *path)
{
	if (rs->n_covered < RULESET_COVERED_MAX &&
	    (rs->covered[rs->n_covered] = strdup(path)) != NULL)
		rs->n_covered++;
}

int
ruleset_open(struct ruleset *rs, int abi)
{
	struct ruleset_attr attr = {
		.fs = landlock_fs_rights(abi),
		.net = abi >= 4 ? NET_BIND_TCP : 0,
		.scoped = abi >= 6 ? SCOPE_ABSTRACT | SCOPE_SIGNAL : 0,
	};

	memset(rs, 0, sizeof(*rs));
	rs->rights = attr.fs;
	/* Every command gets this directory. */
	cover(rs, "/usr");
	/* The kernel sets close-on-exec. */
	rs->fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr),
	    0);
	return rs->fd == -1 ? -1 : 0;
}

void
ruleset_close(struct ruleset *rs)
{
	unsigned i;

	for (i = 0; i < rs->n_covered; i++)
		free(rs->covered[i]);
	rs->n_covered = 0;
	if (rs->fd != -1)
		close(rs->fd);
	rs->fd = -1;
}

static uint64_t
rights_of(unsigned access)
{
	uint64_t fs = 0;

	if (access & SANDBOX_READ)
		fs |= FS_READ_FILE | FS_READ_DIR;
	if (access & SANDBOX_EXEC)
		fs |= FS_READ_FILE | FS_EXECUTE;
	if (access & SANDBOX_WRITE)
		fs |= FS_WRITE_FILE | FS_TRUNCATE;
	return fs;
}

static int
is_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return strncmp(path, directory, n) == 0 &&
	    (path[n] == '/' || path[n] == '\0');
}

/* The path of an open file without symbolic links; -1 without /proc. */
static int
path_of(int fd, char *path, size_t size)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, size - 1);
	if (n <= 0 || (size_t)n == size - 1)
		return -1;
	path[n] = '\0';
	return 0;
}

static int
is_covered(const struct ruleset *rs, const char *path)
{
	unsigned i;

	for (i = 0; i < rs->n_covered; i++)
		if (is_below(path, rs->covered[i]))
			return 1;
	return 0;
}

static void
rule_add(struct ruleset *rs, int fd, const struct stat *st, uint64_t rights)
{
	struct path_attr attr = { .allowed = rights & rs->rights,
		.parent = fd };

	if (!S_ISDIR(st->st_mode))
		attr.allowed &= FS_OF_FILES;
	if (attr.allowed == 0)
		return;
	if (rs->n == CONFINE_RULES_MAX) {
		rs->left_out++;
		return;
	}
	if (syscall(SYS_landlock_add_rule, rs->fd, RULE_PATH_BENEATH, &attr,
		0) == 0)
		rs->n++;
	/* EBADFD: an object that no rule can name, as a socket. */
	else if (errno != EBADFD && rs->error == 0)
		rs->error = errno;
}

/* Paths below a directory that got its rule need none. */
static void
rule_and_cover(struct ruleset *rs, int fd, const struct stat *st,
    unsigned access)
{
	char real[PATH_MAX];
	unsigned n = rs->n;

	rule_add(rs, fd, st, rights_of(access));
	if (rs->n > n && S_ISDIR(st->st_mode) &&
	    path_of(fd, real, sizeof(real)) == 0)
		cover(rs, real);
}

/*
 * A path that does not exist, that this uid cannot reach or whose server does
 * not answer gets no rule; the command may not need it.  Without memory or
 * descriptors the command must not start with fewer rights.
 */
static int
path_open(struct ruleset *rs, const char *path, struct stat *st)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd != -1 && fstat(fd, st) == 0)
		return fd;
	if ((errno == ENOMEM || errno == EMFILE || errno == ENFILE) &&
	    rs->error == 0)
		rs->error = errno;
	if (fd != -1)
		close(fd);
	return -1;
}

void
ruleset_allow(struct ruleset *rs, const char *path, unsigned access)
{
	struct stat st;
	int fd = path_open(rs, path, &st);

	if (fd == -1)
		return;
	rule_add(rs, fd, &st, rights_of(access));
	close(fd);
}

void
ruleset_allow_named(struct ruleset *rs, const char *path)
{
	char real[PATH_MAX];
	struct stat st;
	int fd = path_open(rs, path, &st);

	if (fd == -1)
		return;
	if (path_of(fd, real, sizeof(real)) == -1 || !is_covered(rs, real))
		rule_and_cover(rs, fd, &st, SANDBOX_READ);
	close(fd);
}

void
ruleset_allow_extra(struct ruleset *rs, const char *path, int directories)
{
	struct stat st;
	int fd = path_open(rs, path, &st);

	if (fd == -1)
		return;
	if (S_ISDIR(st.st_mode) == directories)
		rule_and_cover(rs, fd, &st, SANDBOX_READ | SANDBOX_EXEC);
	close(fd);
}

int
ruleset_restrict(int fd)
{
	return (int)syscall(SYS_landlock_restrict_self, fd, 0);
}
