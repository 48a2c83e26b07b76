/* SPDX-License-Identifier: MIT */
/*
 * A socket that a compromised process passes to its neighbour, so that the
 * neighbour waits when it closes the socket.
 */
#ifndef TESTS_UNIT_LINGERING_SOCKET_H
#define TESTS_UNIT_LINGERING_SOCKET_H

#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/check.h"

#define LINGER_S 60    /* of the hostile sockets */
#define MOST_MS	 30000 /* a close that does not wait */

/* A connection whose close waits for a peer that does not read. */
static inline int
lingering_socket(void)
{
	/* valgrind blocks signals during close(2): nothing would end the wait. */
	const struct linger linger = { 1, check_on_valgrind() ? 0 : LINGER_S };
	static const char bytes[65536];
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t len = sizeof(sa);
	int listening = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listening, (struct sockaddr *)&sa, len) == -1 ||
	    listen(listening, 1) == -1 ||
	    getsockname(listening, (struct sockaddr *)&sa, &len) == -1 ||
	    connect(fd, (struct sockaddr *)&sa, len) == -1)
		_exit(1);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		continue;
	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) ==
	    -1)
		_exit(1);
	return fd;
}

/* One byte with the only descriptor of such a connection, or with fd. */
static inline void
lingering_send(int to, int fd, int flags)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *cm;

	if (fd == -1)
		fd = lingering_socket();
	memset(&control, 0, sizeof(control));
	if ((cm = CMSG_FIRSTHDR(&m)) == NULL)
		_exit(1);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &fd, sizeof(fd));
	/* Linux 5.15 and later have out-of-band bytes. */
	if (sendmsg(to, &m, MSG_NOSIGNAL | flags) == -1 &&
	    (flags == 0 || sendmsg(to, &m, MSG_NOSIGNAL) == -1))
		_exit(2);
	close(fd);
}

static inline void
lingering_pass(int to, int fd)
{
	lingering_send(to, fd, 0);
}

#endif
