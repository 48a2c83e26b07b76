/* SPDX-License-Identifier: MIT */
/*
 * Answers the centre's questions which runs Slurm knows (deliver "stream").  The
 * collector looks the runs up.  A run that Slurm knows is published again; the
 * answer has the runs that Slurm does not know and that no row here has.  Begins
 * and ends a backfill for the centre, and tells it the progress and what is known
 * of a job.
 */
#ifndef SUBMITTER_RECONCILE_CENTRE_ASKS_H
#define SUBMITTER_RECONCILE_CENTRE_ASKS_H

#include "common/model/job.h"
#include "submitter/nats/nats.h"

struct centre_asks;
struct submitter;

/* Lives as long as the process; fatalx() when out of memory. */
struct centre_asks *centre_asks_new(struct submitter *s);
/* Writes a line about a job; "" = nothing is known of it. */
typedef void centre_explain_fn(struct submitter *s, const char *cluster,
    uint64_t job, char *text, size_t size);
void centre_asks_explain(struct centre_asks *a, centre_explain_fn *fn);
/* A question arrived. */
void centre_asks_question(struct centre_asks *a, const struct nats_ask *ask);
/*
 * A record of the collector was stored; key: as it arrived; id: its row, 0 when
 * the run is done.  May change the record.
 */
void centre_asks_record(struct centre_asks *a, const struct run_key *key,
    struct job *job, int64_t id);
/* The collector has evidence that Slurm does not know the run. */
void centre_asks_not_found(struct centre_asks *a, const struct run_key *key);
void centre_asks_status(const struct centre_asks *a, uint64_t request);

#endif
