/* SPDX-License-Identifier: MIT */
/* The tool's connection to a daemon that does not answer. */
#include "config.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "ctl/ctl.h"
#include "tests/unit/check.h"

static unsigned waited; /* ms */

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);

/* Nothing comes in this time. */
int
__wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	(void)fds;
	(void)n;
	waited += (unsigned)ms;
	return 0;
}

/* The kernel accepts the connection to a process that is stopped. */
static void
test_stopped(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct ctl_request req = { .verb = CTL_STATUS };
	struct ctl_reply reply;
	char reason[256] = "";
	long long began = clock_ms();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "/tmp/test_client.%d",
	    (int)getpid());
	CHECK_INT(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	CHECK_INT(listen(fd, 1), 0);
	CHECK_INT(request_send(to.sun_path, &req, &reply, reason,
		      sizeof(reason)),
	    -1);
	CHECK_STR(reason, "no reply: the daemon does not answer");
	CHECK_INT(waited, 1000 * (ctl_seconds(CTL_STATUS) + 15));
	/* The limit of recv(2) is not waited for after that of poll(2). */
	CHECK(clock_ms() - began < 10000);
	reply_clear(&reply);
	close(fd);
	unlink(to.sun_path);
}

int
main(void)
{
	test_stopped();
	return check_done();
}
