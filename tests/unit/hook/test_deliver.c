/* SPDX-License-Identifier: MIT */
/* Delivery to a daemon that answers, is absent, or does not accept. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "hook/hook.h"
#include "tests/unit/check.h"

static char message[MESSAGE_MAX];

static long
elapsed_ms(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - since->tv_sec) * 1000 +
	    (now.tv_nsec - since->tv_nsec) / 1000000;
}

static void
test_deliver(void)
{
	char folder[] = "/tmp/test_deliver.XXXXXX", path[64], buf[16];
	struct timespec since;
	struct address a;
	int fd, i, in;

	if (mkdtemp(folder) == NULL)
		return;
	snprintf(path, sizeof(path), "%s/sock", folder);
	CHECK_STR(address_parse(path, &a), NULL);
	CHECK_INT(message_send(&a, "x", 1), -1);
	CHECK_INT(errno, ENOENT);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK_INT(bind(fd, &a.to.sa, a.len), 0);
	CHECK_INT(message_send(&a, "x", 1), -1);
	CHECK_INT(errno, ECONNREFUSED);
	/* Nobody accepts: the kernel keeps the message. */
	CHECK_INT(listen(fd, 0), 0);
	CHECK_INT(message_send(&a, "hello", 5), 0);
	/* The queue is full: it fails within the time limit. */
	for (i = 0; i < 3; i++) {
		clock_gettime(CLOCK_MONOTONIC, &since);
		if (message_send(&a, message, sizeof(message)) == -1)
			break;
	}
	CHECK(i < 3);
	CHECK_INT(errno, EAGAIN);
	CHECK(elapsed_ms(&since) <= HOOK_TRY_MS + 50);
	in = accept(fd, NULL, NULL);
	CHECK_INT(read(in, buf, sizeof(buf)), 5);
	CHECK(memcmp(buf, "hello", 5) == 0);
	CHECK_INT(read(in, buf, sizeof(buf)), 0);
	close(in);
	close(fd);
	unlink(path);
	rmdir(folder);
}

int
main(void)
{
	test_deliver();
	return check_done();
}
