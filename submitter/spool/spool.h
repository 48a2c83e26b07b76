/* SPDX-License-Identifier: MIT */
/*
 * The durable memory of the submitter: one SQLite file with a row for each
 * run that is not yet delivered in full, a tombstone for each that is, and a
 * cursor per cluster.  All changes of a few milliseconds share one
 * transaction: what counts is durable after spool_commit(), not before.
 */
#ifndef SUBMITTER_SPOOL_SPOOL_H
#define SUBMITTER_SPOOL_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "common/job.h"

struct spool;

/* Where a run goes to. */
enum dest {
	DEST_REST,
	DEST_NATS,
	DEST__COUNT
};

/*
 * How far a run is with one destination.  The numbers are stored: append
 * only.  SEEN and its difference to OPEN exist for REST alone.
 */
enum run_state {
	RUN_NONE,		/* not for this destination */
	START_DUE,		/* its start is due, it runs */
	START_DUE_ENDED,	/* its start is due, it has ended */
	START_BLOCKED,		/* its start waits for an older run of the job */
	START_CONFLICT,		/* refused as a double: a listing must tell */
	STARTED,		/* start taken, it runs, not seen committed */
	START_COMMITTED,		/* start taken, it runs, seen committed */
	STOP_BLOCKED,		/* start taken, ended, not seen committed */
	STOP_DUE,		/* its stop is due */
	RUN_DONE,
	START_REJECTED,		/* the start was refused for good */
	STOP_REJECTED,		/* the stop was refused for good */
	DELETE_DUE,		/* cc-backend shall forget it; then RUN_FORGET_AFTER_DELETE tells */
	STOP_CONFLICT,		/* its stop found it closed: a listing must tell how */
	CLOSED_BY_OTHERS,		/* closed there, and not as Slurm says: an admin decides */
	BACKFILL_HELD,		/* of a past range: does cc-backend have it? */
	KEPT_REPLACEABLE,		/* delivered, but may have to make way for a later run */
	RUN_STATE__COUNT
};

/* A word for the lines of an export: "start", "stop-refused"; never changes. */
const char *run_state_name(enum run_state state);
/* The state as admins read it: "start due". */
const char *run_state_label(enum run_state state);

/* Bits of spool_run.flags; stored. */
#define RUN_KEY_FIXED	1u	/* a start may have left us: the key is fixed */
#define RUN_FROM_BACKEND	2u	/* found open in cc-backend, no record yet */
#define RUN_MISSING_IN_BACKEND	4u	/* cc-backend lost it: started again if it is live */
#define RUN_QUARANTINED	8u	/* a worker died on it: its bytes are not read */
#define RUN_CLOSED_BY_OTHERS	16u	/* another hand had closed it in cc-backend */
#define RUN_STOP_ATTEMPTED	32u	/* a stop was tried before */
#define RUN_RESTARTED	64u	/* started anew, for its stop found no such run */
#define RUN_FORGET_AFTER_DELETE	128u	/* once deleted there it is done; else it starts anew */
#define RUN_TAGGED	256u	/* its first start had tags: so do the others */
#define RUN_END_IN_START	512u	/* its first start told what is known at the end */
#define RUN_INFO_CHANGED	1024u	/* slurmInfo is another than its first start told */
#define RUN_REST_STARTED	2048u	/* a start may have left by REST: what it had is settled */
#define RUN_UNCONFIRMED	4096u	/* no start before Slurm shows it running, or its end */
#define RUN_BACKFILL	8192u	/* of a past range: due after all that is live */
#define RUN_REQUEUED_EARLY	16384u	/* requeued within a minute: may make way for a later run */
#define RUN_SUPERSEDED		32768u	/* does make way: deleted there as soon as it can be */
#define RUN_PREVIOUS_NOTED	65536u	/* refused, and the run that is shown says so, or will */

/* Due times are in milliseconds of spool_now(); these have a meaning of their own. */
#define DUE_NOW		0
#define DUE_AFTER_LIVE	1	/* now, behind what is DUE_NOW; spool_save() makes it so for RUN_BACKFILL */
#define DUE_LEASED	(INT64_C(1) << 60)	/* in the relay's hands */
#define DUE_UNCONFIRMED	(DUE_LEASED + 1)	/* with RUN_UNCONFIRMED: not to be picked */

