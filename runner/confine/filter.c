/* SPDX-License-Identifier: MIT */
/*
 * The seccomp filters of the commands.  A list of allowed calls would break
 * with the next release of Slurm or of the C library, so that the filters deny
 * calls: they fail with EPERM and no call kills the command.
 *
 * A filter reads the registers of a call.  The kernel uses only 32 bits of many
 * arguments, so that these are compared with a mask.
 */
#include "config.h"

#include <sys/prctl.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <unistd.h>

#include "common/worker/seccomp.h"
#include "runner/confine/confine_private.h"

/* By name: calls that this architecture or library lacks are left out. */

/* clang-format off */
static const char *const for_all[] = {
	/* Landlock does not deny a change of times. */
	"utimensat", "utimensat_time64", NULL
};

/* A Slurm command is one program without children that it must control. */
static const char *const for_programs[] = {
	/* other processes of this uid */
	"pidfd_open", "pidfd_send_signal", "tkill", "setpgid", "setsid",
	"setpriority", "ioprio_set", "sched_setscheduler", "sched_setparam",
	"sched_setattr", "sched_setaffinity", "migrate_pages", "move_pages",
	"process_mrelease",
	/* memory and queues that they could share */
	"shmat", "shmctl", "msgsnd", "msgrcv", "msgctl", "semop", "semtimedop",
	"semctl", "ipc",
	/* files; Landlock denies these too, where the kernel has it */
	"creat", "truncate", "truncate64", "unlink", "unlinkat", "rename",
	"renameat", "renameat2", "link", "linkat", "symlink", "symlinkat",
	"mkdir", "mkdirat", "rmdir", NULL
};

/* Calls with the pid of the target as their first argument. */
static const char *const signalling[] = {
	"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", NULL
};
/* clang-format on */

static const uint32_t namespaces[] = { CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC,
	CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP };

static const uint32_t write_flags[] = { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The bits of an argument that the kernel reads as an int. */
#define INT_BITS 0xffffffffu
/* Stands for the pid of the child; larger than every pid. */
#define OWN_PID 0x7a5cbb11u

/* Types and protocols of sockets. */
#define TYPE_BITS    0xfu /* above: SOCK_NONBLOCK, SOCK_CLOEXEC */
#define PROTOCOL_UDP 17u  /* above are SCTP, MPTCP and others */

/* One filter under construction. */
struct builder {
	scmp_filter_ctx ctx;
	int is_log;    /* SANDBOX_LOG: the kernel logs, nothing is denied */
	uint32_t deny; /* action */
	int err;       /* the first, as errno; 0 = none */
};

static void
rule(struct builder *b, uint32_t action, const char *name, unsigned n,
    const struct scmp_arg_cmp *cmp)
{
	int rc, nr;

	nr = seccomp_syscall_resolve_name(name);
	if (nr == __NR_SCMP_ERROR)
		return;
	rc = seccomp_rule_add_array(b->ctx, action, nr, n, cmp);
	/* A negative number is a call of another architecture. */
	if (rc < 0 && nr >= 0 && b->err == 0)
		b->err = -rc;
}

static void
deny_list(struct builder *b, const char *const *names)
{
	for (; *names != NULL; names++)
		rule(b, b->deny, *names, 0, NULL);
}

/* The call when the bits of its argument arg are value. */
static void
deny_bits(struct builder *b, const char *name, unsigned arg, uint32_t bits,
    uint32_t value)
{
	const struct scmp_arg_cmp cmp = SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, bits,
	    value);

	rule(b, b->deny, name, 1, &cmp);
}

static void
deny_values(struct builder *b, const char *name, unsigned arg,
    const uint32_t *values, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		deny_bits(b, name, arg, INT_BITS, values[i]);
}

/* The same with 0 behind the last value. */
static void
deny_all(struct builder *b, const char *name, unsigned arg,
    const uint32_t *values)
{
	for (; *values != 0; values++)
		deny_bits(b, name, arg, INT_BITS, *values);
}

static void
deny_flags(struct builder *b, const char *name, unsigned arg,
    const uint32_t *flags, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		deny_bits(b, name, arg, flags[i], flags[i]);
}

/* Of IPv4 and IPv6: all types but streams and datagrams. */
static void
deny_types(struct builder *b, uint32_t action, const struct scmp_arg_cmp *is)
{
	uint32_t type;

	for (type = 0; type <= TYPE_BITS; type++) {
		const struct scmp_arg_cmp both[] = { *is,
			SCMP_CMP(1, SCMP_CMP_MASKED_EQ, TYPE_BITS, type) };

		if (type != SOCK_STREAM && type != SOCK_DGRAM)
			rule(b, action, "socket", 2, both);
	}
}

/*
 * UNIX, IPv4, IPv6 and the netlink of addresses and routes, which getaddrinfo()
 * asks.
 */
static void
deny_sockets(struct builder *b)
{
	uint32_t action = b->is_log ? b->deny : SCMP_ACT_ERRNO(EAFNOSUPPORT);
	const struct scmp_arg_cmp above = SCMP_CMP(0, SCMP_CMP_GT, AF_NETLINK,
	    0);
	uint32_t family;

	rule(b, action, "socket", 1, &above);
	for (family = 0; family <= AF_NETLINK; family++) {
		const struct scmp_arg_cmp is = SCMP_CMP(0, SCMP_CMP_EQ, family,
		    0);
		const struct scmp_arg_cmp protocol[] = { is,
			SCMP_CMP(2, SCMP_CMP_GT,
			    family == AF_NETLINK ? 0u : PROTOCOL_UDP, 0) };

		if (family == AF_INET || family == AF_INET6)
			deny_types(b, action, &is);
		if (family == AF_INET || family == AF_INET6 ||
		    family == AF_NETLINK)
			rule(b, action, "socket", 2, protocol);
		else if (family != AF_UNIX)
			rule(b, action, "socket", 1, &is);
	}
}

