/* SPDX-License-Identifier: MIT */
/*
 * Names the rule because of which the suite has no run of a job, from what
 * Slurm says about the job.
 */
#ifndef COLLECTOR_EXPLAIN_REASON_H
#define COLLECTOR_EXPLAIN_REASON_H

#include "collector/base/cluster.h"
#include "collector/parse/snapshot.h"

#define FACTS_MAX 16 /* records of one job that are kept */

/* One record of the job in Slurm. */
struct run_fact {
	int of_ctld; /* 1: slurmctld's, 0: a row of accounting */
	const struct job_state *state;
	int64_t start; /* epoch; 0 = none */
	int64_t end;   /* epoch; 0 = not ended */
	uint32_t nodes;
	int never;     /* it ended without a node */
	int ignored;   /* all its hosts match ignoreHosts */
	int opted_out; /* it has the word of optOutWord */
};

struct job_facts {
	uint64_t job;
	struct run_fact runs[FACTS_MAX];
	unsigned n;
	int more;	      /* older records were removed */
	unsigned array_tasks; /* records of tasks of this array */
	int ambiguous; /* slurmctld's record cannot be read with certainty */
	int not_ready; /* Slurm was not queried yet since the start */
	char ctld_error[256];  /* slurmctld did not answer */
	char dbd_error[256];   /* slurmdbd did not answer */
	char purge[64];	       /* slurmdbd's PurgeJobAfter, or "" */
	uint64_t oldest_job;   /* in accounting; 0 = not known */
	int64_t oldest_submit; /* its time of submission, epoch */
	int64_t next_poll_ms;
	int64_t next_day_ms; /* until the last day is read again */
};

struct explain_answer {
	char reason[768];
	char remedy[320]; /* "" = none */
};

/*
 * Adds a record, all 0.  If there is no room, the oldest row of accounting is
 * removed, because the last run decides.  sacct prints the oldest row first.
 */
struct run_fact *fact_new(struct job_facts *facts, int of_ctld);
/* Writes the state of the run in Slurm as a sentence. */
void fact_text(const struct run_fact *run, char *buf, size_t size);
void explain_reason(struct cluster *c, const struct job_facts *facts,
    struct explain_answer *answer);

#endif
