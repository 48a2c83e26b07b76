/* SPDX-License-Identifier: MIT */
/*
 * Enters the sandbox of each role in a child process, as root if the test runs
 * as root, and as another user, and makes system calls that must fail or work.
 */
#include "config.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <netinet/in.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "common/text/time_text.h"
#include "common/worker/landlock.h"
#include "common/worker/sandbox.h"
#include "tests/unit/check.h"

#define NOBODY	  65534
#define PORT	  1    /* of the sandbox; nobody listens */
#define SIGNALLED 1000 /* outcome: ended by signal outcome - this */

static char folder[] = "/tmp/test_sandbox.XXXXXX";
static char spool[64], spool_db[80], secret[64], zone[64], own_file[80];
static char daemon_socket[64];

static int
try_open(const char *path, int flags)
{
	return open(path, flags, 0600) == -1 ? errno : 0;
}

/* Each returns the errno of its call, 0 for success. */
static int
open_passwd(void)
{
	return try_open("/etc/passwd", O_RDONLY);
}

static int
open_secret(void)
{
	return try_open(secret, O_RDONLY);
}

static int
open_spool(void)
{
	return try_open("spool.db", O_RDWR | O_CREAT);
}

static int
run_true(void)
{
	char path[] = "/bin/true", *argv[] = { path, NULL }, *envp[] = { NULL };

	execve(path, argv, envp);
	return errno;
}

static int
spawn_true(void)
{
	pid_t pid = fork();
	int status;

	if (pid == -1)
		return errno;
	if (pid == 0)
		_exit(run_true());
	if (waitpid(pid, &status, 0) == -1)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   SIGNALLED + WTERMSIG(status);
}

static int
make_socket(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0) == -1 ? errno : 0;
}

static int
inet_socket(void)
{
	return make_socket(AF_INET);
}

static int
odd_socket(void)
{
	return make_socket(AF_VSOCK);
}

static int
connect_to(uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1)
		return errno;
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) == -1 ? errno :
								       0;
}

static int
tcp_connect(void)
{
	return connect_to(PORT);
}

static int
tcp_connect_other(void)
{
	return connect_to(PORT + 1);
}

/* Nobody reads it: a datagram that may be sent has no answer. */
static int
udp_send(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(PORT + 1) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1)
		return errno;
	return sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) == 1 ?
	    0 :
	    errno;
}

/* A daemon of the machine. */
static int
unix_connect(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", daemon_socket);
	if (fd == -1)
		return errno;
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) == -1 ? errno :
								       0;
}

static int
become_root(void)
{
	return setuid(0) == -1 ? errno : 0;
}

static int
trace_init(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == -1 ? errno : 0;
}

static int
new_namespace(void)
{
	return syscall(SYS_unshare, 0x10000000) == -1 ? errno : 0;
}

static int
map_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? errno : 0;
}

static void *
thread_main(void *arg)
{
	return arg;
}

static int
start_thread(void)
{
	pthread_t t;
	int rc = pthread_create(&t, NULL, thread_main, NULL);

	return rc != 0 ? rc : pthread_join(t, NULL);
}

static int
signal_parent(void)
{
	return kill(getppid(), 0) == -1 ? errno : 0;
}

static int
write_memory(void)
{
	char *p = malloc(1 << 20);

	if (p == NULL)
		return ENOMEM;
	memset(p, 1, 1 << 20);
	free(p);
	return write(STDOUT_FILENO, "", 0) == -1 ? errno : 0;
}

static int
die_of_abort(void)
{
	abort();
}

/* The zone of log lines was loaded before its file became unreachable. */
static int
local_time(void)
{
	return strcmp(time_text(1), "1970-01-01T01:00:01+01:00") == 0 ? 0 : 1;
}

