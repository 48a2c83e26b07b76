/* SPDX-License-Identifier: MIT */
/*
 * Landlock by its bare system calls, with its own copy of the kernel's
 * numbers: the headers of some supported systems are older than it.
 */
#ifndef COMMON_WORKER_LANDLOCK_H
#define COMMON_WORKER_LANDLOCK_H

#include "common/worker/sandbox.h"

/*
 * The version of Landlock that the running kernel offers; 0 when it has none
 * or it is switched off at boot.
 */
int landlock_abi(void);

/*
 * Confines the calling thread, and whatever it will start, to the paths of sb
 * and, from the versions on that know them, to no TCP (listener), no TCP
 * ports of its own (submitter), and no abstract sockets or signals beyond its
 * own processes.  no_new_privs must be set.  A path that does not exist is
 * skipped.  abi > 0 is what landlock_abi() said.  0, or -1 with errno.
 */
int landlock_enter(const struct sandbox *sb, int abi);

#endif