/* One run's row, without its record. */
struct spool_run {
	int64_t		 id;
	struct run_key	 key;
	int64_t		 end;			/* epoch; 0 = it runs */
	int64_t		 submit;		/* epoch; 0 = unknown */
	int64_t		 alias;			/* another start time it was given; 0 = none */
	unsigned	 flags;
	enum run_state	 state[DEST__COUNT];
	int64_t		 due[DEST__COUNT];
	unsigned	 tries[DEST__COUNT];	/* since the last success */
	int64_t		 since[DEST__COUNT];	/* spool_now() of the start's taking */
	int64_t		 not_found_at;		/* spool_now() of the first denial; 0 = none */
	unsigned	 not_found_count;
	char		 reason[512];		/* why it waits or was refused */
	/* spool's own: as it is stored */
	enum run_state	 was[DEST__COUNT];
	int		 cluster;
};

/* What an admin reads: "start due", "sending", "forgotten"; a constant. */
const char *run_state_text(const struct spool_run *run, enum dest dest);

/* What became of a record. */
enum spool_put {
	PUT_NEW,
	PUT_MERGED,	/* it told something new */
	PUT_KNOWN,	/* it told nothing new, or the run is done */
	PUT_REFUSED,	/* no run can be made of it */
	PUT_NO_SHARE,	/* the share for stubs is used up */
	PUT_ERROR	/* the disk: nothing of the transaction is durable */
};

/* How new runs are to be stored; read at each spool_put(). */
struct spool_policy {
	int	 to[DEST__COUNT];	/* destinations in use */
	int	 wait_commit;		/* 1: a stop waits until the start was seen */
	int	 fresh;		/* 1: each stop waits until the run is seen running */
	int64_t	 nats_gap;		/* ms between start and stop; 0 = none */
	int64_t	 more_wait;		/* ms a start waits for its script */
	int	 last_requeued;		/* runs requeued soon make way (requeuedRuns) */
};

/* spool.c */

/* Once per process, before threads. */
void spool_prepare(void);
/*
 * fn is called about once a second while opening takes long: an old file is
 * brought up to date, a damaged one is gone through.
 */
void spool_on_long(void (*fn)(void *arg), void *arg);
/*
 * Opens or makes the file; a damaged one is set aside under another name,
 * and said.  keep: seconds a tombstone is kept after the run's end.
 * max_bytes: of the file.  Returns owned, or NULL with a reason.
 */
struct spool *spool_open(const char *path, uint64_t max_bytes, int64_t keep,
    char *reason, size_t size);
/* Commits and closes; NULL is fine. */
void spool_close(struct spool *sp);
void spool_set_limits(struct spool *sp, uint64_t max_bytes, int64_t keep);
struct spool_policy *spool_policy(struct spool *sp);

/*
 * A clock that never goes back: CLOCK_BOOTTIME in milliseconds, continued
 * from where the last process left off.
 */
int64_t spool_now(const struct spool *sp);
/* spool_now() when this process opened it. */
int64_t spool_opened(const struct spool *sp);

/* Makes all changes so far durable: 0, or -1 and none of them is. */
int spool_commit(struct spool *sp);
/* Forgets the changes since the last commit. */
void spool_rollback(struct spool *sp);
/* 1 when there is something to commit. */
int spool_dirty(const struct spool *sp);
/* 1 after an error of the disk, until a commit succeeds; the text of the last one. */
int spool_failed(const struct spool *sp);
const char *spool_error(const struct spool *sp);

/* Runs by destination and phase, as of now. */
uint64_t spool_count(const struct spool *sp, enum dest dest,
    enum run_state state);
uint64_t spool_runs(const struct spool *sp);
/* In use in the file, also by what is not committed; and free within it. */
uint64_t spool_bytes(struct spool *sp);
uint64_t spool_bytes_free(struct spool *sp);
uint64_t spool_bytes_max(const struct spool *sp);
/* 1 when the last error was a full disk, and not spoolMaxBytes. */
int spool_no_space(struct spool *sp);

/* Small values by name.  Returns owned (and *n), or NULL when there is none. */
void *spool_value_get(struct spool *sp, const char *name, size_t *n);
int spool_value_set(struct spool *sp, const char *name, const void *p,
    size_t n);

/* Cursors.  The n-th cluster's name and cursor: 1, or 0 past the last. */
int spool_cluster(struct spool *sp, unsigned n, struct run_key *name,
    int64_t *cursor);
