/* SPDX-License-Identifier: MIT */
/*
 * Reads the answer to GET jobs/ as it arrives, row by row. The memory is fixed,
 * however long the answer, a row or a text in it is.
 */
#ifndef SUBMITTER_BACKEND_JOB_LIST_PARSER_H
#define SUBMITTER_BACKEND_JOB_LIST_PARSER_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/job.h"
#include "common/text/json_scan.h"

/* The members of a row that are used. */
struct backend_job {
	int64_t id;	    /* of the database, 0 = unknown */
	struct run_key key; /* with cc-backend's name of the cluster */
	/* seconds; for a running job until now */
	int64_t duration;
	char state[32]; /* jobState */
	int64_t gpus;	/* numAcc */
	/* 1: a host has hardware threads, a host has GPU addresses */
	int has_threads, has_gpus;
};

/* cc-backend's rows have 6 */
#define JOB_LIST_DEPTH_MAX JSON_SCAN_DEPTH_MAX
#define JOB_LIST_TEXT_MAX  128 /* bytes kept of a name or value */

typedef void job_list_row_fn(const struct backend_job *row, void *arg);

/* One answer; owns no memory. */
struct job_list_parser {
	job_list_row_fn *fn;
	void *arg;
	unsigned rows; /* so far, valid or not */
	unsigned bad;  /* rows without a valid job, start or cluster */
	int err;       /* 1: invalid answer */
	/* private */
	struct json_scan scan;
	int in_jobs;
	int had_jobs;
	char text[JOB_LIST_TEXT_MAX];
	char name[32]; /* of the member being read */
	char list[32]; /* of the member of a host being read */
	struct backend_job row;
	unsigned have;
};

void job_list_parser_init(struct job_list_parser *l, job_list_row_fn *fn,
    void *arg);
/* 0, or -1 when the answer is invalid; from then on always -1. */
int job_list_parser_feed(struct job_list_parser *l, const char *p, size_t n);
/* 0 when the answer was complete, else -1. */
int job_list_parser_end(const struct job_list_parser *l);

#endif
