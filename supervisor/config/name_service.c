/* SPDX-License-Identifier: MIT */
/*
 * The name services (files, sssd, LDAP) need sockets, which the filter of the
 * parser denies.  So a child of the parser asks them: it is forked before the
 * parser reads the file, gets names only, and gives up its rights.  It ends with
 * the parser.
 */
#include "config.h"

#include <sys/prctl.h>
#include <sys/socket.h>

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "supervisor/config/config_file.h"

#define NOBODY 65534 /* the kernel's overflow uid and gid */

struct answer {
	int found;
	unsigned uid;
};

static int service = -1; /* the socket to the child; -1 = ask here */

static int
user_find(const char *name, unsigned *uid)
{
	const struct passwd *pw = getpwnam(name);

	if (pw == NULL)
		return -1;
	*uid = (unsigned)pw->pw_uid;
	return 0;
}

/* Only root has rights to give up. */
static void
rights_drop(void)
{
	gid_t group = NOBODY;

	if (geteuid() != 0)
		return;
	if (setgroups(1, &group) == -1 ||
	    setresgid(NOBODY, NOBODY, NOBODY) == -1 ||
	    setresuid(NOBODY, NOBODY, NOBODY) == -1)
		log_debug("the names of users are asked for as root");
}

static void
names_answer(int fd)
{
	char name[NAME_SERVICE_MAX + 1];
	struct answer a;
	ssize_t n;

	while ((n = recv(fd, name, sizeof(name) - 1, 0)) > 0) {
		name[n] = '\0';
		memset(&a, 0, sizeof(a));
		a.found = user_find(name, &a.uid) == 0;
		if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			break;
	}
}

/* channel: the supervisor sees the end of the parser when it is closed. */
static void
child_run(int fd, int channel, pid_t parser)
{
	close(channel);
	/* The supervisor kills a parser whose name service does not answer. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		_exit(1);
	rights_drop();
	/* A change of the uid clears the signal. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parser ||
	    name_filter_enter() == -1)
		_exit(1);
	names_answer(fd);
	_exit(0);
}

int
name_service_start(int channel)
{
	pid_t pid, parser = getpid();
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == -1)
		return -1;
	if ((pid = fork()) == -1) {
		close(fds[0]);
		close(fds[1]);
		return -1;
	}
	if (pid == 0) {
		close(fds[0]);
		child_run(fds[1], channel, parser);
	}
	close(fds[1]);
	service = fds[0];
	return 0;
}

int
name_service_find(const char *name, unsigned *uid)
{
	size_t n = strlen(name);
	struct answer a;
	ssize_t got;

	if (service == -1)
		return user_find(name, uid);
	if (n == 0 || n > NAME_SERVICE_MAX ||
	    send(service, name, n, MSG_NOSIGNAL) != (ssize_t)n)
		return -1;
	do
		got = recv(service, &a, sizeof(a), 0);
	while (got == -1 && errno == EINTR);
	if (got != sizeof(a) || !a.found)
		return -1;
	*uid = a.uid;
	return 0;
}
