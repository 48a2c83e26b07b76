/* SPDX-License-Identifier: MIT */
/*
 * One process in a group of its own, its arguments, and how it ended as text;
 * see runner.h.
 */
#include "config.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/slurm/runner.h"

void
words_free(char **words)
{
	size_t i;

	for (i = 0; words != NULL && words[i] != NULL; i++)
		free(words[i]);
	free(words);
}

char **
words_copy(const char *const *words)
{
	char **copy;
	size_t i, n = 0;

	while (words[n] != NULL)
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (i = 0; copy != NULL && i < n; i++) {
		copy[i] = strdup(words[i]);
		if (copy[i] == NULL) {
			words_free(copy);
			return NULL;
		}
	}
	return copy;
}

int
pipe_new(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) == -1)
		return -1;
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) == -1) {
		close(fds[0]);
		close(fds[1]);
		return -1;
	}
	return 0;
}

static int
spawn_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	if (posix_spawnattr_setflags(attr,
		POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
		    POSIX_SPAWN_SETSIGDEF) != 0 ||
	    posix_spawnattr_setpgroup(attr, 0) != 0 ||
	    posix_spawnattr_setsigmask(attr, &none) != 0 ||
	    posix_spawnattr_setsigdefault(attr, &all) != 0)
		return -1;
	return 0;
}

int
spawn_command(pid_t *pid, const char *const *argv, char *const *env, int out,
    int err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	char *args[RUNNER_ARGS_MAX + 1];
	size_t i;
	int rc;

	for (i = 0; argv[i] != NULL; i++) {
		if (i == RUNNER_ARGS_MAX)
			return E2BIG;
		/*
		 * The prototype of posix_spawn has no const, but it does not
		 * write to the arguments.
		 */
		memcpy(&args[i], &argv[i], sizeof(args[i]));
	}
	args[i] = NULL;
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	rc = ENOMEM;
	if (posix_spawn_file_actions_adddup2(&files, out, 1) == 0 &&
	    posix_spawn_file_actions_adddup2(&files, err, 2) == 0 &&
	    spawn_attributes(&attr) == 0)
		rc = posix_spawn(pid, argv[0], &files, &attr, args, env);
	if (rc != 0)
		*pid = 0;
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return rc;
}

const char *
command_why(const struct command_end *end, char *buf, size_t size)
{
	switch (end->outcome) {
	case COMMAND_TIMEOUT:
		snprintf(buf, size, "no answer within %ld s, killed",
		    end->ms / 1000);
		break;
	case COMMAND_TOO_LONG:
		snprintf(buf, size,
		    "killed after %llu bytes, more than expected",
		    (unsigned long long)end->bytes);
		break;
	case COMMAND_REFUSED:
		snprintf(buf, size, "its answer was not what was asked for");
		break;
	case COMMAND_SPAWN:
		snprintf(buf, size, "cannot be started: %s", end->err);
		break;
	case COMMAND_FAILED:
		if (WIFSIGNALED(end->status))
			snprintf(buf, size, "killed by signal %d%s%s",
			    WTERMSIG(end->status), *end->err ? ": " : "",
			    end->err);
		else
			snprintf(buf, size, "exit status %d%s%s",
			    WEXITSTATUS(end->status), *end->err ? ": " : "",
			    end->err);
		break;
	case COMMAND_OK:
		snprintf(buf, size, "its answer ends in the middle%s%s",
		    *end->err ? ": " : "", end->err);
		break;
	}
	return buf;
}
