/* SPDX-License-Identifier: MIT */
/*
 * Plays a Slurm command that was taken over: tries what it should not be able
 * to do and prints a line "NAME ERRNO" for each attempt, 0 for success.
 *
 *	confine_probe SECRET PLACE PID [FILE...]
 *
 * SECRET is a file that it must not read, PLACE a path that does not exist
 * beside a file PLACE.own of this user, PID a process that it must not signal.
 * Each FILE is opened to read.
 *
 * In place of squeue its arguments are Slurm's and its output is the suite's.
 * Without CONFINE_TEST in its environment the arguments are the lines of
 * `probe.args` beside slurm.conf, after the number of a UDP port on this host
 * that gets the lines; without that file it does nothing.
 */
#include "config.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/netlink.h>

/* The kernel reads 32 bits of some arguments: higher bits must not help. */
#define HIGH_BIT (1ul << 32)

#define ARGS_MAX   32
#define OUTPUT_MAX 8192 /* bytes; one datagram */

static char output[OUTPUT_MAX];
static size_t output_len;

static void
tell_errno(const char *name, int error)
{
	int n = snprintf(output + output_len, sizeof(output) - output_len,
	    "%s %d\n", name, error);

	if (n > 0 && (size_t)n < sizeof(output) - output_len)
		output_len += (size_t)n;
}

static void
tell(const char *name, long rc)
{
	tell_errno(name, rc == -1 ? errno : 0);
}

static long
opened(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd != -1)
		close(fd);
	return fd;
}

static void
try_files(const char *secret, const char *place)
{
	char own[4096], linked[4096];
	int fd;

	snprintf(own, sizeof(own), "%s.own", place);
	snprintf(linked, sizeof(linked), "%s.link", place);
	tell("read-secret", opened(secret, O_RDONLY));
	tell("read-shadow", opened("/etc/shadow", O_RDONLY));
	tell("list-etc", opened("/etc", O_RDONLY | O_DIRECTORY));
	tell("list-root", opened("/", O_RDONLY | O_DIRECTORY));
	tell("write-null", opened("/dev/null", O_WRONLY));
	tell("create", opened(place, O_WRONLY | O_CREAT));
	tell("write-own", opened(own, O_WRONLY));
	tell("chmod-own", chmod(own, 0666));
	tell("chown-own", chown(own, getuid(), getgid()));
	tell("truncate-own", truncate(own, 0));
	tell("unlink-own", unlink(own));
	tell("rename-own", rename(own, linked));
	tell("link-own", link(own, linked));
	tell("mkdir", mkdir(place, 0700));
	fd = (int)syscall(SYS_memfd_create, "slurm.conf", 1u);
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	tell("memfd", fd);
	tell("read-memfd", opened(own, O_RDONLY));
	tell("read-passwd", opened("/etc/passwd", O_RDONLY));
}

static void
try_processes(pid_t pid)
{
	struct rlimit one = { 1, 1 };
	struct f_owner_ex owner = { F_OWNER_PID, pid };
	char mem[64], *none = NULL;
	pid_t child;
	int status = 0;

	/* Signal 0: the test must survive what is not denied. */
	tell("kill", kill(pid, 0));
	tell("kill-group", kill(-pid, 0));
	tell("kill-high", syscall(SYS_kill, HIGH_BIT | (unsigned long)pid, 0));
	tell("tgkill", syscall(SYS_tgkill, pid, pid, 0));
	tell("tkill", syscall(SYS_tkill, pid, 0));
	tell("kill-self", kill(getpid(), 0));
	tell("tgkill-self", syscall(SYS_tgkill, getpid(), getpid(), 0));
	tell("pidfd", syscall(SYS_pidfd_open, pid, 0));
	tell("own-by-fcntl", fcntl(0, F_SETOWN, pid));
	tell("own-by-fcntl-ex", fcntl(0, F_SETOWN_EX, &owner));
	tell("ptrace", ptrace(PTRACE_ATTACH, pid, NULL, NULL));
	tell("prlimit", syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, NULL, &one));
	snprintf(mem, sizeof(mem), "/proc/%d/mem", (int)pid);
	tell("read-memory", opened(mem, O_RDONLY));
	snprintf(mem, sizeof(mem), "/proc/%d/environ", (int)pid);
	tell("read-environment", opened(mem, O_RDONLY));
	tell("priority", setpriority(PRIO_PROCESS, (id_t)pid, 10));
	tell("setsid", setsid());
	tell("death-signal", prctl(PR_SET_PDEATHSIG, 0));
	tell("death-signal-high",
	    syscall(SYS_prctl, HIGH_BIT | PR_SET_PDEATHSIG, 0));
	/* A fork is allowed: configless Slurm needs it. */
	child = fork();
	if (child == 0) {
		execve("/bin/true", &none, &none);
		_exit(errno);
	}
	tell("fork", child);
	waitpid(child, &status, 0);
	tell_errno("exec", WEXITSTATUS(status));
}

