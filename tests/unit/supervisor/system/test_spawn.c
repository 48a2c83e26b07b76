/* SPDX-License-Identifier: MIT */
/*
 * A process of ours, started from a terminal: it must not put characters into
 * the input of the terminal.
 */
#include "config.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"

#define NOBODY	   65534
#define CHANNEL_FD 3

/* What the started process reports. */
struct report {
	int leads_session;
	int same_session; /* as the process that started it */
	int typed;	  /* errno of TIOCSTI on the log; 0 = it worked */
};

/* The started program.  Without root, because root may always use TIOCSTI. */
static int
program_main(const char *session)
{
	struct report r;
	char c = 'x';

	memset(&r, 0, sizeof(r));
	if (geteuid() == 0 && (setgid(NOBODY) == -1 || setuid(NOBODY) == -1))
		return 1;
	r.leads_session = getsid(0) == getpid();
	r.same_session = getsid(0) == (pid_t)strtol(session, NULL, 10);
	r.typed = ioctl(STDERR_FILENO, TIOCSTI, &c) == -1 ? errno : 0;
	return write(CHANNEL_FD, &r, sizeof(r)) == (ssize_t)sizeof(r) ? 0 : 1;
}

static int
status_of(pid_t pid)
{
	int status;

	if (pid <= 0 || waitpid(pid, &status, 0) == -1 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The supervisor on a terminal: session leader, descriptor 2 is the terminal. */
static int
shell_main(const char *self, const char *terminal, int fd)
{
	char name[] = "test_spawn", arg[] = "program", session[16], path[4096];
	char *argv[] = { name, arg, session, NULL }, *envp[] = { NULL };
	int tty;

	if (setsid() == -1)
		return 1;
	tty = open(terminal, O_RDWR);
	if (tty == -1 || ioctl(tty, TIOCSCTTY, 0) == -1 ||
	    dup2(tty, STDERR_FILENO) == -1)
		return 1;
	snprintf(session, sizeof(session), "%d", (int)getsid(0));
	snprintf(path, sizeof(path), "%s", self);
	return status_of(process_spawn(path, argv, envp, fd, STDERR_FILENO));
}

static void
test_terminal(const char *self)
{
	struct report r;
	int master = posix_openpt(O_RDWR | O_NOCTTY), fds[2];
	pid_t pid;

	memset(&r, 0, sizeof(r));
	CHECK(master != -1 && grantpt(master) == 0 && unlockpt(master) == 0);
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	fflush(NULL);
	if ((pid = fork()) == 0)
		_exit(shell_main(self, ptsname(master), fds[1]));
	close(fds[1]);
	CHECK_INT(read(fds[0], &r, sizeof(r)), sizeof(r));
	CHECK_INT(status_of(pid), 0);
	CHECK(r.leads_session);
	CHECK(!r.same_session);
	CHECK(r.typed != 0);
	close(fds[0]);
	close(master);
}

int
main(int argc, char **argv)
{
	char self[4096];
	ssize_t n;

	if (argc == 3 && strcmp(argv[1], "program") == 0)
		return program_main(argv[2]);
	log_init("test_spawn", LOG_LEVEL_WARN);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	CHECK(n > 0);
	self[n > 0 ? n : 0] = '\0';
	test_terminal(self);
	return check_done();
}
