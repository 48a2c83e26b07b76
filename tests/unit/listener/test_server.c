/* SPDX-License-Identifier: MIT */
/* The hook socket server, with real clients and sockets. */
#include "config.h"

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <netinet/in.h>

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/log.h"
#include "listener/listener.h"
#include "tests/unit/check.h"
#include "tests/unit/lingering_socket.h"
#include "tests/unit/loop.h"

#define MESSAGE "{\"SLURM_JOB_ID\":\"17\",\"SLURM_CLUSTER_NAME\":\"alpha\"}"

static struct event_base *base;
static char folder[] = "/tmp/test_server.XXXXXX";
static struct sockaddr_un where = { .sun_family = AF_UNIX };

static int messages;
static struct hook_message last_message;

static void
on_message(const struct hook_message *msg, void *arg)
{
	messages++;
	last_message = *msg;
}

static int
socket_open(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(where.sun_path);
	CHECK_INT(bind(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	CHECK_INT(listen(fd, 128), 0);
	return fd;
}

static int
client_open(const void *bytes, size_t n)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&where, sizeof(where)) == -1)
		return -1;
	if (n > 0 && send(fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
		CHECK_STR("send", "");
	return fd;
}

/* 1 when the server has read all bytes of the client. */
static int
client_is_read(int fd)
{
	int unread = -1;

	return ioctl(fd, SIOCOUTQ, &unread) == 0 && unread == 0;
}

/* 1 when the server has closed the connection. */
static int
client_is_closed(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLHUP) != 0;
}

static struct server_counts
counts_of(struct hook_server *server)
{
	struct server_counts count;

	server_counts(server, &count);
	return count;
}

static void
test_clients(struct hook_server *server)
{
	static char big[HOOK_MESSAGE_MAX + 1];
	int fd, again;

	close(client_open(MESSAGE, strlen(MESSAGE)));
	LOOP_UNTIL(base, messages == 1);
	CHECK_INT(last_message.job, 17);
	/* A message in two pieces; a half-close ends the stream. */
	fd = client_open(MESSAGE, 10);
	LOOP_UNTIL(base, client_is_read(fd));
	CHECK_INT(messages, 1);
	CHECK(send(fd, &MESSAGE[10], strlen(MESSAGE) - 10, 0) > 0);
	shutdown(fd, SHUT_WR);
	LOOP_UNTIL(base, messages == 2);
	close(fd);
	/* An invalid message, no message, a message that is too long. */
	close(client_open("garbage", 7));
	close(client_open("", 0));
	memset(big, ' ', sizeof(big));
	again = client_open(big, 1000);
	fd = fcntl(again, F_DUPFD_CLOEXEC, 0);
	close(again);
	LOOP_UNTIL(base, client_is_read(fd));
	CHECK(send(fd, big, sizeof(big) - 1000, MSG_NOSIGNAL) > 0);
	LOOP_UNTIL(base, counts_of(server).invalid == 3);
	close(fd);
	CHECK_INT(messages, 2);
	CHECK_INT(counts_of(server).open, 0);
}

static void
test_too_many(struct hook_server *server)
{
	int fds[CLIENTS_MAX + 10];
	unsigned i;

	for (i = 0; i < CLIENTS_MAX + 10; i++) {
		fds[i] = client_open("{", 1);
		LOOP_UNTIL(base, counts_of(server).accepted == i + 1);
	}
	CHECK_INT(counts_of(server).open, CLIENTS_MAX);
	CHECK_INT(counts_of(server).refused, 10);
	/* The silent clients were closed; the newest ones are read. */
	CHECK(send(fds[CLIENTS_MAX + 9], &MESSAGE[1], strlen(MESSAGE) - 1,
		  MSG_NOSIGNAL) > 0);
	for (i = 0; i < CLIENTS_MAX + 10; i++)
		close(fds[i]);
	LOOP_UNTIL(base, counts_of(server).open == 0);
	CHECK_INT(messages, 3);
}

