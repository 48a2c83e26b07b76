/* SPDX-License-Identifier: MIT */
/*
 * Resource records: the nodes, threads and GPUs of a run for whose record a
 * full spool has no space. Accounting has the rest of the run for weeks, but
 * not these. They have a small share of the file. The record of the run takes
 * them over when it arrives.
 *
 * Bytes: u8 version, u8 flags of struct job, u8 shared, then the hosts, each as
 * the difference to the one before. Numbers have 7 bits per byte.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submitter/spool/spool_private.h"

#define STUB_VERSION 1
#define STUB_FLAGS   (JOB_HAS_THREADS | JOB_HAS_ACCELS)
#define ROW_BYTES    32 /* beside the bytes: key, submit time, cell */

/* What a host has in common with the one before. */
#define SAME_SHAPE  1u
#define SAME_CPUS   2u
#define SAME_ACCELS 4u

static void
wr_num(struct writer *w, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		wr_u8(w, (uint8_t)(n | 0x80));
	wr_u8(w, (uint8_t)n);
}

static uint64_t
rd_num(struct reader *r)
{
	uint64_t n = 0;
	unsigned shift;
	uint8_t b;

	for (shift = 0; shift < 63; shift += 7) {
		b = (uint8_t)rd_u8(r);
		n |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return n;
	}
	rd_fail(r);
	return 0;
}

/* Writes how many bytes two texts have in common, and the other bytes. */
static void
wr_tail(struct writer *w, const char *before, const char *text)
{
	size_t same = 0, n = strlen(text);

	while (before != NULL && before[same] != '\0' &&
	    before[same] == text[same])
		same++;
	wr_num(w, same);
	wr_num(w, n - same);
	wr_mem(w, text + same, n - same);
}

static void
rd_tail(struct reader *r, const char *before, char *text, size_t size)
{
	size_t same = (size_t)rd_num(r), n = (size_t)rd_num(r), i;

	if (r->err || same > strlen(before) || n >= size || same >= size - n) {
		rd_fail(r);
		return;
	}
	memmove(text, before, same);
	for (i = 0; i < n; i++)
		text[same + i] = (char)rd_u8(r);
	text[same + n] = '\0';
	/* A NUL within the text is invalid. */
	if (r->err || strlen(text) != same + n)
		rd_fail(r);
}

static unsigned
host_same(const struct job_host *a, const struct job_host *h)
{
	unsigned same = 0;
	uint32_t i;

	if (a->sockets == h->sockets && a->cores == h->cores &&
	    a->threads == h->threads)
		same |= SAME_SHAPE;
	if (a->n_cpus == h->n_cpus &&
	    (h->n_cpus == 0 ||
		memcmp(a->cpus, h->cpus, h->n_cpus * sizeof(*h->cpus)) == 0))
		same |= SAME_CPUS;
	for (i = 0; a->n_accels == h->n_accels && i < h->n_accels; i++)
		if (strcmp(a->accels[i], h->accels[i]) != 0)
			break;
	if (a->n_accels == h->n_accels && i == h->n_accels)
		same |= SAME_ACCELS;
	return same;
}

static void
host_write(struct writer *w, const struct job_host *before,
    const struct job_host *h)
{
	unsigned same = host_same(before, h);
	uint32_t i, last = 0;

	wr_tail(w, before->name, h->name);
	wr_u8(w, (uint8_t)same);
	if (!(same & SAME_SHAPE)) {
		wr_num(w, h->sockets);
		wr_num(w, h->cores);
		wr_num(w, h->threads);
	}
	if (!(same & SAME_CPUS)) {
		wr_num(w, h->n_cpus);
		for (i = 0; i < h->n_cpus; i++) {
			wr_num(w, h->cpus[i].first - last);
			wr_num(w, h->cpus[i].last - h->cpus[i].first);
			last = h->cpus[i].last;
		}
	}
	if (!(same & SAME_ACCELS)) {
		wr_num(w, h->n_accels);
		for (i = 0; i < h->n_accels; i++)
			wr_tail(w, i > 0 ? h->accels[i - 1] : NULL,
			    h->accels[i]);
	}
}