/* Moves it forward only.  0 or -1. */
int spool_watermark(struct spool *sp, const char *cluster, int64_t until);
/*
 * Reads up to n pages of the file from *at on (0 first) and moves it: 1 when
 * there are more, 0 when all were right, -1: page *at is not what was written.
 */
int spool_check_pages(struct spool *sp, int64_t *at, int n);
/* PRAGMA quick_check: 0 when whole, 1 with text when not. */
int spool_check(struct spool *sp, char *text, size_t size);

/* check_file.c */

/* What is wrong with a row, in text; "" = nothing. */
void spool_run_check(struct spool *sp, const struct spool_run *run, char *text,
    size_t size);
/*
 * Reads all of a file that no daemon uses and alters nothing: 0 when it is
 * whole, else 1; text says what it is.  After it this process opens files for
 * reading alone.
 */
int spool_check_file(const char *path, char *text, size_t size);

/* put.c */

/*
 * Stores a record or merges it into its run; from is emptied of what was
 * taken.  *id gets the run's row, 0 when there is none.
 */
enum spool_put spool_put(struct spool *sp, struct job *job, int64_t *id);
/* Stores the bytes of a record that must not be read, as set aside. */
enum spool_put spool_put_quarantined(struct spool *sp, const struct run_key *key,
    const uint8_t *p, size_t n);
/* Makes a row for a run that cc-backend has open and nobody here knew. 1 = made, 0 = was known, -1. */
int spool_put_from_backend(struct spool *sp, const struct run_key *key);
/*
 * Keeps what accounting will not tell of a run that has begun: its nodes,
 * threads and GPUs, in at most 256 bytes of a share of their own.  NEW; KNOWN
 * when the run has a row or is done; REFUSED when there is nothing to keep;
 * NO_SHARE; ERROR.
 */
enum spool_put spool_resources_put(struct spool *sp, const struct job *job);
/* As last committed. */
uint64_t spool_resources_count(const struct spool *sp);
/* Bytes that all of them may take. */
uint64_t spool_resources_share(const struct spool *sp);
/* 1 found, 0 not, -1 error. */
int spool_get(struct spool *sp, int64_t id, struct spool_run *run);
int spool_find(struct spool *sp, const struct run_key *key,
    struct spool_run *run);
/* 1 when the run is done and buried. */
int spool_is_done(struct spool *sp, const struct run_key *key);
/* Reads the record of a row: job_init first.  0, or -1 (also: unreadable). */
int spool_record(struct spool *sp, int64_t id, struct job *job);
/*
 * Writes the row's changed phase, due, tries, reason and flags back; a run
 * that has nothing left to deliver is buried and its row deleted.
 */
int spool_save(struct spool *sp, struct spool_run *run);
/* The run has ended as job says (bytes p, n of it); its phases move on. */
int spool_end(struct spool *sp, struct spool_run *run, const struct job *job,
    const void *p, size_t n);
/* Deletes the row and leaves a tombstone, whatever is left to deliver. */
int spool_finish(struct spool *sp, struct spool_run *run);
/* Removes a tombstone: the run may come again. */
int spool_reopen(struct spool *sp, const struct run_key *key);
/* Deletes the row of a run that nobody knows, without a tombstone. */
int spool_forget(struct spool *sp, struct spool_run *run);
/*
 * The start of this run is settled with dest, one way or the other: the next
 * run of the same job may go.
 */
int spool_release(struct spool *sp, const struct spool_run *run,
    enum dest dest);
/*
 * Slurm has forgotten a held run: it is kept as rejected, for this reason,
 * and bars no other run of its job.  A record of it undoes that.  0 or -1.
 */
int spool_set_forgotten(struct spool *sp, struct spool_run *run,
    const char *reason);
/* A held run's start is due, in its place among the runs of its job. */
int spool_release_backfill(struct spool *sp, struct spool_run *run);
/*
 * Earlier runs of the job that were requeued soon make way for this one, if
 * the policy says so: 1 when it waits for that, its phase is set; 0, -1.
 */
int spool_supersede(struct spool *sp, struct spool_run *run);
/* Are there starts of the same job (other runs) that shall go before its stop? */
int spool_has_starts(struct spool *sp, const struct spool_run *run,
    enum dest dest);

/* meta_update.c: late knowledge, one key of a run's metaData each */

