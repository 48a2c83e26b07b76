/* SPDX-License-Identifier: MIT */
/*
 * fork and exec of our own programs, so that nothing of the supervisor's
 * memory or descriptors reaches them but what is handed over.
 */
#include "config.h"

#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "supervisor/system/system.h"

#define CHILD_FD	3	/* where every program of ours looks for its channel */
#define FD_LIMIT	1024	/* closed one by one where close_range is missing */

/* Everything is close-on-exec; this is for what our starter left open. */
static void
others_close(void)
{
	int fd;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, CHILD_FD + 1, ~0u, 0) == 0)
		return;
#endif
	for (fd = CHILD_FD + 1; fd < FD_LIMIT; fd++)
		close(fd);
}

/* 0, 1 and 3; 2 stays the log. */
static int
descriptors_place(int fd)
{
	int null;

	/* The lowest free number may be 3: what goes there must not be under it. */
	if (fd == CHILD_FD) {
		if (fcntl(fd, F_SETFD, 0) == -1)
			return -1;
	} else if (dup2(fd, CHILD_FD) == -1)
		return -1;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null == -1 || dup2(null, 0) == -1 || dup2(null, 1) == -1)
		return -1;
	others_close();
	return 0;
}

static void
signals_reset(const sigset_t *mask)
{
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/*
 * Signals wait while there are two of us with the same handlers: one caught
 * in the child would be told to the parent's loop.
 */
pid_t
process_spawn(const char *path, char *const argv[], char *const envp[], int fd)
{
	sigset_t all, none, old;
	pid_t pid;
	int saved;

	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid = fork();
	if (pid == 0) {
		signals_reset(&none);
		if (descriptors_place(fd) == 0)
			execve(path, argv, envp);
		log_error("cannot start %s", path);
		_exit(127);
	}
	saved = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return pid;
}
