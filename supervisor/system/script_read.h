/* SPDX-License-Identifier: MIT */
/* Reads the scripts of slurmctld in a process with the rights of its user. */
#ifndef SUPERVISOR_SYSTEM_SCRIPT_READ_H
#define SUPERVISOR_SYSTEM_SCRIPT_READ_H

#include <limits.h>

#include "supervisor/system/system.h"

#define HOOK_NAME "cc-slurm-adapter"
/* For the scripts of one key; glob(3) keeps all paths that it finds. */
#define SCRIPT_READ_S	  5
#define SCRIPT_READ_BYTES (64u * 1024 * 1024)

/* The result for the scripts of one key. */
struct scripts {
	int calls;	       /* one of them calls the hook */
	int special;	       /* one of them is no regular file */
	int error;	       /* 0: one of them is readable, else errno */
	char closed[PATH_MAX]; /* slurmctld's user cannot execute it; or "" */
};

/*
 * value: paths and patterns, separated by commas.  0, or -1 when there is no
 * result within these limits.
 */
int scripts_read(const struct setup *setup, const char *value,
    struct scripts *s);

#endif
