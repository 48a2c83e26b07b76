/* SPDX-License-Identifier: MIT */
/*
 * The durable store of the submitter: one SQLite file with a row for each run
 * that is not delivered in full, a tombstone for each run that is, and a
 * watermark per cluster. All changes of a few milliseconds share one
 * transaction: a change is durable after spool_commit(), not before.
 */
#ifndef SUBMITTER_SPOOL_SPOOL_H
#define SUBMITTER_SPOOL_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/job.h"

struct inflight;

struct spool;

/* The destinations of a run. */
enum dest {
	DEST_REST,
	DEST_NATS,
	DEST__COUNT
};

/*
 * The state of a run for one destination. The numbers are stored: add new ones
 * at the end.  transition.h has the events, transition.c the table of transitions.
 */
enum run_state {
	RUN_NONE,	 /* not for this destination */
	START_DUE,	 /* runs, its start is due */
	START_DUE_ENDED, /* has ended, its start is due */
	START_BLOCKED,	 /* its start waits for an older run of the job */
	START_CONFLICT,	 /* refused as a duplicate: jobs must be listed */
	STARTED,	 /* start accepted, runs, not committed yet */
	START_COMMITTED, /* start accepted, runs, committed */
	STOP_BLOCKED,	 /* start accepted, has ended, not committed yet */
	STOP_DUE,	 /* its stop is due */
	RUN_DONE,
	START_REJECTED, /* the start was rejected for good */
	STOP_REJECTED,	/* the stop was rejected for good */
	/* to be deleted in cc-backend; see RUN_FORGET_AFTER_DELETE */
	DELETE_DUE,
	/* the stop found the run stopped: a list of jobs must show how */
	STOP_CONFLICT,
	/* another client stopped it with other values: an admin decides */
	STOPPED_BY_OTHERS,
	/* of a backfill: waits for a list of cc-backend's jobs */
	BACKFILL_HELD,
	KEPT_REPLACEABLE, /* delivered; a later run may replace it */
	RUN_STATE__COUNT
};

/*
 * A word for the lines of an export: "start", "stop-refused". It never changes.
 */
const char *run_state_name(enum run_state state);
/* The state as admins read it: "start due". */
const char *run_state_label(enum run_state state);

/* Bits of spool_run.flags; stored. */
/* a start may have been sent: the key does not change any more */
#define RUN_KEY_FIXED 1u
/* found open in cc-backend, no record yet */
#define RUN_FROM_BACKEND 2u
/* not in cc-backend any more: started again if it runs */
#define RUN_MISSING_IN_BACKEND 4u
/* a worker died twice on its record: the record is not read */
#define RUN_QUARANTINED 8u
/* another client stopped it in cc-backend */
#define RUN_STOPPED_BY_OTHERS 16u
#define RUN_STOP_ATTEMPTED    32u /* a stop was sent before */
/* started again because its stop found no such run */
#define RUN_RESTARTED 64u
/* DELETE_DUE: done after the deletion; else started again */
#define RUN_FORGET_AFTER_DELETE 128u
/* its first start had tags, so a repeated one has them, too */
#define RUN_TAGGED 256u
/* its first start had all that is known at the end */
#define RUN_END_IN_START 512u
/* 1024 is in files of version 0.1.0: slurm_info changed with the end */
/* a start may have been sent by REST: its content does not change */
#define RUN_REST_STARTED 2048u
/* no start before Slurm shows the run as running, or its end */
#define RUN_UNCONFIRMED 4096u
#define RUN_BACKFILL	8192u /* of a backfill: due after all live runs */
/* requeued within a minute: a later run may replace it */
#define RUN_REQUEUED_EARLY 16384u
/* a later run replaces it: deleted in cc-backend as soon as possible */
#define RUN_SUPERSEDED 32768u
/* rejected; the message of the previous run says so, or is due */
#define RUN_PREVIOUS_NOTED 65536u
/* published by NATS again: its message ids differ from the first ones */
#define RUN_REPUBLISHED 131072u
/* its record has changed since its message for the stream was made */
#define RUN_CHANGED 262144u
/*
 * its start was refused, no listing showed the run, and the start was repeated;
 * not accepted since
 */
