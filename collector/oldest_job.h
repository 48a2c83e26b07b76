/* SPDX-License-Identifier: MIT */
/*
 * The oldest job in accounting, searched by job id: a question by time would
 * make slurmdbd read all jobs of the cluster.
 */
#ifndef COLLECTOR_OLDEST_JOB_H
#define COLLECTOR_OLDEST_JOB_H

#include "collector/slurm/query.h"

typedef void oldest_job_fn(void *arg);

/* Zero-initialise; lives as long as the process. */
struct oldest_job {
	struct cluster *c; /* that the result is of */
	oldest_job_fn *done;
	void *arg;
	struct query query;
	struct sacct_reader reader;
	uint64_t first; /* slurmctld's first and next job id */
	uint64_t next;
	uint64_t max; /* MaxJobId: its ids are less; 0 = not known */
	uint64_t low; /* the ids that this round covers */
	uint64_t high;
	uint64_t step;
	unsigned rounds;
	uint32_t rows;	 /* of all rounds */
	int found;	 /* this round found an older job */
	int wraps;	 /* this round asks the ids before MaxJobId */
	int checks;	 /* this round asks the ids before the oldest job */
	uint64_t job;	 /* the result; 0 = none */
	int64_t submit;	 /* its time of submission, epoch */
	int is_known;	 /* all rounds were answered */
	int64_t read_at; /* monotonic s, of the result */
};

/*
 * Searches the oldest job of the cluster and calls done once, perhaps before
 * the return: job and submit are the result if is_known is set.  A result of the
 * last minutes is given again; after an error there is none.  At most OLDEST_ROUNDS_MAX commands of sacct after one of
 * scontrol, one at a time.
 */
void oldest_job_search(struct oldest_job *o, struct cluster *c,
    oldest_job_fn *done, void *arg);

#define OLDEST_ROUNDS_MAX 12

/* The steps of the search, for tests. */

/* Sets the ids of the first round. */
void oldest_job_begin(struct oldest_job *o);
/* A row of accounting: 0, or -1 when no more rows are wanted. */
int oldest_job_row(struct oldest_job *o, uint64_t job, int64_t submit);
/* Sets the ids of the next round: 1, or 0 when the search is over. */
int oldest_job_next(struct oldest_job *o);
/* The n-th id of the round, or 0 behind the last one. */
uint64_t oldest_job_id(const struct oldest_job *o, unsigned n);

#endif
