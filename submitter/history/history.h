/* SPDX-License-Identifier: MIT */
/*
 * The history of runs and the counters of the last month, in a file beside the
 * spool.  Nothing depends on the history: events are kept in memory and written
 * in batches without waiting for the disk; a file that cannot be written is
 * removed and begun anew.
 */
#ifndef SUBMITTER_HISTORY_HISTORY_H
#define SUBMITTER_HISTORY_HISTORY_H

#include <stdint.h>

#include "common/model/job.h"
#include "submitter/history/counters.h"
#include "submitter/history/events.h"

struct history;
struct submitter;

/* Each function accepts NULL for the history and does nothing then. */

/*
 * path: the file, in the current directory of the process.  It is opened by
 * history_conf().  Lives as long as the process; fatalx() when out of memory.
 */
struct history *history_new(struct submitter *s, const char *path);
/*
 * days: that a run is kept after its first event, 0 = no history, and the file
 * is removed.  max_bytes: of the file; the oldest runs are removed first.
 */
void history_conf(struct history *h, int64_t days, int64_t max_bytes);
/* Writes what is in memory and closes the file. */
void history_close(struct history *h);

/*
 * Notes an event of a run now, or at a time of history_now(); a and b: see
 * events.h.  HISTORY_STOP_TAKEN and HISTORY_NATS_STOP: a = end of the run, epoch,
 * for the latency.  The event of NATS is counted as one of cc-backend if a is not
 * 0: the run has no other destination.
 */
void history_note(struct history *h, const struct run_key *key,
    enum history_event event, uint64_t a, uint64_t b);
void history_note_at(struct history *h, int64_t ms, const struct run_key *key,
    enum history_event event, uint64_t a, uint64_t b);
/* The wall clock, epoch ms. */
int64_t history_now(void);
/* The start time of the run has become start. */
void history_moved(struct history *h, const struct run_key *key, int64_t start);
/*
 * A hook was called; ms: epoch.  The run gets the event when its record or its
 * end arrives.
 */
void history_hook(struct history *h, const char *cluster, uint64_t job,
    unsigned kind, int64_t ms);

/* A run, or with key.start 0 the hooks of no run yet. */
typedef void history_fn(const struct run_key *key,
    const struct history_events *events, void *arg);
/*
 * Calls fn for each run of the job in the order of their first events, at most
 * max, then for its hooks of no run; cluster "" = all.  Returns the number of
 * runs, 0 also without a history.
 */
int history_job(struct history *h, const char *cluster, uint64_t job,
    history_fn *fn, void *arg, int max);

/* Adds to the counters of this minute; see counters.h. */
void history_count(struct history *h, enum history_counter which,
    uint64_t value);
/*
 * Counts the payload of MSG_SLURM_TIMES in this minute.  0, or -1 when it is not
 * valid; nothing is counted then.
 */
int history_slurm_times(struct history *h, struct reader *r);
/*
 * Calls fn for each stored minute or hour, oldest first; t: epoch of its
 * begin.
 */
typedef void history_count_fn(enum history_span span, int64_t t,
    const struct history_counts *counts, void *arg);
void history_counts_each(struct history *h, history_count_fn *fn, void *arg);

/* Bytes in use in the file; runs in it; events lost; files begun anew. */
struct history_status {
	uint64_t bytes;
	uint64_t runs;
	uint64_t lost;
	uint64_t begun_anew;
	int on;
	char error[160]; /* the last one; "" = none */
};
void history_status(struct history *h, struct history_status *status);

#endif
