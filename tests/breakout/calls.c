/* SPDX-License-Identifier: MIT */
/*
 * System calls that no process of the suite makes, with arguments that change
 * nothing.  An error of the arguments shows that the call reached the kernel.
 */
#include "config.h"

#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tests/breakout/calls.h"

#define NOTHING ((long)(intptr_t) "")
#define ROOT	((long)(intptr_t) "/")

/*
 * EINVAL after the check of rights, because the soft limit is above the hard one.
 * A hard limit that is above the old one needs a capability.
 */
static const uint64_t invalid_limit[2] = { 1, 0 };
#define INVALID_LIMIT ((long)(intptr_t)invalid_limit)

/* In the arguments: the process ids of the targets. */
#define SUBMITTER (-1001)
#define VICTIM	  (-1002)

static const struct call {
	const char *name;
	long nr;
	long args[6];
} calls[] = {
	/* the memory of another process */
	{ "ptrace", SYS_ptrace, { 16, SUBMITTER } },
	{ "vm-read", SYS_process_vm_readv, { SUBMITTER, 0, 0, 0, 0, 0 } },
	{ "vm-write", SYS_process_vm_writev, { SUBMITTER, 0, 0, 0, 0, 0 } },
	{ "pidfd-getfd", SYS_pidfd_getfd, { -1, 0, 0 } },
	{ "kcmp", SYS_kcmp, { SUBMITTER, SUBMITTER, 0, 0, 0 } },
	{ "process-madvise", SYS_process_madvise, { -1, 0, 0, 0, 0 } },
	{ "userfaultfd", SYS_userfaultfd, { 1 } },
	{ "perf-event", SYS_perf_event_open, { 0, 0, -1, -1, 0 } },
	/* programs */
	{ "execve", SYS_execve, { NOTHING, 0, 0 } },
	{ "execveat", SYS_execveat, { -1, NOTHING, 0, 0, 0 } },
	/* mounts, roots, namespaces */
	{ "mount", SYS_mount, { NOTHING, ROOT, NOTHING, 0, 0 } },
	{ "umount", SYS_umount2, { ROOT, 0x10 } },
	{ "pivot-root", SYS_pivot_root, { ROOT, ROOT } },
	{ "chroot", SYS_chroot, { ROOT } },
	{ "move-mount", SYS_move_mount, { -1, NOTHING, -1, NOTHING, 0 } },
	{ "open-tree", SYS_open_tree, { AT_FDCWD, ROOT, 1 } },
	{ "fsopen", SYS_fsopen, { NOTHING, 0 } },
	{ "setns", SYS_setns, { -1, 0 } },
	{ "unshare", SYS_unshare, { CLONE_NEWUSER } },
	{ "clone-user", SYS_clone, { CLONE_NEWUSER | CLONE_VM, 0, 0, 0, 0 } },
	{ "clone3", SYS_clone3, { 0, 0 } },
	/* files */
	{ "open-by-handle", SYS_open_by_handle_at, { -1, 0, 0 } },
	{ "mknod", SYS_mknodat, { AT_FDCWD, NOTHING, 020600, 0x103 } },
	{ "quotactl", SYS_quotactl, { 0, 0, 0, 0 } },
	{ "acct", SYS_acct, { NOTHING } },
	{ "fanotify", SYS_fanotify_init, { 0, 0 } },
	/* the kernel */
	{ "bpf", SYS_bpf, { 0, 0, 0 } },
	{ "kexec", SYS_kexec_load, { 0, 0, 0, 0 } },
	{ "module", SYS_finit_module, { -1, NOTHING, 0 } },
	{ "reboot", SYS_reboot, { 0, 0, 0, 0 } },
	{ "swapon", SYS_swapon, { NOTHING, 0 } },
	{ "kernel-log", SYS_syslog, { 9, 0, 0 } },
	{ "io-uring", SYS_io_uring_setup, { 1, 0 } },
	{ "keyctl", SYS_keyctl, { 0, -3, 0 } },
	{ "add-key", SYS_add_key, { NOTHING, NOTHING, 0, 0, -3 } },
	{ "set-clock", SYS_clock_settime, { 0, 0 } },
	/* a length that is refused after the check of the right */
	{ "host-name", SYS_sethostname, { 0, -1 } },
	{ "personality", SYS_personality, { 0x0040000 } },
	/* another process of this user */
	{ "priority", SYS_setpriority, { 0, VICTIM, 1 } },
	{ "scheduler", SYS_sched_setscheduler, { VICTIM, 0, NOTHING } },
	{ "affinity", SYS_sched_setaffinity, { VICTIM, 0, 0 } },
	{ "io-priority", SYS_ioprio_set, { 1, VICTIM, 0x6000 } },
	{ "limits", SYS_prlimit64, { VICTIM, 7, INVALID_LIMIT, 0 } },
	{ "priorities", SYS_setpriority, { 1, 0, 19 } },
	{ "move-pages", SYS_move_pages, { VICTIM, 0, 0, 0, 0, 0 } },
	/* memory without a limit */
	{ "memfd", SYS_memfd_create, { NOTHING, 0 } },
	{ "shm", SYS_shmget, { 0, 4096, 0600 } },
	{ "queue", SYS_msgget, { 0, 0600 } },
#ifdef __x86_64__
	/* by the numbers of another architecture */
	{ "x32", 0x40000000 | SYS_getpid, { 0 } },
#endif
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static long
argument(long value)
{
	if (value == SUBMITTER)
		return targets.submitter;
	return value == VICTIM ? targets.victim : value;
}

/* The filters and the checks of rights; other errors are of the arguments. */
static int
is_refusal(int error)
{
	return error == ENOSYS || error == EPERM || error == EACCES;
}

int
call_make(const char *name, int64_t *value)
{
	const struct call *c;
	long rc, a[6];
	int i;

	for (c = calls; c < calls + CALLS; c++) {
		if (strcmp(c->name, name) != 0)
			continue;
		for (i = 0; i < 6; i++)
			a[i] = argument(c->args[i]);
		rc = syscall(c->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
		*value = rc;
		return rc == -1 && is_refusal(errno) ? errno : 0;
	}
	return ENOENT;
}

void
calls_each(void (*fn)(const char *name))
{
	size_t i;

	for (i = 0; i < CALLS; i++)
		fn(calls[i].name);
}