#define RUN_REFUSED_ONCE 524288u
/* its stored record has JOB_MORE */
#define RUN_SCRIPT_DUE 1048576u
/* an admin dropped it: a destination that is added does not get it */
#define RUN_DROPPED 2097152u
/* its start was committed before its end was known: since is that of the end */
#define RUN_COMMIT_SHOWN 4194304u
/* the first list had it before its record came: readers of NATS know its start */
#define RUN_FIRST_LISTED 8388608u

/*
 * Due times are milliseconds of spool_now(). These values have a special
 * meaning.
 */
#define DUE_NOW 0
/* now, after DUE_NOW; spool_save() sets it for RUN_BACKFILL */
#define DUE_AFTER_LIVE 1
#define DUE_LEASED     (INT64_C(1) << 60) /* being sent */
/* with RUN_UNCONFIRMED: never sent */
#define DUE_UNCONFIRMED (DUE_LEASED + 1)

#define NATS_REASON "NATS: "

/* One run's row, without its record. */
struct spool_run {
	int64_t id;
	struct run_key key;
	int64_t end;	/* epoch; 0 = runs */
	int64_t submit; /* epoch; 0 = unknown */
	int64_t alias;	/* another start time of the run; 0 = none */
	unsigned flags;
	enum run_state state[DEST__COUNT];
	int64_t due[DEST__COUNT];
	unsigned tries[DEST__COUNT]; /* since the last success */
	/* spool_now() when the start was accepted; see RUN_COMMIT_SHOWN */
	int64_t since[DEST__COUNT];
	/*
	 * spool_now() when Slurm first reported the run as unknown; 0 = never
	 */
	int64_t not_found_at;
	/*
	 * the same by the wall clock, epoch; spool_now() stands still while the
	 * daemon is stopped; 0 = not known
	 */
	int64_t not_found_time;
	unsigned not_found_count; /* at most 2 */
	char reason[512];	  /* why it waits or was rejected */
	/* the same of NATS alone; begins with NATS_REASON; "" = none */
	char nats_reason[256];
	/* of the spool: as stored */
	enum run_state was[DEST__COUNT];
	unsigned flags_were;
	int cluster;
};

/*
 * The word for the admin: "start due", "sending", "unknown to Slurm"; a
 * constant.
 */
const char *run_state_text(const struct spool_run *run, enum dest dest);

/*
 * Why the run waits for this destination, or was rejected there; "" = no reason.
 * Borrowed from run.
 */
const char *run_reason(const struct spool_run *run, enum dest dest);
/* why: without the prefix */
void run_nats_reason_set(struct spool_run *run, const char *why);

/* The result of storing a record. */
enum spool_put {
	PUT_NEW,
	PUT_MERGED, /* the record changed the run */
	PUT_KNOWN,  /* nothing is new, or the run is done */
	/*
	 * of a backfill; the run is done here, or is published again: held until
	 * the backfill releases it
	 */
	PUT_HELD,
	PUT_REFUSED,  /* it has no valid run, or is too long when merged */
	PUT_NO_SHARE, /* the share for resource records is full */
	PUT_ERROR     /* the disk; nothing of the transaction is durable */
};

/* The runs that `backfill --nats` publishes again. */
struct spool_republish {
	/* 1: a record of a backfill is published, and not sent by REST */
	int records;
	int64_t until; /* epoch: only runs that began up to this time */
	/*
	 * Runs in the spool: of this cluster, that have not ended before from
	 * (epoch), and whose start was published before (spool_now(); 0 =
	 * none).
	 */
	char cluster[CLUSTER_MAX];
	int64_t from;
	int64_t before;
	int64_t id; /* of the command: epoch; a part of the message ids */
};

/* How new runs are stored; read at each spool_put(). */
struct spool_policy {
	int to[DEST__COUNT]; /* destinations in use */
	/* 1: a stop waits until its start is committed */
	int wait_commit;
	/*
	 * 1: NATS gets the whole record of a run, again after each change
	 * (deliver "stream"); records get a revision
	 */
	int whole;
	/* 1: each stop waits until a list shows the run as running */
	int active_only;
	int64_t nats_gap;  /* ms between start and stop; 0 = none */
	int64_t more_wait; /* ms that a start waits for its script */
	/* key of metaData of a script that follows the start; NULL = not sent */
	const char *script_key;
	/* a later run replaces a run requeued early (requeuedRuns=last) */
	int last_requeued;
	/* 1: a stream keeps the records: any age may come, no run is too old */
	int from_stream;
	struct spool_republish republish;
};

