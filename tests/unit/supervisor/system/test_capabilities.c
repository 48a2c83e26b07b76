/* SPDX-License-Identifier: MIT */
/*
 * The rights that the supervisor keeps: no capability but its own, no new one,
 * and none of the calls that change mounts, modules or namespaces.  As root, its
 * children can still enter their sandbox.  -test also cannot write files of other
 * users.
 */
#include "config.h"

#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"

/* errno of unshare() without a flag, which needs no right; 0 = success. */
static int
unshare_nothing(void)
{
	return unshare(0) == -1 ? errno : 0;
}

/* errno of a child in a new namespace of users, which needs no right; 0 = success. */
static int
clone_user(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL,
	    NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	if (pid == -1)
		return errno;
	waitpid(pid, NULL, 0);
	return 0;
}

static void
check_caps(void)
{
	static const cap_value_t lost[] = { CAP_SYS_ADMIN, CAP_SYS_MODULE,
		CAP_SYS_BOOT, CAP_NET_ADMIN, CAP_SYS_PTRACE };
	cap_t now = cap_get_proc();
	cap_flag_value_t has;
	size_t i;

	for (i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		CHECK_INT(cap_get_flag(now, lost[i], CAP_PERMITTED, &has), 0);
		CHECK_INT(has, CAP_CLEAR);
		CHECK_INT(prctl(PR_CAPBSET_READ, lost[i], 0, 0, 0), 0);
	}
	cap_free(now);
}

/* The permitted capabilities, as a mask. */
static uint64_t
permitted(void)
{
	cap_t now = cap_get_proc();
	cap_flag_value_t has;
	uint64_t mask = 0;
	cap_value_t cap;

	for (cap = 0; cap_get_flag(now, cap, CAP_PERMITTED, &has) == 0; cap++)
		mask |= (uint64_t)(has == CAP_SET) << cap;
	cap_free(now);
	return mask;
}

static int
reduced(int is_test)
{
	struct setup setup = { .mode = SANDBOX_ENFORCE,
		.as_root = geteuid() == 0 };

	CHECK_INT(unshare_nothing(), 0);
	capabilities_reduce(&setup, is_test);
	CHECK_INT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
	CHECK_INT(unshare_nothing(), EPERM);
	CHECK_INT(clone_user(), EPERM);
	CHECK_INT(syscall(SYS_clone3, NULL, 0), -1);
	CHECK_INT(errno, ENOSYS);
	CHECK_INT(syscall(SYS_bpf, -1, NULL, 0), -1);
	CHECK_INT(errno, EPERM);
	CHECK_INT(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL), -1);
	CHECK_INT(errno, EPERM);
	if (setup.as_root)
		check_caps();
	return check_done();
}

static int
enforced(void)
{
	int rc = reduced(0);

	if (geteuid() == 0)
		CHECK_INT(chroot("/"), 0);
	return rc | check_done();
}

#define BIT(cap) ((uint64_t)1 << (cap))

/* A container without dac_read_search: -test keeps dac_override then. */
static int
of_container(void)
{
	const cap_value_t search = CAP_DAC_READ_SEARCH;
	cap_t now = cap_get_proc();

	CHECK_INT(cap_set_flag(now, CAP_PERMITTED, 1, &search, CAP_CLEAR), 0);
	CHECK_INT(cap_set_flag(now, CAP_EFFECTIVE, 1, &search, CAP_CLEAR), 0);
	CHECK_INT(cap_set_proc(now), 0);
	cap_free(now);
	reduced(1);
	if (geteuid() == 0)
		CHECK(permitted() & BIT(CAP_DAC_OVERRIDE));
	return check_done();
}

static int
of_test(void)
{
	const uint64_t most = BIT(CAP_DAC_READ_SEARCH) |
	    BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_KILL) | BIT(CAP_SETGID) |
	    BIT(CAP_SETUID) | BIT(CAP_SETPCAP);
	const uint64_t before = permitted();

	reduced(1);
	if (geteuid() != 0)
		return check_done();
	CHECK_INT(permitted(), before & most);
	CHECK_INT(chroot("/"), -1);
	CHECK_INT(prctl(PR_CAPBSET_READ, CAP_DAC_OVERRIDE, 0, 0, 0), 0);
	return check_done();
}

static int
off(void)
{
	struct setup setup = { .mode = SANDBOX_OFF };

	capabilities_reduce(&setup, 0);
	CHECK_INT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
	CHECK_INT(unshare_nothing(), 0);
	return check_done();
}

/* The rights of a process do not come back: each test has its own. */
static void
in_child(int (*test)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(test());
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

int
main(void)
{
	if (check_on_valgrind()) {
		printf("skipped: valgrind cannot enter a sandbox\n");
		return 77;
	}
	log_init("test", LOG_LEVEL_FATAL);
	in_child(enforced);
	in_child(of_test);
	if (geteuid() == 0)
		in_child(of_container);
	in_child(off);
	return check_done();
}
