/* SPDX-License-Identifier: MIT */
/*
 * A simulated Slurm: one cluster with slurmctld, slurmdbd and their users.  Its
 * truth, every run of every job, is known exactly.  Its answers are the text
 * that the recorded versions print for the questions of common/question
 * (tests/data/slurm/VERSION), with SLURM_TIME_FORMAT=%s as the runner sets it.
 *
 * slurmctld reports to slurmdbd through a queue (the DBD agent's), which
 * delays; slurmctld forgets an ended job after MinJobAge.
 */
#ifndef TESTS_SIMULATE_SITE_SLURM_H
#define TESTS_SIMULATE_SITE_SLURM_H

#include "common/model/job.h"
#include "common/question/question.h"
#include "tests/simulate/world.h"

#define SLURM_CLUSTER	 "alpha"
#define SLURM_USER	 "ccadapter" /* runs the commands */
#define SLURM_NODES_MAX	 4	     /* of one job */
#define SLURM_NODE_COUNT 8
#define SLURM_GPUS	 4 /* of each node */
/*
 * s: a run that was requeued after a longer time has run for the product
 * (collector/track/track_accounting.c), although slurmctld was away meanwhile.
 */
#define SLURM_PROLOG_MAX 600

struct slurm_job;

/* One execution of a job, as it was in truth. */
struct slurm_run {
	struct slurm_run *next; /* of all runs, oldest first */
	struct slurm_run *same; /* of the same bucket of ids */
	const struct slurm_job *job;
	uint32_t id;   /* of the job */
	int64_t start; /* epoch */
	int64_t first; /* epoch: its start before its nodes were powered up */
	int64_t end;   /* epoch; 0 = it has not ended */
	enum job_end state;
	int ran; /* its prolog did not fail */
	unsigned restarts;
	uint32_t node_first; /* number of the first node, from 1 */
	uint32_t node_count; /* when it began */
	uint32_t nodes_now;  /* after a resize */
	uint32_t cpu_first;  /* on each node, abstract ids */
	uint32_t cpu_count;  /* on each node */
	unsigned gpus;	     /* bits: devices on each node */
	int64_t known;	     /* ms: slurmdbd had its start; 0 = not yet */
	int64_t settled;     /* ms: slurmdbd had its end; 0 = not yet */
};

/* Chosen by the seed; faults are added while the world runs. */
struct slurm_options {
	unsigned version;    /* 2011, 2205, 2411, 2605 */
	unsigned jobs_hour;  /* submissions an hour */
	unsigned hostile;    /* of a million names */
	unsigned resized;    /* of 1,000 jobs */
	int64_t min_job_age; /* s */
	uint32_t id_first;
	uint32_t id_last; /* then ids begin again at 1 */
	int private_jobs; /* PrivateData=jobs */
	int is_operator;  /* the user of the commands is an operator */
	int limited;	  /* slurmctld limits requests (rl_enable) */
};

/* Hooks: PrologSlurmctld and EpilogSlurmctld of a job. */
typedef void slurm_hook_fn(uint32_t job, int is_end);

void slurm_begin(const struct slurm_options *o, slurm_hook_fn *hook);
/* No job is submitted from now on. */
void slurm_close(void);
/* Jobs that have not ended. */
unsigned slurm_busy(void);

const struct slurm_run *slurm_runs(void);
/* The run that has or had this key; NULL = there is none. */
struct slurm_run *slurm_run_find(uint32_t id, int64_t start);
/* The name of a node; static memory. */
const char *slurm_node_name(uint32_t number);
/* The user of the job; a constant. */
const char *slurm_user_of(const struct slurm_run *run);
/* The array of the job; 0 = none. */
uint32_t slurm_array_of(const struct slurm_run *run);
/*
 * 1: of a batch job.  The leader of a heterogeneous job, which has the script, may
 * be gone before a component.
 */
int slurm_has_script(const struct slurm_run *run);
/*
 * Does slurmctld show the job of the ended run for at least this long, s, to
 * everyone and at once?
 */
int slurm_remembers(const struct slurm_run *run, int64_t s);
/* The job whose script the run shows: the array's, or the leader's. */
uint32_t slurm_script_of(const struct slurm_job *job);
/* epoch: the job's admin comment says that it opts out; 0 = never. */
int64_t slurm_opts_out(const struct slurm_run *run);
/* Is the name of the job hostile? */
int slurm_is_hostile(const struct slurm_run *run);

/* --- faults --- */

void slurm_ctld_set(int up);
void slurm_dbd_set(int up);
/* ms that slurmctld waits until it reports to slurmdbd. */
void slurm_dbd_delay_set(int64_t ms);
/* The admin grants or removes the operator permission. */
void slurm_operator_set(int is_operator);
/* The user of the commands is coordinator of one account: it sees its jobs. */
void slurm_coordinates_set(int coordinates);
int slurm_ctld_is_up(void);
int slurm_dbd_is_up(void);

/* --- answers --- */

struct slurm_answer {
	char *text; /* owned; NULL = empty */
	size_t len;
	int status;	 /* exit status */
	const char *err; /* standard error, constant */
	int64_t ms;	 /* until the command has ended */
};

/* The answer of this moment. */
void slurm_answer(const struct question *q, struct slurm_answer *a);
void slurm_answer_clear(struct slurm_answer *a);

#endif
