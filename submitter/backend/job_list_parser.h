/* SPDX-License-Identifier: MIT */
/*
 * Reads the answer to GET jobs/ as it arrives, a row at a time, in a fixed
 * amount of memory, however long the answer, a row or a text in it is.
 */
#ifndef SUBMITTER_BACKEND_JOB_LIST_PARSER_H
#define SUBMITTER_BACKEND_JOB_LIST_PARSER_H

#include <stddef.h>
#include <stdint.h>

#include "common/job.h"
#include "common/json_scan.h"

/* What is wanted of a row. */
struct backend_job {
	int64_t		 id;		/* of the database, 0 = not said */
	struct run_key	 key;		/* with cc-backend's name of the cluster */
	int64_t		 duration;	/* seconds; of a running one so far */
	char		 state[32];	/* jobState */
};

#define JOB_LIST_DEPTH_MAX	JSON_SCAN_DEPTH_MAX	/* cc-backend's rows have 6 */
#define JOB_LIST_TEXT_MAX	128	/* bytes kept of a name or value */

typedef void job_list_row_fn(const struct backend_job *row, void *arg);

/* One answer being read; no memory of its own. */
struct job_list_parser {
	job_list_row_fn	*fn;
	void		*arg;
	unsigned	 rows;		/* seen so far, good or bad */
	unsigned	 bad;		/* rows without job, start or cluster */
	int		 err;		/* 1: it is no such answer */
	/* private */
	struct json_scan scan;
	int		 in_jobs;
	int		 had_jobs;
	char		 text[JOB_LIST_TEXT_MAX];
	char		 name[32];	/* of the member being read */
	struct backend_job row;
	unsigned	 have;
};

void job_list_parser_init(struct job_list_parser *l, job_list_row_fn *fn, void *arg);
/* 0, or -1 when it is no listing (then for good). */
int job_list_parser_feed(struct job_list_parser *l, const char *p, size_t n);
/* 0 when the answer was whole, else -1. */
int job_list_parser_end(const struct job_list_parser *l);

#endif
