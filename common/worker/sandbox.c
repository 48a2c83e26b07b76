/* SPDX-License-Identifier: MIT */
/*
 * How a worker enters its sandbox.  The order matters: chroot and the bounding
 * set need capabilities, the change of the uid removes these, no_new_privs
 * allows Landlock and seccomp without capabilities, and seccomp, the last
 * layer, denies the calls of the layers before.
 */
#include "config.h"

#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/worker/landlock.h"
#include "common/worker/sandbox.h"
#include "common/worker/seccomp.h"

/* Limit of descriptors when the supervisor has set none. */
#define NOFILE_DEFAULT 1024
/*
 * Memory, bytes.  The listener has at most 50,000 events and the queue of one
 * channel; the submitter has the records that wait, SQLite's cache, one answer
 * of cc-backend and the stacks of libnats.  The collector has the running jobs
 * of all clusters and the records that the submitter has not acknowledged.
 * Slurm's commands inherit the runner's limit: squeue and sacct keep the whole
 * answer in memory.
 */
static const uint64_t data_max[ROLE__COUNT] = {
	[ROLE_LISTENER] = 256ull << 20,
	[ROLE_COLLECTOR] = 2048ull << 20,
	[ROLE_RUNNER] = 8192ull << 20,
	[ROLE_SUBMITTER] = 1024ull << 20,
	[ROLE_EXPORTER] = 64ull << 20, /* pages and connections */
	/* stacks of libnats, messages and their records */
	[ROLE_RECEIVER] = 512ull << 20,
};
/* Of one path: PATH_MAX of the kernel without the NUL. */
#define PATH_BYTES_MAX 4095

void
sandbox_init(struct sandbox *sb, enum role role)
{
	memset(sb, 0, sizeof(*sb));
	sb->role = role;
	sb->mode = SANDBOX_ENFORCE;
	sb->uid = getuid();
	sb->gid = getgid();
	sb->nofile = NOFILE_DEFAULT;
	sb->nproc = UINT64_MAX;
	sb->fsize = UINT64_MAX;
}

void
sandbox_clear(struct sandbox *sb)
{
	int i;

	for (i = 0; i < sb->n_paths; i++)
		free(sb->paths[i].path);
	free(sb->root);
	sandbox_init(sb, sb->role);
}

int
sandbox_allow(struct sandbox *sb, const char *path, unsigned access)
{
	struct sandbox_path *p;

	if (sb->n_paths == SANDBOX_PATHS_MAX) {
		errno = E2BIG;
		return -1;
	}
	p = &sb->paths[sb->n_paths];
	if ((p->path = strdup(path)) == NULL)
		return -1;
	p->access = access;
	sb->n_paths++;
	return 0;
}

int
sandbox_allow_port(struct sandbox *sb, uint16_t port)
{
	unsigned i;

	for (i = 0; i < sb->n_ports; i++)
		if (sb->ports[i] == port)
			return 0;
	if (sb->n_ports == SANDBOX_PORTS_MAX) {
		errno = E2BIG;
		return -1;
	}
	sb->ports[sb->n_ports++] = port;
	return 0;
}

void
sandbox_write(struct writer *w, const struct sandbox *sb)
{
	int i;

	wr_u8(w, (uint8_t)sb->role);
	wr_u8(w, (uint8_t)sb->mode);
	wr_u8(w, sb->as_root != 0);
	wr_u32(w, sb->uid);
	wr_u32(w, sb->gid);
	wr_u16(w, (uint16_t)sb->n_groups);
	for (i = 0; i < sb->n_groups; i++)
		wr_u32(w, sb->groups[i]);
	wr_u8(w, sb->root != NULL);
	wr_str(w, sb->root);
	wr_u64(w, sb->nofile);
	wr_u64(w, sb->nproc);
	wr_u64(w, sb->fsize);
	wr_u16(w, (uint16_t)sb->n_paths);
	for (i = 0; i < sb->n_paths; i++) {
		wr_u8(w, (uint8_t)sb->paths[i].access);
		wr_str(w, sb->paths[i].path);
	}
	wr_u16(w, (uint16_t)sb->n_ports);
	for (i = 0; i < (int)sb->n_ports; i++)
		wr_u16(w, sb->ports[i]);
}

static void
read_paths(struct reader *r, struct sandbox *sb)
{
	unsigned access, i, n = rd_u16(r);
	char *path;

	if (n > SANDBOX_PATHS_MAX) {
		rd_fail(r);
		return;
	}
	for (i = 0; i < n; i++) {
		access = rd_u8(r);
		if ((path = rd_strdup(r, PATH_BYTES_MAX)) == NULL ||
		    sandbox_allow(sb, path, access) == -1)
			rd_fail(r);
		free(path);
	}
}

