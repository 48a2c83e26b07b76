/* SPDX-License-Identifier: MIT */
/*
 * `cc-slurm-adapterctl backfill`: reads the ended runs of a past range in
 * chunks and delivers them after all other runs.
 */
#ifndef SUBMITTER_RECONCILE_BACKFILL_H
#define SUBMITTER_RECONCILE_BACKFILL_H

#include "common/model/ctl.h"
#include "submitter/spool/spool.h"

struct submitter;
struct backfill;

/*
 * Continues where the last process ended.  Lives as long as the process;
 * fatalx() when out of memory.
 */
struct backfill *backfill_new(struct submitter *s);
/* The command: begin, --dry-run, --status, --cancel. */
void backfill_ctl(struct backfill *b, uint64_t request,
    const struct ctl_request *req);
void backfill_status(struct backfill *b, uint64_t request);
/*
 * The centre's order to publish the runs of a range again, as the command with
 * --nats.  NULL, or why it does not begin.
 */
const char *backfill_order(struct backfill *b, const char *cluster,
    int64_t from, int64_t to);
/*
 * The centre's order to end the backfill of this cluster, whoever began it; not a
 * dry run.  NULL with the result in text, or why it is not ended.
 */
const char *backfill_cancel(struct backfill *b, const char *cluster, char *text,
    size_t size);
/* Writes one line. */
void backfill_progress(struct backfill *b, char *text, size_t size);
/* A collector is connected: the chunk is requested again. */
void backfill_peer(struct backfill *b);
/* A record of the range was stored or was known. */
void backfill_record(struct backfill *b, enum spool_put put);
/* A run may be held that no chunk has read: an import has stored it. */
void backfill_held(struct backfill *b);
/* A record of a dry run; it is not stored. */
void backfill_dryrun_record(struct backfill *b, const struct job *job);
/*
 * All records of the range up to this time were received, or the collector does
 * not have the cluster (WATERMARK_NO_CLUSTER).  Belongs to the open transaction.
 */
void backfill_watermark(struct backfill *b, const char *cluster, int64_t until);

#endif