/* db.c, open.c */

/* Once per process, before threads are made. */
void spool_prepare(void);
/* fn is called about once a second in long work: migration, recovery. */
void spool_on_long(void (*fn)(void *arg), void *arg);
/* Called in long work: calls this function once a second. */
void spool_alive(void);
/*
 * Opens or creates the file. A damaged one is renamed and its rows are
 * recovered. keep: seconds that a tombstone is kept after the end of the run.
 * max_bytes: limit of the file. Returns owned, or NULL with a reason; errno is
 * ENOSPC when the disk is full or has no inode, also for a part of a recovery,
 * otherwise 0.
 */
struct spool *spool_open(const char *path, uint64_t max_bytes, int64_t keep,
    char *reason, size_t size);
/* Commits and closes; NULL is fine. */
void spool_close(struct spool *sp);
void spool_set_limits(struct spool *sp, uint64_t max_bytes, int64_t keep);
struct spool_policy *spool_policy(struct spool *sp);

/*
 * A clock that never goes back: CLOCK_BOOTTIME in ms, continued from the last
 * process.
 */
int64_t spool_now(const struct spool *sp);
/* spool_now() when this process opened it. */
int64_t spool_opened(const struct spool *sp);

/* Makes all changes durable: 0, or -1 and none is. */
int spool_commit(struct spool *sp);
/* Undoes the changes since the last commit. */
void spool_rollback(struct spool *sp);
/* 1 when there is something to commit. */
int spool_dirty(const struct spool *sp);
/* 1 after a failed commit until one succeeds; and the text of the last error. */
int spool_failed(const struct spool *sp);
const char *spool_error(const struct spool *sp);

/* Number of runs by destination and state, with uncommitted changes. */
uint64_t spool_count(const struct spool *sp, enum dest dest,
    enum run_state state);
uint64_t spool_runs(const struct spool *sp);
/*
 * Bytes used in the file, with uncommitted changes; and bytes free within it.
 */
uint64_t spool_bytes(struct spool *sp);
uint64_t spool_bytes_free(struct spool *sp);
uint64_t spool_bytes_max(const struct spool *sp);
/* 1 when the disk was full at the last error, and not spoolMaxBytes reached. */
int spool_no_space(const struct spool *sp);

/* Frees cached pages; each is read again when it is needed. */
void spool_shrink(struct spool *sp);

/* Named values. Returns owned (and *n), or NULL when there is none. */
void *spool_value_get(struct spool *sp, const char *name, size_t *n);
int spool_value_set(struct spool *sp, const char *name, const void *p,
    size_t n);

/*
 * Watermarks: name and watermark of the n-th cluster; 0 = none, RESUME_LOST.
 * Returns 1, or 0 after the last.
 */
int spool_cluster(struct spool *sp, unsigned n, struct run_key *name,
    int64_t *cursor);
/* The destination whose states tell how far a run is: REST if it is in use. */
enum dest spool_first_dest(struct spool *sp);
/*
 * The record of a run was changed outside of spool_put(): with policy.whole it
 * gets the next revision.
 */
void spool_revision(const struct spool *sp, struct job *job);
/* 1 when the cluster is in the table of clusters, or fits into it. */
int spool_cluster_fits(struct spool *sp, const char *cluster);
/* Moves the watermark forward only. 0 or -1. */
int spool_watermark(struct spool *sp, const char *cluster, int64_t until);

/* share.c: bytes of the runs of each cluster, at the centre of a fan-in */

/*
 * Counts the bytes of each cluster from now on.  Call it before the first change;
 * later calls do nothing.
 * Reads all runs when the stored sums are not those of the last commit.  0, or
 * -1 on an error of the file.
 */
