/* SPDX-License-Identifier: MIT */
/* No command of a runner stays behind when the runner ends. */
#include "config.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/supervisor.h"
#include "tests/unit/check.h"

#define DEPTH	5     /* processes, each the child of the one before */
#define END_MS	30000 /* they must have ended by then */
#define ALARM_S 120   /* when the test has failed */

static struct supervisor sup;

/* Each is in a session of its own, so that no process group has them all. */
static void
commands_run(int ready)
{
	int depth = DEPTH;

	do {
		setsid();
		alarm(ALARM_S);
	} while (--depth > 0 && fork() == 0);
	if (depth == 0 && write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* A runner that ends and leaves a command with its descendants. */
static pid_t
runner_run(int ready)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (fork() == 0)
		commands_run(ready);
	_exit(0);
}

static void
test_orphans(void)
{
	struct child *c = &sup.workers.children[ROLE_RUNNER];
	long long end;
	struct pollfd p = { .events = POLLIN };
	int ready[2];
	char byte;

	CHECK_INT(pipe(ready), 0);
	c->pid = runner_run(ready[1]);
	c->state = CHILD_READY;
	c->stop_requested = 1;
	CHECK(c->pid > 0);
	CHECK_INT(read(ready[0], &byte, 1), 1); /* the last of them runs */
	close(ready[1]);
	p.fd = ready[0];
	end = clock_ms() + END_MS;
	/* As SIGCHLD would call it.  The end of the pipe: all have ended. */
	do
		children_reap(&sup);
	while (clock_ms() < end && poll(&p, 1, 1) == 0);
	CHECK_INT(c->pid, 0);
	CHECK_INT(poll(&p, 1, 0), 1);
	close(ready[0]);
}

int
main(void)
{
	int role;

	log_init("test_children", LOG_LEVEL_FATAL);
	CHECK_INT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	setup_init(&sup.setup);
	sup.base = event_base_new();
	sup.workers.base = sup.base;
	sup.workers.setup = &sup.setup;
	sup.workers.conf = &sup.conf;
	sup.workers.ops = &child_ops;
	sup.workers.arg = &sup;
	sup.workers.stopping = 1; /* none is started again */
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		child_init(&sup.workers, (enum role)role);
	test_orphans();
	return check_done();
}
