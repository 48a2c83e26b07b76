/* SPDX-License-Identifier: MIT */
/*
 * The seccomp filters of the workers and of the parser.  A call that is not in the list
 * returns ENOSYS: a newer C library tries new calls first and falls back to
 * old ones.  Dangerous calls kill the worker, because only injected code makes
 * them. Sanitizers make many other calls: their builds deny the dangerous
 * calls only.
 */
#include "config.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <unistd.h>

#include "common/worker/seccomp.h"

#ifdef SANITIZED
#define LENIENT 1
#else
#define LENIENT 0
#endif

/* By name: calls that this architecture or library lacks are left out. */

/* clang-format off */
const char *const seccomp_dangerous[] = {
	/* other processes' memory and descriptors; ptrace is the first */
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
	"pidfd_getfd", "kcmp", "userfaultfd", "perf_event_open",
	/* mounts, roots, namespaces */
	"mount", "umount", "umount2", "pivot_root", "chroot", "move_mount",
	"open_tree", "fsopen", "fsmount", "fsconfig", "fspick",
	"mount_setattr", "setns", "unshare",
	/* files without a check of permissions */
	"open_by_handle_at", "name_to_handle_at", "mknod", "mknodat",
	"quotactl", "quotactl_fd", "acct",
	/* the kernel itself */
	"bpf", "kexec_load", "kexec_file_load", "init_module",
	"finit_module", "delete_module", "create_module", "reboot",
	"swapon", "swapoff", "iopl", "ioperm", "modify_ldt", "syslog",
	"vhangup", "lookup_dcookie", "nfsservctl", "uselib", "_sysctl",
	"io_uring_setup", "io_uring_enter", "io_uring_register",
	/* keys, clocks, host name */
	"keyctl", "add_key", "request_key", "settimeofday", "stime",
	"clock_settime", "adjtimex", "clock_adjtime", "clock_settime64",
	"clock_adjtime64", "sethostname", "setdomainname", NULL
};

/*
 * Neither the runner nor a command of Slurm makes these; Landlock does not deny
 * them.
 */
const char *const seccomp_no_command[] = {
	/* owner, mode, attributes and times of files of this user */
	"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown",
	"fchownat", "chown32", "fchown32", "lchown32", "setxattr",
	"lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr",
	"fremovexattr", "removexattrat", "file_setattr", "utime", "utimes",
	"futimesat",
	/* a server on the network */
	"listen", "accept", "accept4",
	/* memory that stays when the process has ended */
	"shmget", "msgget", "semget", "mq_open",
	"fanotify_init", "personality", NULL
};

/*
 * Of a process whose id is an argument; 0 is the caller.  The first argument of
 * two calls selects one process, not the group or all processes of the user.
 */
static const struct {
	const char *name;
	unsigned arg;
	uint64_t allowed;
} of_process[] = {
	{ "setpriority", 0, 0 /* PRIO_PROCESS */ }, { "setpriority", 1, 0 },
	{ "ioprio_set", 0, 1 /* IOPRIO_WHO_PROCESS */ },
	{ "ioprio_set", 1, 0 }, { "sched_setscheduler", 0, 0 },
	{ "sched_setparam", 0, 0 }, { "sched_setattr", 0, 0 },
	{ "sched_setaffinity", 0, 0 }, { "prlimit64", 0, 0 },
	{ "move_pages", 0, 0 }, { "migrate_pages", 0, 0 },
};

/* Requests to a terminal that act as its user, and signals to another pid. */
const uint32_t seccomp_no_ioctls[] = { TIOCSTI, TIOCCONS, TIOCSCTTY,
	0x541c /* TIOCLINUX */, FIOSETOWN, SIOCSPGRP, 0 };
const uint32_t seccomp_no_fcntls[] = { F_SETOWN, F_SETOWN_EX, F_SETSIG,
	F_SETLEASE, 0 };

static const char *const executing[] = { "execve", "execveat" };

/* Memory, time, signals, exit: calls of the C library. */
static const char *const basic[] = {
	"brk", "munmap", "mremap", "madvise", "futex", "futex_time64",
	"membarrier", "sched_yield", "sched_getaffinity", "sysinfo",
	"clock_gettime", "clock_gettime64", "clock_getres", "gettimeofday",
	"time", "nanosleep", "clock_nanosleep", "clock_nanosleep_time64",
	"getrandom", "getpid", "gettid", "getppid", "getuid", "geteuid",
	"getgid", "getegid", "uname", "getrusage", "times",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigreturn",
	"setitimer",
	"sigaltstack", "rt_sigtimedwait", "restart_syscall",
	"exit", "exit_group",
};

