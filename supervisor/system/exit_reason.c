/* SPDX-License-Identifier: MIT */
/*
 * How a process ended, as text.  For a process that was killed by its seccomp
 * filter, the text has the system call, if the kernel's audit record is
 * readable.
 */
#include "config.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/system.h"

#define RECORD_MAX  8192  /* bytes: one record of /dev/kmsg */
#define RECORDS_MAX 10000 /* read at a time; the kernel log has fewer */

int
exit_reason_kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	/* Skip the messages that were logged before the supervisor started. */
	if (fd != -1 && lseek(fd, 0, SEEK_END) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

static long
number_behind(const char *line, const char *key)
{
	const char *p = strstr(line, key);

	return p != NULL ? strtol(p + strlen(key), NULL, 10) : -1;
}

/* The system call in the kernel's audit record about pid, or -1. */
static long
syscall_find(int kmsg, pid_t pid)
{
	char line[RECORD_MAX];
	long syscall_nr = -1;
	ssize_t n;
	int i;

	for (i = 0; kmsg != -1 && i < RECORDS_MAX; i++) {
		n = read(kmsg, line, sizeof(line) - 1);
		if (n == -1 && errno == EPIPE) /* overwritten: read on */
			continue;
		if (n <= 0)
			break;
		line[n] = '\0';
		if (strstr(line, "type=1326") != NULL &&
		    number_behind(line, " pid=") == (long)pid)
			syscall_nr = number_behind(line, " syscall=");
	}
	return syscall_nr;
}

static void
seccomp_text(int kmsg, pid_t pid, char *buf, size_t size)
{
	long syscall_nr = syscall_find(kmsg, pid);
	char *name;

	if (syscall_nr == -1) {
		snprintf(buf, size,
		    "was killed by its seccomp filter (SIGSYS; "
		    "the system call is in the kernel log: audit type=1326)");
		return;
	}
	name = seccomp_syscall_resolve_num_arch(seccomp_arch_native(),
	    (int)syscall_nr);
	snprintf(buf, size,
	    "was killed by its seccomp filter: system call %ld (%s)",
	    syscall_nr, name != NULL ? name : "unknown");
	free(name);
}

void
exit_reason_text(int kmsg, pid_t pid, int status, char *buf, size_t size)
{
	const char *core = "";

	if (WIFEXITED(status)) {
		snprintf(buf, size, "ended with status %d",
		    WEXITSTATUS(status));
		return;
	}
	if (!WIFSIGNALED(status)) {
		snprintf(buf, size, "ended with wait status %#x",
		    (unsigned)status);
		return;
	}
	if (WTERMSIG(status) == SIGSYS) {
		seccomp_text(kmsg, pid, buf, size);
		return;
	}
	if (WCOREDUMP(status))
		core = ", core dumped";
	snprintf(buf, size, "was killed by signal %d (%s)%s", WTERMSIG(status),
	    strsignal(WTERMSIG(status)), core);
}
