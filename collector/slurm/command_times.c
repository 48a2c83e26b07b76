/* SPDX-License-Identifier: MIT */
/* Times and failures of Slurm's commands; see command_times.h. */
#include "config.h"

#include <string.h>

#include "collector/slurm/command_times.h"

static void
span_add(struct command_span *span, int64_t ms)
{
	uint64_t took = ms > 0 ? (uint64_t)ms : 0;

	span->n++;
	span->sum_ms += took;
	if (took > span->max_ms)
		span->max_ms = took;
}

void
command_times_add(struct command_times *t, enum question_kind kind,
    enum command_outcome outcome, int64_t ms)
{
	enum slurm_daemon daemon = command_daemon(kind);

	if (outcome != COMMAND_OK && daemon < DAEMON__COUNT)
		t->errors[daemon][outcome]++;
	/* A command that was never started has no time. */
	if (outcome == COMMAND_SPAWN)
		return;
	histogram_add(&t->times[kind], HISTOGRAM_COMMAND, ms);
	if (daemon < DAEMON__COUNT)
		span_add(&t->spans[daemon], ms);
}

void
command_span_take(struct command_times *t, enum slurm_daemon daemon,
    struct command_span *span)
{
	*span = t->spans[daemon];
	memset(&t->spans[daemon], 0, sizeof(t->spans[daemon]));
}

enum slurm_daemon
command_daemon(enum question_kind kind)
{
	enum slurm_command command = question_type(kind)->command;

	if (command == CMD_UNMUNGE)
		return DAEMON__COUNT;
	return command == CMD_SACCT || command == CMD_SACCTMGR ?
	    DAEMON_SLURMDBD :
	    DAEMON_SLURMCTLD;
}

const char *
slurm_daemon_name(enum slurm_daemon daemon)
{
	return daemon == DAEMON_SLURMDBD ? "slurmdbd" : "slurmctld";
}

const char *
command_error_name(enum command_outcome outcome)
{
	static const char *const names[COMMAND_OUTCOMES] = {
		[COMMAND_FAILED] = "failed",
		[COMMAND_TIMEOUT] = "timeout",
		[COMMAND_TOO_LONG] = "too_long",
		[COMMAND_REFUSED] = "invalid",
		[COMMAND_SPAWN] = "not_started",
		[COMMAND_STALE] = "names_replaced",
	};

	return names[outcome];
}

const char *
question_name(enum question_kind kind)
{
	static const char *const names[QUESTION__COUNT] = {
		[QUESTION_CONFIG] = "config",
		[QUESTION_PING] = "ping",
		[QUESTION_SHAPES] = "node_shapes",
		[QUESTION_NODES] = "node_states",
		[QUESTION_JOBS] = "jobs",
		[QUESTION_JOB] = "job",
		[QUESTION_SCRIPT] = "job_script",
		[QUESTION_LIST] = "running_list",
		[QUESTION_LIST_JOBS] = "list_by_id",
		[QUESTION_LIST_ALL] = "list_all",
		[QUESTION_NAME] = "job_name",
		[QUESTION_BUSY_NODES] = "busy_nodes",
		[QUESTION_CLOCK] = "clock",
		[QUESTION_RANGE] = "range",
		[QUESTION_RUNS] = "runs_by_id",
		[QUESTION_STEPS] = "steps",
		[QUESTION_ADMIN] = "admin_level",
		[QUESTION_DBD_CONFIG] = "slurmdbd_config",
		[QUESTION_UNMUNGE] = "hook_credential",
	};

	return names[kind];
}
