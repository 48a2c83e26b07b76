/* SPDX-License-Identifier: MIT */
/*
 * Reads the scripts of one key of slurm.conf for -test.  The value comes from
 * Slurm through the collector: it can name each file of the host, a device, or a
 * pattern that matches paths without end.  So a child process with limits of time
 * and memory reads the scripts.  It becomes the user of slurmctld, who executes
 * them, or nobody, opens regular files only, and sends a result of fixed length.
 */
#include "config.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "supervisor/system/script_read.h"

#define SCRIPT_MAX  (256u * 1024) /* bytes of a script that are read */
#define SCRIPTS_MAX 64		  /* of one item of the value */
#define FILES_LIMIT 256		  /* glob(3) opens nested directories */
#define NOBODY	    65534	  /* the kernel's overflow uid and gid */
#define RESULT_FD   3

/* 1 when a line that is no comment contains the name of the hook. */
static int
text_calls_hook(char *text)
{
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (line[strspn(line, " \t")] != '#' &&
		    strstr(line, HOOK_NAME) != NULL)
			return 1;
	return 0;
}

/* 1 when the file calls the hook, 0 when not, -1 with errno. */
static int
file_calls_hook(const char *opened, const char *path)
{
	int fd = open(opened, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	const char *name = strrchr(path, '/');
	char *text;
	ssize_t n = -1;
	int rc = -1;

	if (fd == -1)
		return -1;
	text = malloc(SCRIPT_MAX + 1);
	if (text != NULL)
		n = read(fd, text, SCRIPT_MAX);
	close(fd);
	if (n >= 0) {
		text[n] = '\0';
		rc = text_calls_hook(text) ||
		    (name != NULL && strcmp(name + 1, HOOK_NAME) == 0);
	}
	free(text);
	return rc;
}

/*
 * 1 when this process, as the user of slurmctld, cannot execute the file.
 * access(2) also knows ACLs and the file server's answer.  Root executes a file
 * of any user, but -test does not have the capability for it.  A program needs no
 * read permission, a script does.  calls_hook: see file_calls_hook().
 */
static int
file_is_closed(const char *opened, const struct stat *st, int calls_hook)
{
	if (calls_hook == 0)
		return 0;
	if (getuid() == 0)
		return (st->st_mode & 0111) == 0;
	return access(opened, calls_hook == 1 ? R_OK | X_OK : X_OK) == -1 &&
	    errno == EACCES;
}

static void
closed_note(struct scripts *s, const char *path)
{
	snprintf(s->closed, sizeof(s->closed), "%s", path);
	errno = EACCES;
}

/*
 * The same as file_calls_hook().  fd has O_PATH: a device or a FIFO notices
 * nothing of it.
 */
static int
script_examine(struct scripts *s, int fd, const char *path, int is_slurm_user)
{
	char opened[32];
	struct stat st;
	int rc;

	if (fd == -1 || fstat(fd, &st) == -1) {
		if (errno == EACCES && is_slurm_user)
			closed_note(s, path);
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		s->special = 1;
		return 0;
	}
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
	rc = file_calls_hook(opened, path);
	if (!is_slurm_user || !file_is_closed(opened, &st, rc))
		return rc;
	closed_note(s, path);
	return -1;
}

static void
script_read(struct scripts *s, const char *path, int is_slurm_user)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	int rc = script_examine(s, fd, path, is_slurm_user);

	if (s->error != 0)
		s->error = rc == -1 ? errno : 0;
	s->calls |= rc == 1;
	if (fd != -1)
		close(fd);
}

static void
value_read(struct scripts *s, char *value, int is_slurm_user)
{
	glob_t found;
	char *path;
	size_t i;

	while (!s->calls && (path = strsep(&value, ",")) != NULL) {
		if (glob(path, GLOB_NOCHECK, NULL, &found) != 0)
			_exit(1); /* no memory */
		for (i = 0; i < found.gl_pathc && i < SCRIPTS_MAX; i++)
			script_read(s, found.gl_pathv[i], is_slurm_user);
		globfree(&found);
	}
}

static void
limit(int resource, rlim_t most)
{
	struct rlimit rl;

	if (getrlimit(resource, &rl) == -1)
		_exit(1);
	if (rl.rlim_max == RLIM_INFINITY || rl.rlim_max > most)
		rl.rlim_max = most;
	rl.rlim_cur = rl.rlim_max;
	if (setrlimit(resource, &rl) == -1)
		_exit(1);
}

static void
limits_apply(void)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, SCRIPT_READ_S);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NOFILE, FILES_LIMIT);
#ifndef SANITIZED /* the address sanitizer maps terabytes */
	limit(RLIMIT_DATA, SCRIPT_READ_BYTES);
#endif
	signal(SIGALRM, SIG_DFL);
	alarm(SCRIPT_READ_S);
}

/* 1 when the process is now the user of slurmctld.  Only root can change it. */
static int
user_become(const struct setup *setup)
{
	static const struct identity nobody = { .uid = NOBODY,
		.gid = NOBODY,
		.groups = { NOBODY },
		.n_groups = 1 };
	const struct identity *id = setup->has_slurm_user ? &setup->slurm_user :
							    &nobody;

	if (geteuid() == 0 && id->uid != 0 &&
	    (setgroups((size_t)id->n_groups, id->groups) == -1 ||
		setgid(id->gid) == -1 || setuid(id->uid) == -1))
		_exit(1);
	return setup->has_slurm_user && id->uid == geteuid();
}

/*
 * The terminal of root is not that of this process.  The signal is set last,
 * because a change of the uid clears it.
 */
static void __attribute__((noreturn))
child_run(const struct setup *setup, const char *value, int fd, pid_t parent)
{
	struct scripts s = { .error = ENOENT };
	char *copy = strdup(value);
	int is_slurm_user;

	setsid();
	if (copy == NULL || (fd != RESULT_FD && dup2(fd, RESULT_FD) == -1))
		_exit(1);
	descriptors_close_from(RESULT_FD + 1);
	is_slurm_user = user_become(setup);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent)
		_exit(1);
	limits_apply();
	value_read(&s, copy, is_slurm_user);
	_exit(write(RESULT_FD, &s, sizeof(s)) != sizeof(s));
}

/* 0, or -1 when the child has ended or has not answered in time. */
static int
result_read(int fd, struct scripts *s)
{
	const uint64_t end = clock_ms() + SCRIPT_READ_S * 1000;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	uint64_t now;
	ssize_t n;

	while (len < sizeof(*s)) {
		now = clock_ms();
		if (now >= end)
			return -1;
		if (poll(&p, 1, (int)(end - now)) <= 0)
			continue;
		n = read(fd, (char *)s + len, sizeof(*s) - len);
		if (n <= 0)
			return -1;
		len += (size_t)n;
	}
	s->closed[sizeof(s->closed) - 1] = '\0';
	return 0;
}

/*
 * Does not wait for the end of the child: a process in a call to a file system
 * that does not answer may stay after SIGKILL.
 */
int
scripts_read(const struct setup *setup, const char *value, struct scripts *s)
{
	pid_t pid, self = getpid();
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC) == -1)
		return -1;
	pid = fork();
	if (pid == 0)
		child_run(setup, value, fds[1], self);
	close(fds[1]);
	rc = pid != -1 ? result_read(fds[0], s) : -1;
	close(fds[0]);
	if (pid != -1) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, WNOHANG);
	}
	return rc;
}
