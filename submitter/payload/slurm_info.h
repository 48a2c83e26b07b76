/* SPDX-License-Identifier: MIT */
/*
 * slurmInfo: Slurm's description of a job, as people read it.  A record keeps
 * the one line of `scontrol show job -d -o`.  The text has the lines of
 * `scontrol show job -d`, times with the offset of the site's zone, and, when
 * the run has ended, its final state, reason, exit code and end.
 */
#ifndef SUBMITTER_PAYLOAD_SLURM_INFO_H
#define SUBMITTER_PAYLOAD_SLURM_INFO_H

#include "common/model/job.h"

/* Returns owned, or NULL: the record has no description, or out of memory. */
char *slurm_info_text(const struct job *job);

#endif
