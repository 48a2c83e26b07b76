/* SPDX-License-Identifier: MIT */
/* Private declarations of the spool. */
#ifndef SUBMITTER_SPOOL_SPOOL_PRIVATE_H
#define SUBMITTER_SPOOL_SPOOL_PRIVATE_H

#include <sqlite3.h>

#include "common/log.h"
#include "submitter/spool/spool.h"

#define SPOOL_APPLICATION_ID 0x43534153 /* "CSAS" */
/*
 * PRAGMA user_version. 1: the first. 2: table late. 3: checksums in the pages,
 * table stub. 4: table stub has records of format 2, which programs of schema 3
 * cannot read.
 */
#define SPOOL_SCHEMA 4

/* Statements. One for each destination: base + dest. */
enum sql {
	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_PAGES,
	SQL_PAGES_FREE,
	SQL_VALUE_GET,
	SQL_VALUE_SET,
	SQL_CLUSTER_ALL,
	SQL_CLUSTER_ADD,
	SQL_CLUSTER_WATERMARK,
	SQL_RUN_GET,
	SQL_RUN_FIND,
	SQL_RUN_OF_JOB,
	SQL_RUN_LATEST,
	SQL_RUN_ADD,
	SQL_RUN_SAVE,
	SQL_RUN_DROP,
	SQL_RECORD_GET,
	SQL_RECORD_READ,
	SQL_RECORD_SET,
	SQL_RECORD_DROP,
	SQL_TOMB_GET,
	SQL_TOMB_OF_JOB,
	SQL_TOMB_ADD,
	SQL_TOMB_PAGE,
	SQL_TOMB_DROP,
	SQL_PICK_NEWEST, /* + dest from here on */
	SQL_PICK_OLDEST = SQL_PICK_NEWEST + DEST__COUNT,
	SQL_PICK_LATER = SQL_PICK_OLDEST + DEST__COUNT,
	SQL_NEXT_DUE = SQL_PICK_LATER + DEST__COUNT,
	SQL_UNLEASE = SQL_NEXT_DUE + DEST__COUNT,
	SQL_RETRY_NOW = SQL_UNLEASE + DEST__COUNT,
	SQL_EACH = SQL_RETRY_NOW + DEST__COUNT,
	SQL_COUNT = SQL_EACH + DEST__COUNT,
	SQL_STARTS = SQL_COUNT + DEST__COUNT,
	SQL_SHARES_WAITING = SQL_STARTS + DEST__COUNT,
	SQL_EACH_ANY = SQL_SHARES_WAITING + DEST__COUNT,
	SQL_EACH_OF,
	SQL_EACH_UNSENT,
	SQL_SPAN,
	SQL_SPAN_ALIAS,
	SQL_RANGES,
	SQL_META_ADD,
	SQL_META_OF_RUN,
	SQL_META_EXPECTED,
	SQL_META_NEXT,
	SQL_META_WAIT,
	SQL_META_DROP,
	SQL_META_COUNT,
	SQL_BLOCKED,
	SQL_PREVIOUS_RUN,
	SQL_RESOURCES_ADD,
	SQL_RESOURCES_OF_JOB,
	SQL_RESOURCES_DROP,
	SQL_RESOURCES_OLD,
	SQL_RESOURCES_SIZES,
	SQL_SHARE_OF,
	SQL_SHARES,
	SQL_SHARES_TOMB,
	SQL__COUNT
};

/*
 * Runs of one job that are read: far above what a real job has.  Forged records
 * must not cost the time of a full spool.
 */
#define JOB_RUNS_MAX 4096

/* sql.c: the text of a statement; the schema */
const char *spool_sql(enum sql id);
extern const char spool_schema[];
/* Migrates from version i + 1 to the next; the last is spool_schema. */
extern const char *const spool_steps[SPOOL_SCHEMA - 1];

/* checksum_vfs.c */

#define SPOOL_VFS	"csa-sum" /* name of the VFS */
#define SPOOL_SUM_BYTES 8	  /* at the end of each page */
/* the first schema with checksums in the pages */
#define VERSION_SUMS 3
/* Registers the VFS above the system's; once. */
void spool_sum_prepare(void);
/* Reserves space in the pages of a file that is written anew. */
void spool_sum_reserve(sqlite3 *db);
/* 1 when the pages of the file have checksums. */
int spool_sum_is_on(sqlite3 *db);
/* The page found wrong since the last call; 0 = none. */
int64_t spool_sum_bad(void);
/* 1 when the system has refused a write since the last call. */
int spool_write_refused(void);

