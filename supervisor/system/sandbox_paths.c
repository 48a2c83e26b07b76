/* SPDX-License-Identifier: MIT */
/*
 * The sandbox message of each worker: paths, limits and user.  The listener
 * opens no file, the submitter its spool, the collector what Slurm's commands
 * need.  Only single files of /etc are allowed: Landlock has no rule that
 * denies, so that config.json could not be excluded from /etc.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/slurm_conf.h"
#include "supervisor/system/system.h"

#define GLOB_PATHS_MAX 32 /* of one pattern */

/* Limits: descriptors; processes where the worker has its own uid. */
#define LISTENER_NOFILE	 1024
#define COLLECTOR_NOFILE 512
#define SUBMITTER_NOFILE 512
#define SUBMITTER_NPROC	 64 /* threads of libnats and curl, twice */

static const struct {
	const char *pattern;
	unsigned access;
} common_paths[] = {
	/* Libraries, locales, time zones; execution is allowed per command. */
	{ "/usr", SANDBOX_READ },
	{ "/lib", SANDBOX_READ },
	{ "/lib[0-9]*", SANDBOX_READ },
	/* The dynamic loader. */
	{ "/lib*/ld-*.so*", SANDBOX_EXEC },
	{ "/lib/*/ld-*.so*", SANDBOX_EXEC },
	{ "/dev/urandom", SANDBOX_READ },
	{ "/dev/zero", SANDBOX_READ },
	{ "/proc", SANDBOX_READ },
	{ "/sys/devices/system/cpu", SANDBOX_READ },
	/* Users, hosts, the cache of the dynamic loader. */
	{ "/etc/passwd", SANDBOX_READ },
	{ "/etc/group", SANDBOX_READ },
	{ "/etc/nsswitch.conf", SANDBOX_READ },
	{ "/etc/hosts", SANDBOX_READ },
	{ "/etc/host.conf", SANDBOX_READ },
	{ "/etc/resolv.conf", SANDBOX_READ },
	{ "/etc/gai.conf", SANDBOX_READ },
	{ "/etc/services", SANDBOX_READ },
	{ "/etc/protocols", SANDBOX_READ },
	{ "/etc/localtime", SANDBOX_READ },
	{ "/etc/ld.so.*", SANDBOX_READ },
	/* Sockets and caches of name services. */
	{ "/var/lib/sss/pipes", SANDBOX_READ },
	{ "/var/lib/sss/mc", SANDBOX_READ },
	{ "/run/nscd", SANDBOX_READ },
	{ "/run/nslcd", SANDBOX_READ },
	{ "/run/systemd/userdb", SANDBOX_READ },
	/* Sockets of munge and auth/slurm; the cache of configless Slurm. */
	{ "/run/munge", SANDBOX_READ },
	{ "/run/slurm*", SANDBOX_READ },
	{ "/var/spool/slurm*/conf-cache", SANDBOX_READ },
	{ "/var/lib/slurm*/conf-cache", SANDBOX_READ },
	{ "/etc/slurm", SANDBOX_READ },
	{ "/etc/slurm-llnl", SANDBOX_READ },
};

static const char *const commands[] = {
	"sacct",
	"squeue",
	"scontrol",
	"sacctmgr",
	"sinfo",
	"sdiag",
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void
allow(struct sandbox *sb, const char *path, unsigned access)
{
	if (sandbox_allow(sb, path, access) == -1)
		log_warn("path %s is not allowed to the %s", path,
		    role_name(sb->role));
}

static void
allow_pattern(struct sandbox *sb, const char *pattern, unsigned access)
{
	glob_t g;
	size_t i;

	if (glob(pattern, 0, NULL, &g) != 0)
		return;
	for (i = 0; i < g.gl_pathc && i < GLOB_PATHS_MAX; i++)
		allow(sb, g.gl_pathv[i], access);
	globfree(&g);
}

static int
is_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return strncmp(path, directory, n) == 0 &&
	    (path[n] == '/' || path[n] == '\0');
}