/* The event loop, and descriptors that the supervisor has opened. */
static const char *const looping[] = {
	"epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait",
	"epoll_pwait", "epoll_pwait2", "poll", "ppoll", "ppoll_time64",
	"select", "pselect6", "_newselect", "eventfd2", "pipe", "pipe2",
	"timerfd_create", "timerfd_settime", "timerfd_gettime",
	"read", "readv", "write", "writev", "close",
	"fstat", "fstat64", "dup", "dup2", "dup3",
	"recvfrom", "recvmsg", "getsockopt", "getsockname", "getpeername",
};

static const char *const listening[] = { "accept", "accept4" };

/*
 * Outgoing connections; socket() has its own rule, by family.  sendmsg() and
 * sendmmsg() are missing: they pass descriptors to other processes, and submitter
 * and receiver pass none.
 */
static const char *const connecting[] = {
	"connect", "shutdown", "setsockopt", "recvmmsg",
	"recvmmsg_time64",
};

/*
 * SQLite, and reading a directory; open and openat have their own rule.
 * Landlock does not deny a change of mode or of times by path, so that only
 * fchmod(2) is here.
 */
static const char *const filing[] = {
	"stat", "stat64", "lstat", "lstat64", "newfstatat", "fstatat64",
	"statx", "statfs", "statfs64", "fstatfs", "fstatfs64", "access",
	"faccessat", "faccessat2", "readlink", "readlinkat", "getcwd", "chdir",
	"fchdir", "getdents", "getdents64", "lseek", "_llseek", "pread64",
	"pwrite64", "preadv", "pwritev", "fsync", "fdatasync",
	"sync_file_range", "ftruncate", "ftruncate64", "fallocate",
	"fadvise64", "flock", "msync", "unlink", "unlinkat", "rename",
	"renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "fchmod",
	"fchown", "fchown32", "umask", "copy_file_range", "sendfile",
};

/* Files of the configuration; the parser opens them for reading only. */
static const char *const parsing[] = {
	"stat", "stat64", "lstat", "lstat64", "newfstatat", "fstatat64",
	"statx", "access", "faccessat", "faccessat2", "readlink",
	"readlinkat", "getcwd", "lseek", "_llseek", "pread64",
	"memfd_create", "sendmsg",
};

/* Threads of libnats; clone has its own rule. */
static const char *const threading[] = {
	"set_robust_list", "get_robust_list", "set_tid_address", "rseq",
	"sched_getparam", "sched_getscheduler",
	"sched_get_priority_min", "sched_get_priority_max", "mlock",
	"munlock", "memfd_secret",
};

/*
 * Commands of fcntl(2); F_SETFL has its own rule.  F_SETOWN and F_SETSIG are
 * missing: with O_ASYNC they send signals to other processes of the uid.
 */
static const uint64_t fcntl_commands[] = {
	F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_GETLK, F_SETLK,
	F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_GET_SEALS,
	F_GETPIPE_SZ,
};
/* clang-format on */

/* Older C libraries do not have it. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ALL_BITS UINT64_MAX

/*
 * Landlock before version 3 does not control truncation, and checks only the
 * access mode of open(2).  With these modes the kernel truncates a file that
 * Landlock does not permit to write.  The second mode opens a file for ioctl(2)
 * only; Landlock checks nothing then.
 */
static const uint64_t truncating[] = { O_TRUNC | O_RDONLY,
	O_TRUNC | O_WRONLY | O_RDWR };
#define TRUNC_BITS ((uint64_t)(O_TRUNC | O_WRONLY | O_RDWR))

/* One filter under construction. */
struct filter {
	scmp_filter_ctx ctx;
	uint32_t kill; /* action for dangerous calls */
	int err;       /* the first, as errno; 0 = none */
};

