/* SPDX-License-Identifier: MIT */
/*
 * The ends of processes: a worker, the parser of the configuration, a command
 * of a runner that has ended.
 */
#include "config.h"

#include <sys/wait.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/supervisor.h"

#define PIDS_MAX 4096 /* bytes of the list of our children's pids */

const char *
children_text(const struct workers *w, int unanswered)
{
	static char text[ROLE__COUNT * 32];
	const struct child *c;
	size_t len = 0;
	int role;

	text[0] = '\0';
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		c = &w->children[role];
		if (c->pid == 0 || (unanswered && c->conf_agreed != 0))
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "%s%s (%ld)", len > 0 ? ", " : "", role_name(c->role),
		    (long)c->pid);
	}
	return len > 0 ? text : "the workers";
}

/*
 * Kills the commands of a runner that has ended.  They are children of
 * the supervisor now, because it is the subreaper; no process reads their
 * output.  Their own children become ours when they have ended: see
 * children_reap().
 */
static void
orphans_kill(struct supervisor *sup)
{
	char path[64], pids[PIDS_MAX], *p = pids;
	FILE *f;
	size_t n;
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children",
	    (int)getpid());
	f = fopen(path, "re");
	if (f == NULL)
		return;
	n = fread(pids, 1, sizeof(pids) - 1, f);
	fclose(f);
	pids[n] = '\0';
	/* The last number may be cut: it is then the pid of another process. */
	if (n == sizeof(pids) - 1 && (p = strrchr(pids, ' ')) != NULL)
		*p = '\0';
	p = pids;
	while ((pid = (pid_t)strtol(p, &p, 10)) > 0) {
		if (!parser_has_pid(sup, pid) && !checklist_has_pid(pid) &&
		    child_find(&sup->workers, pid) == NULL)
			kill(pid, SIGKILL);
	}
}

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
		c = child_find(&sup->workers, pid);
		if (c != NULL)
			child_exited(c, status);
		else
			orphans = 1;
	}
	if (orphans)
		orphans_kill(sup);
}
