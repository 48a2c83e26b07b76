/* SPDX-License-Identifier: MIT */
/*
 * `cc-slurm-adapterctl backfill`: what ended in a past range, fetched in
 * chunks of time and delivered after everything else.
 */
#ifndef SUBMITTER_RECONCILE_BACKFILL_H
#define SUBMITTER_RECONCILE_BACKFILL_H

#include "common/ctl.h"
#include "submitter/spool/spool.h"

struct submitter;
struct backfill;

/* Goes on where the last process left it.  NULL on memory. */
struct backfill *backfill_new(struct submitter *s);
void backfill_free(struct backfill *b);
/* The verb: begin, --dry-run, --status, --cancel. */
void backfill_ctl(struct backfill *b, uint64_t request,
    const struct ctl_request *req);
void backfill_status(struct backfill *b, uint64_t request);
/* A collector is there: what its predecessor was asked is asked again. */
void backfill_peer(struct backfill *b);
/* A record of the range was stored, or found to be known. */
void backfill_record(struct backfill *b, enum spool_put put);
/* A record of a dry run, which was not stored. */
void backfill_dryrun_record(struct backfill *b, const struct job *job);
/* All of the range up to here has come; belongs to the open transaction. */
void backfill_watermark(struct backfill *b, const char *cluster, int64_t until);

#endif