static void
rule(struct filter *f, uint32_t action, const char *name, unsigned n,
    const struct scmp_arg_cmp *cmp)
{
	int rc, nr;

	nr = seccomp_syscall_resolve_name(name);
	if (nr == __NR_SCMP_ERROR)
		return;
	rc = seccomp_rule_add_array(f->ctx, action, nr, n, cmp);
	/*
	 * A negative number is a call of another architecture.  EACCES: the
	 * action is the default one.
	 */
	if (rc < 0 && nr >= 0 && rc != -EACCES && f->err == 0)
		f->err = -rc;
}

static void
rules(struct filter *f, uint32_t action, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		rule(f, action, names[i], 0, NULL);
}

/* The call when its argument arg is value. */
static void
rule_equal(struct filter *f, uint32_t action, const char *name, unsigned arg,
    uint64_t value)
{
	const struct scmp_arg_cmp cmp = SCMP_CMP(arg, SCMP_CMP_EQ, value, 0);

	rule(f, action, name, 1, &cmp);
}

/* The call when argument arg, masked, is value. */
static void
rule_masked(struct filter *f, uint32_t action, const char *name, unsigned arg,
    uint64_t mask, uint64_t value)
{
	const struct scmp_arg_cmp cmp = SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, mask,
	    value);

	rule(f, action, name, 1, &cmp);
}

/* The call when two arguments, masked, have these values. */
static void
rule_two(struct filter *f, const char *name, unsigned a, uint64_t mask_a,
    uint64_t value_a, unsigned b, uint64_t mask_b, uint64_t value_b)
{
	const struct scmp_arg_cmp cmp[] = {
		SCMP_CMP(a, SCMP_CMP_MASKED_EQ, mask_a, value_a),
		SCMP_CMP(b, SCMP_CMP_MASKED_EQ, mask_b, value_b),
	};

	rule(f, SCMP_ACT_ALLOW, name, 2, cmp);
}

static void
allow_fcntl(struct filter *f)
{
	static const char *const names[] = { "fcntl", "fcntl64" };
	size_t i, n;

	for (n = 0; n < COUNT(names); n++) {
		for (i = 0; i < COUNT(fcntl_commands); i++)
			rule_equal(f, SCMP_ACT_ALLOW, names[n], 1,
			    fcntl_commands[i]);
		rule_two(f, names[n], 1, ALL_BITS, F_SETFL, 2, O_ASYNC, 0);
	}
}

/* For both lists: no executable memory, no signal to another process. */
static void
allow_common(struct filter *f)
{
	static const char *const mapping[] = { "mmap", "mmap2" };
	size_t i;

	rules(f, SCMP_ACT_ALLOW, basic, COUNT(basic));
	rules(f, SCMP_ACT_ALLOW, looping, COUNT(looping));
	allow_fcntl(f);
	/*
	 * RLIMIT_DATA counts neither shared memory without a file nor a mapping
	 * that grows as a stack.
	 */
	for (i = 0; i < COUNT(mapping); i++) {
		rule_two(f, mapping[i], 2, PROT_EXEC, 0, 3,
		    MAP_SHARED | MAP_GROWSDOWN, 0);
		rule_two(f, mapping[i], 2, PROT_EXEC, 0, 3,
		    MAP_ANONYMOUS | MAP_GROWSDOWN, 0);
	}
	rule_masked(f, SCMP_ACT_ALLOW, "mprotect", 2,
	    PROT_EXEC | PROT_GROWSDOWN, 0);
	rule_equal(f, SCMP_ACT_ALLOW, "tgkill", 0, (uint64_t)getpid());
	rule_equal(f, SCMP_ACT_ALLOW, "kill", 0, (uint64_t)getpid());
	rule_equal(f, SCMP_ACT_ALLOW, "ioctl", 1, FIONREAD);
	rule_equal(f, SCMP_ACT_ALLOW, "ioctl", 1, FIONBIO);
}

/* The calls of common/ipc on a channel; nothing is sent to an address. */
static void
allow_channel(struct filter *f)
{
	rule_two(f, "sendto", 3, ~(uint64_t)(MSG_NOSIGNAL | MSG_DONTWAIT), 0, 4,
	    ALL_BITS, 0);
	rule_two(f, "setsockopt", 1, ALL_BITS, SOL_SOCKET, 2, ALL_BITS,
	    SO_OOBINLINE);
	rule_two(f, "setsockopt", 1, ALL_BITS, SOL_SOCKET, 2, ALL_BITS,
	    SO_PASSRIGHTS);
}

