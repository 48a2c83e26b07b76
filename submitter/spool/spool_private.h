/* SPDX-License-Identifier: MIT */
/* What the files of the spool share, and nobody else sees. */
#ifndef SUBMITTER_SPOOL_SPOOL_PRIVATE_H
#define SUBMITTER_SPOOL_SPOOL_PRIVATE_H

#include <sqlite3.h>

#include "submitter/spool/spool.h"

#define SPOOL_APPLICATION_ID	0x43534153	/* "CSAS" */
/*
 * PRAGMA user_version.  1: as first written.  2: table late.  3: checksums in
 * the pages, and table stub.
 */
#define SPOOL_SCHEMA		3

#define CLUSTERS_MAX	64	/* a slurmdbd serves a handful */

/* Statements; those of two destinations follow each other: base + dest. */
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
	SQL_RUN_ADD,
	SQL_RUN_SAVE,
	SQL_RUN_DROP,
	SQL_RECORD_GET,
	SQL_RECORD_SET,
	SQL_RECORD_DROP,
	SQL_TOMB_GET,
	SQL_TOMB_OF_JOB,
	SQL_TOMB_ADD,
	SQL_TOMB_PAGE,
	SQL_TOMB_DROP,
	SQL_PICK_NEWEST,			/* + dest from here on */
	SQL_PICK_OLDEST = SQL_PICK_NEWEST + DEST__COUNT,
	SQL_PICK_LATER = SQL_PICK_OLDEST + DEST__COUNT,
	SQL_NEXT_DUE = SQL_PICK_LATER + DEST__COUNT,
	SQL_UNLEASE = SQL_NEXT_DUE + DEST__COUNT,
	SQL_RETRY_NOW = SQL_UNLEASE + DEST__COUNT,
	SQL_EACH = SQL_RETRY_NOW + DEST__COUNT,
	SQL_COUNT = SQL_EACH + DEST__COUNT,
	SQL_STARTS = SQL_COUNT + DEST__COUNT,
	SQL_EACH_ANY = SQL_STARTS + DEST__COUNT,
	SQL_SPAN,
	SQL_META_ADD,
	SQL_META_OF_RUN,
	SQL_META_NEXT,
	SQL_META_WAIT,
	SQL_META_DROP,
	SQL_META_COUNT,
	SQL_BARRED,
	SQL_PREVIOUS_RUN,
	SQL_RESOURCES_ADD,
	SQL_RESOURCES_OF_JOB,
	SQL_RESOURCES_DROP,
	SQL_RESOURCES_OLD,
	SQL_RESOURCES_SIZES,
	SQL__COUNT
};

/* The text of a statement; the schema; both in sql.c. */
const char *spool_sql(enum sql id);
extern const char spool_schema[];
/* What leads from version i + 1 to the next; spool_schema is the last. */
extern const char *const spool_steps[SPOOL_SCHEMA - 1];

/* checksum_vfs.c */

#define SPOOL_VFS	"csa-sum"	/* SQLite's name for that layer */
#define SPOOL_SUM_BYTES	8	/* at the end of each page */
#define VERSION_SUMS	3	/* the first schema whose pages carry them */
/* Puts the layer on the system's files; once. */
void spool_sum_prepare(void);
/* Pages of a file that is not written yet, or written anew, leave room. */
void spool_sum_reserve(sqlite3 *db);
/* 1 when the file's pages carry checksums. */
int spool_sum_is_on(sqlite3 *db);
/* The page found bad since it was last asked; 0 = none. */
int64_t spool_sum_bad(void);

/* open.c */

/*
 * For reading alone, by a layer that can do no more (check_file.c); *version
 * is its schema's, and the rows of an older one are not to be asked for.
 * Returns owned, or NULL with a reason.
 */
struct spool *spool_open_read(const char *path, int64_t *version, char *reason,
    size_t size);

/* resource_stub.c */

#define SPOOL_RESOURCES_MAX	1048576	/* rows: more than there is a share for */
#define SPOOL_RESOURCE_MAX	256	/* bytes a run; one on many odd nodes takes several */
#define SPOOL_RESOURCE_SHARE 16	/* they may have this part of spoolMaxBytes */
#define SPOOL_RESOURCE_BYTES (16u << 20)	/* and no more than this: 65,536 runs */
#define SPOOL_RESOURCE_KEEP	(90 * 86400)	/* s after the start: longer runs no job */

struct spool_resources {
	struct run_key	 key;
	int64_t		 submit;	/* epoch; 0 = unknown */
};
/* Inserts a stub's bytes, unless there is one of that run.  0 or -1. */
int spool_resources_add(struct spool *sp, const struct spool_resources *stub,
    const void *p, size_t n);
/* A new run's record takes over what its stub knows, and the stub goes.  0 or -1. */
int spool_resources_take(struct spool *sp, struct job *job);
/* The bytes of a stub: wr_end() tells; fills job (job_init first): 0 or -1. */
void spool_resources_write(struct writer *w, const struct job *job);
int spool_resources_read(const void *p, size_t n, struct job *job);
/* Counts them afresh.  0 or -1. */
int spool_resources_recount(struct spool *sp);
/* Drops one that nobody will come for.  0 or -1. */
int spool_resources_age(struct spool *sp, int64_t wall);

/* evict.c */