#define META_MAX	20000	/* owed at once; more is not worth the room */
#define META_FIELD_MAX	32	/* bytes of a key's name, with the NUL */
struct spool_meta {
	int64_t		 id;
	struct run_key	 key;
	char		 field[META_FIELD_MAX];
	char		*value;		/* owned */
	int64_t		 due;		/* spool_now() */
	unsigned	 tries;
};
/*
 * Keeps value until cc-backend has it, in place of what was owed for that
 * field of the run before.  1, 0 when too much is owed already, -1.
 */
int spool_meta_add(struct spool *sp, const struct run_key *key,
    const char *field, const char *value, int64_t due);
/* The one that is due first: 1 (spool_meta_clear() it), 0 = none, -1. */
int spool_meta_next(struct spool *sp, struct spool_meta *late);
void spool_meta_clear(struct spool_meta *late);
int spool_meta_wait(struct spool *sp, int64_t id, int64_t due, unsigned tries);
int spool_meta_drop(struct spool *sp, int64_t id);
uint64_t spool_meta_count(const struct spool *sp);

/*
 * cc-backend refuses a run when it holds another of the same job that began
 * less than this before it, or later.
 */
#define BARRED_SECONDS	86400
/* 1 when such another run is known here, done ones too; 0, -1. */
int spool_barred(struct spool *sp, const struct spool_run *run);
/* The latest of those that began before it and were not refused: 1, 0, -1. */
int spool_previous_run(struct spool *sp, const struct spool_run *run,
    struct run_key *sister);

/* job_runs.c */

/* The runs of one job, oldest first, into rows: how many, max at most. */
int spool_job_runs(struct spool *sp, const char *cluster, uint64_t job,
    struct spool_run *rows, int max);
/* The starts of those that are done and buried: how many, max at most. */
int spool_job_done(struct spool *sp, const char *cluster, uint64_t job,
    int64_t *starts, int max);

/* scan.c */

enum spool_order {
	ORDER_DUE,	/* by due time; what is due now: oldest start first */
	ORDER_NEWEST	/* what is due now: newest start first */
};
/* Ids of up to max runs of a phase that are due: how many, or -1. */
int spool_pick(struct spool *sp, enum dest dest, enum run_state state,
    enum spool_order order, int64_t *ids, int max);
/* When the next of that phase is due; -1 = none waits. */
int64_t spool_next_due(struct spool *sp, enum dest dest, enum run_state state);
/* Puts leased rows of a destination back, after a restart or a failed commit. */
int spool_unlease(struct spool *sp, enum dest dest);
/* Rows that wait after a failure become due at once, after an outage. */
int spool_retry_now(struct spool *sp, enum dest dest);
/* Where a walk over rows goes on; all zero at its beginning. */
struct spool_after {
	int64_t	 due;
	int64_t	 start;
	int64_t	 id;
};
#define SPOOL_PAGE	256	/* rows of one call at most */
/*
 * Calls fn for up to max rows of one phase (RUN_STATE__COUNT: of all, by id)
 * behind *after, which moves on.  fn may save the row, and ends the walk
 * with -1.  How many there were, or -1.
 */
typedef int spool_fn(struct spool *sp, struct spool_run *run, void *arg);
int spool_each(struct spool *sp, enum dest dest, enum run_state state,
    struct spool_after *after, int max, spool_fn *fn, void *arg);
/* Earliest and latest start of one cluster's runs in a phase: how many, or -1. */
int spool_span(struct spool *sp, enum run_state state, const char *cluster,
    int64_t *from, int64_t *to);

/* evict.c */

/* Looks at up to max tombstones; removes those old enough: how many, or -1. */
int spool_age(struct spool *sp, int64_t wall, int max);
/* The spool is full now: what may go is looked for from the beginning. */
void spool_evict_begin(struct spool *sp);
/*
 * Gives up the scripts of up to max runs whose start is delivered.  How many
 * rows were looked at; 0 = that was all; -1.
 */
int spool_drop_scripts(struct spool *sp, int max);
/*
 * Looks at up to max tombstones and removes the oldest; runs that ended before
 * spool_low_water() are not taken from then on.  1 = go on, 0 = no more may go, -1.
 */
int spool_evict(struct spool *sp, int64_t wall, int max);
/* Epoch; 0 = none. */
int64_t spool_low_water(const struct spool *sp);
/* New records not taken for they ended before it, since the start. */
uint64_t spool_below_low_water(const struct spool *sp);

#endif
