/* SPDX-License-Identifier: MIT */
/*
 * The system call filters.  Listener and submitter have a list of what they
 * may call; the collector, whose filter Slurm's commands inherit, a list of
 * what nobody may.
 */
#ifndef COMMON_WORKER_SECCOMP_H
#define COMMON_WORKER_SECCOMP_H

#include "common/worker/sandbox.h"

/*
 * Loads the filter of the role into the calling thread; no_new_privs must be
 * set.  In SANDBOX_LOG nothing is refused, the kernel logs it instead.
 * 0; -1 with errno: the kernel has none (ENOSYS, EINVAL) or memory is short.
 */
int seccomp_enter(enum role role, enum sandbox_mode mode);

#endif
