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
#include <unistd.h>

#define LINGER_S 60    /* of the hostile sockets */
#define MOST_MS	 30000 /* a close that does not wait */

/* A connection whose close waits for a peer that does not read. */
static inline int
lingering_socket(void)
{
	static const struct linger linger = { 1, LINGER_S };
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

#endif