int spool_shares_begin(struct spool *sp);
/* Bytes of one cluster, and of all; with uncommitted changes. */
int64_t spool_share(const struct spool *sp, const char *cluster);
/* The same with the most that its tombstones can use. */
int64_t spool_share_most(const struct spool *sp, const char *cluster);
/* The largest of these. */
int64_t spool_share_largest(const struct spool *sp);
int64_t spool_shares_all(const struct spool *sp);
/*
 * Runs of one cluster whose start or stop the first destination gets as soon as it
 * can.  Those that are not confirmed wait for Slurm: they do not count.
 */
int64_t spool_share_waits(struct spool *sp, const char *cluster);

/* stream.c: where the reading of a cluster's stream continues */
struct spool_stream {
	uint64_t identity; /* of the stream: its creation, ns since 1970 */
	uint64_t sequence; /* each message up to it was taken; 0 = none */
};
/* 1 with the position, 0 with zeros when none is stored. */
int spool_stream(struct spool *sp, const char *cluster,
    struct spool_stream *at);
/*
 * Stores the position, also one before the stored one: a broker that has lost
 * the end of a stream gives its numbers to other messages.  0 or -1.
 */
int spool_stream_set(struct spool *sp, const char *cluster,
    const struct spool_stream *at);
/*
 * Checks up to n pages of the file from *at on (first 0) and moves *at. 1 when
 * there are more, 0 at the end, -1: the checksum of page *at is wrong.
 */
int spool_check_pages(struct spool *sp, int64_t *at, int n);
/* PRAGMA quick_check: 0 when the file is valid, 1 with text when not. */
int spool_check(struct spool *sp, char *text, size_t size);

/* check_file.c */

/* Checks a row: text tells what is wrong, "" = nothing. */
void spool_run_check(struct spool *sp, const struct spool_run *run, char *text,
    size_t size);
/*
 * Checks a file that no daemon uses and changes nothing: 0 when valid, else 1;
 * text tells the result. After this call the process opens files only for
 * reading.
 */
int spool_check_file(const char *path, char *text, size_t size);

/*
 * transition.c: what happens to the runs, for the history.  An event may be
 * rolled back and happen again.  The functions must not use the spool.
 */
struct spool_observer {
	/* event: enum run_event of transition.h */
	void (*event)(const struct spool_run *run, enum dest dest, int event,
	    void *arg);
	/* The start of a run that was not sent has changed. */
	void (*moved)(const struct run_key *key, int64_t start, void *arg);
	/* Slurm shows an unconfirmed run running. */
	void (*confirmed)(const struct run_key *key, void *arg);
};
/* Borrows ops. */
void spool_observe(struct spool *sp, const struct spool_observer *ops,
    void *arg);

/* put.c, find_run.c, run.c, resource_stub.c, job_order.c */

/*
 * Stores a record or merges it into its run; job loses the members that were
 * moved.  *id becomes the row of the run, which this record may have ended; 0 when
 * no row was found or made.
 */
enum spool_put spool_put(struct spool *sp, struct job *job, int64_t *id);
/*
 * The same for a record of an export.  A run that the spool does not know and that
 * ended before spool_low_water() may be done: it becomes one of a backfill, so that
 * a list of cc-backend's jobs decides.  Without REST, PUT_REFUSED.
 */
enum spool_put spool_put_exported(struct spool *sp, struct job *job,
    int64_t *id);
/*
 * 1 when only a list of cc-backend's jobs tells whether cc-backend has the ended
 * run of this record of a backfill. job gets the start that was sent; *alias is
 * another start that may have been sent (0 = none).
 */
int spool_may_lack(struct spool *sp, struct job *job, int64_t *alias);
/* Stores the bytes of a record that must not be read, as quarantined. */
enum spool_put spool_put_quarantined(struct spool *sp,
    const struct run_key *key, const uint8_t *p, size_t n);
/*
 * Makes a row for a run that is open in cc-backend and unknown here. 1 = made,
 * 0 = was known, or REST is not in use, -1.
 */
int spool_put_from_backend(struct spool *sp, const struct run_key *key);
/*
 * Stores what accounting does not keep of a run that has begun: its nodes,
 * threads and GPUs, in a share of 256 bytes or several. PUT_NEW; PUT_KNOWN when
 * the run has a row or is done; PUT_REFUSED when there is nothing to store;
 * PUT_NO_SHARE; PUT_ERROR.
 */