/*
 * The listening socket is shared with the next listener, and the exporter's
 * with the next exporter.  So these must not shut it down, attach a filter to
 * it, or connect it by sending to an address (MSG_FASTOPEN).
 */
static void
allow_listener(struct filter *f)
{
	allow_common(f);
	allow_channel(f);
	rules(f, SCMP_ACT_ALLOW, listening, COUNT(listening));
}

/* Its descriptors come from the supervisor and the runner. */
static void
allow_collector(struct filter *f)
{
	allow_common(f);
	allow_channel(f);
}

/*
 * TCP or UDP.  Landlock has rules for the ports of TCP only: MPTCP, which falls back to
 * TCP, would reach all ports.
 */
static void
allow_socket(struct filter *f, int family, int type, int protocol)
{
	const uint64_t type_bits = ~(uint64_t)(SOCK_CLOEXEC | SOCK_NONBLOCK);
	const struct scmp_arg_cmp cmp[] = {
		SCMP_CMP(0, SCMP_CMP_EQ, (uint64_t)family, 0),
		SCMP_CMP(1, SCMP_CMP_MASKED_EQ, type_bits, (uint64_t)type),
		SCMP_CMP(2, SCMP_CMP_EQ, (uint64_t)protocol, 0),
	};

	rule(f, SCMP_ACT_ALLOW, "socket", COUNT(cmp), cmp);
}

/* TCP and UDP connections, and the threads of libnats. */
static void
allow_connections(struct filter *f)
{
	static const int families[] = { AF_INET, AF_INET6 };
	size_t i;

	rules(f, SCMP_ACT_ALLOW, connecting, COUNT(connecting));
	rules(f, SCMP_ACT_ALLOW, threading, COUNT(threading));
	/* Landlock has rules for connect(), which this flag replaces. */
	rule_masked(f, SCMP_ACT_ALLOW, "sendto", 3, MSG_FASTOPEN, 0);
	for (i = 0; i < COUNT(families); i++) {
		allow_socket(f, families[i], SOCK_STREAM, 0);
		allow_socket(f, families[i], SOCK_STREAM, IPPROTO_TCP);
		allow_socket(f, families[i], SOCK_DGRAM, 0);
		allow_socket(f, families[i], SOCK_DGRAM, IPPROTO_UDP);
	}
	/* A thread, not a process. */
	rule_masked(f, SCMP_ACT_ALLOW, "clone", 0, CLONE_THREAD, CLONE_THREAD);
	rule_equal(f, SCMP_ACT_ALLOW, "prctl", 0, PR_SET_NAME);
	rule_equal(f, SCMP_ACT_ALLOW, "prctl", 0, PR_GET_NAME);
	/* The C library reads the limit of the stack for a thread. */
	rule_equal(f, SCMP_ACT_ALLOW, "prlimit64", 2, 0);
	rules(f, SCMP_ACT_ALLOW,
	    (const char *const[]) { "getrlimit", "ugetrlimit" }, 2);
}

/*
 * All but the modes in truncating.  openat2(2) is not allowed: its flags are in
 * memory, which a filter cannot read.
 */
static void
allow_open(struct filter *f, const char *name, unsigned flags)
{
	rule_masked(f, SCMP_ACT_ALLOW, name, flags, O_TRUNC, 0);
	rule_masked(f, SCMP_ACT_ALLOW, name, flags, TRUNC_BITS,
	    O_TRUNC | O_WRONLY);
	rule_masked(f, SCMP_ACT_ALLOW, name, flags, TRUNC_BITS,
	    O_TRUNC | O_RDWR);
}

static void
allow_submitter(struct filter *f)
{
	allow_common(f);
	allow_open(f, "open", 1);
	allow_open(f, "openat", 2);
	allow_connections(f);
	rules(f, SCMP_ACT_ALLOW, filing, COUNT(filing));
	/*
	 * For libcurl.  A pair of datagram sockets could be connected to the
	 * socket of another program.
	 */
	rule_two(f, "socketpair", 0, ALL_BITS, AF_UNIX, 1,
	    ~(uint64_t)(SOCK_CLOEXEC | SOCK_NONBLOCK), SOCK_STREAM);
}