/* open.c */

/*
 * Opens for reading only, with the VFS of check_file.c. *version is its schema;
 * the rows of an older one must not be read. Returns owned, or NULL with a
 * reason.
 */
struct spool *spool_open_read(const char *path, int64_t *version, char *reason,
    size_t size);

/* find_run.c */

enum run_found {
	FOUND_NONE, /* unknown here */
	FOUND_ROW,  /* it has a row */
	FOUND_DONE, /* it has a tombstone */
	/* the same; a backfill holds it until cc-backend's list tells */
	FOUND_RESTORABLE,
	FOUND_ERROR
};
/*
 * Finds the run of a record; run is set with FOUND_ROW. With FOUND_RESTORABLE,
 * job gets the start that was sent, and *alias is another start that may have
 * been sent (0 = none).
 */
enum run_found spool_search(struct spool *sp, struct job *job,
    struct spool_run *run, int64_t *alias);

/* put.c */

int spool_is_false_start(const struct job *job);
int spool_is_requeued_early(const struct job *job);

/* resource_stub.c */

/* limit of rows: more than the share holds */
#define SPOOL_RESOURCES_MAX 1048576
/* bytes of a run; a run on many different nodes uses several */
#define SPOOL_RESOURCE_MAX 256
/* this part of spoolMaxBytes is for resource records, */
#define SPOOL_RESOURCE_SHARE 16
/* but no more than this: 65,536 runs */
#define SPOOL_RESOURCE_BYTES (16u << 20)
/* s after the start: longer than any run */
#define SPOOL_RESOURCE_KEEP (90 * 86400)

struct spool_resources {
	struct run_key key;
	int64_t submit; /* epoch; 0 = unknown */
};
/* Inserts the bytes of a resource record unless the run has one. 0 or -1. */
int spool_resources_add(struct spool *sp, const struct spool_resources *stub,
    const void *p, size_t n);
/*
 * Merges the resource record of a new run into its record and deletes it. 0 or
 * -1.
 */
int spool_resources_take(struct spool *sp, struct job *job);
/*
 * Writes the bytes of a resource record to w, which is empty; reads them into
 * job, which job_init() has prepared.  0 or -1.
 */
int spool_resources_write(struct writer *w, const struct job *job);
int spool_resources_read(const void *p, size_t n, struct job *job);
/* Counts them in the file. 0 or -1. */
int spool_resources_recount(struct spool *sp);
/* Deletes one that is too old. 0 or -1. */
int spool_resources_age(struct spool *sp, int64_t wall);

/* resource_v1.c: the bytes after the version; the reader fails on an error */
void spool_resources_read_v1(struct reader *r, struct job *job);

/* Key of the value of share.c in table meta; "shares" was without tombstones. */
#define SHARES_NAME "shares-tombs"
/* share.c: no effect before spool_shares_begin() */

/* Called before a record of this length is written, or the run removed. */
void spool_share_set(struct spool *sp, int64_t id, size_t len);
void spool_share_drop(struct spool *sp, int64_t id);
/* Adds n tombstones to the sum of the cluster with this id; n < 0 subtracts. */
void spool_share_tombs(struct spool *sp, int cluster, int n);
/* Counts a run as it was stored (n = -1), or as it is (n = 1). */
void spool_share_waiting(struct spool *sp, const struct spool_run *run, int n);
/* Part of each commit; clock: as in the state.  0 or -1. */
int spool_shares_write(struct spool *sp, int64_t clock);

/* evict.c */

#define SPOOL_LOW_WATER "floor" /* key of the value in table meta */
int spool_low_water_load(struct spool *sp);
/*
 * In a tombstone a false start, which was requeued before it ran and of which
 * nothing was sent, has -1 - SECONDS in place of its duration.
 */
static inline int64_t
spool_lasted(int64_t lasted)
{
	return lasted < 0 ? -1 - lasted : lasted;
}

int spool_finish_false_start(struct spool *sp, struct spool_run *run);
/* The end of the run if its tombstone is that of a false start, else 0. */
int64_t spool_false_start_end(struct spool *sp, const struct run_key *key);

