/* SPDX-License-Identifier: MIT */
/*
 * Metadata updates: keys of metaData that become known after the start was
 * sent.  They have a table of their own, because the run may be done before
 * that.  See spool.h.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submitter/spool/spool_private.h"

int
spool_meta_add(struct spool *sp, const struct run_key *key, const char *field,
    const char *value, int64_t due)
{
	int cluster = spool_cluster_id(sp, key->cluster, 0);

	if (sp->now.late >= META_MAX || cluster == -1 ||
	    spool_bytes(sp) >= spool_bytes_max(sp) / 2) {
		sp->meta_refused++;
		return 0;
	}
	if (spool_change(sp, SQL_META_OF_RUN,
		VALUES(INT(cluster), INT(key->job), INT(key->start),
		    TEXT(field))) == -1)
		return -1;
	sp->now.late -= sqlite3_changes(sp->db);
	if (spool_change(sp, SQL_META_ADD,
		VALUES(INT(cluster), INT(key->job), INT(key->start),
		    TEXT(field), TEXT(value), INT(due))) == -1)
		return -1;
	sp->now.late++;
	return 1;
}

int
spool_meta_expect(struct spool *sp, const struct run_key *key,
    const char *field, int64_t until)
{
	return spool_meta_add(sp, key, field, "", until);
}

int
spool_meta_expected(struct spool *sp, const struct run_key *key,
    const char *field)
{
	int cluster = spool_cluster_id(sp, key->cluster, 0);

	return spool_has_row(sp, SQL_META_EXPECTED,
	    VALUES(INT(cluster), INT(key->job), INT(key->start), TEXT(field)));
}

int
spool_meta_next(struct spool *sp, struct spool_meta *late)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_META_NEXT);
	int rc;

	memset(late, 0, sizeof(*late));
	if (st == NULL)
		return -1;
	rc = spool_step(sp, st);
	if (rc != 1)
		return rc;
	late->id = sqlite3_column_int64(st, 0);
	snprintf(late->key.cluster, sizeof(late->key.cluster), "%s",
	    spool_cluster_name(sp, sqlite3_column_int(st, 1)));
	late->key.job = (uint64_t)sqlite3_column_int64(st, 2);
	late->key.start = sqlite3_column_int64(st, 3);
	snprintf(late->field, sizeof(late->field), "%s",
	    (const char *)sqlite3_column_text(st, 4));
	late->value = strdup((const char *)sqlite3_column_text(st, 5));
	late->due = sqlite3_column_int64(st, 6);
	late->tries = (unsigned)sqlite3_column_int(st, 7);
	sqlite3_reset(st);
	return late->value != NULL ? 1 : -1;
}

void
spool_meta_clear(struct spool_meta *late)
{
	free(late->value);
	late->value = NULL;
}

int
spool_meta_wait(struct spool *sp, int64_t id, int64_t due, unsigned tries)
{
	return spool_change(sp, SQL_META_WAIT,
	    VALUES(INT(id), INT(due), INT(tries)));
}

int
spool_meta_drop(struct spool *sp, int64_t id)
{
	if (spool_change(sp, SQL_META_DROP, VALUES(INT(id))) == -1)
		return -1;
	sp->now.late -= sqlite3_changes(sp->db);
	return 0;
}

uint64_t
spool_meta_refused(const struct spool *sp)
{
	return sp->meta_refused;
}

uint64_t
spool_meta_count(const struct spool *sp)
{
	return sp->now.late > 0 ? (uint64_t)sp->now.late : 0;
}

/*
 * A statement that finds runs of the job because of which cc-backend would
 * refuse this run.
 */
static sqlite3_stmt *
earlier_stmt(struct spool *sp, enum sql what, const struct spool_run *run)
{
	return spool_query(sp, what,
	    VALUES(INT(run->cluster), INT(run->key.job), INT(run->key.start),
		INT(run->key.start - DUPLICATE_SECONDS)));
}

int
spool_blocked(struct spool *sp, const struct spool_run *run)
{
	sqlite3_stmt *st = earlier_stmt(sp, SQL_BLOCKED, run);
	int rc;

	if (st == NULL)
		return -1;
	rc = spool_step(sp, st);
	sqlite3_reset(st);
	return rc;
}

int
spool_previous_run(struct spool *sp, const struct spool_run *run,
    struct run_key *previous)
{
	sqlite3_stmt *st = earlier_stmt(sp, SQL_PREVIOUS_RUN, run);
	int rc;

	if (st == NULL)
		return -1;
	rc = spool_step(sp, st);
	if (rc == 1) {
		*previous = run->key;
		previous->start = sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
	}
	return rc;
}