static void
read_ports(struct reader *r, struct sandbox *sb)
{
	unsigned i, n = rd_u16(r);

	for (i = 0; i < n && !r->err; i++)
		if (sandbox_allow_port(sb, rd_u16(r)) == -1)
			rd_fail(r);
}

void
sandbox_read(struct reader *r, struct sandbox *sb)
{
	unsigned role = rd_u8(r), mode = rd_u8(r), i, n;
	int rooted;

	if (role >= ROLE__COUNT || mode > SANDBOX_OFF) {
		rd_fail(r);
		return;
	}
	sb->role = role;
	sb->mode = mode;
	sb->as_root = rd_u8(r);
	sb->uid = rd_u32(r);
	sb->gid = rd_u32(r);
	if ((n = rd_u16(r)) > SANDBOX_GROUPS_MAX) {
		rd_fail(r);
		return;
	}
	for (i = 0; i < n; i++)
		sb->groups[i] = rd_u32(r);
	sb->n_groups = (int)n;
	rooted = rd_u8(r);
	free(sb->root);
	sb->root = rd_strdup(r, PATH_BYTES_MAX);
	if (!rooted) {
		free(sb->root);
		sb->root = NULL;
	}
	sb->nofile = rd_u64(r);
	sb->nproc = rd_u64(r);
	sb->fsize = rd_u64(r);
	read_paths(r, sb);
	read_ports(r, sb);
}

/* Names of the layers in force, and texts about missing ones. */
struct layers {
	char on[256];
	char missing[256];
};

static void __attribute__((format(printf, 4, 0))) layers_add(char *buf,
    size_t size, const char *between, const char *fmt, va_list ap)
{
	size_t len = strlen(buf);

	if (len != 0) {
		snprintf(buf + len, size - len, "%s", between);
		len = strlen(buf);
	}
	vsnprintf(buf + len, size - len, fmt, ap);
}

static void __attribute__((format(printf, 2, 3)))
layers_on(struct layers *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	layers_add(l->on, sizeof(l->on), ",", fmt, ap);
	va_end(ap);
}

static void __attribute__((format(printf, 2, 3)))
layers_missing(struct layers *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	layers_add(l->missing, sizeof(l->missing), ", ", fmt, ap);
	va_end(ap);
}

/* As root chroot, else only the working directory. */
static void
root_enter(const struct sandbox *sb, struct layers *l)
{
	if (sb->root == NULL)
		return;
	if (chdir(sb->root) == -1)
		fatal("cannot enter %s", sb->root);
	if (!sb->as_root || sb->mode == SANDBOX_OFF)
		return;
	if (chroot(".") == -1 || chdir("/") == -1)
		fatal("cannot chroot to %s", sb->root);
	layers_on(l, "chroot");
}

/* Never raises the limit: without root that would fail. */
static void
rlimit_lower(int which, const char *name, uint64_t value)
{
	struct rlimit limit;

	if (getrlimit(which, &limit) == -1)
		fatal("cannot read the limit %s", name);
	if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max)
		limit.rlim_max = (rlim_t)value;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(which, &limit) == -1)
		fatal("cannot set the limit %s", name);
}

/* The supervisor makes a pipe; a test may start a worker with a file. */
static int
log_is_file(void)
{
	struct stat st;

	return fstat(STDERR_FILENO, &st) == 0 && S_ISREG(st.st_mode);
}

/* RLIMIT_DATA counts private memory; a sanitizer reserves terabytes. */
static uint64_t
data_limit(enum role role)
{
#ifdef SANITIZED
	return UINT64_MAX;
#endif
	return data_max[role] != 0 ? data_max[role] : UINT64_MAX;
}

static void
rlimits_enter(const struct sandbox *sb, struct layers *l)
{
	rlimit_lower(RLIMIT_NOFILE, "of open files", sb->nofile);
	if (sb->fsize != UINT64_MAX && !(sb->fsize == 0 && log_is_file()))
		rlimit_lower(RLIMIT_FSIZE, "of file size", sb->fsize);
	if (data_limit(sb->role) != UINT64_MAX)
		rlimit_lower(RLIMIT_DATA, "of memory", data_limit(sb->role));
	/* A core file would have the secrets of the memory in it. */
	if (sb->mode != SANDBOX_OFF)
		rlimit_lower(RLIMIT_CORE, "of core files", 0);
	layers_on(l, "rlimits");
}

/*
 * If the service is out of memory, the kernel ends the runner or a command of Slurm
 * first; a command inherits the value.  Without it, the kernel would end another
 * process: it does not count shared memory and memfds of a process as its own.
 */
static void
oom_prefer(const struct sandbox *sb)
{
	int fd;

	if (sb->role != ROLE_RUNNER)
		return;
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd == -1 || write(fd, "1000", 4) != 4)
		log_debug("cannot set oom_score_adj: %s", strerror(errno));
	if (fd != -1)
		close(fd);
}

