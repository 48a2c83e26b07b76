/* SPDX-License-Identifier: MIT */
/*
 * Answers the centre's questions which runs Slurm knows (deliver "stream").  The
 * collector looks the runs up.  A run that Slurm knows is published again; the
 * answer has the runs that Slurm does not know and that no row here has.  Begins
 * a backfill for the centre, and tells it the progress.
 */
#ifndef SUBMITTER_RECONCILE_CENTRE_ASKS_H
#define SUBMITTER_RECONCILE_CENTRE_ASKS_H

#include "common/model/job.h"
#include "submitter/nats/nats.h"

struct centre_asks;
struct submitter;

/* Lives as long as the process; fatalx() when out of memory. */
struct centre_asks *centre_asks_new(struct submitter *s);
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