/* A file of tzfile(5), version 1, with an offset of one hour. */
static void
zone_make(void)
{
	static const char file[] = "TZif\0"
				   "123456789012345"
				   "\0\0\0\0"
				   "\0\0\0\0"
				   "\0\0\0\0"
				   "\0\0\0\0"
				   "\0\0\0\1"
				   "\0\0\0\4"
				   "\0\0\x0e\x10"
				   "\0"
				   "\0"
				   "ONE";
	char value[80];
	FILE *f = fopen(zone, "w");

	CHECK(f != NULL && fwrite(file, sizeof(file), 1, f) == 1 &&
	    fclose(f) == 0);
	snprintf(value, sizeof(value), ":%s", zone);
	setenv("TZ", value, 1);
}

struct probe {
	const char *name;
	int (*run)(void);
	/* listener, collector, runner, submitter, receiver; -1 = any but 0 */
	int want[5];
	int rooted;   /* 1: only as root */
	int landlock; /* version that denies it */
};

#define ANY    (-1) /* refused, by any layer */
#define KILLED (SIGNALLED + SIGSYS)

static const struct probe probes[] = {
	{ "write memory", write_memory, { 0, 0, 0, 0, 0 }, 0, 0 },
	{ "open /etc/passwd", open_passwd, { ANY, ANY, 0, ANY, ANY }, 0, 1 },
	/* The runner has no rules by path for reading: its commands have. */
	{ "open the secret", open_secret, { ANY, ANY, 0, ANY, ANY }, 0, 1 },
	{ "open the spool", open_spool, { ANY, ANY, ANY, 0, ANY }, 0, 0 },
	{ "execute", run_true, { KILLED, KILLED, 0, KILLED, KILLED }, 0, 0 },
	{ "start a command", spawn_true, { ANY, ANY, 0, ANY, ANY }, 0, 0 },
	{ "socket", inet_socket, { ENOSYS, ENOSYS, 0, 0, 0 }, 0, 0 },
	{ "odd socket", odd_socket,
	    { ENOSYS, ENOSYS, EAFNOSUPPORT, ENOSYS, ENOSYS }, 0, 0 },
	{ "connect", tcp_connect,
	    { ENOSYS, ENOSYS, ECONNREFUSED, ECONNREFUSED, ECONNREFUSED }, 0,
	    0 },
	{ "become root", become_root, { ENOSYS, ENOSYS, EPERM, ENOSYS, ENOSYS },
	    0, 0 },
	{ "ptrace", trace_init, { KILLED, KILLED, EPERM, KILLED, KILLED }, 0,
	    0 },
	{ "unshare", new_namespace, { KILLED, KILLED, EPERM, KILLED, KILLED },
	    0, 0 },
	{ "new code", map_code, { ENOSYS, ENOSYS, 0, ENOSYS, ENOSYS }, 0, 0 },
	{ "thread", start_thread, { ANY, ANY, 0, 0, 0 }, 0, 0 },
	{ "signal the parent", signal_parent,
	    { ENOSYS, ENOSYS, EPERM, ENOSYS, ENOSYS }, 0, 6 },
	{ "abort", die_of_abort,
	    { SIGNALLED + SIGABRT, SIGNALLED + SIGABRT, SIGNALLED + SIGABRT,
		SIGNALLED + SIGABRT, SIGNALLED + SIGABRT },
	    0, 0 },
	{ "local time", local_time, { 0, 0, 0, 0, 0 }, 0, 0 },
	{ "connect to another port", tcp_connect_other,
	    { ENOSYS, ENOSYS, ECONNREFUSED, EACCES, EACCES }, 0, 4 },
	{ "send a datagram", udp_send, { ENOSYS, ENOSYS, 0, 0, 0 }, 0, 0 },
	{ "connect to a UNIX socket", unix_connect,
	    { ENOSYS, ENOSYS, 0, ENOSYS, ENOSYS }, 0, 0 },
};

/* Made before the sandbox, as the channels and the listening socket are. */
static int ends[2], listening = -1, terminal = -1, page = -1;

static int
pass_descriptor(void)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = "" };
	struct iovec iov = { (char[]) { 'x' }, 1 };
	struct msghdr m = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *cm = CMSG_FIRSTHDR(&m);

	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &ends[0], sizeof(int));
	return sendmsg(ends[0], &m, MSG_NOSIGNAL) == -1 ? errno : 0;
}

