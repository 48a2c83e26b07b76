/* SPDX-License-Identifier: MIT */
/*
 * The system call filter of the process that asks the name services.  Its modules
 * (nss_files, nss_systemd, nss_sss, nss_ldap) parse answers of servers.  They are the
 * site's, so that the filter denies only calls that none of them needs: modules use
 * sockets, files, mappings and threads.  Files can be opened for writing, because a
 * module may have a cache.
 */
#include "config.h"

#include <sys/prctl.h>

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <unistd.h>

#include "common/worker/seccomp.h"
#include "supervisor/config/config_file.h"

#define DENY SCMP_ACT_ERRNO(EPERM)

/* Another program or process: it would outlive the parser. */
static const char *const starting[] = { "execve", "execveat", "fork", "vfork",
	"pidfd_send_signal", NULL };

/* The first argument is a process id. */
static const char *const signalling[] = { "kill", "tkill", "tgkill",
	"rt_sigqueueinfo", "rt_tgsigqueueinfo", NULL };

struct filter {
	scmp_filter_ctx ctx;
	int err; /* the first, as errno; 0 = none */
};

static void
deny(struct filter *f, const char *name, const struct scmp_arg_cmp *cmp)
{
	int nr = seccomp_syscall_resolve_name(name), rc;

	/* An older library, or a call of another architecture. */
	if (nr == __NR_SCMP_ERROR || nr < 0)
		return;
	rc = seccomp_rule_add_array(f->ctx, DENY, nr, cmp != NULL, cmp);
	if (rc < 0 && f->err == 0)
		f->err = -rc;
}

static void
deny_all(struct filter *f, const char *const *names,
    const struct scmp_arg_cmp *cmp)
{
	for (; *names != NULL; names++)
		deny(f, *names, cmp);
}

/* The kernel reads only the low half of these arguments. */
static void
deny_low(struct filter *f, const char *name, unsigned arg, uint32_t value)
{
	const struct scmp_arg_cmp cmp = SCMP_CMP(arg, SCMP_CMP_MASKED_EQ,
	    UINT32_MAX, value);

	deny(f, name, &cmp);
}

/* Signals to other processes of the user; also those of a descriptor. */
static void
deny_signals(struct filter *f)
{
	const struct scmp_arg_cmp other = SCMP_CMP(0, SCMP_CMP_NE,
	    (uint64_t)getpid(), 0);
	/* A limit of CPU time ends a process. */
	const struct scmp_arg_cmp not_self = SCMP_CMP(0, SCMP_CMP_NE, 0, 0);
	size_t i;

	deny_all(f, signalling, &other);
	deny(f, "prlimit64", &not_self);
	for (i = 0; seccomp_no_ioctls[i] != 0; i++)
		deny_low(f, "ioctl", 1, seccomp_no_ioctls[i]);
	for (i = 0; seccomp_no_fcntls[i] != 0; i++) {
		deny_low(f, "fcntl", 1, seccomp_no_fcntls[i]);
		deny_low(f, "fcntl64", 1, seccomp_no_fcntls[i]);
	}
	/* The process ends with the parser. */
	deny_low(f, "prctl", 0, PR_SET_PDEATHSIG);
}

static int
filter_load(void)
{
	/* A thread is allowed.  The supervisor's filter denies clone3(). */
	const struct scmp_arg_cmp process = SCMP_CMP(0, SCMP_CMP_MASKED_EQ,
	    CLONE_THREAD, 0);
	struct filter f = { .ctx = seccomp_init(SCMP_ACT_ALLOW) };
	int rc;

	if (f.ctx == NULL) {
		errno = ENOMEM;
		return -1;
	}
	deny_all(&f, starting, NULL);
	/* Slurm's commands ask the same name services without these calls. */
	deny_all(&f, seccomp_no_command, NULL);
	deny(&f, "clone", &process);
	deny_signals(&f);
	rc = f.err != 0 ? -f.err : seccomp_load(f.ctx);
	seccomp_release(f.ctx);
	if (rc == 0)
		return 0;
	errno = -rc;
	return -1;
}

int
name_filter_enter(void)
{
	/* The supervisor's filter denies ptrace(), namespaces and clone3(). */
	if (seccomp_enter_supervisor(SANDBOX_ENFORCE) == 0 &&
	    filter_load() == 0)
		return 0;
	/* A kernel without seccomp; the workers report it. */
	return errno == ENOSYS || errno == EINVAL ? 0 : -1;
}
