/* SPDX-License-Identifier: MIT */
/*
 * Resource records: the nodes, threads and GPUs of a run for whose record a
 * full spool has no space.  Accounting has the rest of the run for weeks, but
 * not these.  They have a small share of the file.  The record of the run takes
 * them over when it arrives.
 *
 * Bytes: u8 version, u32 length of the record, blob: a record with these
 * members only, in zlib's format.
 */
#include "config.h"

#include <stdlib.h>

#include <zlib.h>

#include "common/model/msg.h"
#include "submitter/spool/spool_private.h"

#define STUB_VERSION 2
#define STUB_FLAGS   (JOB_HAS_THREADS | JOB_HAS_ACCELS)
#define ROW_BYTES    32 /* beside the bytes: key, submit time, cell */

/* Writes the record that is packed; wr_end() tells errors. */
static void
plain_write(struct writer *w, const struct job *job)
{
	struct job part;

	job_init(&part);
	part.key = job->key;
	part.flags = job->flags & STUB_FLAGS;
	part.shared = job->shared;
	part.hosts = job->hosts; /* borrowed */
	part.n_hosts = job->n_hosts;
	job_write(w, &part);
}

int
spool_resources_write(struct writer *w, const struct job *job)
{
	struct writer plain;
	uint8_t *packed = NULL;
	uLongf n;
	int rc = -1;

	wr_init(&plain, MSG_PAYLOAD_MAX);
	plain_write(&plain, job);
	if (wr_end(&plain) == -1)
		goto done;
	n = compressBound((uLong)plain.len);
	packed = malloc(n);
	if (packed == NULL ||
	    compress2(packed, &n, plain.buf, (uLong)plain.len,
		Z_BEST_COMPRESSION) != Z_OK)
		goto done;
	wr_u8(w, STUB_VERSION);
	wr_u32(w, (uint32_t)plain.len);
	wr_blob(w, packed, n);
	rc = wr_end(w);
done:
	wr_clear(&plain);
	free(packed);
	return rc;
}

static void
packed_read(struct reader *r, struct job *job)
{
	size_t len = rd_u32(r), size;
	const uint8_t *packed = rd_blob(r, &size);
	uint8_t *bytes = NULL;
	struct reader plain;
	uLongf n = (uLongf)len;

	if (!r->err && len > 0 && len <= MSG_PAYLOAD_MAX)
		bytes = malloc(len);
	if (bytes != NULL &&
	    uncompress(bytes, &n, packed, (uLong)size) == Z_OK && n == len) {
		rd_init(&plain, bytes, len);
		job_read(&plain, job);
		if (rd_end(&plain) == -1)
			rd_fail(r);
	} else
		rd_fail(r);
	free(bytes);
}

int
spool_resources_read(const void *p, size_t n, struct job *job)
{
	struct reader r;
	unsigned version;

	rd_init(&r, p, n);
	version = rd_u8(&r);
	if (version == STUB_VERSION)
		packed_read(&r, job);
	else if (version == 1)
		spool_resources_read_v1(&r, job);
	else
		rd_fail(&r);
	job->flags &= STUB_FLAGS;
	return rd_end(&r);
}

/* The bytes of the share that a resource record uses. */
static int64_t
resources_cost(size_t n)
{
	int64_t shares = ((int64_t)n + ROW_BYTES + SPOOL_RESOURCE_MAX - 1) /
	    SPOOL_RESOURCE_MAX;

	return shares * SPOOL_RESOURCE_MAX;
}

int
spool_resources_add(struct spool *sp, const struct spool_resources *stub,
    const void *p, size_t n)
{
	int cluster = spool_cluster_id(sp, stub->key.cluster, 1);

	if (cluster == -1 ||
	    spool_change(sp, SQL_RESOURCES_ADD,
		VALUES(INT(cluster), INT(stub->key.job), INT(stub->key.start),
		    INT(stub->submit), BLOB(p, n))) == -1)
		return -1;
	if (sqlite3_changes(sp->db) > 0) {
		sp->now.resources++;
		sp->now.resource_bytes += resources_cost(n);
	}
	return 0;
}

