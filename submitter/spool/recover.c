/* SPDX-License-Identifier: MIT */
/*
 * Recovers the valid rows of a damaged spool into a new one. The first pass
 * takes rows of pages with a valid checksum as they are. The second pass takes
 * rows of all other pages whose record is valid and of the run that the row
 * names. The damaged file is never deleted. If the new file refuses a write,
 * or the old one cannot be opened, the damaged file stays in its place and the
 * next start goes on.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/model/msg.h"
#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"

/* limit; damaged pages may form a ring */
#define TOMBS_MAX    20000000L
#define GAP_MAX	     (INT64_C(1) << 20) /* rows skipped at once */
#define COMMIT_EVERY 1000		/* rows */
/* ms: the due time in a damaged row may be wrong */
#define STOP_WAIT_MAX 3600000
/* bytes of records; the log of a transaction has about this size */
#define COMMIT_BYTES (4u << 20)

/* The damaged file that is read. */
struct damaged_file {
	sqlite3 *db;
	struct spool *sp; /* the new spool */
	/* ids in the damaged file, by index */
	int clusters[CLUSTERS_MAX];
	char names[CLUSTERS_MAX][CLUSTER_MAX];
	unsigned n_clusters;
	/* the checksums of its pages are checked */
	int trusted;
	unsigned runs, tombs, gaps;
	int64_t last; /* row of the new spool when the recovery began */
	size_t bytes; /* of records, since the last commit */
};

static sqlite3_stmt *
prepare(struct damaged_file *w, const char *sql)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(w->db, sql, -1, &st, NULL) != SQLITE_OK) {
		sqlite3_finalize(st);
		return NULL;
	}
	return st;
}

/* The name of a cluster by its id in the damaged file; NULL when unknown. */
static const char *
name_of(const struct damaged_file *w, int id)
{
	unsigned i;

	for (i = 0; i < w->n_clusters; i++)
		if (w->clusters[i] == id)
			return w->names[i];
	return NULL;
}

/*
 * Runs that are lost with their pages have ended before the watermark: the collector
 * reads slurmQueryMaxSpan again, whatever the time of the last-run file.
 */
static void
watermark_lose(struct spool *sp, const char *name)
{
	int id = spool_cluster_id(sp, name, 1);
	unsigned i;

	for (i = 0; i < sp->now.n_clusters; i++)
		if (sp->now.clusters[i].id == id &&
		    sp->now.clusters[i].cursor == 0 &&
		    spool_change(sp, SQL_CLUSTER_WATERMARK,
			VALUES(INT(id), INT(RESUME_LOST))) == 0)
			sp->now.clusters[i].cursor = RESUME_LOST;
}

/*
 * A watermark that is older than the retention stays: such a cluster may not be
 * read any more, and a lost one would keep the tombstones of a full spool for ever.
 */
static void
watermark_take(struct damaged_file *w, const char *name, int64_t until)
{
	if (until == 0)
		(void)spool_cluster_id(w->sp, name, 1); /* none was lost */
	else if (w->trusted && until > 0 &&
	    until < (int64_t)time(NULL) - w->sp->keep)
		spool_watermark(w->sp, name, until);
	else
		watermark_lose(w->sp, name);
}

static void
clusters_take(struct damaged_file *w)
{
	sqlite3_stmt *st = prepare(w, spool_sql(SQL_CLUSTER_ALL));
	const char *name;

	while (st != NULL && sqlite3_step(st) == SQLITE_ROW &&
	    w->n_clusters < CLUSTERS_MAX) {
		name = (const char *)sqlite3_column_text(st, 1);
		if (name == NULL || *name == '\0' ||
		    strlen(name) >= CLUSTER_MAX)
			continue;
		w->clusters[w->n_clusters] = sqlite3_column_int(st, 0);
		snprintf(w->names[w->n_clusters++], CLUSTER_MAX, "%s", name);
		watermark_take(w, name, sqlite3_column_int64(st, 2));
	}
	sqlite3_finalize(st);
}

/*
 * The row may be wrong, so its end and state are taken from the record.  The
 * start is sent again, which is harmless.
 */