static int
pass_by_mmsg(void)
{
	struct iovec iov = { (char[]) { 'x' }, 1 };
	struct mmsghdr m = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } };

	return sendmmsg(ends[0], &m, 1, MSG_NOSIGNAL) == -1 ? errno : 0;
}

static int
send_frame(void)
{
	return send(ends[0], "x", 1, MSG_NOSIGNAL) == -1 ? errno : 0;
}

static int
send_to(int flags)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(1) };

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sendto(listening, "x", 1, flags | MSG_NOSIGNAL,
		   (struct sockaddr *)&to, sizeof(to)) == -1 ?
	    errno :
	    0;
}

static int
send_to_address(void)
{
	return send_to(0);
}

static int
send_fast_open(void)
{
	return send_to(MSG_FASTOPEN);
}

static int
shut_down(void)
{
	return shutdown(terminal, SHUT_RDWR) == -1 ? errno : 0;
}

static int
make_pair(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == -1 ? errno : 0;
}

static int
set_option(int name)
{
	struct linger value = { 0, 0 }; /* or an int 0 */

	return setsockopt(listening, SOL_SOCKET, name, &value, sizeof(value)) ==
		-1 ?
	    errno :
	    0;
}

static int
set_linger(void)
{
	return set_option(SO_LINGER);
}

static int
detach_filter(void)
{
	return set_option(SO_DETACH_FILTER);
}

static int
socket_of(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

static int
make_tcp(void)
{
	return socket_of(AF_INET, SOCK_STREAM, IPPROTO_TCP);
}

static int
make_udp(void)
{
	return socket_of(AF_INET, SOCK_DGRAM, 0);
}

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262 /* glibc before 2.32 */
#endif

static int
make_mptcp(void)
{
	return socket_of(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);
}

static int
make_mptcp6(void)
{
	return socket_of(AF_INET6, SOCK_STREAM, IPPROTO_MPTCP);
}

static int
make_icmp(void)
{
	return socket_of(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
}

static int
set_lease(void)
{
	return fcntl(ends[0], F_SETLEASE, F_RDLCK) == -1 ? errno : 0;
}

static int
set_owner(void)
{
	return fcntl(ends[0], F_SETOWN, getppid()) == -1 ? errno : 0;
}

static int
set_signal(void)
{
	return fcntl(ends[0], F_SETSIG, SIGKILL) == -1 ? errno : 0;
}

static int
set_async(void)
{
	return fcntl(ends[0], F_SETFL, O_NONBLOCK | O_ASYNC) == -1 ? errno : 0;
}

static int
set_nonblocking(void)
{
	return fcntl(ends[0], F_SETFL, O_NONBLOCK) == -1 ? errno : 0;
}

static int
type_into_terminal(void)
{
	return ioctl(terminal, TIOCSTI, "x") == -1 ? errno : 0;
}

static int
much_memory(void)
{
	void *p = mmap(NULL, 2ul << 30, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int
map_with(int flags)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_ANONYMOUS | flags, -1, 0);

	return p == MAP_FAILED ? errno : 0;
}

/* RLIMIT_DATA does not count these two. */
static int
map_shared(void)
{
	return map_with(MAP_SHARED);
}

static int
map_stack(void)
{
	return map_with(MAP_PRIVATE | MAP_GROWSDOWN);
}

/* The page for crashes is shared, of a file. */
static int
map_file(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);

	return p == MAP_FAILED ? errno : 0;
}

/* Such a socket could be connected to the socket of another program. */
static int
make_datagram_pair(void)
{
	int fds[2];

	return socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) == -1 ?
	    errno :
	    0;
}

static int
change_mode(void)
{
	return chmod(own_file, 0600) == -1 ? errno : 0;
}

static int
change_scheduler(void)
{
	const struct sched_param none = { 0 };

	return sched_setscheduler(getppid(), SCHED_BATCH, &none) == -1 ? errno :
									 0;
}

