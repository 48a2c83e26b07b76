/* SPDX-License-Identifier: MIT */
/* Who may knock at the hooks' socket, as numbers. */
#ifndef SUPERVISOR_PREP_UIDS_H
#define SUPERVISOR_PREP_UIDS_H

#include <sys/types.h>

/*
 * The value of prepAllowedUids as the listener gets it, which opens no file
 * and so cannot look up a name: a LIST (JSON array of decimal strings) of
 * root, our own uid, slurm_uid (the user slurmUser stands for), Slurm's usual
 * user "slurm" where there is one, and what list, the configured value,
 * names by name or number.  A name that no user has is left out with a
 * warning.  Returns owned, or NULL on memory.
 */
char *prep_uids_resolve(const char *list, uid_t slurm_uid);

#endif
