/* SPDX-License-Identifier: MIT */
/*
 * One string of config.json, for the programs that do not parse the whole
 * file: the hook client and the admin tool.  Needs libc and the JSON scanner
 * alone.  The daemon reports faults of the file.
 */
#ifndef COMMON_CONFIG_KEY_H
#define COMMON_CONFIG_KEY_H

#include <stddef.h>

/* The file of all programs when no other one is named. */
#define CONFIG_DEFAULT "/etc/cc-slurm-adapter/config.json"

/*
 * Finds the text of a key in len bytes at p, as the daemon does: the correct
 * spelling wins over another case; of several values the last one is used.
 * 1 with the text in buf; 0 when the key has no text before the first error of the
 * JSON, an empty one, or one that does not fit.
 */
int config_key_find(const char *p, size_t len, const char *key, char *buf,
    size_t size);
/*
 * The same for a file.  -1 with errno when the file cannot be read.  Wipes
 * what it has read: the file may contain secrets.
 */
int config_key_read(const char *path, const char *key, char *buf, size_t size);

#endif