/*
 * Landlock before version 3 does not deny these: the file is only read, or
 * opened for ioctl(2).
 */
static int
truncate_by_path(void)
{
	return truncate(own_file, 0) == -1 ? errno : 0;
}

static int
truncate_readable(void)
{
	return try_open(own_file, O_RDONLY | O_TRUNC);
}

static int
truncate_for_ioctl(void)
{
	return try_open(own_file, O_WRONLY | O_RDWR | O_TRUNC);
}

static int
truncate_by_creating(void)
{
	return try_open(own_file, O_RDONLY | O_CREAT | O_TRUNC);
}

static int
truncate_old_open(void)
{
#ifdef SYS_open
	return syscall(SYS_open, own_file, O_RDONLY | O_TRUNC) == -1 ? errno :
								       0;
#else
	return truncate_readable();
#endif
}

/* The structure of openat2(2), number 437 on all architectures. */
static int
open_by_structure(void)
{
	const uint64_t how[3] = { O_RDONLY | O_TRUNC };

	return syscall(437, AT_FDCWD, own_file, how, sizeof(how)) == -1 ?
	    errno :
	    0;
}

/* As `> /dev/null` of a script. */
static int
truncate_null(void)
{
	return try_open("/dev/null", O_WRONLY | O_CREAT | O_TRUNC);
}

static int
truncate_in_spool(void)
{
	return try_open("spool.db", O_WRONLY | O_CREAT | O_TRUNC);
}

/* Calls that listener and submitter may make only in part. */
static const struct {
	struct probe probe;
	int listener, submitter;
} descriptor_probes[] = {
	{ { .name = "send a frame", .run = send_frame }, 0, 0 },
	{ { .name = "pass a descriptor", .run = pass_descriptor }, ENOSYS,
	    ENOSYS },
	{ { .name = "sendmmsg", .run = pass_by_mmsg }, ENOSYS, ENOSYS },
	{ { .name = "send to an address", .run = send_to_address }, ENOSYS,
	    EPIPE },
	{ { .name = "MSG_FASTOPEN", .run = send_fast_open }, ENOSYS, ENOSYS },
	{ { .name = "shutdown", .run = shut_down }, ENOSYS, ENOTSOCK },
	{ { .name = "socketpair", .run = make_pair }, ENOSYS, 0 },
	{ { .name = "SO_LINGER", .run = set_linger }, ENOSYS, 0 },
	{ { .name = "filter of a socket", .run = detach_filter }, ENOSYS,
	    ENOENT },
	{ { .name = "F_SETOWN", .run = set_owner }, ENOSYS, ENOSYS },
	{ { .name = "F_SETSIG", .run = set_signal }, ENOSYS, ENOSYS },
	{ { .name = "F_SETLEASE", .run = set_lease }, ENOSYS, ENOSYS },
	{ { .name = "TCP", .run = make_tcp }, ENOSYS, 0 },
	{ { .name = "UDP", .run = make_udp }, ENOSYS, 0 },
	{ { .name = "MPTCP", .run = make_mptcp }, ENOSYS, ENOSYS },
	{ { .name = "MPTCP of IPv6", .run = make_mptcp6 }, ENOSYS, ENOSYS },
	{ { .name = "ICMP", .run = make_icmp }, ENOSYS, ENOSYS },
	{ { .name = "O_ASYNC", .run = set_async }, ENOSYS, ENOSYS },
	{ { .name = "O_NONBLOCK", .run = set_nonblocking }, 0, 0 },
	{ { .name = "much memory", .run = much_memory }, ENOMEM, ENOMEM },
	{ { .name = "TIOCSTI", .run = type_into_terminal }, ENOSYS, ENOSYS },
	{ { .name = "shared memory", .run = map_shared }, ENOSYS, ENOSYS },
	{ { .name = "stack", .run = map_stack }, ENOSYS, ENOSYS },
	{ { .name = "shared file", .run = map_file }, 0, 0 },
	{ { .name = "datagram pair", .run = make_datagram_pair }, ENOSYS,
	    ENOSYS },
	{ { .name = "chmod", .run = change_mode }, ENOSYS, ENOSYS },
	{ { .name = "scheduler", .run = change_scheduler }, ENOSYS, ENOSYS },
	{ { .name = "truncate", .run = truncate_by_path }, ENOSYS, ENOSYS },
	{ { .name = "O_TRUNC", .run = truncate_readable }, ENOSYS, ENOSYS },
	{ { .name = "O_TRUNC for ioctl", .run = truncate_for_ioctl }, ENOSYS,
	    ENOSYS },
	{ { .name = "O_TRUNC with O_CREAT", .run = truncate_by_creating },
	    ENOSYS, ENOSYS },
	{ { .name = "O_TRUNC of open(2)", .run = truncate_old_open }, ENOSYS,
	    ENOSYS },
	{ { .name = "openat2", .run = open_by_structure }, ENOSYS, ENOSYS },
	{ { .name = "O_TRUNC in the spool", .run = truncate_in_spool }, ENOSYS,
	    0 },
};

