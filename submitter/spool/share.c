/* SPDX-License-Identifier: MIT */
/*
 * Bytes that the runs of each cluster use, for the centre of a fan-in: those that are
 * stored and, because a cluster can publish done runs without end, the tombstones.
 * The sums
 * are a named value that is written in each commit.  A program that does not
 * know this value leaves it behind the clock of the commits; then the runs are
 * counted again.  The runs that wait for delivery are counted at each start.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "submitter/spool/spool_private.h"

#define PAGE	  4096
#define ROW_BYTES 400 /* of a run with its index entries */
#define TOMB_BYTES \
	32 /* of ordinary ones, which are added in the order of ids */
/* of forged ones: large ids and times, and pages that are half full */
#define TOMB_BYTES_MAX 80
#define ALIVE_ROWS     4096

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

static void
tombs_add(struct spool *sp, int id, int64_t n)
{
	struct spool_cluster *c = cluster_of(&sp->now, id);

	if (c == NULL)
		return;
	c->bytes += n * TOMB_BYTES;
	c->tombs += n;
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
		tombs_add(sp, cluster, n);
}

static const enum run_state waiting_states[] = { START_DUE, START_DUE_ENDED,
	STOP_DUE };
#define N_WAITING (sizeof(waiting_states) / sizeof(waiting_states[0]))

static int
is_waiting(enum run_state state, unsigned flags)
{
	size_t i = 0;

	while (i < N_WAITING && waiting_states[i] != state)
		i++;
	return i < N_WAITING && !(flags & RUN_UNCONFIRMED);
}

void
spool_share_waiting(struct spool *sp, const struct spool_run *run, int n)
{
	const enum run_state *state = n < 0 ? run->was : run->state;
	unsigned flags = n < 0 ? run->flags_were : run->flags;
	struct spool_cluster *c;
	int d;

	if (!sp->shares || (c = cluster_of(&sp->now, run->cluster)) == NULL)
		return;
	for (d = 0; d < DEST__COUNT; d++)
		c->waiting[d] += is_waiting(state[d], flags) ? n : 0;
}

int
spool_shares_write(struct spool *sp, int64_t clock)
{
	struct writer w;
	unsigned i;
	int rc;

	if (!sp->shares)
		return 0;
	wr_init(&w, 16 + 24 * CLUSTERS_MAX);
	wr_i64(&w, clock);
	for (i = 0; i < sp->now.n_clusters; i++)
		if (sp->now.clusters[i].bytes != 0) {
			wr_i64(&w, sp->now.clusters[i].id);
			wr_i64(&w, sp->now.clusters[i].bytes);
			wr_i64(&w, sp->now.clusters[i].tombs);
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
	struct spool_cluster *c, none;
	struct reader r;
	unsigned i;
	size_t n;
	void *p = spool_value_get(sp, SHARES_NAME, &n);
	int rc = -1;

	if (p == NULL)
		n = 0;
	rd_init(&r, p, n);
	/* A recovery leaves an empty value. */
	if (n > 0 && rd_i64(&r) == sp->opened - 1)
		for (rc = 0; r.left > 0 && !r.err;) {
			c = cluster_of(&sp->now, (int)rd_i64(&r));
			if (c == NULL)
				c = &none;
			c->bytes = rd_i64(&r);
			c->tombs = rd_i64(&r);
		}
	free(p);
	if (rc == 0 && !r.err)
		return 0;
	for (i = 0; i < sp->now.n_clusters; i++)
		sp->now.clusters[i].bytes = sp->now.clusters[i].tombs = 0;
	return -1;
}

static int
tombs_count(struct spool *sp)
{
	sqlite3_stmt *st = spool_stmt(sp, SQL_SHARES_TOMB);
	unsigned n = 0;
	int rc = -1;

	while (st != NULL && (rc = spool_step(sp, st)) == 1) {
		tombs_add(sp, sqlite3_column_int(st, 0), 1);
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

/* The rows of one destination in one state. */
static int
rows_count(struct spool *sp, int dest, enum run_state state)
{
	sqlite3_stmt *st = spool_query(sp, SQL_SHARES_WAITING + (enum sql)dest,
	    VALUES(INT(state), INT(RUN_UNCONFIRMED)));
	struct spool_cluster *c;
	unsigned n = 0;
	int rc = -1;

	while (st != NULL && (rc = spool_step(sp, st)) == 1) {
		c = cluster_of(&sp->now, sqlite3_column_int(st, 0));
		if (c != NULL)
			c->waiting[dest]++;
		if (++n % ALIVE_ROWS == 0)
			spool_alive();
	}
	return rc;
}

static int
waiting_count(struct spool *sp)
{
	size_t i;
	int d;

	for (i = 0; i < sp->now.n_clusters; i++)
		memset(sp->now.clusters[i].waiting, 0,
		    sizeof(sp->now.clusters[i].waiting));
	for (d = 0; d < DEST__COUNT; d++)
		for (i = 0; i < N_WAITING; i++)
			if (rows_count(sp, d, waiting_states[i]) == -1)
				return -1;
	return 0;
}

int
spool_shares_begin(struct spool *sp)
{
	if (sp->shares || spool_dirty(sp))
		return 0;
	if (shares_read(sp) == -1 && shares_count(sp) == -1)
		return -1;
	if (waiting_count(sp) == -1)
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
spool_share_waits(struct spool *sp, const char *cluster)
{
	enum dest first = spool_first_dest(sp);
	unsigned i;

	for (i = 0; i < sp->now.n_clusters; i++)
		if (strcmp(sp->now.clusters[i].name, cluster) == 0)
			return sp->now.clusters[i].waiting[first];
	return 0;
}

static int64_t
most_of(const struct spool_cluster *c)
{
	return c->bytes + c->tombs * (TOMB_BYTES_MAX - TOMB_BYTES);
}

int64_t
spool_share_most(const struct spool *sp, const char *cluster)
{
	unsigned i;

	for (i = 0; i < sp->now.n_clusters; i++)
		if (strcmp(sp->now.clusters[i].name, cluster) == 0)
			return most_of(&sp->now.clusters[i]);
	return 0;
}

int64_t
spool_share_largest(const struct spool *sp)
{
	int64_t largest = 0;
	unsigned i;

	for (i = 0; i < sp->now.n_clusters; i++)
		if (most_of(&sp->now.clusters[i]) > largest)
			largest = most_of(&sp->now.clusters[i]);
	return largest;
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
