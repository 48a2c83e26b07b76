/* SPDX-License-Identifier: MIT */
/* The tool's connection to a daemon that does not answer, or without end. */
#include "config.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "ctl/ctl.h"
#include "tests/unit/check.h"

static unsigned waited; /* ms */
static int answers;	/* the daemon sends */

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap___poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t size);

/* Nothing comes in this time. */
int
__wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	(void)fds;
	(void)n;
	waited += (unsigned)ms;
	return answers;
}

/* The same, as _FORTIFY_SOURCE calls it. */
int
__wrap___poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t size)
{
	(void)size;
	return __wrap_poll(fds, n, ms);
}

static int
socket_listen(struct sockaddr_un *to)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memset(to, 0, sizeof(*to));
	to->sun_family = AF_UNIX;
	snprintf(to->sun_path, sizeof(to->sun_path), "/tmp/test_client.%d",
	    (int)getpid());
	CHECK_INT(bind(fd, (struct sockaddr *)to, sizeof(*to)), 0);
	CHECK_INT(listen(fd, 1), 0);
	return fd;
}

/* The kernel accepts the connection to a process that is stopped. */
static void
test_stopped(void)
{
	struct sockaddr_un to;
	struct ctl_request req = { .verb = CTL_STATUS };
	struct ctl_reply reply;
	char reason[256] = "";
	long long began = clock_ms();
	int fd = socket_listen(&to);

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

/* One row of the largest length, as a worker sends it. */
static void
row_make(struct writer *w, char *text, size_t size)
{
	memset(text, 'x', size - 1);
	text[size - 1] = '\0';
	wr_init(w, CTL_REPLY_MAX);
	ctl_row(w, CTL_T_STATUS, "submitter", "key", text, NULL);
	CHECK_INT(wr_end(w), 0);
}

/* An answer of n rows. */
static void
rows_send(int listening, unsigned n)
{
	static char text[CTL_REPLY_MAX - 64];
	int fd = accept(listening, NULL, NULL);
	const uint8_t kind = CTL_KIND_ROW, last = CTL_KIND_END;
	struct writer w, end;
	uint32_t len;

	row_make(&w, text, sizeof(text));
	len = (uint32_t)w.len;
	/* When the tool has closed the connection, SIGPIPE ends this process. */
	for (; n > 0; n--)
		if (write(fd, &len, sizeof(len)) != sizeof(len) ||
		    write(fd, &kind, 1) != 1 ||
		    write(fd, w.buf, w.len) != (ssize_t)w.len)
			_exit(1);
	wr_init(&end, CTL_REPLY_MAX);
	wr_u8(&end, CTL_OK);
	wr_str(&end, "");
	len = (uint32_t)end.len;
	if (write(fd, &len, sizeof(len)) != sizeof(len) ||
	    write(fd, &last, 1) != 1 ||
	    write(fd, end.buf, end.len) != (ssize_t)end.len)
		_exit(1);
	close(fd);
	wr_clear(&end);
	wr_clear(&w);
}

/* A worker that sends rows as long as the daemon permits. */
static void
test_endless(void)
{
	struct sockaddr_un to;
	struct ctl_request req = { .verb = CTL_METRICS };
	struct ctl_reply reply;
	char reason[256] = "";
	int fd = socket_listen(&to), status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(120);
		rows_send(fd, UINT32_MAX);
	}
	answers = 1;
	CHECK_INT(request_send(to.sun_path, &req, &reply, reason,
		      sizeof(reason)),
	    -1);
	CHECK_STR(reason,
	    "the reply is too long: it has more than 1000000 rows, or its "
	    "rows need more than 256 MiB of memory");
	CHECK(reply.n > 4000 && reply.n < 4200);
	CHECK(reply.bytes <= REPLY_BYTES_MAX);
	reply_clear(&reply);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(!WIFSIGNALED(status) || WTERMSIG(status) == SIGPIPE);
	close(fd);
	unlink(to.sun_path);
	answers = 0;
}

/* Small texts need more memory than their bytes. */
static void
test_memory(void)
{
	struct ctl_reply reply = { .bytes = REPLY_BYTES_MAX - 1000 };
	struct writer w;
	int n = 0;

	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_STATUS, "", "", "", NULL);
	while (n < 10 && reply_add(&reply, w.buf, w.len) == 0)
		n++;
	CHECK_INT(n, 1000 / (sizeof(struct ctl_row) + 3 * 32));
	CHECK_INT(reply.is_full, 1);
	CHECK_INT(reply.n, n);
	CHECK_INT(reply_add(&reply, w.buf, 1), -1);
	wr_clear(&w);
	reply_clear(&reply);
}

/* Rows of several answers are kept at the same time. */
static void
test_explain(void)
{
	struct sockaddr_un to;
	struct ctl_args args = { .verb = "explain",
		.socket = to.sun_path,
		.parts = { "4711_1", "4711_2" },
		.n_parts = 2 };
	int fd = socket_listen(&to), status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(120);
		rows_send(fd, 2100);
		rows_send(fd, 2100);
		_exit(0);
	}
	answers = 1;
	CHECK_INT(explain_run(&args), EXIT_UNREACHABLE);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
	close(fd);
	unlink(to.sun_path);
	answers = 0;
}

int
main(void)
{
	test_stopped();
	test_memory();
	test_endless();
	test_explain();
	return check_done();
}
