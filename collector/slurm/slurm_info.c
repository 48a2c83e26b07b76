/* SPDX-License-Identifier: MIT */
/*
 * Where Slurm's commands are, their environment, and what differs by version.
 */
#include "config.h"

#include <sys/stat.h>

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/slurm/slurm.h"

static const char *const names[CMD__COUNT] = {
	[CMD_SQUEUE] = "squeue",
	[CMD_SCONTROL] = "scontrol",
	[CMD_SACCT] = "sacct",
	[CMD_SACCTMGR] = "sacctmgr",
	[CMD_SDIAG] = "sdiag",
};

/* From this version on (year * 100 + month); the last match counts. */
static const struct dialect {
	unsigned from;
	/* STAGE_OUT, SIGNALING came with 17.11, STOPPED with 17.02. */
	const char *live_states;
} dialects[] = {
	{ 0, "R,S,CG,CF,ST,SO,SI,RS" },
};

const char *
slurm_live_states(const struct slurm *slurm)
{
	const char *states = dialects[0].live_states;
	size_t i;

	for (i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
		if (slurm->version >= dialects[i].from)
			states = dialects[i].live_states;
	return states;
}

void
slurm_find(struct slurm *slurm, const char *bin_dir)
{
	const struct passwd *pw;
	size_t i, len;

	if (*bin_dir == '\0')
		bin_dir = SLURMBINDIR;
	slurm->missing[0] = '\0';
	for (i = 0; i < CMD__COUNT; i++) {
		snprintf(slurm->path[i], sizeof(slurm->path[i]), "%s/%s",
		    bin_dir, names[i]);
		if (access(slurm->path[i], X_OK) == 0)
			continue;
		len = strlen(slurm->missing);
		snprintf(slurm->missing + len, sizeof(slurm->missing) - len,
		    "%s%s", len > 0 ? " " : "", names[i]);
	}
	pw = getpwuid(geteuid());
	if (pw != NULL)
		snprintf(slurm->user, sizeof(slurm->user), "%s", pw->pw_name);
	else
		snprintf(slurm->user, sizeof(slurm->user), "%u",
		    (unsigned)geteuid());
}

int
slurm_environment(struct runner *r, const char *slurm_conf, const char *bin_dir)
{
	const char *env[8];
	char path[1024], conf[4200];
	size_t n = 0;

	snprintf(path, sizeof(path), "PATH=%s:/usr/bin:/bin:/usr/sbin:/sbin",
	    *bin_dir != '\0' ? bin_dir : SLURMBINDIR);
	env[n++] = path;
	env[n++] = "LC_ALL=C.UTF-8";
	env[n++] = "TZ=UTC";
	env[n++] = "SLURM_TIME_FORMAT=%s";
	if (slurm_conf != NULL && *slurm_conf != '\0') {
		snprintf(conf, sizeof(conf), "SLURM_CONF=%s", slurm_conf);
		env[n++] = conf;
	}
	env[n] = NULL;
	return runner_environment(r, env);
}

int
slurm_replaced(struct slurm *slurm)
{
	struct timespec before = slurm->installed;
	struct stat st;

	if (stat(slurm->path[CMD_SQUEUE], &st) == -1)
		return 0;
	slurm->installed = st.st_ctim;
	return (before.tv_sec != 0 || before.tv_nsec != 0) &&
	    (before.tv_sec != st.st_ctim.tv_sec ||
		before.tv_nsec != st.st_ctim.tv_nsec);
}

int
slurm_permission_inherent(const struct slurm *slurm)
{
	return geteuid() == 0 ||
	    (slurm->slurm_user[0] != '\0' &&
		strcmp(slurm->slurm_user, slurm->user) == 0);
}

int
permission_known(const struct cluster *c)
{
	if (slurm_permission_inherent(&c->slurm))
		return 1;
	return (c->permission == PERMISSION_OPERATOR ||
		   c->permission == PERMISSION_OPEN) &&
	    c->permission_poll == c->listing.number;
}
