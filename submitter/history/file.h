/* SPDX-License-Identifier: MIT */
/* The file of the history: one row for each run, one for each minute and hour. */
#ifndef SUBMITTER_HISTORY_FILE_H
#define SUBMITTER_HISTORY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/job.h"
#include "submitter/history/counters.h"
#include "submitter/history/events.h"

struct history_file;

/*
 * Opens or creates the file.  A file of another version or of another program
 * is an error.  NULL with the reason.
 */
struct history_file *history_file_open(const char *path, int64_t max_bytes,
    char *reason, size_t size);
/* NULL is allowed. */
void history_file_close(struct history_file *f);
/* Removes the file and what SQLite keeps beside it. */
void history_file_remove(const char *path);
void history_file_limit(struct history_file *f, int64_t max_bytes);
/* The text of the last error. */
const char *history_file_error(const struct history_file *f);

/* Each of these returns -1 on an error; then the file is not used any more. */

int history_file_begin(struct history_file *f);
int history_file_commit(struct history_file *f);
/* Appends n events to the row of the run. */
int history_file_add(struct history_file *f, const struct run_key *key,
    const struct history_item *items, size_t n);
int history_file_move(struct history_file *f, const struct run_key *key,
    int64_t start);
/*
 * Removes runs whose first event is older than the time, epoch ms, and the
 * oldest runs while the file is nearly full: at most some hundred in one call.
 */
int history_file_age(struct history_file *f, int64_t oldest_ms);
/*
 * Reads the next run of a job after the row *after (first -1), of any cluster or
 * of the named one: 1, 0 at the end, -1.
 */
int history_file_next(struct history_file *f, const char *cluster, uint64_t job,
    int64_t *after, struct run_key *key, struct history_events *events);
/* Merges the counters into the row of that time. */
int history_file_count(struct history_file *f, enum history_span span,
    int64_t t, const struct history_counts *counts);
/* Removes the rows of this kind before t. */
int history_file_count_age(struct history_file *f, enum history_span span,
    int64_t t);
/* The first row after *t: 1, 0 at the end, -1. */
int history_file_count_next(struct history_file *f, enum history_span span,
    int64_t *t, struct history_counts *counts);
uint64_t history_file_bytes(struct history_file *f);
uint64_t history_file_runs(struct history_file *f);

#endif
