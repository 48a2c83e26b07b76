/* SPDX-License-Identifier: MIT */
/*
 * The environments of the child processes, built from nothing: the environment
 * of the service may have secrets in it, and SLURM_*, SACCT_* and SQUEUE_*
 * would change the output of Slurm's commands.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/system/system.h"

#define ENV_MAX 16 /* more than the variables below, and NULL */

static int
env_add(char **env, const char *name, const char *value)
{
	char **p = env;

	while (*p != NULL)
		p++;
	if (asprintf(p, "%s=%s", name, value) == -1) {
		*p = NULL;
		return -1;
	}
	return 0;
}

static int
env_pass(char **env, const char *name)
{
	const char *value = getenv(name);

	return value != NULL ? env_add(env, name, value) : 0;
}

/* The time zone of log lines, and for tests what a sanitizer does. */
static char **
env_base(void)
{
	char **env = calloc(ENV_MAX, sizeof(*env));

	if (env == NULL)
		return NULL;
	if (env_add(env, "PATH", "/usr/sbin:/usr/bin:/sbin:/bin") == -1 ||
	    env_add(env, "LANG", "C.UTF-8") == -1 ||
	    env_pass(env, "TZ") == -1 || env_pass(env, "INVOCATION_ID") == -1)
		goto fail;
#ifdef SANITIZED
	if (env_pass(env, "ASAN_OPTIONS") == -1 ||
	    env_pass(env, "UBSAN_OPTIONS") == -1)
		goto fail;
#endif
#ifdef CRASH_POINTS
	if (env_pass(env, "CSA_CRASH") == -1)
		goto fail;
#endif
#ifdef BREAKOUT
	if (env_pass(env, "CSA_BREAKOUT") == -1)
		goto fail;
#endif
	return env;
fail:
	env_free(env);
	return NULL;
}

/*
 * The runner reads slurmConf from its configuration.  Here the value would stay
 * after a reload that empties the key.
 */
char **
env_worker(enum role role)
{
	char **env = env_base();

	if (env != NULL && role == ROLE_RUNNER &&
	    (env_pass(env, "SLURM_CONF") == -1 ||
		env_pass(env, "SLURM_CONF_SERVER") == -1)) {
		env_free(env);
		return NULL;
	}
	return env;
}

char **
env_parser(void)
{
	char **env = env_base();

	if (env != NULL && env_pass(env, "CREDENTIALS_DIRECTORY") == -1) {
		env_free(env);
		return NULL;
	}
	return env;
}

void
env_free(char **env)
{
	char **p;

	if (env == NULL)
		return;
	for (p = env; *p != NULL; p++)
		free(*p);
	free(env);
}
