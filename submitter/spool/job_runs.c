/* SPDX-License-Identifier: MIT */
/* All that the spool knows of one job: its runs, waiting or done; see spool.h. */
#include "config.h"

#include "submitter/spool/spool_private.h"

/* A statement bound to the job; NULL when the spool has nothing of its cluster. */
static sqlite3_stmt *
job_stmt(struct spool *sp, enum sql id, const char *cluster, uint64_t job,
    int max)
{
	int number = spool_cluster_id(sp, cluster, 0);
	sqlite3_stmt *st;

	if (number == -1 || (st = spool_stmt(sp, id)) == NULL)
		return NULL;
	sqlite3_bind_int(st, 1, number);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)job);
	sqlite3_bind_int(st, 3, max);
	return st;
}

int
spool_job_runs(struct spool *sp, const char *cluster, uint64_t job,
    struct spool_run *rows, int max)
{
	sqlite3_stmt *st = job_stmt(sp, SQL_RUN_OF_JOB, cluster, job, max);
	int n = 0;

	if (st == NULL)
		return 0;
	while (n < max && spool_step(sp, st) == 1)
		spool_row(sp, st, &rows[n++]);
	sqlite3_reset(st);
	return n;
}

int
spool_job_done(struct spool *sp, const char *cluster, uint64_t job,
    int64_t *starts, int max)
{
	sqlite3_stmt *st = job_stmt(sp, SQL_TOMB_OF_JOB, cluster, job, max);
	int n = 0;

	if (st == NULL)
		return 0;
	while (n < max && spool_step(sp, st) == 1)
		starts[n++] = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return n;
}