/* A message that does not end is read after CLIENT_MS. */
static void
test_slow(struct hook_server *server)
{
	int fd = client_open(MESSAGE, strlen(MESSAGE)),
	    half = client_open("{", 1);
	uint64_t before = counts_of(server).invalid;

	LOOP_UNTIL(base, client_is_closed(fd) && client_is_closed(half));
	CHECK_INT(messages, 4);
	CHECK_INT(counts_of(server).invalid, before + 1);
	CHECK_INT(counts_of(server).open, 0);
	close(fd);
	close(half);
}

/* Without a free descriptor a connection is closed and the server pauses. */
static void
test_exhausted(struct hook_server *server)
{
	struct rlimit old, none;
	uint64_t before = counts_of(server).refused;
	int fd;

	fd = client_open(MESSAGE, strlen(MESSAGE));
	getrlimit(RLIMIT_NOFILE, &old);
	none = old;
	none.rlim_cur = (rlim_t)fcntl(0, F_DUPFD_CLOEXEC, 0);
	close((int)none.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &none);
	LOOP_UNTIL(base, client_is_closed(fd));
	setrlimit(RLIMIT_NOFILE, &old);
	CHECK_INT(messages, 4);
	/* valgrind closes the connection itself. */
	if (!check_on_valgrind())
		CHECK_INT(counts_of(server).refused, before + 1);
	close(fd);
	close(client_open(MESSAGE, strlen(MESSAGE)));
	LOOP_UNTIL(base, messages == 5);
}

#define CREDENTIAL "MUNGE:AwQ=:"
#define PROVED \
	"{\"SLURM_JOB_ID\":\"17\",\"SLURM_CLUSTER_NAME\":\"alpha\"," \
	"\"MUNGE_CREDENTIAL\":\"" CREDENTIAL "\"}"

