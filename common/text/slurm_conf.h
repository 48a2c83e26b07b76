/* SPDX-License-Identifier: MIT */
/* Reads a slurm.conf: the paths that it names, and single values. */
#ifndef COMMON_SLURM_CONF_H
#define COMMON_SLURM_CONF_H

#include <stddef.h>

/* The use that Slurm's commands make of a path. */
enum slurm_conf_path {
	SLURM_CONF_DIRECTORY, /* load plugins from it */
	SLURM_CONF_SOCKET,    /* the directory of a socket: connect */
	SLURM_CONF_FILE,      /* read it; it is no slurm.conf */
	SLURM_CONF_INCLUDE    /* read it as a part of slurm.conf */
};

/*
 * Calls found with each path, at most 32 times.  Only an include may be a
 * relative path; it is relative to the directory of slurm.conf.  A file that is
 * missing, no regular file, not readable or longer than 4 MiB gives no path.
 */
void slurm_conf_scan(const char *path,
    void (*found)(enum slurm_conf_path kind, const char *path, void *arg),
    void *arg);

/* The same for each line, as it is in the file. */
void slurm_conf_lines(const char *path,
    void (*on_line)(const char *line, void *arg), void *arg);
/*
 * The value in a line "KEY=value", or "KEY value" if is_spaced, and its length.
 * NULL: the line has another key, or the value is empty.
 */
const char *slurm_conf_value(const char *line, const char *key, int is_spaced,
    size_t *len);

#endif
