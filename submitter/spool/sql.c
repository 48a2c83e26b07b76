/* SPDX-License-Identifier: MIT */
/*
 * The schema of the spool and all statements. A due time of 0 means now, and
 * rows due now are ordered by their start. The index of a destination has this
 * order, so that nothing is sorted and a page costs the same with ten rows and
 * with a million.
 */
#include "config.h"

#include "submitter/spool/spool_private.h"

#define STR_(x) #x
#define STR(x)	STR_(x)

/* Since version 2: metadata updates. */
#define META_TABLE \
	"CREATE TABLE late (id INTEGER PRIMARY KEY, cluster INTEGER NOT NULL," \
	" job INTEGER NOT NULL, started INTEGER NOT NULL," \
	" field TEXT NOT NULL, value TEXT NOT NULL, due INTEGER NOT NULL," \
	" tries INTEGER NOT NULL);" \
	"CREATE UNIQUE INDEX late_key ON late (cluster, job, started, field);" \
	"CREATE INDEX late_due ON late (due);"

/* Since version 3: resource records. */
#define STUB_TABLE \
	"CREATE TABLE stub (cluster INTEGER, job INTEGER, started INTEGER," \
	" submitted INTEGER, bytes BLOB," \
	" PRIMARY KEY (cluster, job, started)) WITHOUT ROWID;"

const char *const spool_steps[SPOOL_SCHEMA - 1] = {
	META_TABLE,
	STUB_TABLE
	/*
	 * starts of older versions had no tags: RUN_KEY_FIXED implies
	 * RUN_REST_STARTED
	 */
	"UPDATE run SET flags = flags | 2048 WHERE flags & 1;",
	/*
	 * Only the number changes: new resource records have another format,
	 * the rows of version 3 stay as they are.
	 */
	"",
};

const char spool_schema[] =
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;"
    "CREATE TABLE cluster (id INTEGER PRIMARY KEY,"
    " name TEXT NOT NULL UNIQUE, cursor INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE run (id INTEGER PRIMARY KEY, cluster INTEGER NOT NULL,"
    " job INTEGER NOT NULL, started INTEGER NOT NULL,"
    " ended INTEGER NOT NULL, submitted INTEGER NOT NULL,"
    " alias INTEGER NOT NULL, flags INTEGER NOT NULL,"
    " rphase INTEGER NOT NULL, rdue INTEGER NOT NULL,"
    " rtries INTEGER NOT NULL, rsince INTEGER NOT NULL,"
    " nphase INTEGER NOT NULL, ndue INTEGER NOT NULL,"
    " ntries INTEGER NOT NULL, nsince INTEGER NOT NULL,"
    " denied INTEGER NOT NULL, denials INTEGER NOT NULL, reason TEXT);"
    "CREATE UNIQUE INDEX run_key ON run (cluster, job, started);"
    "CREATE INDEX run_rest ON run (rphase, rdue, started)"
    " WHERE rphase > 0;"
    "CREATE INDEX run_nats ON run (nphase, ndue, started)"
    " WHERE nphase > 0;"
    "CREATE TABLE record (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL,"
    " sum INTEGER NOT NULL);"
    /*
     * lasted: seconds from start to end, see spool_lasted(); waited: from
     * submit to start
     */
    "CREATE TABLE tomb (cluster INTEGER, job INTEGER, started INTEGER,"
    " lasted INTEGER, waited INTEGER,"
    " PRIMARY KEY (cluster, job, started)) WITHOUT ROWID;" META_TABLE STUB_TABLE
    "PRAGMA application_id = " STR(
	SPOOL_APPLICATION_ID) ";"
			      "PRAGMA user_version = " STR(SPOOL_SCHEMA) ";";

#define RUN_COLUMNS \
	"id, cluster, job, started, ended, submitted, alias, flags," \
	" rphase, rdue, rtries, rsince, nphase, ndue, ntries, nsince," \
	" denied, denials, reason"