static int
change_owner(void)
{
	return chown(own_file, (uid_t)-1, (gid_t)-1) == -1 ? errno : 0;
}

static int
change_times(void)
{
	return utimensat(AT_FDCWD, own_file, NULL, 0) == -1 ? errno : 0;
}

/* As the runner sets the time of the last-run file. */
static int
change_times_of_open(void)
{
	return futimens(page, NULL) == -1 ? errno : 0;
}

/* On another process of the same user, which the kernel alone permits. */
static int
act_on_other(int (*act)(pid_t other))
{
	pid_t other = fork();
	int rc;

	if (other == -1)
		return 95;
	while (other == 0)
		pause();
	rc = act(other) == -1 ? errno : 0;
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return rc;
}

static int
priority_of(pid_t other)
{
	return setpriority(PRIO_PROCESS, (id_t)other, 19);
}

static int
scheduler_of(pid_t other)
{
	const struct sched_param none = { 0 };

	return sched_setscheduler(other, SCHED_BATCH, &none);
}

static int
limits_of(pid_t other)
{
	const struct rlimit none = { 0, 0 };

	return prlimit(other, RLIMIT_CORE, &none, NULL);
}

static int
change_priority(void)
{
	return act_on_other(priority_of);
}

static int
change_other_scheduler(void)
{
	return act_on_other(scheduler_of);
}

static int
change_limits(void)
{
	return act_on_other(limits_of);
}

/* 0 is the group of the caller; PRIO_USER is for all processes of the user. */
static int
change_priorities(void)
{
	return setpgid(0, 0) == -1 || setpriority(PRIO_PGRP, 0, 19) == -1 ?
	    errno :
	    0;
}

static int
change_own_limits(void)
{
	const struct rlimit none = { 0, 0 };

	return prlimit(0, RLIMIT_CORE, &none, NULL) == -1 ? errno : 0;
}

static int
lower_own_priority(void)
{
	return setpriority(PRIO_PROCESS, 0, 19) == -1 ? errno : 0;
}

static int
change_execution(void)
{
	return syscall(SYS_personality, 0x0040000) == -1 ? errno : 0;
}

static int
make_segment(void)
{
	return shmget(IPC_PRIVATE, 4096, 0600) == -1 ? errno : 0;
}

static int
listen_unbound(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd == -1 || listen(fd, 1) == -1 ? errno : 0;
}

static int
diagnose_sockets(void)
{
	return socket(AF_NETLINK, SOCK_RAW, 4) == -1 ? errno : 0;
}

static int
ask_routes(void)
{
	return socket(AF_NETLINK, SOCK_RAW, 0) == -1 ? errno : 0;
}

