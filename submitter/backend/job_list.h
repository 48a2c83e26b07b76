/* SPDX-License-Identifier: MIT */
/* One listing of cc-backend's jobs, page after page, row by row. */
#ifndef SUBMITTER_BACKEND_JOB_LIST_H
#define SUBMITTER_BACKEND_JOB_LIST_H

#include "submitter/backend/job_list_parser.h"
#include "submitter/backend/response.h"

struct submitter;

#define PAGING_ROWS	500	/* of a page; more cost cc-backend memory */
#define PAGING_MAX	4000	/* pages; two million running jobs */

/* A row; its key has Slurm's name of the cluster. */
typedef void paging_fn(const struct listed *row, void *arg);
/* The end: OUT_DONE when every page came whole. */
typedef void paging_done_fn(const struct verdict *v, void *arg);

struct paging {
	struct submitter *s;
	int		 busy;
	char		 cluster[CLUSTER_MAX];	/* Slurm's */
	char		 query[512];
	unsigned	 page;
	unsigned	 rows;			/* in all */
	int64_t		 asked;			/* spool_now() of the first page */
	struct listing	 listing;
	paging_fn	*fn;
	paging_done_fn	*done;
	void		*arg;
};

/*
 * Asks for jobs of a cluster (Slurm's name); running: only those.  from, to:
 * of their start, included; 0, 0 = any.  0, or -1 when it cannot be asked
 * now.  fn and done come from the loop; p lives until done.
 */
int paging_start(struct paging *p, struct submitter *s, const char *cluster,
    int running, int64_t from, int64_t to, paging_fn *fn,
    paging_done_fn *done, void *arg);

#endif