/* A listening TCP socket of this host. */
static int
tcp_open(struct sockaddr_in *to)
{
	socklen_t len = sizeof(*to);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*to = (struct sockaddr_in) { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	CHECK_INT(bind(fd, (struct sockaddr *)to, sizeof(*to)), 0);
	CHECK_INT(listen(fd, 128), 0);
	CHECK_INT(getsockname(fd, (struct sockaddr *)to, &len), 0);
	return fd;
}

/* Sends text and runs the loop until the server has closed the connection. */
static void
tcp_send(const struct sockaddr_in *to, const char *text)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	CHECK_INT(connect(fd, (const struct sockaddr *)to, sizeof(*to)), 0);
	CHECK_INT(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	shutdown(fd, SHUT_WR);
	LOOP_UNTIL(base, recv(fd, &byte, 1, MSG_DONTWAIT) != -1);
	close(fd);
}

/* prepAuth "munge": only TCP needs a credential, and only there is it kept. */
static void
test_credentials(void)
{
	struct hook_server *server = server_new(base, on_message, NULL);
	uid_t uid = getuid();
	struct access_list access = { .uids = &uid, .n_uids = 1, .munge = 1 };
	struct sockaddr_in to;

	messages = 0;
	server_add_socket(server, tcp_open(&to));
	server_add_socket(server, socket_open());
	server_set_access(server, &access);
	server_start(server);
	tcp_send(&to, MESSAGE);
	CHECK_INT(messages, 0);
	CHECK_INT(counts_of(server).refused, 1);
	CHECK_INT(counts_of(server).no_credential, 1);
	CHECK_INT(counts_of(server).invalid, 0);
	tcp_send(&to, PROVED);
	CHECK_INT(messages, 1);
	CHECK_STR(last_message.credential, CREDENTIAL);
	close(client_open(PROVED, strlen(PROVED)));
	LOOP_UNTIL(base, messages == 2);
	close(client_open(MESSAGE, strlen(MESSAGE)));
	LOOP_UNTIL(base, messages == 3);
	CHECK_STR(last_message.credential, "");
	access.munge = 0;
	server_set_access(server, &access);
	tcp_send(&to, MESSAGE);
	CHECK_INT(messages, 4);
	tcp_send(&to, PROVED);
	CHECK_INT(messages, 5);
	CHECK_STR(last_message.credential, "");
	CHECK_INT(counts_of(server).refused, 1);
	server_free(server);
}

static void
test_server(void)
{
	struct hook_server *server = server_new(base, on_message, NULL);
	struct access_list nobody, me;
	char reason[128], uids[32];

	memset(&nobody, 0, sizeof(nobody));
	server_add_socket(server, socket_open());
	server_set_access(server, &nobody);
	server_start(server);
	close(client_open(MESSAGE, strlen(MESSAGE)));
	LOOP_UNTIL(base, counts_of(server).refused == 1);
	CHECK_INT(messages, 0);
	snprintf(uids, sizeof(uids), "[\"%u\"]", (unsigned)getuid());
	CHECK_INT(access_init(&me, uids, "[]", reason, sizeof(reason)), 0);
	server_set_access(server, &me);
	test_clients(server);
	server_free(server);
	/* The counters begin at 0 again. */
	server = server_new(base, on_message, NULL);
	server_add_socket(server, socket_open());
	server_set_access(server, &me);
	server_start(server);
	test_too_many(server);
	test_slow(server);
	test_exhausted(server);
	server_stop(server);
	CHECK_INT(client_open("", 0), -1);
	server_free(server);
	access_clear(&me);
}

/*
 * A client passes a socket with SO_LINGER and a full buffer: the server waits
 * neither when it reads, nor when it refuses the client.
 */
static void
test_passed_socket(int allowed, int flags)
{
	struct hook_server *server = server_new(base, on_message, NULL);
	uid_t uid = getuid();
	struct access_list access = { .uids = &uid, .n_uids = (size_t)allowed };
	long long begin;
	int fd;

	server_add_socket(server, socket_open());
	server_set_access(server, &access);
	fd = client_open("", 0);
	lingering_send(fd, -1, flags);
	begin = clock_ms();
	server_start(server);
	LOOP_UNTIL(base, client_is_closed(fd));
	CHECK(!allowed || clock_ms() - begin < CLIENT_MS);
	server_free(server);
	CHECK(clock_ms() - begin < MOST_MS);
	close(fd);
}

/* Of the parent, in a child; kept for the leak check. */
static struct event_base *volatile parents_base;

/* In a child: serves fd until a client is accepted.  Returns its exit status. */
static int
serve_status(int fd)
{
	struct sockaddr_storage to;
	socklen_t len = sizeof(to);
	struct hook_server *server;
	int status = -1, client;
	pid_t pid;

	fflush(NULL);
	if ((pid = fork()) == 0) {
		parents_base = base;
		base = event_base_new();
		server = server_new(base, on_message, NULL);
		server_add_socket(server, fd);
		server_start(server);
		getsockname(fd, (struct sockaddr *)&to, &len);
		client = socket(to.ss_family, SOCK_STREAM, 0);
		(void)connect(client, (struct sockaddr *)&to, len);
		LOOP_UNTIL(base, counts_of(server).accepted == 1);
		_exit(counts_of(server).accepted == 1 ? 0 : 2);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * An earlier listener has shut down the socket that both share: accept() fails
 * at once, again and again.  The process ends, and does not spin.
 */
static void
test_shut_down(void)
{
	int fd = socket_open(), tcp = socket(AF_INET, SOCK_STREAM, 0);

	CHECK_INT(serve_status(fd), 0);
	CHECK_INT(shutdown(fd, SHUT_RDWR), 0);
	CHECK_INT(serve_status(fd), 1);
	CHECK_INT(listen(tcp, 1), 0);
	CHECK_INT(serve_status(tcp), 0);
	CHECK_INT(shutdown(tcp, SHUT_RDWR), 0);
	CHECK_INT(serve_status(tcp), 1);
	close(fd);
	close(tcp);
}

int
main(void)
{
	/* The warnings are not part of the result. */
	log_init("test_server", LOG_LEVEL_FATAL);
	base = event_base_new();
	if (base == NULL || mkdtemp(folder) == NULL)
		return 1;
	snprintf(where.sun_path, sizeof(where.sun_path), "%s/sock", folder);
	test_server();
	test_shut_down();
	test_credentials();
	test_passed_socket(0, 0);
	test_passed_socket(1, 0);
	test_passed_socket(1, MSG_OOB);
	unlink(where.sun_path);
	rmdir(folder);
	event_base_free(base);
	return check_done();
}
