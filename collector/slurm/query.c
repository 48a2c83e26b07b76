/* SPDX-License-Identifier: MIT */
/* One question to Slurm; see collector.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/base/cluster.h"
#include "common/log.h"

struct command *
query_start(struct cluster *c, const struct query *query)
{
	const char *argv[RUNNER_ARGS_MAX + 1];
	struct command_spec spec;
	size_t n = 0, i;

	argv[n++] = c->slurm.path[query->cmd];
	/* Users and their rights are slurmdbd's, the same for all clusters. */
	if (c->by_name && query->cmd != CMD_SACCTMGR) {
		argv[n++] = "-M";
		argv[n++] = c->name;
	}
	for (i = 0; n < RUNNER_ARGS_MAX && query->args[i] != NULL; i++)
		argv[n++] = query->args[i];
	argv[n] = NULL;
	memset(&spec, 0, sizeof(spec));
	spec.argv = argv;
	spec.deadline_ms = query->deadline_ms != 0 ? query->deadline_ms :
	    QUERY_DEADLINE_MS;
	spec.max_bytes = spec.deadline_ms > QUERY_DEADLINE_MS ?
	    QUERY_LONG_BYTES_MAX : QUERY_BYTES_MAX;
	spec.wait_ms = rate_limit_take(c, query->cmd, query->script);
	spec.on_output = query->on_output;
	spec.on_end = query->on_end;
	spec.arg = query->arg;
	log_debug("asks%s %s %s %s", cluster_suffix(c), argv[0],
	    query->args[0] != NULL ? query->args[0] : "",
	    query->args[0] != NULL && query->args[1] != NULL ? query->args[1] :
	    "");
	return runner_start(c->runner, &spec);
}

void
query_failed(struct cluster *c, struct health *side, const char *what,
    const struct command_end *end)
{
	char why[512];

	command_why(end, why, sizeof(why));
	snprintf(c->last_error, sizeof(c->last_error), "%s: %.200s", what, why);
	if (side != NULL)
		health_bad(side, why);
}