/* 1 when the file is an ELF program, -1 when it cannot be opened. */
static int
is_elf(const char *path)
{
	char magic[4] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd == -1)
		return -1;
	n = read(fd, magic, sizeof(magic));
	close(fd);
	return n == (ssize_t)sizeof(magic) && memcmp(magic, "\177ELF", 4) == 0;
}

/*
 * The commands.  When a site has replaced one by a script, the script needs a
 * shell and other programs: then the programs of the system are allowed.
 */
static void
allow_commands(struct sandbox *sb, const char *bin)
{
	char path[PATH_MAX];
	const char *script = NULL;
	size_t i;

	for (i = 0; i < COMMANDS; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", bin, commands[i]) >=
		    (int)sizeof(path))
			return;
		allow(sb, path, SANDBOX_EXEC);
		if (is_elf(path) == 0)
			script = commands[i];
	}
	if (script == NULL)
		return;
	log_info("%s/%s is a script: the collector may execute the programs in "
		 "%s, /usr and /bin",
	    bin, script, bin);
	allow(sb, bin, SANDBOX_READ | SANDBOX_EXEC);
	allow(sb, "/usr", SANDBOX_READ | SANDBOX_EXEC);
	allow(sb, "/bin", SANDBOX_READ | SANDBOX_EXEC);
}

static void
allow_named(enum slurm_conf_path kind, const char *path, void *arg)
{
	(void)kind;
	/* A relative include is in slurm.conf's directory, which is allowed. */
	if (path[0] == '/')
		allow(arg, path, SANDBOX_READ);
}

/*
 * Slurm in its own prefix: libraries, plugins and the default configuration,
 * also when the prefix is a symbolic link.  Never the whole prefix: a site may
 * have other programs there, with their configuration and state.
 */
static void
allow_prefix(struct sandbox *sb, const char *bin)
{
	static const char *const parts[] = {
		"bin",
		"sbin",
		"lib",
		"lib[0-9]*",
		"libexec",
		"share",
		"etc/*.conf",
		"etc/slurm",
		"etc/plugstack.conf.d",
	};
	char real[PATH_MAX], path[PATH_MAX + 32], *slash;
	size_t i;

	if (realpath(bin, real) == NULL)
		return;
	slash = strrchr(real, '/');
	/* PREFIX/bin; never / or a directory directly below it. */
	if (slash == NULL || slash == real)
		return;
	*slash = '\0';
	if (strchr(real + 1, '/') == NULL || is_below(real, "/usr"))
		return;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", real, parts[i]);
		allow_pattern(sb, path, SANDBOX_READ);
	}
	snprintf(path, sizeof(path), "%s/etc/slurm.conf", real);
	slurm_conf_scan(path, allow_named, sb);
}

/* The directory of slurm.conf and the paths that slurm.conf names. */
static void
allow_conf_directory(struct sandbox *sb, const char *file)
{
	char directory[PATH_MAX], *slash;

	slurm_conf_scan(file, allow_named, sb);
	if (realpath(file, directory) == NULL || strcmp(directory, file) == 0)
		snprintf(directory, sizeof(directory), "%s", file);
	else
		allow(sb, file, SANDBOX_READ);
	slash = strrchr(directory, '/');
	if (slash == NULL)
		return;
	/* Directly below /, /etc or the like, only the file is allowed. */
	*slash = '\0';
	if (directory[0] == '\0' || strchr(directory + 1, '/') == NULL)
		*slash = '/';
	allow(sb, directory, SANDBOX_READ);
}

static void
allow_slurm_conf(const struct conf *conf, struct sandbox *sb)
{
	static const char *const usual[] = {
		"/etc/slurm/slurm.conf",
		"/etc/slurm-llnl/slurm.conf",
		"/usr/local/etc/slurm.conf",
		"/run/slurm/conf/slurm.conf",
	};
	const char *file = conf_str(conf, CONF_SLURM_CONF);
	size_t i;

	if (file[0] == '\0')
		file = getenv("SLURM_CONF");
	if (file != NULL && file[0] == '/') {
		allow_conf_directory(sb, file);
		return;
	}
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		slurm_conf_scan(usual[i], allow_named, sb);
}

