/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's own rights.  Started as root, the supervisor keeps only the
 * capabilities that it needs to start, confine and end the workers, and -test
 * those that it needs for its checks; no process that it starts can get another
 * one.  The workers and Slurm's commands inherit its filter, so that the filter
 * denies only calls that none of them makes.
 */
#include "config.h"

#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <errno.h>
#include <stdint.h>

#include "common/worker/seccomp.h"
#include "supervisor/system/system.h"

#define BIT(cap) ((uint64_t)1 << (cap))

/*
 * chown, dac_override: directories and files for the workers, files of an earlier
 * daemon.  kill: workers have other uids.  setpcap: a worker empties its bounding
 * set.
 */
static const uint64_t of_daemon = BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) |
    BIT(CAP_KILL) | BIT(CAP_SETGID) | BIT(CAP_SETUID) | BIT(CAP_SETPCAP) |
    BIT(CAP_SYS_CHROOT);

/*
 * -test makes no directory and no socket, and changes no root directory.
 * dac_read_search: the state of files of other users.  net_bind_service: whether a
 * port of the hooks is free.
 */
static const uint64_t of_test = BIT(CAP_DAC_READ_SEARCH) |
    BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_KILL) | BIT(CAP_SETGID) |
    BIT(CAP_SETUID) | BIT(CAP_SETPCAP);

/* A unit file may grant fewer: keeps what was granted. */
static void
sets_reduce(uint64_t kept)
{
	cap_t now = cap_get_proc(), next = cap_init();
	cap_flag_value_t has;
	cap_value_t cap;

	if (now == NULL || next == NULL)
		fatal("cannot read own capabilities");
	for (cap = 0; cap <= CAP_LAST_CAP; cap++) {
		if ((kept & BIT(cap)) == 0 ||
		    cap_get_flag(now, cap, CAP_PERMITTED, &has) == -1 ||
		    has != CAP_SET)
			continue;
		if (cap_set_flag(next, CAP_PERMITTED, 1, &cap, CAP_SET) == -1 ||
		    cap_set_flag(next, CAP_EFFECTIVE, 1, &cap, CAP_SET) == -1)
			fatal("cannot give up capabilities");
	}
	if (cap_set_proc(next) == -1)
		fatal("cannot give up capabilities");
	cap_free(now);
	cap_free(next);
}

static void
bounding_reduce(uint64_t kept)
{
	cap_value_t cap;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
		if ((kept & BIT(cap)) == 0 &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == -1 &&
		    errno != EPERM)
			fatal("cannot drop capability %d from the bounding set",
			    (int)cap);
	}
}

/* With no_new_privs, a filter needs no capability. */
static void
calls_reduce(enum sandbox_mode mode)
{
	if (mode == SANDBOX_OFF)
		return;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		fatal("cannot set no_new_privs");
	if (seccomp_enter_supervisor(mode) == 0)
		return;
	/* A kernel without seccomp. */
	if (errno != ENOSYS && errno != EINVAL)
		fatal("cannot load the system call filter");
	log_warn("the supervisor runs without a system call filter");
}

static int
is_permitted(cap_value_t cap)
{
	cap_flag_value_t has = CAP_CLEAR;
	cap_t now = cap_get_proc();

	if (now == NULL || cap_get_flag(now, cap, CAP_PERMITTED, &has) == -1)
		fatal("cannot read own capabilities");
	cap_free(now);
	return has == CAP_SET;
}

/* A container may grant dac_override, which permits more, and not the other one. */
static uint64_t
kept_by_test(void)
{
	return of_test |
	    (is_permitted(CAP_DAC_READ_SEARCH) ? 0 : BIT(CAP_DAC_OVERRIDE));
}

void
capabilities_reduce(const struct setup *setup, int is_test)
{
	const uint64_t kept = is_test ? kept_by_test() : of_daemon;
	const struct rlimit none = { 0, 0 };

	/* The memory has no secret; a dump would still show paths. */
	if (setup->mode != SANDBOX_OFF &&
	    (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
		setrlimit(RLIMIT_CORE, &none) == -1))
		log_warn("core dumps cannot be disabled");
	/* Commands of a runner that has ended become our children. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1)
		log_warn("cannot become the subreaper: commands of a runner "
			 "that crashed stay running");
	if (setup->as_root) {
		bounding_reduce(kept);
		sets_reduce(kept);
	}
	calls_reduce(setup->mode);
}
