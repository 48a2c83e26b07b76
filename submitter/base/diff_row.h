/* SPDX-License-Identifier: MIT */
/* A row of CTL_T_DIFF: a run that differs from Slurm or cc-backend. */
#ifndef SUBMITTER_BASE_DIFF_ROW_H
#define SUBMITTER_BASE_DIFF_ROW_H

#include <stdint.h>

#include "common/model/job.h"

struct submitter;

/* Sends the row as a part of the reply to the request. */
void diff_row_send(struct submitter *s, uint64_t request,
    const struct run_key *key, const char *difference, const char *action);

#endif
