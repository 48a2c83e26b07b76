/* SPDX-License-Identifier: MIT */
/* Starts a command as the runner does and keeps what it prints. */
#ifndef TESTS_UNIT_RUNNER_CONFINE_CONFINED_H
#define TESTS_UNIT_RUNNER_CONFINE_CONFINED_H

#include <sys/types.h>

#include "runner/confine/confine.h"

#define PLACES_MAX 128

/* A folder for this test, below /tmp. */
extern char scratch[PLACES_MAX];

/* Makes scratch, and in it the files of confine_probe. */
void scratch_make(void);
void scratch_remove(void);
/* Path of a file in scratch; four are valid at a time. */
char *scratch_path(const char *name);
/* Writes the file anew by rename(), as package managers do. */
void file_replace(const char *path, const char *text, mode_t mode);
void file_copy(const char *from, const char *to);

/* The probe, an absolute path. */
const char *probe_path(void);

/*
 * Starts argv with the rules; its output is in confined_output.  The wait
 * status, or -1 when it could not be confined, -2 when exec failed.
 */
int confined_start(const struct confine_rules *rules, const char *const *argv);
/* Prepares and starts.  -3 when the rules could not be prepared. */
int confined_run(struct confine *c, const char *const *argv);
/* Prepares and starts the probe or a copy of it; each file is opened. */
int confined_probe(struct confine *c, const char *probe,
    const char *const *files);
extern char confined_output[16384];
/* errno of the probe's line; -1 when there is no such line. */
int probed(const char *name);

#endif
