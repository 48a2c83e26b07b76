/* SPDX-License-Identifier: MIT */
/*
 * The munge credential of a message on TCP.  Another program asks munged, see
 * munge.c; its time is limited, and the kernel kills it when the hook client
 * ends.  The credential is never an argument of a program, because each user
 * can read arguments in /proc.
 */
#include "config.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "common/model/hook_credential.h"
#include "hook/hook.h"

static void __attribute__((noreturn))
helper_run(const char *program, const char *socket, pid_t parent, int out)
{
	const char *const argv[] = { program, socket, NULL };
	char *args[3];

	/* execv() has no const, but does not write. */
	memcpy(args, argv, sizeof(args));
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1 ||
	    getppid() != parent || dup2(out, STDOUT_FILENO) == -1)
		_exit(1);
	execv(program, args);
	_exit(127);
}

/* The bytes up to the end; 0 after size bytes or HOOK_MUNGE_MS without one. */
static size_t
helper_read(int fd, char *buf, size_t size)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	long end = hook_clock_ms() + HOOK_MUNGE_MS, left;
	size_t len = 0;
	ssize_t n;

	while (len < size && (left = end - hook_clock_ms()) > 0) {
		n = poll(&pfd, 1, (int)left);
		if (n > 0)
			n = read(fd, buf + len, size - len);
		else if (n == 0)
			break;
		if (n == 0)
			return len;
		if (n > 0)
			len += (size_t)n;
		else if (errno != EINTR)
			break;
	}
	return 0;
}

size_t
credential_add(char *message, size_t size, size_t len, const char *program,
    const char *socket)
{
	static const char name[] = ",\"" HOOK_CREDENTIAL_KEY "\":\"";
	char text[HOOK_CREDENTIAL_MAX] = "";
	pid_t pid, parent = getpid();
	size_t n;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) == -1)
		return len;
	if ((pid = fork()) == 0)
		helper_run(program, socket, parent, fds[1]);
	close(fds[1]);
	if (pid != -1) {
		n = helper_read(fds[0], text, sizeof(text) - 1);
		text[n] = '\0';
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(fds[0]);
	n = strlen(text);
	if (hook_credential_check(text) == -1 ||
	    len + sizeof(name) + n + 1 > size)
		return len;
	/* The last brace makes room for the member. */
	len--;
	memcpy(message + len, name, sizeof(name) - 1);
	len += sizeof(name) - 1;
	memcpy(message + len, text, n);
	len += n;
	memcpy(message + len, "\"}", 2);
	return len + 2;
}