enum spool_put spool_resources_put(struct spool *sp, const struct job *job);
/* Number of resource records, as committed. */
uint64_t spool_resources_count(const struct spool *sp);
/* Bytes that all resource records may use. */
uint64_t spool_resources_share(const struct spool *sp);
/* 1 found, 0 not, -1 error. */
int spool_get(struct spool *sp, int64_t id, struct spool_run *run);
int spool_find(struct spool *sp, const struct run_key *key,
    struct spool_run *run);
/* 1 when the run is done and has a tombstone. */
int spool_is_done(struct spool *sp, const struct run_key *key);
/*
 * While a record is read, its run is in this page, so that a crash of the reader
 * quarantines this run and no other.  Borrows both pointers; *page
 * may be NULL, and may change.
 */
void spool_inflight(struct spool *sp, struct inflight *const *page);
/*
 * Reads the record of a row; job_init() first. 0, or -1 with errno: EINVAL when
 * the record is missing, invalid or quarantined; ENOMEM; EIO when the statement
 * has failed.
 */
int spool_record(struct spool *sp, int64_t id, struct job *job);
/*
 * Stores the changed state, due, tries, reason and flags. A run with nothing
 * left to deliver gets a tombstone and its row is deleted.
 */
int spool_save(struct spool *sp, struct spool_run *run);
/* The run has ended as job says (n bytes at p): changes its states. */
int spool_end(struct spool *sp, struct spool_run *run, const struct job *job,
    const void *p, size_t n);
/* Deletes the row and adds a tombstone, whatever is still to be delivered. */
int spool_finish(struct spool *sp, struct spool_run *run);
/*
 * An admin drops the run, which this destination has rejected, or which another
 * client has stopped.  What the other destination still has to get is kept.  A
 * run without an end keeps its row until Slurm reports the end: its tombstone
 * could be removed before, and its next record would be a new run.  0 or -1.
 */
int spool_drop(struct spool *sp, struct spool_run *run, enum dest dest);
/*
 * 1 when no destination gets the run: its user has opted out, or an admin has
 * dropped it.
 */
int spool_is_unsent(const struct spool_run *run);
/* Deletes a tombstone: the run may be stored again. */
int spool_reopen(struct spool *sp, const struct run_key *key);
/* Deletes the row without a tombstone: no source has the run. */
int spool_forget(struct spool *sp, struct spool_run *run);
/*
 * The start of this run is settled for dest: releases the next run of the job.
 */
int spool_release(struct spool *sp, const struct spool_run *run,
    enum dest dest);
/*
 * Slurm has reported an unconfirmed run as unknown: the run is kept as rejected
 * with this reason and blocks no other run of its job.  A later record of the
 * run makes its start unconfirmed again.  0 or -1.
 */
int spool_set_unknown(struct spool *sp, struct spool_run *run,
    const char *reason);
/*
 * 1 when a start of the job waits for this unconfirmed run, and Slurm shows
 * that one with a later submission: a requeue, or another job with the id.
 */
int spool_is_reused(struct spool *sp, const struct spool_run *run);
/* 1 when the run with this row waits for such an unconfirmed run. */
int spool_waits_for_reused(struct spool *sp, int64_t id);
/*
 * cc-backend lacks a run of a backfill: its start is due, in the order of the
 * job.
 */
int spool_release_backfill(struct spool *sp, struct spool_run *run);
/*
 * What was rejected of the run is due again; starts in the order of the job. 0
 * or -1.
 */
int spool_retry(struct spool *sp, struct spool_run *run);
/*
 * Has its start failed so often that no later run of the job waits for it?  Or
 * was it refused, and cc-backend does not show the run?
 */
int spool_start_fails(const struct spool_run *run);
/* 1 when `backfill --nats` has to publish this run of the spool again. */
int spool_republish_due(const struct spool *sp, const struct spool_run *run);
/* 1 while its stop is under way by NATS; the answer publishes it again. */
int spool_stop_leased(const struct spool_run *run);
/*
 * Makes the start of such a run due; a run that has ended is held first.
 * Returns 1 when the run is stored with its new state, 0 when the command does
 * not concern it, -1.
 */