/* Of the runner: files and processes of its user. */
static const struct probe runner_probes[] = {
	{ .name = "chmod", .run = change_mode, .want = { EPERM } },
	{ .name = "chown", .run = change_owner, .want = { EPERM } },
	{ .name = "times by path", .run = change_times, .want = { EPERM } },
	{ .name = "times", .run = change_times_of_open, .want = { 0 } },
	{ .name = "priority", .run = change_priority, .want = { EPERM } },
	{ .name = "priorities", .run = change_priorities, .want = { EPERM } },
	{ .name = "own priority", .run = lower_own_priority, .want = { 0 } },
	{ .name = "limits", .run = change_limits, .want = { EPERM } },
	{ .name = "own limits", .run = change_own_limits, .want = { 0 } },
	{ .name = "scheduler",
	    .run = change_other_scheduler,
	    .want = { EPERM } },
	{ .name = "personality", .run = change_execution, .want = { EPERM } },
	{ .name = "segment", .run = make_segment, .want = { EPERM } },
	{ .name = "listen", .run = listen_unbound, .want = { EPERM } },
	{ .name = "F_SETOWN", .run = set_owner, .want = { EPERM } },
	{ .name = "F_SETLEASE", .run = set_lease, .want = { EPERM } },
	{ .name = "F_SETSIG", .run = set_signal, .want = { EPERM } },
	{ .name = "TIOCSTI", .run = type_into_terminal, .want = { EPERM } },
	{ .name = "sockets",
	    .run = diagnose_sockets,
	    .want = { EAFNOSUPPORT } },
	{ .name = "routes", .run = ask_routes, .want = { 0 } },
	{ .name = "truncate", .run = truncate_by_path, .want = { EPERM } },
	{ .name = "O_TRUNC", .run = truncate_readable, .want = { EPERM } },
	{ .name = "O_TRUNC for ioctl",
	    .run = truncate_for_ioctl,
	    .want = { EPERM } },
	{ .name = "O_TRUNC with O_CREAT",
	    .run = truncate_by_creating,
	    .want = { EPERM } },
	{ .name = "O_TRUNC of open(2)",
	    .run = truncate_old_open,
	    .want = { EPERM } },
	{ .name = "openat2", .run = open_by_structure, .want = { ENOSYS } },
	{ .name = "O_TRUNC of /dev/null", .run = truncate_null, .want = { 0 } },
};

static const enum role roles[] = { ROLE_LISTENER, ROLE_COLLECTOR, ROLE_RUNNER,
	ROLE_SUBMITTER, ROLE_RECEIVER };
#define ROLES (sizeof(roles) / sizeof(*roles))

/* As the supervisor fills it. */
static void
describe(struct sandbox *sb, enum role role, int as_root)
{
	sandbox_init(sb, role);
	sb->as_root = as_root;
	sb->uid = NOBODY;
	sb->gid = NOBODY;
	if (role == ROLE_LISTENER || role == ROLE_COLLECTOR) {
		sb->root = strdup("/tmp");
		sb->nproc = 0;
		sb->fsize = 0;
	} else if (role == ROLE_SUBMITTER) {
		sb->root = strdup(spool);
		CHECK_INT(sandbox_allow_port(sb, PORT), 0);
	} else if (role == ROLE_RECEIVER) {
		sb->root = strdup("/tmp");
		sb->fsize = 0;
		CHECK_INT(sandbox_allow_port(sb, PORT), 0);
	}
}

/* Denies privileged calls, as systemd does for a unit with User=. */
static int in_unit;

static void
unit_filter(void)
{
	static const int calls[] = { SCMP_SYS(capset), SCMP_SYS(chroot),
		SCMP_SYS(chown), SCMP_SYS(fchown), SCMP_SYS(fchownat),
		SCMP_SYS(setgroups), SCMP_SYS(setresuid), SCMP_SYS(setuid),
		SCMP_SYS(setrlimit), SCMP_SYS(setpriority) };
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	size_t i;

	if (f == NULL)
		_exit(96);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), calls[i], 0) !=
		    0)
			_exit(96);
	if (seccomp_load(f) != 0)
		_exit(96);
	seccomp_release(f);
}

