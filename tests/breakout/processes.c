/* SPDX-License-Identifier: MIT */
/* Attempts to start processes and to act on others. */
#include "config.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tests/breakout/attempts.h"

/*
 * The test repeats it.  A worker that does not answer for 20 s is killed, and an
 * emulated machine needs longer for 300 processes.
 */
#define BOMB_MAX 100

static int64_t
start_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid != -1)
		waitpid(pid, NULL, 0);
	return pid;
}

static int64_t
start_program(void)
{
	char path[] = "/bin/true", *argv[] = { path, NULL };
	char *envp[] = { NULL };
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		execve(path, argv, envp);
		_exit(errno);
	}
	if (pid == -1)
		return -1;
	waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	return status == 0 ? 0 : -1;
}

/* The children live on without their parent. */
static int64_t
fork_bomb(void)
{
	pid_t pid;
	int i;

	for (i = 0; i < BOMB_MAX; i++) {
		if ((pid = fork()) == -1)
			break;
		if (pid == 0) {
			setsid();
			signal(SIGTERM, SIG_IGN);
			for (;;)
				pause();
		}
	}
	return i > 0 ? i : -1;
}

static int64_t
signal_victim(void)
{
	return kill(targets.victim, SIGSTOP);
}

static int64_t
signal_supervisor(void)
{
	return kill(targets.supervisor, 0);
}

static int64_t
signal_thread(void)
{
	return syscall(SYS_tgkill, targets.victim, targets.victim, 0);
}

static int64_t
signal_any_thread(void)
{
	return syscall(SYS_tkill, targets.victim, 0);
}

static int64_t
signal_by_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, targets.victim, 0);

	return fd == -1 ? -1 : syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0);
}

static int64_t
queue_signal(void)
{
	return sigqueue(targets.victim, 0, (union sigval) { 0 });
}

static int64_t
own_by_fcntl(void)
{
	return fcntl(3, F_SETOWN, targets.victim);
}

static int64_t
own_by_ioctl(void)
{
	return ioctl(3, FIOSETOWN, &targets.victim);
}

static int64_t
own_signal(void)
{
	return fcntl(3, F_SETSIG, SIGKILL);
}

static int64_t
async(void)
{
	return fcntl(3, F_SETFL, O_NONBLOCK | O_ASYNC);
}

static int64_t
type_into(void)
{
	int fd;

	for (fd = 0; fd < 8; fd++)
		if (ioctl(fd, TIOCSTI, "x") == 0)
			return fd;
	return -1;
}

static int64_t
take_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR);

	return fd == -1 ? -1 : ioctl(fd, TIOCSCTTY, 1);
}

static int64_t
become_root(void)
{
	return setresuid(0, 0, 0);
}

static int64_t
change_groups(void)
{
	return syscall(SYS_setgroups, 0, NULL);
}

static int64_t
map_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

static int64_t
raise_limit(void)
{
	const struct rlimit more = { RLIM_INFINITY, RLIM_INFINITY };

	return setrlimit(RLIMIT_DATA, &more);
}

static int64_t
write_core(void)
{
	const struct rlimit more = { RLIM_INFINITY, RLIM_INFINITY };

	return setrlimit(RLIMIT_CORE, &more);
}

#ifdef __x86_64__
static int64_t
call_by_interrupt(void)
{
	long rc = 20; /* getpid() of i386 */

	__asm__ volatile("int $0x80" : "+a"(rc) : : "memory");
	errno = ENOSYS;
	return rc == getpid() ? 0 : -1;
}
#endif

const struct attempt attempts_processes[] = {
	{ "fork", start_process },
	{ "run-program", start_program },
	{ "fork-bomb", fork_bomb },
	{ "stop-victim", signal_victim },
	{ "signal-supervisor", signal_supervisor },
	{ "tgkill", signal_thread },
	{ "tkill", signal_any_thread },
	{ "pidfd-signal", signal_by_pidfd },
	{ "queue-signal", queue_signal },
	{ "set-owner", own_by_fcntl },
	{ "set-owner-ioctl", own_by_ioctl },
	{ "set-signal", own_signal },
	{ "async", async },
	{ "tiocsti", type_into },
	{ "terminal", take_terminal },
	{ "become-root", become_root },
	{ "setgroups", change_groups },
	{ "map-code", map_code },
	{ "raise-limit", raise_limit },
	{ "core", write_core },
#ifdef __x86_64__
	{ "int80", call_by_interrupt },
#endif
	{ NULL, NULL },
};
