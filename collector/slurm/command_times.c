/* SPDX-License-Identifier: MIT */
/* Times and failures of Slurm's commands; see command_times.h. */
#include "config.h"

#include "collector/slurm/command_times.h"

void
command_times_add(struct command_times *t, enum question_kind kind,
    enum command_outcome outcome, int64_t ms)
{
	if (outcome != COMMAND_OK)
		t->errors[command_daemon(kind)][outcome]++;
	/* A command that was never started has no time. */
	if (outcome != COMMAND_SPAWN)
		histogram_add(&t->times[kind], HISTOGRAM_COMMAND, ms);
}

enum slurm_daemon
command_daemon(enum question_kind kind)
{
	enum slurm_command command = question_type(kind)->command;

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
	};

	return names[kind];
}
