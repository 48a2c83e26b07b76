/* SPDX-License-Identifier: MIT */
/* The environments of the child processes. */
#include "config.h"

#include <stdlib.h>

#include "supervisor/system/system.h"
#include "tests/unit/check.h"

/* The value of the variable, NULL when the environment lacks it. */
static const char *
value_in(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env != NULL && *env != NULL; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

int
main(void)
{
	char **env;

	setenv("SLURM_CONF", "/of/the/service", 1);
	setenv("SLURM_CONF_SERVER", "ctl1:6817", 1);
	setenv("SQUEUE_FORMAT", "%i", 1);
	env = env_worker(ROLE_RUNNER);
	CHECK_STR(value_in(env, "SLURM_CONF"), "/of/the/service");
	CHECK_STR(value_in(env, "SLURM_CONF_SERVER"), "ctl1:6817");
	CHECK_STR(value_in(env, "LANG"), "C.UTF-8");
	CHECK_STR(value_in(env, "SQUEUE_FORMAT"), NULL);
	env_free(env);
	env = env_worker(ROLE_COLLECTOR);
	CHECK_STR(value_in(env, "SLURM_CONF"), NULL);
	CHECK_STR(value_in(env, "SLURM_CONF_SERVER"), NULL);
	env_free(env);
	/* The configuration has slurmConf; the runner reads the key there. */
	unsetenv("SLURM_CONF");
	env = env_worker(ROLE_RUNNER);
	CHECK(env != NULL);
	CHECK_STR(value_in(env, "SLURM_CONF"), NULL);
	env_free(env);
	return check_done();
}
