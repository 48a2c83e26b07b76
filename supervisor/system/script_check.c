/* SPDX-License-Identifier: MIT */
/*
 * The check of -test on the scripts of slurmctld: do PrologSlurmctld and
 * EpilogSlurmctld call the hook, and can slurmctld execute them, as far as this
 * host shows it?  If it cannot execute PrologSlurmctld, slurmctld 20.11 requeues
 * each job, 22.05 runs the job without the hook, and 24.11 refuses to reconfigure.
 */
#include "config.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/system.h"

#define HOOK_NAME   "cc-slurm-adapter"
#define SCRIPT_MAX  (256u * 1024) /* bytes of a script that are read */
#define SCRIPTS_MAX 64		  /* of one key of slurm.conf */

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

/* 1 when the script calls the hook, 0 when not, -1 with errno. */
static int
script_calls_hook(const char *path)
{
	const char *name = strrchr(path, '/');
	char *text;
	ssize_t n = -1;
	int fd, rc = -1;

	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
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
 * 1 when the user of slurmctld cannot execute the script, 0 when the user can or
 * this is not known.  access(2) also knows ACLs and the file server's answer.
 */
static int
script_is_closed(const struct setup *setup, const char *path)
{
	const struct identity *id = &setup->slurm_user;
	int status = 0;
	pid_t pid;

	if (!setup->has_slurm_user || (pid = fork()) == -1)
		return 0;
	if (pid == 0) {
		if (id->uid != getuid() &&
		    (setgroups((size_t)id->n_groups, id->groups) == -1 ||
			setgid(id->gid) == -1 || setuid(id->uid) == -1))
			_exit(0);
		_exit(access(path, R_OK | X_OK) == -1 && errno == EACCES);
	}
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

/* The result of the check of the scripts of one key. */
struct scripts {
	int calls;	       /* one of them calls the hook */
	int error;	       /* 0: one of them is readable, else errno */
	char closed[PATH_MAX]; /* calls the hook, cannot be executed; or "" */
};

static void
scripts_read(const struct setup *setup, char *value, struct scripts *s)
{
	glob_t found;
	char *path;
	size_t i;
	int rc;

	while (!s->calls && (path = strsep(&value, ",")) != NULL) {
		if (glob(path, GLOB_NOCHECK, NULL, &found) != 0)
			continue;
		for (i = 0; i < found.gl_pathc && i < SCRIPTS_MAX; i++) {
			rc = script_calls_hook(found.gl_pathv[i]);
			if (s->error != 0)
				s->error = rc == -1 ? errno : 0;
			s->calls |= rc == 1;
			if (rc == 1 &&
			    script_is_closed(setup, found.gl_pathv[i]))
				snprintf(s->closed, sizeof(s->closed), "%s",
				    found.gl_pathv[i]);
		}
		globfree(&found);
	}
}

static void
script_check(const struct setup *setup, FILE *out, const char *key,
    const char *value)
{
	struct scripts s = { .error = ENOENT };
	char *copy = strdup(value);

	if (copy != NULL)
		scripts_read(setup, copy, &s);
	if (*value == '\0')
		fprintf(out,
		    "warn %s is not set: short jobs are found later, without "
		    "threads and GPUs; in slurm.conf, set %s=%s/prep-hook.sh, "
		    "then run: scontrol reconfigure\n",
		    key, key, setup->program_dir);
	else if (s.closed[0] != '\0')
		fprintf(out,
		    "warn %s: user %u, who runs slurmctld, cannot execute %s: "
		    "no hook message is sent, and slurmctld 20.11 requeues "
		    "each job; run: namei -l %s, and permit this user to read "
		    "and execute the file and to enter each directory\n",
		    key, (unsigned)setup->slurm_user.uid, s.closed, s.closed);
	else if (s.calls)
		fprintf(out, "ok %s calls this hook (%s)\n", key, value);
	else if (s.error != 0)
		fprintf(out,
		    "warn %s=%s cannot be read on this host: %s; run this test "
		    "on the host of slurmctld\n",
		    key, value, strerror(s.error));
	else
		fprintf(out,
		    "warn %s=%s does not call " HOOK_NAME
		    "; add this line to the script: %s/prep-hook.sh\n",
		    key, value, setup->program_dir);
	free(copy);
}

static void
plugin_check(FILE *out, const char *value)
{
	if (strstr(value, "script") == NULL)
		fprintf(out,
		    "warn PrEpPlugins=%s: slurmctld runs no scripts; in "
		    "slurm.conf, add prep/script to PrEpPlugins, then run: "
		    "scontrol reconfigure\n",
		    value);
}

void
scripts_check(const struct setup *setup, const char *hook, FILE *out)
{
	const char *equals = strchr(hook, '=');
	char key[64];

	if (equals == NULL || equals - hook >= (int)sizeof(key))
		return;
	snprintf(key, sizeof(key), "%.*s", (int)(equals - hook), hook);
	if (strcmp(key, "PrEpPlugins") == 0)
		plugin_check(out, equals + 1);
	else
		script_check(setup, out, key, equals + 1);
}