static void
cpus_copy(struct job_host *h, const struct job_host *before, struct reader *r)
{
	uint32_t i;

	for (i = 0; i < before->n_cpus && !r->err; i++)
		if (job_host_add_cpus(h, before->cpus[i].first,
			before->cpus[i].last) == -1)
			rd_fail(r);
}

static void
cpus_read(struct reader *r, struct job_host *h)
{
	uint64_t n = rd_num(r), first, last = 0;

	for (; n > 0 && !r->err; n--) {
		first = last + rd_num(r);
		last = first + rd_num(r);
		if (last > UINT32_MAX || first > last ||
		    job_host_add_cpus(h, (uint32_t)first, (uint32_t)last) == -1)
			rd_fail(r);
	}
}

static void
accels_read(struct reader *r, struct job_host *h)
{
	char text[ACCEL_MAX] = "";
	uint64_t n = rd_num(r);

	for (; n > 0 && !r->err; n--) {
		rd_tail(r, text, text, sizeof(text));
		if (!r->err && job_host_add_accel(h, text) == -1)
			rd_fail(r);
	}
}

static void
accels_copy(struct job_host *h, const struct job_host *before, struct reader *r)
{
	uint32_t i;

	for (i = 0; i < before->n_accels && !r->err; i++)
		if (job_host_add_accel(h, before->accels[i]) == -1)
			rd_fail(r);
}

static void
host_read(struct reader *r, struct job *job)
{
	static const struct job_host none;
	const struct job_host *before = &none;
	char name[HOST_MAX] = "";
	struct job_host *h;
	unsigned same;

	if (job->n_hosts > 0)
		snprintf(name, sizeof(name), "%s",
		    job->hosts[job->n_hosts - 1].name);
	rd_tail(r, name, name, sizeof(name));
	same = rd_u8(r);
	h = r->err ? NULL : job_add_host(job, name);
	if (h == NULL) {
		rd_fail(r);
		return;
	}
	if (job->n_hosts > 1)
		before = h - 1;
	h->sockets = same & SAME_SHAPE ? before->sockets : (uint16_t)rd_num(r);
	h->cores = same & SAME_SHAPE ? before->cores : (uint16_t)rd_num(r);
	h->threads = same & SAME_SHAPE ? before->threads : (uint16_t)rd_num(r);
	if (same & SAME_CPUS)
		cpus_copy(h, before, r);
	else
		cpus_read(r, h);
	if (same & SAME_ACCELS)
		accels_copy(h, before, r);
	else
		accels_read(r, h);
}

void
spool_resources_write(struct writer *w, const struct job *job)
{
	static const struct job_host none;
	uint32_t i;

	wr_u8(w, STUB_VERSION);
	wr_u8(w, (uint8_t)(job->flags & STUB_FLAGS));
	wr_u8(w, (uint8_t)job->shared);
	wr_num(w, job->n_hosts);
	for (i = 0; i < job->n_hosts; i++)
		host_write(w, i > 0 ? &job->hosts[i - 1] : &none,
		    &job->hosts[i]);
}

int
spool_resources_read(const void *p, size_t n, struct job *job)
{
	struct reader r;
	uint64_t hosts;
	unsigned shared;

	rd_init(&r, p, n);
	if (rd_u8(&r) != STUB_VERSION)
		rd_fail(&r);
	job->flags = rd_u8(&r) & STUB_FLAGS;
	shared = rd_u8(&r);
	if (shared >= SHARED__COUNT)
		rd_fail(&r);
	else
		job->shared = (enum job_shared)shared;
	hosts = rd_num(&r);
	if (hosts > HOSTS_MAX)
		rd_fail(&r);
	for (; hosts > 0 && !r.err; hosts--)
		host_read(&r, job);
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
	spool_resources_write(w, job);
	if (wr_end(w) == -1 || sp->now.resources >= SPOOL_RESOURCES_MAX ||
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
