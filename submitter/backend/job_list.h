/* SPDX-License-Identifier: MIT */
/* One listing of cc-backend's jobs, page after page, row by row. */
#ifndef SUBMITTER_BACKEND_JOB_LIST_H
#define SUBMITTER_BACKEND_JOB_LIST_H

#include "submitter/backend/job_list_parser.h"
#include "submitter/backend/response.h"

struct submitter;

#define JOB_LIST_ROWS	500	/* of a page; more cost cc-backend memory */
#define JOB_LIST_PAGES	4000	/* pages; two million running jobs */

/* A row; its key has Slurm's name of the cluster. */
typedef void job_list_fn(const struct backend_job *row, void *arg);
/* The end: RESULT_DONE when every page came whole. */
typedef void job_list_done_fn(const struct result *v, void *arg);

struct job_list {
	struct submitter *s;
	int		 busy;
	char		 cluster[CLUSTER_MAX];	/* Slurm's */
	char		 query[512];
	unsigned	 page;
	unsigned	 rows;			/* in all */
	int64_t		 asked;			/* spool_now() of the first page */
	struct job_list_parser	 parser;
	job_list_fn	*fn;
	job_list_done_fn	*done;
	void		*arg;
};

/*
 * Asks for jobs of a cluster (Slurm's name); running: only those.  from, to:
 * of their start, included; 0, 0 = any.  0, or -1 when it cannot be asked
 * now.  fn and done come from the loop; p lives until done.
 */
int job_list_start(struct job_list *p, struct submitter *s, const char *cluster,
    int running, int64_t from, int64_t to, job_list_fn *fn,
    job_list_done_fn *done, void *arg);

#endif
