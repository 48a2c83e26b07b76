/* SPDX-License-Identifier: MIT */
/*
 * How long Slurm's commands took, and how they failed, for the metrics and for
 * the submitter's history.
 */
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

/* Commands that ran since the last command_span_take(). */
struct command_span {
	uint64_t n;
	uint64_t sum_ms;
	uint64_t max_ms;
};

/* Zero-initialise. */
struct command_times {
	struct histogram times[QUESTION__COUNT]; /* of commands that ran */
	uint64_t errors[DAEMON__COUNT][COMMAND_OUTCOMES];
	struct command_span spans[DAEMON__COUNT];
};

void command_times_add(struct command_times *t, enum question_kind kind,
    enum command_outcome outcome, int64_t ms);

/* Copies the span of the daemon, which begins anew. */
void command_span_take(struct command_times *t, enum slurm_daemon daemon,
    struct command_span *span);

/* DAEMON__COUNT for unmunge, which asks no daemon of Slurm. */
enum slurm_daemon command_daemon(enum question_kind kind);
/* "slurmctld", "slurmdbd" */
const char *slurm_daemon_name(enum slurm_daemon daemon);
/* "failed" and so on: a label; NULL for COMMAND_OK. */
const char *command_error_name(enum command_outcome outcome);
/* The label of a kind of question: "jobs", "range" and so on. */
const char *question_name(enum question_kind kind);

#endif
