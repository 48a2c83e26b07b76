/* SPDX-License-Identifier: MIT */
/*
 * The user of slurmctld, who runs the hooks: SlurmUser of slurm.conf and of the
 * files that it includes.  The last value is used, as in Slurm.  A file that is
 * missing, not readable or too long has no value.
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/slurm_conf.h"
#include "supervisor/system/system.h"

#define FILES_MAX 32 /* with included files; also ends a circle */

struct user_search {
	char directory[PATH_MAX]; /* of slurm.conf: of relative includes */
	char *name;		  /* of the caller */
	size_t size;
	unsigned n_files;
	int found;
};

static void file_search(struct user_search *s, const char *path);

static void
include_search(struct user_search *s, const char *name, size_t len)
{
	char path[PATH_MAX];
	int n;

	n = name[0] == '/' ?
	    snprintf(path, sizeof(path), "%.*s", (int)len, name) :
	    snprintf(path, sizeof(path), "%s/%.*s", s->directory, (int)len,
		name);
	if (n > 0 && (size_t)n < sizeof(path))
		file_search(s, path);
}

static void
line_search(const char *line, void *arg)
{
	struct user_search *s = arg;
	const char *value;
	size_t len;

	value = slurm_conf_value(line, "SlurmUser", 0, &len);
	if (value != NULL && len < s->size) {
		memcpy(s->name, value, len);
		s->name[len] = '\0';
		s->found = 1;
	}
	value = slurm_conf_value(line, "Include", 1, &len);
	if (value != NULL && len < PATH_MAX)
		include_search(s, value, len);
}

static void
file_search(struct user_search *s, const char *path)
{
	if (s->n_files++ < FILES_MAX)
		slurm_conf_lines(path, line_search, s);
}

int
slurm_conf_user(const char *path, char *name, size_t size)
{
	struct user_search s = { .name = name, .size = size };
	const char *slash = strrchr(path, '/');

	snprintf(s.directory, sizeof(s.directory), "%.*s",
	    slash != NULL ? (int)(slash - path) : 0, path);
	file_search(&s, path);
	return s.found;
}

/* The default of Slurm's commands: where Slurm was installed, or the system. */
static int
usual_search(const struct conf *conf, char *name, size_t size)
{
	static const char *const usual[] = {
		"/etc/slurm/slurm.conf",
		"/etc/slurm-llnl/slurm.conf",
		"/usr/local/etc/slurm.conf",
		"/run/slurm/conf/slurm.conf",
	};
	const char *bin = conf_str(conf, CONF_SLURM_BIN_DIR);
	char path[PATH_MAX];
	size_t i;

	if (bin[0] == '\0')
		bin = SLURMBINDIR;
	if (snprintf(path, sizeof(path), "%s/../etc/slurm.conf", bin) <
		(int)sizeof(path) &&
	    slurm_conf_user(path, name, size))
		return 1;
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (slurm_conf_user(usual[i], name, size))
			return 1;
	return 0;
}

int
slurm_user_name(const struct conf *conf, char *name, size_t size)
{
	const char *file = conf_str(conf, CONF_SLURM_CONF);

	if (file[0] == '\0')
		file = getenv("SLURM_CONF");
	if (file != NULL && file[0] == '/')
		return slurm_conf_user(file, name, size);
	return usual_search(conf, name, size);
}