#define SPOOL_LOW_WATER	"floor"	/* its name in table meta */
int spool_low_water_load(struct spool *sp);
int spool_tomb_drop(struct spool *sp, const int64_t tomb[3]);

/* migrate.c */

/* Makes the schema or brings it up to date: NULL, or what is wrong (borrowed). */
const char *spool_settle(struct spool *sp);

/* What is kept in memory and must go back with a rollback. */
struct tally {
	int64_t	 counts[DEST__COUNT][RUN_STATE__COUNT];
	int64_t	 runs;
	int64_t	 late;
	int64_t	 low_water;		/* what ended before it is not taken any more; 0 = none */
	int64_t	 resources;
	int64_t	 resource_bytes;	/* what they count for, of their share */
	struct spool_cluster {
		char	 name[CLUSTER_MAX];
		int	 id;
		int64_t	 cursor;
	} clusters[CLUSTERS_MAX];
	unsigned n_clusters;
};

struct spool {
	sqlite3		*db;
	sqlite3_stmt	*stmts[SQL__COUNT];
	char		*path;		/* owned */
	int		 in_tx;
	int		 broken;	/* an error in this transaction */
	int		 failed;	/* the last commit did not work */
	int		 damaged;	/* the file is not what SQLite wrote */
	int		 read_only;	/* for reading alone: nothing is set aside */
	int		 no_space;	/* the last error was that */
	char		 error[256];
	int64_t		 boot;		/* CLOCK_BOOTTIME when opened, ms */
	int64_t		 opened;	/* spool_now() at that moment */
	struct tally	 now;
	struct tally	 durable;
	struct spool_policy policy;
	struct writer	 record;	/* memory kept from use to use */
	uint64_t	 beyond;	/* records that ended before the low-water mark */
	uint64_t	 forbidden;	/* events that the table of states does not allow */
	int64_t		 keep;
	uint64_t	 max_bytes;
	int64_t		 page;		/* bytes */
	/* evict.c: where aging and shedding go on */
	int64_t		 age_at[3];	/* cluster, job, start */
	unsigned	 shed_in;
	struct spool_after shed_at;
};

#define SPOOL_STATE	"state"	/* its name in table meta */
/* Clock and counts as they are kept; read only by a build with the same size. */
struct spool_state {
	int64_t	 clock;		/* first in all versions */
	int64_t	 runs;
	int64_t	 resources;
	int64_t	 resource_bytes;
	int64_t	 counts[DEST__COUNT][RUN_STATE__COUNT];
};

/* CLOCK_BOOTTIME, ms. */
int64_t spool_boottime(void);
/* The number that a PRAGMA or SELECT tells: 0, or -1. */
int spool_ask(struct spool *sp, const char *sql, int64_t *n);
/* The same; 0 on error. */
int64_t spool_number(struct spool *sp, const char *sql);
/* In what takes seconds, now and then: tells who wants to know. */
void spool_alive(void);
/* A statement, reset and ready to bind; NULL on error (latched). */
sqlite3_stmt *spool_stmt(struct spool *sp, enum sql id);
/* 1 = a row, 0 = done, -1 = error (latched). Done and errors reset the statement. */
int spool_step(struct spool *sp, sqlite3_stmt *st);
/* Steps a statement that returns no rows; 0 or -1. */
int spool_exec(struct spool *sp, sqlite3_stmt *st);
/* Before each write: opens the transaction.  0 or -1. */
int spool_begin(struct spool *sp);
/* Number of a cluster in this file; -1 unknown (add = 0) or error. */
int spool_cluster_id(struct spool *sp, const char *name, int add);
const char *spool_cluster_name(const struct spool *sp, int id);
/* Fills run from the row that st stands on (columns of SQL_RUN_GET). */
void spool_row(struct spool *sp, sqlite3_stmt *st, struct spool_run *run);
/* Of a record's bytes, stored beside them. */
uint64_t spool_sum(const void *p, size_t n);
/* Writes the record; 0 or -1. */
int spool_record_write(struct spool *sp, int64_t id, const struct job *job);
int spool_record_set(struct spool *sp, int64_t id, const void *p, size_t n);
/* Inserts the row (cluster and key set); 0 or -1. */
int spool_add(struct spool *sp, struct spool_run *run);
/* job_order.c */
int spool_is_start(enum run_state state);
/*
 * Its place among the runs of its job: behind an older one that still has to
 * start; a newer one that was not begun goes behind it.  0 or -1.
 */
int spool_order(struct spool *sp, struct spool_run *run);
/* Before each save: what becomes of a run that makes way, or might. */
void spool_supersede_state(struct spool *sp, struct spool_run *run);
/* Its end is known: if it was requeued soon, it makes way for later ones.  0 or -1. */
int spool_superseded_by_later(struct spool *sp, const struct spool_run *early);
/* What a damaged file is called until spool_recover() has been through it. */
#define SPOOL_DAMAGED	".wreck"
/* Takes over what is whole of a file set aside, and keeps it as damaged. */
void spool_recover(struct spool *sp);
/* Renames a damaged file and its log, and says so. */
void spool_quarantine_file(const char *path, const char *why);
/* Counts a row that came (n = 1) or went (-1). */
void spool_tally(struct spool *sp, const enum run_state state[DEST__COUNT], int n);

#endif