static void
row_repair(struct spool *sp, struct spool_run *run, const struct job *job)
{
	run->end = job->state != END_NOT ? job->end : 0;
	run->submit = job->submit;
	if (run_may_move(run, DEST_REST, RUN_EVENT_RECOVERED))
		run_move(sp, run, DEST_REST, RUN_EVENT_RECOVERED, DUE_KEEP,
		    NULL);
}

/* Reads the record of a row: 1 when its checksum is right, else 0. */
static int
bytes_take(struct damaged_file *w, int64_t id, struct writer *bytes)
{
	sqlite3_stmt *st = prepare(w, spool_sql(SQL_RECORD_GET));
	int whole = 0;

	wr_reset(bytes);
	if (st != NULL)
		spool_bind(st, VALUES(INT(id)));
	if (st != NULL && sqlite3_step(st) == SQLITE_ROW) {
		wr_mem(bytes, sqlite3_column_blob(st, 0),
		    (size_t)sqlite3_column_bytes(st, 0));
		whole = wr_end(bytes) == 0 &&
		    (uint64_t)sqlite3_column_int64(st, 1) ==
			spool_sum(bytes->buf, bytes->len);
	}
	if (!whole)
		wr_reset(bytes);
	sqlite3_finalize(st);
	return whole;
}

/* Are the bytes a record of that run? */
static int
record_take(struct damaged_file *w, struct spool_run *run, struct writer *bytes)
{
	int whole = bytes_take(w, run->id, bytes);
	struct reader r;
	struct job job;

	/*
	 * A quarantined record must not be read, and a run found in cc-backend
	 * has none.
	 */
	if (run->flags & (RUN_FROM_BACKEND | RUN_QUARANTINED))
		return w->trusted;
	if (!whole)
		return 0;
	job_init(&job);
	rd_init(&r, bytes->buf, bytes->len);
	job_read(&r, &job);
	whole = rd_end(&r) == 0 && run_key_equal(&job.key, &run->key);
	if (whole && !w->trusted)
		row_repair(w->sp, run, &job);
	job_clear(&job);
	return whole;
}

/*
 * A new file has a new clock.  Two times are no waits for another try: that of a stop
 * by NATS that must not come soon after its start, and that of a run that a later one
 * may replace within a day.
 */
static int64_t
due_repair(const struct spool_run *run, enum dest dest, int64_t now)
{
	int64_t due = run->due[dest], since = run->since[dest];

	if (due == DUE_UNCONFIRMED)
		return due;
	if (run->state[dest] == KEPT_REPLACEABLE)
		return now + DUPLICATE_SECONDS * 1000;
	if (dest != DEST_NATS || run->state[dest] != STOP_DUE ||
	    run->tries[dest] > 0 || since < 0 || due <= since ||
	    due <= DUE_AFTER_LIVE || due >= DUE_LEASED)
		return DUE_NOW;
	return now +
	    (due - since < STOP_WAIT_MAX ? due - since : STOP_WAIT_MAX);
}

/* Other runs are due now, and no time is in the future. */
static void
times_repair(struct damaged_file *w, struct spool_run *run)
{
	int64_t now = spool_now(w->sp);
	int d;

	for (d = 0; d < DEST__COUNT; d++) {
		run->due[d] = due_repair(run, (enum dest)d, now);
		if (run->since[d] > now)
			run->since[d] = now;
	}
	if (run->not_found_at > now)
		run->not_found_at = now;
}

/* Has the damaged file no tombstone of the run?  0 also when it is not read. */
static int
lacks_tomb(struct damaged_file *w, const struct spool_run *run, int cluster)
{
	sqlite3_stmt *st = prepare(w, spool_sql(SQL_TOMB_GET));
	int rc = SQLITE_ERROR;

	if (st != NULL) {
		spool_bind(st,
		    VALUES(INT(cluster), INT(run->key.job),
			INT(run->key.start)));
		rc = sqlite3_step(st);
	}
	sqlite3_finalize(st);
	return rc == SQLITE_DONE;
}