#define PICK(p, cond) \
	"SELECT id FROM run WHERE " p "phase = ?1 AND " p "phase > 0 AND " cond

#define LEASED "1152921504606846976" /* DUE_LEASED */

#define PAST "8192" /* RUN_BACKFILL: due is DUE_AFTER_LIVE, else DUE_NOW */

#define PICK_NEWEST(p) PICK(p, p "due = 0 ORDER BY started DESC LIMIT ?2")
#define PICK_OLDEST(p) PICK(p, p "due = 0 ORDER BY started LIMIT ?2")
#define PICK_LATER(p) \
	PICK(p, p "due > 0 AND " p "due <= ?3 ORDER BY " p "due LIMIT ?2")
#define NEXT_DUE(p) \
	"SELECT min(" p "due) FROM run WHERE " p "phase = ?1 AND " p \
	"phase > 0 AND " p "due < " LEASED
#define UNLEASE(p) \
	"UPDATE run SET " p "due = (flags & " PAST ") <> 0 WHERE " p \
	"phase IN (1, 2, 8, 12) AND " p "phase > 0 AND " p "due = " LEASED
/*
 * The states in which a request may have failed. A row with many tries keeps
 * its wait.
 */
#define HURRY(p) \
	"UPDATE run SET " p "due = (flags & " PAST ") <> 0 WHERE " p \
	"phase IN (1, 2, 8, 12) AND " p "phase > 0 AND " p "due > 0 AND " p \
	"due < " LEASED " AND " p "tries BETWEEN 1 AND 10"
#define EACH(p) \
	"SELECT " RUN_COLUMNS " FROM run WHERE " p "phase = ?1 AND " p \
	"phase > 0 AND (" p "due, started, id) > (?2, ?3, ?4) ORDER BY " p \
	"due, started, id LIMIT ?5"
#define COUNT(p) "SELECT " p "phase, count(*) FROM run GROUP BY " p "phase"
#define STARTS(p) \
	"SELECT 1 FROM run WHERE cluster = ?1 AND job = ?2 AND id <> ?3 AND " p \
	"phase BETWEEN 1 AND 4 AND " p "tries < CASE " p "phase WHEN 4 THEN 1" \
	" ELSE 8 END AND " p "due <= 1 << 60 AND NOT (" p \
	"phase = 3 AND flags & 4096 <> 0) LIMIT 1"

#define SHARES_WAITING(p) \
	"SELECT cluster FROM run WHERE " p "phase = ?1 AND " p \
	"phase > 0 AND (flags & ?2) = 0"

#define BOTH(id, text) \
	[id + DEST_REST] = text("r"), [id + DEST_NATS] = text("n")

