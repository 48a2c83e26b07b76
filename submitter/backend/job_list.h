/* SPDX-License-Identifier: MIT */
/* A list of cc-backend's jobs: requested page by page, reported row by row. */
#ifndef SUBMITTER_BACKEND_JOB_LIST_H
#define SUBMITTER_BACKEND_JOB_LIST_H

#include "submitter/backend/job_list_parser.h"
#include "submitter/backend/response.h"

struct submitter;

/* of a page; more rows need much memory in cc-backend */
#define JOB_LIST_ROWS  500
#define JOB_LIST_PAGES 4000 /* limit; two million running jobs */

/* A row. Its key has Slurm's name of the cluster. */
typedef void job_list_fn(const struct backend_job *row, void *arg);
/* The end. RESULT_DONE when all pages were complete. */
typedef void job_list_done_fn(const struct result *v, void *arg);

struct job_list {
	struct submitter *s;
	int busy;
	int running;		   /* only running jobs */
	char cluster[CLUSTER_MAX]; /* Slurm's name */
	char query[512];
	unsigned page;
	unsigned rows; /* of all pages */
	/* spool_now() when the first page was requested */
	int64_t asked;
	struct job_list_parser parser;
	job_list_fn *fn;
	job_list_done_fn *done;
	void *arg;
};

/*
 * Requests the jobs of a cluster (Slurm's name); running: only running ones.
 * from, to: limits of the start time, inclusive; 0, 0 = any. Returns 0, or -1
 * when cc-backend cannot be asked now. The event loop calls fn and done; p must
 * live until done.
 */
int job_list_start(struct job_list *p, struct submitter *s, const char *cluster,
    int running, int64_t from, int64_t to, job_list_fn *fn,
    job_list_done_fn *done, void *arg);

/* Lists that failed; zero-initialise at the first one of a cluster or a review. */
struct job_list_failures {
	unsigned refused;    /* or cc-backend cannot make it */
	unsigned unanswered; /* although cc-backend answers the probe */
};
/*
 * Counts a list that failed.  1 when the caller, which sends nothing before its
 * list, has to send without it: a proxy may refuse lists for ever, and
 * cc-backend refuses a start that it has.
 */
int job_list_gives_up(struct job_list_failures *f, const struct result *v);

#endif