/*
 * Has the new spool delivered the run since an earlier start recovered a part?
 * A backfill may hold a run that was delivered before: its tombstone is in the
 * damaged file, too.  cluster: the id in that file.
 */
static int
is_delivered(struct damaged_file *w, const struct spool_run *run, int cluster)
{
	return spool_is_done(w->sp, &run->key) &&
	    (!(run->flags & RUN_BACKFILL) || lacks_tomb(w, run, cluster));
}

/* Merges the record into the row of the new spool: 1 when the row changes. */
static int
record_merge(struct damaged_file *w, const struct spool_run *run,
    const struct writer *bytes)
{
	struct reader r;
	struct job job;
	int64_t id;
	int changed;

	job_init(&job);
	rd_init(&r, bytes->buf, bytes->len);
	job_read(&r, &job);
	/* A held run that an earlier start recovered stays held. */
	if (run->flags & RUN_BACKFILL)
		job.flags |= JOB_BACKFILL;
	changed = rd_end(&r) == 0 && run_key_equal(&job.key, &run->key) &&
	    spool_put(w->sp, &job, &id) == PUT_MERGED;
	job_clear(&job);
	return changed;
}

static void
run_count(struct damaged_file *w, size_t bytes)
{
	w->bytes += bytes;
	if (++w->runs % COMMIT_EVERY == 0 || w->bytes >= COMMIT_BYTES) {
		(void)spool_commit(w->sp);
		w->bytes = 0;
	}
}

/*
 * cc-backend has listed the run.  A start that is still due is refused, and then
 * settled.  If REST was no destination when the damaged file got the run, it is
 * one now.
 */
static void
state_listed(struct spool *sp, struct spool_run *run)
{
	int64_t end = run->end;

	run->flags |= RUN_KEY_FIXED | RUN_REST_STARTED;
	if (run->state[DEST_REST] != RUN_NONE)
		return;
	run->end = 0;
	run_move(sp, run, DEST_REST, RUN_EVENT_FOUND, DUE_NOW, NULL);
	run->end = end;
	if (end != 0)
		run_move(sp, run, DEST_REST, RUN_EVENT_ENDED, DUE_NOW, NULL);
}

/*
 * cc-backend or Slurm has shown the run since an earlier start recovered a part.
 * Removes a row without a record: 1, the caller adds that of the damaged file.
 * Else the row stays, and gets what only the damaged file knows, unless a start
 * without it may have been sent.
 */
static int
row_replace(struct damaged_file *w, struct spool_run *run,
    struct spool_run *old, struct writer *bytes)
{
	const unsigned sent = RUN_KEY_FIXED | RUN_REST_STARTED;

	if (old->id > w->last ||
	    (run->flags & (RUN_FROM_BACKEND | RUN_QUARANTINED)) ||
	    !record_take(w, run, bytes))
		return 0;
	if (old->flags & RUN_FROM_BACKEND) {
		state_listed(w->sp, run);
		return spool_forget(w->sp, old) == 0;
	}
	if ((old->flags & sent) == 0 && record_merge(w, run, bytes))
		run_count(w, bytes->len);
	return 0;
}

/* Is the row to be added to the new spool?  Then bytes gets its record. */
static int
is_wanted(struct damaged_file *w, struct spool_run *run, int cluster,
    struct writer *bytes)
{
	struct spool_run old;
	int found = spool_find(w->sp, &run->key, &old);

	if (found == 1)
		return row_replace(w, run, &old, bytes);
	return found == 0 && !is_delivered(w, run, cluster) &&
	    record_take(w, run, bytes);
}

