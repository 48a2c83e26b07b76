/* SPDX-License-Identifier: MIT */
/* One question to Slurm; see collector.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/base/cluster.h"
#include "common/log.h"

struct command *
ask_start(struct collector *c, const struct ask *ask)
{
	const char *argv[RUNNER_ARGS_MAX + 1];
	struct command_spec spec;
	size_t n = 0, i;

	argv[n++] = c->slurm.path[ask->cmd];
	/* Users and their rights are slurmdbd's, the same for all clusters. */
	if (c->by_name && ask->cmd != CMD_SACCTMGR) {
		argv[n++] = "-M";
		argv[n++] = c->name;
	}
	for (i = 0; n < RUNNER_ARGS_MAX && ask->args[i] != NULL; i++)
		argv[n++] = ask->args[i];
	argv[n] = NULL;
	memset(&spec, 0, sizeof(spec));
	spec.argv = argv;
	spec.deadline_ms = ask->deadline_ms != 0 ? ask->deadline_ms :
	    ASK_DEADLINE_MS;
	spec.max_bytes = spec.deadline_ms > ASK_DEADLINE_MS ?
	    ASK_LONG_BYTES_MAX : ASK_BYTES_MAX;
	spec.unset = ask->unset;
	spec.wait_ms = limit_take(c, ask->cmd, ask->script);
	spec.on_output = ask->on_output;
	spec.on_end = ask->on_end;
	spec.arg = ask->arg;
	log_debug("asks%s %s %s %s", site_of(c), argv[0],
	    ask->args[0] != NULL ? ask->args[0] : "",
	    ask->args[0] != NULL && ask->args[1] != NULL ? ask->args[1] : "");
	return runner_start(c->runner, &spec);
}

void
ask_failed(struct collector *c, struct health *side, const char *what,
    const struct command_end *end)
{
	char why[512];

	command_why(end, why, sizeof(why));
	snprintf(c->last_error, sizeof(c->last_error), "%s: %.200s", what, why);
	source_failed(c, end);
	if (side != NULL)
		health_bad(side, why);
}
