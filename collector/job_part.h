/* SPDX-License-Identifier: MIT */
/*
 * The job ids of one task of an array (4711_3) or one component of a
 * heterogeneous job (4711+1), from what Slurm says about the whole job.
 */
#ifndef COLLECTOR_JOB_PART_H
#define COLLECTOR_JOB_PART_H

#include "collector/base/cluster.h"
#include "collector/parse/parse.h"
#include "common/model/ctl.h"

/* Slurm uses an id again after MaxJobId: a task may have had several. */
#define PART_IDS_MAX 8

struct part_facts {
	uint64_t job;
	enum ctl_part kind;
	uint64_t number;
	uint64_t ids[PART_IDS_MAX]; /* the answer */
	unsigned n;
	unsigned others;      /* records of other tasks or components */
	int plain;	      /* the job has a record and no parts */
	int pending;	      /* the task is among those that wait */
	int may_be_pending;   /* the list of those that wait is cut */
	char ctld_error[256]; /* slurmctld did not answer */
	char dbd_error[256];  /* slurmdbd did not answer */
};

/* "4711_3" or "4711+1". */
const char *part_name(const struct part_facts *f, char *buf, size_t size);
/* Takes a record of `scontrol show job`: the tokens before the job's name. */
void part_record(struct part_facts *f, struct span line);
/* Takes a row of accounting. */
void part_row(struct part_facts *f, const struct job *job);
/* Without an id: why there is none, and the remedy or "". */
void part_reason(const struct part_facts *f, const char *cluster, char *reason,
    size_t size, char *remedy, size_t remedy_size);

#endif