static const char *const texts[SQL__COUNT] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_PAGES] = "PRAGMA page_count",
	[SQL_PAGES_FREE] = "PRAGMA freelist_count",
	[SQL_VALUE_GET] = "SELECT value FROM meta WHERE name = ?1",
	[SQL_VALUE_SET] =
	    "INSERT INTO meta VALUES (?1, ?2)"
	    " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
	[SQL_CLUSTER_ALL] = "SELECT id, name, cursor FROM cluster ORDER BY id",
	[SQL_CLUSTER_ADD] = "INSERT INTO cluster (name) VALUES (?1)",
	[SQL_CLUSTER_WATERMARK] =
	    "UPDATE cluster SET cursor = ?2 WHERE id = ?1",
	[SQL_RUN_GET] = "SELECT " RUN_COLUMNS " FROM run WHERE id = ?1",
	[SQL_RUN_FIND] = "SELECT " RUN_COLUMNS " FROM run"
			 " WHERE cluster = ?1 AND job = ?2 AND started = ?3",
	[SQL_RUN_OF_JOB] =
	    "SELECT " RUN_COLUMNS " FROM run"
	    " WHERE cluster = ?1 AND job = ?2 ORDER BY started LIMIT ?3",
	[SQL_RUN_LATEST] =
	    "SELECT " RUN_COLUMNS " FROM run"
	    " WHERE cluster = ?1 AND job = ?2 ORDER BY started DESC LIMIT ?3",
	[SQL_RUN_ADD] =
	    "INSERT INTO run VALUES (NULL, ?2, ?3, ?4, ?5, ?6, ?7,"
	    " ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
	[SQL_RUN_SAVE] =
	    "UPDATE run SET started = ?4, ended = ?5,"
	    " submitted = ?6, alias = ?7, flags = ?8, rphase = ?9, rdue = ?10,"
	    " rtries = ?11, rsince = ?12, nphase = ?13, ndue = ?14,"
	    " ntries = ?15, nsince = ?16, denied = ?17, denials = ?18,"
	    " reason = ?19 WHERE id = ?1",
	[SQL_RUN_DROP] = "DELETE FROM run WHERE id = ?1",
	[SQL_RECORD_GET] = "SELECT bytes, sum FROM record WHERE id = ?1",
	[SQL_RECORD_READ] = "SELECT bytes, sum, cluster, job, started"
			    " FROM record JOIN run USING (id)"
			    " WHERE id = ?1 AND (flags & ?2) = 0",
	[SQL_RECORD_SET] =
	    "INSERT INTO record VALUES (?1, ?2, ?3)"
	    " ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes,"
	    " sum = excluded.sum",
	[SQL_RECORD_DROP] = "DELETE FROM record WHERE id = ?1",
	[SQL_TOMB_GET] = "SELECT lasted FROM tomb"
			 " WHERE cluster = ?1 AND job = ?2 AND started = ?3",
	[SQL_TOMB_OF_JOB] = "SELECT started, lasted, waited FROM tomb"
			    " WHERE cluster = ?1 AND job = ?2 LIMIT ?3",
	[SQL_TOMB_ADD] =
	    "INSERT OR IGNORE INTO tomb VALUES (?1, ?2, ?3, ?4, ?5)",
	[SQL_TOMB_PAGE] = "SELECT cluster, job, started, lasted FROM tomb"
			  " WHERE (cluster, job, started) > (?1, ?2, ?3)"
			  " ORDER BY cluster, job, started LIMIT ?4",
	[SQL_TOMB_DROP] = "DELETE FROM tomb"
			  " WHERE cluster = ?1 AND job = ?2 AND started = ?3",
	BOTH(SQL_PICK_NEWEST, PICK_NEWEST),
	BOTH(SQL_PICK_OLDEST, PICK_OLDEST),
	BOTH(SQL_PICK_LATER, PICK_LATER),
	BOTH(SQL_NEXT_DUE, NEXT_DUE),
	BOTH(SQL_UNLEASE, UNLEASE),
	BOTH(SQL_RETRY_NOW, HURRY),
	BOTH(SQL_EACH, EACH),
	BOTH(SQL_COUNT, COUNT),
	BOTH(SQL_STARTS, STARTS),
	BOTH(SQL_SHARES_WAITING, SHARES_WAITING),
	[SQL_EACH_ANY] = "SELECT " RUN_COLUMNS " FROM run WHERE id > ?1"
			 " ORDER BY id LIMIT ?2",
	[SQL_EACH_OF] = "SELECT " RUN_COLUMNS " FROM run"
			" WHERE cluster = ?1 AND (job, started) > (?2, ?3) AND"
			" rphase = ?4 ORDER BY job, started LIMIT ?5",
	[SQL_EACH_UNSENT] = "SELECT " RUN_COLUMNS " FROM run WHERE id > ?1 AND"
			    " rphase = 0 AND nphase = 0 AND ended = 0"
			    " ORDER BY id LIMIT ?2",
	[SQL_SPAN] = "SELECT min(started), max(started), count(*) FROM run"
		     " WHERE rphase = ?1 AND rphase > 0 AND cluster = ?2",
	[SQL_SPAN_ALIAS] =
	    "SELECT min(alias), max(alias), count(*) FROM run"
	    " WHERE rphase = ?1 AND rphase > 0 AND cluster = ?2 AND"
	    " started BETWEEN ?3 AND ?4 AND alias <> 0",
	[SQL_RANGES] = "SELECT cluster, started FROM run"
		       " WHERE rphase = ?1 AND rphase > 0 AND rsince < ?2 AND"
		       " (flags & ?3) = 0",
	[SQL_META_ADD] = "INSERT INTO late VALUES (NULL, ?1, ?2, ?3, ?4, ?5,"
			 " ?6, 0)",
	[SQL_META_OF_RUN] = "DELETE FROM late WHERE cluster = ?1 AND job = ?2"
			    " AND started = ?3 AND field = ?4",
	[SQL_META_EXPECTED] = "SELECT 1 FROM late WHERE cluster = ?1 AND"
			      " job = ?2 AND started = ?3 AND field = ?4 AND"
			      " value = ''",
	[SQL_META_NEXT] = "SELECT id, cluster, job, started, field, value, due,"
			  " tries FROM late ORDER BY due LIMIT 1",
	[SQL_META_WAIT] = "UPDATE late SET due = ?2, tries = ?3 WHERE id = ?1",
	[SQL_META_DROP] = "DELETE FROM late WHERE id = ?1",
	[SQL_META_COUNT] = "SELECT count(*) FROM late",
	/*
	 * 10: rejected, so not in cc-backend; 0: not reported by REST; lasted
	 * below 0: a false start, which was not sent
	 */
	[SQL_BLOCKED] =
	    "SELECT 1 FROM run WHERE cluster = ?1 AND job = ?2 AND"
	    " started <> ?3 AND started > ?4 AND rphase NOT IN (0, 10)"
	    " UNION ALL SELECT 1 FROM tomb WHERE cluster = ?1 AND job = ?2 AND"
	    " started <> ?3 AND started > ?4 AND lasted >= 0 LIMIT 1",
	[SQL_PREVIOUS_RUN] =
	    "SELECT started FROM run WHERE cluster = ?1 AND"
	    " job = ?2 AND started < ?3 AND started > ?4 AND rphase NOT IN"
	    " (0, 10) UNION ALL SELECT started FROM tomb WHERE cluster = ?1"
	    " AND job = ?2 AND started < ?3 AND started > ?4 AND lasted >= 0"
	    " ORDER BY 1 DESC LIMIT 1",
	[SQL_RESOURCES_ADD] =
	    "INSERT OR IGNORE INTO stub VALUES (?1, ?2, ?3, ?4, ?5)",
	[SQL_RESOURCES_OF_JOB] = "SELECT started, submitted, bytes FROM stub"
				 " WHERE cluster = ?1 AND job = ?2",
	[SQL_RESOURCES_DROP] =
	    "DELETE FROM stub"
	    " WHERE cluster = ?1 AND job = ?2 AND started = ?3",
	[SQL_RESOURCES_OLD] =
	    "SELECT cluster, job, started, length(bytes) FROM stub"
	    " WHERE started < ?1 LIMIT 1",
	[SQL_RESOURCES_SIZES] = "SELECT length(bytes) FROM stub",
	[SQL_SHARE_OF] = "SELECT cluster, coalesce(length(bytes), -1) FROM run"
			 " LEFT JOIN record ON record.id = run.id"
			 " WHERE run.id = ?1",
	[SQL_SHARES] = "SELECT cluster, length(bytes) FROM record"
		       " JOIN run ON run.id = record.id",
	[SQL_SHARES_TOMB] = "SELECT cluster FROM tomb",
};

const char *
spool_sql(enum sql id)
{
	return texts[id];
}
