/* SPDX-License-Identifier: MIT */
/* The configuration of request bodies, for the files of this folder. */
#ifndef SUBMITTER_PAYLOAD_PAYLOAD_CONF_H
#define SUBMITTER_PAYLOAD_PAYLOAD_CONF_H

#include "common/model/conf.h"
#include "common/model/job.h"

struct cpumap;
struct tags;

/* The keys of metaData, as metaDataFields names them. */
enum meta_field {
	META_JOB_NAME,
	META_JOB_SCRIPT,
	META_SLURM_INFO,
	META_SUBMIT_TIME,
	META_ARRAY_TASK,
	META_HET_JOB,
	META_EXIT_CODE,
	META_REASON,
	META_MESSAGE,
	META__COUNT
};
extern const char *const meta_field_names[META__COUNT];

struct payload;
struct payload_how;
struct writer;
/* Writes the member metaData; threads: the body has hwthreads. */
void payload_meta_write(const struct payload *p, const struct payload_how *how,
    const struct job *job, int threads, struct writer *w);

struct payload {
	unsigned fields;       /* 1u << enum meta_field */
	int update_info;       /* send slurmInfo again with the end */
	enum job_end requeued; /* jobState of a requeued run */
	struct cpumap *cpumap; /* owned; may be NULL */
	struct tags *tags;     /* owned; may be NULL */
	unsigned n_names;
	struct {
		char *slurm; /* owned */
		char *cc;    /* owned */
	} names[CONF_CLUSTERS_MAX];
};

#endif