/* Only the command itself gets its signals. */
static void
deny_signals_of_program(struct builder *b)
{
	const struct scmp_arg_cmp other = SCMP_CMP(0, SCMP_CMP_NE, OWN_PID, 0);
	size_t i;

	for (i = 0; signalling[i] != NULL; i++)
		rule(b, b->deny, signalling[i], 1, &other);
}

/*
 * A script ends its own children: not the processes of the suite that it
 * knows, and not "all".
 */
static void
deny_signals_of_script(struct builder *b)
{
	const uint32_t pids[] = { (uint32_t)getpid(), (uint32_t)-getpid(),
		(uint32_t)getppid(), (uint32_t)-getppid(), (uint32_t)-1 };
	size_t i;

	for (i = 0; signalling[i] != NULL; i++)
		deny_values(b, signalling[i], 0, pids, COUNT(pids));
	deny_values(b, "tkill", 0, pids, COUNT(pids));
}

/* Without Landlock the filter alone keeps a program from writing to files. */
static void
deny_writing(struct builder *b)
{
	deny_flags(b, "open", 1, write_flags, COUNT(write_flags));
	deny_flags(b, "openat", 2, write_flags, COUNT(write_flags));
	/* Its flags are in memory, which a filter cannot read. */
	if (!b->is_log)
		rule(b, SCMP_ACT_ERRNO(ENOSYS), "openat2", 0, NULL);
}

static void
rules_add(struct builder *b, const struct filter_conf *conf)
{
	const struct scmp_arg_cmp other = SCMP_CMP(0, SCMP_CMP_NE, 0, 0);
	const uint32_t death = PR_SET_PDEATHSIG;

	deny_list(b, seccomp_dangerous);
	deny_list(b, seccomp_no_command);
	deny_list(b, for_all);
	deny_sockets(b);
	deny_flags(b, "clone", 0, namespaces, COUNT(namespaces));
	/* Its flags are in memory, which a filter cannot read. */
	if (!b->is_log)
		rule(b, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, NULL);
	deny_all(b, "ioctl", 1, seccomp_no_ioctls);
	deny_all(b, "fcntl", 1, seccomp_no_fcntls);
	deny_all(b, "fcntl64", 1, seccomp_no_fcntls);
	/* The runner's end ends its commands. */
	deny_values(b, "prctl", 0, &death, 1);
	/* The limits of another process. */
	rule(b, b->deny, "prlimit64", 1, &other);
	if (conf->is_script) {
		deny_signals_of_script(b);
		return;
	}
	deny_list(b, for_programs);
	deny_signals_of_program(b);
	if (!conf->has_landlock)
		deny_writing(b);
}

/* A pipe holds the longest program: 512 instructions of 8 bytes. */
static int
program_read(struct builder *b, struct confine_filter *filter)
{
	ssize_t n;
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) == -1)
		return -1;
	rc = seccomp_export_bpf(b->ctx, fds[1]);
	n = read(fds[0], filter->program, sizeof(filter->program));
	close(fds[0]);
	close(fds[1]);
	if (rc < 0) {
		errno = -rc;
		return -1;
	}
	if (n <= 0 || n == (ssize_t)sizeof(filter->program) ||
	    n % (ssize_t)sizeof(filter->program[0]) != 0) {
		errno = E2BIG;
		return -1;
	}
	filter->len = (unsigned short)((size_t)n / sizeof(filter->program[0]));
	return 0;
}

/* The instructions that compare with the child's pid. */
static int
pids_find(struct confine_filter *filter)
{
	unsigned short i;

	filter->n_pids = 0;
	for (i = 0; i < filter->len; i++) {
		if (filter->program[i].code != (BPF_JMP | BPF_JEQ | BPF_K) ||
		    filter->program[i].k != OWN_PID)
			continue;
		if (filter->n_pids == FILTER_PIDS) {
			errno = E2BIG;
			return -1;
		}
		filter->pids[filter->n_pids++] = i;
	}
	return 0;
}

int
filter_build(struct confine_filter *filter, const struct filter_conf *conf)
{
	struct builder b = {
		.is_log = conf->mode == SANDBOX_LOG,
		.deny = conf->mode == SANDBOX_LOG ? SCMP_ACT_LOG :
						    SCMP_ACT_ERRNO(EPERM),
	};
	int rc = -1;

	if ((b.ctx = seccomp_init(SCMP_ACT_ALLOW)) == NULL) {
		errno = ENOMEM;
		return -1;
	}
	/* A binary tree: each command and each call runs the program. */
	b.err = -seccomp_attr_set(b.ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	/* Calls by another architecture's numbers. */
	if (b.err == 0)
		b.err = -seccomp_attr_set(b.ctx, SCMP_FLTATR_ACT_BADARCH,
		    b.is_log ? SCMP_ACT_LOG : SCMP_ACT_KILL_PROCESS);
	rules_add(&b, conf);
	errno = b.err;
	if (b.err == 0 && program_read(&b, filter) == 0)
		rc = pids_find(filter);
	seccomp_release(b.ctx);
	return rc;
}

int
filter_load(const struct confine_filter *filter)
{
	/* After vfork() the memory is the parent's: change a copy. */
	struct sock_filter copy[FILTER_MAX];
	struct sock_fprog program = { .len = filter->len, .filter = copy };
	uint32_t pid = (uint32_t)getpid();
	unsigned short i;

	memcpy(copy, filter->program, filter->len * sizeof(copy[0]));
	for (i = 0; i < filter->n_pids; i++)
		copy[filter->pids[i]].k = pid;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
