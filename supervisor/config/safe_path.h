/* SPDX-License-Identifier: MIT */
/*
 * Files that other users than root and the service's user can change: by owner
 * or mode of the file, or by a directory above it.
 */
#ifndef SUPERVISOR_CONFIG_SAFE_PATH_H
#define SUPERVISOR_CONFIG_SAFE_PATH_H

#include "common/model/conf.h"

#define UNSAFE_TEXT_MAX 1024 /* bytes with the NUL; two paths are cut */

struct unsafe_path {
	unsigned next;	   /* 0 before the first call */
	enum conf_key key; /* CONF__COUNT for the configuration itself */
	char text[UNSAFE_TEXT_MAX]; /* the file, the reason, the command */
};

/*
 * Finds the next unsafe one of the configuration and the files with secrets
 * or certificates of authorities that it names.  1, or 0 after the last one.
 */
int unsafe_path_next(const struct conf *conf, const char *config_path,
    struct unsafe_path *u);

#endif
