/* SPDX-License-Identifier: MIT */
/* Where Slurm's commands are, and their environment; see runner.h. */
#include "config.h"

#include <sys/stat.h>

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/runner.h"

#define ENV_MAX 6 /* the variables below, and NULL */

static void
env_free(char **env)
{
	char **p;

	for (p = env; env != NULL && *p != NULL; p++)
		free(*p);
	free(env);
}

/*
 * The environment of Slurm's commands, built from nothing: SLURM_*, SACCT_* and
 * SQUEUE_* of the service would change their output.  Slurm's commands read
 * SLURM_CONF_SERVER if there is no slurm.conf.
 */
static char **
env_new(const char *bin_dir, const char *slurm_conf, const char *server)
{
	char **env = calloc(ENV_MAX, sizeof(*env));
	size_t n = 0;
	int rc;

	if (env == NULL)
		return NULL;
	rc = asprintf(&env[n++], "PATH=%s:/usr/bin:/bin:/usr/sbin:/sbin",
	    bin_dir);
	if (rc != -1 && (env[n++] = strdup("LC_ALL=C.UTF-8")) != NULL &&
	    (env[n++] = strdup("TZ=UTC")) != NULL &&
	    (env[n++] = strdup("SLURM_TIME_FORMAT=%s")) != NULL) {
		if (slurm_conf != NULL && *slurm_conf != '\0')
			rc = asprintf(&env[n++], "SLURM_CONF=%s", slurm_conf);
		else if (server != NULL && *server != '\0')
			rc = asprintf(&env[n++], "SLURM_CONF_SERVER=%s",
			    server);
		if (rc != -1)
			return env;
	}
	env[n - 1] = NULL; /* asprintf() leaves it undefined */
	env_free(env);
	return NULL;
}

/*
 * The name of this uid; its number while the name service has never had one.
 * Returns 1 when another one was known.
 */
static int
user_find(struct slurm_site *s)
{
	const struct passwd *pw = getpwuid(geteuid());
	char user[sizeof(s->user)];
	int is_known = s->user[0] != '\0';

	if (pw == NULL && s->user_is_name)
		return 0;
	s->user_is_name = pw != NULL;
	if (pw != NULL)
		snprintf(user, sizeof(user), "%s", pw->pw_name);
	else
		snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
	if (strcmp(user, s->user) == 0)
		return 0;
	memcpy(s->user, user, sizeof(user));
	return is_known;
}

int
slurm_site_conf(struct slurm_site *s, const struct conf *conf)
{
	const char *slurm_conf = conf_str(conf, CONF_SLURM_CONF);
	const char *bin_dir = conf_str(conf, CONF_SLURM_BIN_DIR);
	const char *list = conf_str(conf, CONF_CLUSTERS);
	int first = s->env == NULL;
	char **env;

	if (*slurm_conf == '\0')
		slurm_conf = getenv("SLURM_CONF");
	snprintf(s->bin_dir, sizeof(s->bin_dir), "%s",
	    *bin_dir != '\0' ? bin_dir : SLURMBINDIR);
	env = env_new(s->bin_dir, slurm_conf, getenv("SLURM_CONF_SERVER"));
	if (env == NULL)
		return -1;
	env_free(s->env);
	s->env = env;
	snprintf(s->munge_socket, sizeof(s->munge_socket), "%s",
	    conf_str(conf, CONF_PREP_MUNGE_SOCKET));
	/* Another list restarts the collector, whose numbers are of this one. */
	for (; first && s->clusters < RUNNER_CLUSTERS_MAX &&
	     conf_list_item(list, s->clusters, s->cluster[s->clusters],
		 CLUSTER_MAX) == 1;
	     s->clusters++)
		continue;
	s->replaced += (uint64_t)user_find(s);
	return 0;
}

const char *
slurm_site_path(const struct slurm_site *s, enum slurm_command cmd, char *buf,
    size_t size)
{
	snprintf(buf, size, "%s/%s",
	    cmd == CMD_UNMUNGE ? MUNGEBINDIR : s->bin_dir,
	    slurm_command_name(cmd));
	return buf;
}

/* Returns 1 when another file has the name of the command. */
static int
is_replaced(struct slurm_site *s, enum slurm_command cmd, const struct stat *st)
{
	int before = s->installed[cmd].inode != 0;

	if (s->installed[cmd].inode == st->st_ino &&
	    s->installed[cmd].changed.tv_sec == st->st_ctim.tv_sec &&
	    s->installed[cmd].changed.tv_nsec == st->st_ctim.tv_nsec)
		return 0;
	s->installed[cmd].inode = st->st_ino;
	s->installed[cmd].changed = st->st_ctim;
	return before;
}

int
slurm_site_check(struct slurm_site *s)
{
	char path[1100], missing[sizeof(s->missing)] = "";
	int cmd, changed = 0;
	struct stat st;
	size_t len;

	for (cmd = 0; cmd < CMD__COUNT; cmd++) {
		/* Without unmunge, jobs are collected all the same. */
		if (cmd == CMD_UNMUNGE)
			continue;
		slurm_site_path(s, (enum slurm_command)cmd, path, sizeof(path));
		if (stat(path, &st) == 0 && access(path, X_OK) == 0) {
			changed |= is_replaced(s, (enum slurm_command)cmd, &st);
			continue;
		}
		len = strlen(missing);
		snprintf(missing + len, sizeof(missing) - len, "%s%s",
		    len > 0 ? " " : "",
		    slurm_command_name((enum slurm_command)cmd));
	}
	if (!s->user_is_name)
		changed |= user_find(s);
	s->replaced += (uint64_t)changed;
	if (strcmp(missing, s->missing) != 0) {
		snprintf(s->missing, sizeof(s->missing), "%s", missing);
		changed = 1;
	}
	return changed;
}
