/* SPDX-License-Identifier: MIT */
/*
 * No command of a runner stays behind when the runner ends, and no process of
 * another program is killed.
 */
#include "config.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/supervisor.h"
#include "tests/unit/check.h"

#define DEPTH	5     /* processes, each the child of the one before */
#define END_MS	30000 /* they must have ended by then */
#define ALARM_S 120   /* when the test has failed */
#define AGAIN	20 /* looks, 5 ms each: a process that was killed has ended */

static struct supervisor sup;

/* How the commands differ from processes of other programs. */
enum mark {
	MARK_NONE,
	MARK_NO_NEW_PRIVS, /* and each is in a session of its own */
	MARK_SESSION	   /* they stay in that of the runner */
};

/* Processes of another program. */
static struct {
	pid_t child, parent; /* ours before the start */
	pid_t orphan;	     /* of the parent, which ends */
	int end_parent;	     /* closed: the parent ends */
	/* read ends of pipes, whose other end the process has */
	int child_runs, orphan_runs;
} foreign;

/* Without MARK_SESSION, no process group and no session has them all. */
static void
commands_run(int ready, enum mark mark)
{
	int depth = DEPTH;

	if (mark == MARK_NO_NEW_PRIVS &&
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		_exit(1);
	do {
		if (mark != MARK_SESSION)
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
runner_run(int ready, enum mark mark)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	setsid();
	if (fork() == 0)
		commands_run(ready, mark);
	_exit(0);
}

static void
orphans_end(enum mark mark)
{
	struct child *c = &sup.workers.children[ROLE_RUNNER];
	long long end;
	struct pollfd p = { .events = POLLIN };
	int ready[2];
	char byte;

	CHECK_INT(pipe(ready), 0);
	c->pid = runner_run(ready[1], mark);
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

/* A process with the write end of a pipe. */
static pid_t
foreign_start(int fds[2])
{
	pid_t pid = fork();

	if (pid == 0) {
		close(fds[0]);
		alarm(ALARM_S);
		for (;;)
			pause();
	}
	close(fds[1]);
	return pid;
}

/* A process that starts another one and ends when `end` is closed. */
static pid_t
foreign_parent_start(int tell, int end[2], int fds[2])
{
	pid_t orphan, pid = fork();
	char byte;

	if (pid == 0) {
		close(end[1]);
		orphan = foreign_start(fds);
		if (write(tell, &orphan, sizeof(orphan)) != sizeof(orphan) ||
		    read(end[0], &byte, 1) != 0)
			_exit(1);
		_exit(0);
	}
	close(end[0]);
	close(fds[1]);
	return pid;
}

/* As `slurmctld & exec cc-slurm-adapter -daemon` of a container. */
static void
foreign_begin(void)
{
	int tell[2], end[2], child[2], orphan[2];

	CHECK_INT(pipe(child), 0);
	foreign.child = foreign_start(child);
	foreign.child_runs = child[0];
	CHECK(pipe(tell) == 0 && pipe(end) == 0 && pipe(orphan) == 0);
	foreign.parent = foreign_parent_start(tell[1], end, orphan);
	CHECK_INT(read(tell[0], &foreign.orphan, sizeof(foreign.orphan)),
	    sizeof(foreign.orphan));
	CHECK(foreign.child > 0 && foreign.parent > 0 && foreign.orphan > 0);
	close(tell[0]);
	close(tell[1]);
	foreign.end_parent = end[1];
	foreign.orphan_runs = orphan[0];
}

/* Both run still, after a time in which they would have been killed. */
static void
foreign_check(void)
{
	struct pollfd p[] = { { .fd = foreign.child_runs, .events = POLLIN },
		{ .fd = foreign.orphan_runs, .events = POLLIN } };
	int i;

	for (i = 0; i < AGAIN; i++) {
		children_reap(&sup);
		CHECK_INT(poll(p, 2, 5), 0);
	}
}

static int
is_inherited(pid_t pid)
{
	int i, found = 0;

	for (i = 0; i < INHERITED_MAX; i++)
		found += sup.orphans.inherited[i] == pid;
	return found;
}

/* The only children of the service are its own: a command needs no mark. */
static void
test_service(void)
{
	sup.setup.mode = SANDBOX_ENFORCE;
	orphans_init(&sup.orphans);
	CHECK_INT(sup.orphans.is_mixed, getpid() == 1);
	if (!sup.orphans.is_mixed)
		orphans_end(MARK_NONE);
}

static void
test_container(void)
{
	siginfo_t ended;

	foreign_begin();
	orphans_init(&sup.orphans);
	CHECK_INT(sup.orphans.is_mixed, 1);
	CHECK(is_inherited(foreign.child) && is_inherited(foreign.parent));
	close(foreign.end_parent);
	CHECK_INT(waitid(P_PID, (id_t)foreign.parent, &ended,
		      WEXITED | WNOWAIT),
	    0);
	/* The orphan is ours now; no runner has ended. */
	foreign_check();
	CHECK(is_inherited(foreign.child) && !is_inherited(foreign.parent));
}

/* The sandbox of a command, or its session, separates it from the others. */
static void
test_marks(void)
{
	sup.setup.mode = SANDBOX_ENFORCE;
	if (!sup.orphans.had_no_new_privs) {
		orphans_end(MARK_NO_NEW_PRIVS);
		foreign_check();
	}
	sup.setup.mode = SANDBOX_OFF;
	orphans_end(MARK_SESSION);
	foreign_check();
	/* The same without the list of the first children. */
	memset(sup.orphans.inherited, 0, sizeof(sup.orphans.inherited));
	orphans_end(MARK_SESSION);
	foreign_check();
	kill(foreign.child, SIGKILL);
	kill(foreign.orphan, SIGKILL);
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
	test_service();
	test_container();
	test_marks();
	return check_done();
}