static long
socket_of(int family, int type, int protocol)
{
	int fd = socket(family, type, protocol);

	if (fd != -1)
		close(fd);
	return fd;
}

static void
try_sockets(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct sockaddr_un abstract = { .sun_family = AF_UNIX };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	tell("bind", bind(fd, (struct sockaddr *)&any, sizeof(any)));
	tell("listen", listen(fd, 1));
	tell("own-by-ioctl", ioctl(fd, FIOSETOWN, &fd));
	close(fd);
	tell("packet", socket_of(AF_PACKET, SOCK_RAW, 0));
	tell("raw", socket_of(AF_INET, SOCK_RAW, IPPROTO_ICMP));
	tell("raw-high",
	    syscall(SYS_socket, AF_INET, HIGH_BIT | SOCK_RAW, IPPROTO_ICMP));
	tell("ping", socket_of(AF_INET, SOCK_DGRAM, 132));
	tell("seqpacket", socket_of(AF_INET, SOCK_SEQPACKET, 0));
	tell("vsock", socket_of(AF_VSOCK, SOCK_STREAM, 0));
	tell("netlink-route", socket_of(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
	tell("netlink-other",
	    socket_of(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG));
	tell("udp", socket_of(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	/* The test listens at this name and accepts no connection. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	snprintf(abstract.sun_path + 1, sizeof(abstract.sun_path) - 1,
	    "confine-test-%s",
	    getenv("CONFINE_TEST") != NULL ? getenv("CONFINE_TEST") : "");
	tell("abstract",
	    connect(fd, (struct sockaddr *)&abstract,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		    strlen(abstract.sun_path + 1))));
	close(fd);
}

static void
try_kernel(void)
{
	char byte = 'x';

	tell("tiocsti", ioctl(0, TIOCSTI, &byte));
	tell("tiocsti-high", syscall(SYS_ioctl, 0, HIGH_BIT | TIOCSTI, &byte));
	tell("unshare", unshare(CLONE_NEWUSER));
	tell("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	tell("clone3", syscall(SYS_clone3, NULL, 0));
	tell("mount", syscall(SYS_mount, "a", "/", "tmpfs", 0, NULL));
	tell("bpf", syscall(SYS_bpf, 0, NULL, 0));
	tell("perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	tell("keyctl", syscall(SYS_keyctl, 0, -3, 0));
	tell("io-uring", syscall(SYS_io_uring_setup, 1, NULL));
	tell("userfaultfd", syscall(SYS_userfaultfd, 0));
	tell("module", syscall(SYS_finit_module, -1, "", 0));
	tell("shared-memory", syscall(SYS_shmget, 0, 4096, 0600));
	tell("personality", syscall(SYS_personality, 0x0040000));
}

/* What Slurm's commands do through the C library. */
static void
try_library(void)
{
	struct addrinfo *found = NULL, hints = { .ai_flags = AI_ADDRCONFIG };
	int rc = getaddrinfo("localhost", "6817", &hints, &found);

	tell_errno("getaddrinfo", rc);
	if (rc == 0)
		freeaddrinfo(found);
	tell_errno("getpwnam", getpwnam("root") == NULL);
	tell_errno("getgrgid", getgrgid(0) == NULL);
	tell("random", opened("/dev/urandom", O_RDONLY));
}

/* Fills args from the lines of probe.args; their number, 0 without the file. */
static int
args_read(char *args[])
{
	static char lines[ARGS_MAX][1024];
	const char *conf = getenv("SLURM_CONF");
	char path[4096];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s", conf != NULL ? conf : "");
	if (strrchr(path, '/') == NULL)
		return 0;
	strcpy(strrchr(path, '/'), "/probe.args");
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	while (n < ARGS_MAX && fgets(lines[n], sizeof(lines[n]), f) != NULL) {
		lines[n][strcspn(lines[n], "\n")] = '\0';
		args[n] = lines[n];
		n++;
	}
	fclose(f);
	return n;
}

static void
output_send(int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	sin.sin_port = htons((unsigned short)port);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1 ||
	    sendto(fd, output, output_len, 0, (struct sockaddr *)&sin,
		sizeof(sin)) == -1)
		fprintf(stderr, "probe: %s\n", strerror(errno));
}

int
main(int argc, char **argv)
{
	char *lines[ARGS_MAX];
	int i, is_squeue = getenv("CONFINE_TEST") == NULL;

	if (is_squeue) {
		argc = args_read(lines);
		argv = lines;
	}
	if (argc < 4)
		return 2;
	try_files(argv[1], argv[2]);
	try_processes((pid_t)atoi(argv[3]));
	try_sockets();
	try_kernel();
	try_library();
	for (i = 4; i < argc; i++)
		tell(argv[i], opened(argv[i], O_RDONLY));
	tell_errno("end", 0);
	if (is_squeue)
		output_send(atoi(argv[0]));
	else
		(void)!write(1, output, output_len);
	/* Without the exit handlers of a sanitizer. */
	_exit(is_squeue);
}
