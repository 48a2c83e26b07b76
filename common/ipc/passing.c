/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that a peer passes and that nobody expects; see passing.h.
 *
 * The last close of a socket with SO_LINGER waits until the buffer of the socket is
 * empty, as long as its sender wants.  The wait is in the process that closes last:
 * the close of a UNIX socket closes what is queued in it, in the sockets of this
 * queue and in connections that nobody has accepted, and recv(2) without a control
 * buffer closes what the message has.
 *
 * To receive each descriptor and clear its SO_LINGER is not enough: the close of a
 * received file can wait for its file system, which no signal ends.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/ipc/passing.h"

#define LINGER_US 1000 /* then a signal ends the wait */

/* Older C libraries do not have it. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

void
passing_refuse(int fd)
{
	const int no = 0;

	setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof(no));
}

void
passing_inline(int fd)
{
	const int yes = 1;

	setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &yes, sizeof(yes));
}

/*
 * MSG_PEEK leaves the descriptors in the queue.  Without a control buffer,
 * MSG_CTRUNC tells that there are some.
 */
ssize_t
passing_read(int fd, void *buf, size_t len)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = recvmsg(fd, &m, MSG_PEEK);

	if (n > 0 && (m.msg_flags & MSG_CTRUNC)) {
		errno = EPROTO;
		return -1;
	}
	return n > 0 ? read(fd, buf, (size_t)n) : n;
}

static void
on_alarm(int sig)
{
	(void)sig;
}

/*
 * A wait for SO_LINGER ends at a signal.  The handler stays: another thread may get
 * the last signal after this call.
 */
void
passing_close(int fd)
{
	const struct sigaction sa = { .sa_handler = on_alarm };
	static const struct itimerval off;
	const struct itimerval on = { { 0, LINGER_US }, { 0, LINGER_US } };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaction(SIGALRM, &sa, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	setitimer(ITIMER_REAL, &on, NULL);
	close(fd);
	setitimer(ITIMER_REAL, &off, NULL);
}