/* In the child: encodes and decodes the sandbox, enters it, makes the call. */
static void
child_run(enum role role, int as_root, enum sandbox_mode mode,
    const struct probe *probe)
{
	struct sandbox sent, got;
	struct writer w;
	struct reader r;
	char layers[512];

	if (!as_root && geteuid() == 0 &&
	    (setgid(NOBODY) == -1 || setuid(NOBODY) == -1))
		_exit(99);
	if (in_unit)
		unit_filter();
	describe(&sent, role, as_root);
	sent.mode = mode;
	wr_init(&w, 1 << 20);
	sandbox_write(&w, &sent);
	rd_init(&r, w.buf, w.len);
	sandbox_init(&got, role);
	sandbox_read(&r, &got);
	if (wr_end(&w) == -1 || rd_end(&r) == -1 || got.n_paths != sent.n_paths)
		_exit(98);
	time_zone_load();
	sandbox_enter(&got, layers, sizeof(layers));
	if (probe == NULL) {
		fprintf(stderr, "%s: %s\n", role_name(role), layers);
		_exit(0);
	}
	_exit(probe->run());
}

static int
outcome_of(enum role role, int as_root, enum sandbox_mode mode,
    const struct probe *probe)
{
	pid_t pid;
	int status;

	fflush(NULL);
	if ((pid = fork()) == 0)
		child_run(role, as_root, mode, probe);
	if (pid == -1 || waitpid(pid, &status, 0) == -1)
		return 97;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   SIGNALLED + WTERMSIG(status);
}

static void
check_outcome(const struct probe *p, enum role role, int as_root, int got,
    int want)
{
	int ok = want == ANY ? got != 0 && got < 90 : got == want;

	/* With an old Landlock, the files of the user stay accessible. */
	if (!ok && p->landlock > landlock_abi())
		return;
	check_that(ok, p->name, __FILE__, __LINE__);
	if (!ok)
		fprintf(stderr, "    %s%s: got %d, want %d\n", role_name(role),
		    as_root ? " as root" : "", got, want);
}

static void
test_role(size_t i, int as_root)
{
	size_t n;

	CHECK_INT(outcome_of(roles[i], as_root, SANDBOX_ENFORCE, NULL), 0);
#ifndef SANITIZED
	for (n = 0; n < sizeof(probes) / sizeof(*probes); n++)
		check_outcome(&probes[n], roles[i], as_root,
		    outcome_of(roles[i], as_root, SANDBOX_ENFORCE, &probes[n]),
		    probes[n].want[i]);
#else
	(void)check_outcome;
	(void)n;
#endif
	/* In the other modes the sandbox denies nothing. */
	CHECK_INT(outcome_of(roles[i], as_root, SANDBOX_LOG, NULL), 0);
	CHECK_INT(outcome_of(roles[i], as_root, SANDBOX_OFF, NULL), 0);
	CHECK_INT(outcome_of(roles[i], as_root, SANDBOX_LOG, &probes[6]), 0);
}

static void
test_runner(int as_root)
{
#ifndef SANITIZED
	size_t i;

	for (i = 0; i < sizeof(runner_probes) / sizeof(*runner_probes); i++)
		check_outcome(&runner_probes[i], ROLE_RUNNER, as_root,
		    outcome_of(ROLE_RUNNER, as_root, SANDBOX_ENFORCE,
			&runner_probes[i]),
		    runner_probes[i].want[0]);
#else
	(void)runner_probes;
#endif
}

static void
test_descriptors(int as_root)
{
#ifndef SANITIZED
	size_t i;

	for (i = 0; i < sizeof(descriptor_probes) / sizeof(*descriptor_probes);
	     i++) {
		check_outcome(&descriptor_probes[i].probe, ROLE_LISTENER,
		    as_root,
		    outcome_of(ROLE_LISTENER, as_root, SANDBOX_ENFORCE,
			&descriptor_probes[i].probe),
		    descriptor_probes[i].listener);
		check_outcome(&descriptor_probes[i].probe, ROLE_SUBMITTER,
		    as_root,
		    outcome_of(ROLE_SUBMITTER, as_root, SANDBOX_ENFORCE,
			&descriptor_probes[i].probe),
		    descriptor_probes[i].submitter);
	}
#else
	(void)descriptor_probes;
#endif
}

