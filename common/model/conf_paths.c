/* SPDX-License-Identifier: MIT */
/*
 * Paths that the configuration need not name.  The usual names of the pid file
 * and the last-run file give the usual names beside them; any other name gives
 * a name of its own, so that two daemons can share their directories.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/model/conf.h"

/* Splits path at its last slash; returns the bytes of "DIR/". */
static size_t
directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* Writes "DIR/NAME.END", or "DIR/END" without a name. */
static int
path_write(char *buf, size_t size, const char *path, size_t name_length,
    const char *end)
{
	size_t dir = directory_length(path);
	int n;

	n = snprintf(buf, size, "%.*s%.*s%s%s", (int)dir, path,
	    (int)name_length, path + dir, name_length > 0 ? "." : "", end);
	return n >= 0 && (size_t)n < size ? 0 : -1;
}

int
conf_ctl_sock_path(const char *pid_file, char *buf, size_t size)
{
	const char *name = pid_file + directory_length(pid_file);
	size_t n = strlen(name);

	if (n > 4 && strcmp(name + n - 4, ".pid") == 0)
		n -= 4;
	if (strcmp(name, "daemon.pid") == 0)
		n = 0;
	return path_write(buf, size, pid_file, n, "ctl.sock");
}

int
conf_is_usual_last_run(const char *last_run)
{
	const char *name = last_run + directory_length(last_run);

	return strcmp(name, "lastrun") == 0 || strcmp(name, "last_run") == 0;
}

int
conf_spool_path(const char *last_run, char *buf, size_t size)
{
	const char *name = last_run + directory_length(last_run);

	return path_write(buf, size, last_run,
	    conf_is_usual_last_run(last_run) ? 0 : strlen(name), "spool");
}
