/* SPDX-License-Identifier: MIT */
/* Delivery to a daemon that answers, is absent, or does not accept. */
#include "config.h"

#include <arpa/inet.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "hook/hook.h"
#include "tests/unit/check.h"
#include "tests/unit/hook/hook_clock.h"

static char message[MESSAGE_MAX];

static int
send_now(const struct address_list *list, const char *text, size_t len)
{
	return message_send(list, text, len, hook_clock_ms() + HOOK_TRY_MS);
}

static void
test_deliver(void)
{
	char folder[] = "/tmp/test_deliver.XXXXXX", path[64], buf[16];
	struct address_list a;
	int fd, i, in;

	if (mkdtemp(folder) == NULL)
		return;
	snprintf(path, sizeof(path), "%s/sock", folder);
	CHECK_STR(address_parse(path, &a), NULL);
	CHECK_INT(send_now(&a, "x", 1), -1);
	CHECK_INT(errno, ENOENT);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK_INT(bind(fd, &a.at[0].to.sa, a.at[0].len), 0);
	CHECK_INT(send_now(&a, "x", 1), -1);
	CHECK_INT(errno, ECONNREFUSED);
	/* Nobody accepts: the kernel keeps the message. */
	CHECK_INT(listen(fd, 0), 0);
	CHECK_INT(send_now(&a, "hello", 5), 0);
	/* The queue is full: it fails within the time limit. */
	for (i = 0; i < 3; i++) {
		waited_ms = 0;
		if (send_now(&a, message, sizeof(message)) == -1)
			break;
	}
	CHECK(i < 3);
	CHECK_INT(errno, EAGAIN);
	CHECK(waited_ms <= HOOK_TRY_MS);
	in = accept(fd, NULL, NULL);
	CHECK_INT(read(in, buf, sizeof(buf)), 5);
	CHECK(memcmp(buf, "hello", 5) == 0);
	CHECK_INT(read(in, buf, sizeof(buf)), 0);
	close(in);
	close(fd);
	unlink(path);
	rmdir(folder);
}

/* A listening TCP socket of the family, on the loopback address. */
static int
tcp_listener(int family, struct address *a)
{
	socklen_t len = sizeof(a->to);
	int fd = socket(family, SOCK_STREAM, 0);

	memset(a, 0, sizeof(*a));
	a->to.sa.sa_family = (sa_family_t)family;
	a->len = family == AF_INET ? sizeof(a->to.in) : sizeof(a->to.in6);
	if (family == AF_INET)
		a->to.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		a->to.in6.sin6_addr = in6addr_loopback;
	CHECK(fd != -1 && bind(fd, &a->to.sa, a->len) == 0 &&
	    listen(fd, 8) == 0 && getsockname(fd, &a->to.sa, &len) == 0);
	return fd;
}

static void
check_arrived(int fd)
{
	char buf[16];
	int in = accept(fd, NULL, NULL);

	CHECK(in != -1 && read(in, buf, sizeof(buf)) == 5);
	CHECK(memcmp(buf, "hello", 5) == 0);
	close(in);
}

/* A daemon that listens on one of the host's addresses is reached. */
static void
test_next_address(void)
{
	struct address_list list = { .n = 2 };
	int fd, deaf;

	deaf = tcp_listener(AF_INET, &list.at[0]);
	close(deaf);
	fd = tcp_listener(AF_INET6, &list.at[1]);
	CHECK_INT(send_now(&list, "hello", 5), 0);
	check_arrived(fd);
	/* An address that never answers takes a part of the time only. */
	CHECK_INT(inet_pton(AF_INET, "203.0.113.1", &list.at[0].to.in.sin_addr),
	    1);
	waited_ms = 0;
	CHECK_INT(send_now(&list, "hello", 5), 0);
	CHECK(waited_ms <= HOOK_TRY_MS / 2);
	check_arrived(fd);
	/* After a wait for munged less time is left. */
	waited_ms = HOOK_MUNGE_MS;
	CHECK_INT(message_send(&list, "hello", 5, HOOK_TRY_MS), 0);
	CHECK(waited_ms <= HOOK_MUNGE_MS + (HOOK_TRY_MS - HOOK_MUNGE_MS) / 2);
	check_arrived(fd);
	close(fd);
	errno = 0;
	CHECK_INT(send_now(&list, "hello", 5), -1);
	CHECK_INT(errno, ECONNREFUSED);
}

int
main(void)
{
	test_deliver();
	test_next_address();
	return check_done();
}