static void
allow_extra(const struct conf *conf, struct sandbox *sb)
{
	const char *list = conf_str(conf, CONF_SLURM_EXTRA_PATHS);
	char path[PATH_MAX];
	unsigned n;

	for (n = 0; conf_list_item(list, n, path, sizeof(path)) == 1; n++)
		allow(sb, path, SANDBOX_READ | SANDBOX_EXEC);
}

static void
readable_warn(const struct sandbox *sb, const char *path,
    struct log_limit *limit)
{
	char real[PATH_MAX];
	int i;

	if (path == NULL || *path == '\0' || realpath(path, real) == NULL)
		return;
	for (i = 0; i < sb->n_paths; i++) {
		if (!is_below(real, sb->paths[i].path))
			continue;
		log_limited(limit, log_warnx,
		    "%s is in %s, which Slurm's "
		    "commands may read: move it to another directory",
		    path, sb->paths[i].path);
		return;
	}
}

/* Owner and mode may protect them; the directory should, too. */
static void
secrets_warn(const struct setup *setup, const struct conf *conf,
    const struct sandbox *sb)
{
	static const enum conf_key files[] = { CONF_CC_REST_JWT_FILE,
		CONF_NATS_CREDS_FILE, CONF_NATS_NKEY_SEED_FILE,
		CONF_NATS_KEY_FILE };
	static struct log_limit limits[sizeof(files) / sizeof(files[0]) + 2];
	size_t i, n = sizeof(files) / sizeof(files[0]);

	for (i = 0; i < n; i++)
		readable_warn(sb, conf_str(conf, files[i]), &limits[i]);
	readable_warn(sb, setup->config_path, &limits[n]);
	readable_warn(sb, setup->spool_dir, &limits[n + 1]);
}

static void
collector_fill(const struct setup *setup, const struct conf *conf,
    struct sandbox *sb)
{
	const char *bin = conf_str(conf, CONF_SLURM_BIN_DIR);
	size_t i;

	if (bin[0] == '\0')
		bin = SLURMBINDIR;
	sb->nofile = COLLECTOR_NOFILE;
	for (i = 0; i < sizeof(common_paths) / sizeof(common_paths[0]); i++)
		allow_pattern(sb, common_paths[i].pattern,
		    common_paths[i].access);
	allow_commands(sb, bin);
	allow_prefix(sb, bin);
	allow_slurm_conf(conf, sb);
	allow_extra(conf, sb);
	secrets_warn(setup, conf, sb);
}

/* With -test, path is NULL.  Out of memory is an error, not "no chroot". */
static int
root_set(struct sandbox *sb, const char *path)
{
	if (path == NULL)
		return 0;
	sb->root = strdup(path);
	return sb->root != NULL ? 0 : -1;
}

static int
listener_fill(const struct setup *setup, struct sandbox *sb)
{
	sb->nofile = LISTENER_NOFILE;
	sb->nproc = 0;
	sb->fsize = 0;
	return root_set(sb, setup->empty_dir);
}

static int
submitter_fill(const struct setup *setup, struct sandbox *sb)
{
	sb->nofile = SUBMITTER_NOFILE;
	sb->nproc = SUBMITTER_NPROC;
	if (root_set(sb, setup->spool_dir) == -1)
		return -1;
	if (sb->root != NULL)
		allow(sb, sb->root, SANDBOX_READ | SANDBOX_WRITE);
	return 0;
}

int
sandbox_paths_fill(const struct setup *setup, const struct conf *conf,
    struct sandbox *sb)
{
	const struct identity *id = &setup->identity[sb->role];

	sb->mode = setup->mode;
	sb->as_root = setup->as_root;
	sb->uid = id->uid;
	sb->gid = id->gid;
	memcpy(sb->groups, id->groups, sizeof(sb->groups));
	sb->n_groups = id->n_groups;
	if (sb->role == ROLE_LISTENER)
		return listener_fill(setup, sb);
	if (sb->role == ROLE_SUBMITTER)
		return submitter_fill(setup, sb);
	collector_fill(setup, conf, sb);
	return 0;
}