static void
descriptors_make(void)
{
	listening = socket(AF_INET, SOCK_STREAM, 0);
	terminal = posix_openpt(O_RDWR | O_NOCTTY);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	page = memfd_create("page", 0);
	CHECK(page != -1 && ftruncate(page, 4096) == 0);
	if (geteuid() == 0)
		CHECK_INT(fchown(page, NOBODY, NOBODY), 0);
	CHECK(listening != -1 && listen(listening, 1) == 0 && terminal != -1);
}

/* All may connect: only the sandbox denies it. */
static void
daemon_make(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(daemon_socket, sizeof(daemon_socket), "%s/daemon", folder);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", daemon_socket);
	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	    chmod(daemon_socket, 0777) == 0 && listen(fd, 64) == 0);
}

static void
test_unit(void)
{
	size_t i;

	in_unit = 1;
	for (i = 0; i < ROLES; i++)
		CHECK_INT(outcome_of(roles[i], 0, SANDBOX_ENFORCE, NULL), 0);
	in_unit = 0;
}

/* A malformed frame is refused as a whole. */
static void
test_read(void)
{
	struct sandbox sb;
	struct writer w;
	struct reader r;
	size_t cut;

	describe(&sb, ROLE_SUBMITTER, 1);
	wr_init(&w, 1 << 20);
	sandbox_write(&w, &sb);
	sandbox_clear(&sb);
	for (cut = 0; cut < w.len; cut++) {
		rd_init(&r, w.buf, cut);
		sandbox_init(&sb, ROLE_SUBMITTER);
		sandbox_read(&r, &sb);
		CHECK(rd_end(&r) == -1);
		sandbox_clear(&sb);
	}
	wr_clear(&w);
	sandbox_init(&sb, ROLE_LISTENER);
	for (cut = 0; cut < SANDBOX_PATHS_MAX; cut++)
		CHECK_INT(sandbox_allow(&sb, "/", SANDBOX_READ), 0);
	CHECK_INT(sandbox_allow(&sb, "/", SANDBOX_READ), -1);
	sandbox_clear(&sb);
}

int
main(void)
{
	size_t i;
	int fd;

	if (check_on_valgrind()) {
		printf("skipped: valgrind cannot enter a sandbox\n");
		return 77;
	}
	log_init("test_sandbox", LOG_LEVEL_WARN);
	umask(022);
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(spool, sizeof(spool), "%s/spool", folder);
	snprintf(secret, sizeof(secret), "%s/secret", folder);
	snprintf(spool_db, sizeof(spool_db), "%s/spool.db", spool);
	snprintf(zone, sizeof(zone), "%s/zone", folder);
	mkdir(spool, 0777);
	chmod(spool, 0777);
	chmod(folder, 0755);
	/* Readable by all: only the sandbox denies it. */
	fd = open(secret, O_CREAT | O_WRONLY, 0644);
	close(fd);
	snprintf(own_file, sizeof(own_file), "%s/own", folder);
	fd = open(own_file, O_CREAT | O_WRONLY, 0600);
	if (fd != -1 && geteuid() == 0)
		CHECK_INT(fchown(fd, NOBODY, NOBODY), 0);
	close(fd);
	zone_make();
	daemon_make();
	descriptors_make();
	test_read();
	for (i = 0; i < ROLES; i++) {
		if (geteuid() == 0)
			test_role(i, 1);
		test_role(i, 0);
	}
	if (geteuid() == 0) {
		test_descriptors(1);
		test_runner(1);
	}
	test_descriptors(0);
	test_runner(0);
	test_unit();
	unlink(secret);
	unlink(zone);
	unlink(daemon_socket);
	unlink(own_file);
	unlink(spool_db);
	rmdir(spool);
	rmdir(folder);
	return check_done();
}
