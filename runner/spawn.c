/* SPDX-License-Identifier: MIT */
/*
 * The start of one command; see runner.h.  The child shares the memory of the
 * runner until it executes the command, as after vfork(): a copy of the page
 * tables, and of each page that the runner writes meanwhile, costs more than all
 * other steps.  The runner is suspended until then.
 */
#include "config.h"

#include <sys/prctl.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "runner/confine/confine.h"
#include "runner/runner.h"

/* bytes; confine_apply() needs 4 KiB */
#define STACK_BYTES (16u * 1024)

enum step {
	STEP_NONE,
	STEP_PREPARE,
	STEP_CONFINE,
	STEP_EXECUTE
};

/* The child's report of a failure before it executes the command. */
struct failure {
	int error; /* errno */
	int step;
};

static const char *const steps[] = {
	[STEP_NONE] = "cannot be started",
	[STEP_PREPARE] = "cannot be prepared",
	[STEP_CONFINE] = "cannot be confined",
	[STEP_EXECUTE] = "cannot be executed",
};

int
pipe_new(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) == -1)
		return -1;
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) == -1) {
		close(fds[0]);
		close(fds[1]);
		return -1;
	}
	return 0;
}

static void
signals_reset(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The child: what it needs, in the memory of the runner. */
struct child {
	pid_t parent;
	char *const *argv;
	char *const *env;
	const struct confine_rules *rules;
	const struct command_fds *fds;
	int failed; /* close-on-exec */
};

/* Never returns.  Changes nothing but its own stack, and errno. */
static int
child_run(void *arg)
{
	const struct child *c = arg;
	struct failure f = { 0, STEP_PREPARE };

	signals_reset();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1 ||
	    setpgid(0, 0) == -1 || dup2(c->fds->out, STDOUT_FILENO) == -1 ||
	    dup2(c->fds->err, STDERR_FILENO) == -1 ||
	    (c->fds->in != -1 && dup2(c->fds->in, STDIN_FILENO) == -1))
		goto fail;
	/* The runner ended before the kernel knew of the signal. */
	if (getppid() != c->parent)
		_exit(127);
	f.step = STEP_CONFINE;
	if (confine_apply(c->rules) == -1)
		goto fail;
	f.step = STEP_EXECUTE;
	execve(c->argv[0], c->argv, c->env);
fail:
	f.error = errno;
	(void)!write(c->failed, &f, sizeof(f));
	_exit(127);
}

/*
 * Signals are blocked until the child has reset its handlers: a signal that
 * arrives in the child would be reported to the event loop of the runner.
 */
static pid_t
child_start(struct child *c)
{
	_Alignas(16) uint8_t stack[STACK_BYTES]; /* it grows down */
	sigset_t all, old;
	pid_t pid;
	int saved;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid = clone(child_run, stack + sizeof(stack),
	    CLONE_VM | CLONE_VFORK | SIGCHLD, c);
	saved = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return pid;
}

int
command_spawn(pid_t *pid, const char *const *argv, char *const *env,
    const struct confine_rules *rules, const struct command_fds *fds,
    const char **what)
{
	struct failure f = { 0, STEP_NONE };
	char *args[QUESTION_ARGS_MAX + 1];
	struct child child = { getpid(), args, env, rules, fds, -1 };
	int failed[2];
	ssize_t n;
	size_t i;

	*pid = 0;
	*what = steps[STEP_NONE];
	for (i = 0; argv[i] != NULL; i++) {
		if (i == QUESTION_ARGS_MAX)
			return E2BIG;
		/* execve() has no const, but does not write. */
		memcpy(&args[i], &argv[i], sizeof(args[i]));
	}
	args[i] = NULL;
	if (pipe2(failed, O_CLOEXEC) == -1)
		return errno;
	child.failed = failed[1];
	*pid = child_start(&child);
	if (*pid == -1) {
		f.error = errno;
		*pid = 0;
	}
	close(failed[1]);
	/* The end of the pipe: the child executes the command, or is gone. */
	while (*pid != 0 && (n = read(failed[0], &f, sizeof(f))) == -1 &&
	    errno == EINTR)
		continue;
	close(failed[0]);
	*what = steps[f.step];
	return f.error;
}