/* An error stays until the end of the pass, which damaged_read() checks. */
static void
run_take(struct damaged_file *w, sqlite3_stmt *st, struct writer *bytes)
{
	struct spool_run run;
	int cluster = sqlite3_column_int(st, 1);
	const char *name = name_of(w, cluster);

	spool_alive();
	spool_row(w->sp, st, &run);
	if (run.flags & RUN_KEY_FIXED)
		/* older files do not have this flag */
		run.flags |= RUN_REST_STARTED;
	if (name == NULL || run.key.start <= 0 || run.key.job == 0)
		return;
	snprintf(run.key.cluster, sizeof(run.key.cluster), "%s", name);
	if (!is_wanted(w, &run, cluster, bytes))
		return;
	times_repair(w, &run);
	run.cluster = spool_cluster_id(w->sp, name, 1);
	if (run.cluster == -1 || spool_add(w->sp, &run) == -1)
		return;
	if (bytes->len > 0)
		spool_record_set(w->sp, run.id, bytes->buf, bytes->len);
	run_count(w, bytes->len);
}

/*
 * Reads by row number, not by an index.  A page that cannot be read ends the
 * walk; the next walk begins after it, with growing steps until a row can be
 * read.
 */
static void
runs_take(struct damaged_file *w)
{
	int64_t at = 0, leap = 1;
	struct writer bytes;
	sqlite3_stmt *st;
	int rc = SQLITE_DONE;

	wr_init(&bytes, MSG_PAYLOAD_MAX);
	while (leap < GAP_MAX && !w->sp->broken) {
		st = prepare(w, spool_sql(SQL_EACH_ANY));
		if (st == NULL)
			break;
		spool_bind(st, VALUES(INT(at), INT(INT32_MAX)));
		/* Damaged pages may form a ring: row numbers must grow. */
		while (!w->sp->broken &&
		    (rc = sqlite3_step(st)) == SQLITE_ROW &&
		    sqlite3_column_int64(st, 0) > at) {
			at = sqlite3_column_int64(st, 0);
			leap = 1;
			run_take(w, st, &bytes);
		}
		sqlite3_finalize(st);
		if (rc == SQLITE_DONE)
			break;
		w->gaps++;
		at += leap;
		leap *= 2;
	}
	wr_clear(&bytes);
}

/*
 * Takes the tombstones that can be read.  A run that loses its tombstone is
 * only delivered again.
 */
static void
tombs_take(struct damaged_file *w)
{
	sqlite3_stmt *st = prepare(w,
	    "SELECT cluster, job, started, lasted, waited FROM tomb");
	const char *name;
	int64_t tomb[5];
	long left = TOMBS_MAX;
	int c;

	spool_tomb_ended(w->sp, 0); /* may be as old as it says */
	while (st != NULL && !w->sp->broken && left-- > 0 &&
	    sqlite3_step(st) == SQLITE_ROW) {
		name = name_of(w, sqlite3_column_int(st, 0));
		if (name == NULL)
			continue;
		for (c = 1; c < 5; c++)
			tomb[c] = sqlite3_column_int64(st, c);
		if (spool_change(w->sp, SQL_TOMB_ADD,
			VALUES(INT(spool_cluster_id(w->sp, name, 1)),
			    INT(tomb[1]), INT(tomb[2]), INT(tomb[3]),
			    INT(tomb[4]))) == -1)
			continue;
		w->tombs += (unsigned)sqlite3_changes(w->sp->db);
		if (left % COMMIT_EVERY == 0)
			(void)spool_commit(w->sp);
		spool_alive();
	}
	sqlite3_finalize(st);
}

/* Only from pages with a valid checksum: nothing else proves such a row. */
static void
resources_take(struct damaged_file *w)
{
	sqlite3_stmt *st = prepare(w,
	    "SELECT cluster, job, started, submitted, bytes FROM stub");
	struct spool_resources stub;
	const char *name;
	int i;

	for (i = 0; st != NULL && i < SPOOL_RESOURCES_MAX &&
	     sqlite3_step(st) == SQLITE_ROW;
	     i++) {
		memset(&stub, 0, sizeof(stub));
		name = name_of(w, sqlite3_column_int(st, 0));
		if (name == NULL)
			continue;
		snprintf(stub.key.cluster, sizeof(stub.key.cluster), "%s",
		    name);
		stub.key.job = (uint64_t)sqlite3_column_int64(st, 1);
		stub.key.start = sqlite3_column_int64(st, 2);
		stub.submit = sqlite3_column_int64(st, 3);
		spool_resources_add(w->sp, &stub, sqlite3_column_blob(st, 4),
		    (size_t)sqlite3_column_bytes(st, 4));
	}
	sqlite3_finalize(st);
}