/* Values in memory that a rollback restores. */
struct tally {
	int64_t counts[DEST__COUNT][RUN_STATE__COUNT];
	int64_t runs;
	int64_t late;
	/* records that ended before it are not accepted; 0 = none */
	int64_t low_water;
	/* evict.c: the position of the walk over the tombstones */
	int64_t age_at[3];   /* cluster, job, start */
	int64_t age_oldest;  /* end of the oldest run that this walk kept */
	int64_t age_newest;  /* and of the newest one */
	int64_t tomb_oldest; /* no run of a tombstone ended before */
	int64_t tomb_newest; /* and none after; 0 = there is none */
	int tombs_walked;    /* so that both are known */
	int64_t resources;
	int64_t resource_bytes; /* of their share */
	struct spool_cluster {
		char name[CLUSTER_MAX];
		int id;
		int64_t cursor;
		int64_t tombs;
		int64_t bytes; /* of its runs; share.c */
		/* runs that a destination gets as soon as it can; share.c */
		int64_t waiting[DEST__COUNT];
	} clusters[CLUSTERS_MAX];
	unsigned n_clusters;
};

struct spool {
	sqlite3 *db;
	sqlite3_stmt *stmts[SQL__COUNT];
	char *path; /* owned */
	int in_tx;
	/* a statement of this transaction failed */
	int broken;
	int failed;  /* the last commit failed */
	int damaged; /* SQLite found the file damaged */
	/* opened for reading: nothing is renamed */
	int read_only;
	int no_space; /* the last error was a full disk */
	int shares;   /* the bytes of each cluster are counted */
	char error[256];
	int64_t boot;	/* CLOCK_BOOTTIME when opened, ms */
	int64_t opened; /* spool_now() at that moment */
	struct tally now;
	struct tally durable;
	struct spool_policy policy;
	struct writer record; /* a buffer that is used again */
	/* records that ended before the low-water mark */
	uint64_t beyond;
	/* updates that were not stored */
	uint64_t meta_refused;
	/* events that the table of states does not allow */
	uint64_t forbidden;
	int64_t keep;
	uint64_t max_bytes;
	int64_t page;	    /* bytes */
	int64_t page_count; /* 0 = not known since the last change */
	/* evict.c: the position of the walk over the scripts */
	unsigned shed_in;
	struct spool_after shed_at;
	const struct spool_observer *observer; /* NULL = none */
	void *observer_arg;
	struct inflight *const *inflight; /* NULL = none */
	struct log_limit many_runs;
};

#define SPOOL_STATE "state" /* key of the value in table meta */
/* Clock and counts as stored. Only a build with the same size reads them. */
struct spool_state {
	int64_t clock; /* first member in all versions */
	int64_t runs;
	int64_t resources;
	int64_t resource_bytes;
	int64_t counts[DEST__COUNT][RUN_STATE__COUNT];
};

/* CLOCK_BOOTTIME, ms. */
int64_t spool_boottime(void);
/* The number that a PRAGMA or SELECT returns: 0, or -1. */
int spool_ask(struct spool *sp, const char *sql, int64_t *n);
/* The same; 0 on an error. */
int64_t spool_number(struct spool *sp, const char *sql);
/*
 * A statement, reset and ready to bind; NULL on an error, which fails the
 * transaction.
 */
sqlite3_stmt *spool_stmt(struct spool *sp, enum sql id);

/* A value for a parameter of a statement. */
struct sql_value {
	enum {
		VALUE_INT,
		VALUE_TEXT,
		VALUE_BLOB
	} type;
	int64_t n;
	/* borrowed until the statement is reset; NULL text = NULL */
	const void *p;
	size_t len; /* of a blob */
};
#define INT(x) \
	{ \
		VALUE_INT, (int64_t)(x), NULL, 0 \
	}
#define TEXT(s) \
	{ \
		VALUE_TEXT, 0, (s), 0 \
	}
#define BLOB(b, size) \
	{ \
		VALUE_BLOB, 0, (b), (size) \
	}

#define VALUES(...) \
	((const struct sql_value[]) { __VA_ARGS__ }), \
	    (sizeof((const struct sql_value[]) { __VA_ARGS__ }) / \
		sizeof(struct sql_value))
