/* SPDX-License-Identifier: MIT */
/* The user of Slurm's commands, and whether this user sees all jobs. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/slurm/slurm.h"

void
slurm_runner_info(struct slurm *slurm, const struct runner_info *info)
{
	snprintf(slurm->user, sizeof(slurm->user), "%s", info->user);
	slurm->root = info->root;
	slurm->installed = info->replaced;
}

int
slurm_permission_inherent(const struct slurm *slurm)
{
	return slurm->root ||
	    (slurm->slurm_user[0] != '\0' &&
		strcmp(slurm->slurm_user, slurm->user) == 0);
}

int
slurm_is_private(const struct slurm *slurm)
{
	return slurm->private_jobs || slurm->private_nodes;
}

int
permission_known(const struct cluster *c)
{
	if (slurm_permission_inherent(&c->slurm))
		return 1;
	return (c->permission == PERMISSION_OPERATOR ||
		   c->permission == PERMISSION_OPEN) &&
	    c->permission_poll == c->listing.number;
}
