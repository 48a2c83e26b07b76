/* SPDX-License-Identifier: MIT */
/*
 * The ends of processes: a worker, the parser of the configuration, a command
 * of a runner that has ended, a child of another program.
 */
#include "config.h"

#include <sys/wait.h>

#include "supervisor/supervisor.h"

static void
on_child_gone(struct child *c)
{
	struct supervisor *sup = c->workers->arg;

	if (c->role == ROLE_RUNNER)
		orphans_kill(sup);
	control_child_gone(c);
	if (sup->workers.stopping)
		shutdown_child_gone(c);
	else if (sup->workers.config_test)
		checklist_child_gone(c);
	else
		reload_child_gone(c);
}

const struct child_ops child_ops = { .gone = on_child_gone };

void
children_reap(struct supervisor *sup)
{
	struct child *c;
	int status, orphans = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (parser_reaped(sup, pid, status))
			continue;
		orphans_reaped(&sup->orphans, pid);
		c = child_find(&sup->workers, pid);
		if (c != NULL && c->role == ROLE_RUNNER)
			sup->orphans.runner = pid;
		if (c != NULL)
			child_exited(c, status);
		else
			orphans = 1;
	}
	/* The children of an orphan that was killed are ours now. */
	if (orphans)
		orphans_kill(sup);
}