int spool_republish(struct spool *sp, struct spool_run *run);
/*
 * With requeuedRuns=last, this run replaces earlier runs of the job that were
 * requeued early. 1 when it waits for that, its state is changed; 0, -1.
 */
int spool_supersede(struct spool *sp, struct spool_run *run);
/*
 * No later run replaces this delivered one any more: it is done for cc-backend.
 * 0 or -1.
 */
int spool_kept_done(struct spool *sp, struct spool_run *run);
/* 1 when starts of other runs of the job must be sent before its stop. */
int spool_has_starts(struct spool *sp, const struct spool_run *run,
    enum dest dest);

/* meta_update.c: metadata updates, one key of a run's metaData each */

#define META_MAX       20000 /* updates stored at once */
#define META_FIELD_MAX 32    /* bytes of a key, with the NUL */
struct spool_meta {
	int64_t id;
	struct run_key key;
	char field[META_FIELD_MAX];
	char *value; /* owned */
	int64_t due; /* spool_now() */
	unsigned tries;
};
/*
 * Stores a value until cc-backend has it; replaces the stored value of that
 * key. 1, 0 when too many are stored or the spool is more than half full, -1.
 */
int spool_meta_add(struct spool *sp, const struct run_key *key,
    const char *field, const char *value, int64_t due);
/*
 * Notes that the value of a key may come until then, though the run is done; an
 * update without a value, which is not sent. As spool_meta_add().
 */
int spool_meta_expect(struct spool *sp, const struct run_key *key,
    const char *field, int64_t until);
/* 1 when that was noted. */
int spool_meta_expected(struct spool *sp, const struct run_key *key,
    const char *field);
/* The update that is due first: 1 (spool_meta_clear() it), 0 = none, -1. */
int spool_meta_next(struct spool *sp, struct spool_meta *late);
void spool_meta_clear(struct spool_meta *late);
int spool_meta_wait(struct spool *sp, int64_t id, int64_t due, unsigned tries);
int spool_meta_drop(struct spool *sp, int64_t id);
uint64_t spool_meta_count(const struct spool *sp);
/* Number of updates that were not stored. */
uint64_t spool_meta_refused(const struct spool *sp);

/*
 * cc-backend refuses a run when it has another run of the job that began less
 * than this before, or later.
 */
#define DUPLICATE_SECONDS 86400
/*
 * 1 when the spool knows such a run, done ones included; 0, -1.  A false start
 * is no such run, as it was not sent.  A run that an admin has dropped, or whose
 * user has opted out, counts when it is done: its tombstone is like the others.
 */
int spool_blocked(struct spool *sp, const struct spool_run *run);
/*
 * The latest earlier run of the job within that time that was neither rejected
 * nor a false start: 1, 0, -1.
 */
int spool_previous_run(struct spool *sp, const struct spool_run *run,
    struct run_key *previous);

/* to_stream.c */

/*
 * deliver was "direct" before: the runs that are not done by REST are published
 * instead.  Returns how many, or -1.
 */
int spool_to_stream(struct spool *sp);

/* destinations.c */

/* A change of the destinations in use. */
struct spool_dest_change {
	int added[DEST__COUNT];	  /* 1: in use from now on */
	int removed[DEST__COUNT]; /* 1: not in use any more */
	int from_stream;	  /* 1: deliver was "stream" */
	unsigned runs;		  /* rows that have changed */
};
/*
 * Compares the policy with the destinations that the rows were made for, also
 * by an earlier process, and changes the rows when they differ.  With
 * policy.whole the rows stay, see spool_to_stream().  1 = differ, 0, -1.
 */
int spool_destinations_change(struct spool *sp, struct spool_dest_change *c);

/* scan.c */

/* Reads the runs of one job, oldest first: how many, max at most. */
int spool_job_runs(struct spool *sp, const char *cluster, uint64_t job,
    struct spool_run *rows, int max);
/*
 * Reads the starts of its runs that are done, the first one of a run whose start
 * has moved: how many, max at most.
 */
int spool_job_done(struct spool *sp, const char *cluster, uint64_t job,
    int64_t *starts, int max);