/* Brokers and name servers; no file. */
static void
allow_receiver(struct filter *f)
{
	allow_common(f);
	allow_connections(f);
	/* The length of the memfd with the login. */
	rules(f, SCMP_ACT_ALLOW, (const char *const[]) { "lseek", "_llseek" },
	    2);
}

/*
 * Its descriptors are two sockets, to the supervisor and to the process that
 * asks for names of users; it can make no other.
 */
static void
allow_parser(struct filter *f)
{
	const uint64_t write_flags = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;

	allow_common(f);
	rules(f, SCMP_ACT_ALLOW, parsing, COUNT(parsing));
	rule_masked(f, SCMP_ACT_ALLOW, "open", 1, write_flags, O_RDONLY);
	rule_masked(f, SCMP_ACT_ALLOW, "openat", 2, write_flags, O_RDONLY);
	rule_equal(f, SCMP_ACT_ALLOW, "fcntl", 1, F_ADD_SEALS);
	rule_equal(f, SCMP_ACT_ALLOW, "fcntl64", 1, F_ADD_SEALS);
	rule_two(f, "sendto", 3, ~(uint64_t)(MSG_NOSIGNAL | MSG_DONTWAIT), 0, 4,
	    ALL_BITS, 0);
}

/*
 * Calls with which the runner could act on files and processes of its user.  A
 * script that stands for a command may change its own priority.
 */
static void
refuse_own_user(struct filter *f)
{
	const struct scmp_arg_cmp by_path = SCMP_CMP(1, SCMP_CMP_NE, 0, 0);
	size_t i;

	for (i = 0; seccomp_no_command[i] != NULL; i++)
		rule(f, f->kill, seccomp_no_command[i], 0, NULL);
	/* The runner sets the times of the last-run file, by descriptor. */
	rule(f, f->kill, "utimensat", 1, &by_path);
	rule(f, f->kill, "utimensat_time64", 1, &by_path);
	for (i = 0; i < COUNT(of_process); i++) {
		const struct scmp_arg_cmp other = SCMP_CMP(of_process[i].arg,
		    SCMP_CMP_NE, of_process[i].allowed, 0);

		rule(f, f->kill, of_process[i].name, 1, &other);
	}
	for (i = 0; seccomp_no_ioctls[i] != 0; i++)
		rule_masked(f, f->kill, "ioctl", 1, UINT32_MAX,
		    seccomp_no_ioctls[i]);
	for (i = 0; seccomp_no_fcntls[i] != 0; i++) {
		rule_masked(f, f->kill, "fcntl", 1, UINT32_MAX,
		    seccomp_no_fcntls[i]);
		rule_masked(f, f->kill, "fcntl64", 1, UINT32_MAX,
		    seccomp_no_fcntls[i]);
	}
}

/* unshare() and setns() are in seccomp_dangerous. */
static void
refuse_namespaces(struct filter *f)
{
	static const uint64_t namespaces[] = { CLONE_NEWNS, CLONE_NEWUTS,
		CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET,
		CLONE_NEWCGROUP };
	size_t i;

	/* Its flags are in memory, which a filter cannot read. */
	if (f->kill != SCMP_ACT_LOG)
		rule(f, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, NULL);
	for (i = 0; i < COUNT(namespaces); i++)
		rule_masked(f, f->kill, "clone", 0, namespaces[i],
		    namespaces[i]);
}

/*
 * A script that stands for a command writes to /dev/null with O_TRUNC and
 * O_WRONLY; Landlock denies O_WRONLY for all other files.
 */
static void
refuse_truncation(struct filter *f)
{
	static const char *const by_path[] = { "truncate", "truncate64" };
	size_t i;

	rules(f, f->kill, by_path, COUNT(by_path));
	for (i = 0; i < COUNT(truncating); i++) {
		rule_masked(f, f->kill, "open", 1, TRUNC_BITS, truncating[i]);
		rule_masked(f, f->kill, "openat", 2, TRUNC_BITS, truncating[i]);
	}
	/* Its flags are in memory, which a filter cannot read. */
	if (f->kill != SCMP_ACT_LOG)
		rule(f, SCMP_ACT_ERRNO(ENOSYS), "openat2", 0, NULL);
}