/*
 * After the change of the uid, because the limit counts the processes of the
 * uid.  Without its own uid, the worker shares the count with other processes,
 * and only 0 and the high limit of the runner are useful.
 */
static void
nproc_enter(const struct sandbox *sb)
{
	if (sb->nproc != UINT64_MAX &&
	    (sb->as_root || sb->nproc == 0 || sb->role == ROLE_RUNNER))
		rlimit_lower(RLIMIT_NPROC, "of processes", sb->nproc);
}

/*
 * Needs CAP_SETPCAP.  If the unit does not grant it, the bounding set stays,
 * and no_new_privs makes the set ineffective: the missing layer is reported.
 */
static void
bounding_drop(const struct sandbox *sb, struct layers *l)
{
	int cap;

	if (!sb->as_root || sb->mode == SANDBOX_OFF)
		return;
	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		if (errno != EPERM)
			fatal("cannot drop capability %d from the bounding set",
			    cap);
		layers_missing(l, "bounding set kept");
		return;
	}
}

static void
uid_enter(const struct sandbox *sb, struct layers *l)
{
	const gid_t *groups = sb->n_groups > 0 ? sb->groups : &sb->gid;
	size_t n = sb->n_groups > 0 ? (size_t)sb->n_groups : 1;

	if (!sb->as_root)
		return;
	if (sb->uid == 0 && sb->mode == SANDBOX_ENFORCE)
		fatalx("the %s must not run as root: name another user in the "
		       "configuration",
		    role_name(sb->role));
	if (setgroups(n, groups) == -1 ||
	    setresgid(sb->gid, sb->gid, sb->gid) == -1 ||
	    setresuid(sb->uid, sb->uid, sb->uid) == -1)
		fatal("cannot become user %u, group %u", (unsigned)sb->uid,
		    (unsigned)sb->gid);
	if (sb->uid == 0)
		layers_missing(l, "uid is root");
	else
		layers_on(l, "uid");
}

/* The filter of a unit may refuse to set capabilities that are empty. */
static int
caps_equal(cap_t want)
{
	cap_t have = cap_get_proc();
	int equal = have != NULL && cap_compare(have, want) == 0;

	cap_free(have);
	return equal;
}

static void
caps_clear(struct layers *l)
{
	cap_t none;

	/* Kernels before 4.3 have no ambient set. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1 &&
	    errno != EINVAL)
		fatal("cannot clear the ambient capabilities");
	if ((none = cap_init()) == NULL ||
	    (cap_set_proc(none) == -1 && !caps_equal(none)))
		fatal("cannot clear the capabilities");
	cap_free(none);
	layers_on(l, "nocaps");
}

static void
privileges_end(const struct sandbox *sb, struct layers *l)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		fatal("cannot set no_new_privs");
	caps_clear(l);
	layers_on(l, "nnp");
	/* No debugger, no core file, no access to /proc/PID/mem. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		fatal("cannot disable core dumps");
	if (getuid() != 0 && setuid(0) != -1)
		fatalx("the process can become root again");
}

static void
landlock_layer(const struct sandbox *sb, struct layers *l)
{
	int abi = landlock_abi();

	if (sb->mode == SANDBOX_LOG)
		layers_missing(l, "landlock left out in mode log");
	else if (abi == 0)
		layers_missing(l, "no landlock in this kernel");
	else if (landlock_enter(sb, abi) == -1)
		fatal("cannot enter the Landlock domain");
	else
		layers_on(l, "landlock-%d", abi);
	if (sb->as_root)
		return;
	if (abi == 0 || sb->mode == SANDBOX_LOG)
		layers_missing(l, "token not separated");
	else
		layers_missing(l, "token not separated by uid");
}

static void
seccomp_layer(const struct sandbox *sb, struct layers *l)
{
	if (seccomp_enter(sb->role, sb->mode) == -1) {
		/* A kernel without seccomp; other errors are fatal. */
		if (errno != ENOSYS && errno != EINVAL)
			fatal("cannot load the system call filter");
		layers_missing(l, "no seccomp in this kernel");
	} else
		layers_on(l,
		    sb->mode == SANDBOX_LOG ? "seccomp-log" : "seccomp");
}

void
sandbox_enter(const struct sandbox *sb, char *text, size_t size)
{
	struct layers l = { "", "" };

	oom_prefer(sb);
	root_enter(sb, &l);
	rlimits_enter(sb, &l);
	bounding_drop(sb, &l);
	uid_enter(sb, &l);
	nproc_enter(sb);
	if (sb->mode == SANDBOX_OFF) {
		layers_missing(&l, "sandbox off");
	} else {
		privileges_end(sb, &l);
		landlock_layer(sb, &l);
		seccomp_layer(sb, &l);
	}
	snprintf(text, size, "%s%s%s", l.on, l.missing[0] != '\0' ? "; " : "",
	    l.missing);
}