/* Binds n values to the parameters 1 to n. */
void spool_bind(sqlite3_stmt *st, const struct sql_value *values, size_t n);
/* A statement with bound values, ready to step; NULL on an error. */
sqlite3_stmt *spool_query(struct spool *sp, enum sql id,
    const struct sql_value *values, size_t n);
/* 1 when the query has a row; 0 when not, or on an error. */
int spool_has_row(struct spool *sp, enum sql id, const struct sql_value *values,
    size_t n);
/*
 * Stores SQLite's last error, or the page whose checksum is wrong, for
 * spool_error().  code: SQLite's, which the text then contains; 0 = without.
 */
void spool_error_note(struct spool *sp, int code);
/*
 * Begins the transaction and executes a statement that changes rows; 0 or -1.
 */
int spool_change(struct spool *sp, enum sql id, const struct sql_value *values,
    size_t n);
/*
 * 1 = a row, 0 = done, -1 = error, which fails the transaction. 0 and -1 reset
 * the statement.
 */
int spool_step(struct spool *sp, sqlite3_stmt *st);
/* Before each write: begins the transaction. 0 or -1. */
int spool_begin(struct spool *sp);
/* The id of a cluster in this file; -1 = unknown (add = 0) or error. */
int spool_cluster_id(struct spool *sp, const char *name, int add);
const char *spool_cluster_name(const struct spool *sp, int id);
/* Fills run from the row that st stands on (columns of SQL_RUN_GET). */
void spool_row(struct spool *sp, sqlite3_stmt *st, struct spool_run *run);
/* The checksum that is stored with a record. */
uint64_t spool_sum(const void *p, size_t n);
/* Writes the record; 0 or -1. */
int spool_record_write(struct spool *sp, int64_t id, const struct job *job);
/*
 * Encodes a record into sp->record.  Two valid records may merge into one that is
 * longer than MSG_PAYLOAD_MAX: such a record loses its script.  0, 1 when it is
 * still too long, or -1 when out of memory.
 */
int spool_record_fit(struct spool *sp, struct job *job);
int spool_record_set(struct spool *sp, int64_t id, const void *p, size_t n);
/* Inserts the row (cluster and key set); 0 or -1. */
int spool_add(struct spool *sp, struct spool_run *run);
/* job_order.c */
#define REQUEUED_EARLY 60 /* seconds; see requeuedRuns */
int spool_is_start(enum run_state state);
/*
 * Releases each blocked run that no other run of its job blocks.  An earlier
 * version left such runs.  0 or -1.
 */
int spool_unblock(struct spool *sp);
/*
 * Puts the run into the order of its job: it waits for an older run that is
 * still to be started, and newer runs that were not sent wait for it.  0 or -1.
 */
int spool_order(struct spool *sp, struct spool_run *run);
/*
 * The end of the run is known: if it was requeued early, a later run replaces
 * it. 0 or -1.
 */
int spool_superseded_by_later(struct spool *sp, const struct spool_run *early);
/* Suffix of a damaged file until spool_recover() has read it. */
#define SPOOL_DAMAGED  ".wreck"
#define SPOOL_PATH_MAX 4096 /* bytes of a file name with its tail */
/*
 * recover.c: recovers the valid rows of a damaged file, and keeps the file.  0,
 * or -1: the spool refused a write, the next start goes on.
 */
int spool_recover(struct spool *sp);
/*
 * Renames a damaged file that the next start does not read again.  The number of
 * files that it had.
 */
int spool_keep_damaged(const char *path);
/*
 * Renames a damaged file and its log, and logs it.  An earlier one that is not
 * recovered in full is kept under another name.
 */
void spool_quarantine_file(const char *path, const char *why);
/* Counts a row that was added (n = 1) or removed (-1). */
void spool_tally(struct spool *sp, const enum run_state state[DEST__COUNT],
    int n);

/* A tombstone of a run that ended at this time is added or stays. */
static inline void
spool_tomb_ended(struct spool *sp, int64_t end)
{
	if (end < sp->now.tomb_oldest)
		sp->now.tomb_oldest = end;
	if (end < sp->now.age_oldest)
		sp->now.age_oldest = end;
	if (end > sp->now.tomb_newest)
		sp->now.tomb_newest = end;
	if (end > sp->now.age_newest)
		sp->now.age_newest = end;
}

#endif