enum spool_order {
	/* by due time; of those due now the oldest start first */
	ORDER_DUE,
	ORDER_NEWEST /* of those due now the newest start first */
};
/* Ids of up to max runs in a state that are due: how many, or -1. */
int spool_pick(struct spool *sp, enum dest dest, enum run_state state,
    enum spool_order order, int64_t *ids, int max);
/* When the next run in a state is due; -1 = none waits. */
int64_t spool_next_due(struct spool *sp, enum dest dest, enum run_state state);
/*
 * Makes leased rows of a destination due, after a restart or a failed commit.
 */
int spool_unlease(struct spool *sp, enum dest dest);
/* Makes rows due now that wait after a failure: the outage is over. */
int spool_retry_now(struct spool *sp, enum dest dest);
/* Position of a walk over rows; zero-initialise. */
struct spool_after {
	int64_t due;
	int64_t start;
	int64_t id;
	uint64_t job;
};
#define SPOOL_PAGE 256 /* rows of one call at most */
/*
 * Calls fn for up to max rows in one state (RUN_STATE__COUNT: all rows, by id)
 * after *after, which is advanced.  fn may save the row; fn ends the walk with
 * -1.  Returns the number of rows, or -1.
 */
typedef int spool_fn(struct spool *sp, struct spool_run *run, void *arg);
int spool_each(struct spool *sp, enum dest dest, enum run_state state,
    struct spool_after *after, int max, spool_fn *fn, void *arg);
/* The same for the runs without an end that no destination gets; by id. */
int spool_each_unsent(struct spool *sp, struct spool_after *after, int max,
    spool_fn *fn, void *arg);
/*
 * The same for the runs of one cluster in a state of DEST_REST.  Reads the rows
 * of the cluster only: spool_each() for each of many clusters reads all rows as
 * often.
 */
int spool_each_of(struct spool *sp, const char *cluster, enum run_state state,
    struct spool_after *after, int max, spool_fn *fn, void *arg);
/*
 * First and last start of the runs of one cluster in a state: how many, or -1.
 */
int spool_span(struct spool *sp, enum run_state state, const char *cluster,
    int64_t *from, int64_t *to);
#define CLUSTERS_MAX 320 /* 256 of the key clusters, and earlier names */
/* The first and the last start of runs of the n-th cluster; to 0 = no run. */
struct spool_ranges {
	struct {
		int64_t from, to;
	} of[CLUSTERS_MAX];
};
/*
 * The ranges of the runs in these states, of all clusters: the rows are read
 * once, however many clusters there are.  before: only runs whose since of REST is
 * earlier; without: only runs with none of these RUN_ flags.  0 or -1.
 */
int spool_ranges(struct spool *sp, const enum run_state *states, size_t n,
    int64_t before, unsigned without, struct spool_ranges *ranges);
/*
 * Widens from and to so that they contain the other starts (alias) of the runs
 * that began in this range. 0 or -1.
 */
int spool_span_alias(struct spool *sp, enum run_state state,
    const char *cluster, int64_t *from, int64_t *to);

/* evict.c */

/* Checks up to max tombstones and removes old ones: how many, or -1. */
int spool_age(struct spool *sp, int64_t wall, int max);
/* Delivered starts of runs without an end, summed over the destinations. */
uint64_t spool_started(const struct spool *sp);
/* The spool is full: begins a new search for rows that can be removed. */
void spool_evict_begin(struct spool *sp);
/*
 * Removes the scripts of up to max runs whose start is delivered. Returns the
 * number of rows checked; 0 = all are done; -1.
 */
int spool_drop_scripts(struct spool *sp, int max);
/*
 * Checks up to max tombstones and removes the oldest. Records that ended before
 * spool_low_water() are not accepted from then on; the mark does not rise above
 * what was read of accounting. 1 = call again, 0 = no more can be removed, -1.
 */
int spool_evict(struct spool *sp, int64_t wall, int max);
/* Epoch; 0 = none. */
int64_t spool_low_water(const struct spool *sp);
/* New records not accepted because they ended before it, since the start. */
uint64_t spool_below_low_water(const struct spool *sp);

#endif
