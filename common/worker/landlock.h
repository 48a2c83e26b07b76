/* SPDX-License-Identifier: MIT */
/*
 * Landlock by system calls; see landlock_abi.h for the kernel's numbers.
 */
#ifndef COMMON_WORKER_LANDLOCK_H
#define COMMON_WORKER_LANDLOCK_H

#include "common/worker/sandbox.h"

/*
 * The version of Landlock in the running kernel; 0 when the kernel has none or
 * Landlock is disabled at boot.
 */
int landlock_abi(void);
/* All rights on files and directories that this version can deny. */
uint64_t landlock_fs_rights(int abi);

/*
 * Confines the calling thread and its later children to the paths of sb.  If
 * the version has these rights, also: no bind of TCP ports, TCP connections only
 * to the ports of sb (the runner: to all), no abstract sockets and no signals to
 * other processes.  UDP is not covered.
 * no_new_privs must be set.  A path that does not exist is skipped.  abi > 0
 * is the result of landlock_abi().  0, or -1 with errno.
 */
int landlock_enter(const struct sandbox *sb, int abi);

#endif
