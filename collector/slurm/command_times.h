/* SPDX-License-Identifier: MIT */
/* How long Slurm's commands took, and how they failed, for the metrics. */
#ifndef COLLECTOR_SLURM_COMMAND_TIMES_H
#define COLLECTOR_SLURM_COMMAND_TIMES_H

#include "collector/slurm/runner_link.h"
#include "common/histogram.h"

/* The daemon that a command asks. */
enum slurm_daemon {
	DAEMON_SLURMCTLD,
	DAEMON_SLURMDBD,
	DAEMON__COUNT
};

/* Zero-initialise. */
struct command_times {
	struct histogram times[QUESTION__COUNT]; /* of commands that ran */
	uint64_t errors[DAEMON__COUNT][COMMAND_OUTCOMES];
};

void command_times_add(struct command_times *t, enum question_kind kind,
    enum command_outcome outcome, int64_t ms);

enum slurm_daemon command_daemon(enum question_kind kind);
/* "slurmctld", "slurmdbd" */
const char *slurm_daemon_name(enum slurm_daemon daemon);
/* "failed" and so on: a label; NULL for COMMAND_OK. */
const char *command_error_name(enum command_outcome outcome);
/* What the command asks for: "jobs", "range" and so on, a label. */
const char *question_name(enum question_kind kind);

#endif
