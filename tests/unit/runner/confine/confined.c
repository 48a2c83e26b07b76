/* SPDX-License-Identifier: MIT */
/* See confined.h. */
#include "config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/check.h"
#include "tests/unit/runner/confine/confined.h"

extern char **environ;

char scratch[PLACES_MAX];
char confined_output[16384];

static int listening = -1; /* at the abstract name that the probe tries */

char *
scratch_path(const char *name)
{
	static char paths[4][PLACES_MAX * 2];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
	return path;
}

void
file_replace(const char *path, const char *text, mode_t mode)
{
	char new[PLACES_MAX * 3];
	int fd;

	snprintf(new, sizeof(new), "%s.new", path);
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC, mode);
	CHECK(
	    fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	CHECK_INT(rename(new, path), 0);
}

void
file_copy(const char *from, const char *to)
{
	char new[PLACES_MAX * 3], buf[65536];
	int in = open(from, O_RDONLY), out;
	ssize_t n;

	snprintf(new, sizeof(new), "%s.new", to);
	out = open(new, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	CHECK(in != -1 && out != -1);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		CHECK_INT(write(out, buf, (size_t)n), n);
	close(in);
	close(out);
	CHECK_INT(rename(new, to), 0);
}

static void
abstract_listen(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)getpid());
	setenv("CONFINE_TEST", name, 1);
	snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1, "confine-test-%s",
	    name);
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_INT(bind(listening, (struct sockaddr *)&sun,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			  strlen(sun.sun_path + 1))),
	    0);
	CHECK_INT(listen(listening, SOMAXCONN), 0);
}

void
scratch_make(void)
{
	snprintf(scratch, sizeof(scratch), "/tmp/test_confine.XXXXXX");
	CHECK(mkdtemp(scratch) != NULL);
	file_replace(scratch_path("config.json"), "secret", 0600);
	file_replace(scratch_path("place.own"), "own", 0600);
	abstract_listen();
}

void
scratch_remove(void)
{
	const char *const argv[] = { "/bin/rm", "-rf", scratch, NULL };
	struct confine_rules none = { .ruleset = -1 };

	close(listening);
	CHECK_INT(confined_start(&none, argv), 0);
}

const char *
probe_path(void)
{
	static char path[PATH_MAX];

	CHECK(realpath("confine_probe", path) != NULL);
	return path;
}

/* All that the command prints, until its last process has closed the pipe. */
static void
output_read(int fd)
{
	size_t n = 0;
	ssize_t got;

	while (n < sizeof(confined_output) - 1 &&
	    (got = read(fd, confined_output + n,
		 sizeof(confined_output) - 1 - n)) > 0)
		n += (size_t)got;
	confined_output[n] = '\0';
	close(fd);
}

int
confined_start(const struct confine_rules *rules, const char *const *argv)
{
	int fds[2], status;
	char *args[64];
	pid_t pid;

	memset(args, 0, sizeof(args));
	for (status = 0; argv[status] != NULL; status++)
		memcpy(&args[status], &argv[status], sizeof(args[0]));
	CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
	fflush(NULL);
	/* vfork(), as the runner: an error that changes memory shows. */
	pid = vfork();
	if (pid == 0) {
		dup2(fds[1], 1);
		if (confine_apply(rules) == -1)
			_exit(126);
		execve(args[0], args, environ);
		_exit(127);
	}
	close(fds[1]);
	output_read(fds[0]);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 126)
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -2;
	return status;
}

int
confined_run(struct confine *c, const char *const *argv)
{
	struct confine_rules rules;
	int status;

	if (confine_prepare(c, argv[0], &rules) == -1)
		return -3;
	CHECK(rules.n <= CONFINE_RULES_MAX);
	status = confined_start(&rules, argv);
	confine_release(&rules);
	CHECK_INT(rules.ruleset, -1);
	return status;
}

int
confined_probe(struct confine *c, const char *probe, const char *const *files)
{
	const char *argv[32] = { probe, scratch_path("config.json"),
		scratch_path("place"), NULL };
	char pid[16];
	unsigned n = 4;

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	argv[3] = pid;
	for (; files != NULL && *files != NULL && n < 31; files++)
		argv[n++] = *files;
	return confined_run(c, argv);
}

int
probed(const char *name)
{
	size_t len = strlen(name);
	const char *line = confined_output;

	while (line != NULL) {
		if (strncmp(line, name, len) == 0 && line[len] == ' ')
			return atoi(line + len + 1);
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return -1;
}