enum spool_put
spool_resources_put(struct spool *sp, const struct job *job)
{
	struct spool_resources stub = { .key = job->key,
		.submit = job->submit };
	struct spool_run run;
	struct writer *w = &sp->record;
	int known;

	if (job->key.start <= 0 || job->key.job == 0 || job->end != 0 ||
	    job->n_hosts == 0 || !(job->flags & STUB_FLAGS))
		return PUT_REFUSED;
	known = spool_find(sp, &job->key, &run);
	if (known != 0 || spool_is_done(sp, &job->key))
		return known == -1 ? PUT_ERROR : PUT_KNOWN;
	wr_reset(w);
	if (spool_resources_write(w, job) == -1 ||
	    sp->now.resources >= SPOOL_RESOURCES_MAX ||
	    sp->now.resource_bytes + resources_cost(w->len) >
		(int64_t)spool_resources_share(sp))
		return PUT_NO_SHARE;
	return spool_resources_add(sp, &stub, w->buf, w->len) == -1 ?
	    PUT_ERROR :
	    PUT_NEW;
}

static int
resources_drop(struct spool *sp, int cluster, int64_t job, int64_t start,
    size_t n)
{
	if (spool_change(sp, SQL_RESOURCES_DROP,
		VALUES(INT(cluster), INT(job), INT(start))) == -1)
		return -1;
	sp->now.resources--;
	sp->now.resource_bytes -= resources_cost(n);
	return 0;
}

int
spool_resources_take(struct spool *sp, struct job *job)
{
	sqlite3_stmt *st;
	struct job had;
	int64_t start = 0, submit;
	int rc = 0, cluster = spool_cluster_id(sp, job->key.cluster, 0);
	size_t n = 0;

	if (sp->now.resources <= 0 || cluster == -1)
		return 0;
	if ((st = spool_query(sp, SQL_RESOURCES_OF_JOB,
		 VALUES(INT(cluster), INT(job->key.job)))) == NULL)
		return -1;
	job_init(&had);
	while (start == 0 && (rc = spool_step(sp, st)) == 1) {
		submit = sqlite3_column_int64(st, 1);
		/*
		 * The same start, or a start that moved within one submission.
		 */
		if (sqlite3_column_int64(st, 0) != job->key.start &&
		    (submit == 0 || submit != job->submit))
			continue;
		start = sqlite3_column_int64(st, 0);
		n = (size_t)sqlite3_column_bytes(st, 2);
		if (spool_resources_read(sqlite3_column_blob(st, 2), n, &had) ==
		    0)
			job_merge(job, &had);
	}
	sqlite3_reset(st);
	job_clear(&had);
	if (rc == -1)
		return -1;
	return start == 0 ?
	    0 :
	    resources_drop(sp, cluster, (int64_t)job->key.job, start, n);
}

int
spool_resources_recount(struct spool *sp)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_RESOURCES_SIZES);
	int rc = -1;

	while (st != NULL && (rc = spool_step(sp, st)) == 1) {
		sp->now.resources++;
		sp->now.resource_bytes += resources_cost(
		    (size_t)sqlite3_column_int64(st, 0));
	}
	return rc;
}

uint64_t
spool_resources_count(const struct spool *sp)
{
	return sp->durable.resources > 0 ? (uint64_t)sp->durable.resources : 0;
}

uint64_t
spool_resources_share(const struct spool *sp)
{
	uint64_t share = sp->max_bytes / SPOOL_RESOURCE_SHARE;

	return share < SPOOL_RESOURCE_BYTES ? share : SPOOL_RESOURCE_BYTES;
}

int
spool_resources_age(struct spool *sp, int64_t wall)
{
	sqlite3_stmt *st = sp->now.resources > 0 ?
	    spool_query(sp, SQL_RESOURCES_OLD,
		VALUES(INT(wall - SPOOL_RESOURCE_KEEP))) :
	    NULL;
	int64_t job, start;
	int rc, cluster;
	size_t n;

	if (st == NULL)
		return 0;
	rc = spool_step(sp, st);
	if (rc != 1)
		return rc;
	cluster = sqlite3_column_int(st, 0);
	job = sqlite3_column_int64(st, 1);
	start = sqlite3_column_int64(st, 2);
	n = (size_t)sqlite3_column_int64(st, 3);
	sqlite3_reset(st);
	return resources_drop(sp, cluster, job, start, n);
}
