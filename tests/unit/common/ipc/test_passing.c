/* SPDX-License-Identifier: MIT */
/*
 * A peer passes descriptors that nobody expects: sockets with SO_LINGER and full
 * buffers, also in other sockets.  Neither a read nor a close waits for them.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/ipc/passing.h"
#include "tests/unit/check.h"
#include "tests/unit/lingering_socket.h"

/* Older C libraries do not have it. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

#define MUCH ((size_t)6 * 1024 * 1024) /* bytes before a descriptor */

static int near, far; /* a pair of sockets; the peer has far */

static void
pair_open(void)
{
	int fds[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	near = fds[0];
	far = fds[1];
}

/* Closes fd while the peer keeps its end. */
static void
close_check(int fd)
{
	long long begin = clock_ms();

	passing_close(fd);
	CHECK(clock_ms() - begin < MOST_MS);
}

static void
test_read(void)
{
	char buf[16] = "";
	long long begin;

	pair_open();
	CHECK_INT(passing_read(near, buf, sizeof(buf)), -1);
	CHECK_INT(errno, EAGAIN);
	CHECK_INT(send(far, "hello", 5, 0), 5);
	CHECK_INT(passing_read(near, buf, 3), 3);
	CHECK_INT(passing_read(near, buf + 3, sizeof(buf) - 3), 2);
	CHECK_STR(buf, "hello");

	begin = clock_ms();
	lingering_pass(far, -1);
	CHECK_INT(passing_read(near, buf, sizeof(buf)), -1);
	CHECK_INT(errno, EPROTO);
	CHECK_INT(passing_read(near, buf, sizeof(buf)), -1);
	CHECK_INT(errno, EPROTO);
	passing_close(near);
	CHECK(clock_ms() - begin < MOST_MS);
	close(far);

	pair_open();
	close(far);
	CHECK_INT(passing_read(near, buf, sizeof(buf)), 0);
	close(near);
}

/* With an out-of-band byte, alone and before another byte. */
static void
test_out_of_band(int followed)
{
	char buf[16];
	long long begin;

	pair_open();
	passing_inline(near);
	begin = clock_ms();
	lingering_send(far, -1, MSG_OOB);
	if (followed)
		CHECK_INT(send(far, "b", 1, 0), 1);
	CHECK_INT(passing_read(near, buf, sizeof(buf)), -1);
	CHECK_INT(errno, EPROTO);
	CHECK(clock_ms() - begin < MOST_MS);
	close_check(near);
	close(far);
}

static void
test_queue(void)
{
	int i;

	pair_open();
	for (i = 0; i < 3; i++)
		lingering_pass(far, -1);
	close_check(near);
	close(far);
}

/* The sockets are in the queue of a socket that is in the queue. */
static void
test_nested(void)
{
	int outer_near, outer_far;

	pair_open();
	lingering_pass(far, -1);
	close(far);
	outer_near = near;
	pair_open();
	lingering_pass(far, outer_near);
	outer_near = near;
	outer_far = far;
	pair_open();
	lingering_pass(far, outer_near);
	close_check(near);
	close(far);
	close(outer_far);
}

/* In a connection that nobody has accepted. */
static void
test_listening(int nested)
{
	struct sockaddr_un where = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int client = socket(AF_UNIX, SOCK_STREAM, 0);
	socklen_t len = sizeof(where);

	/* The kernel chooses an abstract name. */
	CHECK_INT(bind(fd, (struct sockaddr *)&where, sizeof(sa_family_t)), 0);
	CHECK_INT(getsockname(fd, (struct sockaddr *)&where, &len), 0);
	CHECK_INT(listen(fd, 1), 0);
	CHECK_INT(connect(client, (struct sockaddr *)&where, len), 0);
	lingering_pass(client, -1);
	if (nested) {
		pair_open();
		lingering_pass(far, fd);
		close_check(near);
		close(far);
	} else
		close_check(fd);
	close(client);
}

/* Behind more bytes than a process reads before it closes. */
static void
test_much(void)
{
	int size = (int)MUCH * 2;
	char *bytes = calloc(1, MUCH);

	pair_open();
	CHECK(bytes != NULL);
	if (setsockopt(far, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) ==
		-1 ||
	    send(far, bytes, MUCH, 0) != (ssize_t)MUCH)
		printf("skipped without root: many bytes in a socket\n");
	else {
		lingering_pass(far, -1);
		close_check(near);
		near = -1;
	}
	free(bytes);
	if (near != -1)
		close(near);
	close(far);
}

/* The daemon can have been started with a blocked SIGALRM. */
static void
test_blocked_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	test_queue();
}

/* Connections inherit it from the listening socket. */
static void
test_refuse(void)
{
	struct sockaddr_un where = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int client = socket(AF_UNIX, SOCK_STREAM, 0);
	socklen_t len = sizeof(where), size = sizeof(int);
	int value, status = -1;
	pid_t pid;

	if (getsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &value, &size) == -1)
		printf("skipped: no SO_PASSRIGHTS in this kernel\n");
	else {
		passing_refuse(fd);
		CHECK_INT(bind(fd, (struct sockaddr *)&where,
			      sizeof(sa_family_t)),
		    0);
		CHECK_INT(getsockname(fd, (struct sockaddr *)&where, &len), 0);
		CHECK_INT(listen(fd, 1), 0);
		CHECK_INT(connect(client, (struct sockaddr *)&where, len), 0);
		fflush(NULL);
		if ((pid = fork()) == 0) {
			lingering_pass(client, -1);
			_exit(0);
		}
		CHECK_INT(waitpid(pid, &status, 0), pid);
		CHECK_INT(WEXITSTATUS(status), 2);
	}
	close(client);
	close(fd);
}

int
main(void)
{
	test_read();
	test_out_of_band(0);
	test_out_of_band(1);
	test_queue();
	test_nested();
	test_listening(0);
	test_listening(1);
	test_much();
	test_blocked_signal();
	test_refuse();
	return check_done();
}