/* Takes the metadata updates, under the same condition. */
static void
late_take(struct damaged_file *w)
{
	sqlite3_stmt *st = prepare(w,
	    "SELECT cluster, job, started, field, value FROM late");
	const char *name, *field, *value;
	struct run_key key;
	int i;

	for (i = 0;
	     st != NULL && i < META_MAX && sqlite3_step(st) == SQLITE_ROW;
	     i++) {
		memset(&key, 0, sizeof(key));
		name = name_of(w, sqlite3_column_int(st, 0));
		field = (const char *)sqlite3_column_text(st, 3);
		value = (const char *)sqlite3_column_text(st, 4);
		if (name == NULL || field == NULL || value == NULL)
			continue;
		snprintf(key.cluster, sizeof(key.cluster), "%s", name);
		key.job = (uint64_t)sqlite3_column_int64(st, 1);
		key.start = sqlite3_column_int64(st, 2);
		spool_meta_add(w->sp, &key, field, value, DUE_NOW);
	}
	sqlite3_finalize(st);
}

/* The result of one pass over the damaged file. */
enum pass {
	PASS_DONE,
	PASS_NO_FILE, /* nothing is to be recovered */
	PASS_FAILED   /* the new spool refuses writes, or no log can be made */
};

/* The log of the damaged file may need an inode, of which there is none. */
static int
lacks_log(struct damaged_file *w)
{
	if ((sqlite3_errcode(w->db) & 0xff) != SQLITE_CANTOPEN)
		return 0;
	snprintf(w->sp->error, sizeof(w->sp->error), "%s",
	    sqlite3_errmsg(w->db));
	w->sp->no_space = 1;
	return 1;
}

static enum pass
damaged_read(struct damaged_file *w, const char *path, int trusted)
{
	enum pass rc = PASS_DONE;

	if (sqlite3_open_v2(path, &w->db, SQLITE_OPEN_READWRITE,
		trusted ? SPOOL_VFS : NULL) != SQLITE_OK) {
		sqlite3_close_v2(w->db);
		return PASS_NO_FILE;
	}
	w->trusted = trusted;
	w->n_clusters = 0;
	sqlite3_exec(w->db,
	    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY", NULL,
	    NULL, NULL);
	if (!trusted || spool_sum_is_on(w->db)) {
		clusters_take(w);
		if (lacks_log(w)) {
			rc = PASS_FAILED;
			goto done;
		}
		/* Stored sums are without the rows that follow: count them. */
		(void)spool_value_set(w->sp, SHARES_NAME, "", 0);
		runs_take(w);
		tombs_take(w);
		if (trusted) {
			resources_take(w);
			late_take(w);
		}
	}
done:
	sqlite3_close_v2(w->db);
	spool_sum_bad();
	if (spool_commit(w->sp) == 0)
		return rc;
	spool_rollback(w->sp);
	return PASS_FAILED;
}

int
spool_recover(struct spool *sp)
{
	struct damaged_file w = { .sp = sp };
	char path[SPOOL_PATH_MAX];
	enum pass rc;

	w.last = spool_number(sp, "SELECT coalesce(max(id), 0) FROM run");
	snprintf(path, sizeof(path), "%s%s", sp->path, SPOOL_DAMAGED);
	rc = damaged_read(&w, path, 1);
	if (rc == PASS_NO_FILE)
		return 0;
	if (rc == PASS_DONE)
		rc = damaged_read(&w, path, 0);
	if (rc != PASS_DONE) {
		log_errorx("the damaged spool is recovered only in part: %s; "
			   "%s is kept, and the next start recovers the rest",
		    sp->error, path);
		return -1;
	}
	spool_keep_damaged(sp->path);
	log_notice(
	    "recovered from the damaged spool: %u runs and %u tombstones; "
	    "%u gaps",
	    w.runs, w.tombs, w.gaps);
	return 0;
}
