/* SPDX-License-Identifier: MIT */
/*
 * The intake receives records from the collector, puts them into the open
 * transaction, and acknowledges them when they are durable.
 */
#ifndef SUBMITTER_INTAKE_INTAKE_H
#define SUBMITTER_INTAKE_INTAKE_H

#include <stdint.h>

#include "common/ipc/channel.h"
#include "common/model/job.h"
#include "submitter/spool/spool.h"

struct intake;
struct submitter;
struct summary;

/* runs that can be quarantined; a worker died twice on each */
#define QUARANTINE_MAX 64

/*
 * Functions of the boxes above for received messages; set in main.c.  All are
 * required.
 */
struct intake_ops {
	/* A record of a backfill was stored, or found to be known. */
	void (*backfill_record)(struct submitter *s, enum spool_put put);
	/* A record of a dry run, which is not stored. */
	void (*dryrun_record)(struct submitter *s, const struct job *job);
	/* All records of a backfill up to this time were received. */
	void (*backfill_watermark)(struct submitter *s, const char *cluster,
	    int64_t until);
	/*
	 * A record was stored; key: as it arrived; id: its row, 0 when the run is
	 * done.  The function may change the record.
	 */
	void (*record)(struct submitter *s, const struct run_key *key,
	    struct job *job, int64_t id);
	/* Slurm does not know a run. */
	void (*not_found)(struct submitter *s, const struct run_key *key);
};

/*
 * Removes the file that keeps space for a full disk; it is made again when there is
 * space.  0, or -1 with errno.
 */
int intake_remove_reserve(void);
/*
 * Borrows ops.  Lives as long as the process; fatalx() when out of memory.
 */
struct intake *intake_new(struct submitter *s, const struct intake_ops *ops);
/*
 * A collector is connected (NULL: lost): records of the old one are not
 * acknowledged any more.
 */
void intake_peer(struct intake *b, struct channel *c);
/* A message: record, watermark, stream position or not-found. */
void intake_receive(struct intake *b, const struct msg_header *h,
    struct reader *r);
/* Records of this run are not read from now on. */
void intake_quarantine(struct intake *b, const struct run_key *key);
/* 1 when records are written into the spool, and do not wait in memory. */
int intake_has_room(const struct intake *b);
/* 1 when a record of n bytes fits below the limit of a full spool. */
int intake_fits(struct intake *b, size_t n);
/* Called every 10 to 30 s: makes the reserve, checks the shares of clusters. */
void intake_upkeep(struct intake *b);
void intake_status(struct intake *b, uint64_t request);
/* Adds what is wrong with the spool. */
void intake_summary(struct intake *b, struct summary *to);

/* For struct commit_ops (spool/commit.h). */

void intake_committed(struct intake *b);
/* 1 when space was released. */
int intake_rolled_back(struct intake *b);
/* Applies the frames again: 0 or -1. */
int intake_retry(struct intake *b);
/*
 * Sends `flow`: the collector sends the records of ended runs, or keeps them.
 */
void intake_flow(struct intake *b);

/* snapshot.c: watermarks and open runs, for a new collector */

/* To the receiver also the position in the stream of each cluster. */
void snapshot_send(struct submitter *s, struct channel *c);
/* One more run that has no end yet; c may be NULL. */
void snapshot_send_run(struct channel *c, const struct open_key *open);

#endif