/* Slurm's commands inherit this filter, so it denies only dangerous calls. */
static void
refuse_runner(struct filter *f)
{
	const struct scmp_arg_cmp above = SCMP_CMP(0, SCMP_CMP_GT, AF_NETLINK,
	    0);
	/* getaddrinfo() asks for addresses and routes, protocol 0. */
	const struct scmp_arg_cmp other_netlink[] = { SCMP_CMP(0, SCMP_CMP_EQ,
							  AF_NETLINK, 0),
		SCMP_CMP(2, SCMP_CMP_NE, 0, 0) };
	uint32_t no_family = f->kill == SCMP_ACT_LOG ?
	    SCMP_ACT_LOG :
	    SCMP_ACT_ERRNO(EAFNOSUPPORT);
	uint64_t family;

	refuse_namespaces(f);
	for (family = 0; family < AF_NETLINK; family++)
		if (family != AF_UNIX && family != AF_INET &&
		    family != AF_INET6)
			rule_equal(f, no_family, "socket", 0, family);
	rule(f, no_family, "socket", 1, &above);
	rule(f, no_family, "socket", 2, other_netlink);
	refuse_own_user(f);
	refuse_truncation(f);
}

static void
filter_fill(struct filter *f, enum role role)
{
	/* The leak sanitizer traces its process at the end, the parser as well. */
	size_t first = LENIENT && role == ROLE_PARSER;

	rules(f, f->kill, seccomp_dangerous + first,
	    COUNT(seccomp_dangerous) - 1 - first);
	if (role == ROLE_RUNNER) {
		refuse_runner(f);
		return;
	}
	rules(f, f->kill, executing, COUNT(executing));
	if (LENIENT)
		return;
	if (role == ROLE_LISTENER || role == ROLE_EXPORTER)
		allow_listener(f);
	else if (role == ROLE_COLLECTOR)
		allow_collector(f);
	else if (role == ROLE_RECEIVER)
		allow_receiver(f);
	else if (role == ROLE_PARSER)
		allow_parser(f);
	else
		allow_submitter(f);
}

static uint32_t
default_action(enum role role, enum sandbox_mode mode)
{
	if (LENIENT || role == ROLE_RUNNER)
		return SCMP_ACT_ALLOW;
	return mode == SANDBOX_LOG ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(ENOSYS);
}

static uint32_t
kill_action(enum role role, enum sandbox_mode mode)
{
	if (mode == SANDBOX_LOG)
		return SCMP_ACT_LOG;
	/* An unusual call of a Slurm command must not kill the command. */
	return role == ROLE_RUNNER ? SCMP_ACT_ERRNO(EPERM) :
				     SCMP_ACT_KILL_PROCESS;
}

static int
filter_begin(struct filter *f, uint32_t action, enum sandbox_mode mode)
{
	if ((f->ctx = seccomp_init(action)) == NULL) {
		errno = ENOMEM;
		return -1;
	}
	/* Calls by another architecture's numbers. */
	f->err = -seccomp_attr_set(f->ctx, SCMP_FLTATR_ACT_BADARCH,
	    mode == SANDBOX_LOG ? SCMP_ACT_LOG : SCMP_ACT_KILL_PROCESS);
	return 0;
}

static int
filter_end(struct filter *f)
{
	int rc = -f->err;

	if (rc == 0)
		rc = seccomp_load(f->ctx);
	seccomp_release(f->ctx);
	if (rc == 0)
		return 0;
	errno = -rc;
	return -1;
}

int
seccomp_enter(enum role role, enum sandbox_mode mode)
{
	struct filter f = { .kill = kill_action(role, mode) };

	if (filter_begin(&f, default_action(role, mode), mode) == -1)
		return -1;
	filter_fill(&f, role);
	return filter_end(&f);
}

int
seccomp_enter_supervisor(enum sandbox_mode mode)
{
	struct filter f = { .kill = mode == SANDBOX_LOG ?
		    SCMP_ACT_LOG :
		    SCMP_ACT_ERRNO(EPERM) };
	size_t i;

	if (filter_begin(&f, SCMP_ACT_ALLOW, mode) == -1)
		return -1;
	/* The leak sanitizer traces its process at the end. */
	for (i = LENIENT; seccomp_dangerous[i] != NULL; i++)
		if (strcmp(seccomp_dangerous[i], "chroot") != 0)
			rule(&f, f.kill, seccomp_dangerous[i], 0, NULL);
	refuse_namespaces(&f);
	return filter_end(&f);
}
