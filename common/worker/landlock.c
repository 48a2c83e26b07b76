/* SPDX-License-Identifier: MIT */
/*
 * The Landlock layer of the sandbox.  Uses the rights that the running kernel
 * has; each of them is denied unless a path of the sandbox allows it.
 */
#include "config.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "common/worker/landlock.h"
#include "common/worker/landlock_abi.h"

int
landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

uint64_t
landlock_fs_rights(int abi)
{
	uint64_t fs = FS_ALL_1;

	if (abi >= 2)
		fs |= FS_REFER;
	if (abi >= 3)
		fs |= FS_TRUNCATE;
	if (abi >= 5)
		fs |= FS_IOCTL_DEV;
	return fs;
}

/* Slurm's commands connect to the ports that slurm.conf names. */
static uint64_t
net_handled(enum role role, int abi)
{
	if (abi < 4)
		return 0;
	return NET_BIND_TCP | (role == ROLE_RUNNER ? 0 : NET_CONNECT_TCP);
}

/*
 * Each command of the runner has rules of its own for what it reads and
 * executes.  The runner's deny what no command does: to write.
 */
static uint64_t
fs_denied(enum role role, int abi)
{
	uint64_t fs = landlock_fs_rights(abi);

	if (role == ROLE_RUNNER)
		fs &= ~(FS_EXECUTE | FS_READ_FILE | FS_READ_DIR | FS_IOCTL_DEV);
	return fs;
}

static uint64_t
fs_allowed(unsigned access)
{
	uint64_t fs = 0;

	if (access & SANDBOX_READ)
		fs |= FS_READ_FILE | FS_READ_DIR;
	if (access & SANDBOX_EXEC)
		fs |= FS_READ_FILE | FS_EXECUTE;
	if (access & SANDBOX_WRITE)
		fs |= FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR |
		    FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG;
	return fs;
}

/* The path does not exist or this uid cannot reach it: no rule is needed. */
static int
skippable(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES ||
	    error == ELOOP;
}

static int
allow_path(int ruleset, const char *path, uint64_t allowed)
{
	struct path_attr attr = { .allowed = allowed };
	struct stat st;
	int fd, saved, rc = -1;

	if ((fd = open(path, O_PATH | O_CLOEXEC)) == -1)
		return skippable(errno) ? 0 : -1;
	if (fstat(fd, &st) == -1)
		goto done;
	if (!S_ISDIR(st.st_mode))
		attr.allowed &= FS_OF_FILES;
	attr.parent = fd;
	rc = attr.allowed == 0 ? 0 :
				 (int)syscall(SYS_landlock_add_rule, ruleset,
				     RULE_PATH_BENEATH, &attr, 0);
done:
	saved = errno;
	close(fd);
	errno = saved;
	return rc;
}

static int
allow_ports(int ruleset, const struct sandbox *sb, uint64_t net)
{
	struct port_attr attr = { .allowed = net & NET_CONNECT_TCP };
	unsigned i;

	if (attr.allowed == 0)
		return 0;
	for (i = 0; i < sb->n_ports; i++) {
		attr.port = sb->ports[i];
		if (syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT,
			&attr, 0) == -1)
			return -1;
	}
	return 0;
}

/* Paths that a role needs besides the list of the supervisor. */
static int
allow_own(int ruleset, const struct sandbox *sb, uint64_t fs)
{
	/* The spool is the working directory, with chroot and without. */
	if (sb->role == ROLE_SUBMITTER && sb->root != NULL)
		return allow_path(ruleset, ".",
		    fs & fs_allowed(SANDBOX_READ | SANDBOX_WRITE));
	/* Slurm's commands and their libraries write to /dev/null. */
	if (sb->role == ROLE_RUNNER)
		return allow_path(ruleset, "/dev/null",
		    fs & fs_allowed(SANDBOX_READ | SANDBOX_WRITE));
	return 0;
}

int
landlock_enter(const struct sandbox *sb, int abi)
{
	struct ruleset_attr attr = {
		.fs = fs_denied(sb->role, abi),
		.net = net_handled(sb->role, abi),
		.scoped = abi >= 6 ? SCOPE_ABSTRACT | SCOPE_SIGNAL : 0,
	};
	int i, saved, ruleset, rc = -1;

	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr),
	    0);
	if (ruleset == -1)
		return -1;
	if (allow_own(ruleset, sb, attr.fs) == -1 ||
	    allow_ports(ruleset, sb, attr.net) == -1)
		goto done;
	for (i = 0; i < sb->n_paths; i++)
		if (allow_path(ruleset, sb->paths[i].path,
			attr.fs & fs_allowed(sb->paths[i].access)) == -1)
			goto done;
	rc = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
done:
	saved = errno;
	close(ruleset);
	errno = saved;
	return rc;
}
