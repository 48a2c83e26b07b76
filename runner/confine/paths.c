/* SPDX-License-Identifier: MIT */
/*
 * The paths that one command may open.  Of /etc these are single files and the
 * folders of Slurm's configuration:
 * Landlock has no rule that denies, so that config.json could not be excluded
 * from /etc.  Sockets of munge, sssd, nscd and nslcd need no rule; see
 * ruleset.c.
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/model/conf.h"
#include "runner/confine/confine_private.h"

/*
 * Paths that every program needs.  A path costs 4 us: the C library asks /proc for
 * the number of CPUs where /sys is closed, and Slurm looks up no service.
 */
static const char *const system_paths[] = {
	"/usr",	 /* libraries, plugins, locales, time zones */
	"/proc", /* also /proc/PID/fd of configless Slurm */
	"/dev/urandom",
	"/etc/ld.so.cache",
	"/etc/ld.so.preload",
	/* Users and groups. */
	"/etc/passwd",
	"/etc/group",
	"/etc/nsswitch.conf",
	"/var/lib/sss/mc",
	"/run/systemd/userdb",
	/* Hosts. */
	"/etc/hosts",
	"/etc/host.conf",
	"/etc/resolv.conf",
	"/etc/gai.conf",
};

/* Mostly links into /usr; then they need no rule. */
static const char *const links_to_usr[] = {
	"/lib",
	"/lib64",
	"/etc/localtime",
};

/* Slurm; slurmd and sackd keep a configuration that they fetched. */
static const char *const slurm_paths[] = {
	"/etc/slurm",
	"/etc/slurm-llnl",
	"/run/slurm/conf",
};

/*
 * Slurm in its own prefix.  Never the whole prefix: a site may have other
 * programs there, with their configuration and state.
 */
static const char *const prefix_paths[] = {
	"bin",
	"sbin",
	"libexec",
	"share",
	"lib",
	"lib64",
	"etc/slurm",
	"etc/slurm.conf",
	"etc/plugstack.conf",
	"etc/plugstack.conf.d",
	"etc/topology.conf",
	"etc/topology.yaml",
	"etc/gres.conf",
	"etc/cgroup.conf",
	"etc/acct_gather.conf",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* "usr/lib", "/usr/lib64", "../usr/share/zoneinfo/UTC" */
static int
is_link_to_usr(const char *path)
{
	char to[PATH_MAX];
	const char *p = to;
	ssize_t n = readlink(path, to, sizeof(to) - 1);

	if (n <= 0)
		return 0;
	to[n] = '\0';
	while (strncmp(p, "../", 3) == 0)
		p += 3;
	p += *p == '/';
	return strncmp(p, "usr/", 4) == 0 && strstr(p, "..") == NULL;
}

static void
system_allow(struct ruleset *rs)
{
	size_t i;

	for (i = 0; i < COUNT(system_paths); i++)
		ruleset_allow(rs, system_paths[i], SANDBOX_READ);
	for (i = 0; i < COUNT(links_to_usr); i++)
		if (!is_link_to_usr(links_to_usr[i]))
			ruleset_allow(rs, links_to_usr[i], SANDBOX_READ);
	/* Scripts and libraries write to it. */
	ruleset_allow(rs, "/dev/null", SANDBOX_READ | SANDBOX_WRITE);
	for (i = 0; i < COUNT(slurm_paths); i++)
		ruleset_allow_named(rs, slurm_paths[i]);
}

/* The directory of the file, without symbolic links.  0, or -1. */
static int
directory_of(const char *file, char *directory)
{
	char *slash;

	if (realpath(file, directory) == NULL ||
	    (slash = strrchr(directory, '/')) == NULL || slash == directory)
		return -1;
	*slash = '\0';
	return 0;
}

/* A script needs a shell and other programs: those of the system. */
static void
script_allow(struct ruleset *rs, const char *command)
{
	char directory[PATH_MAX];

	if (directory_of(command, directory) == 0)
		ruleset_allow(rs, directory, SANDBOX_READ | SANDBOX_EXEC);
	ruleset_allow(rs, "/usr", SANDBOX_READ | SANDBOX_EXEC);
	ruleset_allow(rs, "/bin", SANDBOX_READ | SANDBOX_EXEC);
	ruleset_allow(rs, "/lib", SANDBOX_READ | SANDBOX_EXEC);
	ruleset_allow(rs, "/lib64", SANDBOX_READ | SANDBOX_EXEC);
}

/* PREFIX of PREFIX/bin/squeue; never / or a directory directly below it. */
static int
prefix_of(const char *command, char *prefix)
{
	char *slash;

	if (directory_of(command, prefix) == -1)
		return -1;
	slash = strrchr(prefix, '/');
	*slash = '\0';
	return strchr(prefix, '/') != strrchr(prefix, '/') ? 0 : -1;
}

/* rs may be NULL, as in includes_allow(). */
static void
prefix_allow(struct ruleset *rs, const char *command, struct includes *in)
{
	char prefix[PATH_MAX], path[PATH_MAX + 32];
	size_t i;

	if (prefix_of(command, prefix) == -1)
		return;
	for (i = 0; rs != NULL && i < COUNT(prefix_paths); i++) {
		snprintf(path, sizeof(path), "%s/%s", prefix, prefix_paths[i]);
		ruleset_allow_named(rs, path);
	}
	snprintf(path, sizeof(path), "%s/etc/slurm.conf", prefix);
	includes_allow_file(in, path, rs);
}

static void
extra_allow(struct ruleset *rs, const char *list, int directories)
{
	char path[PATH_MAX];
	unsigned n;

	for (n = 0;
	     list != NULL && conf_list_item(list, n, path, sizeof(path)) == 1;
	     n++)
		ruleset_allow_extra(rs, path, directories);
}

void
paths_allow(struct ruleset *rs, const char *command,
    const struct command_kind *kind, struct includes *in,
    const char *extra_paths)
{
	ruleset_allow(rs, command, SANDBOX_READ | SANDBOX_EXEC);
	if (kind->is_script)
		script_allow(rs, command);
	else if (kind->loader[0] != '\0')
		ruleset_allow(rs, kind->loader, SANDBOX_READ | SANDBOX_EXEC);
	system_allow(rs);
	/* A directory of the admin may contain many of the files that follow. */
	extra_allow(rs, extra_paths, 1);
	includes_allow(in, rs);
	prefix_allow(rs, command, in);
	extra_allow(rs, extra_paths, 0);
}

void
paths_read(const char *command, struct includes *in)
{
	includes_allow(in, NULL);
	prefix_allow(NULL, command, in);
}
