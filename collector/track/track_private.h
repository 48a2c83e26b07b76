/* SPDX-License-Identifier: MIT */
/* Declarations for track.c and track_accounting.c only. */
#ifndef COLLECTOR_TRACK_TRACK_PRIVATE_H
#define COLLECTOR_TRACK_TRACK_PRIVATE_H

#include "collector/track/track.h"

void track_message_set(struct job *job, const char *text);
/*
 * Sets the identity of the record: Slurm's cluster, and the start as first
 * sent.
 */
void track_key_set(struct cluster *c, struct job *job,
    const struct open_run *run);
/* The same of a record with the end. */
void track_end_key_set(struct cluster *c, struct job *job,
    const struct open_run *run);
/*
 * Is the job left out because of its hosts?  run: its open run, or NULL.  A run
 * that was reported stays so when the setting changes: cc-backend would show it
 * as running for ever.
 */
int track_ignores(const struct cluster *c, const struct open_run *run,
    const struct job *job);
/* Order number of the record, 0 on error. */
uint64_t track_send(struct cluster *c, struct job *job);
/* The end is known: moves the run from the open to the done runs. */
void track_ended(struct cluster *c, struct open_run *run, const struct job *job,
    int64_t start_shown);

#endif
