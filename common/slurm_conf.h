/* SPDX-License-Identifier: MIT */
/* The paths that a slurm.conf names.  Other keys are ignored. */
#ifndef COMMON_SLURM_CONF_H
#define COMMON_SLURM_CONF_H

/* What Slurm's commands do with a path. */
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

#endif
