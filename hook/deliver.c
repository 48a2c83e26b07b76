/* SPDX-License-Identifier: MIT */
/*
 * The connection to the daemon.  One deadline holds for all steps together.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "hook/hook.h"

#define AGAIN_MS 20 /* between two attempts at a full backlog */

long
hook_clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Waits until fd is writable.  0, or -1 with errno when end has passed. */
static int
wait_writable(int fd, long end)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	long left;
	int n;

	do {
		left = end - hook_clock_ms();
		n = poll(&pfd, 1, left > 0 ? (int)left : 0);
	} while (n == -1 && errno == EINTR && left > 0);
	if (n == 0)
		errno = ETIMEDOUT;
	return n > 0 ? 0 : -1;
}

static int
connect_result(int fd)
{
	socklen_t len = sizeof(int);
	int error;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == -1)
		return -1;
	errno = error;
	return error == 0 ? 0 : -1;
}

/*
 * connect(2) to a UNIX socket whose backlog is full fails with EAGAIN, and
 * poll(2) does not tell when there is room: try again after AGAIN_MS.
 */
static int
connect_until(int fd, const struct address *address, long end)
{
	while (connect(fd, &address->to.sa, address->len) == -1) {
		if (errno == EINPROGRESS || errno == EALREADY) {
			if (wait_writable(fd, end) == -1)
				return -1;
			return connect_result(fd);
		}
		if (errno == EISCONN)
			break;
		if (errno != EAGAIN && errno != EINTR)
			return -1;
		if (hook_clock_ms() + AGAIN_MS >= end) {
			errno = EAGAIN;
			return -1;
		}
		poll(NULL, 0, AGAIN_MS);
	}
	return 0;
}

static int
send_until(int fd, const char *p, size_t left, long end)
{
	ssize_t n;

	while (left > 0) {
		n = send(fd, p, left, MSG_NOSIGNAL);
		if (n >= 0) {
			p += n;
			left -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (wait_writable(fd, end) == -1)
				return -1;
		} else if (errno != EINTR)
			return -1;
	}
	return 0;
}

static int
send_to(const struct address *address, const char *message, size_t len,
    long end)
{
	int fd, rc, saved;

	fd = socket(address->to.sa.sa_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return -1;
	rc = connect_until(fd, address, end);
	if (rc == 0)
		rc = send_until(fd, message, len, end);
	saved = errno;
	close(fd);
	errno = saved;
	return rc;
}

/* An address that does not answer leaves time for the addresses after it. */
int
message_send(const struct address_list *list, const char *message, size_t len,
    long end)
{
	long now = hook_clock_ms();
	unsigned i;

	for (i = 0; i < list->n; i++) {
		if (send_to(&list->at[i], message, len,
			now + (end - now) / (long)(list->n - i)) == 0)
			return 0;
		now = hook_clock_ms();
	}
	return -1;
}
