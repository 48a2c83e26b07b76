/* SPDX-License-Identifier: MIT */
/*
 * The seccomp filters.  Listener, exporter, collector, submitter, receiver and the
 * parser of the configuration have a list of allowed calls.  The runner and the supervisor,
 * whose filters Slurm's commands inherit, have a list of denied calls.
 */
#ifndef COMMON_WORKER_SECCOMP_H
#define COMMON_WORKER_SECCOMP_H

#include "common/worker/sandbox.h"

/* Names of calls that no process of the suite makes; NULL at the end. */
extern const char *const seccomp_dangerous[];
/*
 * Denied to the runner and to the commands of Slurm: names of calls (NULL at the
 * end), requests of ioctl(2) and fcntl(2) (0 at the end).
 */
extern const char *const seccomp_no_command[];
extern const uint32_t seccomp_no_ioctls[];
extern const uint32_t seccomp_no_fcntls[];

/*
 * Loads the filter of the role into the calling thread; no_new_privs must be
 * set.  In SANDBOX_LOG no call is denied; the kernel logs the calls instead.
 * 0; -1 with errno: no seccomp in the kernel (ENOSYS, EINVAL), or ENOMEM.
 */
int seccomp_enter(enum role role, enum sandbox_mode mode);

/*
 * The same for the supervisor: the dangerous calls fail with EPERM, except
 * chroot(2), which the workers make before their own filter.
 */
int seccomp_enter_supervisor(enum sandbox_mode mode);

#endif
