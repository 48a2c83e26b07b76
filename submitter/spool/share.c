/* SPDX-License-Identifier: MIT */
/*
 * Bytes that the runs of each cluster use, for the centre of a fan-in: those that are
 * stored and, because a cluster can publish done runs without end, the tombstones.
 * The sums
 * are a named value that is written in each commit.  A program that does not
 * know this value leaves it behind the clock of the commits; then the runs are
 * counted again.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "submitter/spool/spool_private.h"

/* Key of the value in table meta; "shares" was without tombstones. */
#define SHARES_NAME "shares-tombs"
#define PAGE	    4096
#define ROW_BYTES   400 /* of a run with its index entries */
#define TOMB_BYTES  32
#define ALIVE_ROWS  4096

/* Bytes of a run whose record has this length: long ones have whole pages. */
static int64_t
cost(int64_t len)
{
	return ROW_BYTES + (len <= PAGE ? len : (len + PAGE - 1) / PAGE * PAGE);
}

static struct spool_cluster *
cluster_of(struct tally *t, int id)
{
	unsigned i;

	for (i = 0; i < t->n_clusters; i++)
		if (t->clusters[i].id == id)
			return &t->clusters[i];
	return NULL;
}

static void
share_add(struct spool *sp, int id, int64_t bytes)
{
	struct spool_cluster *c = cluster_of(&sp->now, id);

	if (c != NULL)
		c->bytes += bytes;
}

/* The length of the stored record; -1 without one, or on an error. */
static int64_t
record_len(struct spool *sp, int64_t id, int *cluster)
{
	sqlite3_stmt *st = spool_query(sp, SQL_SHARE_OF, VALUES(INT(id)));
	int64_t len;

	if (st == NULL || spool_step(sp, st) != 1)
		return -1;
	*cluster = sqlite3_column_int(st, 0);
	len = sqlite3_column_int64(st, 1);
	sqlite3_reset(st);
	return len;
}

void
spool_share_set(struct spool *sp, int64_t id, size_t len)
{
	int64_t old;
	int cluster = -1; /* of no cluster */

	if (!sp->shares)
		return;
	old = record_len(sp, id, &cluster);
	share_add(sp, cluster, cost((int64_t)len) - (old >= 0 ? cost(old) : 0));
}

void
spool_share_drop(struct spool *sp, int64_t id)
{
	int64_t old;
	int cluster = -1;

	if (!sp->shares)
		return;
	old = record_len(sp, id, &cluster);
	if (old >= 0)
		share_add(sp, cluster, -cost(old));
}

void
spool_share_tombs(struct spool *sp, int cluster, int n)
{
	if (sp->shares)
		share_add(sp, cluster, (int64_t)n * TOMB_BYTES);
}

int
spool_shares_write(struct spool *sp, int64_t clock)
{
	struct writer w;
	unsigned i;
	int rc;

	if (!sp->shares)
		return 0;
	wr_init(&w, 16 + 16 * CLUSTERS_MAX);
	wr_i64(&w, clock);
	for (i = 0; i < sp->now.n_clusters; i++)
		if (sp->now.clusters[i].bytes != 0) {
			wr_i64(&w, sp->now.clusters[i].id);
			wr_i64(&w, sp->now.clusters[i].bytes);
		}
	rc = wr_end(&w) == 0 ? spool_value_set(sp, SHARES_NAME, w.buf, w.len) :
			       -1;
	wr_clear(&w);
	return rc;
}

/* Reads the stored sums; -1 when they are not of the last commit. */
static int
shares_read(struct spool *sp)
{
	struct reader r;
	int64_t id;
	size_t n;
	void *p = spool_value_get(sp, SHARES_NAME, &n);
	int rc = -1;

	rd_init(&r, p, n);
	if (p != NULL && rd_i64(&r) == sp->opened - 1)
		for (rc = 0; r.left > 0 && !r.err;) {
			id = rd_i64(&r);
			share_add(sp, (int)id, rd_i64(&r));
		}
	free(p);
	return rc;
}

static int
tombs_count(struct spool *sp)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_SHARES_TOMB);
	unsigned n = 0;
	int rc = -1;

	while (st != NULL && (rc = spool_step(sp, st)) == 1) {
		share_add(sp, sqlite3_column_int(st, 0), TOMB_BYTES);
		if (++n % ALIVE_ROWS == 0)
			spool_alive();
	}
	return rc;
}

static int
shares_count(struct spool *sp)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_SHARES);
	unsigned n = 0;
	int rc = -1;

	while (st != NULL && (rc = spool_step(sp, st)) == 1) {
		share_add(sp, sqlite3_column_int(st, 0),
		    cost(sqlite3_column_int64(st, 1)));
		if (++n % ALIVE_ROWS == 0)
			spool_alive();
	}
	return rc == -1 ? -1 : tombs_count(sp);
}

int
spool_shares_begin(struct spool *sp)
{
	if (sp->shares || spool_dirty(sp))
		return 0;
	if (shares_read(sp) == -1 && shares_count(sp) == -1)
		return -1;
	sp->shares = 1;
	sp->durable = sp->now;
	return 0;
}

int64_t
spool_share(const struct spool *sp, const char *cluster)
{
	unsigned i;

	for (i = 0; i < sp->now.n_clusters; i++)
		if (strcmp(sp->now.clusters[i].name, cluster) == 0)
			return sp->now.clusters[i].bytes;
	return 0;
}

int64_t
spool_shares_all(const struct spool *sp)
{
	int64_t sum = 0;
	unsigned i;

	for (i = 0; i < sp->now.n_clusters; i++)
		sum += sp->now.clusters[i].bytes;
	return sum;
}
