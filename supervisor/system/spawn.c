/* SPDX-License-Identifier: MIT */
/*
 * fork and exec of our own programs.  A program gets no memory of the
 * supervisor, no descriptor but its channel, the pipe of its log lines and
 * /dev/null, and no controlling terminal.
 */
#include "config.h"

#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "common/log_line.h"
#include "supervisor/system/system.h"

#define CHILD_FD 3    /* the channel, in each of our programs */
#define FD_LIMIT 1024 /* highest closed without close_range(2) */

void
descriptors_close_from(int first)
{
	int fd;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
#endif
	for (fd = first; fd < FD_LIMIT; fd++)
		close(fd);
}

/* Sets descriptors 0 to 3.  log is never 3, because it is opened after fd. */
static int
descriptors_place(int fd, int log)
{
	int null;

	if (dup2(log, STDERR_FILENO) == -1)
		return -1;
	/* fd may be 3 already; dup2() would leave it close-on-exec. */
	if (fd == CHILD_FD) {
		if (fcntl(fd, F_SETFD, 0) == -1)
			return -1;
	} else if (dup2(fd, CHILD_FD) == -1)
		return -1;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null == -1 || dup2(null, 0) == -1 || dup2(null, 1) == -1)
		return -1;
	/*
	 * The supervisor's descriptors are close-on-exec.  This closes the ones
	 * that it inherited.
	 */
	descriptors_close_from(CHILD_FD + 1);
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
 * Signals are blocked until the child has reset its handlers: a signal that
 * arrives in the child would be reported to the event loop of the parent.
 */
pid_t
process_spawn(const char *path, char *const argv[], char *const envp[], int fd,
    int log)
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
		/*
		 * The service may run in root's shell.  Only a process of the
		 * terminal's session may put characters into its input
		 * (TIOCSTI), and the shell would run them.
		 */
		setsid();
		log_sink_set(log_record_send);
		if (descriptors_place(fd, log) == 0)
			execve(path, argv, envp);
		log_error("cannot start %s", path);
		_exit(127);
	}
	saved = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return pid;
}
